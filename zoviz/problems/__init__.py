"""Problems: black boxes with black-box constraints, one file each; a new file here is a new problem everywhere."""

from typing import TYPE_CHECKING, Any

from zoviz.core.registry import export
from zoviz.problems.base import Problem

__all__ = ["Problem", *export(__name__, globals(), Problem)]

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What ``export`` puts here: a type checker cannot see it."""
