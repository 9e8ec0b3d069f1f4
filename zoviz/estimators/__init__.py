"""Gradient estimators from function values, one file per family."""

from zoviz.core.registry import LazyExports
from zoviz.estimators.base import GradientEstimator as GradientEstimator

__getattr__ = LazyExports(__name__, globals(), GradientEstimator)
__dir__ = __getattr__.names
