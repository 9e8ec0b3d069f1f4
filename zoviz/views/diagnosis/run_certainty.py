"""How sure the best design of the page's run is: its own answer's certainty, or one that a thread finds out."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from zoviz.certainty.certainty import Certainty
from zoviz.certainty.estimate import MOST_VARIABLES
from zoviz.core.errors import described
from zoviz.diagnosis.certificate import Certifier
from zoviz.problems.base import Problem
from zoviz.runs.run_view import RunView
from zoviz.views.diagnosis.background_task import BackgroundTask

MOST_ROWS = 50
"""Constraints up to which the certainty is found out without being asked for: beyond, it is more than a second."""


class Sureness(NamedTuple):
    """How sure a design is; without a certainty, the sentence on why that is not known, or not yet."""

    certainty: Certainty | None
    sentence: str = ""


class RunCertainty:
    """How sure the best design of an ended run is.

    A run on a person's own functions has judged its answer by calls of its budget. Values of zoviz's own problems cost
    nothing: a thread asks for some around the design, off the run's books.
    """

    def __init__(self) -> None:
        self._run: RunView | None = None
        self._look: BackgroundTask[Certainty] | None = None
        self._found = Sureness(None)

    def of(self, run: RunView) -> Sureness:
        """Return how sure the run's best design is; called with the document's lock at every refresh."""
        if (known := _known(run)) is not None:
            return known
        if run is not self._run:
            self._run, self._look = run, None
            self._found = self._begun(run)
        if self._look is not None and self._look.done:
            look, self._look = self._look, None
            self._found = _outcome(look.outcome)
        return self._found

    def close(self) -> None:
        """Call off what is at work, with the page's session."""
        if self._look is not None:
            self._look.cancel()

    def _begun(self, run: RunView) -> Sureness:
        """Have a thread find out how sure the design is, where that costs nothing, and return what to say meanwhile."""
        problem, x = run.problem, run.best_design.x
        if obstacle := _obstacle(problem, x):
            return Sureness(None, obstacle)
        self._look = BackgroundTask(lambda proceed: _certified(problem, x, run.seed, proceed))
        return Sureness(None, "Measuring how certain this point is, by calls that are not charged to the run.")


def found_out(run: RunView) -> Sureness:
    """Return how sure the best design of a run is; of zoviz's own problems it is found out now."""
    if (known := _known(run)) is not None:
        return known
    problem, x = run.problem, run.best_design.x
    obstacle = _obstacle(problem, x)
    return Sureness(None, obstacle) if obstacle else _outcome(lambda: _certified(problem, x, run.seed))


def _known(run: RunView) -> Sureness | None:
    """Return how sure the best design of a run is by the run itself; None where that is to be found out."""
    if run.active or not run.has_result:
        return Sureness(None)
    return None if run.answer is None else Sureness(run.answer.certainty)


def _certified(problem: Problem, x: np.ndarray, seed: int, proceed: Callable[[], object] = lambda: None) -> Certainty:
    """Return how sure a point is, by calls off any run's books, among them those that tell the minimum."""
    return Certifier(minimum=True).certify(problem, x, seed, proceed).certainty


def _outcome(find: Callable[[], Certainty]) -> Sureness:
    """Return what was found out, or the sentence on why it was not."""
    try:
        return Sureness(find())
    except Exception as error:  # a problem may raise anything; what shows the design goes on without it
        return Sureness(None, f"The certainty could not be measured: {described(error)}")


def _obstacle(problem: Problem, x: np.ndarray) -> str:
    """Return why it is not found out how sure a design is; empty where it is."""
    if problem.stochastic or problem.online or problem.form != "constrained":
        return (
            "No intervals are computed: the objective is an expectation over samples, or changes from round to round."
        )
    if not problem.analytic:
        return (
            "No intervals were computed, since the run did not end. Certify this point, under Diagnosis, "
            "measures them by further calls."
        )
    if problem.domain.n > MOST_VARIABLES or problem.m > MOST_ROWS or not np.isfinite(x).all():
        sizes = f"{MOST_VARIABLES} variables and {MOST_ROWS} constraints"
        return f"No intervals are computed for more than {sizes}. Certify this point, under Diagnosis, measures them."
    return ""
