"""Anchors: a point h~ and a gradient g~ near grad R(h~), known before the stream begins (Holland 2022, eq. 7)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.checks import finite_array, non_negative
from surefoot.parts import Array


@dataclass(frozen=True, eq=False)
class Anchor:
    """Where suspicious feedback is sent: the gradient g~ at the point h~, copied, read-only.

    error: an estimate of ||g~ - grad R(h~)||, in the units of the gradient, where the rule that made it gives one.
    """

    point: Array
    gradient: Array
    error: float | None = None

    def __init__(self, point: ArrayLike, gradient: ArrayLike, error: float | None = None) -> None:
        here, slope = finite_array("anchor.point", point), finite_array("anchor.gradient", gradient)
        if here.shape != slope.shape:
            raise ValueError(f"anchor.gradient: expected the shape of anchor.point, {here.shape}, got {slope.shape}")
        here.setflags(write=False)
        slope.setflags(write=False)
        object.__setattr__(self, "point", here)
        object.__setattr__(self, "gradient", slope)
        object.__setattr__(self, "error", None if error is None else non_negative("anchor.error", error))


def empirical_mean(gradients: ArrayLike, point: ArrayLike) -> Anchor:
    """Return the plain mean of n gradients, shape (n, ...), asked for at the point; its standard error with it.

    >>> empirical_mean([[1.0], [3.0]], point=[0.0])
    Anchor(point=array([0.]), gradient=array([2.]), error=1.0)
    """
    rows, here = finite_array("gradients", gradients), finite_array("point", point)
    if rows.ndim != here.ndim + 1 or rows.shape[1:] != here.shape or len(rows) == 0:
        raise ValueError(f"gradients: expected shape (n, *{here.shape}) with n at least 1, got {rows.shape}")
    mean: Array = rows.mean(axis=0)
    if len(rows) == 1:
        return Anchor(here, mean)
    return Anchor(here, mean, float(np.sqrt(np.sum((rows - mean) ** 2) / (len(rows) - 1) / len(rows))))
