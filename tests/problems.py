"""Small problems that several tests share."""

from typing import NamedTuple

import numpy as np


class Quadratic(NamedTuple):
    """R(h) = (h - center)' A (h - center) / 2."""

    A: np.ndarray
    center: np.ndarray

    @classmethod
    def draw(cls, rng, dimension):
        B = rng.standard_normal((dimension, dimension))
        return cls(B @ B.T / dimension, rng.standard_normal(dimension))

    def risk(self, h):
        return float((h - self.center) @ self.A @ (h - self.center)) / 2

    def gradient(self, h):
        return self.A @ (h - self.center)


class LogSumExp(NamedTuple):
    """R(h) = log sum_j exp(<a_j, h> + b_j), for h of any shape."""

    a: np.ndarray
    b: np.ndarray

    @classmethod
    def draw(cls, rng, dimension):
        return cls(rng.standard_normal((dimension + 2, dimension)), rng.standard_normal(dimension + 2))

    def risk(self, h):
        scores = self.a @ h.ravel() + self.b
        return float(scores.max() + np.log(np.exp(scores - scores.max()).sum()))

    def gradient(self, h):
        scores = self.a @ h.ravel() + self.b
        shares = np.exp(scores - scores.max())
        return (shares @ self.a / shares.sum()).reshape(h.shape)


def regression(rng, rows, columns, noise=1.0):
    """Return X, y of a linear model with an intercept column and true coefficients of one."""
    X = np.c_[np.ones(rows), rng.standard_normal((rows, columns - 1))]
    return X, X.sum(axis=1) + noise * rng.standard_normal(rows)


def identical(one, other):
    """Say whether two states, or anything in them, are equal bit for bit."""
    if isinstance(one, tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(identical, one, other))
    return type(one) is type(other) and np.array_equal(one, other)
