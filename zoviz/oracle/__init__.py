"""The only road from a solver to a problem, and ways of seeing it."""

from zoviz.oracle.bilevel import Rounds
from zoviz.oracle.derived import Composed
from zoviz.oracle.first_order import FirstOrder
from zoviz.oracle.oracle import Oracle

__all__ = ["Composed", "FirstOrder", "Oracle", "Rounds"]
