"""What a part must offer: the one page for people who add a learner, a threshold, a weight rule, a mirror map.

A part is a `NamedTuple`: its fields are its settings, its methods are pure, and whatever it remembers goes in and
out as `memory`, a value it made itself. A part may have a `check` that raises an error naming the wrong setting;
`Conversion` calls it once.
Arrays handed to a part are read-only, and so is the memory it returns.
"""

from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Memory: TypeAlias = Any


class StepSize(Protocol):
    """The rule beta_t."""

    def at(self, t: int) -> float:
        """Return the positive step size beta_t of round t, counted from 1."""


class Weights(Protocol):
    """The rule alpha_t. A rule may add `ratio(t)` and `growth(t)`; see `surefoot.weights`."""

    def at(self, t: int) -> float:
        """Return the positive weight alpha_t of h_t."""


class Domain(Protocol):
    """The convex set H, with Euclidean distances."""

    def diameter(self, like: Array) -> float:
        """Return the largest distance of two points of H, which have the shape of `like`."""

    def project(self, h: Array) -> Array:
        """Return the point of H nearest to h."""

    def contains(self, h: Array) -> bool:
        """Say whether h lies in H, up to rounding."""

    def linear_minimum(self, g: Array) -> float:
        """Return min_{h in H} <g, h>, -inf where there is none."""

    def farthest(self, h: Array) -> float:
        """Return max_{h' in H} ||h' - h||."""


class MirrorMap(Protocol):
    """A function Phi on a domain, strongly convex in its norm."""

    @property
    def strong_convexity(self) -> float:
        """The modulus kappa of Phi in `norm`."""

    def diameter(self, like: Array) -> float:
        """Return the diameter of the domain in `norm`, for points of the shape of `like`."""

    @property
    def hilbert(self) -> bool:
        """Whether `norm` comes from an inner product."""

    def to_dual(self, h: Array) -> Array:
        """Return the gradient of Phi at h."""

    def to_primal(self, dual: Array) -> Array:
        """Return argmax_{h in H} <dual, h> - Phi(h)."""

    def divergence(self, h: Array, other: Array) -> float:
        """Return the Bregman divergence D_Phi(h; other)."""

    def norm(self, h: Array) -> float:
        """Return the norm of a point."""

    def dual_norm(self, g: Array) -> float:
        """Return the norm of a gradient."""

    def contains(self, h: Array) -> bool:
        """Say whether a run may start at h."""

    def linear_minimum(self, g: Array) -> float:
        """Return min_{h in H} <g, h>, -inf where there is none."""

    def farthest(self, h: Array) -> float:
        """Return max_{h' in H} norm(h' - h)."""


class Learner(Protocol):
    """An online learner A: from h_t and the processed feedback to h_{t+1}."""

    @property
    def mirror_map(self) -> MirrorMap:
        """The geometry, whose norms the whole conversion uses."""

    def start(self, h1: Array) -> Memory:
        """Return the memory before the first round."""

    def move(self, t: int, h: Array, g: Array, weights: Weights, memory: Memory) -> tuple[Array, Memory]:
        """Return h_{t+1} and the memory after round t."""


class ThresholdRule(Protocol):
    """The two lines between which feedback passes unchanged, is clipped, or is rejected."""

    def lines(self, memory: Memory, away: float) -> tuple[float, float]:
        """Return the clip and the reject line; `away` is the distance of the queried point from the anchor's."""


class LearningRule(ThresholdRule, Protocol):
    """A threshold rule that learns. It may change the arrays of its memory in place: it is handed its own copy."""

    def begin(self, dimension: int, samples: float) -> Memory:
        """Return the memory before the first round, `samples` of which a pilot has already spent."""

    def learn(self, memory: Memory, size: float, weight: float) -> Memory:
        """Take in one size, after it was judged, that stands for `weight` samples."""

    def ready(self, memory: Memory) -> bool:
        """Say whether `learn` will do; until then `warm_up` is called in its place. Optional: always."""

    def warm_up(self, memory: Memory, size: float, weight: float) -> Memory:
        """Take in one of the first sizes."""

    def due(self, memory: Memory, samples: float) -> bool:
        """Say whether `close` is wanted at the end of this round, `samples` seen in all. Optional: never."""

    def close(self, memory: Memory, samples: float) -> Memory:
        """End a round."""

    def scale(self, memory: Memory) -> float:
        """Return the typical size, 0 while nothing is learned. Optional: 0."""


class Answer(NamedTuple):
    """What came back in one round, in one shape: judgements along the first axis, the non-finite ones set to 0."""

    g: Array
    g_before: Array | None
    size: Array
    curvature: Array | None
    weight: Array
    finite: NDArray[np.bool_]
    samples: float
    scalar: bool


class Verdict(NamedTuple):
    """What the feedback decided, a judgement each, and how the rule's scale fell over the round (1 if it did not)."""

    factor: Array
    threshold: Array
    action: NDArray[np.str_]
    calmer: float


class Feedback(Protocol):
    """The sub-routine Process: a factor in [0, 1] for each judgement."""

    @property
    def anchor(self) -> Any:
        """The `surefoot.Anchor` gradients shrink to; None stands for zero."""

    @property
    def per(self) -> str:
        """What is judged: each "sample", or the mean over the "batch"."""

    def begin(self, dimension: int, samples: float) -> Memory:
        """Return the memory before the first round."""

    def process(self, answer: Answer, away: float, memory: Memory, t: int, samples: float) -> tuple[Verdict, Memory]:
        """Judge one round's answer; `samples` counts all samples up to the end of this round."""


class Blend(NamedTuple):
    """What the estimate made of one round: the learner's feedback D, the factors used, and the share b."""

    carried: Array
    factor: Array
    share: float


class Estimate(Protocol):
    """How this round's feedback joins that of the rounds before."""

    @property
    def two_points(self) -> bool:
        """Whether a round needs its sample at the previous query point too."""

    def begin(self, samples: float) -> Memory:
        """Return the memory before the first round."""

    def update(
        self, carried: Array, answer: Answer, verdict: Verdict, anchor: Array | None, moved: float,
        mirror_map: MirrorMap, samples: float, memory: Memory,
    ) -> tuple[Blend, Memory]:  # fmt: skip
        """Return D_t; `moved` is the distance between the two query points, `samples` counts those before."""
