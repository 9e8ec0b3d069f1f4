"""The outcome of a run, in SciPy's names."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.ranking import is_feasible
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Iterate
from zoviz.oracle import LedgerSums, Oracle
from zoviz.oracle.noise_watch import NoiseWatch
from zoviz.runs.engine import measures
from zoviz.runs.engine.columns import NORMAL_RESIDUAL, OBJECTIVE, VIOLATION
from zoviz.runs.engine.measures import Now
from zoviz.runs.engine.stopping import Ending, RunStatus
from zoviz.runs.engine.trace import Trace


class Polished(NamedTuple):
    """What a solver made of its iterates once, at the end (``Solver.polish``), replica axis first.

    Attributes
    ----------
    x : Array, shape (R, n)
    multipliers : Array, shape (R, m)
        Of h, with which ``normal_residual`` is measured.
    fun, violation : Array, shape (R,)
    normal_residual : Array, shape (R,)
        min ||v|| over v in grad f + A^T y + N_X at x and the multipliers y of the rows; NaN where it is not measured.
    """

    x: Array
    multipliers: Array
    fun: Array
    violation: Array
    normal_residual: Array


@dataclass(frozen=True)
class Result:
    """The outcome of a run, replica axis first, in the user's units.

    Attributes
    ----------
    x : Array, shape (R, n)
        The reported iterate.
    fun : Array, shape (R,)
        Its objective; exact where the problem is analytic.
    violation : Array, shape (R,)
        Its constraint violation, the Euclidean norm ||[h]_+||.
    maxcv : Array, shape (R,)
        Its largest constraint violation, max(0, h_1, ..., h_m).
    success : ndarray of bool, shape (R,)
        Whether x is feasible: x, fun and maxcv are finite, every h_i is within its tolerance, the values are known to
        be those at x, the replica was not frozen, and no noise was found in its constraints when no call was left.
    status : RunStatus
    message : str
        How the run ended; says so where no feasible point was found.
    ending : Ending
        Why it ended; ``FAILED`` while it goes on.
    nit : int
    calls : ndarray of int, shape (R,)
        Joint oracle calls.
    samples, zeta_samples : ndarray of int, shape (R,)
        Samples of xi, and of zeta (of rows, or of a follower's g), that were seen, mini-batches in full; 0 without
        noise.
    multipliers : Array, shape (R, m)
    best_x : Array, shape (R, n)
        Best feasible point among all that were queried, NaN where there is none.
    best_fun : Array, shape (R,)
        Its objective, NaN where there is none.
    h, best_h : Array, shape (R, m)
        The constraints at ``x``, where ``maxcv`` is of it, and at ``best_x``; NaN where they are not known.
    failures : ndarray of int, shape (R,)
        Non-finite values that the black box returned.
    seed : int
    trace : Trace
    tolerance : Array, shape (m,)
        Largest h_i that counts as feasible: as given, or relative to the size of the row h_i.
    polished : Polished or None
        What the solver made of its iterates once, at the end, by calls that are counted; None where it does no such
        thing, the run has not ended, or its budget was spent.
    ledger : LedgerSums
        What the calls were for; the numbers add up to ``calls``.
    form : str
        Whether the method was as its paper prints it, or by what it differed; empty for one that no paper prints.

    Notes
    -----
    Where values cost calls and ``x`` is an average of iterates, ``fun``, ``violation`` and ``maxcv`` are those of the
    last iterate: ``message`` says so, and ``success`` is False, as nothing is known of x itself.
    """

    x: Array
    fun: Array
    violation: Array
    maxcv: Array
    success: np.ndarray
    status: RunStatus
    message: str
    ending: Ending
    nit: int
    calls: np.ndarray
    samples: np.ndarray
    zeta_samples: np.ndarray
    multipliers: Array
    best_x: Array
    best_fun: Array
    h: Array
    best_h: Array
    failures: np.ndarray
    seed: int
    trace: Trace
    tolerance: Array
    ledger: LedgerSums
    form: str = ""
    polished: Polished | None = None


class Summarised(Protocol):
    """A run at work, as far as its outcome is made of it: its worker, which knows outcomes."""

    error: BaseException | None
    status: RunStatus
    message: str
    ending: Ending
    polished: Iterate | None
    noise: NoiseWatch
    streams: Streams
    trace: Trace

    @property
    def now(self) -> Now:
        """What a row is of."""


@np.errstate(all="ignore")  # an iterate that has run away is measured too
def summarise(run: Summarised) -> Result:
    """Return the outcome so far of a run that has begun."""
    now, failed = run.now, run.error is not None  # at one moment, as another thread may look at it
    oracle, problem = now.oracle, now.oracle.problem
    reached = _best_of_the_first(oracle) if now.state is None else _of_the_state(now, failed)
    feasible = np.isfinite(oracle.best.f)
    message = run.message or f"The run is {run.status}."
    if not feasible.all() and not problem.stochastic:
        missing = int((~feasible).sum())
        whom = "" if feasible.size == 1 else f" by {missing} of {feasible.size} replicas"
        message += f" No feasible point was found{whom}."
    if oracle.account.failures.any():
        message += f" The black box returned {int(oracle.account.failures.sum())} non-finite values."
        message += f" {problem.failure_message}" if problem.failure_message else ""
    note = "" if now.state is None else now.solver.closing_note(now.state)
    message += f" {note}" if note else ""
    if not reached.known.all():
        message += " No call was made at x, an average: fun, violation and maxcv are those of the last iterate."
    success = reached.known & np.isfinite(reached.x).all(axis=1) & np.isfinite(reached.fun)
    success &= is_feasible(reached.h, oracle.best.tolerance)  # NaN is not
    return Result(
        x=reached.x,
        fun=reached.fun,
        violation=reached.violation,
        maxcv=reached.maxcv,
        success=success & oracle.run_active & np.logical_not(run.noise.unsure),
        status=run.status,
        message=message,
        ending=ending_of(run.ending, feasible),
        nit=now.iteration,
        calls=oracle.calls.copy(),
        samples=oracle.account.samples.xi.copy(),
        zeta_samples=oracle.account.samples.zeta.copy(),
        multipliers=reached.multipliers,
        best_x=oracle.best.x.copy(),
        best_fun=np.where(feasible, oracle.best.f, np.nan),
        h=reached.h,
        best_h=oracle.best.h.copy(),
        failures=oracle.account.failures.copy(),
        seed=run.streams.seed,
        trace=run.trace,
        tolerance=oracle.best.tolerance.copy(),
        polished=_polished(now, run.polished),
        ledger=oracle.account.ledger.sums,
        form=now.solver.form(),
    )


def ending_of(ending: Ending, feasible: np.ndarray | bool) -> Ending:
    """Return why a run ended, by whether feasible points were found, (R,) of bool: without any, that is what counts."""
    return ending if np.any(feasible) or ending in (Ending.STOPPED, Ending.FAILED) else Ending.INFEASIBLE


class _Reached(NamedTuple):
    """The point x (R, n) that is reported, in the user's units, with fun and violation (R,), h and multipliers (R, m).

    ``known`` (R,) of bool: whether the values are those at x.
    """

    x: Array
    fun: Array
    violation: Array
    h: Array
    multipliers: Array
    known: np.ndarray

    @property
    def maxcv(self) -> Array:
        """The largest of 0 and h, (R,)."""
        out: Array = self.h.max(axis=1, initial=0.0)
        return out


def _best_of_the_first(oracle: Oracle) -> _Reached:
    """The best points that were evaluated before a method began."""
    first = oracle.first_best
    if first is None:
        raise ZovizError("Expected a run that has begun, got one without an evaluated point.")
    positive = np.maximum(first.value.h, 0.0)
    violation, unknown = np.sqrt(np.square(positive).sum(axis=1)), np.full(positive.shape, np.nan)
    known = np.ones(len(violation), dtype=bool)
    return _Reached(first.x, first.value.f, violation, first.value.h, unknown, known)


def _of_the_state(now: Now, failed: bool) -> _Reached:
    """The iterate that the solver reports; NaN where a run that ``failed`` cannot be measured."""
    measured, units = _measured(now, failed), now.oracle.units
    h, known = _constraints(now, failed)
    x, dual = now.solver.output(now.state), now.solver.iterate(now.state).dual
    y = np.empty((len(x), 0)) if dual is None else dual
    return _Reached(
        x=now.oracle.place(x),
        fun=measured[OBJECTIVE],
        violation=measured.get(VIOLATION, np.zeros(len(x))),
        h=h,
        multipliers=y if units is None or not y.shape[1] else units.dual(y),
        known=known,
    )


def _polished(now: Now, answer: Iterate | None) -> Polished | None:
    """The polished answer in the user's units, with its measures."""
    if answer is None:
        return None
    units, measured = now.oracle.units, measures.of_polished(now, answer)
    unknown = np.full(len(answer.x), np.nan)
    y = np.empty((len(answer.x), 0)) if answer.dual is None else answer.dual
    return Polished(
        x=now.oracle.place(answer.x),
        multipliers=y if units is None or not y.shape[1] else units.dual(y),
        fun=measured.get(OBJECTIVE, unknown),
        violation=measured.get(VIOLATION, unknown),
        normal_residual=measured.get(NORMAL_RESIDUAL, unknown),
    )


def _measured(now: Now, failed: bool) -> dict[str, Array]:
    """Measures of the present state; NaN where a run that failed cannot be measured, as its points are known."""
    try:
        return measures.metrics(now)
    except Exception:  # a user's function may raise anything: raised again, unless that is what the run failed by
        if not failed:
            raise
        unknown = np.full(now.oracle.calls.shape, np.nan)
        return {OBJECTIVE: unknown, VIOLATION: unknown.copy()}


def _constraints(now: Now, failed: bool) -> tuple[Array, np.ndarray]:
    """Return h (R, m) at the point that is measured, and whether that is the reported one, (R,) of bool."""
    problem, units = now.problem, now.oracle.units
    iterate, x = now.solver.iterate(now.state), now.solver.output(now.state)
    same = np.ones(len(x), dtype=bool)
    try:
        if problem.analytic or iterate.value is None:
            h = problem.evaluate(x).h if problem.m else np.empty((len(x), 0))
        else:
            h, same = iterate.value.h, (iterate.x == x).all(axis=1)
    except Exception:  # likewise
        if not failed:
            raise
        return np.full((len(x), max(problem.m, 1)), np.nan), same
    return h if units is None else h * units.h, same


class OptimizeResult(dict[str, Any]):
    """An answer of ``minimize``, as a dict whose entries are attributes too, like SciPy's.

    An entry that is a ``partial`` is called when it is first wanted.
    """

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"Expected one of {', '.join(self)}, got {name!r}.")
        return self[name]

    def __getitem__(self, name: str) -> Any:
        held = super().__getitem__(name)
        if isinstance(held, partial):
            self[name] = held = held()
        return held

    def get(self, name: str, default: Any = None) -> Any:
        """Return an entry, or ``default`` where there is none."""
        return self[name] if name in self else default

    def items(self) -> Any:
        """Return the entries with their names."""
        return {name: self[name] for name in self}.items()

    def values(self) -> Any:
        """Return the entries."""
        return {name: self[name] for name in self}.values()

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        del self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:>{width}}: {value!r:.200}" for name, value in self.items())


OUTCOME = tuple(
    one.name
    for one in fields(Result)
    if one.name
    not in ("status", "message", "ending", "nit", "seed", "trace", "polished", "ledger", "tolerance", "form")
)
"""Names of a result's arrays, which have a replica axis and are stored."""
