"""Certificates: bounds that hold with a stated probability, under stated assumptions, from given constants.

`Trajectory` follows a run of `Conversion` with `Fresh` feedback and bounds the excess risk of every point it queried.
Its theory is the corrected form of Holland (2022), Lemma 2 and Corollary 3; `docs/theory.md` has the derivation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot import parts
from surefoot.checks import between, finite_array, non_negative, positive, whole
from surefoot.conversion import Conversion
from surefoot.estimates import Fresh
from surefoot.feedback import Clip, Raw, Truncate
from surefoot.parts import Array
from surefoot.state import Info, State
from surefoot.weights import growth, weight

ROUNDING = 1e-9


class Certificate(NamedTuple):
    """R(hbar) - R(h*) <= value at every certified point at once, with this probability, if the assumptions hold."""

    value: float
    confidence: float
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        head = f"excess risk at most {self.value:.4g} with probability at least {self.confidence:g}, if"
        return "\n".join([head, *(f"  - {assumption}" for assumption in self.assumptions)])


class Sums(NamedTuple):
    """What a trajectory's bound is made of, in units of the present weight alpha_t.

    along: sum alpha_i <Gbar_i, h_i>. direction: sum alpha_i Gbar_i. ratio: alpha_{1:t}. log_rest: log(alpha_T/alpha_t).
    squares, largest: sum alpha_i^2 and max alpha_i over all T rounds, in units of alpha_T. holds: whether every
    threshold so far kept its promise. end: the first round that is not covered.
    """

    along: float
    direction: Array
    ratio: float
    log_rest: float
    squares: float
    largest: float
    holds: bool
    end: int


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Bound the excess risk of each queried point from what the run itself shows.

    With alpha_{1:t} the weights so far and L = log(1/delta),

        alpha_{1:t} [R(hbar_t) - R(h*)] <= sum alpha_i <Gbar_i, h_i> + max_{h in H} <-sum alpha_i Gbar_i, h>
            + alpha_{1:t} Delta m + Delta v sqrt(2 L sum_{i<=T} alpha_i^2) + Delta b L max_i alpha_i / 3

    for every t <= T at once: the regret is observed, for any steps and any learner that stays in H, and the rest bounds
    a martingale. Open it on the state before the first round, then `c = c.update(next_state, info)` after each;
    `c.bound()` speaks of the point that was queried in that round, and is infinite once a round broke an assumption
    that can be seen. It keeps one number and one vector, however long the run. Leave `tell` to judge by its own
    distance: a `size` of the caller's voids the bound.

    sigma: bounds the noise, E||G - grad R||^2 <= sigma^2 in the dual norm (with Raw: its sub-Gaussian proxy).
    smoothness: the Lipschitz constant of grad R. anchor_error: eps, a multiple of sigma (not the `error` of an Anchor,
    which has the units of the gradient): ||g~ - grad R(h~)|| <= eps * sigma.
    rounds: T, the most rounds this run will have. margin: c_0; every threshold must lie at least this far beyond the
    anchor's distance, c_t >= c_0 + eps * sigma + smoothness ||h~ - hbar_t||. rows: "fresh" for samples seen once (the
    bound is for the population), "replacement" for draws with replacement (the bound is for the training risk).
    """

    conversion: Conversion
    state: State
    sigma: float
    smoothness: float
    anchor_error: float
    rounds: int
    delta: float
    margin: float | None = None
    rows: str = "fresh"
    sums: Sums | None = None

    def __post_init__(self) -> None:
        if self.sums is None:
            self._check()
            squares, largest, log_rest = _weights_ahead(self.conversion.weights, self.state, self.rounds)
            nothing = Sums(
                0.0, np.zeros_like(self.state.h), 0.0, log_rest, squares, largest, True, self.state.t + self.rounds
            )
            object.__setattr__(self, "sums", nothing)

    def update(self, state: State, info: Info) -> "Trajectory":
        """Take in one round: the state and the info that `tell` returned."""
        last, sums = self.state, self._sums
        if state.t != last.t + 1:
            raise ValueError(f"state: expected the one before round {last.t + 1}, got the one before round {state.t}")
        if last.t == sums.end:
            raise ValueError(f"rounds: this certificate was opened for {self.rounds} rounds, and they are over")
        if not np.array_equal(state.before, self.conversion.ask(last)):
            raise ValueError("state: expected the one that tell() made from the state this certificate saw last")
        first = sums.ratio == 0
        shrink = 0.0 if first else 1 / growth(self.conversion.weights, last.t - 1)
        share = last.weight_ratio if first else 1.0  # a pilot's rounds count with the first
        along = shrink * sums.along + share * float(np.sum(info.processed * last.h))
        direction = shrink * sums.direction + share * info.processed
        log_rest = sums.log_rest if first else sums.log_rest + log(shrink)
        holds = sums.holds and self._in_range(last, state, info)
        after = sums._replace(along=along, direction=direction, ratio=last.weight_ratio, log_rest=log_rest, holds=holds)
        return replace(self, state=state, sums=after)

    def bound(self) -> Certificate:
        """Return the certificate of the point queried in the last round."""
        sums, geometry, L = self._sums, self.conversion.learner.mirror_map, -log(self.delta)
        confidence = 1 - self.delta if isinstance(self.conversion.feedback, Raw) else 1 - 2 * self.delta
        if sums.ratio == 0 or not sums.holds:
            return Certificate(inf, confidence, self.assumptions)
        width, (deviation, span, bias) = geometry.diameter(self.state.h), self._moments()
        regret = sums.along - geometry.linear_minimum(sums.direction)
        noise = width * (deviation * sqrt(2 * L * sums.squares) + span * L * sums.largest / 3)
        ahead = exp(sums.log_rest) if sums.log_rest < 700 else inf
        return Certificate((regret + ahead * noise) / sums.ratio + width * bias, confidence, self.assumptions)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must hold for the bound to hold."""
        risk = "the population" if self.rows == "fresh" else "the training rows, drawn with replacement"
        common = (
            f"R, the risk on {risk}, is convex",
            "each sample is unbiased for grad R at the queried point, given the past",
            "the point compared with is fixed, and the weights are chosen before the run",
        )
        if isinstance(self.conversion.feedback, Raw):
            return (*common, f"its noise is sub-Gaussian with proxy {self.sigma:g} in every direction")
        return (
            *common,
            f"its noise has a second moment of at most {self.sigma:g}^2 in the dual norm",
            f"R is smooth with constant {self.smoothness:g}",
            f"the anchor lies in H, comes from data not used since, and its gradient is within {self.anchor_error:g} * "
            f"{self.sigma:g} of grad R there, with probability at least {1 - self.delta:g}",
            f"every threshold is chosen before its sample is seen, and keeps the margin {self.margin:g}",
            "what is judged is the distance from the anchor's gradient, not a size of the caller's",
        )

    @property
    def _sums(self) -> Sums:
        if self.sums is None:
            raise AssertionError
        return self.sums

    def _check(self) -> None:
        positive("sigma", self.sigma)
        non_negative("smoothness", self.smoothness)
        non_negative("anchor_error", self.anchor_error)
        whole("rounds", self.rounds, 1)
        between("delta", self.delta, 0, 0.5)
        feedback, geometry = self.conversion.feedback, self.conversion.learner.mirror_map
        if not isinstance(self.conversion.estimate, Fresh):
            raise ValueError(
                "estimate: with carried feedback the errors of the rounds are no martingale, and this bound does not "
                "hold; use estimate=Fresh()"
            )
        if self.rows not in ("fresh", "replacement"):
            raise ValueError(
                f'rows: expected "fresh" or "replacement", got {self.rows!r}; in reshuffled epochs a row is no '
                "unbiased sample given the past, and this bound does not hold"
            )
        if self.conversion.query not in ("average", 1):
            raise ValueError(
                f'query: only points queried at the "average" are certified, got {self.conversion.query!r}'
            )
        if not np.array_equal(self.state.h, self.state.hbar):
            raise ValueError("state: open the certificate on the state that start() returned, before the first round")
        if not geometry.diameter(self.state.h) < inf:
            raise ValueError(f"domain: this bound needs a bounded one, got {geometry}")
        if isinstance(feedback, Raw):
            if self.margin is not None:
                raise ValueError(f"margin: Raw feedback has no threshold to keep it; pass None, not {self.margin}")
            return
        if not isinstance(feedback, (Clip, Truncate)):
            raise TypeError(f"feedback: the bias of {type(feedback).__name__} is not known; use Raw, Clip or Truncate")
        if self.margin is None:
            raise ValueError(
                "margin: Clip and Truncate need c_0, the least that a threshold exceeds the anchor's distance by"
            )
        positive("margin", self.margin)
        if feedback.anchor is None:
            raise ValueError("anchor: this bound needs one whose error is known; pass anchor=Anchor(point, gradient)")
        if not geometry.contains(feedback.anchor.point):
            raise ValueError(f"anchor: its point must lie in the domain of {geometry}")
        if self._rejects(self.state):
            raise ValueError(
                "reject: the bias of rejecting is not bounded here; pass a threshold with reject=inf or gap=inf"
            )

    def _rejects(self, state: State) -> bool:
        feedback = self.conversion.feedback
        return isinstance(feedback, Clip) and feedback.threshold.lines(state.memory[1], 0.0)[1] < inf

    def _distance(self, state: State, farthest: bool) -> float:
        """Return a = eps * sigma + smoothness * ||h~ - .||, at the queried point or at its largest over H."""
        anchor, geometry = self.conversion.feedback.anchor, self.conversion.learner.mirror_map
        away = (
            geometry.farthest(anchor.point)
            if farthest
            else geometry.norm(np.asarray(self.conversion.ask(state) - anchor.point))
        )
        return self.anchor_error * self.sigma + self.smoothness * away

    def _in_range(self, last: State, state: State, info: Info) -> bool:
        """Say whether h_t lies in H, and c_0 + a_t <= c_t <= c_0 + 2 a - a_t: enough for the bias, none beyond b."""
        geometry, anchor = self.conversion.learner.mirror_map, self.conversion.feedback.anchor
        if not geometry.contains(last.h):
            return False
        if self.margin is None:
            return True
        here, most = self._distance(last, farthest=False), self._distance(last, farthest=True)
        low, high = (self.margin + here) * (1 - ROUNDING), (self.margin + 2 * most - here) * (1 + ROUNDING)
        within = geometry.dual_norm(state.carried - anchor.gradient) <= np.max(info.threshold) * (1 + ROUNDING)
        return bool(np.all((low <= info.threshold) & (info.threshold <= high)) and within and not self._rejects(last))

    def _moments(self) -> tuple[float, float, float]:
        """Return v, b and m: root second moment, range and bias of the processed feedback's error."""
        if self.margin is None:
            return self.sigma, 0.0, 0.0
        feedback, geometry = self.conversion.feedback, self.conversion.learner.mirror_map
        a, tail = self._distance(self.state, farthest=True), self.sigma / self.margin
        clips = isinstance(feedback, Clip)
        projects = self.margin >= a or (clips and geometry.hilbert)
        deviation = self.sigma if projects else sqrt(self.sigma**2 + (a * tail) ** 2)
        bias = self.sigma * tail / 4 if clips else self.sigma * tail + a * tail**2
        return deviation, 2 * a + self.margin, bias


def _weights_ahead(weights: parts.Weights, state: State, rounds: int) -> tuple[float, float, float]:
    """Return sum alpha_i^2, max alpha_i and log(alpha_T / alpha_1), relative to alpha_T, over the rounds of a run."""
    squares, largest, logarithm = 0.0, 0.0, 0.0
    for t in range(state.t + rounds - 1, state.t - 1, -1):
        relative = exp(-logarithm) * (state.weight_ratio if t == state.t else 1.0)
        squares, largest = squares + relative**2, max(largest, relative)
        logarithm += log(growth(weights, t - 1)) if t > state.t else 0.0
    return squares, largest, logarithm


class Identity(NamedTuple):
    """Both sides of the anytime identity: the excess risk of hbar_T, and what it is made of."""

    left: float
    right: float


def anytime_identity(
    risk: Callable[[Array], float], gradient: Callable[[Array], Array], iterates: Sequence[ArrayLike],
    weights: parts.Weights, reference: ArrayLike,
) -> Identity:  # fmt: skip
    """Return both sides of the anytime lemma (Holland 2022, Lemma 1) for any sequence h_1, ..., h_T.

    alpha_{1:T} [R(hbar_T) - R(h*)] = sum_t alpha_t [<grad R(hbar_t), h_t - h*> - D_R(h*; hbar_t)]
                                      - sum_{t<T} alpha_{1:t} D_R(hbar_t; hbar_{t+1})

    A diagnostic where R can be evaluated, as the training risk can: a gap means that gradient and risk disagree.

    >>> from surefoot import Uniform
    >>> iterates = [[1.0, 0.0], [0.0, 2.0]]
    >>> sides = anytime_identity(lambda h: float(h @ h), lambda h: 2 * h, iterates, Uniform(), reference=[0.0, 0.0])
    >>> sides.left == sides.right == 1.25
    True
    """
    star = finite_array("reference", reference)

    def divergence(h: Array, other: Array) -> float:
        return risk(h) - risk(other) - float(np.sum(gradient(other) * (h - other)))

    total, right, before = 0.0, 0.0, None
    for t, iterate in enumerate(iterates, start=1):
        h, alpha = finite_array(f"iterates[{t - 1}]", iterate), weight(weights, t)
        hbar = h if before is None else before + (h - before) * (alpha / (total + alpha))
        right += alpha * (float(np.sum(gradient(hbar) * (h - star))) - divergence(star, hbar))
        right -= 0.0 if before is None else total * divergence(before, hbar)
        total, before = total + alpha, hbar
    if before is None:
        raise ValueError("iterates: expected at least one")
    return Identity(risk(before) - risk(star), right / total)
