"""The numba door: parts go in as their users wrote them and come out as values that compiled code understands.

A part is rebuilt as a named tuple whose class is known to compiled code by a name of its own, so that no two classes
are ever confused, with every method the kernels call (what a part leaves out gets its default), and with plain numbers
and arrays as fields. The methods themselves are the part's own: what Python runs and what is compiled is one source.
"""

import hashlib
import inspect
from collections import namedtuple
from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import count
from math import inf
from pathlib import Path
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numba import njit, types
from numba.extending import overload, overload_method, register_jitable

from surefoot import domains, step_sizes, thresholds, weights

# No flag here assumes finite numbers: a test for NaN must stay a test.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz", "arcp"}}

# The methods that kernels call, with the names of their arguments. Compiled code prefers a method to a field of the
# same name, whatever the class, so two that fields are named after go by another name there (`ALIASES`).
METHODS = {
    "at": ("t",),
    "weight_growth": ("t",),
    "lines": ("memory", "away"),
    "learn": ("memory", "size", "weight"),
    "due": ("memory", "samples"),
    "typical_size": ("memory",),
    "factor": ("size", "clip", "reject"),
    "share": ("worth", "samples", "count", "dimension"),
    "worth": ("worth", "count", "calmer"),
    "cap": ("factor", "bend", "typical"),
    "move": ("t", "h", "g", "weights", "memory"),
    "to_dual": ("h",),
    "to_primal": ("dual",),
    "norm": ("h",),
    "dual_norm": ("g",),
    "project": ("h",),
    "_from_center": ("h",),
    "_bounds": (),
    "value": ("y", "prediction"),
    "derivative": ("y", "prediction"),
    "bend": ("y", "prediction"),
    "link": ("prediction",),
    "fill": ("y", "scores", "out", "r"),
    "pack": ("chosen", "out", "square"),
}

ALIASES = {"weight_growth": "growth", "typical_size": "scale"}


def _growth(self: Any, t: int) -> float:
    return self.at(t + 1) / self.at(t)  # type: ignore[no-any-return]


def _fill(self: Any, y: float, scores: Any, out: Any, r: int) -> float:
    out[r, 0] = self.derivative(y, scores[r, 0])
    return self.value(y, scores[r, 0])  # type: ignore[no-any-return]


def _bend(self: Any, y: float, prediction: float) -> float:
    return 0.0


def _learn(self: Any, memory: Any, size: float, weight: float) -> Any:
    return memory


def _due(self: Any, memory: Any, samples: float) -> bool:
    return False


def _scale(self: Any, memory: Any) -> float:
    return 0.0


DEFAULTS: dict[str, Callable[..., Any]] = {
    "weight_growth": _growth,
    "fill": _fill,
    "bend": _bend,
    "learn": _learn,
    "due": _due,
    "typical_size": _scale,
}


def plug(part: Any) -> Any:
    """Return a part, or anything with parts in it, as compiled code takes it."""
    if part is None:
        return 0.0
    if isinstance(part, bool | np.bool_):
        return bool(part)
    if isinstance(part, int | float | np.number):
        return float(part)
    if isinstance(part, np.ndarray | list):
        return np.ascontiguousarray(part, dtype=np.float64)
    if isinstance(part, str):
        return 0.0
    if isinstance(part, tuple) and hasattr(part, "_fields"):
        fields = [plug(value) for value in part] or [0.0]
        return _twin(type(part))(*fields)
    raise TypeError(f"expected a part (a NamedTuple) with numbers, arrays and parts as fields, got {part!r:.80}")


def plugged_rows(rows: Any) -> Any:
    """Return the rows of a table as compiled code takes them, their arrays as they are."""
    return _twin(type(rows))(*rows)


def writable(memory: Any) -> Any:
    """Return a memory whose arrays compiled code may change."""
    if isinstance(memory, np.ndarray):
        return memory if memory.flags.writeable else memory.copy()
    if isinstance(memory, tuple):
        return type(memory)(*map(writable, memory)) if hasattr(memory, "_fields") else tuple(map(writable, memory))
    return memory


def shipped(part: Any) -> bool:
    """Say whether a part, and all in it, is this library's own: only such code is kept on disk."""
    if not (isinstance(part, tuple) and hasattr(part, "_fields")):
        return True
    return type(part).__module__.startswith("surefoot.") and all(map(shipped, part))


_TWINS: WeakKeyDictionary[type, type] = WeakKeyDictionary()
_PREFIX = "Plugged__"
_NUMBERS = count()  # never given twice: compiled code goes by names, and classes come and go


def _twin(cls: type) -> type:
    """Return the class that stands for this one in compiled code."""
    if cls not in _TWINS:
        own = cls.__module__.startswith("surefoot.")
        name = (
            f"{_PREFIX}{cls.__module__.replace('.', '__')}__{cls.__qualname__}" if own else f"Plugged{next(_NUMBERS)}"
        )
        methods = {}
        for method, arguments in METHODS.items():
            function = getattr(cls, ALIASES.get(method, method), DEFAULTS.get(method))
            if not isinstance(function, FunctionType):  # a field of that name
                function = DEFAULTS.get(method)
            if isinstance(function, FunctionType):
                methods[method] = _with_arguments(function, arguments)
        base = namedtuple(name + "Fields", getattr(cls, "_fields", ()) or ("unused",))  # type: ignore[misc]
        constants = {key: value for key, value in vars(cls).items() if isinstance(value, float)}
        _TWINS[cls] = type(name, (base,), {**constants, **methods, "__slots__": (), "__module__": __name__})
        globals()[name] = _TWINS[cls]
    return _TWINS[cls]


def __getattr__(name: str) -> Any:
    """Find a class that stands for another by its name: what is kept on disk refers to it so."""
    if name.startswith(_PREFIX):
        module, _, cls = name.removeprefix(_PREFIX).rpartition("__")
        return _twin(getattr(import_module(module.replace("__", ".")), cls))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _with_arguments(function: FunctionType, names: tuple[str, ...]) -> FunctionType:
    """Return the function with its arguments called so, without annotations: numba compares both."""
    code, names = function.__code__, ("self", *names)
    if code.co_argcount != len(names):
        raise TypeError(
            f"{function.__qualname__}: expected the arguments {names}, got {code.co_varnames[: code.co_argcount]}"
        )
    clash = {name: f"{name}_" for name in names}
    rest = tuple(clash.get(name, name) for name in code.co_varnames[len(names) :])
    renamed = code.replace(co_varnames=names + rest)
    return _bare(FunctionType(renamed, function.__globals__, function.__name__, None, function.__closure__))


def _bare(function: Callable[..., Any]) -> FunctionType:
    """Return the function without annotations."""
    return FunctionType(function.__code__, function.__globals__, function.__name__, None, function.__closure__)


def _expose(name: str, arguments: tuple[str, ...]) -> None:
    def find(self: Any, *values: Any) -> Any:
        return getattr(self.instance_class, name, None)

    _sign(find, ("self", *arguments))
    options: Any = {"jit_options": {key: OPTIONS[key] for key in ("fastmath", "error_model")}}
    overload_method(types.BaseNamedTuple, name, **options)(find)


def _sign(function: Any, names: tuple[str, ...]) -> None:
    """Give a function a signature of just these names."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    function.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])


for _name, _arguments in METHODS.items():
    _expose(_name, _arguments)


# Functions of the library that methods call: those that only raise clear errors lose them, the others are as they are.
def _stands_for(function: Callable[..., Any], implementation: Callable[..., Any]) -> None:
    bare = _bare(implementation)
    names = bare.__code__.co_varnames[: bare.__code__.co_argcount]

    def choose(*values: Any) -> Any:
        return bare

    _sign(choose, names)
    overload(function)(choose)


def _norm(h: Any) -> Any:
    largest, total = 0.0, 0.0
    for value in h.flat:
        largest = max(largest, abs(value))
        total += value * value
    if 1e-280 < total < inf or largest == 0.0 or not largest < inf:
        return np.sqrt(total)
    total = 0.0
    for value in h.flat:
        total += (value / largest) ** 2
    return largest * np.sqrt(total)


_stands_for(step_sizes.step, lambda step_size, t: step_size.at(t))
_stands_for(weights.weight, lambda weights, t: weights.at(t))
_stands_for(thresholds.bin_of, thresholds.bin_of)
_stands_for(domains.euclidean_norm, _norm)


@cache
def stamp() -> Any:
    """Return a value whose type names this library's sources: code kept on disk for other sources is never taken up."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return np.zeros(1, dtype=[(f"sources_{digest.hexdigest()[:16]}", np.int8)])


def callable_when_compiled(function: Callable[..., Any]) -> Any:
    """Return a function of kernels that compiled code may call, and Python too."""
    return register_jitable(**{key: OPTIONS[key] for key in ("fastmath", "error_model")})(function)


class Kernel:
    """A function compiled on its first call; kept on disk where all parts it is called with are this library's own."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.kept, self.passing = njit(cache=True, **OPTIONS)(function), njit(**OPTIONS)(function)

    def __call__(self, parts: tuple[Any, ...], *arguments: Any) -> Any:
        """Run it on parts, which are plugged in, and arguments, which are passed on."""
        run = self.kept if all(map(shipped, parts)) else self.passing
        return run(stamp(), *map(plug, parts), *arguments)
