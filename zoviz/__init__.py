"""zoviz: a laboratory for zeroth-order constrained optimisation.

Minimise a black box f(x) under black-box constraints h(x) <= 0 from function values alone, watch the run
converge, steer it while it runs, and replay exactly what happened.
"""

from zoviz import estimators, problems, solvers
from zoviz.minimize import minimize
from zoviz.runs.ask_tell import AskTell
from zoviz.runs.run import Run

__version__ = "0.1.0"

__all__ = ["AskTell", "Run", "estimators", "minimize", "problems", "solvers"]
