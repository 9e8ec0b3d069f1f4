"""A worker that is told the values: it leaves a step where one is missing, and begins it again once it is there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.runs.inbox import Inbox
from zoviz.runs.worker import Worker
from zoviz.solvers.base import Solver
from zoviz.types import Array, Evaluation, ZovizError


class Unanswered(BaseException):
    """A step needs a value that was not told yet; control flow, which no ``except Exception`` may stop."""


class Question(NamedTuple):
    """Points (..., n) whose values are wanted, and the sample under which."""

    x: Array
    sample: Any


class Told:
    """A problem whose values are those that were told, in the order in which they were asked for.

    All else (noise, samples, domain) is the problem's own.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.begin()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_problem":  # looked up while a pickle is being read
            raise AttributeError(name)
        return getattr(self._problem, name)

    def begin(self) -> None:
        """A new step: no question, no answer."""
        self.questions: list[Question] = []
        self.answers: list[Evaluation] = []
        self.reread()

    def reread(self) -> None:
        """The same step from its beginning."""
        self._next, self.waiting = 0, False

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        """The next answer; where there is none yet, note the question and leave the step.

        Raises
        ------
        ZovizError
            Where a step that was begun again asks for other points than before.
        """
        i, self._next = self._next, self._next + 1
        if i == len(self.questions):
            self.questions.append(Question(x.copy(), xi))
        elif not np.array_equal(self.questions[i].x, x, equal_nan=True):
            raise ZovizError(
                "Expected a step that depends on its state and streams alone, got other points when it was begun "
                "again: ask and tell cannot drive this solver; use Run."
            )
        if i == len(self.answers):
            self.waiting = True
            raise Unanswered
        value = self.answers[i]
        return Evaluation(value.f.copy(), value.h.copy())


class Interview(Worker):
    """A worker that stops where a value is missing, and begins the step again once it is there.

    A step is a function of the state, the streams and the oracle's counts: all three are put back to where the last
    whole step left them, and the answers so far are read again.
    """

    def __init__(self, solver: Solver, problem: Problem, *rest: Any) -> None:
        super().__init__(problem, solver, *rest)
        self._untouched = solver.clone()
        self.told = Told(problem)
        self._committed: tuple[Any, Any] = ({}, {})

    def work(self) -> None:
        """Go on to the next question, or to the end."""
        self.told.reread()
        try:
            super().work()
        except Unanswered:
            pass

    def _make_oracle(self) -> Oracle:
        return Oracle(self.told, self.streams, self.limits.calls, self.tolerance)  # type: ignore[arg-type]

    def _prepare(self) -> None:
        self.solver, self.resolved = self._untouched.clone(), {}
        self.notes.clear()
        self.streams.restore({})
        super()._prepare()
        self._commit()

    def _may_go_on(self) -> bool:
        return True if self.told.questions else super()._may_go_on()

    def _advance(self) -> None:
        streams, oracle = self._committed
        self.streams.restore(streams)
        for name, value in oracle.items():
            setattr(self.oracle, name, value.copy() if isinstance(value, np.ndarray) else value)
        super()._advance()
        self._commit()

    def _commit(self) -> None:
        oracle = {
            name: value.copy() if isinstance(value, np.ndarray) else value
            for name, value in vars(self.oracle).items()
            if name not in ("_problem", "_streams", "domain")
        }
        self._committed = self.streams.snapshot(), oracle
        self.told.begin()

    def _close(self) -> None:
        if not self.told.waiting:
            super()._close()

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in vars(self).items() if name != "inbox"}
        return kept | {"solver": self.solver.clone()}  # its parameters are all; another library's may hold a stack

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, inbox=Inbox())
