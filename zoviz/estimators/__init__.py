"""Gradient estimators from function values, one file per family."""

from zoviz.core.registry import export
from zoviz.estimators.base import GradientEstimator

__all__ = ["GradientEstimator", *export(__name__, globals(), GradientEstimator)]
