"""The problems: objectives and constraints that solvers see by their values; one file for each problem."""

from zoviz.core.registry import export
from zoviz.problems.base import Problem

__all__ = ["Problem", *export(__name__, globals(), Problem)]
