"""The only road from a solver to a problem: counts, noise, shapes, failures and the best point queried so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeAlias

import numpy as np

from zoviz.core import defaults
from zoviz.core.errors import ZovizError
from zoviz.core.ranking import ON_BOUNDARY
from zoviz.core.sets import Set
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation, all_finite
from zoviz.core.units import Units, as_box
from zoviz.oracle.account import Account
from zoviz.oracle.answers import Answers
from zoviz.oracle.best_point import BestPoints, FirstBest
from zoviz.oracle.box_guard import kept_in
from zoviz.oracle.ledger import Purpose
from zoviz.oracle.memory import Memory
from zoviz.oracle.past import Known, PastPoints
from zoviz.oracle.quantum import digits, quantum
from zoviz.oracle.samples import UNLIMITED, XI, ZETA
from zoviz.oracle.stage import Stage
from zoviz.oracle.value_source import ValueSource
from zoviz.problems.base import Problem

Listener: TypeAlias = Callable[[Array, Evaluation], object]
_UNSAID = {True: Purpose.BASE, False: Purpose.DIRECTIONS}
"""What one point of each replica, shape (R, n), is for where nothing is said, and what more, shape (R, ..., n), are."""
_IDLE_SWEEPS = 20, 1000
"""Sweeps of n + 1 known points in a row after which a run goes round in a circle, at least and at most; in between, ten
times as many points as its budget has calls. No such budget would end it, and a step may take seconds."""


class Oracle:
    """The joint values (f, h) of one run's problem, for R replicas at once, charged to a budget of calls.

    Parameters
    ----------
    problem : Problem
    streams : Streams
        Source of the noise; also says R.
    budgets : mapping
        Budgets per replica by the names of ``COUNTED``, None is unlimited; other names are left alone. A request that
        would exceed one raises ``BudgetSpent`` before anything is evaluated.
    feasibility_tolerance : float, array of shape (m,), or None
        Largest h that counts as feasible, in the user's units. None: ``defaults.FEASIBILITY_TOLERANCE`` in units of
        each row's size, which ``set_units`` tells of a scaled black box, and 0 of one whose size is not known; of other
        problems sizes count as 1.
    source : ValueSource, optional
        Who answers in the problem's place, e.g. a log of what was paid for; default: the problem itself.
    listeners : sequence of callable
        Called with the points (k, n) of every request that are evaluated, and with their values, noise included, both
        in the user's units.
    remembers : bool
        Whether the value at a point that was evaluated before, to the bit, is given again at no call: under the
        contract "deterministic", where the problem is evaluated point by point. Calls for ``Purpose.NOISE`` are made
        all the same.
    proceed : callable, optional
        Called before every request is evaluated, and between the points of one that is evaluated point by point: what
        it raises ends the work, ``TimeSpent`` where no time is left.
    past : mapping, optional
        Points x (N, n) and values (N, 1 + m) from before, as a run's setting ``past`` has them.

    Attributes
    ----------
    account : Account
        What each replica has used, one joint call per point, and of which budgets.
    best : BestPoints
        The best feasible point of each replica so far.
    sampled : bool
        Whether there are samples to be counted: not under the contract "deterministic".
    active : ndarray of bool, shape (R,)
        Replicas that still run; a frozen one is neither evaluated nor charged. In a stage, those that it works for.
    all_active : bool
    run_active : ndarray of bool, shape (R,)
        Replicas that still run, in a stage too: what a thread that is not the run's may read.
    contract : str
        The noise of the values, "deterministic", "common" or "independent", as it was declared or as it is known now.
    noise_found : bool
        Whether it was found in the course of the run.
    units : Units or None
        How the points and values that a solver sees translate into the user's; None where they are the same.
    domain : Set
        X as the solver sees it.
    bounds : Box or None
        The box that no call may leave, as the solver sees it; None where there is none, or where it holds for iterates
        alone (``Problem.keeps_bounds``).
    failed : ndarray of bool, shape (R,)
        Replicas that cannot go on since the last ``freeze``; ``any_failed`` says whether there are some.
    first_best : FirstBest or None
        The best points so far, feasible or not, while a run that has set it begins.
    tolerance : Array, shape (m,)
        Largest h that counts as feasible, as the solver sees it.
    recalled, idle : ndarray of int, shape (R,)
        Points that were answered from memory, in all, and since the replica's last call.
    """

    def __init__(
        self,
        problem: Problem,
        streams: Streams,
        budgets: Mapping[str, Any] = UNLIMITED,
        feasibility_tolerance: float | Array | None = defaults.FEASIBILITY_TOLERANCE,
        source: ValueSource | None = None,
        listeners: Sequence[Listener] = (),
        remembers: bool = False,
        proceed: Callable[[], object] | None = None,
        past: Mapping[str, Any] | None = None,
    ) -> None:
        replicas = streams.replicas
        self._problem, self._streams, self._proceed, self._listeners = problem, streams, proceed, tuple(listeners)
        self.n, self.m, self.noise_found = problem.domain.n, problem.m, False
        self.contract = self._declared = problem.contract
        self.sampled = self.contract != "deterministic"
        self.account = Account(replicas, budgets)
        self._answers = Answers(problem, self.account, source, proceed)
        by_size = feasibility_tolerance is None and problem.scaled and not problem.analytic
        self.best = BestPoints(replicas, self.n, self.m, feasibility_tolerance, by_size)
        self.first_best: FirstBest | None = None
        self.tolerance = self.best.tolerance
        self._scales, self._exact = problem.noise_scales, not problem.stochastic
        self._noisy = self.sampled and bool(self._scales.any())
        self._iteration, self._sample, self._replicas = -1, None, np.arange(replicas)
        self._shared_noise: Any = None
        self._size: int | tuple[int, ...] = 1
        self._joint_parts = () if not self.sampled else (XI, ZETA) if problem.sampled_rows else (XI,)
        self.domain: Set = problem.domain
        self.bounds = self._user_bounds = as_box(problem.domain) if problem.keeps_bounds else None
        self.units: Units | None = None
        self._starts: tuple[Array, Array] | None = None  # in the solver's and in the user's units, (R, n) each
        self.remembers = remembers and problem.pointwise
        self._memory = Memory(replicas, self.n, self.m, self._lasting)
        self.recalled, self.idle = np.zeros(replicas, dtype=np.int64), np.zeros(replicas, dtype=np.int64)
        self.past = PastPoints.of(past, self.domain, self.m)
        self._stage: Stage | None = None
        self.active = self.run_active = np.ones(replicas, dtype=bool)
        self.failed, self.any_failed, self.all_active = np.zeros(replicas, dtype=bool), False, True
        self.resample()

    @property
    def calls(self) -> np.ndarray:
        """The calls of each replica so far, (R,) of int."""
        return self.account.calls

    @property
    def stands_still(self) -> bool:
        """Whether every active replica has asked for nothing but known points for very long, or there is one alone."""
        if not self.remembers:
            return False
        fixed = self.bounds is not None and bool((self.bounds.lower == self.bounds.upper).all())
        least, most = (0 if fixed else (self.n + 1) * sweeps for sweeps in _IDLE_SWEEPS)
        limit = self.account.limit
        most = most if limit is None or fixed else min(most, max(least, 10 * limit))
        return bool((self.idle > most)[self.active].all())

    def set_units(self, units: Units, sizes: Array | None = None) -> None:
        """Take points and return values in these units from now on; judge by sizes of rows, once they are known.

        Parameters
        ----------
        units : Units
        sizes : Array, shape (m,), optional
            Sizes of rows, which tolerances are relative to; 0 of one whose size is not known. Default: as said before.
        """
        self.units, self.domain = units, units.domain
        if self._starts is not None:
            self.begin_at(self._starts[1])
        self.bounds = None if self._user_bounds is None else as_box(units.domain)
        self.best.judge_by(self.best.sizes if sizes is None else sizes)
        self.tolerance = self.best.tolerance / units.h

    def begin_at(self, starts: Array) -> None:
        """Evaluate at these starts (R, n), in the user's units, to the bit, where a solver asks there in its own."""
        self._starts = starts if self.units is None else self.units.inverse(starts), starts

    def place(self, x: Array) -> Array:
        """Return where a solver's points, (R, n) or (R, q, n), are in the user's units: a start where it was given."""
        if self.units is None:
            return x
        place = self.units.point(x)
        if self._starts is not None:
            seen, starts = self._starts if x.ndim == 2 else (one[:, None] for one in self._starts)
            same = (x == seen).all(axis=-1, keepdims=True)
            place = np.where(same, starts, place) if same.any() else place
        return place

    def quantum(self, values: Array, scattered: bool = False) -> Array:
        """Return the step of every output (1 + m,) that is rounded, 0 of the others, by values (q, 1 + m), f first.

        Both as the solver sees them; the digits are those in the user's units.
        """
        size, level = self._size_and_level()
        return quantum(values * size + level, np.abs(level), scattered) / size

    def digits(self, values: Array, steps: Array) -> np.ndarray:
        """Return about how many digits values (q, 1 + m) of these steps have, (1 + m,); 0 where a step is 0."""
        size, level = self._size_and_level()
        return digits(values * size + level, steps * size)

    def _size_and_level(self) -> tuple[Array, Array]:
        """Return what a solver's values (..., 1 + m) are multiplied by, and what is added, for the user's."""
        if self.units is None:
            return np.ones(1 + self.m), np.zeros(1 + self.m)
        return np.append(self.units.f, self.units.h), np.append(self.units.level, np.zeros(self.m))

    def snapshot(self) -> dict[str, Any]:
        """Return counts, sample, noise and best points, under names that stores hold; arrays are copies.

        What follows from the problem, and the units, are not in it.
        """
        return {
            **self.account.snapshot(),
            **self.best.snapshot(),
            "active": self.active.copy(),
            "failed": self.failed.copy(),
            "noise_found": self.noise_found,
            "iteration": self._iteration,
            "size": self._size,
            "sample": self._sample,
            "shared_noise": self._shared_noise,
            "starts": None if self._starts is None else self._starts[1].copy(),
            "memory": self._memory.snapshot(),
            "recalled": self.recalled.copy(),
            "idle": self.idle.copy(),
            "past": None if self.past is None else self.past.snapshot(),
        }

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go where an oracle of the same problem, this one or another, was when it made the ``snapshot``."""
        self.account.restore(snapshot)
        self.best.restore(snapshot)
        self.active = self.run_active = snapshot["active"].copy()
        self.failed = snapshot["failed"].copy()
        self.all_active, self.any_failed = bool(self.active.all()), bool(self.failed.any())
        self.noise_found = snapshot["noise_found"]
        self.contract = "independent" if self.noise_found else self._declared
        if snapshot["starts"] is not None:
            self.begin_at(snapshot["starts"])
        if self.units is not None:
            self.set_units(self.units, snapshot["sizes"])
        self._iteration, self._size = snapshot["iteration"], snapshot["size"]
        self._sample, self._shared_noise = snapshot["sample"], snapshot["shared_noise"]
        self._memory.restore(snapshot["memory"])
        self.recalled, self.idle = snapshot["recalled"].copy(), snapshot["idle"].copy()
        if self.past is not None:
            self.past.restore(snapshot["past"])

    @property
    def may_differ(self) -> bool:
        """Whether two calls at one point may give other values: under any contract but noise of size 0 that we add."""
        added_alone = self._problem.analytic and not self._problem.stochastic and not self._problem.online
        return self.contract != "deterministic" and (self._noisy or not added_alone)

    @property
    def problem(self) -> Problem:
        """The problem, for views that need its kind (``FirstOrder``); a solver calls the oracle instead."""
        return self._problem

    @property
    def sample(self) -> Any:
        """The present sample xi; None where each call has its own, or there is none."""
        return self._sample

    def sample_for(self, shape: tuple[int, ...] = ()) -> Any:
        """Return the sample under which a batch's points are seen: the present one, or one drawn for each point."""
        if self.contract != "independent":
            return self._sample
        return self._problem.draw(self._iteration, self._streams, shape, self._size)

    def resample(self, size: int | tuple[int, ...] = 1) -> None:
        """Begin a new sample xi: from here on, points that share their noise share a new one.

        Parameters
        ----------
        size : int or tuple of int
            How much a stochastic problem draws at once: the size of its mini-batch.
        """
        self._iteration += 1
        self._size = size
        if self.sampled:
            self.account.samples.begin(size)
        if self.contract == "common" or self._problem.online:
            self._sample = self._problem.draw(self._iteration, self._streams, size=size)
            if self.contract == "common" and self._noisy:
                self._shared_noise = self._noise(())

    def affords(self, counts: np.ndarray) -> np.ndarray:
        """Whether each replica's budget covers ``counts`` (R,) more calls, (R,) of bool."""
        return self.account.affords(counts)

    @property
    def remaining(self) -> Array:
        """The number of calls that each replica's budget still covers, (R,); infinite without a budget."""
        return self.account.remaining

    def purpose(self, purpose: Purpose | Sequence[Purpose]) -> AbstractContextManager[None]:
        """Say in the ledger what the calls within are for; of two, the inner one counts.

        Where nothing is said, one point of each replica is a base point, and several are directions.

        Parameters
        ----------
        purpose : Purpose, or sequence of Purpose
            Of all replicas, or R of them, one for each.
        """
        return self.account.calls_for(purpose)

    @contextmanager
    def stage(
        self, limit: Array, replicas: np.ndarray, free: tuple[Array, Evaluation] | None = None
    ) -> Iterator[Stage]:
        """Serve one of several solvers for a while: counts, noise, best points and budget stay the run's.

        Inside, ``affords`` and ``remaining`` heed the limit as well as the budget; a replica that cannot pay for all
        the values that it asks for, or that the stage is over for, gets NaN instead of ``BudgetSpent`` for all, which
        ``ask`` alone raises. ``fail``, and a base point without a finite value, end the stage for a replica, not the
        run. Afterwards ``active`` and ``failed`` are as they were.

        Parameters
        ----------
        limit : Array, shape (R,)
            Calls of the whole run, per replica, at which the stage is over.
        replicas : ndarray of bool, shape (R,)
            Those that the stage is for; of these, the active ones take part.
        free : tuple of Array, shape (R, n), and Evaluation, optional
            A point of each replica and its joint value, where that does not change: it is remembered in the stage.

        Yields
        ------
        Stage
            What was answered and who failed so far.

        Raises
        ------
        ZovizError
            Within another stage.
        """
        if self._stage is not None:
            raise ZovizError("Expected one stage at a time, got a stage within another: leave the outer one first.")
        failed, any_failed, all_active = self.failed, self.any_failed, self.all_active
        memory = self._memory
        if free is not None:
            self._memory = self._with_known(*free)
        self.account.begin_stage(limit)
        self._stage = stage = Stage(len(limit))
        self.active = self.run_active & replicas
        self.failed, self.any_failed, self.all_active = stage.failed, False, bool(self.active.all())
        try:
            yield stage
        finally:
            self._memory, self._stage, self.active = memory, None, self.run_active
            self.account.end_stage()
            self.failed, self.any_failed, self.all_active = failed, any_failed, all_active

    def announce(self, x: Array) -> None:
        """Say that later requests of a lone replica have these points (k, n): after the next one's, workers begin them.

        They are charged when they are requested.
        """
        self._answers.ahead = list(kept_in(self.place(x[None]), np.ones((1, len(x)), dtype=bool), self._user_bounds)[0])

    def __call__(self, x: Array, mask: np.ndarray | None = None) -> Evaluation:
        """Evaluate the black box.

        Parameters
        ----------
        x : Array, shape (R, n) or (R, q, n)
            A base point, or q probes, for each replica.
        mask : ndarray of bool, shape (R, q), optional
            Which of the probes to evaluate and charge; default: all. Noise is drawn for all of them, so that what one
            replica sees does not depend on how many points another wants.

        Returns
        -------
        Evaluation
            f of shape (R,) or (R, q), h with m more; NaN where the point failed, was masked out or its replica is
            frozen, in a ``stage`` also where the replica cannot pay.

        Raises
        ------
        BudgetSpent
            Before evaluating, if the budgets of calls and samples do not allow it.
        TimeSpent
            Where no time is left. Before this and any other exception, what was evaluated of the request by then is
            charged and entered.
        OracleError
            If the black box returns other shapes.
        ZovizError
            Before evaluating, for a point outside bounds that hold for every call. What only round-off took outside is
            evaluated on the bound.
        """
        if self._stage is None and not (self._memory.filled or (self.remembers and self._lasting)):
            return self._paid_values(x, mask)
        return self._known_values(x, mask)

    def _known_values(self, x: Array, mask: np.ndarray | None) -> Evaluation:
        """Return values from memory, and the rest, for which in a stage each replica pays for all or none."""
        points = x[:, None] if x.ndim == 2 else x
        live = np.broadcast_to(self.active[:, None], points.shape[:2])
        live = live if mask is None else live & mask
        known, numbers = self._recall(points, live)
        paid = live & ~known
        if self._stage is not None:
            paid &= self.account.affords(paid.sum(axis=1))[:, None]
            self._stage.answered += (paid | known).sum(axis=1)
        value = Evaluation(numbers[..., 0], numbers[..., 1:])
        value = value if self.units is None else self.units.value(value)
        if paid.any():
            with self.account.calls_for(self.account.purpose or _UNSAID[x.ndim == 2]):
                value = self._paid_values(points, paid).where(paid, value)
        if self.remembers:
            count = known.sum(axis=1)
            self.recalled += count
            self.idle = np.where(paid.any(axis=1), 0, self.idle + count)
        if x.ndim == 3:
            return value
        value = Evaluation(value.f[:, 0], value.h[:, 0])
        self.fail(~value.finite)
        return value

    def probe(self, x: Array, mask: np.ndarray) -> Evaluation:
        """Return the values at a start x (R, n) of the replicas of a mask (R,), f (R,) and h (R, m); none fails by it.

        Who asks for them again pays nothing until the method ``has_begun``.
        """
        with self.purpose(Purpose.START):
            value = self(x[:, None], mask[:, None])
        if not (self.remembers and self._lasting):
            user = value if self.units is None else self.units.user_value(value)
            self._memory.enter(self.place(x)[:, None], user, mask[:, None])
        return Evaluation(value.f[:, 0], value.h[:, 0])

    @property
    def known(self) -> Known | None:
        """What is known from before the run, in the solver's units; None where nothing is."""
        return None if self.past is None else self.past.seen(self.units)

    def judge_past(self, value: Array) -> None:
        """Judge past values by the fresh one (1 + m,) at the best of them, in the user's units.

        Where values repeat past points are then answered from memory.
        """
        if self.past is not None:
            self.past.compare(value)
            if not self.may_differ and self.past.judge() and self.remembers:
                self._memory.know(self.past.x[self.past.whole], self.past.values[self.past.whole])

    def has_begun(self) -> None:
        """Forget the starts' values: a method that calls there again to see whether values repeat needs new ones."""
        self.first_best = None
        if not self.remembers:
            self._memory.clear()

    @property
    def _lasting(self) -> bool:
        return self.contract == "deterministic"

    def _recall(self, points: Array, live: np.ndarray) -> tuple[np.ndarray, Array]:
        """Return which of the points (R, q, n) are remembered, and their values (R, q, 1 + m) in the user's units."""
        outdated = self._memory.lasting and not self._lasting  # the values have turned out to be noisy
        if outdated or self.account.purpose is Purpose.NOISE or not self._memory.filled:
            return np.zeros(live.shape, dtype=bool), np.full((*live.shape, 1 + self.m), np.nan)
        return self._memory.recall(self.place(points), live)

    def _with_known(self, x: Array, value: Evaluation) -> Memory:
        """Return the memory with the values at points (R, n) in it; another one where there is none to be kept."""
        units, everyone = self.units, np.ones((len(x), 1), dtype=bool)
        memory = self._memory if self.remembers else Memory(len(x), self.n, self.m, True)
        place, value = self.place(x), value if units is None else units.user_value(value)
        known = memory.recall(place[:, None], everyone)[0]
        memory.enter(place[:, None], Evaluation(value.f[:, None], value.h[:, None]), ~known)
        return memory

    def _paid_values(self, x: Array, mask: np.ndarray | None, again: Array | None = None) -> Evaluation:
        """Charge the points, (R, n) or (R, q, n), of which ``mask`` says, and return their values, (R,) or (R, q).

        With ``again``, the same points in the user's units, the values are in these, and enter no best point.
        """
        units = self.units if again is None else None
        place = again if again is not None else x if units is None else self.place(x)
        due, own = self.active if mask is None else mask & self.active[:, None], self.contract == "independent"
        if mask is None:
            points = 1 if x.ndim == 2 else x.shape[1]
            bill = self.account.bill(points if self.all_active else points * due, self._joint_parts, own, points)
        else:
            bill = self.account.bill(due.sum(axis=1), self._joint_parts, own)
        place = place if self._user_bounds is None else kept_in(place, due, self._user_bounds)
        if self._proceed is not None:
            self._proceed()
        everywhere = due is self.active and self.all_active
        value, due, broken = self._answers.joint(place, due, self.sample_for(x.shape[1:-1]), everywhere, own)
        if broken is not None:  # what was found until then counts, and is not lost
            bill = self.account.bill(due.reshape(len(due), -1).sum(axis=1), bill.parts, own)
        self.account.pay(bill, _UNSAID[x.ndim == 2])
        if not (all_finite(value.f) and all_finite(value.h)):
            value = self._count_failures(x, value, due)
        if self._exact and again is None:
            self.best.take(x, place, value, self.domain)
        if self._noisy:
            noise = self._shared_noise if self.contract == "common" else self._noise(x.shape[1:-1])
            if self.contract == "common" and x.ndim == 3:
                noise = noise[:, None]
            value = Evaluation(value.f + noise[..., 0], value.h + noise[..., 1:])
        for listener in self._listeners:
            points, f, h = place[due], value.f[due], value.h[due]
            listener(points.reshape(-1, self.n), Evaluation(f.reshape(-1), h.reshape(f.size, self.m)))
        if self.first_best is not None:
            self.first_best.take(place, value, self.best.tolerance, self.domain.contains(x, ON_BOUNDARY))
        if self.remembers and self._lasting and x.ndim == 3:
            self._memory.enter(place, value, due)
        if broken is not None:
            raise broken
        return value if units is None else units.value(value)

    def again(self, place: Array, replicas: np.ndarray, kept: bool = True) -> Evaluation:
        """Call a point of each replica once more, at the same bits, and charge it; a change of units might alter them.

        What they give enters no best point.

        Parameters
        ----------
        place : Array, shape (R, n)
            In the user's units.
        replicas : ndarray of bool, shape (R,)
            Those that call theirs.
        kept : bool
            Whether a log keeps the values for a run that goes on; not those of a check at its end, which that run would
            not make there.

        Returns
        -------
        Evaluation
            f (R,) and h (R, m) in the user's units; NaN for the other replicas, and where a call failed.
        """
        x = place if self.units is None else self.units.inverse(place)
        self._answers.kept = kept
        try:
            value = self._paid_values(x[:, None], replicas[:, None], place[:, None])
        finally:
            self._answers.kept = True
        return Evaluation(value.f[:, 0], value.h[:, 0])

    def expect_noise(self) -> None:
        """Take calls at one point to differ from now on, each independently of the others."""
        self.noise_found, self.contract = True, "independent"

    def ask(
        self,
        kind: str,
        method: Callable[..., Array | tuple[Array, ...]],
        shapes: tuple[tuple[int, ...], ...],
        places: tuple[Array, ...],
        sample: Any,
        part: int = XI,
    ) -> tuple[Array, ...]:
        """Evaluate what is no joint value, e.g. a gradient, for one call a point.

        A result that is not finite is counted as a failure; at a replica's own point, where there are no others to go
        on with, it is reported by ``fail``.

        Parameters
        ----------
        kind : str
            Its name in ``counts``.
        method : callable
            Maps the places and the sample to one array, or to a tuple of arrays.
        shapes : tuple of tuple of int
            Of these arrays.
        places : tuple of Array, shapes (R, ..., n), (R, ..., d), ...
            Arguments of the method, the points first.
        sample : object
            Its replica axis first; None where there is none.
        part : int
            The part of the sample that it is asked of, which is counted unless it is an earlier sample.

        Returns
        -------
        tuple of Array
            NaN in the rows of frozen replicas, which are not evaluated.

        Raises
        ------
        BudgetSpent
            Before evaluating, if the call budget does not allow it.
        TimeSpent
            Before evaluating, where no time is left.
        """
        first, ordinal = places[0], int(self.account.calls.sum())
        places = kept_in(first, self.active, self._user_bounds), *places[1:]
        self._charge(kind, first, (part,) if self._is_new(sample) else ())
        if self.all_active:
            arrays = self._answers.others(ordinal, kind, method, shapes, places, sample, self._replicas)
            return self._count_missing(arrays, first)
        rows = np.flatnonzero(self.active)
        out = tuple(np.full(shape, np.nan) for shape in shapes)
        if rows.size:
            lean = tuple((rows.size, *shape[1:]) for shape in shapes)
            seen = tuple(place[rows] for place in places), None if sample is None else sample[rows]
            arrays = self._answers.others(ordinal, kind, method, lean, *seen, rows)
            for whole, one in zip(out, arrays, strict=True):
                whole[rows] = one
        return self._count_missing(out, first)

    def _count_missing(self, arrays: tuple[Array, ...], points: Array) -> tuple[Array, ...]:
        """Count what is not finite at points (R, ..., n); a replica that has nothing else fails."""
        if all(np.isfinite(array).all() for array in arrays):
            return arrays
        axes = points.ndim - 1
        good = np.logical_and.reduce([np.isfinite(one).reshape(*one.shape[:axes], -1).all(axis=-1) for one in arrays])
        bad = ~good.reshape(len(points), -1) & self.active[:, None]
        self._count_bad(points, bad)
        if axes == 1:
            self.fail(bad[:, 0])
        return arrays

    def see(self, part: int) -> None:
        """Count a part of the present sample that an active replica sees without a call, such as a sampled row.

        Raises
        ------
        BudgetSpent
            Where samples would exceed their budget.
        """
        if self.sampled:
            own, points = self.contract == "independent", self.active.astype(np.int64)
            samples = self.account.samples
            samples.pay((part,), points, own, samples.bill((part,), points, own))

    def _is_new(self, sample: Any) -> bool:
        """Whether asking of this sample may count: where it is the present one, or drawn for these points."""
        return self.sampled and (self.contract == "independent" or sample is self._sample)

    def _charge(self, kind: str, places: Array, parts: tuple[int, ...]) -> None:
        """Pay a call for each of the points (R, ..., n), and samples; ``BudgetSpent`` before anything is counted."""
        if self._proceed is not None:
            self._proceed()
        points = math.prod(places.shape[1:-1])
        paid: Any = points if self.all_active and self._stage is None else points * self.active
        if self._stage is not None and not self.account.affords(paid).all():
            raise self.account.exhausted()
        bill = self.account.bill(paid, parts, self.contract == "independent", points)
        if self._stage is not None:
            self._stage.answered += paid
        self.account.pay(bill, _UNSAID[places.ndim == 2])
        self.account.enter_kind(kind, paid)

    def freeze(self, mask: np.ndarray) -> None:
        """Stop evaluating and charging the replicas of a mask (R,) of bool."""
        self.active &= ~mask
        self.all_active = bool(self.active.all())
        self.failed[:] = False
        self.any_failed = False

    def fail(self, mask: np.ndarray | np.bool) -> None:
        """Report replicas that cannot go on, e.g. because every direction of a batch failed.

        They are not evaluated any more from here on: what a step still derives from NaN is not shown to the black box.
        """
        self.failed |= mask & self.active
        self.any_failed = bool(self.failed.any())
        self.active &= ~self.failed
        self.all_active = bool(self.active.all())

    def _count_failures(self, x: Array, value: Evaluation, due: np.ndarray) -> Evaluation:
        bad = ~value.finite
        bad &= due if due.shape == bad.shape else due[:, None]
        if not bad.any():
            return value
        self._count_bad(x, bad.reshape(len(bad), -1))
        if x.ndim == 2:
            self.fail(bad)
        return Evaluation(np.where(bad, np.nan, value.f), np.where(bad[..., None], np.nan, value.h))

    def _count_bad(self, x: Array, bad: np.ndarray) -> None:
        """Count failed points among x (R, ..., n), given as a mask (R, q)."""
        counts = bad.sum(axis=1)
        self.account.fail(counts, _UNSAID[x.ndim == 2])

    def _noise(self, shape: tuple[int, ...]) -> Array:
        return self._scales * self._problem.draw_noise(self._streams, shape)
