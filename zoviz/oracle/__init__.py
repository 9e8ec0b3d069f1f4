"""The only road from a solver to a problem, and ways of seeing it."""

from zoviz.oracle.account import Account
from zoviz.oracle.bilevel import BilevelOracle
from zoviz.oracle.derived import DerivedOracle
from zoviz.oracle.first_order import FirstOrder
from zoviz.oracle.ledger import LedgerSums, Purpose
from zoviz.oracle.oracle import Listener, Oracle
from zoviz.oracle.protocols import ProblemOracle, ValueOracle
from zoviz.oracle.samples import SampleCounts
from zoviz.oracle.stage import Stage
from zoviz.oracle.value_source import Question, ValueSource

__all__ = [
    "Account",
    "BilevelOracle",
    "DerivedOracle",
    "FirstOrder",
    "LedgerSums",
    "Listener",
    "Oracle",
    "ProblemOracle",
    "Purpose",
    "Question",
    "SampleCounts",
    "Stage",
    "ValueOracle",
    "ValueSource",
]
