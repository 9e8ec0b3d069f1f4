"""zoviz: a laboratory for zeroth-order constrained optimisation.

Minimise a black box f(x) under black-box constraints h(x) <= 0 from function values alone, watch the run
converge, steer it while it runs, and replay exactly what happened.
"""

from typing import TYPE_CHECKING, Any

from zoviz import estimators, problems, solvers
from zoviz.minimize import minimize
from zoviz.runs.ask_tell import AskTell
from zoviz.runs.run import Run

__version__ = "0.1.0"

if TYPE_CHECKING:
    from zoviz.runs.store import Store

__all__ = ["AskTell", "Run", "Store", "estimators", "minimize", "problems", "solvers"]


def __getattr__(name: str) -> Any:
    # A store is imported when it is asked for: SQLAlchemy takes as long as all else together.
    if name == "Store":
        from zoviz.runs.store import Store

        return Store
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
