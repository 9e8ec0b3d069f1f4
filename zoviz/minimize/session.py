"""The session behind ``minimize``: one black box, one budget, one answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import islice
from numbers import Integral, Real
from typing import Any

import numpy as np

from zoviz.certainty.certainty import exact
from zoviz.certainty.judge import Judge
from zoviz.core import defaults
from zoviz.core.errors import OracleError, TimeSpent
from zoviz.core.ranking import first_by_means, is_feasible
from zoviz.core.seeds import fresh_seeds
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.threads.stopwatch import Stopwatch
from zoviz.core.types import Array, Evaluation
from zoviz.evaluation.function_call import Failure
from zoviz.minimize.answer import Answer, Facts
from zoviz.minimize.best_point import BestPoint
from zoviz.minimize.callbacks import adapted
from zoviz.minimize.scipy_arguments import set_options
from zoviz.oracle.noise_watch import LEAST_BUDGET, NoiseWatch, unlike
from zoviz.oracle.value_source import FoundValues
from zoviz.problems.base import Problem
from zoviz.problems.noise import UNKNOWN
from zoviz.problems.user.base import Simulation
from zoviz.runs.engine import start
from zoviz.runs.engine.observer import RunObserver, StepCallback
from zoviz.runs.engine.result import OptimizeResult, Result, ending_of
from zoviz.runs.engine.spec import RunSpec
from zoviz.runs.engine.stopping import Ending, Limits, RunStatus
from zoviz.runs.engine.trace import Trace
from zoviz.runs.run import Run
from zoviz.solvers.base import Solver
from zoviz.solvers.portfolio.choice import matched

REPEATS = 2
"""Further calls at the start that tell whether values are noisy."""

MEANS = 16
"""Under noise, calls that decide between the best point queried and the last iterate; at most a tenth of the budget."""

RETREATS = 20
"""Without noise, calls between the best feasible point and the last iterate; at most a twentieth of the budget."""


class Session:
    """A problem on its way to an ``OptimizeResult``, with the best point of all that is evaluated.

    Parameters
    ----------
    problem : Problem
        Nobody else's: its noise may be set.
    max_calls : int, optional
        Calls in all; default 1000 (n + 1).
    noise_is_known : bool
        Whether the problem's noise was said, and need not be found out.
    settings : dict
        Settings of the run, by name.
    """

    def __init__(
        self, problem: Problem, max_calls: int | None, noise_is_known: bool, settings: Mapping[str, Any]
    ) -> None:
        self._problem, self._settings = problem, dict(settings)
        domain = problem.domain
        self._best, self._judge = BestPoint(settings["tolerance"], domain), Judge(problem)
        self._max_calls = defaults.calls_for(domain.n) if max_calls is None else _whole(max_calls, "max_calls", 1)
        # A person's own class of problems has no word for a noise that nobody knows.
        unsaid = UNKNOWN if isinstance(problem, Simulation) else "deterministic"
        self._noise_is_known = noise_is_known or problem.analytic or problem.noise != unsaid
        self._replicas = _whole(self._settings["replicas"], "replicas", 1)
        if self._max_calls < self._replicas:
            raise ValueError(
                f"Expected max_calls to leave a call for each of {self._replicas} replicas, got {self._max_calls}: "
                "raise it."
            )
        self._all_fixed = isinstance(domain, Box) and bool((domain.lower == domain.upper).all())
        self._streams = Streams(_whole(settings["seed"], "seed", 0) + 1, 1)  # of noise and seeds outside of the run
        seconds = self._settings["seconds"]
        # One clock, the run's too; what is no number is refused with the run's settings.
        self._clock, self._asked = Stopwatch(), False
        self._limits = Limits(seconds=float(seconds) if isinstance(seconds, Real) else None)
        if isinstance(problem, Simulation):
            problem.lend_evaluator()

    def solve(
        self,
        method: str | Solver | type[Solver],
        options: Mapping[str, Any],
        callback: Callable[..., object] | None,
    ) -> OptimizeResult:
        """Examine the black box, run a solver and choose the answer; where bounds fix every variable, it is the start.

        Parameters
        ----------
        method : str, Solver or its class
        options : mapping
            Parameters of the solver, by name.
        callback : callable, optional
        """
        call = None if callback is None else adapted(callback)  # first: where it is refused nothing is paid
        facts, value = self.examine()
        if self._all_fixed:
            self._best.enter(*value)
            solver, reason = self._solver(method, options, 1)
            note = "The bounds leave no variable free, so one call is enough."
            return self._folded(facts, self._best_answer(0, 0), type(solver).__name__, None, [reason, note])
        if facts.noisy and self._problem.contract == "deterministic":
            self._problem.param.update(noise="independent", noise_scale=0.0)  # its own, and none is added
        left = self._max_calls - facts.calls
        spare = max(left - self._replicas, 0)  # every replica has a call at least
        reserve = min(self._repeats(facts), spare)
        solver, reason = self._solver(method, options, max(1, (left - reserve) // self._replicas))
        reserve = reserve or min(self._retreats(solver), spare)
        calls = (left - reserve) // self._replicas
        if calls < 1:
            self._best.enter(*value)
            note = f"The budget of {self._max_calls} calls covers the start alone."
            return self._folded(facts, self._best_answer(0, 0), type(solver).__name__, None, [reason, note])
        run = Run.of(RunSpec(self._problem, solver, **self._settings | {"calls": calls}))
        if (sentence := self._limits.time_spent(self._clock.now)) is not None:  # the first calls took all of it
            self._best.enter(*value)
            return self._folded(facts, self._best_answer(0, 0), type(solver).__name__, None, [reason, sentence])
        noise = self._finish(run, facts, reserve, None if call is None else self._observer(call, run, facts))
        if noise.found:
            left = self._max_calls - facts.calls - int(run.result.calls.sum())
            facts = facts._replace(noisy=True)
            reserve = min(self._repeats(facts), left)
        answer = self.answer(run, facts, min(reserve, self._means()) if facts.noisy else reserve)
        answer = self._judged(answer, run, facts, reserve - answer.calls)
        # A run that spent its budget in mid-step still tells by its last state what was at work.
        apart = self._apart(calls) if reason or run.spent_calls else ""
        notes = [reason, run.message, apart, "" if run.state is None else run.solver.closing_note(run.state)]
        return self._folded(facts, answer, type(run.solver).__name__, run, notes)

    def _finish(self, run: Run, facts: Facts, reserve: int, observer: Callable[[], None] | None) -> NoiseWatch:
        """Carry out a run that leaves ``reserve`` calls for the answer, more if it finds noise; return its watch."""
        worker = run.prepare(
            _Recording(self._best, self._judge), *([] if observer is None else [StepCallback(observer)])
        )
        worker.noise.kept = max(0, math.ceil((self._repeats(facts._replace(noisy=True)) - reserve) / self._replicas))
        worker.clock = self._clock
        if facts.noisy and self._limits["seconds"] is not None:  # means take time, too
            worker.kept_seconds = min(
                reserve * self._clock.now / (facts.calls + facts.starts), 0.1 * self._limits["seconds"]
            )
        worker.work()
        try:
            run.wait()
        except OracleError:
            if run.frozen < self._replicas:  # else the points queried so far are an answer
                raise
        return worker.noise

    def examine(self) -> tuple[Facts, tuple[Array, Evaluation]]:
        """Count the constraints, and see whether values are noisy, at the run's first start that has a value; charged.

        Returns
        -------
        Facts
        tuple of Array, shape (1, n), and Evaluation
            That start and its value.

        Raises
        ------
        OracleError
            Where there is no value at the start, nor at others in its place.
        """
        kept = self._first_values()
        place, value, _ = kept[-1]
        if isinstance(value, Failure) or not value.finite:
            raise start.no_value(self._problem, len(kept), value)
        noisy, calls = self._problem.contract != "deterministic", 0
        if not (self._noise_is_known or self._all_fixed or self._max_calls < LEAST_BUDGET):
            try:
                again, made = self._values(np.repeat(place[None], REPEATS, axis=0))
            except BaseException:  # also Ctrl-C: the first value is not lost
                self._best.enter(place[None], Evaluation(value.f[None], value.h[None]))
                raise
            calls = int(made.sum())
            noisy = noisy or bool(unlike(again.stacked, value.stacked)[made].any())
        if not isinstance(self._problem, Simulation):
            return Facts(noisy, calls + len(kept), 0), (place[None], Evaluation(value.f[None], value.h[None]))
        for outcome in kept:
            self._problem.keep(*outcome)
        return Facts(noisy, calls, len(kept)), (place[None], Evaluation(value.f[None], value.h[None]))

    def _first_values(self) -> list[tuple[Array, Evaluation | Failure, np.ndarray | None]]:
        """Return the run's first starts (n,), to the one that has a value, their outcomes, and the seeds it draws."""
        problem, streams, xi = self._problem, Streams(self._settings["seed"], 1), None
        most = start.tries((self._max_calls - REPEATS - RETREATS) // self._replicas)
        kept: list[tuple[Array, Evaluation | Failure, np.ndarray | None]] = []
        starts = start.candidates(problem, Streams(self._settings["seed"], self._replicas))
        for x, new in islice(starts, min(self._max_calls, 1 + most)):
            if not new[0]:
                continue
            if kept and self._limits.time_spent(self._clock.now) is not None:
                break
            xi = problem.draw(0, streams) if problem.seeds and (not kept or problem.contract == "independent") else xi
            value = self._first_value(x[0], xi)
            kept.append((x[0], value, xi))
            if isinstance(value, Failure):
                if isinstance(problem, Simulation) and problem.on_error == "raise" and not value.counted:
                    raise value.error
            elif value.finite:
                break
        return kept

    def _first_value(self, place: Array, xi: np.ndarray | None) -> Evaluation | Failure:
        if not isinstance(self._problem, Simulation):
            return self._values(place)[0]
        self._asked = True
        with self._clock:
            return self._problem.probe(place, xi)

    def _values(self, x: Array) -> tuple[Evaluation, np.ndarray]:
        """Return the values at points (..., n), noise included, which are entered into the best point.

        Of points (..., k, n) each of the k has a new seed, which those of the other axes share.

        Returns
        -------
        Evaluation
            NaN where no time was left.
        ndarray of bool, shape (...)
            Where a call was made.
        """
        problem = self._problem
        value, made = self._evaluated(x)
        if problem.contract != "deterministic" and problem.noise_scales.any():
            noise = problem.noise_scales * problem.draw_noise(self._streams, value.f.shape)[0]
            value = Evaluation(value.f + noise[..., 0], value.h + noise[..., 1:])
        count = value.f.size
        self._best.enter(x.reshape(count, -1), Evaluation(value.f.reshape(count), value.h.reshape(count, problem.m)))
        return value, made

    def _evaluated(self, x: Array) -> tuple[Evaluation, np.ndarray]:
        """Return the values at points (..., n), as far as there is time, NaN elsewhere, and where a call was made."""
        points, problem = x.reshape(-1, x.shape[-1]), self._problem
        seeds = fresh_seeds(self._streams, x.shape[:-1]) if problem.seeds else None
        found = FoundValues(len(points), problem.m, self._check_time)
        try:
            with self._clock:
                self._check_time()
                if not problem.pointwise:
                    return problem.evaluate(x, seeds), np.ones(x.shape[:-1], dtype=bool)
                problem.collect(points, found.enter, seeds)
        except TimeSpent:
            pass
        except BaseException:  # likewise, what was found
            value, made = found.placed(np.ones(len(points), dtype=bool))
            self._best.enter(points[made], Evaluation(value.f[made], value.h[made]))
            raise
        return found.placed(np.ones(x.shape[:-1], dtype=bool))

    def _check_time(self) -> None:
        """Raise ``TimeSpent`` where the budget of seconds is spent; a first request is always made."""
        asked, self._asked = self._asked, True
        if asked and (sentence := self._limits.time_spent(self._clock.now)) is not None:
            raise TimeSpent(sentence)

    def answer(self, run: Run, facts: Facts, reserve: int) -> Answer:
        """Choose the point to be returned after a run, with at most ``reserve`` further calls."""
        result, noise = run.result, None if run.worker is None else run.worker.noise
        leader = _leader(result)
        if facts.noisy and reserve >= 4 and self._limits.time_spent(self._clock.now) is None:
            last, sure = result.x[leader], not (noise and noise.unsure.any())
            if run.state is not None and run.solver.verifies(run.state) and np.isfinite(last).all() and sure:
                candidates = {"the point that the method verified": last}
            else:
                candidates = {"the best point queried": self._best.x, "the last iterate": last}
                if noise is not None and np.isfinite(noise.confirmed_x[leader]).all():
                    candidates["the last point that repeated"] = noise.confirmed_x[leader]
            return self._mean_answer(candidates, reserve)
        if noise is not None and noise.found:
            return self._unsure_answer(noise, leader)
        if noise is not None and noise.outliers:  # the best point that this session has seen may be one
            return self._answer_of_run(run, leader)
        if run.status is RunStatus.FINISHED and not facts.noisy:
            return self._best_answer(*self._retreat(result, reserve))
        return self._best_answer(0, 0)

    def _judged(self, answer: Answer, run: Run, facts: Facts, calls: int) -> Answer:
        """Return the answer with its certainty: by further calls under noise, else by what is known."""
        if not facts.noisy:
            multipliers = run.result.multipliers[_leader(run.result)]
            return answer._replace(certainty=exact(answer.x, answer.fun, answer.h, multipliers, self._best.tolerance))
        if calls < 1 or not self._judge.sees_noise or self._limits.time_spent(self._clock.now) is not None:
            return answer
        judged = self._judge.judge(answer.x, calls, self._values, self._streams.generator("certainty"))
        calls, failures = answer.calls + judged.calls, answer.failures + judged.failures
        return answer._replace(certainty=judged.certainty, calls=calls, failures=failures)

    def _apart(self, calls: int) -> str:
        """Return the sentence on calls that are not a replica's of the run; empty where there are none."""
        apart = self._max_calls - calls * self._replicas
        if not apart:
            return ""
        share = f"{calls} calls" if self._replicas == 1 else f"{calls} calls for each of {self._replicas} replicas"
        return f"The run had {share} of {self._max_calls}: {apart} were for the start and the answer."

    def _best_answer(self, calls: int, failures: int) -> Answer:
        """Return the best point queried."""
        best, note = self._best, ""
        if not best.feasible:
            words = best.words(best.h) if best.h.size else ""
            note = f"No feasible point was found among {best.points} queried: x is the least violating, {words}."
        elif best.violation > 0.0:
            note = f"x violates within the tolerance, {best.words(best.h)}."
        return Answer(best.x, best.f, best.h, note, calls, failures, best.feasible)

    def _unsure_answer(self, noise: NoiseWatch, replica: int) -> Answer:
        """Return the last point that repeated, else the best one queried: noise was found when no call was left."""
        answer = self._best_answer(0, 0)
        if np.isfinite(noise.confirmed_x[replica]).all():
            f, *h = noise.confirmed[replica]
            answer = answer._replace(x=noise.confirmed_x[replica], fun=float(f), h=np.array(h), feasible=True)
        if not noise.unsure.any() or not answer.feasible:
            return answer
        note = "Constraints are noisy, and no call was left to tell whether x is feasible: raise max_calls."
        return answer._replace(note=note, feasible=False)

    def _answer_of_run(self, run: Run, replica: int) -> Answer:
        """Return the best point of a run, whose values were called again, where some points had others."""
        oracle = run.worker.oracle if run.worker is not None else None
        if oracle is None or not np.isfinite(oracle.best_f[replica]):
            return self._best_answer(0, 0)._replace(feasible=False)
        x, f, h = oracle.best_x[replica].copy(), float(oracle.best_f[replica]), oracle.best_h[replica].copy()
        return Answer(x, f, h, "", 0, 0, True)

    def _means(self) -> int:
        """Return the number of calls that choose the answer under noise."""
        return min(MEANS, self._max_calls // 10)

    def _repeats(self, facts: Facts) -> int:
        """Return the number of calls that are left for choosing and judging the answer under noise; else 0."""
        return self._means() + self._judge.wants(self._max_calls) if facts.noisy else 0

    def _retreats(self, solver: Solver) -> int:
        """Return the number of calls that are left for choosing the answer without noise."""
        return 0 if solver.reports_best or not self._problem.m else min(RETREATS, self._max_calls // 20)

    def _solver(
        self, method: str | Solver | type[Solver], options: Mapping[str, Any], calls: int
    ) -> tuple[Solver, str]:
        """Return a clone of the solver that was named or is chosen, with its options set, and why it was chosen."""
        _, solver, reason = matched(self._problem, method, calls)
        solver = solver.clone()
        set_options(solver, options)
        return solver, reason

    def _observer(self, call: Callable[[OptimizeResult], bool], run: Run, facts: Facts) -> Callable[[], None]:
        """Return what calls an ``adapted`` callback, to be called after each iteration."""

        def observe() -> None:
            best, progress = self._best, run.progress
            calls = facts.calls + progress.calls * self._replicas
            so_far = {"x": best.x.copy(), "fun": best.f, "maxcv": best.violation, "h": best.h.copy()}
            if call(OptimizeResult(**so_far, nit=progress.iteration, calls=calls)):
                run.stop()

        return observe

    def _retreat(self, result: Result, calls: int) -> tuple[int, int]:
        """Bisect for the boundary between the best feasible point and a last iterate that is better but violates.

        Methods with multipliers approach a constraint from outside as often as from inside: the best feasible point
        is then an early one, while the last iterate violates by a hair.

        Returns
        -------
        int, int
            Calls that were made, and those of them without finite values.
        """
        best = self._best
        violation = np.where(np.isfinite(result.maxcv), result.maxcv, np.inf)
        r = int(violation.argmin())
        violates = not result.success[r] and 0.0 < violation[r] < np.inf
        if not (best.feasible and violates and result.fun[r] < best.f):
            return 0, 0
        inside, outside, failures = best.x, self._problem.domain.project(result.x[r]), 0
        for call in range(calls):
            middle = 0.5 * (inside + outside)
            value, made = self._values(middle[None])
            if not made.all():
                return call, failures
            finite = bool(value.finite.all())
            failures += not finite
            if finite and is_feasible(value.h, best.tolerance).all():
                inside = middle
            else:
                outside = middle
        return calls, failures

    def _mean_answer(self, candidates: Mapping[str, Array], calls: int) -> Answer:
        """Return the best of some points, by the words for them, as the means of repeated calls show."""
        finite = np.stack([np.where(np.isfinite(x), x, self._best.x) for x in candidates.values()])
        points, repeats = self._problem.domain.project(finite), calls // len(candidates)
        value, made = self._values(np.repeat(points[:, None], repeats, axis=1))
        if len(points) == 1:  # else they choose one, and are no fair witnesses of it
            self._judge.enter_fresh(
                np.repeat(points, repeats, axis=0)[made[0]], Evaluation(value.f[made], value.h[made])
            )
        good = value.finite
        calls, failures = int(made.sum()), int((made & ~good).sum())
        if not good.any():
            return self._best_answer(calls, failures)
        scaled, tolerance = self._best.in_units(value)
        index, means, margins = first_by_means(scaled, tolerance)
        i = int(index)
        feasible, surely = (bool(is_feasible(means.h[i], one)) for one in (tolerance + margins[i], tolerance))
        f, h = self._best.in_user_units(means)
        note = f"Values are noisy: x is {list(candidates)[i]}, fun and h are means of {good[i].sum()} calls there."
        if not feasible:
            note += f" No feasible point was found: in the mean x violates {self._best.words(h[i])}."
        elif not surely:
            words = self._best.words(h[i])
            note += f" In the mean x violates {words}, within twice the standard error: it may be feasible."
        return Answer(points[i], float(f[i]), h[i], note, calls, failures, feasible)

    def _folded(self, facts: Facts, answer: Answer, method: str, run: Run | None, notes: list[str]) -> OptimizeResult:
        """Return the answer with all that is to be said about it, and about the run, where there was one."""
        result = None if run is None else run.result
        notes = [*notes, answer.note]
        failures = answer.failures + (0 if result is None else int(result.failures.sum()))
        if failures:
            worker = None if run is None else run.worker
            reason = self._problem.failure_message if worker is None else worker.problem.failure_message
            notes.append(f"The black box returned {failures} non-finite values. {reason}".rstrip())
        positive = np.maximum(answer.h, 0.0)
        maxcv = float(positive.max(initial=0.0))
        calls = facts.calls + answer.calls + (facts.starts if result is None else int(result.calls.sum()))
        diverged = run is not None and len(run.divergences) == self._replicas
        ending = self._ending(run, answer)
        status = ending_of(ending, answer.feasible)
        if status is Ending.NOISE_FLOOR and answer.certainty is not None:
            notes.append(f"At the noise floor: another digit would take about {answer.certainty.next_digit:,} calls.")
        return OptimizeResult(
            message=" ".join(filter(None, notes)),
            x=answer.x,
            fun=answer.fun,
            success=status.success and answer.feasible and not diverged,
            feasible=answer.feasible,
            violation=math.hypot(*positive),
            maxcv=maxcv,
            constr_violation=maxcv,
            h=answer.h,
            status=status,
            nit=0 if result is None else result.nit,
            calls=calls,
            nfev=calls,
            failures=failures,
            multipliers=np.full(self._problem.m, np.nan) if result is None else result.multipliers[_leader(result)],
            best_x=answer.x.copy() if answer.feasible else np.full_like(answer.x, np.nan),
            best_fun=answer.fun if answer.feasible else np.nan,
            tolerance=np.full(len(answer.h), self._best.tolerance),
            certainty=answer.certainty,
            seed=self._settings["seed"],
            method=method,
            parameters={} if run is None else dict(run.parameters),
            trace=Trace() if result is None else result.trace,
        )

    def _ending(self, run: Run | None, answer: Answer) -> Ending:
        """Return why the run ended; without one, whether there was nothing to do or no call for it."""
        if run is None or run.worker is None:
            return Ending.NOTHING_TO_DO if self._all_fixed else Ending.BUDGET
        ending, sure = run.worker.ending, answer.certainty
        # What is left to gain cannot be told from nothing, and is less than what is not known of f.
        known = sure is not None and sure.noisy and sure.gain.low <= 0.0
        at_floor = known and sure is not None and sure.gain.high <= sure.f_x.high - sure.f_x.low < np.inf
        return Ending.NOISE_FLOOR if at_floor and ending in (Ending.BUDGET, Ending.TIME) else ending

    def result_so_far(self) -> OptimizeResult | None:
        """Return the best point of all that was evaluated, for who is about to see an exception; None without one."""
        best = self._best
        if not len(best.x):
            return None
        positive = np.maximum(best.h, 0.0)
        kind = "best feasible" if best.feasible else "least violating"
        return OptimizeResult(
            message=f"Ended by an exception: x is the {kind} of {best.points} points.",
            x=best.x.copy(),
            fun=best.f,
            success=False,
            violation=math.hypot(*positive),
            maxcv=float(positive.max(initial=0.0)),
            h=best.h.copy(),
            status=Ending.FAILED,
            feasible=best.feasible,
            calls=best.points,
            best_x=best.x.copy() if best.feasible else np.full_like(best.x, np.nan),
            best_fun=best.f if best.feasible else np.nan,
            seed=self._settings["seed"],
        )


class _Recording(RunObserver):
    """An observer that enters what a run evaluates into a best point, and keeps it for the judge."""

    def __init__(self, best: BestPoint, judge: Judge) -> None:
        self._best, self._judge = best, judge
        self.listener = self._enter

    def _enter(self, x: Array, value: Evaluation) -> None:
        self._best.enter(x, value)
        self._judge.enter(x, value)

    def sized(self, tolerance: Array) -> None:
        self._best.size(tolerance)


def _leader(result: Result) -> int:
    """Return the replica with the best feasible point, else the one that violates least now."""
    if np.isfinite(result.best_fun).any():
        return int(np.nanargmin(result.best_fun))
    return int(np.argmin(np.where(np.isfinite(result.maxcv), result.maxcv, np.inf)))


def _whole(value: Any, name: str, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"Expected {name} a whole number from {least}, got {value!r:.80}.")
    return int(value)
