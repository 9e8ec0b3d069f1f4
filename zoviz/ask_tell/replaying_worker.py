"""Ask-tell worker: aborts a step where a value is missing and re-runs it from its start once the value is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.types import Array, Evaluation
from zoviz.oracle import Question
from zoviz.runs.engine.evaluation_log import Entry, Log
from zoviz.runs.engine.spec import RunSpec
from zoviz.runs.engine.steering import Inbox
from zoviz.runs.engine.worker import Worker

VALUES = ("", "f value", "g value")
"""Kinds of question that a person can answer; the others are derivatives."""


class Unanswered(BaseException):
    """Raised where a step needs a value that is not there yet; no ``except Exception`` may stop it."""


class PointAhead(NamedTuple):
    """A point of a later question, with the number of its evaluation, and its values (width,) once they are given."""

    x: Array
    id: int
    values: Array | None = None


class Answers:
    """A source of the values that the caller has given since the present step began.

    Attributes
    ----------
    question : Question or None
        What is to be told next.
    width : int
        Numbers a point that it asks for.
    ids : ndarray of int, shape (k,)
        The numbers of its k points among all evaluations.
    open : ndarray of bool, shape (k,)
        Which of them have no values yet.
    ahead : list of PointAhead
        The points of later questions.
    """

    def __init__(self) -> None:
        self._log, self._count = Log(), 0
        self.ahead: list[PointAhead] = []
        self.begin()

    @property
    def begun(self) -> bool:
        """Whether the present step has asked before."""
        return self.question is not None or len(self._log) > 0

    def begin(self) -> None:
        """Begin a new step, without question or answer."""
        self._log.forget()
        self.repeat()

    def repeat(self) -> None:
        """Begin the same step again with the answers so far."""
        self.question: Question | None = None
        self.width = 0
        self.open, self._values = np.zeros(0, dtype=bool), np.empty((0, 0))
        self.ids = np.zeros(0, dtype=np.int64)

    def tell(self, rows: np.ndarray, values: Array) -> bool:
        """Add values (j, width) at some of the pending points; return whether every pending point now has one.

        Parameters
        ----------
        rows : ndarray of int, shape (j,)
            Places of these points among the question's.
        values : Array, shape (j, width)
        """
        question = self.question
        if question is None:
            raise ZovizError("Expected points that wait for values, got none: call ask() first.")
        self._values[rows], self.open[rows] = values, False
        if self.open.any():
            return False
        self._log.append(question.ordinal, Entry(question.points, self._values, "", question.kind))
        return True

    def tell_ahead(self, ids: Sequence[int], values: Array) -> None:
        """Keep values (j, width) of evaluations ahead, by their numbers, until a question has these points."""
        given = dict(zip(ids, values, strict=True))
        self.ahead = [one._replace(values=given.get(one.id, one.values)) for one in self.ahead]

    def values(
        self,
        question: Question,
        width: int,
        compute: Callable[[], Array],
        found: Callable[[int, Evaluation], object] | None = None,
    ) -> Array:
        """Return the answered values (k, width); where there are none yet, note the question and leave the step."""
        if question.kind not in VALUES:
            raise ZovizError(
                f"Expected a method that asks for values, got one that asks for a {question.kind}: choose zeroth-order "
                "gradients or a zeroth-order method, or use Run."
            )
        entry = self._log.get(question.ordinal, question.points, question.kind)
        if entry is None:
            self._note(question, width)
            if not self.tell(np.zeros(0, dtype=np.intp), np.empty((0, width))):
                raise Unanswered
            self.question = None  # all was known ahead
            return self._values
        return entry.values

    def _note(self, question: Question, width: int) -> None:
        """Note a question, with the values that are known already, and the points ahead."""
        # Copies: the solver may go on with its arrays before the answer comes.
        self.question = question._replace(places=tuple(place.copy() for place in question.places))
        points, self.width = question.points, width
        known = [self._begun(x) for x in points]
        self.ids = np.array([self._next() if one is None else one.id for one in known], dtype=np.int64)
        self.open = np.array([one is None or one.values is None for one in known])
        self._values = np.full((len(points), width), np.nan)
        for row, one in zip(self._values, known, strict=True):
            if one is not None and one.values is not None:
                row[:] = one.values
        self.ahead += [PointAhead(x.copy(), self._next()) for x in question.ahead]

    def _begun(self, x: Array) -> PointAhead | None:
        """Take the point (n,) from those ahead, if it is one of them."""
        places = (i for i, one in enumerate(self.ahead) if np.array_equal(one.x, x))
        place = next(places, None)
        return None if place is None else self.ahead.pop(place)

    def _next(self) -> int:
        self._count += 1
        return self._count - 1


class ReplayingWorker(Worker):
    """A worker that leaves a step where a value is missing, and runs it again from its start once it is there.

    A step is a function of the state, the streams, the oracle's counts and what is known of the noise: all of them are
    put back to where the last whole step left them, and the answers so far are read again.
    """

    def __init__(self, spec: RunSpec) -> None:
        self.answers = Answers()
        super().__init__(spec, self.answers)
        self._untouched = spec.solver.clone()
        self._committed: tuple[Any, Any, Any] = ({}, {}, {})
        self._begun = self._over = False

    def work(self) -> None:
        """Go on to the next question, or to the end."""
        self._begun = self.answers.begun
        self.answers.repeat()
        try:
            super().work()
        except Unanswered:
            pass

    def _prepare(self) -> None:
        self.solver, self.resolved = self._untouched.clone(), {}
        self.notes.clear()
        self.opening.clear()
        self.streams.restore({})
        super()._prepare()
        self._commit()

    def _may_go_on(self) -> bool:
        # A step that has asked before was allowed then; what has changed since is seen before the next.
        begun, self._begun = self._begun, False
        if begun:
            self._restore()
        else:
            self._over = not super()._may_go_on()
        return not self._over

    def _check_noise(self, may_begin: bool = True, kept: bool = True) -> bool:
        goes_on = super()._check_noise(may_begin, kept)
        self._over = self._over or not goes_on
        self._commit()
        return goes_on

    def _advance(self) -> None:
        self._restore()
        super()._advance()
        self._commit()

    def _polish(self) -> None:
        self._restore()
        super()._polish()

    def _restore(self) -> None:
        streams, oracle, noise = self._committed
        self.streams.restore(streams)
        self.oracle.restore(oracle)
        self.noise.restore(noise)

    def _commit(self) -> None:
        self._committed = self.streams.snapshot(), self.oracle.snapshot(), self.noise.snapshot()
        self._begun = False
        self.answers.begin()

    def _close(self) -> None:
        if self.answers.question is None:
            super()._close()

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name != "inbox"}
        return state | {"solver": self.solver.clone()}  # its parameters are all; another library's may hold a stack

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, inbox=Inbox())
