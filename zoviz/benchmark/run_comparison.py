"""Runs side by side: what each replica came to, the parameters that differ, and paired differences."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from zoviz.benchmark.paired_comparison import Comparison, compare
from zoviz.core.ranking import quartile
from zoviz.core.types import Array
from zoviz.diagnosis.verdict import Verdict, verdict_of
from zoviz.runs.engine import columns
from zoviz.runs.run import Run
from zoviz.runs.storage.recipe import describe
from zoviz.runs.stored_run import StoredRun

FINAL_GAP, BEST_GAP, BEST_OBJECTIVE = "gap at the end", "best feasible gap", "best feasible objective"
MEASURES = {
    BEST_GAP: columns.BEST_GAP,
    FINAL_GAP: columns.GAP,
    BEST_OBJECTIVE: columns.BEST_OBJECTIVE,
    "objective at the end": columns.OBJECTIVE,
    "violation at the end": columns.VIOLATION,
    "KKT residual at the end": columns.STATIONARITY,
    "mean regret at the end": columns.AVERAGE_REGRET,
    "calls": columns.CALLS,
}
"""Columns of a trace by the measure that their last row is, the most telling first."""
SIGNED = (BEST_OBJECTIVE, "objective at the end")
"""Measures that may be negative; of the others magnitudes count.

Of the best feasible gap what is below 0 counts as 0: a point that is feasible within the tolerance may lie below f*."""
SETTINGS = ("replicas", "seed")
"""Settings of runs that are named where they differ."""


class Quartiles(NamedTuple):
    """The quartiles of a measure over replicas, +inf where so many failed."""

    lower: float
    median: float
    upper: float


class ComparedRun(NamedTuple):
    """A run among others that it is compared with.

    Attributes
    ----------
    name, problem, solver : str
        The last two as titles; the problem's with the parameters in which another of its kind differs.
    verdict : str
        One word; empty before the first step.
    draws : Hashable
        What agrees for two runs whose replicas are pairs: problem, seed and number of replicas.
    parameters : dict of str to str
        Those of the solver and settings of the run that others of the runs have otherwise.
    measures : dict of str to Array, shape (R,)
        One number for each replica, the lower the better; +inf where there is none.
    below : int
        Replicas whose best feasible point lies below f*, by the tolerance.
    """

    name: str
    problem: str
    solver: str
    verdict: str
    draws: Hashable
    parameters: dict[str, str]
    measures: dict[str, Array]
    below: int = 0

    def quartiles(self, measure: str) -> Quartiles:
        """Return the quartiles of a measure, each a value that a replica has: of two the upper one."""
        return Quartiles(*(quartile(self.measures[measure], share) for share in (0.25, 0.5, 0.75)))


def measures_of(run: Run | StoredRun) -> dict[str, Array]:
    """Return what the replicas of a run that has begun came to: the last row of its trace, and calls to its targets."""
    rows = run.trace.snapshot().columns
    measures = {}
    for name, column in MEASURES.items():
        if column not in rows:
            continue
        last = np.asarray(rows[column][-1], dtype=float)
        last = np.where(np.isnan(last), np.inf, last)
        if name in (BEST_GAP, BEST_OBJECTIVE) or np.isfinite(last).any():  # no feasible point is an outcome, too
            measures[name] = last if name in SIGNED else np.maximum(last, 0.0) if name == BEST_GAP else np.abs(last)
    for target in run.hits:
        hit = np.where(np.isnan(target.calls), np.inf, target.calls)
        measures[f"calls to {target.metric.replace('_', ' ')} {target.threshold:g}"] = hit
    return measures


def compared(
    runs: Mapping[str, Run | StoredRun], judge: Callable[[Run | StoredRun], Verdict | None] = verdict_of
) -> list[ComparedRun]:
    """Return runs by name, side by side; those that have not begun are left out.

    Parameters
    ----------
    runs : mapping of str to Run or StoredRun
    judge : callable, optional
        Returns the verdict on a run, e.g. one that was made before; None where there is none.
    """
    begun = {name: run for name, run in runs.items() if len(run.trace)}
    recipes = {name: _recipes(run) for name, run in begun.items()}
    parameters = _differing({name: solver for name, (_, solver) in recipes.items()})
    variants = _differing({name: problem for name, (problem, _) in recipes.items()})
    settings = {name: {one: str(getattr(run, one)) for one in SETTINGS} for name, run in begun.items()}
    varied = [one for one in SETTINGS if len({own[one] for own in settings.values()}) > 1]
    out = []
    for name, run in begun.items():
        own = parameters[name] | {one: settings[name][one] for one in varied}
        draws = json.dumps(recipes[name][0], sort_keys=True), run.seed, run.replicas
        verdict = judge(run) if len(run.trace) > 1 else None
        word = "" if verdict is None else str(verdict.word)
        variant = ", ".join(f"{parameter} = {value}" for parameter, value in variants[name].items())
        problem = _title(run.problem) + (f" ({variant})" if variant else "")
        out.append(ComparedRun(name, problem, _title(run.solver), word, draws, own, measures_of(run), _below(run)))
    return out


def _below(run: Run | StoredRun) -> int:
    """Return how many replicas have a best feasible point below f*."""
    rows = run.trace.snapshot().columns
    return int((rows[columns.BEST_GAP][-1] < 0.0).sum()) if columns.BEST_GAP in rows else 0


def _title(thing: Any) -> str:
    return str(type(thing).title or type(thing).__name__)


def _recipes(run: Run | StoredRun) -> tuple[Any, Any]:
    """Return the recipes of a run's problem and solver, as it began."""
    if isinstance(run, StoredRun):
        return json.loads(run.recipe["problem"]), json.loads(run.recipe["solver"])
    spec = run.spec if run.initial is None else run.initial
    return describe(spec.problem), describe(spec.solver)


def _flat(recipe: Any, path: str = "") -> dict[str, str]:
    """Return the values of a recipe by dotted name, as text."""
    flat: dict[str, str] = {}
    for name, value in recipe["values"].items():
        if isinstance(value, dict) and "class" in value:
            flat[path + name] = value["class"].rpartition(":")[2]
            flat |= _flat(value, f"{path}{name}.")
        else:
            flat[path + name] = "by rule" if value is None else str(value)
    return flat


def _differing(recipes: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return, for each run, the parameters in which another run's solver, or problem, of the same class differs."""
    flat = {name: _flat(recipe) for name, recipe in recipes.items()}
    out: dict[str, dict[str, str]] = {}
    for name, recipe in recipes.items():
        same = [flat[other] for other, one in recipes.items() if one["class"] == recipe["class"]]
        out[name] = {key: value for key, value in flat[name].items() if len({one.get(key) for one in same}) > 1}
    return out


def paired(runs: Sequence[ComparedRun], measure: str, generator: np.random.Generator) -> list[Comparison]:
    """Compare all runs by the differences of their replicas, where these are pairs.

    Replica r of two runs on one problem, with one seed and equally many replicas, begins at the same point and meets
    the same noise. The comparisons are corrected for their number.

    Parameters
    ----------
    runs : sequence of ComparedRun
    measure : str
        Runs without it are left out.
    generator : numpy.random.Generator
    """
    losses = {one.name: one.measures[measure] for one in runs if measure in one.measures}
    pairs = [
        (one.name, other.name)
        for one, other in combinations(runs, 2)
        if one.draws == other.draws and one.name in losses and other.name in losses
    ]
    return compare(losses, generator, pairs) if pairs else []
