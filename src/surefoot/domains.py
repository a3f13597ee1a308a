"""The convex sets H in which the iterates live, each with its exact Euclidean projection."""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.checks import array, finite_array, positive
from surefoot.parts import Array

ROUNDING = 1e-9  # how far outside, relative to the set's size, a start may lie


def euclidean_norm(h: Array) -> float:
    """Return ||h||_2 of an array of any shape, without overflow or underflow where the result has none."""
    flat = h.ravel()
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        square = float(flat @ flat)
        if 1e-280 < square < inf or flat.size == 0:
            return sqrt(square)
        largest = float(np.max(np.abs(flat)))
        if not 0 < largest < inf:
            return largest
        scaled = flat / largest
        return largest * sqrt(float(scaled @ scaled))


class Everywhere(NamedTuple):
    """No constraint: the whole space."""

    def check(self) -> None:
        """Nothing can be wrong."""

    def diameter(self, like: Array) -> float:
        """Return infinity."""
        return inf

    def project(self, h: Array) -> Array:
        """Return h."""
        return h

    def contains(self, h: Array) -> bool:
        """Every point is inside."""
        return True

    def linear_minimum(self, g: Array) -> float:
        """Return -inf: a linear function has no minimum on the whole space."""
        return -inf

    def farthest(self, h: Array) -> float:
        """Return infinity."""
        return inf


class Ball(NamedTuple):
    """All points within `radius` of `center` (the origin, unless given).

    >>> Ball(5.0).project(np.array([6.0, 8.0]))
    array([3., 4.])
    """

    radius: float
    center: ArrayLike | None = None

    def check(self) -> None:
        """The radius is positive, the center finite."""
        positive("radius", self.radius)
        if self.center is not None:
            finite_array("center", self.center)

    def diameter(self, like: Array) -> float:
        """Return twice the radius."""
        return 2 * self.radius

    def project(self, h: Array) -> Array:
        """Return c + (h - c) min(1, r / ||h - c||)."""
        offset = self._from_center(h)
        length = euclidean_norm(offset)
        return h if length <= self.radius else h - offset + offset / length * self.radius

    def contains(self, h: Array) -> bool:
        """Say whether ||h - c|| <= r."""
        return euclidean_norm(self._from_center(h)) <= self.radius * (1 + ROUNDING)

    def linear_minimum(self, g: Array) -> float:
        """Return <g, c> - r ||g||."""
        middle = 0.0 if self.center is None else float(np.sum(g * np.asarray(self.center, dtype=np.float64)))
        return middle - self.radius * euclidean_norm(g)

    def farthest(self, h: Array) -> float:
        """Return ||h - c|| + r."""
        return euclidean_norm(self._from_center(h)) + self.radius

    def _from_center(self, h: Array) -> Array:
        return h if self.center is None else np.asarray(h - np.asarray(self.center, dtype=np.float64))


class Box(NamedTuple):
    """All points with low <= h <= high, coordinate by coordinate; a bound may be infinite.

    >>> Box(0.0, 1.0).project(np.array([-2.0, 0.5, 3.0]))
    array([0. , 0.5, 1. ])
    """

    low: ArrayLike
    high: ArrayLike

    def check(self) -> None:
        """Every low bound lies at or below its high bound."""
        low, high = array("low", self.low), array("high", self.high)
        try:
            ordered = bool(np.all(low <= high))
        except ValueError:
            raise ValueError(f"low: expected the shape of high, {high.shape}, got {low.shape}") from None
        if not ordered:
            raise ValueError(
                f"low: every low bound must lie at or below its high bound, got {self.low} and {self.high}"
            )

    def diameter(self, like: Array) -> float:
        """Return ||high - low||."""
        low, high = self._bounds()
        return euclidean_norm(np.broadcast_to(high - low, like.shape))

    def project(self, h: Array) -> Array:
        """Clip every coordinate."""
        low, high = self._bounds()
        return np.clip(h, low, high)

    def contains(self, h: Array) -> bool:
        """Say whether every coordinate lies between its bounds."""
        low, high = self._bounds()
        slack = ROUNDING * np.maximum(1.0, np.abs(h))
        return bool(np.all((low - slack <= h) & (h <= high + slack)))

    def linear_minimum(self, g: Array) -> float:
        """Return sum_j min(g_j low_j, g_j high_j); a coordinate with g_j = 0 adds nothing."""
        bound = np.where(g > 0, *self._bounds())
        return float(np.sum(np.multiply(g, bound, where=g != 0, out=np.zeros_like(g))))

    def farthest(self, h: Array) -> float:
        """Return the distance to the farthest corner."""
        low, high = self._bounds()
        return euclidean_norm(np.asarray(np.maximum(np.abs(h - low), np.abs(h - high))))

    def _bounds(self) -> tuple[Array, Array]:
        return np.asarray(self.low, dtype=np.float64), np.asarray(self.high, dtype=np.float64)


class Simplex(NamedTuple):
    """All points with non-negative coordinates that sum to `total`: portfolios, mixtures, budgets.

    >>> Simplex().project(np.array([0.9, 0.9, -5.0]))
    array([0.5, 0.5, 0. ])
    """

    total: float = 1.0

    def check(self) -> None:
        """The total is positive."""
        positive("total", self.total)

    def diameter(self, like: Array) -> float:
        """Return the distance of two corners."""
        return self.total * sqrt(2) if like.size > 1 else 0.0

    def project(self, h: Array) -> Array:
        """Return max(h - theta, 0), theta such that the coordinates sum to the total: one sort."""
        shifted = h.ravel() - np.max(h)  # the projection does not see a common shift; rounding does
        falling = np.sort(shifted)[::-1]
        theta = (np.cumsum(falling) - self.total) / np.arange(1, falling.size + 1)
        last = np.count_nonzero(falling > theta) - 1
        nearest: Array = np.maximum(shifted - theta[last], 0.0)
        return nearest.reshape(h.shape)

    def contains(self, h: Array) -> bool:
        """Say whether no coordinate is negative and all sum to the total."""
        slack = self.total * ROUNDING
        return bool(np.min(h) >= -slack and abs(float(np.sum(h)) - self.total) <= slack)

    def linear_minimum(self, g: Array) -> float:
        """Return the total times the smallest coordinate."""
        return self.total * float(np.min(g))

    def farthest(self, h: Array) -> float:
        """Return the distance to the farthest corner."""
        square = euclidean_norm(h) ** 2 - 2 * self.total * float(np.min(h)) + self.total**2
        return sqrt(max(square, 0.0))
