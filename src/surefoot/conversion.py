"""Algorithm 1 of Holland (2022): any online learner becomes a method whose every queried point can be trusted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import parts
from surefoot.checks import finite_array, non_negative, number, part, positive, whole
from surefoot.estimates import Fresh
from surefoot.feedback import Raw, read
from surefoot.parts import Array, Memory
from surefoot.state import Info, State, seal, sealed_state
from surefoot.weights import Uniform, growth, ratio


@dataclass(frozen=True, eq=False)
class Conversion:
    """Anytime robust online-to-batch conversion (Holland 2022, Algorithm 1).

    learner: the online algorithm, with its geometry. feedback: what becomes of a raw gradient. weights: the rule
    alpha_t. query: ask at the "average" hbar_t, at the "last" iterate h_t, or at a number between 0 (last) and
    1 (average). estimate: `Fresh` feeds each round's gradient to the learner, `Carried` all of them so far.

    >>> import surefoot as sf
    >>> conversion = sf.Conversion(sf.MirrorDescent(sf.Constant(0.5)), feedback=sf.Clip(sf.ConstantThreshold(1.0)))
    >>> conversion.run(lambda h: h - 3.0, np.zeros(2), rounds=2000).hbar.round(1)
    array([3., 3.])
    """

    learner: parts.Learner
    feedback: parts.Feedback = Raw()
    weights: parts.Weights = Uniform()
    query: str | float = "average"
    estimate: parts.Estimate = Fresh()

    def start(self, h1: ArrayLike, t: int = 1, samples: float = 0) -> State:
        """Return the state before round t; a pilot that spent `samples` samples on h1 stands for t - 1 rounds there."""
        h, t, samples = self._inside(h1), whole("t", t, 1), non_negative("samples", samples)
        memory = self.learner.start(h), self.feedback.begin(h.size, samples), self.estimate.begin(samples)
        return sealed_state(t, samples, h, h, ratio(self.weights, t), h, np.zeros_like(h), memory)

    def ask(self, state: State) -> Array:
        """Return the point at which this round's gradient is wanted."""
        share = interpolation(self.query)
        return state.hbar if share == 1 else state.h if share == 0 else state.h + share * (state.hbar - state.h)

    def tell(
        self, state: State, g: ArrayLike, g_before: ArrayLike | None = None,
        *, size: ArrayLike | None = None, curvature: ArrayLike | None = None, weight: ArrayLike | None = None,
        known: ArrayLike | None = None, divisor: float = 1.0,
    ) -> tuple[State, Info]:  # fmt: skip
        """Go one round on, with the gradient at `ask(state)`: one, or one for each of m samples along a first axis.

        g_before: the same samples at `state.before`, where the estimate is `Carried`. size: what the threshold is to
        judge, instead of the dual norm of g - g~. curvature: of each sample, instead of ||g - g_before|| / distance.
        weight: how many samples each stands for. known: the gradient of a part of R that needs no processing, such as
        a penalty; it goes to the learner as it is. divisor: shortens this round's step, where R bends more than usual.
        """
        x, geometry, anchor = self.ask(state), self.learner.mirror_map, self.feedback.anchor
        learner, rule, estimate = state.memory
        target = None if anchor is None else anchor.gradient
        away = np.nan if anchor is None else geometry.norm(np.asarray(x - anchor.point))

        answer = read(self, geometry.dual_norm, state, g, g_before, size, curvature, weight)
        samples = state.samples + answer.samples
        verdict, rule = self.feedback.process(answer, away, rule, state.t, samples)
        moved = geometry.norm(x - state.before)
        given, estimate = self.estimate.update(
            state.carried, answer, verdict, target, moved, geometry, state.samples, estimate
        )
        processed = given.carried if known is None else given.carried + finite_array("known", known)
        processed = processed if divisor == 1 else processed / positive("divisor", divisor)
        h, learner = self._move(state, processed, learner)
        weight_ratio = 1 + state.weight_ratio / growth(self.weights, state.t)
        hbar = state.hbar + (h - state.hbar) / weight_ratio

        memory = learner, rule, estimate
        after = sealed_state(state.t + 1, samples, h, hbar, weight_ratio, x, given.carried, memory)
        judged = answer.size, verdict.threshold, verdict.action, given.factor
        distance, threshold, action, factor = (values[0].item() for values in judged) if answer.scalar else judged
        info = Info(distance, threshold, action, processed, factor, given.share)
        seal(info)
        return after, info

    def step(self, state: State, gradient: Callable[..., Any]) -> tuple[State, Info]:
        """Ask, call `gradient(point)`, tell; under `Carried`, `gradient(point, before)` returns (g, g_before)."""
        if not self.estimate.two_points:
            return self.tell(state, gradient(self.ask(state)))
        pair = gradient(self.ask(state), state.before)
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                "gradient: under Carried it must return a tuple (g, g_before), the same sample at both points"
            )
        return self.tell(state, *pair)

    def run(
        self, gradient: Callable[..., Any], start: ArrayLike | State, rounds: int = 1000,
        callback: Callable[[State, Info], object] | None = None,
    ) -> State:  # fmt: skip
        """Take that many steps, from a point or from a state; `callback(state, info)` sees each."""
        state = start if isinstance(start, State) else self.start(start)
        for _ in range(whole("rounds", rounds, 0)):
            state, info = self.step(state, gradient)
            if callback is not None:
                callback(state, info)
        return state

    def __post_init__(self) -> None:
        part("learner", self.learner, "move")
        part("feedback", self.feedback, "process")
        part("weights", self.weights, "at")
        part("estimate", self.estimate, "update")
        interpolation(self.query)

    def _inside(self, h1: ArrayLike) -> Array:
        """Return h1 as a point of the domain."""
        h, geometry, anchor = finite_array("h1", h1), self.learner.mirror_map, self.feedback.anchor
        if h.size == 0:
            raise ValueError(f"h1: expected at least one number, got shape {h.shape}")
        try:
            far = geometry.to_dual(h) + 1e9  # a point that a bounded domain must bring back
            fits = np.shape(geometry.to_primal(far)) == h.shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"h1: its shape {h.shape} does not fit the domain of {geometry}")
        if not geometry.contains(h):
            raise ValueError(f"h1: the start must lie in the domain of {geometry}")
        if anchor is not None and anchor.point.shape != h.shape:
            raise ValueError(f"anchor: expected the shape of h1, {h.shape}, got {anchor.point.shape}")
        return h

    def _move(self, state: State, feedback: Array, memory: Memory) -> tuple[Array, Memory]:
        with np.errstate(over="ignore", invalid="ignore"):
            h, memory = self.learner.move(state.t, state.h, feedback, self.weights, memory)
        if not np.isfinite(h).all():
            raise FloatingPointError(
                f"step_size: round {state.t} left the finite numbers; pass a smaller step or a domain"
            )
        return h, memory


def interpolation(query: str | float) -> float:
    """Return a query as a number between 0 (last) and 1 (average)."""
    share = {"last": 0.0, "average": 1.0}.get(query) if isinstance(query, str) else number("query", query)
    if share is None or not 0 <= share <= 1:
        raise ValueError(f'query: expected "average", "last" or a number between 0 and 1, got {query!r}')
    return share
