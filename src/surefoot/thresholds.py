"""Threshold rules: where feedback is clipped, and where it is rejected.

A rule yields two lines for the size of one piece of feedback. Up to the first it passes unchanged, between the two
it is clipped, beyond the second it is rejected. A size is judged first and moves the rule afterwards; while a rule
knows nothing, both lines are infinite.

A rule that does not learn has only `lines`. One that learns has `begin` and `learn` too, and may have `warm_up` for as
long as it is not `ready`, `close` for the end of a round in which it is `due`, and `scale`, the typical size.
"""

from math import exp, floor, inf, isfinite, log, log2, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.checks import array, between, non_negative, positive, whole
from surefoot.parts import Array

WARM_UP = 64  # sizes by which a rule that starts from nothing judges before it begins to track
LARGEST = 1e300  # of a scale
GAIN = 0.098  # of RunningScale: a step of one tenth, up or down, of which the quantile keeps the balance


class Lines(NamedTuple):
    """What `LeastRisk` reads from data: the typical size, and the lines beyond which to clip and to reject."""

    scale: float
    clip: float
    reject: float

    def check(self) -> None:
        """Scale and clip line are positive, and the reject line is not below the clip line."""
        positive("start.scale", self.scale)
        _check_lines("start.clip", self.clip, "start.reject", self.reject)


def _check_lines(clip_name: str, clip: float, reject_name: str, reject: float) -> None:
    positive(clip_name, clip, infinite=True)
    positive(reject_name, reject, infinite=True)
    if reject < clip:
        raise ValueError(f"{reject_name}: the reject line {reject} lies below the clip line {clip_name} = {clip}")


class ConstantThreshold(NamedTuple):
    """The same lines in every round; ConstantThreshold(inf) judges nothing and drops only what is not finite."""

    c: float
    reject: float = inf

    @classmethod
    def holland2022(cls, n_train: int, delta: float = 0.05) -> "ConstantThreshold":
        """Return the threshold sqrt(n_train / log(1/delta)) of the paper's experiments (Holland 2022, section 5)."""
        return cls(sqrt(whole("n_train", n_train, 1) / -log(between("delta", delta, 0, 1))))

    def check(self) -> None:
        """Both lines are positive, in order."""
        _check_lines("c", self.c, "reject", self.reject)

    def lines(self, memory: tuple[()], away: float) -> tuple[float, float]:
        """Return c and the reject line."""
        return self.c, self.reject


class SmoothThreshold(NamedTuple):
    """c_t = anchor_error * sigma + smoothness * ||h~ - hbar_t|| + base (Holland 2022, eq. 11).

    anchor_error: the factor eps of the anchor's promise ||g~ - grad R(h~)|| <= eps * sigma. base: c_0.
    """

    smoothness: float
    sigma: float
    anchor_error: float
    base: float

    @classmethod
    def lemma2(
        cls, smoothness: float, sigma: float, anchor_error: float, diameter: float, rounds: int, delta: float
    ) -> "SmoothThreshold":
        """Return the rule with c_0 = max(smoothness * diameter, sigma sqrt(T / log(1/delta))) + anchor_error * sigma.

        The base of the gradient-error lemma (Holland 2022, Lemma 2), T the number of rounds.
        """
        positive("diameter", diameter)
        for name, value in (("smoothness", smoothness), ("sigma", sigma), ("anchor_error", anchor_error)):
            non_negative(name, value)
        deviation = sigma * sqrt(whole("rounds", rounds, 1) / -log(between("delta", delta, 0, 1)))
        return cls(smoothness, sigma, anchor_error, max(smoothness * diameter, deviation) + anchor_error * sigma)

    def check(self) -> None:
        """All constants are finite, none negative, the base positive."""
        non_negative("smoothness", self.smoothness)
        non_negative("sigma", self.sigma)
        non_negative("anchor_error", self.anchor_error)
        positive("base", self.base)

    def lines(self, memory: tuple[()], away: float) -> tuple[float, float]:
        """Return c_t, and no reject line."""
        if not isfinite(away):
            raise ValueError(
                "anchor: SmoothThreshold measures the distance to one; pass anchor=Anchor(point, gradient)"
            )
        return self.anchor_error * self.sigma + self.smoothness * away + self.base, inf


class RunningScaleMemory(NamedTuple):
    """The running quantile and its least value so far, the samples seen and how many are distinct, the first sizes."""

    scale: float
    least: float
    seen: float
    distinct: float
    filled: int
    first: Array


class RunningScale(NamedTuple):
    """Clip at a multiple of a running quantile of the sizes, a multiple that grows slowly with the samples seen.

    clip = scale * max(multiple, growth * sqrt(min(seen, samples) / log(1/delta)))
    reject = max(clip, scale * reject)

    The growth keeps the bias of clipping from outliving the noise; the reject line keeps gross errors out for ever.
    Exact zeros say nothing about the scale and leave it alone.
    start: a scale to start from, such as a pilot's. samples: the distinct samples, where they are seen repeatedly.
    """

    quantile: float = 0.75
    multiple: float = 3.0
    growth: float = 0.3
    delta: float = 0.05
    reject: float = 30.0
    start: float | None = None
    samples: int | None = None

    def check(self) -> None:
        """Every constant is in its range, and the reject line is not below the clip line."""
        between("quantile", self.quantile, 0, 1)
        _check_lines("multiple", self.multiple, "reject", self.reject)
        non_negative("growth", self.growth)
        between("delta", self.delta, 0, 1)
        if self.start is not None:
            positive("start", self.start)
        if self.samples is not None:
            whole("samples", self.samples, 1)

    def begin(self, dimension: int, samples: float) -> RunningScaleMemory:
        """Start from the given scale, or from nothing."""
        distinct = inf if self.samples is None else float(self.samples)
        scale, least, filled = (0.0, inf, 0) if self.start is None else (self.start, self.start, WARM_UP)
        return RunningScaleMemory(float(scale), float(least), float(samples), distinct, filled, np.zeros(WARM_UP))

    def lines(self, memory: RunningScaleMemory, away: float) -> tuple[float, float]:
        """Return both lines at the present scale."""
        if memory.scale == 0:
            return inf, inf
        seen = min(memory.seen, memory.distinct)
        clip = memory.scale * max(self.multiple, self.growth * sqrt(seen / -log(self.delta)))
        return clip, max(clip, memory.scale * self.reject)

    def ready(self, memory: RunningScaleMemory) -> bool:
        """Say whether the first sizes have been seen."""
        return memory.filled == WARM_UP

    def warm_up(self, memory: RunningScaleMemory, size: float, weight: float) -> RunningScaleMemory:
        """Take the quantile of the sizes seen so far."""
        count, scale, least = memory.filled, memory.scale, memory.least
        if size != 0:
            memory.first[count] = abs(size)
            count += 1
            scale = float(np.quantile(memory.first[:count], self.quantile, method="lower"))
            least = scale if count == WARM_UP else inf
        return RunningScaleMemory(scale, least, memory.seen + weight, memory.distinct, count, memory.first)

    def learn(self, memory: RunningScaleMemory, size: float, weight: float) -> RunningScaleMemory:
        """Step the quantile up or down."""
        scale = memory.scale
        if size != 0:
            up = abs(size) > scale
            scale = min(LARGEST, scale * exp(weight * GAIN * (self.quantile if up else self.quantile - 1)))
        seen, least = memory.seen + weight, min(memory.least, scale)
        return RunningScaleMemory(scale, least, seen, memory.distinct, memory.filled, memory.first)

    def scale(self, memory: RunningScaleMemory) -> float:
        """Return the least scale so far: what goes up and down by a step each time has not fallen for good."""
        return 0.0 if memory.least == inf else memory.least


BINS = 256
MIDDLE = 128
PER_OCTAVE = 8
TRIPLE = 13  # bins: a factor of 3.1
EDGES = 2.0 ** ((np.arange(BINS) - MIDDLE) / PER_OCTAVE)  # lower edges of the bins, in units of the tally
CENTERS = 2.0 ** ((np.arange(BINS) + 0.5 - MIDDLE) / PER_OCTAVE)
GAP_MARGIN = 0.8


class LeastRiskMemory(NamedTuple):
    """The lines in force, the tally since they were read, and when to read them again.

    counts: by sign and size, in units of `unit`, which is 0 during the warm-up. first: the first sizes, of which there
    are `filled`. seen: samples, a pilot's included. following: the samples at
    which to read again, 0 where that is still open.
    """

    drawn: Lines
    counts: Array
    unit: float
    first: Array
    filled: int
    seen: float
    following: float
    dimension: int


class LeastRisk(NamedTuple):
    """Both lines read from one histogram of sizes at every doubling of the samples seen.

    A tail that loses less than half its members over a factor of three is not a tail but a second population: reject
    beyond the gap. Short of that, clip where the estimated risk is least, the variance saved by clipping against the
    bias it adds; skew counts as bias only as far as it is `skew` standard errors from zero, and not at all where
    sizes have one sign, as norms do.

    gap: the share of a tail that must remain over a factor of three to be a gap; infinity rejects nothing.
    start: lines to start from, such as a pilot's. samples: the distinct samples, where they are seen repeatedly.
    dimension: the number of unknowns (the size of h, unless given).
    """

    skew: float = 1.5
    gap: float = 0.5
    start: Lines | None = None
    samples: int | None = None
    dimension: int | None = None

    def check(self) -> None:
        """Every constant is in its range, and the lines to start from are in order."""
        non_negative("skew", self.skew, infinite=True)
        positive("gap", self.gap, infinite=True)
        if self.start is not None:
            if not isinstance(self.start, Lines):
                raise TypeError(f"start: expected Lines(scale, clip, reject), got {self.start!r}")
            self.start.check()
        if self.samples is not None:
            whole("samples", self.samples, 1)
        if self.dimension is not None:
            whole("dimension", self.dimension, 1)

    def read(self, sizes: ArrayLike, samples: float, dimension: int) -> Lines:
        """Return the lines these sizes suggest after `samples` samples, with `dimension` unknowns to be found.

        >>> LeastRisk().read([-1.0, 2.0, -1.5, 0.5, 1.0] * 20 + [1000.0] * 5, samples=105, dimension=1).reject < 10
        True
        """
        flat = array("sizes", sizes).ravel()
        if not np.isfinite(flat).all() or flat.size == 0:
            raise ValueError("sizes: expected at least one number, all finite")
        positive("samples", samples)
        whole("dimension", dimension, 1)
        largest = float(np.max(np.abs(flat)))
        if largest == 0:
            return Lines(0.0, inf, inf)
        relative = np.abs(flat) / largest
        unit = min(LARGEST, largest * (float(np.median(relative)) or float(np.mean(relative))))
        counts = np.zeros((2, BINS))
        for size in flat.tolist():
            counts[int(size > 0), bin_of(abs(size), unit)] += 1.0
        return self.judge(counts, unit, samples, dimension) or Lines(0.0, inf, inf)

    def judge(self, counts: Array, unit: float, samples: float, dimension: int) -> Lines | None:
        """Return the lines a tally suggests, None where it holds no size above zero.

        Bins run over eight a factor of two; the first holds exact zeros. Where these are half of all, the scale and
        the risk look at the others alone.
        """
        both, signed = counts[0] + counts[1], counts[1] - counts[0]
        beyond = np.append(np.cumsum(both[::-1])[::-1], 0.0)  # members in bin j and above
        lowest = 1 if 2 * (beyond[0] - beyond[1]) >= beyond[0] else 0
        if beyond[lowest] == 0:
            return None
        half = beyond[lowest] / 2
        median = int(np.flatnonzero(beyond[:-1] >= half)[-1])
        within = (beyond[median] - half) / (beyond[median] - beyond[median + 1])
        scale = min(float(unit * 2.0 ** ((median + within - MIDDLE) / PER_OCTAVE)), LARGEST)

        tail, far = beyond[median + TRIPLE : BINS - TRIPLE], beyond[median + 2 * TRIPLE : BINS]
        remaining = min(self.gap, 1.0)  # of a tail, never more than all remains
        gaps = np.flatnonzero((tail > 0) & (far > remaining * tail + GAP_MARGIN * np.sqrt(tail)))
        last = min(median + TRIPLE + int(gaps[0]) + TRIPLE // 2, BINS - 1) if gaps.size else BINS
        reject = unit * float(CENTERS[last]) if gaps.size else inf

        grid = np.arange(median + 1, min(last, BINS - 1) + 1)
        if grid.size == 0:  # the unit was far too small; the next reading has a better one
            return Lines(scale, inf, inf)
        judged = (np.arange(BINS) >= lowest) & (np.arange(BINS) < last)
        members, signs, line = np.where(judged, both, 0.0), np.where(judged, signed, 0.0), EDGES[grid]
        total = members.sum()
        kept = np.cumsum(members)[grid - 1]
        square = np.cumsum(members * CENTERS**2)[grid - 1] + (total - kept) * line**2
        distinct = samples if self.samples is None else min(samples, self.samples)
        risk = dimension * (square / total) / (kept / total) ** 2 / distinct
        if self.skew < inf and counts[0, 1:].any() and counts[1, 1:].any():
            cut = np.where(np.arange(BINS) >= grid[:, None], CENTERS - line[:, None], 0.0)
            rows = total if self.samples is None else min(total, self.samples)
            bias, error = cut @ signs / total, cut**2 @ members / total / rows
            risk += np.maximum(0.0, bias**2 - self.skew**2 * error)
        return Lines(scale, unit * float(line[np.argmin(risk)]), reject)

    def begin(self, dimension: int, samples: float) -> LeastRiskMemory:
        """Start from the given lines, or from nothing."""
        start = Lines(0.0, inf, inf) if self.start is None else Lines(*map(float, self.start))
        unknowns = dimension if self.dimension is None else self.dimension
        following = 0.0 if self.start is None else 2.0 * samples if samples > 0 else float(WARM_UP)
        empty, first = np.zeros((2, BINS)), np.zeros(WARM_UP)
        return LeastRiskMemory(start, empty, start.scale, first, 0, float(samples), following, unknowns)

    def lines(self, memory: LeastRiskMemory, away: float) -> tuple[float, float]:
        """Return the lines in force."""
        return memory.drawn.clip, memory.drawn.reject

    def ready(self, memory: LeastRiskMemory) -> bool:
        """Say whether there is a unit to tally in."""
        return memory.unit > 0

    def warm_up(self, memory: LeastRiskMemory, size: float, weight: float) -> LeastRiskMemory:
        """Read the lines from the sizes seen so far; begin to tally when there are enough, one above zero."""
        first, count, seen = memory.first, memory.filled, memory.seen + weight
        if count == WARM_UP:  # all zeros so far
            first[:-1], count = first[1:], count - 1
        first[count] = size
        count += 1
        lines = self.read(first[:count], seen, memory.dimension)
        unit = lines.scale if count == WARM_UP else 0.0
        return memory._replace(drawn=lines, unit=unit, filled=count, seen=seen)

    def learn(self, memory: LeastRiskMemory, size: float, weight: float) -> LeastRiskMemory:
        """Tally one size."""
        memory.counts[int(size > 0), bin_of(abs(size), memory.unit)] += weight
        return memory

    def due(self, memory: LeastRiskMemory, samples: float) -> bool:
        """Say whether the samples seen have doubled since the last reading."""
        return memory.unit > 0 and samples >= memory.following

    def close(self, memory: LeastRiskMemory, samples: float) -> LeastRiskMemory:
        """Read the lines anew."""
        if memory.following == 0:  # the warm-up ended in this round: it has just been done
            return memory._replace(following=2.0 * samples)
        lines = self.judge(memory.counts, memory.unit, samples, memory.dimension) or memory.drawn
        return memory._replace(drawn=lines, counts=np.zeros((2, BINS)), unit=lines.scale, following=2.0 * samples)

    def scale(self, memory: LeastRiskMemory) -> float:
        """Return the typical size; 0 during the warm-up, whose ups and downs are no news about the noise."""
        return memory.drawn.scale if memory.unit > 0 else 0.0


def bin_of(size: float, unit: float) -> int:
    """Return the bin of a size: 0 for zero, else 1 to 255, eight to a factor of two, 128 at the unit."""
    if size == 0:
        return 0
    return min(BINS - 1, max(1, floor(PER_OCTAVE * (log2(size) - log2(unit))) + MIDDLE))
