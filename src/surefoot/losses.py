"""Losses: functions of a target and of a linear model's prediction.

A loss is a `NamedTuple` with `value(y, prediction)` and `derivative(y, prediction)`; a user's needs nothing more. It
may say how far its derivative bends (`curvature`), how large the derivative gets (`derivative_bound`), and what users
mean by a prediction (`link`). Where the derivative jumps, at a kink, it is 0. Targets of the classification losses are
0 and 1.

`Softmax` has one score a class, and says how a row's scores become its derivatives in `fill`.
"""

from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.checks import between, finite_array, non_negative, positive
from surefoot.parts import Array


class SquaredError(NamedTuple):
    """(prediction - y)^2 / 2: the mean.

    >>> SquaredError().value(1.0, 3.0)
    2.0
    """

    curvature: float = 1.0

    def value(self, y: Any, prediction: Any) -> Any:
        """Return half the square of the residual."""
        return (prediction - y) ** 2 / 2

    def derivative(self, y: Any, prediction: Any) -> Any:
        """Return the residual."""
        return prediction - y


class Huber(NamedTuple):
    """Quadratic up to `width`, linear beyond: between the mean and the median. The width has the units of the target.

    >>> float(Huber(1.0).value(0.0, 3.0))
    2.5
    """

    width: float = 1.0

    def check(self) -> None:
        """The width is positive."""
        positive("width", self.width)

    @property
    def curvature(self) -> float:
        """1."""
        return 1.0

    @property
    def derivative_bound(self) -> float:
        """The width."""
        return self.width

    def value(self, y: Any, prediction: Any) -> Any:
        """Return r^2 / 2 up to the width, width * (|r| - width/2) beyond."""
        size = np.abs(prediction - y)
        inner = np.minimum(size, self.width)
        return inner * (size - inner / 2)

    def derivative(self, y: Any, prediction: Any) -> Any:
        """Return the residual, clipped at the width."""
        return np.minimum(np.maximum(prediction - y, -self.width), self.width)


class Pinball(NamedTuple):
    """The quantile loss; `smoothing` rounds its kink off over that width, in the units of the target.

    >>> float(Pinball(0.9).value(3.0, 1.0))
    1.8
    """

    level: float = 0.5
    smoothing: float = 0.0

    def check(self) -> None:
        """The level is a probability, the smoothing not negative."""
        between("level", self.level, 0, 1)
        non_negative("smoothing", self.smoothing)

    @property
    def derivative_bound(self) -> float:
        """The larger of level and 1 - level."""
        return max(self.level, 1 - self.level)

    def value(self, y: Any, prediction: Any) -> Any:
        """Return level * (y - prediction) below the target, (1 - level) * (prediction - y) above it."""
        residual, half = prediction - y, self.smoothing / 2
        near = np.minimum(np.maximum(residual, -half), half)
        bend = (near + half) ** 2 / (2 * self.smoothing) if self.smoothing > 0 else 0.0 * near
        return bend + np.maximum(residual - half, 0.0) - self.level * residual

    def derivative(self, y: Any, prediction: Any) -> Any:
        """Return 1 - level above the target, -level below, a line between."""
        residual = prediction - y
        if self.smoothing > 0:
            return np.minimum(np.maximum(residual / self.smoothing + 0.5, 0.0), 1.0) - self.level
        return 1.0 * (residual > 0) - self.level * (residual != 0)


class Poisson(NamedTuple):
    """mean - y log(mean) with log(mean) = prediction: counts and rates, whose mean multiplies.

    limit: the prediction beyond which the mean goes on linearly instead of exponentially, so that no row explodes.

    >>> float(Poisson().derivative(3.0, 0.0))
    -2.0
    """

    limit: float = 300.0

    def check(self) -> None:
        """The limit is a finite number."""
        finite_array("limit", self.limit)

    def value(self, y: Any, prediction: Any) -> Any:
        """Return the integral of the derivative: exp(p) - y p up to the limit, a parabola beyond."""
        beyond = np.maximum(prediction - self.limit, 0.0)
        return np.exp(prediction - beyond) * (1.0 + beyond + beyond**2 / 2) - y * prediction

    def derivative(self, y: Any, prediction: Any) -> Any:
        """Return the mean minus y."""
        return self.link(prediction) - y

    def bend(self, y: Any, prediction: Any) -> Any:
        """Return the second derivative: this loss has no one curvature, it bends as the mean grows."""
        return np.exp(np.minimum(prediction, self.limit))

    def link(self, prediction: Any) -> Any:
        """Return the mean."""
        beyond = np.maximum(prediction - self.limit, 0.0)
        return np.exp(prediction - beyond) * (1.0 + beyond)


class LogLoss(NamedTuple):
    """The logistic loss with one score for two classes; y is 0 or 1."""

    curvature: float = 0.25
    derivative_bound: float = 1.0

    def value(self, y: Any, prediction: Any) -> Any:
        """Return log(1 + exp(prediction)) - y * prediction."""
        return np.logaddexp(0.0, prediction) - y * prediction

    def derivative(self, y: Any, prediction: Any) -> Any:
        """Return the probability of class 1, minus y."""
        return 0.5 * (1.0 + np.tanh(0.5 * prediction)) - y

    def link(self, prediction: Any) -> Any:
        """Return the probability of class 1."""
        return 0.5 * (1.0 + np.tanh(0.5 * prediction))


class SquaredHinge(NamedTuple):
    """max(0, 1 - s * prediction)^2 / 2 with s = 2y - 1: a margin, without probabilities."""

    curvature: float = 1.0

    def value(self, y: Any, prediction: Any) -> Any:
        """Return half the square of what is missing to the margin."""
        return np.maximum(1.0 - (2.0 * y - 1.0) * prediction, 0.0) ** 2 / 2

    def derivative(self, y: Any, prediction: Any) -> Any:
        """Return minus what is missing, signed."""
        side = 2.0 * y - 1.0
        return -side * np.maximum(1.0 - side * prediction, 0.0)


class ModifiedHuber(NamedTuple):
    """The squared hinge, linear beyond a margin of -1: robust to labels that are wrong."""

    curvature: float = 1.0
    derivative_bound: float = 2.0

    def value(self, y: Any, prediction: Any) -> Any:
        """Return half the square of what is missing up to 2, twice that minus 2 beyond."""
        missing = np.maximum(1.0 - (2.0 * y - 1.0) * prediction, 0.0)
        inner = np.minimum(missing, 2.0)
        return inner * (missing - inner / 2)

    def derivative(self, y: Any, prediction: Any) -> Any:
        """Return minus what is missing, at most 2, signed."""
        side = 2.0 * y - 1.0
        return -side * np.minimum(np.maximum(1.0 - side * prediction, 0.0), 2.0)

    def link(self, prediction: Any) -> Any:
        """Return the probability of class 1: (prediction + 1) / 2, cut to [0, 1]."""
        return np.minimum(np.maximum(0.5 * (prediction + 1.0), 0.0), 1.0)


class Softmax(NamedTuple):
    """The multi-class logistic loss log(sum_j exp(z_j)) - z_y, always with one score a class.

    curvature: the largest eigenvalue of its second derivative in the scores.
    """

    curvature: float = 0.5
    derivative_bound: float = 2.0**0.5

    def value(self, y: NDArray[np.int64], scores: Array) -> Array:
        """Return the loss of each row of scores.

        >>> Softmax().value(np.array([0]), np.zeros((1, 2))).round(4)
        array([0.6931])
        """
        shifted = scores - scores.max(axis=1, keepdims=True)
        losses: Array = np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(y)), y]
        return losses

    def derivative(self, y: NDArray[np.int64], scores: Array) -> Array:
        """Return the derivative of each row's loss in its scores: probabilities minus the indicator of y."""
        probabilities = self.link(scores)
        probabilities[np.arange(len(y)), y] -= 1.0
        return probabilities

    def link(self, scores: Array) -> Array:
        """Return the probabilities of each row."""
        probabilities: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def fill(self, y: float, scores: Array, out: Array, r: int) -> float:
        """Write row r's derivative into `out`, return its loss: `value` and `derivative`, a row at a time."""
        largest, total, label, k = scores[r, 0], 0.0, int(y), scores.shape[1]
        for j in range(1, k):
            largest = max(largest, scores[r, j])
        for j in range(k):
            out[r, j] = np.exp(scores[r, j] - largest)
            total += out[r, j]
        for j in range(k):
            out[r, j] /= total
        out[r, label] -= 1.0
        return float(np.log(total) + largest - scores[r, label])


def derivative_bound(loss: Any) -> float:
    """Return how large the derivative gets, infinity where the loss does not say."""
    return float(getattr(loss, "derivative_bound", inf))
