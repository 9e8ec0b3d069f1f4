"""Remedies for a run that is not well: for each verdict what to change, in one table, and what it costs to try it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.parameters import value_words
from zoviz.core.units import as_box
from zoviz.diagnosis.course import course_of, percentile
from zoviz.diagnosis.verdict import Verdict, Word, verdict_of
from zoviz.runs import repeat
from zoviz.runs.engine import columns as names
from zoviz.runs.run_view import RunView
from zoviz.solvers.base import Solver
from zoviz.solvers.portfolio.choice import AUTO, matched

MOST = 3
"""Remedies that are named: as many as a person compares."""
SHORTER, LONGER, FAR_SHORTER = 0.25, 100.0, 0.01
"""Factors of steps that go to and fro, of those that hardly move, and of those that run away. This and what follows
after ``labelled_runs``, where a factor of 10 neither moved nor mended most runs."""
LARGER = 4
"""Factor of a batch, which halves the error of a mean."""
NARROWER, WIDER = 0.1, 100.0
"""Factors of a smoothing radius: the bias of differences falls with it, and what noise does to them rises."""
STILL = 1.05
"""Ninth over first decile of the late distances, up to which a run stands still and does not go to and fro."""
UNEVEN = 1.0
"""Orders of magnitude between the widths of a box from which on its variables are of different sizes."""
SHARE = 0.5
"""Calls in which a remedy is tried, as a share of those of the run."""
FEWEST = 50
"""Iterations whose calls are the least in which a remedy is tried."""
_BATCHES = ("batch_size", "batch_multiplier", "outer_batch", "inner_batch")
_NONE: Mapping[str, Any] = MappingProxyType({})


class Remedy(NamedTuple):
    """A change that may mend a run.

    Attributes
    ----------
    words : str
        What is changed.
    changes : mapping of str to object
        Live parameters to set where the run is forked.
    afresh : mapping of str to object
        What a run that begins anew has another of, in place of a fork: "problem", "solver" or "seed".
    calls : int
        Calls of each replica in which it is tried, with those that a fork has to make again.
    """

    words: str
    changes: Mapping[str, Any] = _NONE
    afresh: Mapping[str, Any] = _NONE
    calls: int = 0


GO_ON = Remedy("more calls")
"""To go on as before."""


class Place(NamedTuple):
    """Where remedies leave a run, and how far they are followed.

    Attributes
    ----------
    iteration : int
    calls : int
        Calls of each replica up to there.
    repeated : int
        Those of them that a fork has to make again, as no state of the run is kept there.
    further : int
        Calls of each replica from there on.
    """

    iteration: int
    calls: int
    repeated: int
    further: int


def place_of(run: RunView, judged: Verdict, calls: int | None = None) -> Place:
    """Return where remedies leave a run: at its last iteration, or before it ran away.

    Parameters
    ----------
    run : Run or StoredRun
    judged : Verdict
        On it.
    calls : int, optional
        Calls of each replica from there on; default: half of those that the run has made.
    """
    at = run.progress.iteration
    if judged.word in (Word.DIVERGING, Word.FAILED):
        at = max((change.iteration for change in run.journal), default=0)
    columns = run.trace.snapshot().columns
    iterations, counts = columns[names.ITERATION], np.nanmax(columns[names.CALLS], axis=1)
    spent = counts[-1] - counts[0]
    usual = max(SHARE * spent, FEWEST * spent / max(iterations[-1], 1.0), 1.0)
    further = round(usual) if calls is None else calls
    return Place(at, repeat.calls_until(run, at), repeat.calls_again(run, at), further)


class RunToMend:
    """A run that is not well, with what its remedies depend on.

    Parameters
    ----------
    run : Run or StoredRun
    """

    def __init__(self, run: RunView) -> None:
        self.view, self.begun = run, repeat.begun(run)

    @property
    def solver(self) -> Solver:
        """The solver as the run began with it."""
        return self.begun.solver

    @property
    def noisy(self) -> bool:
        """Whether differences of its values have noise."""
        return self.begun.problem.noise == "independent"

    @cached_property
    def still(self) -> bool:
        """Whether its distance from a solution no longer changes."""
        course = course_of(self.view.trace.snapshot())
        late = np.zeros(1) if course is None else course.distance[course.distance.size // 2 :]
        return percentile(late, 90) <= STILL * percentile(late, 10)

    def scaled(self, wanted: Callable[[str], bool], factor: float) -> dict[str, Any]:
        """Return new values, a factor of those in force and within their bounds, of the live parameters of a kind."""
        out: dict[str, Any] = {}
        in_force = self.view.in_force
        for name in filter(lambda one: wanted(one.rpartition(".")[2]), self.solver.live):
            value = self.view.resolved.get(name) if in_force[name] is None else in_force[name]
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            holder, own = self.solver.owner(name)
            low, high = holder.param[own].bounds or (None, None)
            new = min(max(factor * value, -math.inf if low is None else low), math.inf if high is None else high)
            out[name] = round(new) if isinstance(value, int) else new
            if out[name] == value:
                del out[name]
        return out


Rule = Callable[[RunToMend], Remedy | None]
"""Returns a remedy for a run; None where it does not apply."""


def _is_step(name: str) -> bool:
    return name.endswith("_step")


def steps(factor: float, words: str) -> Rule:
    """Return the rule that changes the length of all steps."""

    def rule(run: RunToMend) -> Remedy | None:
        changes = run.scaled(_is_step, factor)
        return Remedy(words, changes) if changes else None

    return rule


def larger_batch(run: RunToMend) -> Remedy | None:
    """Return the remedy against random directions and noise: more of them in each estimate."""
    changes = run.scaled(_BATCHES.__contains__, LARGER)
    return Remedy(f"batches {LARGER} times as large", changes) if changes else None


def narrower_radius(run: RunToMend) -> Remedy | None:
    """Return the remedy against the bias of differences, at which a run without noise stands still."""
    biased = run.still and not run.noisy
    changes = run.scaled("smoothing_radius".__eq__, NARROWER) if biased else {}
    return Remedy("a tenth of the smoothing radius", changes) if changes else None


def wider_radius(run: RunToMend) -> Remedy | None:
    """Return the remedy against differences that are nothing but noise, for which the rule's steps are too short."""
    changes = run.scaled("smoothing_radius".__eq__, WIDER) if run.noisy else {}
    solver = run.solver.clone()
    for name, value in changes.items():
        solver.set(name, value)
    return Remedy("a hundred times the smoothing radius", afresh={"solver": solver}) if changes else None


def own_rule(run: RunToMend) -> Remedy | None:
    """Return the remedy for steps that a person has set: those that the solver's rule chooses."""
    solver = run.solver.clone()
    given = [name for name in filter(_is_step, solver.live) if isinstance(solver.get(name), float)]
    given = [name for name in given if (owner := solver.owner(name))[0].param[owner[1]].allow_None]
    for name in given:
        solver.set(name, None)
    return Remedy("the steps of the solver's rule", afresh={"solver": solver}) if given else None


def take_back(run: RunToMend) -> Remedy | None:
    """Return the remedy for a run that ran away after a change of a parameter: its value before."""
    journal = list(run.view.journal)
    last = journal[-1] if journal else None
    return last and Remedy(f"{run.solver.label_of(last.name)} back to {value_words(last.old)}", {last.name: last.old})


def scaled_variables(run: RunToMend) -> Remedy | None:
    """Return the remedy for functions that are called in their own units: units of the size that they have."""
    problem = run.begun.problem
    box = as_box(problem.domain)
    uneven = box is None or np.ptp(np.log10(np.maximum(box.upper - box.lower, 1e-300))) > UNEVEN
    if problem.scaled or problem.form != "constrained" or (problem.analytic and not uneven):
        return None
    problem = problem.clone()
    problem.scaled = True
    return Remedy("variables and functions scaled", afresh={"problem": problem})


def other_start(run: RunToMend) -> Remedy | None:
    """Return the remedy for a run that stays at a minimum which need not be the best: to begin elsewhere."""
    return Remedy("another start", afresh={"seed": run.begun.seed + 1}) if run.still else None


def other_method(run: RunToMend) -> Remedy | None:
    """Return the method that would be chosen for the problem, unless the run has it."""
    try:
        solver = matched(run.begun.problem, AUTO, run.begun.calls).solver
    except ValueError:  # the table has none for it
        return None
    kind = type(solver)
    return None if kind is type(run.solver) else Remedy(f"another method, {kind.title}", afresh={"solver": solver})


def more_calls(run: RunToMend) -> Remedy | None:
    """Return the remedy for a run that is on its way."""
    return GO_ON


_ON_ITS_WAY: tuple[Rule, ...] = (more_calls,)
_RAN_AWAY: tuple[Rule, ...] = (take_back, own_rule, steps(FAR_SHORTER, "steps a hundredth as long"), other_method)
_TO_AND_FRO = steps(SHORTER, "steps a quarter as long")
TABLE: Mapping[Word, tuple[Rule, ...]] = {
    Word.EARLY: _ON_ITS_WAY,
    Word.CONVERGING: _ON_ITS_WAY,
    Word.BUDGET_ENDED: _ON_ITS_WAY,
    Word.SETTLED: (scaled_variables, other_start, other_method),
    Word.STALLED: (own_rule, scaled_variables, narrower_radius, other_start, _TO_AND_FRO, larger_batch, other_method),
    Word.OSCILLATING: (own_rule, scaled_variables, _TO_AND_FRO, larger_batch, other_method),
    Word.INFEASIBLE: (own_rule, scaled_variables, other_start, other_method),
    Word.DIVERGING: _RAN_AWAY,
    Word.FAILED: _RAN_AWAY,
}
"""The remedies of each verdict: what keeps the method, the most promising first, then another method. A run that is
solved, or at its noise floor, needs none."""
UNMOVED: tuple[Rule, ...] = (own_rule, wider_radius, steps(LONGER, "steps a hundred times as long"), other_method)
"""Those of a run that has hardly left its start."""


def remedies(run: RunView, judged: Verdict | None = None, calls: int | None = None) -> list[Remedy]:
    """Return at most three remedies for a run with what they cost, the most promising first; none where it is well.

    Parameters
    ----------
    run : Run or StoredRun
    judged : Verdict, optional
        The verdict on it, where it is known.
    calls : int, optional
        Calls of each replica in which a remedy is to be tried; default: half of those that the run has made.
    """
    judged = verdict_of(run) if judged is None else judged
    if judged.word not in TABLE or not len(run.trace):
        return []
    to_mend, place = RunToMend(run), place_of(run, judged, calls)
    rules = UNMOVED if judged.unmoved else TABLE[judged.word]
    found = [one for rule in rules if (one := rule(to_mend)) is not None]
    named = found if len(found) <= MOST else [*found[: MOST - 1], found[-1]]
    return [one._replace(calls=place.further + (place.repeated if one.changes else 0)) for one in named]


def trial_calls(run: RunView, judged: Verdict, named: Sequence[Remedy], calls: int | None = None) -> int:
    """Return the calls of all replicas that a trial of remedies takes, with the fork without any."""
    place = place_of(run, judged, calls)
    tried = sum(one.calls for one in named if one.changes or one.afresh)
    return run.replicas * (place.repeated + place.further + tried)


def advice(named: Sequence[Remedy]) -> str:
    """Return remedies in a sentence, with the calls of a replica that trying each takes; empty for none."""
    words = ", ".join(f"{one.words} ({one.calls:,} calls)" for one in named)
    return f"Worth a try: {words}." if named else ""
