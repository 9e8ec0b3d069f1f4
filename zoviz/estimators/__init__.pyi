"""The classes of ``zoviz.estimators``, written by ``python -m zoviz.cli.stubs``."""

from typing import Literal
from zoviz.estimators.coordinate import Block as _Block
from zoviz.estimators.coordinate import Coordinate as _Coordinate
from zoviz.estimators.feedback import OnePoint as _OnePoint
from zoviz.estimators.feedback import ResidualFeedback as _ResidualFeedback
from zoviz.estimators.gaussian import Gaussian as _Gaussian
from zoviz.estimators.sphere import CentralSphere as _CentralSphere
from zoviz.estimators.sphere import Sphere as _Sphere
from zoviz.estimators.base import GradientEstimator as GradientEstimator

__all__ = [
    "Block",
    "CentralSphere",
    "Coordinate",
    "Gaussian",
    "GradientEstimator",
    "OnePoint",
    "ResidualFeedback",
    "Sphere",
]

class Coordinate(_Coordinate):
    differences: Literal["auto", "forward", "central"]
    smoothing_radius: float | None
    batch_size: int
    def __init__(
        self,
        *,
        differences: Literal["auto", "forward", "central"] = "auto",
        smoothing_radius: float | None = 1e-05,
        batch_size: int = 1,
        name: str | None = None,
    ) -> None: ...

class OnePoint(_OnePoint):
    smoothing_radius: float | None
    batch_size: int
    def __init__(
        self,
        *,
        smoothing_radius: float | None = 1e-05,
        batch_size: int = 1,
        name: str | None = None,
    ) -> None: ...

class Block(_Block, Coordinate):
    block_size: int
    scaled: bool
    differences: Literal["auto", "forward", "central"]
    smoothing_radius: float | None
    batch_size: int
    def __init__(
        self,
        *,
        block_size: int = 1,
        scaled: bool = True,
        differences: Literal["auto", "forward", "central"] = "auto",
        smoothing_radius: float | None = 1e-05,
        batch_size: int = 1,
        name: str | None = None,
    ) -> None: ...

class Gaussian(_Gaussian):
    directions: Literal["random", "block", "sweep"] | None
    smoothing_radius: float | None
    batch_size: int
    def __init__(
        self,
        *,
        directions: Literal["random", "block", "sweep"] | None = None,
        smoothing_radius: float | None = 1e-05,
        batch_size: int = 1,
        name: str | None = None,
    ) -> None: ...

class ResidualFeedback(_ResidualFeedback, OnePoint):
    smoothing_radius: float | None
    batch_size: int
    def __init__(
        self,
        *,
        smoothing_radius: float | None = 1e-05,
        batch_size: int = 1,
        name: str | None = None,
    ) -> None: ...

class Sphere(_Sphere):
    directions: Literal["random", "block", "sweep"] | None
    smoothing_radius: float | None
    batch_size: int
    def __init__(
        self,
        *,
        directions: Literal["random", "block", "sweep"] | None = None,
        smoothing_radius: float | None = 1e-05,
        batch_size: int = 1,
        name: str | None = None,
    ) -> None: ...

class CentralSphere(_CentralSphere, Sphere):
    directions: Literal["random", "block", "sweep"] | None
    smoothing_radius: float | None
    batch_size: int
    def __init__(
        self,
        *,
        directions: Literal["random", "block", "sweep"] | None = None,
        smoothing_radius: float | None = 1e-05,
        batch_size: int = 1,
        name: str | None = None,
    ) -> None: ...
