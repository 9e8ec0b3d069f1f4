"""The only road from a solver to a problem, and ways of seeing it."""

from zoviz.oracle.composed import Composed
from zoviz.oracle.core import Oracle
from zoviz.oracle.first_order import FirstOrder
from zoviz.oracle.rounds import Rounds

__all__ = ["Composed", "FirstOrder", "Oracle", "Rounds"]
