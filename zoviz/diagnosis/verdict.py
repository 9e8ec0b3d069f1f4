"""A verdict on a run from its trace alone: whether it is converging, and what it does where it is not."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from zoviz.certainty.estimate import CLEARLY
from zoviz.core import defaults
from zoviz.core.durations import duration
from zoviz.core.errors import ZovizError
from zoviz.core.types import Array
from zoviz.diagnosis.course import BARELY, OUTSIDE, Course, course_of, percentile, rows_before
from zoviz.diagnosis.noise_floor import NoiseScale, at_noise_floor, measured, said, within_noise
from zoviz.runs.engine import columns as names
from zoviz.runs.engine.steering import Change
from zoviz.runs.engine.stopping import Ending, RunStatus, Target
from zoviz.runs.engine.trace import Snapshot
from zoviz.runs.run_view import RunView

FEWEST_AT_REST = 30
"""Rows before which a run that goes on is not said to be at rest: a method that first makes its start feasible moves on
a plateau of the distance, of some twenty iterations on the engineering designs."""
WORSE = 8.0
"""Times its start, from which on a violation or a distance has run away; this and what follows after
``labelled_runs``: good runs of noisy steps reach 6 times, runs beyond their stable step 9 times and more."""
BOTH_WORSE = 1.5
"""Times its start that suffice where both are worse than at the start."""
UNMOVED = 0.1
"""Share of the start's distance and violation, within which a run has not moved."""
FALLING = 0.8
"""Last distance over the one in mid-course, below which a run is converging."""
SLOWEST = 4.0
"""Calls for a decimal digit over all calls so far, beyond which nobody would call it converging."""
FAST = 0.5
"""The same of a part of it, below which a run that goes on is not at rest, and one that ran away is on its way back."""
FAR = 0.1
"""Share of its worst decile, from which on one that ran away is on its way back, however slowly."""
ABRUPT = 0.2
"""Share of the pace up to the last fifth, below which a run is at its floor in it: of courses as 1 / t and as
1 / sqrt(t) the pace is then 0.7 of that."""
_RESTING = 0.25
"""Share of a run's second half at the least violation, from which on it rests there."""
SWING = 8.0
"""Ninth over first decile of the second half, from which on a run that does not fall is oscillating."""
EXACT = 1e-6
"""Share of the start's distance that counts as solved where no target says what does."""
EXACT_RESIDUAL = 1e-4
"""The same of a KKT residual: a gradient is of the order of the square root of the gap; with a digit to spare."""


EXACT_AT_REST = 1e-5
"""Share of the start's distance at which a run that no longer falls is called solved, to as many digits as it has: what
keeps it from more is its smoothing or its noise, and no fault of its steps."""
NEGLIGIBLE = 1e-7
"""Share of the start's violation that such a run may end with. Less than of the distance: rows of different units share
one measure, and a distance tells of what is left in the small ones."""
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Word(StrEnum):
    """The word of a verdict, as lists of runs have it."""

    EARLY = "early"
    SOLVED = "solved"
    CONVERGING = "converging"
    NOISE_FLOOR = "at the noise floor"
    """The values are noisy, and what the run is still off by, or moves by, is of the size of their noise."""
    BUDGET_ENDED = "budget ended"
    """A budget ended it on its way, or before there was enough to tell."""
    SETTLED = "settled"
    """The objective stands still, and no optimum is known with which to tell a solution from a stall."""
    STALLED = "stalled"
    OSCILLATING = "oscillating"
    INFEASIBLE = "infeasible"
    DIVERGING = "diverging"
    FAILED = "failed"

    @property
    def good(self) -> bool:
        """Whether there is nothing to be done."""
        return self in (Word.SOLVED, Word.CONVERGING, Word.NOISE_FLOOR)


AT_REST = (Word.NOISE_FLOOR, Word.SETTLED, Word.STALLED, Word.OSCILLATING, Word.INFEASIBLE)
"""Words that say of a run that it no longer gets better."""


class Verdict(NamedTuple):
    """A verdict: one word for lists, and one sentence with its figures.

    Attributes
    ----------
    word : Word
    sentence : str
    unmoved : bool
        Whether the run has hardly left its start.
    """

    word: Word
    sentence: str
    unmoved: bool = False


class RunContext(NamedTuple):
    """Facts about a run that its trace does not hold.

    Attributes
    ----------
    noise : NoiseScale or None
        Of its values; None where they are exact, or points that are compared share their noise.
    budget_spent : bool
        Whether a budget ended it.
    noisy_violation : bool
        Whether the violation in its trace is of noisy values, so that what is within the noise is none.
    """

    noise: NoiseScale | None = None
    budget_spent: bool = False
    noisy_violation: bool = False


UNKNOWN = RunContext()
"""Nothing is known beside the trace."""


def verdict(
    snapshot: Snapshot,
    targets: Sequence[Target] = (),
    changes: Iterable[Change] = (),
    status: RunStatus = RunStatus.RUNNING,
    tolerance: float = defaults.FEASIBILITY_TOLERANCE,
    constrained: bool | None = None,
    context: RunContext = UNKNOWN,
) -> Verdict:
    """Return the verdict on a run, whether it is going on or has ended, from the last change of a parameter on.

    Parameters
    ----------
    snapshot : Snapshot
        Of its trace.
    targets : sequence of Target, optional
        Its targets; it is solved once every replica has hit all of them.
    changes : iterable of Change, optional
        Its journal: rows of before the last change do not count, and a run diverges after a change.
    status : RunStatus
    tolerance : float
        Violation that counts as none.
    constrained : bool, optional
        Whether the problem has constraints; None: whether the trace shows any, by multipliers or a violation.
    context : RunContext, optional
        What is known beside the trace: the noise of the values, and whether a budget ended the run.

    Examples
    --------
    >>> from zoviz import Run
    >>> from zoviz.problems import LoadTracking
    >>> from zoviz.solvers import ZOCEG
    >>> run = Run(LoadTracking(n=10), ZOCEG(), replicas=2, iterations=100)
    >>> _ = run.run()
    >>> verdict(run.trace.snapshot()).word
    <Word.CONVERGING: 'converging'>
    """
    noise = measured(snapshot, context.noise) if context.noisy_violation else None
    if noise is not None and math.isfinite(noise.h):
        tolerance = max(tolerance, CLEARLY * noise.h)
    journal = list(changes)
    last = journal[-1] if journal and rows_before(snapshot, journal[-1].iteration) else None
    whole = course_of(snapshot, tolerance, constrained)
    course = whole if last is None else course_of(snapshot, tolerance, constrained, last.iteration)
    if whole is not None and not (course is not None and within_noise(snapshot, course, context.noise)):
        ran_away = _ran_away(whole, course, journal, status, tolerance)
        if ran_away is not None:
            return ran_away
    if status is RunStatus.DIVERGED:
        return Verdict(Word.DIVERGING, "Diverged: no replica is left.")
    if status is RunStatus.FAILED:
        return Verdict(Word.FAILED, "Ended early by an error.")
    if targets and all(target.hits == target.iteration.size for target in targets):
        return Verdict(Word.SOLVED, "Solved: every replica has hit every target.")
    cut = context.budget_spent and not status.active
    judged = _so_far(snapshot, course, last, tolerance, context, status)
    if cut and judged.word in (Word.EARLY, Word.CONVERGING):
        judged = Verdict(Word.BUDGET_ENDED, _cut_short(snapshot, judged, changed=last is not None))
    return judged if last is None else _from_change(judged, last)


def _so_far(
    snapshot: Snapshot,
    course: Course | None,
    last: Change | None,
    tolerance: float,
    context: RunContext,
    status: RunStatus,
) -> Verdict:
    """Return the verdict on a run that has not run away; of one that could have gone on it may be too early."""
    if course is None:
        return Verdict(Word.EARLY, "Too early to tell.")
    judgement = _judgement(course, tolerance)
    if judgement.word is not Word.SOLVED:
        floor = at_noise_floor(snapshot, course, context.noise)
        judgement = Verdict(Word.NOISE_FLOOR, f"{floor}: {_figures(course)}.") if floor else judgement
    if not (status.active or context.budget_spent) or judgement.word not in AT_REST:
        return judgement
    if snapshot.rows - rows_before(snapshot, 0 if last is None else last.iteration) < FEWEST_AT_REST:
        return Verdict(Word.EARLY, "Too early to tell.")
    if not status.active or judgement.word is Word.NOISE_FLOOR:
        return judgement
    return _half_at_rest(course, tolerance) or judgement


def _from_change(judged: Verdict, last: Change) -> Verdict:
    """Return a verdict that says from which change on the run was judged."""
    since = f"Judged from iteration {last.iteration:,}, where {last.name} was changed."
    return judged._replace(sentence=f"{judged.sentence} {since}")


def _cut_short(snapshot: Snapshot, judged: Verdict, *, changed: bool) -> str:
    """Return the sentence on a run that a budget ended on its way, or too early to tell."""
    few = f"too few {'since the last change ' if changed else ''}to tell whether it has converged"
    said = judged.sentence.replace("Too early to tell", few, 1)
    comma = "," if judged.word is Word.EARLY else ":"
    return f"The budget ran out after {_pace(snapshot)}{comma} {said[:1].lower()}{said[1:]}"


def _pace(snapshot: Snapshot) -> str:
    """Return in words how far a run came, and how fast."""
    columns = snapshot.columns
    if not snapshot.rows:
        return "0 iterations"
    said = f"{int(columns[names.ITERATION][-1]):,} iterations"
    if names.CALLS in columns:
        said += f" and {columns[names.CALLS][-1].max():,.0f} calls"
    return f"{said} in {columns[names.SECONDS][-1]:.3g} s" if names.SECONDS in columns else said


def _ran_away(
    whole: Course, course: Course | None, journal: list[Change], status: RunStatus, tolerance: float
) -> Verdict | None:
    """Return the verdict on a run that has run away, or is on its way back; None for another.

    One that had run away before the last change of a parameter is judged by what it does since.
    """
    if course is None:  # too few rows since the change
        return _diverging(whole, journal, tolerance) if whole.broken or not status.active else None
    ran_away = _diverging(course, journal, tolerance)
    if ran_away is None:
        return None
    if status.active and (returning := _returning(course, tolerance)) is not None:
        return returning if not course.changed else _from_change(returning, journal[-1])
    return (_diverging(whole, journal, tolerance) if course.changed else None) or ran_away


def verdict_of(run: RunView, constrained: bool | None = None) -> Verdict:
    """Return the verdict on a live or stored run; replicas that the guard ended count as diverged.

    Parameters
    ----------
    run : Run or StoredRun
    constrained : bool, optional
        Whether its problem has constraints; None: whether its trace shows any.
    """
    ended = run.divergences
    if 2 * len(ended) >= run.replicas and ended:
        first = min(ended, key=lambda one: one.iteration)
        subject = "First replica diverged" if run.replicas > 1 else "Diverged"
        return Verdict(Word.DIVERGING, f"{subject} at iteration {first.iteration:,}.")
    rows, about = run.tolerances, context_of(run)
    tolerance = float(rows.max()) if rows.any() else defaults.FEASIBILITY_TOLERANCE
    judged = verdict(run.trace.snapshot(), run.hits, _labelled(run), run.status, tolerance, constrained, about)
    by_itself = run.status is RunStatus.FINISHED and run.ending is Ending.SOLVED
    if by_itself and judged.word in (Word.EARLY, Word.SETTLED, Word.BUDGET_ENDED):  # no optimum is known to judge by
        judged = Verdict(Word.SOLVED, "Solved: the search has ended, and its answer stands.")
    sure = None if run.answer is None else run.answer.certainty
    if run.ending is Ending.NOISE_FLOOR and sure is not None:
        pace = run.progress.seconds / max(run.progress.calls * run.replicas, 1)
        digit = f"another digit would take about {duration(sure.next_digit * pace)} at this pace"
        nearby = f"{sure.nearby}; {digit}" if sure.tells_minimum else "the calls do not tell how much could be gained"
        judged = Verdict(Word.NOISE_FLOOR, f"{said(float(sure.noise[0]), measured=True)}: {nearby}.")
    if not ended:
        return judged
    return judged._replace(sentence=f"{judged.sentence} {len(ended)} of {run.replicas} replicas diverged.")


def _labelled(run: RunView) -> list[Change]:
    """Return a run's changes with what forms call the parameters; the names of a stored solver that is not trusted."""
    changes = list(run.journal)
    try:
        return [change._replace(name=run.solver.label_of(change.name)) for change in changes]
    except ZovizError:
        return changes


def context_of(run: RunView) -> RunContext:
    """Return what is known of a live or stored run; nothing is made again, which might call a person's functions."""
    spent = run.status is RunStatus.FINISHED and (run.spent_calls or run.progress.fraction >= 1.0)
    sure = None if run.answer is None else run.answer.certainty
    noise = _noise(_problem_values(run))
    if sure is not None and sure.noisy:
        noise = NoiseScale(float(sure.noise[0]), float(sure.noise[1:].max(initial=0.0)))
    # A stored run's problem is not made again.
    of_values = run.answer is not None or (getattr(run, "recipe", None) is None and not run.problem.analytic)
    return RunContext(noise, spent, of_values)


def _problem_values(run: RunView) -> Mapping[str, Any]:
    """Return the parameters of a run's problem by name: of a stored run, as it is described."""
    recipe = getattr(run, "recipe", None)
    if recipe is None:
        return dict(run.problem.param.values())
    values: Mapping[str, Any] = json.loads(recipe["problem"])["values"]
    return values


def _noise(problem: Mapping[str, Any]) -> NoiseScale | None:
    """Return the noise that a problem's parameters declare; of unknown size where it is the problem's own."""
    contract, scale, of_h = (problem.get(f"noise{one}") for one in ("", "_scale", "_constraint_scale"))
    if contract not in ("common", "independent") or (contract == "common" and scale):
        return None  # what pairs of points share cancels in their differences
    return NoiseScale(scale, scale if of_h is None else of_h) if scale else NoiseScale(math.nan, math.nan)


def _diverging(course: Course, changes: list[Change], tolerance: float) -> Verdict | None:
    """Return the verdict on a run that has run away; None for another."""
    distance, violation = course.distance, course.violation
    start, start_violation = distance[0], violation[0]
    end = max(course.last(distance), percentile(distance[-max(5, distance.size // 5) :], 75))
    end_violation = percentile(violation[-max(5, violation.size // 5) :], 75)
    scale = _first_violation(course, tolerance)
    worse = end > WORSE * max(start, 1e-300) if course.measure != "objective" else _risen(course)
    violated = end_violation > WORSE * scale and (start_violation > tolerance or worse)
    both = end > BOTH_WORSE * start and end_violation > BOTH_WORSE * scale and start_violation > tolerance
    rises = bool(course.changed) and course.measure != "objective" and _rises(course)
    if not (course.broken or violated or both or rises or (worse and end_violation >= 0.5 * start_violation)):
        return None
    # It has run away from where it was best, and stays away from then on.
    best = int(np.argmin(_merit(course, tolerance)))
    since = int(course.iterations[best])
    before = [change for change in changes if change.iteration <= since + 1]
    after = f", after {before[-1].name} was changed at iteration {before[-1].iteration:,}" if before else ""
    figures = "values grew without bound" if course.broken else _figures(course)
    return Verdict(Word.DIVERGING, f"Diverging since iteration {since:,}{after}: {figures}.")


def _rises(course: Course) -> bool:
    """Return whether the distance has risen since the last change of a parameter, and rises still."""
    distance = course.distance
    floor = max(distance[course.changed], EXACT_AT_REST * distance[0], 1e-300)
    return course.last(distance) > WORSE * floor and FAST * course.last(distance) > course.middle(distance)


def _returning(course: Course, tolerance: float) -> Verdict | None:
    """Return the verdict on a run that has run away and is on its way back; None for one that stays away."""
    merit = _merit(course, tolerance)
    end = course.last(merit)
    if course.broken or end > max(FAST * course.middle(merit), FAR * percentile(merit, 90)):
        return None
    return Verdict(Word.EARLY, f"Recovering after divergence: {_figures(course)}.")


def _merit(course: Course, tolerance: float) -> Array:
    """Return distance and violation (T,) in one figure, each as a multiple of what it was at the start."""
    return course.distance / max(course.distance[0], 1e-300) + course.violation / _first_violation(course, tolerance)


def _first_violation(course: Course, tolerance: float) -> float:
    """Return the violation of a course's start; of a feasible start, that of the first quarter, if there is any."""
    start, violation = course.violation[0], course.violation
    quiet = percentile(violation[: max(3, violation.size // 4)], 50) if start <= tolerance else 0.0
    return max(start, quiet, tolerance)


def _risen(course: Course) -> bool:
    """Return whether an objective, of which no optimum is known, has run away upwards."""
    fallen, end = course.distance[0], course.last(course.distance)
    early = course.middle(course.distance[: course.distance.size // 2])
    return bool(end > WORSE * max(fallen, 1.0) and end > WORSE * early)


def _judgement(course: Course, tolerance: float) -> Verdict:
    """Return the verdict on a run that has not run away: a good one only where that is true of most replicas."""
    judgement = _at_rest(course, tolerance) or _moving(course, tolerance)
    if not judgement.word.good or not _outside(course.upper_violation, course.last(course.upper_violation), tolerance):
        return judgement
    upper = course._replace(violation=course.upper_violation, strict=True)
    stricter = _at_rest(upper, tolerance) or _moving(upper, tolerance)
    return judgement if stricter.word.good else stricter


def _outside(violation: Array, end: float, tolerance: float) -> bool:
    """Return whether a violation (T,) that ends at ``end`` is still of the order that it had."""
    scale = max(violation[0], percentile(violation, 50), tolerance)
    return end > max(OUTSIDE * scale, BARELY * tolerance)


def _at_rest(course: Course, tolerance: float) -> Verdict | None:
    """Return the verdict on a run that is at its end, or that has not left its start; None for another."""
    distance, violation = course.distance, course.violation
    end, end_violation = course.last(distance), course.last(violation)
    exact = EXACT_RESIDUAL if course.measure == "KKT residual" else EXACT
    if course.measure != "objective" and end <= exact * distance[0] and end_violation <= BARELY * tolerance:
        return Verdict(Word.SOLVED, f"Solved: {_figures(course)}.")
    moved = np.abs(distance - distance[0]).max() > UNMOVED * distance[0]
    if course.measure == "objective":
        moved = np.ptp(distance) > 0.0
    if not moved and np.abs(violation - violation[0]).max() <= UNMOVED * max(violation[0], tolerance):
        return Verdict(Word.STALLED, "Stalled: barely moved.", unmoved=True)
    return None


def _moving(course: Course, tolerance: float) -> Verdict:
    """Return the verdict on a run that has left its start and is not at its end."""
    distance, violation = course.distance, course.violation
    scale = max(violation[0], percentile(violation, 50), tolerance)
    start = max(distance[0], percentile(distance, 50), 1e-300)
    # What is barely beyond the tolerance counts as none: methods that go to its edge would seem to stand still.
    residual = np.maximum(distance / start, np.where(violation <= BARELY * tolerance, 0.0, violation) / scale)
    end, half = course.last(residual), course.middle(residual)
    end_violation, half_violation = course.last(violation), course.middle(violation)
    second = violation[violation.size // 2 :]
    steady = percentile(second, 90) <= 1.5 * max(percentile(second, 10), tolerance)
    settled = steady and end_violation > 0.8 * half_violation
    if _outside(violation, end_violation, tolerance) and (settled or _returns_to_least(violation)):
        return Verdict(Word.INFEASIBLE, f"Infeasible, and the violation no longer falls: {_figures(course)}.")
    if course.measure == "objective" and end_violation <= max(tolerance, 1e-6 * scale):
        return _without_optimum(course)
    rate = _calls_per_digit(course.calls, residual)
    fallen = end <= FALLING * half and rate <= SLOWEST * course.calls[-1]
    if fallen and not _at_floor(residual):
        return Verdict(Word.CONVERGING, f"Converging at {_price(rate, course.pace)} per digit: {_figures(course)}.")
    later = residual[int((0.8 if fallen else 0.5) * residual.size) :]
    low, high = percentile(later, 10), percentile(later, 90)
    if high > SWING * max(low, 1e-300) and end > EXACT:
        return Verdict(Word.OSCILLATING, f"Oscillating: {_figures(course)}.")
    since = int(course.iterations[course.changed + int(np.argmax(residual[course.changed :] <= 2.0 * end))])
    if course.measure == "gap" and 0.0 < end <= EXACT_AT_REST and _negligible(course, end_violation, tolerance):
        digits = int(-math.log10(end))
        return Verdict(
            Word.SOLVED,
            f"Gap reduced 10{str(digits).translate(_RAISED)}-fold; no progress since iteration {since:,}: "
            f"{_figures(course)}.",
        )
    return Verdict(Word.STALLED, f"Stalled: no progress since iteration {since:,}; {_figures(course)}.")


def _half_at_rest(course: Course, tolerance: float) -> Verdict | None:
    """Return the verdict on a run of which one of distance and violation still falls fast; None for another.

    What stands still is at rest only for as long as the other falls: multipliers grow, or the point is still outside.
    """
    if course.last(course.violation) <= BARELY * tolerance:  # of most; a quarter may be outside
        course = course._replace(violation=course.upper_violation, strict=True)
    parts = {course.measure: (course.distance, 0.0), "violation": (course.violation, BARELY * tolerance)}
    falling = [name for name, (values, floor) in parts.items() if _falls_fast(course, values, floor)]
    if course.measure == "objective" or not course.constrained or len(falling) != 1:
        return None
    other = next(name for name in parts if name not in falling)
    return Verdict(
        Word.EARLY, f"Too early to tell: the {falling[0]} is falling, the {other} not yet; {_figures(course)}."
    )


def _falls_fast(course: Course, values: Array, floor: float) -> bool:
    """Return whether values (T,) above a floor fall fast, to less than they had before: no swing does that."""
    middle, end = course.middle(values), course.last(values)
    return middle > floor and end <= min(FAST * middle, percentile(values[: int(0.8 * values.size)], 10))


def _negligible(course: Course, violation: float, tolerance: float) -> bool:
    """Return whether a course's last violation is none, or next to nothing beside the one that it began with."""
    return violation <= max(BARELY * tolerance, NEGLIGIBLE * course.violation[0])


def _at_floor(residual: Array) -> bool:
    """Return whether a residual (T,) that was falling stands still in the last fifth of its course.

    Its pace is gone in either direction, and its least values are those of the fifth before: what goes to and fro while
    it falls is not at rest.
    """

    def part(low: float, high: float, percent: float = 50.0) -> float:
        first = int(low * residual.size)
        return math.log(max(percentile(residual[first : max(int(high * residual.size), first + 1)], percent), 1e-300))

    # From the middle to just before the last fifth is a quarter of the course, between the halves of it a tenth.
    expected = 0.4 * (part(0.4, 0.6) - part(0.7, 0.8))
    still = expected > 0.0 and abs(part(0.8, 0.9) - part(0.9, 1.0)) < ABRUPT * expected
    return still and part(0.6, 0.8, 10.0) - part(0.8, 1.0, 10.0) < ABRUPT


def _returns_to_least(violation: Array) -> bool:
    """Return whether a violation (T,) comes back to its least value, above 0, and stays there.

    So do methods that look for a feasible point elsewhere, again and again, where there is none.
    """
    first, second = violation[: violation.size // 2], violation[violation.size // 2 :]
    least = float(violation.min())
    resting = float((second <= 1.05 * least).mean())
    return least > 0.0 and float(first.min()) <= 1.05 * least and resting >= _RESTING


def _without_optimum(course: Course) -> Verdict:
    """Return the verdict on a feasible run of which only the objective is known."""
    distance = course.distance
    fall = distance.max()
    late = course.middle(distance) - course.last(distance)
    if late > 0.01 * fall:
        return Verdict(Word.CONVERGING, "Converging: the objective is falling; its optimum is unknown.")
    second = distance[distance.size // 2 :]
    swing = percentile(second, 90) - percentile(second, 10)
    if swing > 0.2 * fall:
        return Verdict(Word.OSCILLATING, "Oscillating: the objective goes up and down; its optimum is unknown.")
    return Verdict(Word.SETTLED, "Settled: the objective no longer changes; its optimum is unknown.")


def _calls_per_digit(calls: Array, residual: Array) -> float:
    """Return the calls that a decimal digit costs, by the median slope of the second half; inf for none."""
    half = residual.size // 2
    x, y = calls[half:], np.log10(np.maximum(residual[half:], 1e-300))
    apart = max(1, x.size // 2)
    slope = percentile((y[apart:] - y[:-apart]) / np.maximum(x[apart:] - x[:-apart], 1e-300), 50)
    return -1.0 / slope if slope < 0.0 else np.inf


def _price(calls: float, pace: float) -> str:
    """Return calls in words, with the time that they take at a pace in seconds, where it is known."""
    return f"{calls:,.0f} calls" + (f" and {duration(calls * pace)}" if math.isfinite(pace) else "")


def _figures(course: Course) -> str:
    """Return the last distance and violation in words, and whose they are: single replicas may be far from them."""
    violation, replicas = course.last(course.violation), course.replicas
    parts = [] if course.measure == "objective" else [f"{course.measure} {course.last(course.distance):.1e}"]
    parts += [f"violation {f'{violation:.1e}' if violation else '0'}"] if course.constrained else []
    parts = parts or [f"objective {course.last(course.distance):.1e} above its lowest value"]
    which = f"median {course.measure}, upper quartile of the violation" if course.strict else "medians"
    others = f"; {course.outside} infeasible" if course.outside else ""
    return ", ".join(parts) + (f" ({which} of {replicas} replicas{others})" if replicas > 1 else "")
