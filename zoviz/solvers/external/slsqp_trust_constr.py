"""SciPy's methods with derivatives, which are taken by differences: SLSQP and trust-constr."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.types import Array, Constants
from zoviz.problems.base import Problem
from zoviz.solvers.external.base import ExternalSolver
from zoviz.solvers.external.call_cache import DifferenceCache
from zoviz.solvers.external.cobyla_cobyqa import quasi_newton, region
from zoviz.solvers.external.coroutine import Ask, Ended, Task
from zoviz.solvers.external.step_sizes import difference_step, noise_of, radii, width_of

_VANISHED = 1e-25
"""Barrier parameter below which no barrier problem differs from the one before in float64; SciPy's begins at 0.1."""


class Differenced(ExternalSolver):
    """An external solver that needs slopes: forward differences of one absolute step, f and every h by one sweep.

    Notes
    -----
    SciPy's own differences sweep f and h apart, and scale a given relative step by |x|.
    """

    __abstract = True

    survives = False

    difference = Scale(None, softbounds=(1e-9, 1.0), label="Difference step h", doc="Absolute step, in units of x.")

    def width(self, n: int) -> int:
        """Return the number of points of a sweep and its base, n + 1."""
        return n + 1

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return h = 8^(1/4) sqrt(eps_f / L), within [1e-9, 0.5] of the box's width w.

        eps_f is the noise's standard deviation, at least round-off of values of the size G w; L is the larger curvature
        of f and h, G the larger slope. Under the contract "common" a sweep shares its noise, so that round-off alone
        counts. From any point of the box, half of its width fits in on one side.

        References
        ----------
        More and Wild (2012), Estimating derivatives of noisy simulations.
        """
        width = width_of(problem)
        size = 1.0 + max(constants.slope, constants.constraint_slope) * width
        step = difference_step(constants, max(constants.noise, float(np.finfo(float).eps) * size))
        return {"difference": min(max(step, 1e-9 * width), 0.5 * width)} | self.precision(
            noise_of(problem, constants), step
        )

    def precision(self, noise: float, step: float) -> dict[str, Any]:
        """Return the method's tolerances, for a standard deviation of the noise and a difference step; none here."""
        return {}


class SLSQP(Differenced):
    """A sequential quadratic programming method with a line search and differences, by SciPy.

    A step is one evaluation, or one sweep of n + 1 points less the base that is already known.

    References
    ----------
    Kraft (1988); scipy.optimize.minimize(method="SLSQP").
    """

    title = "SLSQP (SciPy)"

    tolerance = Scale(
        None,
        bounds=(1e-16, 1e3),
        softbounds=(1e-12, 1.0),
        label="Tolerance of f",
        doc="SciPy's ftol, at which it ends.",
    )

    def precision(self, noise: float, step: float) -> dict[str, Any]:
        """Return the tolerance of f: a tenth of the noise's standard deviation, at least 1e-9."""
        return {"tolerance": max(1e-9, 0.1 * noise)}

    def play(self, task: Task, ask: Ask) -> Ended:
        """Run ``scipy.optimize.minimize`` with SLSQP."""
        from scipy.optimize import Bounds, minimize

        values = DifferenceCache(task, ask, self.difference)
        above = {"type": "ineq", "fun": lambda x: -values.constraints(x), "jac": lambda x: -values.jacobian(x)}
        result = minimize(
            values.objective,
            task.start,
            method="SLSQP",
            jac=values.gradient,
            bounds=Bounds(task.lower, task.upper),
            constraints=above if task.m else (),
            options={"ftol": self.tolerance, "maxiter": 2**31 - 1},
        )
        return Ended(result.message, getattr(result, "multipliers", None))


class TrustConstr(Differenced):
    """A trust-region interior-point method with BFGS Hessians and differences, by SciPy.

    A step is one evaluation, or one sweep of n + 1 points less the base that is already known.

    Notes
    -----
    Bounds have slacks as h has: it may look outside the box on its way, where it sees the values and slopes at the
    nearest point if the problem keeps its bounds. ``keep_feasible`` forbids it by cutting every step that would leave
    the box; on load tracking with 100 users, without noise, it then comes to rest at 180 kW of
    violation on an instance that it solves otherwise.

    SciPy's ``gtol`` is off: it tests the barrier problem, whose solution still lies inside when it ends (f* + 1e-3 on
    problem 22 of Hock and Schittkowski with SciPy's defaults). Where each barrier problem is solved exactly, as with
    one variable, the trust region then only ever grows and SciPy would go on for ever: it is stopped once the barrier
    has vanished.

    References
    ----------
    Byrd, Hribar, Nocedal (1999); scipy.optimize.minimize(method="trust-constr").
    """

    title = "trust-constr (SciPy)"

    initial_radius = Scale(
        None, softbounds=(1e-3, 1e3), label="Initial radius Δ₀", doc="Initial radius, in units of x."
    )
    keep_feasible = param.Boolean(default=False, label="Stay in the box", doc="SciPy's keep_feasible, for the bounds.")
    tolerance = Scale(
        None,
        bounds=(1e-16, 1e3),
        softbounds=(1e-12, 1.0),
        label="Tolerance",
        doc="SciPy's xtol and barrier_tol, at which the search ends.",
    )

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return the difference step h, and the first of ``radii``: SciPy's own, 1, knows no units."""
        return super().from_constants(problem, constants) | {"initial_radius": radii(problem, constants)[0]}

    def precision(self, noise: float, step: float) -> dict[str, Any]:
        """Return the tolerance: SciPy's own, 1e-8, or under noise a hundredth of the difference step if larger."""
        return {"tolerance": max(1e-8, 0.01 * step) if noise else 1e-8}

    def play(self, task: Task, ask: Ask) -> Ended:
        """Run ``scipy.optimize.minimize`` with trust-constr."""
        from scipy.optimize import minimize

        values = DifferenceCache(task, ask, self.difference)

        def follow(x: Array, state: Any) -> bool:
            if task.m:
                values.dual = np.array(state.v[0], dtype=float)
            return vanished(state)

        def vanished(state: Any) -> bool:
            return state.get("barrier_parameter", 1.0) < _VANISHED

        result = minimize(
            values.objective,
            task.start,
            method="trust-constr",
            jac=values.gradient,
            hess=quasi_newton(),
            callback=follow,
            options={
                "gtol": 0.0,
                "xtol": self.tolerance,
                "barrier_tol": self.tolerance,
                "initial_tr_radius": self.initial_radius,
                "maxiter": sys.maxsize,
            },
            **region(task, values.constraints, values.jacobian, keep=self.keep_feasible),
        )
        message = "each barrier problem is solved exactly" if vanished(result) else result.message
        return Ended(message, values.dual)
