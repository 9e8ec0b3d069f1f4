"""The base class of other libraries' optimisers: a step is one evaluation, a sweep of differences, or a generation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from zoviz.core.errors import BudgetSpent
from zoviz.core.ranking import ON_BOUNDARY, first, ranks
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation
from zoviz.oracle import Oracle, Purpose
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver
from zoviz.solvers.external.coroutine import Ask, Ended, History, LibraryRun, Record, Task
from zoviz.solvers.measured_constants import calls_of_one
from zoviz.solvers.replica_batches import evaluate_each
from zoviz.solvers.theory import Info


class ExternalState(NamedTuple):
    """The state of an external solver: best points x (R, n), multipliers y (R, m), values at x, ends and history.

    y is NaN where the library tells none. ``ended`` (R,) is 1 where the replica's library has ended by itself.
    ``history`` holds all values that the libraries were given: they themselves are no part of the state, and are
    rebuilt from it where needed.
    """

    x: Array
    y: Array
    value: Evaluation
    ended: Array
    history: History


class ExternalSolver(Solver):
    """An optimiser of another library, one instance per replica.

    A step serves one request of every replica's library, an evaluation, a sweep of differences or a generation, by one
    call of the oracle. ``x`` is the best point that the replica has seen, as ``zoviz.core.ranking`` has it: the lowest
    f among feasible ones, else the smallest violation; points outside the box do not count. A replica whose library has
    ended, or whose budget does not cover its next request, is held and not charged; the others go on.

    Notes
    -----
    The libraries own their loops, so a step from a state that they do not stand at (a fork, the same state twice, one
    that was stored) replays their history first: at no call, but in time proportional to it. Memory grows with the
    calls. The loop over replicas is Python's, as each has a library of its own. Coordinates that equal bounds fix are
    kept from the libraries: several fail on them.
    """

    __abstract = True

    external = True
    needs_box = True
    needs: ClassVar[tuple[str, ...]] = ("scipy", "greenlet")
    extra: ClassVar[str] = "peers"
    survives: ClassVar[bool] = True
    """Whether the library copes with values that are not finite; a replica of one that does not is frozen by them."""
    checkpointable: ClassVar[bool] = False
    measures: ClassVar[bool] = True
    """Whether ``from_constants`` uses the noise, so that it has to be measured."""

    _libraries: tuple[LibraryRun, ...] = ()
    _at: bytes | None = None
    """Digest of the history that the libraries have been told."""

    def measure_constants(self, problem: Problem, oracle: Oracle, x0: Array, streams: Streams) -> Constants:
        """Return constants measured at x0 (R, n) where there is noise; else assume 1, as the library's user would.

        They are assumed also where measuring the noise would take more than half of the budget.
        """
        affordable = oracle.affords(np.full(len(x0), 2 * sum(calls_of_one(oracle)))).all()
        if problem.constants is not None or (self.measures and problem.contract == "independent" and affordable):
            return super().measure_constants(problem, oracle, x0, streams)
        return Constants.assumed()

    def play(self, task: Task, ask: Ask) -> Ended:
        """Run the library's own loop from ``task.start`` to its end, every value through ``ask``."""
        raise NotImplementedError(f"{type(self).__name__} must define play(task, ask).")

    def width(self, n: int) -> int:
        """Return the largest number of points that the library asks for at once."""
        return 1

    def done(self, state: ExternalState, active: np.ndarray) -> str | None:
        """Return a sentence on how the libraries ended, once all of the mask ``active`` (R,) have; else None.

        Raises
        ------
        Exception
            What the libraries raised, where every one of them did, unless it is an error of numbers (ArithmeticError
            or ValueError) after values were given: a library that breaks off so leaves an answer, and says why.
        """
        if not (state.ended > 0)[active].all():
            return None
        if self._at != state.history.digest:
            return f"{self.title} has ended in every replica."
        errors = [library.error for library in self._libraries if library.error is not None]
        numerical = all(isinstance(error, (ArithmeticError, ValueError)) for error in errors)
        by_numbers = numerical and len(state.history) > 0
        if len(errors) == len(self._libraries) and not by_numbers:
            raise errors[0]
        messages = dict.fromkeys(library.message.rstrip(".") for library in self._libraries if library.message)
        return f"{self.title} has ended in every replica: {'; '.join(messages)}."

    def close(self) -> None:
        """End the libraries: unwind their stacks, and stop their processes."""
        libraries, self._libraries, self._at = self._libraries, (), None
        for library in libraries:
            library.close()

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> ExternalState:
        """Start the libraries, and evaluate what they ask for first, the starts (R, n): one call per replica."""
        seeds = (streams.uniform("peer", 1)[:, 0] * 2**31).astype(np.int64)
        no_value = Evaluation(np.full(len(x0), np.nan), np.full((len(x0), oracle.m), np.nan))
        y = np.full((len(x0), oracle.m), np.nan)
        state = ExternalState(x0, y, no_value, np.zeros(len(x0)), History(x0, seeds))
        return self._serve(state, oracle)

    def step(self, state: ExternalState, oracle: Oracle, streams: Streams) -> tuple[ExternalState, Info]:
        """Evaluate the next points of every replica whose library still asks for some, by one call of the oracle."""
        oracle.resample()
        after = self._serve(state, oracle)
        return after, Info(np.full(len(state.x), np.nan), state.x, state.y, np.nan)

    def _serve(self, state: ExternalState, oracle: Oracle) -> ExternalState:
        libraries = self._stand(state.history, oracle)
        counts = (
            np.array([0 if library.points is None else len(library.points) for library in libraries]) * oracle.active
        )
        able = oracle.affords(counts)
        if not (counts * able).any():
            if not able.all():
                raise BudgetSpent
            return state._replace(ended=_ended(libraries))  # also where a library ended before it asked for a value
        counts *= able
        box = Box.of(oracle.domain)
        points = [np.empty((0, oracle.n))] * len(counts)
        for r in np.flatnonzero(counts):
            points[r] = box.embed(np.asarray(libraries[r].points))
        with oracle.purpose(Purpose.PEER):
            x, mask, value = evaluate_each(oracle, points, state.x, self.width(oracle.n))
        valid = mask & oracle.active[:, None]
        if not self.survives:
            finite = value.finite
            oracle.fail((mask & ~finite).any(axis=1))
            valid &= oracle.active[:, None]
        self._at = None
        for r in np.flatnonzero(valid.any(axis=1)):
            libraries[r].answer(Evaluation(value.f[r, : counts[r]], value.h[r, : counts[r]]))
        for library in libraries:
            library.settle()
        record = Record(np.nonzero(valid)[0], x[valid][:, box.variable], Evaluation(value.f[valid], value.h[valid]))
        history = state.history.extended(record)
        self._at = history.digest
        best_x, best = better(state, x, value, oracle)
        duals = np.stack([library.dual for library in libraries])
        return ExternalState(best_x, duals, best, _ended(libraries), history)

    def _stand(self, history: History, oracle: Oracle) -> tuple[LibraryRun, ...]:
        """Return the libraries at this point of their history; rebuild them where they are elsewhere."""
        if self._at == history.digest and all(library.here for library in self._libraries):
            return self._libraries
        self.close()
        domain = Box.of(oracle.domain)
        free = domain.variable
        # A clone's play: the stacks must not keep this solver alive.
        play = self.clone().play if free.any() else _start_alone
        lower, upper = domain.lower[free], domain.upper[free]
        self._libraries = tuple(
            LibraryRun(
                play,
                Task(start[free], lower, upper, oracle.m, oracle.contract, int(seed), oracle.bounds is not None),
            )
            for start, seed in zip(history.start, history.seeds, strict=True)
        )
        for library in self._libraries:
            library.settle()
        history.replay(self._libraries)
        self._at = history.digest
        return self._libraries


def _ended(libraries: Sequence[LibraryRun]) -> Array:
    """Return 1 for each library that has ended by itself, else 0, (R,)."""
    return np.array([float(library.points is None) for library in libraries])


def _start_alone(task: Task, ask: Ask) -> Ended:
    """Stand in for a library where no coordinate is free: NOMAD would never return, others raise."""
    ask(task.start[None])
    return Ended("the bounds leave no variable free")


def better(state: ExternalState, x: Array, value: Evaluation, oracle: Oracle) -> tuple[Array, Evaluation]:
    """Return the best point (R, n) and value among the state's own and new points x (R, q, n), NaN where not evaluated.

    Parameters
    ----------
    state : ExternalState
    x : Array, shape (R, q, n)
    value : Evaluation
        f (R, q) and h (R, q, m).
    oracle : Oracle
    """
    all_x = np.concatenate([state.x[:, None], x], axis=1)
    f = np.concatenate([state.value.f[:, None], value.f], axis=1)
    h = np.concatenate([state.value.h[:, None], value.h], axis=1)
    inside = oracle.domain.contains(all_x, ON_BOUNDARY)
    best = first(*ranks(Evaluation(f, h), oracle.tolerance, inside))
    rows = np.arange(len(best))
    return all_x[rows, best], Evaluation(f[rows, best], h[rows, best])
