"""Powell's trust-region methods without derivatives, by SciPy: COBYLA and COBYQA."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.external.call_cache import CallCache
from zoviz.solvers.external.coroutine import Ask, Ended, Task
from zoviz.solvers.external.scipy_internals import cobyqa_minimize, missing_cobyqa
from zoviz.solvers.external.step_sizes import Local


class COBYLA(Local):
    """A method of linear models of f and every h on a simplex of n + 1 points, in a shrinking trust region.

    One call per step. Bounds are constraints to it: it may look outside the box, where it sees the values at the
    nearest point if the problem keeps its bounds.

    Notes
    -----
    SciPy's ``maxiter``, which counts evaluations, is lifted: the run's budgets end it, or its final radius.

    References
    ----------
    Powell (1994); scipy.optimize.minimize(method="COBYLA"), PRIMA's port, by Zhang (2023).
    """

    title = "COBYLA (SciPy)"

    def play(self, task: Task, ask: Ask) -> Ended:
        """Run ``scipy.optimize.minimize`` with COBYLA."""
        from scipy.optimize import minimize

        values = CallCache(task, ask)
        result = minimize(
            values.objective,
            task.start,
            method="COBYLA",
            options={"rhobeg": self.initial_radius, "tol": self.final_radius, "maxiter": sys.maxsize},
            **region(task, values.constraints),
        )
        return Ended(result.message)


class COBYQA(Local):
    """A method of quadratic models of f and every h, in a shrinking trust region; bounds are never left.

    One call per step.

    Notes
    -----
    It evaluates constraints at old points again, which is free unless noise is independent. SciPy's
    public wrapper holds a global lock for the whole optimisation, so that a second replica in the same thread would
    wait for ever: its private implementation is called directly, or the package cobyqa where SciPy has moved it.

    References
    ----------
    Ragonneau (2022), PhD thesis; scipy.optimize.minimize(method="COBYQA").
    """

    title = "COBYQA (SciPy)"

    @property
    def missing_package(self) -> str:
        """The sentence on a library that is not installed, or a SciPy that keeps COBYQA elsewhere; else empty."""
        return super().missing_package or missing_cobyqa()

    def play(self, task: Task, ask: Ask) -> Ended:
        """Run SciPy's COBYQA without its lock."""
        values = CallCache(task, ask)
        arguments = region(task, values.constraints)
        options = {
            "radius_init": self.initial_radius,
            "radius_final": self.final_radius,
            "feasibility_tol": 1e-8,
            "maxfev": sys.maxsize,
            "maxiter": sys.maxsize,
        }
        result = cobyqa_minimize()(
            values.objective, task.start, (), arguments["bounds"], arguments["constraints"], None, options
        )
        return Ended(result.message)


def region(task: Task, constraints: Any, jacobian: Any = None, keep: bool = False) -> dict[str, Any]:
    """Return SciPy's bounds and constraints: the box, and h <= 0 where there is an h."""
    from scipy.optimize import Bounds, NonlinearConstraint

    bounds = Bounds(task.lower, task.upper, keep_feasible=keep)
    if not task.m:
        return {"bounds": bounds, "constraints": ()}
    slopes = {} if jacobian is None else {"jac": jacobian, "hess": quasi_newton()}
    return {"bounds": bounds, "constraints": NonlinearConstraint(constraints, -np.inf, 0.0, **slopes)}


def quasi_newton() -> Any:
    """Return SciPy's BFGS without its warning where slopes stay the same: it skips such an update in any case."""
    from scipy.optimize import BFGS

    class Quiet(BFGS):
        def update(self, delta_x: Array, delta_grad: Array) -> None:
            if np.any(delta_grad):
                super().update(delta_x, delta_grad)

    return Quiet()
