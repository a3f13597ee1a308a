"""Losses: functions of the target and of a linear model's scores."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.parts import Array


class Softmax(NamedTuple):
    """The multi-class logistic loss log(sum_j exp(z_j)) - z_y, always with one score a class.

    curvature: the largest eigenvalue of its second derivative in the scores.
    """

    curvature: float = 0.5

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
        probabilities: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        probabilities[np.arange(len(y)), y] -= 1.0
        return probabilities
