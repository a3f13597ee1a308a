"""surefoot: learning you can stop at any step, and that wild data cannot wreck."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from surefoot.anchors import Anchor
from surefoot.conversion import Conversion
from surefoot.domains import Ball, Box, Everywhere, Simplex
from surefoot.estimates import Carried, Fresh
from surefoot.feedback import Clip, Raw, Truncate
from surefoot.learners import FollowTheRegularizedLeader, MirrorDescent
from surefoot.mirror_maps import Euclidean, NegativeEntropy
from surefoot.state import Info, State
from surefoot.step_sizes import Constant, Decaying, InverseSqrt
from surefoot.thresholds import ConstantThreshold, LeastRisk, Lines, RunningScale, SmoothThreshold
from surefoot.weights import Polynomial, Uniform

if _TYPE_CHECKING:
    from surefoot import anchors, certificates, datasets, losses
    from surefoot.linear_model import SurefootClassifier, SurefootRegressor

__version__ = "0.1.0"

__all__ = [
    "Anchor",
    "Ball",
    "Box",
    "Carried",
    "Clip",
    "Constant",
    "ConstantThreshold",
    "Conversion",
    "Decaying",
    "Euclidean",
    "Everywhere",
    "FollowTheRegularizedLeader",
    "Fresh",
    "Info",
    "InverseSqrt",
    "LeastRisk",
    "Lines",
    "MirrorDescent",
    "NegativeEntropy",
    "Polynomial",
    "Raw",
    "RunningScale",
    "Simplex",
    "SmoothThreshold",
    "State",
    "SurefootClassifier",
    "SurefootRegressor",
    "Truncate",
    "Uniform",
    "anchors",
    "certificates",
    "datasets",
    "losses",
]

_ON_DEMAND = {"anchors", "certificates", "datasets", "losses"}
_ESTIMATORS = {"SurefootClassifier", "SurefootRegressor"}


def __getattr__(name: str) -> _Any:
    if name in _ON_DEMAND:
        return _import_module(f"surefoot.{name}")
    if name in _ESTIMATORS:
        return getattr(_import_module("surefoot.linear_model"), name)
    raise AttributeError(f"module 'surefoot' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
