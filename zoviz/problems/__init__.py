"""Problems: black boxes with black-box constraints, one file each; a new file here is a new problem everywhere."""

from zoviz.core.registry import export
from zoviz.problems.base import Problem

__all__ = ["Problem", *export(__name__, globals(), Problem)]
