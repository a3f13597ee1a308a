"""Algorithm 1 of Holland (2022): any online learner becomes a method whose every queried point can be trusted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot import parts
from surefoot.checks import finite_array, non_negative, number, part, whole
from surefoot.estimates import Fresh
from surefoot.feedback import Raw, read
from surefoot.parts import Array, Memory
from surefoot.weights import Uniform, growth, ratio


class State(NamedTuple):
    """Everything a run is: keep it, pickle it, go on from it. Arrays are read-only.

    t: the round to come, from 1. samples: those seen so far. h: the ancillary iterate h_t. hbar: the main iterate, to
    be reported. weight_ratio: alpha_{1:t} / alpha_t. before: the last query point. carried: the estimate D.
    memory: the learner's, the feedback's, the estimate's.
    """

    t: int
    samples: float
    h: Array
    hbar: Array
    weight_ratio: float
    before: Array
    carried: Array
    memory: tuple[Memory, Memory, Memory]

    def __reduce__(self) -> tuple[Any, ...]:
        return _sealed_state, tuple(self)


class Info(NamedTuple):
    """What happened in a round; with m samples, the first three and the factor are arrays of m.

    distance: the size judged. threshold: the clip line. action: "kept", "clipped" or "replaced". processed: what the
    learner was given. factor: the weight w of the feedback. share: the share b of this round in `processed`.
    """

    distance: Any
    threshold: Any
    action: Any
    processed: Array
    factor: Any
    share: float


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

    def __post_init__(self) -> None:
        part("learner", self.learner, "move")
        part("feedback", self.feedback, "process")
        part("weights", self.weights, "at")
        part("estimate", self.estimate, "update")
        self._interpolation()

    def start(self, h1: ArrayLike, t: int = 1, samples: float = 0) -> State:
        """Return the state before round t; a pilot that spent `samples` samples on h1 stands for t - 1 rounds there."""
        h, t, _ = finite_array("h1", h1), whole("t", t, 1), non_negative("samples", samples)
        if not self.learner.mirror_map.contains(h):
            raise ValueError(f"h1: the start must lie in the domain of {self.learner.mirror_map}")
        if self.feedback.anchor is not None and np.shape(self.feedback.anchor.gradient) != h.shape:
            raise ValueError(
                f"anchor: expected the shape of h1, {h.shape}, got {np.shape(self.feedback.anchor.gradient)}"
            )
        memory = self.learner.start(h), self.feedback.begin(h.size, samples), self.estimate.begin(samples)
        return _sealed_state(t, samples, h, h, ratio(self.weights, t), h, np.zeros_like(h), memory)

    def ask(self, state: State) -> Array:
        """Return the point at which this round's gradient is wanted."""
        share = self._interpolation()
        return state.hbar if share == 1 else state.h if share == 0 else state.h + share * (state.hbar - state.h)

    def tell(
        self, state: State, g: ArrayLike, g_before: ArrayLike | None = None,
        *, size: ArrayLike | None = None, curvature: ArrayLike | None = None, weight: ArrayLike | None = None,
        known: ArrayLike | None = None,
    ) -> tuple[State, Info]:  # fmt: skip
        """Go one round on, with the gradient at `ask(state)`: one, or one for each of m samples along a first axis.

        g_before: the same samples at `state.before`, where the estimate is `Carried`. size: what the threshold is to
        judge, instead of the dual norm of g - g~. curvature: of each sample, instead of ||g - g_before|| / distance.
        weight: how many samples each stands for. known: the gradient of a part of R that needs no processing, such as
        a penalty; it goes to the learner as it is.
        """
        if self.estimate.two_points and g_before is None:
            raise ValueError(
                "g_before: Carried needs this round's sample at state.before as well; pass it, or use Fresh()"
            )
        x, geometry, anchor = self.ask(state), self.learner.mirror_map, self.feedback.anchor
        learner, rule, estimate = state.memory
        target = None if anchor is None else np.asarray(anchor.gradient)
        away = np.nan if anchor is None else geometry.norm(np.asarray(x - anchor.point))
        before = g_before if self.estimate.two_points else None

        answer = read(self.feedback, geometry.dual_norm, state.h, target, g, before, size, curvature, weight)
        samples = state.samples + answer.samples
        verdict, rule = self.feedback.process(answer, away, rule, state.t, samples)
        moved = geometry.norm(x - state.before)
        given, estimate = self.estimate.update(
            state.carried, answer, verdict, target, moved, geometry, state.samples, estimate
        )
        processed = given.carried if known is None else given.carried + finite_array("known", known)
        h, learner = self._move(state, processed, learner)
        weight_ratio = 1 + state.weight_ratio / growth(self.weights, state.t)
        hbar = state.hbar + (h - state.hbar) / weight_ratio

        memory = learner, rule, estimate
        after = _sealed_state(state.t + 1, samples, h, hbar, weight_ratio, x, given.carried, memory)
        judged = answer.size, verdict.threshold, verdict.action, given.factor
        distance, threshold, action, factor = (values[0].item() for values in judged) if answer.scalar else judged
        return after, Info(distance, threshold, action, processed, factor, given.share)

    def step(self, state: State, gradient: Callable[..., Any]) -> tuple[State, Info]:
        """Ask, call `gradient(point)`, tell; under `Carried`, `gradient(point, before)` returns (g, g_before)."""
        if self.estimate.two_points:
            g, g_before = gradient(self.ask(state), state.before)
            return self.tell(state, g, g_before)
        return self.tell(state, gradient(self.ask(state)))

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

    def _interpolation(self) -> float:
        """Return the query as a number between 0 (last) and 1 (average)."""
        if isinstance(self.query, str):
            if self.query not in ("last", "average"):
                raise ValueError(f'query: expected "average", "last" or a number between 0 and 1, got {self.query!r}')
            return float(self.query == "average")
        if not 0 <= number("query", self.query) <= 1:
            raise ValueError(f'query: expected "average", "last" or a number between 0 and 1, got {self.query!r}')
        return float(self.query)

    def _move(self, state: State, feedback: Array, memory: Memory) -> tuple[Array, Memory]:
        with np.errstate(over="ignore", invalid="ignore"):
            h, memory = self.learner.move(state.t, state.h, feedback, self.weights, memory)
        if not np.isfinite(h).all():
            raise FloatingPointError(
                f"step_size: round {state.t} left the finite numbers; pass a smaller step or a domain"
            )
        return h, memory


def _sealed_state(*fields: Any) -> State:
    """Return the state with every array in it read-only."""
    _seal(fields)
    return State(*fields)


def _seal(value: Any) -> None:
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, tuple):
        for part in value:
            _seal(part)
