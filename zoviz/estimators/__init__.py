"""Gradient estimators from function values, one file per family."""

from typing import TYPE_CHECKING, Any

from zoviz.core.registry import export
from zoviz.estimators.base import GradientEstimator

__all__ = ["GradientEstimator", *export(__name__, globals(), GradientEstimator)]

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What ``export`` puts here: a type checker cannot see it."""
