"""The paper's three methods and this library's own, each as a value of `Conversion`.

A method is a function of the training table; the experiment finds the methods in `METHODS`, in this order.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.anchors import Anchor
from surefoot.conversion import Conversion
from surefoot.estimates import Carried
from surefoot.feedback import Clip, Truncate
from surefoot.learners import MirrorDescent
from surefoot.losses import Softmax
from surefoot.parts import Array
from surefoot.step_sizes import Constant, Decaying
from surefoot.thresholds import ConstantThreshold
from surefoot.weights import Polynomial

BATCH = 8
LEVERAGE = 7.0


class Task(NamedTuple):
    """The training rows, and the point h_1 at which all methods start."""

    X: Array
    y: NDArray[np.int64]
    h1: Array

    def gradient(self, h: Array, rows: slice | NDArray[np.int64]) -> Array:
        """Return the mean gradient of the loss of these rows at h, one row of coefficients a class."""
        X, y = self.X[rows], self.y[rows]
        mean: Array = Softmax().derivative(y, X @ h.T).T @ X / len(y)
        return mean

    def gradients(self, h: Array, rows: NDArray[np.int64]) -> Array:
        """Return the gradient of each of these rows at h."""
        X = self.X[rows]
        return Softmax().derivative(self.y[rows], X @ h.T)[:, :, None] * X[:, None, :]

    def step_size(self) -> Constant:
        """Return the paper's step, 2 / sqrt(n_train)."""
        return Constant(2 / sqrt(len(self.y)))


def sgd_ave(task: Task) -> Conversion:
    """SGD-Ave: ask at the last iterate, report the average."""
    return Conversion(MirrorDescent(task.step_size()), query="last")


def anytime_sgd(task: Task) -> Conversion:
    """Anytime-SGD: ask at the average that is reported."""
    return Conversion(MirrorDescent(task.step_size()))


def anytime_robust_sgd(task: Task) -> Conversion:
    """Anytime-Robust-SGD: the same, batches truncated to the mean gradient at the start."""
    anchor = Anchor(task.h1, task.gradient(task.h1, slice(None)))
    return Conversion(
        MirrorDescent(task.step_size()), feedback=Truncate(ConstantThreshold.holland2022(len(task.y)), anchor)
    )


def surefoot(task: Task) -> Conversion:
    """Carried feedback with a step from the curvature of the first rows, no sample beyond 7 typical curvatures.

    The rows' mean square and largest eigenvalue come from the first max(1024, 4d) rows, each weighed by its leverage.
    """
    d = task.X.shape[1]
    first = task.X[: max(1024, 4 * d)]
    squares = np.sum(first**2, axis=1)
    typical = float(np.median(squares))
    weighed = first * np.sqrt(np.minimum(1.0, LEVERAGE * typical / np.maximum(squares, typical / LEVERAGE)))[:, None]
    largest = float(np.linalg.eigvalsh(weighed.T @ weighed / len(first))[-1])
    bend = Softmax().curvature
    return Conversion(
        MirrorDescent(Decaying(0.9 / (bend * (largest + typical / BATCH)), span=4 * d)),
        feedback=Clip(ConstantThreshold(inf)),
        weights=Polynomial(8.0),
        estimate=Carried(leverage=LEVERAGE, typical=bend * typical, dimension=d),
    )


METHODS = {
    "sgd-ave": sgd_ave,
    "anytime-sgd": anytime_sgd,
    "anytime-robust-sgd": anytime_robust_sgd,
    "surefoot": surefoot,
}
