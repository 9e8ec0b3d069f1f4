"""Methods that are written as loops: each replica's loop asks for values, and a step serves one batch of every one.

A loop is a generator, begun with a *memory*: a dataclass of what outlives an iteration. It asks for each batch in two
words::

    context = yield                       # a step begins: the calls left, live parameters, random numbers
    values = yield "trial", points        # what the points (q, n) are for, and the values (q, 1 + m) there, f first

With a third word, ``values = yield "trial", points, ahead``, workers may begin with points (k, n) of later batches.
Where ``context = yield ANEW`` stands instead of the first, an iteration begins: a loop that is begun with the memory as
it is there comes to this place first, and changes nothing on the way.

Who owns what
-------------
- The *loop* and the memory that it changes belong to ``Loops``, an object of the solver's own, and to the thread that
  takes the steps.
- The *state* of a replica is a ``Course``, a value: it holds copies of the memory, that as of the last iteration's
  beginning and that as of now, and the steps since. Nobody changes it, and any thread may read it.
- A loop may only assign the fields of its memory; arrays, lists and tuples in them are shared with states, so they are
  replaced, never written to.

``Loops`` keeps the loop of the course that it returned last. A step from any other course (the same one twice, a fork,
one that was stored, one whose step was broken off) begins a loop anew and gives it the answers since: at no call, and
in the time of one iteration. So a loop must be a function of its memory, of the contexts and of the values.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.errors import BudgetSpent
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle, Purpose
from zoviz.solvers.base import Solver

ANEW = "anew"
"""What a loop yields, in place of None, where an iteration begins."""

Loop = Generator[Any, Any, Any]
Begin = Callable[[Any], Loop]
"""Begins the loop of a memory."""


class Turn(NamedTuple):
    """One step of a replica: the context that it began with, and the values (q, 1 + m) of its batch."""

    context: Any
    values: Array


class Course(NamedTuple):
    """The state of one replica's loop between two steps.

    Attributes
    ----------
    base : dataclass
        The memory at the beginning of the present iteration.
    turns : tuple of Turn
        The steps since then.
    now : dataclass
        The memory at present, to be read.
    calls : int
        Calls so far.
    probes : Array, shape (q, n)
        The points of the last batch.
    purpose : str
        What they were for.
    over : bool
        Whether the loop has ended.
    """

    base: Any
    turns: tuple[Turn, ...]
    now: Any
    calls: int
    probes: Array
    purpose: str
    over: bool


class Loops:
    """The loops of a solver's replicas, each at the course that the last step led to."""

    def __init__(self) -> None:
        self._standing: dict[int, _Standing] = {}

    def begin(self, memories: Sequence[Any], begin: Begin, points: Array, purpose: str) -> list[Course]:
        """Return the courses at their beginning, after one call each at points (R, n)."""
        self.close()
        courses = []
        for r, (memory, x) in enumerate(zip(memories, points, strict=True)):
            standing = _Standing(begin, copied(memory))
            standing.course = Course(memory, (), memory, 1, x[None], purpose, standing.over)
            courses.append(standing.course)
            self._standing[r] = standing
        return courses

    def step(
        self,
        courses: Sequence[Course],
        contexts: Sequence[Any],
        begin: Begin,
        oracle: Oracle,
        purposes: Mapping[str, Purpose],
        evaluate: Callable[[list[Array]], Array],
        announce: Callable[[Array], object] | None = None,
    ) -> list[Course]:
        """Serve one batch of every replica whose budget covers it, and return the courses after it.

        Parameters
        ----------
        courses : sequence of Course
        contexts : sequence
            What each replica's loop is given as its step begins; None for a replica that takes none.
        begin : callable
        oracle : Oracle
        purposes : mapping of str to Purpose
            What a ledger has a batch for, by the loops' words.
        evaluate : callable
            Points (q, n) of every replica, q = 0 for those that ask for none, to values (R, most q, 1 + m).
        announce : callable, optional
            Takes the points (k, n) of later batches, where there is one replica alone.

        Raises
        ------
        BudgetSpent
            Where no replica's budget covers its batch.
        """
        asking: dict[int, _Standing] = {}
        points = [np.empty((0, 0))] * len(courses)
        words = ["start"] * len(courses)
        for r, (course, context) in enumerate(zip(courses, contexts, strict=True)):
            if context is None or course.over:
                continue
            # Taken out: should the step be broken off, the loop stands at no state.
            standing = self._standing.pop(r, None)
            if standing is None or standing.course is not course:
                standing = _Standing.at(course, begin)
            request = standing.request(context)
            if request is not None:
                asking[r] = standing
                words[r], points[r], *ahead = request
                if announce is not None and ahead and len(ahead[0]) and len(courses) == 1:
                    announce(ahead[0])
        counts = np.array([len(own) for own in points])
        counts *= oracle.affords(counts)
        if not counts.any():
            raise BudgetSpent
        points = [own[:count] for own, count in zip(points, counts, strict=True)]
        with oracle.purpose([purposes[word] for word in words]):
            values = evaluate(points)
        after = list(courses)
        for r, standing in asking.items():
            if counts[r] and oracle.active[r]:
                after[r] = standing.receive(courses[r], words[r], points[r], values[r, : counts[r]])
                self._standing[r] = standing
        return after

    def close(self) -> None:
        """Let go of all loops."""
        self._standing.clear()

    def __getstate__(self) -> dict[str, Any]:
        return {"_standing": {}}


class _Standing:
    """A loop, its memory, and the course at which it stands."""

    course: Course

    def __init__(self, begin: Begin, memory: Any) -> None:
        self._memory, self._loop = memory, begin(memory)
        self._context: Any = None
        self.over, self._anew = False, False
        self._go(None)

    @classmethod
    def at(cls, course: Course, begin: Begin) -> _Standing:
        """Return a loop that is brought to a course by the answers since its iteration began."""
        standing = cls(begin, copied(course.base))
        for context, values in course.turns:
            standing.request(context)
            standing._go(values)
        return standing

    def request(self, context: Any) -> tuple[Any, ...] | None:
        """Begin a step: return what the loop asks for; None where it ends instead."""
        self._context = context
        try:
            # A copy: what a context makes on demand, such as its random generator, is used up.
            request: tuple[Any, ...] = self._loop.send(copy.copy(context))
        except StopIteration:
            return None
        return request

    def receive(self, course: Course, purpose: str, points: Array, values: Array) -> Course:
        """Give the loop its values, and return the course after the step that began at ``course``."""
        self._go(values)
        now, calls = copied(self._memory), course.calls + len(points)
        base, turns = (now, ()) if self._anew else (course.base, (*course.turns, Turn(self._context, values)))
        self.course = Course(base, turns, now, calls, points, purpose, self.over)
        return self.course

    def _go(self, values: Array | None) -> None:
        """Let the loop go on until it waits for a step, or ends."""
        try:
            self._anew = self._loop.send(values) is not None
        except StopIteration:
            self._anew, self.over = True, True


def copied(memory: Any) -> Any:
    """Return a copy of a dataclass and of the dataclasses in its fields; all else is shared."""
    twin = object.__new__(type(memory))
    own = vars(twin)
    for name, value in vars(memory).items():
        own[name] = copied(value) if hasattr(type(value), "__dataclass_fields__") else value
    return twin


class LoopSolver(Solver):
    """A method of which every replica has a loop of its own, which begins anew where values turn out to be noisy."""

    __abstract = True

    standard: ClassVar[Any] = None
    """The table of the method's constants, a frozen dataclass."""

    constants: Mapping[str, Any] = param.Dict(  # type: ignore[assignment]
        default={},
        precedence=-1,
        label="Constants",
        doc="Other values of the method's constants, by their names in its table (constants.py).",
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        names = {one.name for one in fields(self.standard)}
        if unknown := sorted(set(self.constants) - names):
            raise ValueError(
                f"Expected names of constants of {self.title}, got {', '.join(unknown)}: they are "
                f"{', '.join(sorted(names))}."
            )
        self._loops = Loops()

    @property
    def table(self) -> Any:
        """The constants of the method, with other values where ``constants`` has them."""
        return replace(self.standard, **self.constants)

    def close(self) -> None:
        """Let go of the loops."""
        self._loops.close()

    def begin_again(self, state: Any, x: Array, oracle: Oracle, streams: Streams) -> Any:
        """Return the state of a new beginning at x (R, n)."""
        return self.init(x, oracle, streams)

    def stage_title(self, number: int) -> str:
        """Return the title of a stage, "start 1" for the first, whose number is 0."""
        return f"start {number + 1}"
