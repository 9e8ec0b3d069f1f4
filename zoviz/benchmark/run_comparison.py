"""Runs side by side: each replica's outcome, the parameters that differ, and paired differences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from zoviz.benchmark.paired_comparison import Comparison, compare
from zoviz.core.ranking import quartile
from zoviz.core.registry import title_of
from zoviz.core.types import Array
from zoviz.diagnosis.verdict import Verdict, verdict_of
from zoviz.runs.engine import columns
from zoviz.runs.run_view import RunView
from zoviz.runs.storage.recipe import describe
from zoviz.runs.stored_run import StoredRun

FINAL_GAP, BEST_GAP, BEST_OBJECTIVE = "gap at the end", "best feasible gap", "best feasible objective"
CALLS = "calls"
MEASURES = {
    BEST_GAP: columns.BEST_GAP,
    FINAL_GAP: columns.GAP,
    BEST_OBJECTIVE: columns.BEST_OBJECTIVE,
    "objective at the end": columns.OBJECTIVE,
    "violation at the end": columns.VIOLATION,
    "KKT residual at the end": columns.STATIONARITY,
    "mean regret at the end": columns.AVERAGE_REGRET,
    CALLS: columns.CALLS,
}
"""Columns of a trace by the measure that their last row is, the most telling first."""
SIGNED = (BEST_OBJECTIVE, "objective at the end")
"""Measures that may be negative; of the others magnitudes count.

Of the best feasible gap what is below 0 counts as 0: a point that is feasible within the tolerance may lie below f*."""
SETTINGS = ("replicas", "seed", "iterations", "calls", "seconds", "samples", "tolerance")
"""Settings of runs that are named where they differ."""
LONGEST = 24
"""Letters of a value in a table: arrays and programs are longer."""


class Quartiles(NamedTuple):
    """The quartiles of a measure over replicas, +inf where enough of them failed."""

    lower: float
    median: float
    upper: float


class ComparedRun(NamedTuple):
    """A run among others that it is compared with.

    Attributes
    ----------
    name, problem, solver : str
        The last two as titles; the problem's with the parameters in which another of its kind differs. Two runs have
        one ``problem`` only where they have the same.
    verdict : str
        One word; empty before the first step.
    draws : Hashable
        What agrees for two runs whose replicas are pairs: problem, seed and number of replicas.
    parameters : dict of str to str
        What differs from others of the runs: the solver, its parameters, settings, and changes of parameters on the
        way. ``problem`` says how problems differ.
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
        """Return the quartiles of a measure, each the value of a replica: of two candidates, the upper one."""
        return Quartiles(*(quartile(self.measures[measure], share) for share in (0.25, 0.5, 0.75)))


def measures_of(run: RunView) -> dict[str, Array]:
    """Return the outcomes of a run's replicas: the last row of its trace, and calls to its targets."""
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


def compared(runs: Mapping[str, RunView], judge: Callable[[RunView], Verdict | None] = verdict_of) -> list[ComparedRun]:
    """Return runs by name, side by side, without those that have not begun.

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
    whole = {name: {"solver": title_of(run.solver)} | _settings(run) for name, run in begun.items()}
    varied = {one for own in whole.values() for one in own if len({other.get(one) for other in whole.values()}) > 1}
    labels: dict[str, str] = {}  # of problems
    out = []
    for name, run in begun.items():
        own = {one: value for one, value in whole[name].items() if one in varied and value}
        own = {one: own.pop(one) for one in ("solver",) if one in own} | parameters[name] | own
        draws = json.dumps(recipes[name][0], sort_keys=True), run.seed, run.replicas
        verdict = judge(run) if len(run.trace) > 1 else None
        word = "" if verdict is None else str(verdict.word)
        variant = ", ".join(f"{parameter} = {value}" for parameter, value in variants[name].items())
        problem = _named(title_of(run.problem) + (f" ({variant})" if variant else ""), draws[0], labels)
        out.append(ComparedRun(name, problem, title_of(run.solver), word, draws, own, measures_of(run), _below(run)))
    return out


def _below(run: RunView) -> int:
    """Return how many replicas have a best feasible point below f*."""
    rows = run.trace.snapshot().columns
    return int((rows[columns.BEST_GAP][-1] < 0.0).sum()) if columns.BEST_GAP in rows else 0


def _settings(run: RunView) -> dict[str, str]:
    """Return the settings of a run that are compared, and what was changed while it ran, as text; "" for none."""
    given = run.settings
    changes = Counter(change.name for change in run.journal)
    steering = ", ".join(f"{name} × {count}" if count > 1 else name for name, count in changes.items())
    return {name: "" if given.get(name) is None else str(given[name]) for name in SETTINGS} | {"changed": steering}


def _named(label: str, recipe: str, labels: dict[str, str]) -> str:
    """Return a problem's label, with a number where another problem's has the same words."""
    if recipe not in labels:
        same = sum(one.partition(" #")[0] == label for one in labels.values())
        labels[recipe] = f"{label} #{same + 1}" if same else label
    return labels[recipe]


def _recipes(run: RunView) -> tuple[Any, Any]:
    """Return the recipes of a run's problem and solver, as it began."""
    if isinstance(run, StoredRun):
        return json.loads(run.recipe["problem"]), json.loads(run.recipe["solver"])
    spec = run if run.initial is None else run.initial
    return describe(spec.problem), describe(spec.solver)


def _flat(recipe: Any, path: str = "") -> dict[str, str]:
    """Return the values of a recipe by dotted name, as text."""
    flat: dict[str, str] = {}
    for name, value in recipe["values"].items():
        if isinstance(value, dict) and "class" in value:
            flat[path + name] = value["class"].rpartition(":")[2]
            flat |= _flat(value, f"{path}{name}.")
        else:
            flat[path + name] = "auto" if value is None else str(value)
    return {name: value for name, value in flat.items() if not _idle(name, flat)}


def _idle(name: str, values: Mapping[str, str]) -> bool:
    """Return whether a parameter of the noise has no effect beside the others, or only says what is usual."""
    if values.get("noise") == "deterministic":
        return name.startswith("noise_")
    normal = values.get("noise_distribution") == "normal"
    return (name in ("noise_degrees", "noise_distribution") and normal) or (
        name == "noise_constraint_scale" and values[name] == "auto"
    )


def _differing(recipes: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return, for each run, the parameters in which another run's solver, or problem, of the same class differs."""
    flat = {name: _flat(recipe) for name, recipe in recipes.items()}
    out: dict[str, dict[str, str]] = {}
    for name, recipe in recipes.items():
        same = [flat[other] for other, one in recipes.items() if one["class"] == recipe["class"]]
        differs = {key: value for key, value in flat[name].items() if len({one.get(key) for one in same}) > 1}
        out[name] = {key: one if len(one) <= LONGEST else f"{one[: LONGEST - 1]}…" for key, one in differs.items()}
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
