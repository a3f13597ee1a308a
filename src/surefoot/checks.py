"""Clear errors: each names the argument, what was wrong with it, and what to pass instead."""

from math import inf, isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.parts import Array


def number(name: str, value: Any) -> float:
    """Return `value` as a float that is not NaN."""
    try:
        if isinstance(value, str | bytes):
            raise TypeError
        result = float(value)
    except OverflowError:
        raise ValueError(f"{name}: expected a number that fits a double") from None
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
        exact = isfinite(value) and int(value) == value and value >= least
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact:
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
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name}: expected numbers, got a masked array; fill or drop what is masked")
    try:
        given = np.asarray(value)
        if given.dtype.kind in "biuf":
            return given.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{name}: expected real numbers of one shape, got {type(value).__name__} {value!r:.60}")


def finite_array(name: str, value: ArrayLike) -> Array:
    """Return a float64 copy of `value`, all of it finite."""
    result = array(name, value)
    if not np.isfinite(result).all():
        raise ValueError(
            f"{name}: expected finite numbers, got {np.sum(~np.isfinite(result))} that are NaN or infinite"
        )
    return result
