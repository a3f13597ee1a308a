"""Step sizes: the rule beta_t, indexed by the round t = 1, 2, ..."""

from math import sqrt
from typing import NamedTuple

from surefoot import parts
from surefoot.checks import non_negative, positive


class Constant(NamedTuple):
    """The same step in every round: beta_t = beta.

    >>> Constant(0.1).at(7)
    0.1
    """

    beta: float

    def check(self) -> None:
        """The step is positive."""
        positive("beta", self.beta)

    def at(self, t: int) -> float:
        """Return beta."""
        return self.beta


class InverseSqrt(NamedTuple):
    """The classical decay: beta_t = scale / sqrt(t).

    >>> InverseSqrt(2.0).at(4)
    1.0
    """

    scale: float

    def check(self) -> None:
        """The scale is positive."""
        positive("scale", self.scale)

    def at(self, t: int) -> float:
        """Return scale / sqrt(t)."""
        return self.scale / sqrt(t)


class Decaying(NamedTuple):
    """Nearly constant for `span` rounds, then falling: beta_t = scale * (1 + t/span)**-power.

    >>> round(Decaying(1.0, span=100, power=0.5).at(300), 3)
    0.5
    """

    scale: float
    span: float
    power: float = 0.35

    def check(self) -> None:
        """Scale and span are positive, the power is not negative."""
        positive("scale", self.scale)
        positive("span", self.span)
        non_negative("power", self.power)

    def at(self, t: int) -> float:
        """Return scale * (1 + t/span)**-power."""
        return float(self.scale * (1 + t / self.span) ** -self.power)


def step(step_size: parts.StepSize, t: int) -> float:
    """Return beta_t, or say what is wrong with it."""
    return positive(f"step_size in round {t}", step_size.at(t))
