"""zoviz: a laboratory for zeroth-order constrained optimisation.

Minimise a black box f(x) under black-box constraints h(x) <= 0 from function values alone, watch the run
converge, steer it while it runs, and replay exactly what happened.
"""

from typing import TYPE_CHECKING, Any

from zoviz import estimators, problems, solvers
from zoviz.ask_tell.session import AskTell
from zoviz.minimize.minimize import minimize
from zoviz.runs.run import Run

if TYPE_CHECKING:
    from zoviz.runs.store import Store
    from zoviz.studies.study import Study

__version__ = "0.1.0"

_LAZY = {"Store": "zoviz.runs.store", "Study": "zoviz.studies.study"}

__all__ = ["AskTell", "Run", "Store", "Study", "estimators", "minimize", "problems", "solvers"]


if not TYPE_CHECKING:  # to a type checker every misspelt name would be Any

    def __getattr__(name: str) -> Any:
        """What needs SQLAlchemy is imported when it is asked for: that takes longer than the rest of zoviz."""
        if name in _LAZY:
            from importlib import import_module

            return getattr(import_module(_LAZY[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
