"""A worker that is told the values: it leaves a step where one is missing, and begins it again once it is there."""

from __future__ import annotations

from typing import Any, NamedTuple

from zoviz.core.types import Array, Evaluation
from zoviz.problems.base import Problem
from zoviz.runs.engine.evaluation_log import Answered, Entry, Log
from zoviz.runs.engine.inbox import Inbox
from zoviz.runs.engine.worker import Worker
from zoviz.solvers.base import Solver


class Unanswered(BaseException):
    """A step needs a value that was not told yet; control flow, which no ``except Exception`` may stop."""


class Question(NamedTuple):
    """Points (..., n) whose values are wanted, and the sample under which."""

    x: Array
    sample: Any


class Told(Answered):
    """A problem whose values are those that were told since the present step began.

    Attributes
    ----------
    question : Question or None
        What is to be told next.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem, Log())
        self.begin()

    @property
    def begun(self) -> bool:
        """Whether the present step has asked before."""
        return self.question is not None or self._told > self._first

    def begin(self) -> None:
        """A new step: no question, no answer."""
        self.log.forget()
        self.question: Question | None = None
        self._first = self._told = self.ordinal

    def reread(self) -> None:
        """The same step from its beginning."""
        self.ordinal, self.question = self._first, None

    def tell(self, value: Evaluation) -> None:
        """Answer the question."""
        assert self.question is not None
        x = self.question.x
        points = x.reshape(-1, x.shape[-1])
        self.log.append(self._told, Entry(points, value.f.ravel(), value.h.reshape(len(points), -1)))
        self._told += len(points)

    def _missing(self, first: int, points: Array, x: Array, xi: Any) -> Entry:
        """Note the question and leave the step."""
        self.question = Question(x.copy(), xi)
        raise Unanswered


class Interview(Worker):
    """A worker that stops where a value is missing, and begins the step again once it is there.

    A step is a function of the state, the streams and the oracle's counts: all three are put back to where the last
    whole step left them, and the answers so far are read again.
    """

    def __init__(self, solver: Solver, problem: Problem, *rest: Any) -> None:
        super().__init__(problem, solver, *rest)
        self._untouched = solver.clone()
        self.asked = self.told = Told(problem)
        self._committed: tuple[Any, Any] = ({}, {})

    def work(self) -> None:
        """Go on to the next question, or to the end."""
        self._begun = self.told.begun
        self.told.reread()
        try:
            super().work()
        except Unanswered:
            pass

    def _prepare(self) -> None:
        self.solver, self.resolved = self._untouched.clone(), {}
        self.notes.clear()
        self.streams.restore({})
        super()._prepare()
        self._commit()

    def _may_go_on(self) -> bool:
        begun, self._begun = self._begun, False
        return begun or super()._may_go_on()

    def _advance(self) -> None:
        streams, oracle = self._committed
        self.streams.restore(streams)
        self.oracle.restore(oracle)
        super()._advance()
        self._commit()

    def _commit(self) -> None:
        self._committed = self.streams.snapshot(), self.oracle.snapshot()
        self.told.begin()

    def _close(self) -> None:
        if self.told.question is None:
            super()._close()

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in vars(self).items() if name != "inbox"}
        return kept | {"solver": self.solver.clone()}  # its parameters are all; another library's may hold a stack

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, inbox=Inbox())
