"""Gradient estimators from function values, one file per family."""

from zoviz.estimators.base import GradientEstimator
from zoviz.registry import export

__all__ = ["GradientEstimator", *export(__name__, globals(), GradientEstimator)]
