"""The weights alpha_t of the running average (Holland 2022, eq. 3).

The average never needs the weights themselves, which overflow, only two quotients: `ratio(t)` = alpha_{1:t}/alpha_t
to start and `growth(t)` = alpha_{t+1}/alpha_t to go on. A rule that has only `at` gets both from it.
"""

from collections.abc import Callable
from math import inf
from typing import NamedTuple

import numpy as np

from surefoot import parts
from surefoot.checks import non_negative


class Uniform(NamedTuple):
    """Every iterate counts alike: alpha_t = 1, the plain average.

    >>> Uniform().ratio(10)
    10.0
    """

    def check(self) -> None:
        """Nothing can be wrong."""

    def at(self, t: int) -> float:
        """Return 1."""
        return 1.0

    def ratio(self, t: int) -> float:
        """Return t."""
        return float(t)

    def growth(self, t: int) -> float:
        """Return 1."""
        return 1.0


class Polynomial(NamedTuple):
    """Late iterates count more: alpha_t = t**power.

    >>> Polynomial(2.0).ratio(3) == (1 + 4 + 9) / 9
    True
    """

    power: float

    def check(self) -> None:
        """The power is a finite number of at least 0."""
        non_negative("power", self.power)

    def at(self, t: int) -> float:
        """Return t**power."""
        return float(float(t) ** self.power)

    def ratio(self, t: int) -> float:
        """Return sum_{i<=t} (i/t)**power."""
        return float(np.sum((np.arange(1, t + 1) / t) ** self.power))

    def growth(self, t: int) -> float:
        """Return (1 + 1/t)**power."""
        return float((1 + 1 / t) ** self.power)


def weight(weights: parts.Weights, t: int) -> float:
    """Return alpha_t, or say what is wrong with it."""
    return _positive(lambda: weights.at(t), f"the weight of round {t}")


def ratio(weights: parts.Weights, t: int) -> float:
    """Return alpha_{1:t} / alpha_t, from the rule's own formula if it has one."""
    own = getattr(weights, "ratio", None)
    if own is None:
        return sum(weight(weights, i) for i in range(1, t + 1)) / weight(weights, t)
    return _positive(lambda: own(t), f"the ratio of round {t}")


def growth(weights: parts.Weights, t: int) -> float:
    """Return alpha_{t+1} / alpha_t, from the rule's own formula if it has one."""
    own = getattr(weights, "growth", None)
    if own is None:
        return weight(weights, t + 1) / weight(weights, t)
    return _positive(lambda: own(t), f"the growth of round {t}")


def _positive(value: Callable[[], float], what: str) -> float:
    try:
        result = float(value())
    except OverflowError:
        result = inf
    except TypeError as error:
        raise TypeError(f"weights: {what} is no number: {error}") from None
    if not 0 < result < inf:
        hint = "; pass a smaller power, or give your rule `ratio` and `growth`" if result == inf else ""
        raise ValueError(f"weights: {what} is {result}; it must be positive and finite{hint}")
    return result
