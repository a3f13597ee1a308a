"""Mirror maps: a function Phi on a domain H, with its gradient and the way back (Holland 2022, eq. 16, 28 and 29).

Mirror descent and FTRL need nothing else: one walks in the dual space and comes back, the other sums there.
"""

from typing import NamedTuple

import numpy as np

from surefoot import parts
from surefoot.checks import part, positive
from surefoot.domains import Everywhere, Simplex, euclidean_norm
from surefoot.parts import Array

TINY = float(np.finfo(np.float64).tiny)


class Euclidean(NamedTuple):
    """Phi(h) = ||h||^2 / 2 on any domain: gradient steps and projections, 1-strongly convex in the l2 norm."""

    domain: parts.Domain = Everywhere()

    def check(self) -> None:
        """The domain is well formed."""
        part("domain", self.domain, "project")

    @property
    def strong_convexity(self) -> float:
        """1."""
        return 1.0

    @property
    def hilbert(self) -> bool:
        """The l2 norm comes from an inner product."""
        return True

    def diameter(self, like: Array) -> float:
        """Return the domain's."""
        return self.domain.diameter(like)

    def to_dual(self, h: Array) -> Array:
        """Return h."""
        return h

    def to_primal(self, dual: Array) -> Array:
        """Return the projection of the dual point."""
        return self.domain.project(dual)

    def divergence(self, h: Array, other: Array) -> float:
        """Return ||h - other||^2 / 2."""
        return euclidean_norm(np.asarray(h - other)) ** 2 / 2

    def norm(self, h: Array) -> float:
        """Return ||h||_2."""
        return euclidean_norm(h)

    def dual_norm(self, g: Array) -> float:
        """Return ||g||_2."""
        return euclidean_norm(g)

    def contains(self, h: Array) -> bool:
        """Say whether h lies in the domain."""
        return self.domain.contains(h)

    def linear_minimum(self, g: Array) -> float:
        """Return the domain's."""
        return self.domain.linear_minimum(g)

    def farthest(self, h: Array) -> float:
        """Return the domain's."""
        return self.domain.farthest(h)


class NegativeEntropy(NamedTuple):
    """Phi(h) = sum_j h_j log h_j on the simplex of the given total: 1/total-strongly convex in the l1 norm.

    Steps multiply instead of adding, and the dimension enters bounds only as its logarithm: portfolios, mixtures.
    """

    total: float = 1.0

    def check(self) -> None:
        """The total is positive."""
        positive("total", self.total)

    @property
    def strong_convexity(self) -> float:
        """1 / total."""
        return 1 / self.total

    @property
    def hilbert(self) -> bool:
        """The l1 norm has no inner product."""
        return False

    def diameter(self, like: Array) -> float:
        """Return the l1 distance of two corners."""
        return 2 * self.total if like.size > 1 else 0.0

    def to_dual(self, h: Array) -> Array:
        """Return log h (the constant 1 of the gradient vanishes on the simplex); what underflowed can come back."""
        return np.log(np.maximum(h, TINY))

    def to_primal(self, dual: Array) -> Array:
        """Return total * exp(dual) / sum(exp(dual))."""
        powers: Array = np.exp(dual - np.max(dual))
        return powers * (self.total / np.sum(powers))

    def divergence(self, h: Array, other: Array) -> float:
        """Return sum_j h_j log(h_j / other_j) - h_j + other_j, with 0 log 0 = 0."""
        ratio = np.divide(h, np.maximum(other, TINY))
        return float(np.sum(np.where(h > 0, h * np.log(np.maximum(ratio, TINY)), 0.0) - h + other))

    def norm(self, h: Array) -> float:
        """Return ||h||_1."""
        return float(np.sum(np.abs(h)))

    def dual_norm(self, g: Array) -> float:
        """Return the largest |g_j|."""
        return float(np.max(np.abs(g)))

    def contains(self, h: Array) -> bool:
        """Say whether h lies on the simplex, no coordinate at 0, where the gradient is infinite."""
        return Simplex(self.total).contains(h) and bool(np.min(h) > 0)

    def linear_minimum(self, g: Array) -> float:
        """Return the total times the smallest coordinate."""
        return self.total * float(np.min(g))

    def farthest(self, h: Array) -> float:
        """Return the l1 distance to the farthest corner."""
        sizes = np.abs(h)
        return float(np.max(np.sum(sizes) - sizes + np.abs(self.total - h)))
