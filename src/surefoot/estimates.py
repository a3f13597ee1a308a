"""Estimates: how this round's feedback joins that of the rounds before it.

Both estimates are one formula,

    D = (1 - b) D + mean_i [w_i (G_i - (1 - b) G'_i) + b (1 - w_i) a],

with w_i the factors of the feedback, a the anchor's gradient (or zero), G_i and G'_i sample i at this round's query
point and at the one before; the mean is weighted where samples are. `Fresh` is b = 1: the paper's feedback, whose noise
never shrinks. `Carried` lets b fall like 1/t, and D becomes the average of all samples so far, carried to the present
point.
"""

from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from surefoot import parts
from surefoot.checks import non_negative, positive, whole
from surefoot.parts import Answer, Array, Blend, Verdict

SEEN_FOR_TYPICAL = 64


class Fresh(NamedTuple):
    """Feed each round's own feedback to the learner (Holland 2022, Algorithm 1)."""

    @property
    def two_points(self) -> bool:
        """One answer, at the queried point, is all it takes: the point may be live."""
        return False

    def check(self) -> None:
        """Nothing can be wrong."""

    def begin(self, samples: float) -> tuple[()]:
        """Nothing to remember."""
        return ()

    def update(
        self, carried: Array, answer: Answer, verdict: Verdict, anchor: Array | None, moved: float,
        mirror_map: parts.MirrorMap, samples: float, memory: tuple[()],
    ) -> tuple[Blend, tuple[()]]:  # fmt: skip
        """Return mean_i [w_i G_i + (1 - w_i) a]."""
        return blend(carried, answer, verdict.factor, 1.0, anchor), memory

    def share(self, worth: float, samples: float, count: float, dimension: int) -> float:
        """Return 1: nothing is carried."""
        return 1.0

    def worth(self, worth: float, count: float, calmer: float) -> float:
        """Return 0: nothing is carried."""
        return 0.0

    def cap(self, factor: float, bend: float, typical: float) -> float:
        """Return the factor: fresh feedback is judged by its feedback alone."""
        return factor


class CarriedMemory(NamedTuple):
    """How many samples D stands for, and the positive curvatures seen first."""

    worth: float
    curvatures: tuple[float, ...]


class Carried(NamedTuple):
    """Carry an estimate of the gradient from query point to query point: its error shrinks like 1/sqrt(t).

    It needs the *same sample* at two points, this round's and the one before; a live system gives one answer, at
    the point shown, and there only `Fresh` applies.

    early, span: samples weigh up to 1 + early times more at first, for about span * dimension samples, to forget the
    start. leverage: no sample may claim more than this many times the typical curvature. typical: that curvature
    (the median of the first 64 seen, unless given). dimension: the number of unknowns (the size of h, unless given).
    """

    early: float = 8.0
    span: float = 3.0
    leverage: float = 3.0
    typical: float | None = None
    dimension: int | None = None

    @property
    def two_points(self) -> bool:
        """It needs g_before."""
        return True

    def check(self) -> None:
        """Every constant is in its range."""
        non_negative("early", self.early, infinite=True)
        positive("span", self.span)
        positive("leverage", self.leverage, infinite=True)
        if self.typical is not None:
            positive("typical", self.typical)
        if self.dimension is not None:
            whole("dimension", self.dimension, 1)

    def begin(self, samples: float) -> CarriedMemory:
        """Start with as much behind D as a pilot has put there."""
        return CarriedMemory(float(samples), ())

    def update(
        self, carried: Array, answer: Answer, verdict: Verdict, anchor: Array | None, moved: float,
        mirror_map: parts.MirrorMap, samples: float, memory: CarriedMemory,
    ) -> tuple[Blend, CarriedMemory]:  # fmt: skip
        """Return the carried estimate; a sample of high curvature counts for less."""
        factor, curvatures = verdict.factor, memory.curvatures
        if self.leverage < inf:
            factor, curvatures = self._cap(factor, answer, moved, mirror_map, curvatures)
        dimension = carried.size if self.dimension is None else self.dimension
        share = self.share(memory.worth, samples, answer.samples, dimension)
        worth = self.worth(memory.worth, answer.samples, verdict.calmer)
        return blend(carried, answer, factor, share, anchor), CarriedMemory(worth, curvatures)

    def share(self, worth: float, samples: float, count: float, dimension: int) -> float:
        """Return b of a round of `count` samples, the estimate standing for `worth` of the `samples` before."""
        haste = 1 + self.early / (1 + (samples + count) / (self.span * dimension))
        return 1 / (1 + worth / (haste * count))

    def worth(self, worth: float, count: float, calmer: float) -> float:
        """Return how many samples the estimate stands for after a round; less, where the noise has fallen."""
        return max(1.0, (worth + count) * calmer**2)

    def cap(self, factor: float, bend: float, typical: float) -> float:
        """Return the factor of a sample, less where its curvature is beyond `leverage` times the typical."""
        return factor * (self.leverage * typical / bend) if bend > self.leverage * typical else factor

    def _cap(
        self, factor: Array, answer: Answer, moved: float, mirror_map: parts.MirrorMap, curvatures: tuple[float, ...]
    ) -> tuple[Array, tuple[float, ...]]:
        """Multiply each factor by min(1, leverage * typical / curvature), sample by sample in order."""
        capped, bends = factor.copy(), answer.curvature
        if bends is None:
            if moved == 0 or answer.g_before is None:
                return capped, curvatures
            with np.errstate(over="ignore", invalid="ignore"):
                bends = np.array([mirror_map.dual_norm(row) for row in answer.g - answer.g_before]) / moved
        for i in np.flatnonzero(answer.finite):
            bend = float(bends[i])
            typical = self.typical or median(curvatures)
            capped[i] = self.cap(capped[i], bend, typical)
            if self.typical is None and len(curvatures) < SEEN_FOR_TYPICAL and bend > 0 and isfinite(bend):
                curvatures = (*curvatures, bend)
        return capped, curvatures


def median(values: tuple[float, ...]) -> float:
    """Return the median, infinity of nothing."""
    ordered, half = sorted(values), len(values) // 2
    return (ordered[half] + ordered[-1 - half]) / 2 if values else inf


def blend(carried: Array, answer: Answer, factor: Array, share: float, anchor: Array | None) -> Blend:
    """Return (1 - b) D + mean_i [w_i (G_i - (1 - b) G'_i) + b (1 - w_i) a]."""
    used = answer.weight * factor / answer.samples
    with np.errstate(over="ignore", invalid="ignore"):  # what this leaves behind, the learner's check finds
        fresh = np.tensordot(used, answer.g, axes=1)
        if anchor is not None:
            fresh = fresh + share * np.sum(answer.weight * (1 - factor) / answer.samples) * anchor
        if share < 1 and answer.g_before is not None:
            fresh = fresh + (1 - share) * (carried - np.tensordot(used, answer.g_before, axes=1))
    return Blend(np.asarray(fresh), factor, share)
