"""The answer of a run, chosen and judged: what examines the black box first, keeps calls, and makes them in the end."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import Any, Protocol, cast

import numpy as np

from zoviz.certainty.calls import Calls
from zoviz.certainty.certainty import Certainty, unknown
from zoviz.certainty.judge import Judge
from zoviz.certainty.own_calls import nearby, repeating
from zoviz.core.errors import OracleError, TimeSpent
from zoviz.core.ranking import first_by_means, is_feasible
from zoviz.core.seeds import fresh_seeds
from zoviz.core.sets import Box
from zoviz.core.streams import Mark, Streams
from zoviz.core.threads.stopwatch import Stopwatch
from zoviz.core.types import Array, Evaluation
from zoviz.evaluation.function_call import Failure
from zoviz.oracle.noise_watch import LEAST_BUDGET, NoiseWatch, unlike
from zoviz.oracle.past import PastPoints
from zoviz.oracle.value_source import FoundValues
from zoviz.problems.base import Problem
from zoviz.problems.noise import UNKNOWN
from zoviz.runs.engine import start
from zoviz.runs.engine.answer import Answer, Facts
from zoviz.runs.engine.best_point import BestPoint
from zoviz.runs.engine.observer import RunObserver
from zoviz.runs.engine.result import Result, ending_of
from zoviz.runs.engine.stopping import Ending, Limits, RunStatus
from zoviz.solvers.base import Solver

REPEATS = 2
"""Further calls at the start that tell whether values are noisy."""

MEANS = 16
"""Under noise, calls that decide between the best point queried and the last iterate; at most a tenth of the budget."""

RETREATS = 20
"""Without noise, calls between the best feasible point and the last iterate; at most a twentieth of the budget."""

_NO_CALL = "values are noisy, and no call was left to tell by how much: raise the budget"
UNCLEAR = "they show no minimum, as near a kink, or where variables matter very unequally"
UNENDED = "the search had not ended: raise its budget, or go on from x"
"""Why calls do not tell f*: those around x, and those of a run."""


class Simulation(Protocol):
    """A problem computed outside zoviz, whose first values are kept for its run."""

    on_error: str

    def lend_evaluator(self) -> None:
        """Have clones evaluate by this problem's own processes."""

    def probe(self, place: Array, xi: np.ndarray | None = None) -> Evaluation | Failure:
        """Evaluate at a place (n,) by one call."""

    def keep_value(self, place: Array, outcome: Evaluation | Failure, xi: np.ndarray | None = None) -> None:
        """Keep the outcome of a call for the run that asks for it."""


class Answering(RunObserver):
    """The examination of a black box before a run, and the choice and the judgement of the run's answer after it.

    Parameters
    ----------
    problem : Problem
        Nobody else's: its noise may be set.
    max_calls : int or None
        Calls in all, over all replicas; None is unlimited.
    seed, replicas, seconds, tolerance
        Settings of the run.
    noise_is_known : bool
        Whether the problem's noise was given, and need not be found out.
    always : bool
        Whether there is an answer of a run that was stopped, or that ended as no value was finite, too.
    past : mapping, optional
        Setting of the run.

    Attributes
    ----------
    best : BestPoint
        Of all that is evaluated.
    clock : Stopwatch
        The run's, too.
    facts : Facts or None
        What the examination found.
    reserve : int
        Calls that are kept for the answer.
    reason : str
        Why the method was chosen; may be empty.
    estimate : callable or None
        Returns how sure an answer is whose values repeat: at no further call, and with ``always`` not before somebody
        wants to know.
    """

    _worker: Any  # from the run's start on

    def __init__(
        self,
        problem: Problem,
        max_calls: int | None,
        *,
        seed: int,
        replicas: int,
        seconds: float | None,
        tolerance: float | None,
        noise_is_known: bool = False,
        always: bool = False,
        past: Mapping[str, Any] | None = None,
    ) -> None:
        self._problem, self._replicas, self._always = problem, replicas, always
        self.best, self._judge = BestPoint(tolerance, problem.domain), Judge(problem)
        self._past = PastPoints.of(past, problem.domain)
        self._limited, self._max_calls = max_calls is not None, sys.maxsize if max_calls is None else max_calls
        # A person's own class of problems has no word for a noise that nobody knows.
        self._own = cast("Simulation", problem) if problem.partial else None
        unsaid = "deterministic" if self._own is None else UNKNOWN
        self._noise_is_known = noise_is_known or problem.analytic or problem.noise != unsaid
        self._seed, self._streams = seed, Streams(seed + 1, 1)  # of noise and seeds outside of the run
        self.clock, self._asked, self._limits = Stopwatch(), False, Limits(seconds=seconds)
        self.facts: Facts | None = None
        self.reserve, self.reason = 0, ""
        self.estimate: Callable[[], Certainty] | None = None
        self.listener = self._enter
        if self._own is not None:
            self._own.lend_evaluator()

    def _enter(self, x: Array, value: Evaluation) -> None:
        self.best.enter(x, value)
        self._judge.enter(x, value)

    def sized(self, tolerance: Array) -> None:
        self.best.size(tolerance)

    def started(self, worker: Any) -> None:
        self._worker = worker

    def began(self) -> None:
        """Examine the black box, unless that is done, and leave the run the calls that the answer does not take."""
        worker = self._worker
        if self.facts is None:
            self.examine()
            self.allow(worker)
            for observer in worker.observers:
                observer.examined()
        facts, more = self._facts, self._repeats(noisy=True) - self.reserve
        worker.noise.kept = max(0, math.ceil(more / self._replicas))
        if facts.noisy and worker.state is None and self._limits["seconds"] is not None:  # means take time, too
            each = self.clock.now / max(facts.calls + facts.starts, 1)
            worker.kept_seconds = min(self.reserve * each, 0.1 * self._limits["seconds"])

    def allow(self, worker: Any) -> None:
        """Have a worker go by what was found."""
        if self._facts.noisy and worker.problem.contract == "deterministic":
            worker.believe_noise()
        calls = max(1, self.share(worker.solver))
        worker.allow(calls if self._limited else None)

    def conclude(self, status: RunStatus) -> str:
        """Choose and judge the answer of a run that ends, and return what is to be said of it."""
        worker = self._worker
        none_finite = isinstance(worker.error, OracleError) and not worker.oracle.active.any()
        due = status in (RunStatus.FINISHED, RunStatus.DIVERGED) or self._always
        if not (due and worker.has_result) or (worker.error is not None and not (self._always and none_finite)):
            return ""
        worker.answer = self._judged_answer(status)
        return self._sentence(worker.answer)

    def _judged_answer(self, status: RunStatus) -> Answer:
        """Return the answer with its certainty."""
        worker, result = self._worker, self._worker.result
        if worker.noise.found:
            left = self._max_calls - self._facts.calls - int(result.calls.sum())
            self.facts = self._facts._replace(noisy=True)
            self.reserve = min(self._repeats(noisy=True), left)
        noisy = self._facts.noisy
        answer = self._chosen(result, status, min(self.reserve, self._means()) if noisy else self.reserve)
        answer = self._judged(answer, result, self.reserve - answer.calls)
        ending, sure = worker.ending, answer.certainty
        # What is left to gain cannot be told from nothing, and is less than what is not known of f.
        known = sure is not None and sure.noisy and sure.gain.low <= 0.0
        at_floor = known and sure is not None and sure.gain.high <= sure.f_x.high - sure.f_x.low < np.inf
        ending = Ending.NOISE_FLOOR if at_floor and ending in (Ending.BUDGET, Ending.TIME) else ending
        worker.ending = ending_of(ending, answer.feasible)
        return answer

    def _sentence(self, answer: Answer) -> str:
        """Return what is to be said of the answer, and of calls that were not a replica's of the run."""
        worker, calls = self._worker, self.share(self._worker.solver)
        apart, floor = self._max_calls - calls * self._replicas if self._limited else 0, ""
        if apart and (self.reason or worker.spent_calls):  # a run that spent its budget in mid-step
            share = f"{calls:,} calls" + f" for each of {self._replicas} replicas" * (self._replicas > 1)
            spent = f"The search had {share} of {self._max_calls:,}; {apart:,} were for the start and the answer."
        else:
            spent = ""
        if worker.ending is Ending.NOISE_FLOOR and answer.certainty is not None:
            floor = f"At the noise floor: another digit would take about {answer.certainty.next_digit:,} calls."
        return " ".join(filter(None, [spent, answer.note, floor]))

    @property
    def _facts(self) -> Facts:
        return Facts(False, 0, 0) if self.facts is None else self.facts

    def examine(self) -> tuple[Array, Evaluation]:
        """See whether values are noisy, at the run's first start that has a value; charged.

        Returns
        -------
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
        repeats = self._past is not None and self._past.repeats(place, value.stacked)
        if not (self._noise_is_known or self._max_calls < LEAST_BUDGET or repeats):
            try:
                again, made = self._values(np.repeat(place[None], REPEATS, axis=0))
            except BaseException:  # also Ctrl-C: the first value is not lost
                self.best.enter(place[None], Evaluation(value.f[None], value.h[None]))
                raise
            calls = int(made.sum())
            noisy = noisy or bool(unlike(again.stacked, value.stacked)[made].any())
        if self._own is None:
            self.facts = Facts(noisy, calls + len(kept), 0)
        else:
            self.facts = Facts(noisy, calls, len(kept))
            for outcome in kept:
                self._own.keep_value(*outcome)
        return place[None], Evaluation(value.f[None], value.h[None])

    def _first_values(self) -> list[tuple[Array, Evaluation | Failure, np.ndarray | None]]:
        """Return the run's first starts (n,), to the one that has a value, their outcomes, and the seeds it draws."""
        problem, streams, xi = self._problem, Streams(self._seed, 1), None
        most = start.tries(problem, (self._max_calls - REPEATS - RETREATS) // self._replicas)
        kept: list[tuple[Array, Evaluation | Failure, np.ndarray | None]] = []
        first = None if self._past is None else self._past.best
        starts = start.candidates(problem, Streams(self._seed, self._replicas), first)
        for x, new in islice(starts, min(self._max_calls, 1 + most)):
            if not new[0]:
                continue
            if kept and self.time_spent is not None:
                break
            xi = problem.draw(0, streams) if problem.seeds and (not kept or problem.contract == "independent") else xi
            value = self._first_value(x[0], xi)
            kept.append((x[0], value, xi))
            if isinstance(value, Failure):
                if self._own is not None and self._own.on_error == "raise" and not value.counted:
                    raise value.error
            elif value.finite:
                start.refuse_outside(problem, value.h)
                break
        return kept

    def _first_value(self, place: Array, xi: np.ndarray | None) -> Evaluation | Failure:
        if self._own is None:
            return self._values(place)[0]
        self._asked = True
        with self.clock:
            return self._own.probe(place, xi)

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
        self.best.enter(x.reshape(count, -1), Evaluation(value.f.reshape(count), value.h.reshape(count, problem.m)))
        return value, made

    def _evaluated(self, x: Array) -> tuple[Evaluation, np.ndarray]:
        """Return the values at points (..., n), as far as there is time, NaN elsewhere, and where a call was made."""
        points, problem = x.reshape(-1, x.shape[-1]), self._problem
        seeds = fresh_seeds(self._streams, x.shape[:-1]) if problem.seeds else None
        found = FoundValues(len(points), problem.m, self._check_time)
        try:
            with self.clock:
                self._check_time()
                if not problem.pointwise:
                    return problem.evaluate(x, seeds), np.ones(x.shape[:-1], dtype=bool)
                problem.collect(points, found.enter, seeds)
        except TimeSpent:
            pass
        except BaseException:  # likewise, what was found
            value, made = found.placed(np.ones(len(points), dtype=bool))
            self.best.enter(points[made], Evaluation(value.f[made], value.h[made]))
            raise
        return found.placed(np.ones(x.shape[:-1], dtype=bool))

    @property
    def time_spent(self) -> str | None:
        """The sentence on the budget of seconds, if it is spent."""
        return self._limits.time_spent(self.clock.now)

    def _check_time(self) -> None:
        """Raise ``TimeSpent`` where the budget of seconds is spent; a first request is always made."""
        asked, self._asked = self._asked, True
        if asked and (sentence := self.time_spent) is not None:
            raise TimeSpent(sentence)

    def share(self, solver: Solver | None = None) -> int:
        """Return the calls of each replica of the run; what the answer takes, with this solver, is kept apart."""
        left = self._max_calls - self._facts.calls
        spare = max(left - self._replicas, 0)  # every replica has a call at least
        retreats = 0 if solver is None else self._retreats(solver)
        self.reserve = min(self._repeats(self._facts.noisy) or retreats, spare)
        return (left - self.reserve) // self._replicas

    def _means(self) -> int:
        """Return the number of calls that choose the answer under noise."""
        return min(MEANS, self._max_calls // 10)

    def _repeats(self, noisy: bool) -> int:
        """Return the number of calls that are left for choosing and judging the answer under noise; else 0."""
        return self._means() + self._judge.wants(self._max_calls) if noisy else 0

    def _retreats(self, solver: Solver) -> int:
        """Return the number of calls that are left for choosing the answer without noise."""
        return 0 if solver.reports_best or not self._problem.m else min(RETREATS, self._max_calls // 20)

    def _chosen(self, result: Result, status: RunStatus, reserve: int) -> Answer:
        """Choose the point to be returned, with at most ``reserve`` further calls."""
        worker, noise, leader = self._worker, self._worker.noise, leader_of(result)
        if self._facts.noisy and reserve >= 4 and self.time_spent is None:
            last, sure = result.x[leader], not noise.unsure.any()
            verified = worker.state is not None and worker.solver.verifies(worker.state)
            if verified and np.isfinite(last).all() and sure:
                candidates = {"the point that the method verified": last}
            else:
                candidates = {"the best point queried": self.best.x, "the last iterate": last}
                if np.isfinite(noise.confirmed_x[leader]).all():
                    candidates["the last point whose repeated calls agreed"] = noise.confirmed_x[leader]
            return self._mean_answer(candidates, reserve)
        if noise.found:
            return self._unsure_answer(noise, leader)
        if noise.outliers:  # the best point that was seen may be one
            return self._answer_of_run(leader)
        if status is RunStatus.FINISHED and not self._facts.noisy:
            return self.best_answer(*self._retreat(result, reserve))
        return self.best_answer()

    def _judged(self, answer: Answer, result: Result, calls: int) -> Answer:
        """Return the answer with its certainty: by further calls under noise, else by what is known."""
        reason = self._obstacle(calls) if self._facts.noisy else self._doubt()
        if not (self._facts.noisy or reason):
            answer, around = self._called_around(answer, result)
            self.estimate = self._estimate(answer, around, result.multipliers[leader_of(result)])
            return answer._replace(certainty=None if self._always else self.estimate())
        if reason:
            return answer._replace(certainty=unknown(answer.x, answer.fun, answer.h, reason))
        judged = self._judge.judge(answer.x, calls, self._values, self._streams.generator("certainty"))
        calls, failures = answer.calls + judged.calls, answer.failures + judged.failures
        return answer._replace(certainty=judged.certainty, calls=calls, failures=failures)

    def _called_around(self, answer: Answer, result: Result) -> tuple[Answer, Calls | None]:
        """Call points around an answer whose values repeat, once it stands, by calls that are left of the budget.

        Returns
        -------
        Answer
            The best point of them all.
        Calls or None
        """
        best = self.best
        stands = self._worker.ending is Ending.SOLVED and answer.feasible and np.array_equal(answer.x, best.x)
        if not stands or self._problem.keeps_rows or self.time_spent is not None:
            return answer, None
        left = self._max_calls - self._facts.calls - int(result.calls.sum()) - answer.calls
        points = self._judge.around(answer.x, left, self._max_calls, self._streams.generator("certainty"))
        if not len(points):
            return answer, None
        value, made = self._values(points)
        calls, failures = answer.calls + int(made.sum()), answer.failures + int((made & ~value.finite).sum())
        same = np.array_equal(answer.x, best.x)
        answer = answer._replace(calls=calls, failures=failures) if same else self.best_answer(calls, failures)
        return answer, Calls(points[made], value.stacked[made])

    def _estimate(self, answer: Answer, around: Calls | None, multipliers: Array) -> Callable[[], Certainty]:
        """Return what estimates how sure an answer is whose values repeat, by the calls near it."""
        domain = self._problem.domain
        box, outputs = domain if isinstance(domain, Box) else None, np.append(answer.fun, answer.h)
        own = None if box is None else nearby(self._judge.kept, answer.x, box)
        near, further = [one for one in (around, own) if one is not None], 0 if around is None else len(around.x)
        unclear = self._judge.advice if self._worker.ending is Ending.SOLVED else UNENDED
        advice = UNCLEAR if around is not None else unclear
        box = box or Box(answer.x, answer.x)
        return partial(repeating, near, answer.x, outputs, multipliers, box, self.best.tolerance, further, advice)

    def _obstacle(self, calls: int) -> str:
        """Return why a noisy answer cannot be judged; empty where it can."""
        if not self._judge.sees_noise:
            return "the points of an iteration share their noise, so that repeated calls do not tell it"
        if self._problem.keeps_rows:
            return "values are noisy, and calls around x might be outside of constraints that are kept"
        if self.time_spent is not None:
            return "values are noisy, and no time was left to tell by how much"
        return _NO_CALL if calls < 1 else ""

    def _doubt(self) -> str:
        """Return why values may not repeat, where the budget was too small to examine them; empty where they do."""
        if self._noise_is_known or self._max_calls >= LEAST_BUDGET:
            return ""
        calls = self._judge.kept
        _, first, place = np.unique(calls.x, axis=0, return_index=True, return_inverse=True)
        if not np.array_equal(calls.y, calls.y[first[place]], equal_nan=True):
            return _NO_CALL
        alone = len(first) == len(calls.x)
        return "no point was called twice to see whether values repeat: raise the budget" if alone else ""

    def best_answer(self, calls: int = 0, failures: int = 0) -> Answer:
        """Return the best point queried."""
        best, note = self.best, ""
        if not best.feasible:
            words = best.words(best.h) if best.h.size else ""
            note = f"No feasible point was found among {best.points} queried: x is the least violating, {words}."
        elif best.violation > 0.0:
            note = f"x violates within the tolerance, {best.words(best.h)}."
        kind = "best feasible point" if best.feasible else "point queried that violates least, as no point is feasible"
        return Answer(best.x, best.f, best.h, note, calls, failures, best.feasible, kind)

    def _unsure_answer(self, noise: NoiseWatch, replica: int) -> Answer:
        """Return the last point that repeated, else the best one queried: noise was found when no call was left."""
        answer = self.best_answer()
        if np.isfinite(noise.confirmed_x[replica]).all():
            f, *h = noise.confirmed[replica]
            answer = answer._replace(x=noise.confirmed_x[replica], fun=float(f), h=np.array(h), feasible=True)
        if not noise.unsure.any() or not answer.feasible:
            return answer
        note = "Constraints are noisy, and no call was left to tell whether x is feasible: raise max_calls."
        return answer._replace(note=note, feasible=False)

    def _answer_of_run(self, replica: int) -> Answer:
        """Return the best point of a run, whose values were called again, where some points had others."""
        oracle = self._worker.oracle
        if not np.isfinite(oracle.best.f[replica]):
            return self.best_answer()._replace(feasible=False)
        x, f, h = oracle.best.x[replica].copy(), float(oracle.best.f[replica]), oracle.best.h[replica].copy()
        return Answer(x, f, h, "", 0, 0, True)

    def _retreat(self, result: Result, calls: int) -> tuple[int, int]:
        """Bisect for the boundary between the best feasible point and a last iterate that is better but violates.

        Methods with multipliers approach a constraint from outside as often as from inside: the best feasible point
        is then an early one, while the last iterate violates by a hair.

        Returns
        -------
        int, int
            Calls that were made, and those of them without finite values.
        """
        best = self.best
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
        finite = np.stack([np.where(np.isfinite(x), x, self.best.x) for x in candidates.values()])
        points, repeats = self._problem.domain.project(finite), calls // len(candidates)
        value, made = self._values(np.repeat(points[:, None], repeats, axis=1))
        if len(points) == 1:  # else they choose one, and are no fair witnesses of it
            self._judge.enter_fresh(
                np.repeat(points, repeats, axis=0)[made[0]], Evaluation(value.f[made], value.h[made])
            )
        good = value.finite
        calls, failures = int(made.sum()), int((made & ~good).sum())
        if not good.any():
            return self.best_answer(calls, failures)
        scaled, tolerance = self.best.in_units(value)
        index, means, margins = first_by_means(scaled, tolerance)
        i = int(index)
        feasible, surely = (bool(is_feasible(means.h[i], one)) for one in (tolerance + margins[i], tolerance))
        f, h = self.best.in_user_units(means)
        name, count = list(candidates)[i], good[i].sum()
        note = f"Values are noisy: x is {name}, fun and h are means of {count} calls there."
        if not feasible:
            note += f" No feasible point was found: in the mean x violates {self.best.words(h[i])}."
        elif not surely:
            words = self.best.words(h[i])
            note += f" In the mean x violates {words}, within twice the standard error: it may be feasible."
        kind = f"{name}, by the means of {count} calls"
        return Answer(points[i], float(f[i]), h[i], note, calls, failures, feasible, kind)

    def examination(self) -> dict[str, Any]:
        """Return the findings of the examination as data for a store."""
        streams = {key: mark._asdict() for key, mark in self._streams.snapshot().items()}
        return {"facts": list(self._facts), "streams": streams}

    def snapshot(self) -> dict[str, Any]:
        """Return all that the answer needs of what was seen, as checkpoints hold it."""
        return self.examination() | {"best": self.best.snapshot(), "judge": self._judge.snapshot()}

    def restore(self, seen: Mapping[str, Any], worker: Any) -> None:
        """Go on from a ``snapshot``, or from an examination, with a worker that goes on, or begins again."""
        self.facts = Facts(*seen["facts"])
        self._streams.restore({key: Mark(**mark) for key, mark in seen["streams"].items()})
        if "best" in seen:
            self.best.restore(seen["best"])
            self._judge.restore(seen["judge"])
        self.allow(worker)


def leader_of(result: Result) -> int:
    """Return the replica with the best feasible point, else the one that violates least now."""
    if np.isfinite(result.best_fun).any():
        return int(np.nanargmin(result.best_fun))
    return int(np.argmin(np.where(np.isfinite(result.maxcv), result.maxcv, np.inf)))
