"""Ask and tell: the caller evaluates the black box, wherever and whenever that may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from zoviz.ask_tell.replaying_worker import ReplayingWorker
from zoviz.core.errors import OracleError, ZovizError
from zoviz.core.types import Array
from zoviz.evaluation.real_numbers import real_numbers
from zoviz.oracle import Question
from zoviz.problems.base import Problem
from zoviz.problems.noise import UNKNOWN
from zoviz.problems.user.blackbox import BlackBox
from zoviz.runs.engine.result import Result
from zoviz.runs.engine.spec import RunSpec
from zoviz.solvers.base import Solver
from zoviz.solvers.portfolio.choice import AUTO, matched


def _never(x: Array) -> Any:
    """Raise: it stands where a function would, and is never called."""
    raise ZovizError("Expected the values from tell(), got a call of the function: an ask-tell session has none.")


class Batch(NamedTuple):
    """A batch of points that a session asks for.

    Attributes
    ----------
    x : Array, shape (q, n)
        The points; of an online bilevel problem x and y side by side, shape (q, n + d).
    ids : ndarray of int, shape (q,)
        Number of each evaluation, counted from 0 through the whole session: no two points ever share one.
    replicas : ndarray of int, shape (q,)
        The replica that asks for each point.
    seeds : ndarray of int, shape (q,)
        The seed with which each is to be evaluated, where the problem takes one; else empty.
    """

    x: Array
    ids: np.ndarray
    replicas: np.ndarray
    seeds: np.ndarray

    def take(self, rows: ArrayLike) -> Batch:
        """Return a part of the batch, whose values can be given separately.

        Parameters
        ----------
        rows : array_like, shape (p,) of int or (q,) of bool
            Which points, as an index of an array.
        """
        rows = np.asarray(rows)
        rows = rows.astype(np.intp) if not rows.size else np.atleast_1d(rows)
        seeds = self.seeds[rows] if len(self.seeds) else self.seeds
        return Batch(self.x[rows], self.ids[rows], self.replicas[rows], seeds)


class AskTell:
    """A session in which the caller evaluates the points that a solver asks for: laboratories, queues, clusters.

    Points and results are those of ``Run`` on the same problem, solver and seed, bit for bit. Between any ``ask`` and
    ``tell`` the whole of it can be pickled, random numbers included, and goes on elsewhere as it would have here.

    Parameters
    ----------
    problem : Problem or its class, optional
        Gives domain, number of constraints and whatever else is known; its values come from ``tell`` alone. Without
        it, say ``bounds``, ``x0`` and ``m`` as for a ``BlackBox``.
    solver : Solver, its class or name
        The method; ``"auto"`` chooses by dimension, noise and budget as ``minimize`` does.
    bounds, x0, m, noise, seeds
        As for ``BlackBox``; with ``seeds`` a batch has them.
    replicas, seed, iterations, calls, targets, stop_at_targets, tolerance, past
        As for ``Run``; without a budget it never ends by itself.

    Raises
    ------
    ValueError
        If the solver does not accept the problem, or an argument makes no sense.

    Examples
    --------
    >>> from zoviz import AskTell
    >>> session = AskTell(solver="ZOCEG", bounds=[(-2, 2)] * 2, x0=[1, 1], m=1, calls=200)
    >>> while not session.done:
    ...     batch = session.ask()
    ...     session.tell(batch, (batch.x**2).sum(axis=1), 1 - batch.x[:, :1])
    >>> session.result.success
    array([ True])

    References
    ----------
    Collette, Hansen, Pujol, Salazar Aponte and Le Riche (2010), "On object-oriented programming of optimizers", for
    the interface.
    """

    def __init__(
        self,
        problem: Problem | type[Problem] | None = None,
        solver: Solver | type[Solver] | str = AUTO,
        *,
        bounds: Any = None,
        x0: ArrayLike | None = None,
        m: int = 0,
        noise: str = UNKNOWN,
        seeds: bool = False,
        replicas: int = 1,
        seed: int = 0,
        iterations: int | None = None,
        calls: int | None = None,
        targets: Mapping[str, float | Sequence[float]] | None = None,
        stop_at_targets: bool = False,
        tolerance: float | None = None,
        past: Any = None,
    ) -> None:
        if problem is None:
            problem = BlackBox(_never, bounds=bounds, x0=x0, m=m, joint=True, noise=noise, seeds=seeds)
        elif bounds is not None or x0 is not None or m or noise != UNKNOWN or seeds:
            raise ValueError("Expected a problem, or bounds, x0, m and noise, got both: the problem has its own.")
        problem, solver, self._reason = matched(problem, solver, calls)
        reason = solver.accepts(problem)
        if reason is not None:
            raise ValueError(reason)
        if solver.asks_derivatives:
            raise ValueError(
                f"Expected a method that asks for values, got {solver.title or type(solver).__name__}, which asks for "
                "derivatives: choose zeroth-order gradients or a zeroth-order method, or use Run."
            )
        self._worker = ReplayingWorker(
            RunSpec(
                problem.clone(),
                solver.clone(),
                replicas=replicas,
                seed=seed,
                iterations=iterations,
                calls=calls,
                targets=targets or {},
                stop_at_targets=stop_at_targets,
                tolerance=tolerance,
                past=past,
            )
        )
        self._proceed()

    @property
    def reason(self) -> str:
        """Why this solver was chosen, in a sentence; empty if the caller named it."""
        return self._reason

    @property
    def worker(self) -> ReplayingWorker:
        """The object that takes the solver's steps with the answers so far, and holds state, oracle and trace."""
        return self._worker

    @property
    def done(self) -> bool:
        """Whether the budget is spent or the targets are hit: there is nothing left to ask."""
        return self._worker.answers.question is None

    @property
    def question(self) -> Question:
        """The batch that waits for values: its points in the shape that a ``Run`` evaluates, its kind, and its sample.

        Raises
        ------
        ZovizError
            Where there is nothing left to ask.
        """
        question = self._worker.answers.question
        if question is None:
            raise ZovizError(
                "Expected a session that still needs values, got one that has ended: "
                f"{self._worker.message} See result."
            )
        return question

    @property
    def sample(self) -> Any:
        """The problem's sample under which the points are to be evaluated; None where it draws none."""
        return self.question.sample

    @property
    def result(self) -> Result:
        """The result of the session so far, under SciPy's names.

        Raises
        ------
        ZovizError
            Before the solver has begun: the values at the start, and those that choose its steps, come first.
        """
        if not self._worker.has_result:
            raise ZovizError(
                "Expected a session with a first result, got one that still chooses its steps: call "
                "ask() and tell() first."
            )
        return self._worker.result

    def ask(self) -> Batch:
        """Return the points to evaluate; the same ones until all their values are given.

        Of an online bilevel problem the values of f_t or g_t are asked for (``question.kind``), at points x and y side
        by side.

        Raises
        ------
        ZovizError
            Where there is nothing left to ask.
        """
        batch, answers = self._question_batch(), self._worker.answers
        return batch if answers.open.all() else batch.take(answers.open)

    def ahead(self) -> Batch:
        """Return points of later batches, as far as they are known, for workers that would otherwise be idle.

        They may be told before they are asked for, and need not be: points and results are the same. There are some
        where the method has ``parallel_calls``.
        """
        points = [one for one in self._worker.answers.ahead if one.values is None]
        ids = np.array([one.id for one in points], dtype=np.int64)
        x = np.array([one.x for one in points]).reshape(len(points), self._worker.problem.domain.n)
        return Batch(x, ids, np.zeros_like(ids), np.zeros(0, dtype=np.int64))

    def tell(self, batch: Batch, f: ArrayLike, h: ArrayLike | None = None) -> None:
        """Give the values at a batch of ``ask`` or ``ahead``, or at a part of it, in any order: ``batch.take(rows)``.

        The solver goes on once all that it has asked for is told.

        Parameters
        ----------
        batch : Batch
        f : array_like, shape (q,)
            NaN where an evaluation failed: it is counted, and costs a direction, or freezes the replica whose iterate
            it was.
        h : array_like, shape (q, m), optional
            Left out where there are no constraints; (q,) will do for one.

        Raises
        ------
        ValueError
            For other shapes, what is not a number, or a batch that is not open (any more); nothing is taken over, and
            ``tell`` may be called again.
        ZovizError
            Where nothing was asked.
        Exception
            What ends a ``Run``, e.g. ``OracleError`` where every replica is frozen.
        """
        answers, early = self._worker.answers, self._is_ahead(batch)
        rows, m = np.arange(len(batch.ids)) if early else self._rows(batch), answers.width - 1
        count = len(rows)
        objective = _numbers(f, "f", (count,)).reshape(count, 1)
        constraints = _numbers(np.empty((count, 0)) if h is None else h, "h", (count, m)).reshape(count, m)
        values = np.concatenate([objective, constraints], axis=1)
        if early:
            answers.tell_ahead(batch.ids.tolist(), values)
        elif answers.tell(rows, values):
            self._proceed()

    def _is_ahead(self, batch: Batch) -> bool:
        """Return whether a batch is of points ahead, each once."""
        if not isinstance(batch, Batch) or not len(batch.ids):
            return False
        known = self.ahead()
        same = np.asarray(batch.ids)[:, None] == known.ids
        if not same.any(axis=1).all() or same.sum(axis=0).max() > 1:
            return False
        return np.array_equal(batch.x, known.x[same.argmax(axis=1)])

    def _question_batch(self) -> Batch:
        """Return all points of the present question, told or not."""
        question = self.question
        points, none = question.points, np.zeros(0, dtype=np.int64)
        seeds = question.seeds if self._worker.problem.seeds else none
        return Batch(points, self._worker.answers.ids, question.replicas, seeds)

    def _rows(self, batch: Batch) -> np.ndarray:
        """Return the places of a batch among the points of the present question, shape (q,).

        Raises
        ------
        ValueError
            For what is no batch, or has points that are not open.
        """
        request, is_open = self._question_batch(), self._worker.answers.open
        if not isinstance(batch, Batch):
            raise ValueError(f"Expected the batch of ask() first, then f and h, got {batch!r:.80} as batch.")
        ids = np.asarray(batch.ids)
        same = ids[:, None] == request.ids
        rows = same.argmax(axis=1)
        if not same.any(axis=1).all() or not is_open[rows].all() or len(np.unique(rows)) < len(rows):
            first, last = request.ids.min(), request.ids.max()
            raise ValueError(
                f"Expected points that are open, each once, of ids {first} to {last}, got ids {_some(batch.ids)}: tell "
                "what the last ask() gave, every point once."
            )
        if not np.array_equal(batch.x, request.x[rows], equal_nan=True):
            raise ValueError("Expected a batch with the points of ask(), got other points under its ids: ask again.")
        return rows

    def _proceed(self) -> None:
        self._worker.work()
        if self._worker.error is not None:
            raise self._worker.error


def _some(ids: np.ndarray) -> str:
    """Return ids as text, the first few of many."""
    return ", ".join(str(one) for one in ids[:5]) + (", ..." if len(ids) > 5 else "")


def _numbers(value: ArrayLike, name: str, shape: tuple[int, ...]) -> Array:
    try:
        array = real_numbers(value, name)
    except OracleError as error:
        raise ValueError(str(error)) from None
    plain = array.ndim < 2 and array.size == np.prod(shape) and (len(shape) == 1 or 0 in shape or 1 in shape)
    if array.shape != shape and not plain:
        raise ValueError(
            f"Expected {name} of shape {shape} for the {shape[0]} points of ask(), got {array.shape}: one "
            f"{'number' if name == 'f' else 'row of m numbers'} per point."
        )
    return array
