"""An OpenMDAO driver: a solver chooses a model's design variables, subject to its constraints."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from zoviz.ask_tell.session import AskTell
from zoviz.core.errors import ZovizError
from zoviz.core.optional import base
from zoviz.core.types import Array
from zoviz.evaluation.scipy_constraints import Between
from zoviz.problems.noise import UNKNOWN
from zoviz.solvers.portfolio.choice import AUTO

Base: Any = base("openmdao.core.driver", "Driver", "openmdao", "ZovizDriver")


class ZovizDriver(Base):
    """A derivative-free OpenMDAO driver, each of whose model runs is a solver's call.

    The solver sees design variables, objective and constraints as they are scaled for drivers. ``equals`` and two-sided
    constraints become two rows, lower limits first. An ``AnalysisError`` is a failed call. A recorder of the driver has
    a case for each call, and a last one: in the end the model is run once more, at the best feasible design.

    Parameters
    ----------
    **kwargs
        Options by name: ``solver``, ``noise`` and ``seed`` as for ``AskTell``; ``calls``, the budget of runs of the
        model; and ``checkpoint``, a file that keeps the session after each call. Where it is there already, the driver
        goes on with it: delete it to begin anew.

    Raises
    ------
    ValueError
        In ``run_driver``: for several objectives or one that is no single number, and for a start outside the bounds.

    Examples
    --------
    >>> import openmdao.api as om
    >>> from zoviz.adapters.openmdao import ZovizDriver
    >>> problem = om.Problem(reports=False)
    >>> _ = problem.model.add_subsystem("it", om.ExecComp("f = x**2 + y**2", x=1.5, y=1.0), promotes=["*"])
    >>> problem.model.add_design_var("x", lower=1, upper=2)
    >>> problem.model.add_design_var("y", lower=-2, upper=2)
    >>> problem.model.add_objective("f")
    >>> problem.driver = ZovizDriver(calls=60)
    >>> _ = problem.setup()
    >>> problem.run_driver().success
    True
    >>> round(problem.get_val("f").item(), 3)
    1.0
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        abilities = ("optimization", "inequality_constraints", "equality_constraints", "two_sided_constraints")
        for ability in (*abilities, "linear_constraints"):
            self.supports[ability] = True
        for ability in ("integer_design_vars", "distributed_design_vars"):
            self.supports[ability] = False
        self._session: AskTell | None = None

    def _declare_options(self) -> None:
        self.options.declare("solver", default=AUTO, desc="Solver, its class or name.")
        self.options.declare("noise", default=UNKNOWN, desc="Contract of the model's own randomness.")
        self.options.declare("seed", default=0, types=int, desc="Seed of the session.")
        self.options.declare("calls", default=None, allow_none=True, desc="Budget of runs of the model.")
        self.options.declare("checkpoint", default=None, allow_none=True, desc="File that keeps the session.")

    def _get_name(self) -> str:
        return "Zoviz"

    @property
    def session(self) -> AskTell:
        """The session, whose ``result`` is in the driver's scaling.

        Raises
        ------
        ZovizError
            Before the driver has run.
        """
        if self._session is None:
            raise ZovizError("Expected a driver that has run, got one that has not: problem.run_driver() comes first.")
        return self._session

    def run(self) -> bool:
        """Spend the budget, leave the model at the best feasible design, and return whether there is none."""
        self.result.reset()
        self._check_for_missing_objective()
        self._check_for_invalid_desvar_values()
        if len(self._objs) > 1:
            raise ValueError(f"Expected one objective, got {', '.join(self._objs)}: make all but one constraints.")
        self.iter_count = 0
        file = self.options["checkpoint"]
        session = self._session = pickle.loads(Path(file).read_bytes()) if file and Path(file).exists() else self._new()
        while not session.done:
            one = session.ask().take([0])
            session.tell(one, *self._values(one.x[0]))
            if file:
                _keep(session, Path(file))
        result = session.result
        found = bool(np.isfinite(result.best_fun[0]))
        self._values(result.best_x[0] if found else result.x[0])
        return not found

    def _new(self) -> AskTell:
        """Return a session that begins at the model's present design."""
        lower, upper = self._limits("design_var", self.get_design_var_values())
        rows = self._limits("constraint", self.get_constraint_values())
        x0 = _flat(self.get_design_var_values())
        settings = {name: self.options[name] for name in ("solver", "noise", "seed", "calls")}
        m = int(np.isfinite(rows).sum())
        return AskTell(bounds=np.column_stack([lower, upper]), x0=x0, m=m, **settings)

    def _values(self, x: Array) -> tuple[list[float], Array]:
        """Run the model at a design (n,) and return f (1,) and h (1, m), NaN where it fails."""
        from openmdao.api import AnalysisError
        from openmdao.core.driver import RecordingDebugging

        self._vectors["design_var"].set_data(x.copy(), driver_scaling=True)
        self._set_design_vars(driver_scaling=True)
        failed = False
        with RecordingDebugging(self._get_name(), self.iter_count, self):
            self.iter_count += 1
            try:
                self._run_solve_nonlinear()
            except AnalysisError:
                self._problem().model._clear_iprint()
                failed = True
        f, c = _flat(self.get_objective_values()), self.get_constraint_values()
        if len(f) != 1:
            raise ValueError(f"Expected an objective of one number, got {len(f)}: choose one by its index.")
        h = Between(np.atleast_1d, *self._limits("constraint", c), "the constraints")(_flat(c))
        return ([np.nan], np.full((1, len(h)), np.nan)) if failed else ([f[0]], h[None])

    def _limits(self, kind: str, values: dict[str, Array]) -> tuple[Array, Array]:
        """Return the lower and the upper limits (k,) of scaled values, infinite where there are none."""
        limits, ends = self._autoscaler.get_bounds_scaling(kind), []
        for name, value in values.items():
            one = limits[name]
            low, high = (one.lower, one.upper) if one.equals is None else (one.equals, one.equals)
            low, high = -np.inf if low is None else low, np.inf if high is None else high
            ends.append([np.broadcast_to(np.ravel(end), np.size(value)) for end in (low, high)])
        both = np.concatenate(ends, axis=1) if ends else np.empty((2, 0))
        return both[0], both[1]


def _flat(values: dict[str, Array]) -> Array:
    """Return named values as one array (k,)."""
    return np.concatenate([np.ravel(value) for value in values.values()] or [np.empty(0)])


def _keep(session: AskTell, file: Path) -> None:
    """Write a session to a file, which a kill leaves as it was or as it is to be."""
    beside = file.with_name(file.name + ".new")
    beside.write_bytes(pickle.dumps(session))
    os.replace(beside, file)
