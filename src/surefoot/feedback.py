"""Process: what becomes of one round's feedback before the learner sees it (Holland 2022, eq. 6).

A feedback returns a factor w in [0, 1] for each judgement: 1 keeps it, 0 replaces it by the anchor, anything between
clips it, shrinks it towards the anchor. What the factors are applied to is the estimate's business. What is not
finite is replaced here, by a branch: 0 * NaN would be NaN.
"""

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot import parts
from surefoot.anchors import Anchor
from surefoot.checks import array, part
from surefoot.parts import Answer, Array, Memory, Verdict
from surefoot.state import State


class Raw(NamedTuple):
    """Keep everything; what is not finite is an error, not data."""

    @property
    def anchor(self) -> None:
        """Nothing is replaced."""

    @property
    def per(self) -> str:
        """Each sample is its own."""
        return "sample"

    def check(self) -> None:
        """Nothing can be wrong."""

    def begin(self, dimension: int, samples: float) -> Memory:
        """Nothing to remember."""
        return ()

    def factor(self, size: float, clip: float, reject: float) -> float:
        """Return 1."""
        return 1.0

    def process(self, answer: Answer, away: float, memory: Memory, t: int, samples: float) -> tuple[Verdict, Memory]:
        """Return factors of one."""
        if not answer.finite.all():
            raise ValueError(
                f"g: the feedback of round {t} is not finite; Clip and Truncate drop such feedback, Raw does not"
            )
        count = len(answer.finite)
        return Verdict(np.ones(count), np.full(count, inf), np.full(count, "kept"), 1.0), memory


class Truncate(NamedTuple):
    """Replace by the anchor's gradient what lies beyond the threshold (Holland 2022, eq. 6).

    threshold: the rule c_t. anchor: a point h~ and a gradient g~; None stands for a gradient of zero.
    per: judge the mean of a round's "batch", as the paper does, or each "sample".
    """

    threshold: parts.ThresholdRule
    anchor: Anchor | None = None
    per: str = "batch"

    def check(self) -> None:
        """Threshold, anchor and per are well formed."""
        _check(self.threshold, self.anchor, self.per)

    def begin(self, dimension: int, samples: float) -> Memory:
        """Return the rule's memory."""
        return optional(self.threshold, "begin")(dimension, samples)

    def factor(self, size: float, clip: float, reject: float) -> float:
        """Return 1 up to the clip line, 0 beyond."""
        return 1.0 if size <= clip else 0.0

    def process(self, answer: Answer, away: float, memory: Memory, t: int, samples: float) -> tuple[Verdict, Memory]:
        """Judge in order."""
        return judge(self.factor, self.threshold, answer, away, memory, samples)


class Clip(NamedTuple):
    """Shrink towards the anchor what lies beyond the clip line, replace what lies beyond the reject line.

    threshold: the rule for both lines. anchor: a point h~ and a gradient g~; None stands for a gradient of zero.
    per: judge each "sample", so that one wild row spoils nothing but itself, or the mean of a round's "batch".
    """

    threshold: parts.ThresholdRule
    anchor: Anchor | None = None
    per: str = "sample"

    def check(self) -> None:
        """Threshold, anchor and per are well formed."""
        _check(self.threshold, self.anchor, self.per)

    def begin(self, dimension: int, samples: float) -> Memory:
        """Return the rule's memory."""
        return optional(self.threshold, "begin")(dimension, samples)

    def factor(self, size: float, clip: float, reject: float) -> float:
        """Return 1 up to the clip line, clip/size up to the reject line, 0 beyond."""
        if size <= clip:
            return 1.0
        return clip / size if size <= reject else 0.0

    def process(self, answer: Answer, away: float, memory: Memory, t: int, samples: float) -> tuple[Verdict, Memory]:
        """Judge in order."""
        return judge(self.factor, self.threshold, answer, away, memory, samples)


def judge(
    factor: Callable[[float, float, float], float], rule: Any,
    answer: Answer, away: float, memory: Memory, samples: float,
) -> tuple[Verdict, Memory]:  # fmt: skip
    """Judge each size by the lines of the moment, then let it move the rule."""
    learn, ready, due, scale = (optional(rule, name) for name in ("learn", "ready", "due", "scale"))
    before, memory = scale(memory), _copied(memory)
    factors, clips = np.zeros(len(answer.size)), np.empty(len(answer.size))
    for i, (size, weight) in enumerate(zip(answer.size.tolist(), answer.weight.tolist(), strict=True)):
        clips[i], reject = rule.lines(memory, away)
        if answer.finite[i]:
            factors[i] = factor(abs(size), clips[i], reject)
            memory = learn(memory, size, weight) if ready(memory) else rule.warm_up(memory, size, weight)
    if due(memory, samples):
        memory = rule.close(memory, samples)
    after = scale(memory)
    calmer = after / before if 0 < after < before else 1.0
    action = np.where(factors == 1, "kept", np.where(factors > 0, "clipped", "replaced"))
    return Verdict(factors, clips, action, calmer), memory


# What a threshold rule that leaves a method out is taken to mean.
LEFT_OUT: dict[str, Callable[..., Any]] = {
    "begin": lambda dimension, samples: (),
    "learn": lambda memory, size, weight: memory,
    "ready": lambda memory: True,
    "due": lambda memory, samples: False,
    "scale": lambda memory: 0.0,
}


def optional(rule: object, name: str) -> Callable[..., Any]:
    """Return a rule's own method, or what leaving it out means."""
    method: Callable[..., Any] = getattr(rule, name, LEFT_OUT[name])
    return method


def _copied(memory: Memory) -> Memory:
    """Return a memory whose arrays a rule may write to."""
    if isinstance(memory, np.ndarray):
        return memory.copy()
    if isinstance(memory, tuple):
        parts_of = map(_copied, memory)
        return type(memory)(*parts_of) if hasattr(memory, "_fields") else tuple(parts_of)
    return memory


def read(
    conversion: Any, dual_norm: Callable[[Array], float], state: State,
    g: ArrayLike, g_before: ArrayLike | None, size: ArrayLike | None, curvature: ArrayLike | None,
    weight: ArrayLike | None,
) -> Answer:  # fmt: skip
    """Bring an answer of any accepted shape into one: judgements along the first axis."""
    feedback, two_points, like = conversion.feedback, conversion.estimate.two_points, state.h
    anchor = None if feedback.anchor is None else feedback.anchor.gradient
    if anchor is not None and anchor.shape != like.shape:
        raise ValueError(f"anchor: expected the shape of the state's points, {like.shape}, got {anchor.shape}")
    if two_points and g_before is None:
        raise ValueError("g_before: Carried needs this round's sample at state.before as well; pass it, or use Fresh()")
    if isinstance(g, tuple) and not two_points:
        raise TypeError("g: got a tuple; Fresh takes one gradient, or an array of them; for a pair use Carried()")
    rows, scalar = _rows("g", g, like)
    rows_before = _rows("g_before", g_before, like)[0] if two_points and g_before is not None else None
    if rows_before is not None and len(rows_before) != len(rows):
        raise ValueError(f"g_before: expected as many samples as g has, {len(rows)}, got {len(rows_before)}")
    weights = np.ones(len(rows)) if weight is None else _numbers("weight", weight, len(rows), scalar)
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError("weight: expected positive finite numbers; leave samples of weight zero out")
    samples = len(rows) if weight is None else float(weights.sum())
    if feedback.per == "batch" and not scalar:
        with np.errstate(over="ignore", invalid="ignore"):
            rows, scalar = np.asarray(np.tensordot(weights, rows, axes=1))[None] / samples, True
            if rows_before is not None:
                rows_before = np.asarray(np.tensordot(weights, rows_before, axes=1))[None] / samples
        weights = np.array([float(samples)])
    finite = np.isfinite(rows).reshape(len(rows), -1).all(axis=1)
    if rows_before is not None:
        finite &= np.isfinite(rows_before).reshape(len(rows), -1).all(axis=1)
    if size is None:
        with np.errstate(over="ignore", invalid="ignore"):
            sizes = np.array([dual_norm(np.asarray(row if anchor is None else row - anchor)) for row in rows])
    else:
        sizes = _numbers("size", size, len(rows), scalar)
    finite &= np.isfinite(sizes)
    curvatures = None if curvature is None else _numbers("curvature", curvature, len(rows), scalar)
    if curvatures is not None:
        if (curvatures < 0).any():
            raise ValueError("curvature: expected numbers of at least zero")
        finite &= np.isfinite(curvatures)
    if not finite.all():
        rows[~finite] = 0.0
        if rows_before is not None:
            rows_before[~finite] = 0.0
    return Answer(rows, rows_before, sizes, curvatures, weights, finite, samples, scalar)


def _rows(name: str, value: ArrayLike, like: Array) -> tuple[Array, bool]:
    """Return samples along a first axis, and whether there was just one without that axis."""
    result = array(name, value)
    if result.shape == like.shape:
        return result[None], True
    if result.ndim == like.ndim + 1 and result.shape[1:] == like.shape and len(result) > 0:
        return result, False
    raise ValueError(
        f"{name}: expected a gradient of shape {like.shape}, or m of them along a first axis, got shape {result.shape}"
    )


def _numbers(name: str, value: ArrayLike, count: int, scalar: bool) -> Array:
    result = array(name, value)
    if result.shape not in ({(), (1,)} if scalar else {(count,)}):
        raise ValueError(f"{name}: expected {'one number' if scalar else f'{count} numbers'}, got shape {result.shape}")
    return result.reshape(count)


def _check(threshold: parts.ThresholdRule, anchor: Anchor | None, per: str) -> None:
    part("threshold", threshold, "lines")
    if per not in ("sample", "batch"):
        raise ValueError(f'per: expected "sample" or "batch", got {per!r}')
    if anchor is not None and not isinstance(anchor, Anchor):
        raise TypeError(f"anchor: expected Anchor(point, gradient) or None, got {anchor!r:.80}")
