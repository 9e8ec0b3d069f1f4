"""The base class of a user's functions and a user's program: problems known by their values alone."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple, Self

import numpy as np
import param
from numpy.typing import ArrayLike

from zoviz.core.errors import described
from zoviz.core.parameters import ABSENT
from zoviz.core.seeds import seeds_of_points
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation, Optimum
from zoviz.evaluation.evaluators import Evaluator, Workers
from zoviz.evaluation.function_call import Failure, at
from zoviz.evaluation.scipy_constraints import Bounds, box, listed
from zoviz.evaluation.worker_log import WorkerTable
from zoviz.problems.base import Problem
from zoviz.problems.noise import UNKNOWN

WHILE_SEARCHING = "while searching"
"""What ``keep`` says of constraints that hold for every call, not for the answer alone."""
_REACHES = (1 / 64, 1 / 16, 1 / 4, 1.0)
"""Distances from a given start at which others are tried, as shares of the box."""


def kept_names(keep: str | Sequence[str] | None) -> str:
    """Return which constraints hold for every call, as ``keep`` has it: ``"while searching"``, or their names."""
    names = [keep] if isinstance(keep, str) else keep or ()
    if not isinstance(names, Sequence) or not all(isinstance(one, str) for one in names):
        raise ValueError(f'Expected keep as "while searching" or names of constraints, got {keep!r:.80}.')
    return ", ".join(names)


class _EarlyValue(NamedTuple):
    """The outcome of a call before the run that asks for it, at its place (n,), its seed, and the functions then."""

    place: Array
    seed: int
    outcome: Evaluation | Failure
    functions: tuple[Any, ...]


class Simulation(Problem):
    """A problem computed outside zoviz: its box, its start, its evaluator, and the handling of failures.

    A subclass defines ``call``, which gives the value at one point, or why there is none; and ``_count_constraints``,
    where m may be left open.

    Parameters
    ----------
    bounds, x0, m_constraints, workers, timeout, on_error, keep, variable_names, constraint_names
        As for ``BlackBox``.
    """

    __abstract = True

    analytic = False
    partial = True

    bounds: param.Parameter[Bounds | None] = param.Parameter(
        default=None, label="Bounds", doc="Bounds of the variables: n pairs (lower, upper)."
    )
    x0: param.Parameter[ArrayLike | None] = param.Parameter(
        default=None, label="Start x0", doc="Starting point, n numbers; None: drawn uniformly in the bounds."
    )
    m_constraints = param.Integer(
        default=None,
        allow_None=True,
        bounds=(0, None),
        label="Constraints m",
        doc="Number of constraints; None: found by a call.",
    )
    optimal_value = param.Number(
        default=None, allow_None=True, label="Known optimum f*", doc="Least f, if you know it.", metadata=ABSENT
    )
    scaled = param.Boolean(default=True)
    keeps_bounds = param.Boolean(
        default=True,
        precedence=-1,
        label="Keep the bounds",
        doc="Whether every call stays inside the bounds. No: methods may leave them, as published.",
    )
    workers: param.Parameter[Workers | None] = param.Parameter(
        default=None, constant=True, label="Workers", doc="Processes, or an executor; None: one call after the other."
    )
    timeout = param.Number(
        default=None,
        allow_None=True,
        bounds=(0, None),
        inclusive_bounds=(False, True),
        constant=True,
        precedence=-1,
        label="Timeout in s",
        doc="Time limit of one call in seconds; a longer call is stopped and counts as failed.",
    )
    on_error: param.Selector[str] = param.Selector(
        default="raise",
        objects=["raise", "fail"],
        precedence=-1,
        label="On an error",
        doc="raise: what the function raises ends the run. fail: the point counts as failed.",
    )
    keep = param.String(
        default="",
        label="Keep constraints",
        doc='"while searching": no call may violate a constraint. Or the names (h1, h2, ...) of the constraints '
        "that no call may violate. Blank: constraints must hold for the answer only.",
    )
    variable_names: param.Parameter[Sequence[str] | None] = param.Parameter(
        default=None,
        precedence=-1,
        label="Names of x",
        doc="Names of the n variables in tables; None: x1, x2, ...",
        metadata=ABSENT,
    )
    constraint_names: param.Parameter[Sequence[str] | None] = param.Parameter(
        default=None,
        precedence=-1,
        label="Names of h",
        doc="Names of the m constraints in tables; None: h1, h2, ...",
        metadata=ABSENT,
    )
    seeds = param.Boolean(
        default=False,
        precedence=-1,
        label="Takes a seed",
        doc="Whether a call takes a random seed, a whole number, after x. The points of a batch share one seed.",
    )
    noise: param.Selector[str] = param.Selector(
        default=UNKNOWN,
        objects=[UNKNOWN, "deterministic", "common", "independent"],
        label="Noise of the values",
        doc="unknown: found during the run by repeated calls. deterministic: a call repeats exactly. common: all "
        "points of one iteration share their noise. independent: every call has its own noise.",
    )
    noise_scale = param.Number(
        default=0.0, bounds=(0, 1e9), label="Added noise scale σ", doc="Artificial noise on top of the function's own."
    )

    domain: Box

    def __init__(self, **params: Any) -> None:
        params |= {name: listed(params[name]) for name in ("bounds", "x0") if name in params}
        params |= {"keep": kept_names(params["keep"])} if "keep" in params else {}
        super().__init__(**params)
        self._declare_noise()
        self._early_values: dict[int, _EarlyValue] = {}
        self._tasks_ahead: dict[bytes, list[Any]] = {}  # with which workers have begun, by their points
        self._m = self.m_constraints
        self._place()
        self._evaluator = self._make_evaluator()
        self._lends_evaluator = False
        self._failure_message = ""

    def _declare_noise(self) -> None:
        """Have the points of a batch share their seed, unless something else was said."""
        if self.seeds and self.noise == UNKNOWN:
            self.noise = "common"

    def _place(self) -> None:
        """Set the box and the start by the parameters."""
        self.domain = box(self.bounds, self.x0)
        self._start = None if self.x0 is None else self._checked_start()

    def _forget(self, *events: param.parameterized.Event) -> None:
        """Follow parameters that are set later, all that were set together at once."""
        super()._forget(*events)
        self._declare_noise()
        names = {event.name for event in events}
        if names & {"bounds", "x0"}:
            self._place()
        if names & {"constraints", "joint", "m_constraints"}:
            self._m = self.m_constraints
        self._evaluator.close()  # its processes have the functions as they were
        self._evaluator = self._make_evaluator()

    @property
    def parallel_calls(self) -> int:
        """The number of workers, 1 where it is not a number."""
        return self._evaluator.parallel_calls

    def _make_evaluator(self) -> Evaluator:
        """Return the evaluator of points: serial, threads or processes."""
        return Evaluator(self.workers, self.timeout)

    def lend_evaluator(self) -> None:
        """Have clones use this problem's processes, for clones that evaluate one after another."""
        self._lends_evaluator = True

    def clone(self) -> Self:
        """Return a clone around the same functions or program, which shares the values that are kept for a run."""
        clone = super().clone()
        clone._m, clone._early_values = self._m, self._early_values
        if self._lends_evaluator:
            clone._evaluator, clone._lends_evaluator = self._evaluator, True
        return clone

    def _checked_start(self) -> Array:
        start = np.asarray(self.x0, dtype=float)
        if start.shape != (self.domain.n,):
            pairs = f"{self.domain.n} pair{'s' * (self.domain.n != 1)} of bounds"
            raise ValueError(
                f"Expected one number in x0 and one pair (lower, upper) in bounds per variable, got x0 of shape "
                f"{start.shape} and {pairs}: give as many of both."
            )
        lower, upper, inside = self.domain.lower, self.domain.upper, self.domain.project(start)
        outside = np.flatnonzero(~(np.abs(start - inside) <= self.domain.rounding))
        if outside.size:
            i = outside[0]
            raise ValueError(
                f"Expected x0 inside the bounds, got x0[{i}] = {float(start[i])!r} outside [{float(lower[i])!r}, "
                f"{float(upper[i])!r}]: move it inside, or widen the bounds."
            )
        return inside

    @property
    def n(self) -> int:
        """The number of variables, from the bounds or x0."""
        return self.domain.n

    @property
    def m(self) -> int:
        """The number of constraints; where it was not given, from one call of the constraints."""
        if self._m is None:
            self._m = self._count_constraints()
        return self._m

    def _count_constraints(self) -> int:
        raise ValueError(
            f"Expected m, the number of constraints, got none: {type(self).__name__}(..., m=<constraints>)."
        )

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the variables and of the constraints, n and m, as given.

        Raises
        ------
        ValueError
            Where their number is another one.
        """
        given = {"variable_names": self.variable_names, "constraint_names": self.constraint_names}
        out = []
        for (parameter, own), usual in zip(given.items(), super().labels, strict=True):
            if own is not None and len(own) != len(usual):
                raise ValueError(f"Expected {len(usual)} names in {parameter}, got {len(own)}: give one for each.")
            out.append(usual if own is None else tuple(map(str, own)))
        return out[0], out[1]

    @property
    def keeps_rows(self) -> bool:
        """Whether there are constraints that no call may violate."""
        return bool(self.keep)

    @property
    def kept_rows(self) -> np.ndarray:
        """Which constraints are, (m,) of bool, as ``keep`` says.

        Raises
        ------
        ValueError
            For a name that no constraint has.
        """
        names = self.labels[1]
        if self.keep == WHILE_SEARCHING:
            return np.ones(len(names), dtype=bool)
        kept = [name.strip() for name in self.keep.split(",") if name.strip()]
        if unknown := [name for name in kept if name not in names]:
            raise ValueError(
                f'Expected keep="{WHILE_SEARCHING}", or names of constraints, got {unknown[0]!r}: they are '
                f"{', '.join(names) or 'none'}."
            )
        return np.isin(names, kept)

    @property
    def start(self) -> Array:
        """The point x0, or the middle of the box in which starts are drawn, (n,)."""
        return self._start if self._start is not None else self.domain.sample(np.full(self.n, 0.5))

    @property
    def known_optimum(self) -> Optimum | None:
        """The optimum with the value that the user gave; its point is NaN."""
        if self.optimal_value is None:
            return None
        nothing = np.full(self.n, np.nan)
        return Optimum(self.optimal_value, nothing, np.full(self._m or 0, np.nan), "given with the problem")

    def initial(self, streams: Streams) -> Array:
        """Return x0 for every replica, or starts uniform in the box, (R, n)."""
        if self._start is None:
            return super().initial(streams)
        return np.repeat(self._start[None], streams.replicas, axis=0)

    def other_start(self, x0: Array, attempt: int, streams: Streams) -> Array:
        """Return other starts (R, n): drawn again; or in turn inwards from x0, around it, and anywhere."""
        if self._start is None:
            return super().other_start(x0, attempt, streams)
        unit, (turn, kind) = streams.uniform("other start", self.n), divmod(attempt - 1, 3)
        if kind == 2 or turn >= len(_REACHES):  # anywhere, or half of the way there
            return self.domain.project(x0 + (0.5 if attempt % 2 else 1.0) * (self.domain.sample(unit) - x0))
        reach = _REACHES[turn]
        if kind == 0:
            return self.domain.project(x0 + reach * (self.domain.sample(np.full(self.n, 0.5)) - x0))
        width = self.domain.upper - self.domain.lower
        width = np.where(np.isfinite(width), width, 2.0 * np.maximum(np.abs(x0), 1.0))
        return self.domain.project(x0 + reach * width * (unit - 0.5))

    @property
    def failure_message(self) -> str:
        """Why the first failed evaluation failed, in a sentence; empty if none did."""
        return self._failure_message

    @property
    def worker_table(self) -> WorkerTable:
        return self._evaluator.log.table

    def snapshot(self) -> dict[str, Any]:
        """Return the first failure's message, the number of constraints once it is known, and the workers' calls."""
        workers = self._evaluator.log.snapshot()
        return {"failure_message": self._failure_message, "m": self._m} | ({"workers": workers} if workers else {})

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Restore the message, the number of constraints and the workers' calls from a snapshot."""
        if "workers" in snapshot:
            self._evaluator.log.restore(snapshot["workers"])
        self._failure_message = self._failure_message or snapshot.get("failure_message", "")
        self._m = snapshot.get("m") if self._m is None else self._m

    @property
    def pointwise(self) -> bool:
        """True: every point can be evaluated independently of the others."""
        return True

    def release(self) -> None:
        """End the processes that evaluate; the next evaluation starts new ones."""
        self._evaluator.close()
        self._tasks_ahead.clear()

    def call(self, m: int | None) -> Callable[[Any], Any]:
        """Return what computes a task's value, or a ``Failure``; m None: as many constraints as come."""
        raise NotImplementedError(f"{type(self).__name__} must define call(m).")

    def _tasks(self, points: Array, xi: np.ndarray | None) -> list[Any]:
        """Return the points (k, n) one by one, with their seeds (k,), by default 0, where a call takes one.

        Of a point with which workers have begun already it is the task that they have.
        """
        if self.seeds:
            seeds = seeds_of_points(xi, len(points)).tolist()
            return [self._new_task(pair) for pair in zip(points, seeds, strict=True)]
        begun = [self._tasks_ahead.get(point.tobytes()) for point in points]
        return [own.pop(0) if own else self._new_task(x) for x, own in zip(points, begun, strict=True)]

    def _begun(self, ahead: Sequence[Array]) -> list[Any]:
        """Return tasks of calls at points (n,) ahead, which are known again by their points; none where they differ."""
        tasks = [] if self.seeds else [self._new_task(x.copy()) for x in ahead]
        for x, task in zip(ahead[: len(tasks)], tasks, strict=True):
            self._tasks_ahead.setdefault(x.tobytes(), []).append(task)
        return tasks

    def _new_task(self, task: Any) -> Any:
        """Return the task of a call that no worker has begun."""
        return task

    def probe(self, place: Array, xi: np.ndarray | None = None) -> Evaluation | Failure:
        """Evaluate at a place (n,) by one call, with a seed xi (1,)."""
        with closing(self._outcomes(self._tasks(place[None], xi))) as outcomes:
            return next(outcomes)[1]

    def keep_value(self, place: Array, outcome: Evaluation | Failure, xi: np.ndarray | None = None) -> None:
        """Keep the outcome of a call that was made ahead, at a place (n,) with seed xi (1,), for the run that asks."""
        seed = int(seeds_of_points(xi, 1)[0])
        self._early_values[id(outcome)] = _EarlyValue(place.copy(), seed, outcome, self._functions)

    @property
    def _functions(self) -> tuple[Any, ...]:
        """The functions that values are of."""
        return ()

    def _take_early_values(self, points: Array, xi: np.ndarray | None) -> dict[int, Evaluation]:
        """Take the values that are kept for some of the points (k, n) and seeds (k,), once each: by their numbers."""
        if self._m is None:
            self.count_constraints(points[0], None if xi is None else xi[:1])
        early: dict[int, Evaluation] = {}
        seeds = seeds_of_points(xi, len(points))
        for key, one in tuple(self._early_values.items()):
            rows = np.flatnonzero((points == one.place).all(axis=1) & (seeds == one.seed))
            same = all(own is other for own, other in zip(self._functions, one.functions, strict=True))
            # None where another run of the same functions has taken it meanwhile.
            if same and rows.size and int(rows[0]) not in early and self._early_values.pop(key, None) is not None:
                outcome = one.outcome
                early[int(rows[0])] = self._failed(outcome, one.place) if isinstance(outcome, Failure) else outcome
        return early

    def _completed(
        self, early: dict[int, Evaluation], count: int, others: Callable[[np.ndarray], Evaluation]
    ) -> Evaluation:
        """Return values f (count,) and h (count, m): the early ones, and what ``others`` says of the other points."""
        f, h = np.empty(count), np.empty((count, self.m))
        for i, value in early.items():
            f[i], h[i] = value
        rest = np.setdiff1d(np.arange(count), list(early))
        if rest.size:
            f[rest], h[rest] = others(rest)
        return Evaluation(f, h)

    def _outcomes(
        self, tasks: Sequence[Any], ahead: Sequence[Any] = ()
    ) -> Generator[tuple[int, Evaluation | Failure], None, None]:
        return self._evaluator.outcomes(self.call(self.m), tasks, ahead)

    def collect(
        self,
        points: Array,
        each: Callable[[int, Evaluation], object] | None = None,
        xi: np.ndarray | None = None,
        ahead: Sequence[Array] = (),
    ) -> Evaluation:
        """Evaluate points (k, n) by the evaluator, calling ``each`` as soon as a value is there.

        Parameters
        ----------
        points : Array, shape (k, n)
        each : callable, optional
            Called with the index and the value of a point as soon as it is there, in whatever order they come, and
            before who evaluated it begins another (but for executors of the user's, which are handed all at once).
        xi : ndarray of int, optional
            Their seeds: k, or fewer, each for as many points after the other.
        ahead : sequence of Array, shape (n,)
            Points of later calls, with which workers begin that have nothing else to do; their values are kept until
            then. Left out where calls take seeds, which are not known before.

        Raises
        ------
        OracleError
            For a value of the wrong shape. What a user's functions raise themselves goes through.
        """
        seeds = None if xi is None else seeds_of_points(xi, len(points))
        early = self._take_early_values(points, seeds) if len(points) else {}
        if each is not None:
            for i, value in early.items():
                each(i, value)

        def others(rest: np.ndarray) -> Evaluation:
            f, h = np.empty(len(rest)), np.empty((len(rest), self.m))
            tasks = self._tasks(points[rest], None if seeds is None else seeds[rest])
            with closing(self._outcomes(tasks, self._begun(ahead))) as outcomes:
                for i, value in outcomes:
                    f[i], h[i] = value = self._failed(value, points[rest[i]]) if isinstance(value, Failure) else value
                    if each is not None:
                        each(int(rest[i]), value)
            return Evaluation(f, h)

        return self._completed(early, len(points), others)

    def evaluate(self, x: Array, xi: np.ndarray | None = None) -> Evaluation:
        """Return values f (...) and h (..., m) at points (..., n), one by one; raises as ``collect`` does."""
        f, h = self.collect(x.reshape(-1, self.n), xi=xi)
        return Evaluation(f.reshape(x.shape[:-1]), h.reshape(*x.shape[:-1], self.m))

    def _failed(self, failure: Failure, x: Array) -> Evaluation:
        """Return NaN for a failure that counts as a value; raise any other."""
        if not failure.counted and self.on_error == "raise":
            raise failure.error
        self._failure_message = self._failure_message or f"The first failure, at {at(x)}: {described(failure.error)}"
        return Evaluation(np.full(x.shape[:-1], np.nan), np.full((*x.shape[:-1], self.m), np.nan))
