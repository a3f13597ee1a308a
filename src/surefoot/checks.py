"""Clear errors: each names the argument, what was wrong with it, and what to pass instead."""

from math import inf, isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.parts import Array


def number(name: str, value: Any) -> float:
    """Return `value` as a float that is not NaN."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, got {value!r}") from None
    if isnan(result):
        raise ValueError(f"{name}: expected a number, got NaN")
    return result


def positive(name: str, value: Any, *, infinite: bool = False) -> float:
    """Return `value` as a float above zero; infinity only where it means something."""
    result = number(name, value)
    if not result > 0 or (result == inf and not infinite):
        raise ValueError(f"{name}: expected a positive {'' if infinite else 'finite '}number, got {value!r}")
    return result


def non_negative(name: str, value: Any, *, infinite: bool = False) -> float:
    """Return `value` as a float of at least zero; infinity only where it means something."""
    result = number(name, value)
    if not result >= 0 or (result == inf and not infinite):
        raise ValueError(f"{name}: expected a non-negative {'' if infinite else 'finite '}number, got {value!r}")
    return result


def between(name: str, value: Any, low: float, high: float) -> float:
    """Return `value` as a float strictly between `low` and `high`."""
    result = number(name, value)
    if not low < result < high:
        raise ValueError(f"{name}: expected a number strictly between {low} and {high}, got {value!r}")
    return result


def whole(name: str, value: Any, least: int) -> int:
    """Return `value` as an int of at least `least`."""
    try:
        exact = isfinite(value) and int(value) == value
    except (TypeError, ValueError):
        exact = False
    if not exact or value < least:
        raise ValueError(f"{name}: expected a whole number of at least {least}, got {value!r}")
    return int(value)


def part(name: str, value: Any, method: str) -> None:
    """Check that `value` is a part that offers `method`, and let it check its own settings if it can."""
    if isinstance(value, type) or not callable(getattr(value, method, None)):
        raise TypeError(f"{name}: expected a part with the method {method!r}, as an instance, got {value!r:.80}")
    own = getattr(value, "check", None)
    if own is not None:
        own()


def array(name: str, value: ArrayLike) -> Array:
    """Return a float64 copy of `value`."""
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected numbers of one shape, got {type(value).__name__} {value!r:.60}") from None


def finite_array(name: str, value: ArrayLike) -> Array:
    """Return a float64 copy of `value`, all of it finite."""
    result = array(name, value)
    if not np.isfinite(result).all():
        raise ValueError(
            f"{name}: expected finite numbers, got {np.sum(~np.isfinite(result))} that are NaN or infinite"
        )
    return result
