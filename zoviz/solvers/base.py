"""The base class of solvers: init, step, the iterate, and what a run asks beside them."""

from __future__ import annotations

import importlib.util
from typing import Any, ClassVar, NamedTuple

import numpy as np

from zoviz.core.sets import Box, Set
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Iterate, Sketch
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.published_form import PublishedForm
from zoviz.solvers.theory import Info, Theory
from zoviz.solvers.tuning import Tuning


class Searches(NamedTuple):
    """How many of a method's local searches have ended, in how many different minima, and where noise ends them.

    Attributes
    ----------
    ended, minima : ndarray, shape (R,)
        The second is 0 where the method cannot tell: no answer stands by it.
    settling : Array, shape (R,)
        The calls that the choice of the answer still takes, where noise hides all that further steps would gain;
        infinite elsewhere.
    elsewhere : ndarray, shape (R,)
        How many of those that have ended began neither at the start nor at the best point.
    """

    ended: np.ndarray
    minima: np.ndarray
    settling: Array
    elsewhere: np.ndarray


class Solver(PublishedForm, Tuning, Theory):
    """An iterative method that sees a problem only through an ``Oracle``.

    ``init`` and ``step`` know neither threads nor time. Names in ``live`` (dotted for those of a nested part: an
    estimator, an inner solver) may change between two steps; all others are fixed while a run is in progress. A
    parameter left at None is chosen by ``from_constants`` when the run starts.
    """

    __abstract = True

    title: ClassVar[str] = ""
    """The method's name on pages and in sentences."""
    forms: ClassVar[tuple[str, ...]] = ("constrained",)
    """The kinds of task that the method solves, as ``Problem.form`` or ``Problem.kinds`` names them."""
    checkpointable: ClassVar[bool] = True
    """Whether the state holds all that the next step needs. A method that keeps more elsewhere starts again after an
    interruption and is given the values that were already paid for."""
    external: ClassVar[bool] = False
    """Whether the method is another library's, which may not be installed."""
    has_sketch: ClassVar[bool] = False
    """Whether there is a region around the iterate to be drawn, which ``sketch`` tells."""
    reports_best: ClassVar[bool] = False
    """Whether, without noise, the point that the method reports is the best that it has queried."""
    keeps_rows: ClassVar[bool] = False
    """Whether no call leaves the constraints that a problem keeps while searching."""
    needs_box: ClassVar[bool] = False
    """Whether the method refuses a domain that is no box."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Modules that it needs and that may not be installed, and the optional ``extra`` of zoviz that installs them."""
    extra: ClassVar[str] = ""
    noise_rank: ClassVar[int] = 0
    """How well it suits values that are found to be noisy: 0 where it has no way of its own and goes on as it is."""

    def made_for(self, problem: Problem) -> bool:
        """Return whether the problem is of a kind that the method solves, whatever else it needs."""
        return not {problem.form, *problem.kinds}.isdisjoint(self.forms)

    def accepts(self, problem: Problem) -> str | None:
        """Return None where the solver can run on the problem, else the reason why not, as a sentence."""
        if not self.made_for(problem):
            name = self.title or type(self).__name__
            return (
                f"{name[0].upper()}{name[1:]} solves {' and '.join(self.forms)} problems, and "
                f"{problem.title or type(problem).__name__} is {problem.form}: choose another solver."
            )
        return self.missing_package or self.refusal(problem)

    def refusal(self, problem: Problem) -> str | None:
        """Return the sentence why a problem of its kind is none for the method, whatever is installed; else None."""
        return (
            self._no_inside_reason(problem)
            or self._no_saddle_reason(problem)
            or self._no_box_reason(problem)
            or self.unsupported_reason(problem)
        )

    def _no_inside_reason(self, problem: Problem) -> str | None:
        """Return the sentence of a method that calls points outside of constraints for a problem that keeps some."""
        if self.keeps_rows or not problem.keeps_rows:
            return None
        return (
            f'Expected a method that keeps constraints "while searching", got {self.title or type(self).__name__}, '
            "which calls points outside of them: choose ZOSQP, or leave keep out."
        )

    def _no_saddle_reason(self, problem: Problem) -> str | None:
        """Return the sentence of a method that seeks a saddle point for a problem whose Lagrangian may have none."""
        if not self.needs_saddle_point or not problem.saddle_point_doubt:
            return None
        return (
            f"{self.title or type(self).__name__} seeks a saddle point of the Lagrangian, and "
            f"{problem.title or type(problem).__name__} may have none, as {problem.saddle_point_doubt}: choose "
            "ZO-SPLM, which adds a penalty there."
        )

    def _no_box_reason(self, problem: Problem) -> str | None:
        """Return the sentence of a method that needs a box for a problem with another domain."""
        if not self.needs_box or isinstance(problem.domain, Box):
            return None
        return f"{self.title} needs a box as domain, got a {type(problem.domain).__name__}: choose ZO-SPLM."

    @property
    def needs_saddle_point(self) -> bool:
        """Whether the method, as its rule sets it, comes to no solution where the Lagrangian has no saddle point."""
        return False

    @property
    def asks_derivatives(self) -> bool:
        """Return whether a step asks the oracle for gradients or products, which no values can give."""
        return False

    @property
    def missing_package(self) -> str:
        """The sentence on a package that the solver needs and lacks, with the command that installs it; else empty."""
        packages = [name for name in self.needs if importlib.util.find_spec(name) is None]
        if not packages:
            return ""
        listed = " and ".join(filter(None, [", ".join(packages[:-1]), packages[-1]]))
        are = "are" if packages[1:] else "is"
        return (
            f'{self.title} needs {listed}, which {are} not installed: run python -m pip install "zoviz[{self.extra}]".'
        )

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return the sentence why the solver cannot run on a problem of its form, or None; to be overridden."""
        return None

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> Any:
        """Return the state at ``x0`` (R, n): a NamedTuple, replica axis first, of all that the next step needs."""
        raise NotImplementedError(f"{type(self).__name__} must define init(x0, oracle, streams).")

    def step(self, state: Any, oracle: Oracle, streams: Streams) -> tuple[Any, Info]:
        """Take one iteration, and return the new state with an account of its estimate."""
        raise NotImplementedError(f"{type(self).__name__} must define step(state, oracle, streams).")

    def done(self, state: Any, active: np.ndarray) -> str | None:
        """Return why no further step would change an active replica, as a sentence; None while one would.

        Parameters
        ----------
        state : NamedTuple
        active : ndarray of bool, shape (R,)
            Replicas that are not frozen.
        """
        return None

    def searches(self, state: Any) -> Searches | None:
        """Return how far a method has come that begins local searches anew; None for any other."""
        return None

    def polish(self, state: Any, oracle: Oracle, streams: Streams) -> Iterate | None:
        """Return a better answer, made once by charged calls when the run ends; None where there is none."""
        return None

    @property
    def polishes(self) -> bool:
        """Whether the method makes such an answer."""
        return type(self).polish is not Solver.polish

    def descends(self, state: Any) -> bool:
        """Return whether steps follow estimated gradients now, so that no good course leads far uphill for long."""
        return self.estimator is not None

    def recover(self, state: Any, diverged: np.ndarray, oracle: Oracle) -> tuple[Any, np.ndarray]:
        """Return the state with which replicas that diverge go on, and which of them do; here none: a run stops them.

        Parameters
        ----------
        state : NamedTuple
        diverged : ndarray of bool, shape (R,)
            Replicas whose course the run judges to diverge.
        oracle : Oracle
            Not to be asked: for its tolerance.

        Returns
        -------
        NamedTuple, and ndarray of bool, shape (R,)
        """
        return state, np.zeros(len(diverged), dtype=bool)

    def begin_again(self, state: Any, x: Array, oracle: Oracle, streams: Streams) -> Any:
        """Return the state of a new beginning at x (R, n), after values there were found to be other than they seemed.

        That is where noise was found, which ``oracle.contract`` then has, or where the best values were outliers. None,
        as here: the method has no way of its own for noisy values, and goes on as it is.
        """
        return None

    def first_points(self, x0: Array, domain: Set, oracle: Oracle) -> Array | None:
        """Return the points (k, n) that a lone replica is sure to call after its start x0 (n,), for workers to begin.

        None where calls are made one at a time, as here. X, start and points are in the solver's units, which the
        oracle does not have yet.
        """
        return None

    def verifies(self, state: Any) -> bool:
        """Return whether, under noise, the point that is reported was chosen by repeated calls of the solver's own."""
        return False

    def is_blind(self, state: Any) -> np.ndarray:
        """Return the replicas, (R,) of bool, whose values have too few digits for the method; another may go on."""
        return np.zeros(len(self.output(state)), dtype=bool)

    def closing_note(self, state: Any) -> str:
        """Return a sentence on the outcome for the result's message; empty where there is nothing to say."""
        return ""

    def figures(self, state: Any) -> dict[str, Array]:
        """Return the columns that the method adds to the trace by name, (R,) each, e.g. its trust radius."""
        return {}

    def stage(self, state: Any) -> int | None:
        """Return the number of the present stage, from 0, for a method that works in stages to be marked on plots."""
        return None

    def stage_title(self, number: int) -> str:
        """Return the title of stage ``number``, from 0, for its mark on the plots."""
        return f"stage {number + 1}"

    def close(self) -> None:
        """Release processes and libraries; a run calls this at its end, in the thread that took the steps."""

    def iterate(self, state: Any) -> Iterate:
        """Return the state's iterate by its roles (point, multipliers, slack ...), from which a run measures it.

        Parameters
        ----------
        state : NamedTuple
            Here of fields ``x``, ``y`` and ``value``, the oracle's value at ``x`` under its present sample, paid for at
            the end of the step before; a method whose state has others overrides this.
        """
        return Iterate(state.x, dual=state.y, value=state.value)

    def output(self, state: Any) -> Array:
        """Return the iterate that is measured and reported, (R, n)."""
        return state.x

    def sketch(self, state: Any) -> Sketch | None:
        """Return the first replica's region and last points, in the solver's units; None where there is none.

        Any thread may ask: nothing but the state and live parameters may be read, and nothing written to.
        """
        return None
