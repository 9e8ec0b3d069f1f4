"""A report of runs: what there is to say of them, as one object that the page, Markdown and print render."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import param

from zoviz.certainty.certainty import Certainty
from zoviz.core.errors import ZovizError
from zoviz.core.optional import installed_version
from zoviz.core.parameters import value_words
from zoviz.core.registry import title_of
from zoviz.diagnosis.remedies import Remedy, advice, remedies
from zoviz.diagnosis.verdict import Verdict, verdict_of
from zoviz.runs.best_design import BestDesign
from zoviz.runs.engine.columns import CALLS, GAP, ITERATION, OBJECTIVE, SECONDS, VIOLATION
from zoviz.runs.engine.steering import Change
from zoviz.runs.engine.trace import Snapshot
from zoviz.runs.run_view import RunView
from zoviz.runs.script import script
from zoviz.runs.storage.rows import versions
from zoviz.runs.store import Store
from zoviz.views.common.drags import drags
from zoviz.views.common.shown_runs import ShownRun, ShownRuns
from zoviz.views.diagnosis.ledger_bars import shares
from zoviz.views.diagnosis.run_certainty import Sureness, found_out
from zoviz.views.plots.line_data import axis_values, row_indices
from zoviz.views.plots.named_runs import Runs, named_runs

MOST_FORKS = 5
"""Forks that a run's report has beside it, the newest: as many lines as can be told apart."""
MOST_CHANGES = 12
"""Changes that are listed one by one."""
_COURSE = (OBJECTIVE, VIOLATION, GAP)
"""Columns that the player reads out."""
_FINAL = ("fun", "violation", "best_fun", "calls")
"""Figures of every replica in a report's data, by their names in a ``Result``."""


@dataclass(frozen=True)
class RunReport:
    """What a report says of one run, as it was at one moment.

    Attributes
    ----------
    shown : ShownRun
        The run with the name and the colour that it has in the report.
    trace : Snapshot
    verdict : Verdict
    remedies : list of Remedy
        What may mend it.
    design : BestDesign or None
        None before there is an outcome.
    sureness : Sureness
        How sure the design is.
    source : str
        The script that repeats the run, or the sentence why there is none.
    """

    shown: ShownRun
    trace: Snapshot
    verdict: Verdict
    remedies: list[Remedy]
    design: BestDesign | None
    sureness: Sureness
    source: str

    @classmethod
    def of(cls, shown: ShownRun) -> RunReport:
        """Return the report of a run that has begun."""
        run = shown.run
        design = run.best_design if run.has_result else None
        try:
            source = script(run)
        except ZovizError as error:
            source = f"# {error}"
        judged = verdict_of(run)
        return cls(shown, run.trace.snapshot(), judged, remedies(run, judged), design, found_out(run), source)

    @property
    def run(self) -> RunView:
        """The run itself."""
        return self.shown.run

    @property
    def solver_title(self) -> str:
        """The title of the run's solver."""
        return title_of(self.run.solver)

    @property
    def judged(self) -> str:
        """The verdict in a sentence, with the remedies for it."""
        return " ".join(filter(None, [self.verdict.sentence, advice(self.remedies)]))

    @property
    def counts(self) -> dict[str, float]:
        """Iterations, calls, samples and seconds so far, those that are not 0, by the labels of the budgets."""
        return {str(self.run.param[name].label): count for name, count in self.run.progress.counts.items() if count}

    @property
    def remarks(self) -> str:
        """The notes and tags of a stored run."""
        record = getattr(self.run, "record", None)
        return "" if record is None else " ".join(filter(None, [record.notes, *(f"#{tag}" for tag in record.tags)]))

    @cached_property
    def settings(self) -> dict[str, dict[str, str]]:
        """The values of problem, solver and run in words, by label; what the solver's rule chose says so."""
        run = self.run
        begun = run if run.initial is None else run.initial
        problem = {"Variables": str(begun.problem.domain.n), "Constraints": str(begun.problem.m)}
        of_run = {
            str(run.param[name].label): value_words(value)
            for name, value in run.settings.items()
            if _plain(value) and "about" not in (run.param[name].metadata or {})
        }
        return {
            f"Problem: {self.shown.problem_title}": problem | _words({"": begun.problem}, {}),
            f"Solver: {self.solver_title}": _words(begun.solver.parts(), run.resolved),
            "Run": of_run,
        }

    def settings_beside(self, other: RunReport) -> dict[str, dict[str, str]]:
        """Return the settings that are not as another run's; of the other itself all."""
        if self is other:
            return self.settings
        theirs = {(group, label, words) for group, values in other.settings.items() for label, words in values.items()}
        groups = {
            group: {label: words for label, words in values.items() if (group, label, words) not in theirs}
            for group, values in self.settings.items()
        }
        return {group: values for group, values in groups.items() if values}

    @property
    def changes(self) -> list[Change]:
        """What was changed while it ran; of many changes, a drag of a handle as one."""
        all_changes = list(self.run.journal)
        return all_changes if len(all_changes) <= MOST_CHANGES else drags(all_changes)

    def change_words(self, change: Change) -> str:
        """Return a change in words."""
        label = self.run.solver.label_of(change.name)
        return f"{label}: {value_words(change.old, 4)} → {value_words(change.new, 4)}"

    @property
    def ledger(self) -> dict[str, tuple[float, float]]:
        """The calls by purpose, mean over the replicas, and their share of all."""
        return shares(self.trace.columns)

    @cached_property
    def versions(self) -> dict[str, str]:
        """The libraries that the run began with; of a run in memory those of now."""
        stored: dict[str, str] = getattr(self.run, "versions", None) or versions()
        return stored

    @cached_property
    def course(self) -> dict[str, list[float | None]]:
        """Counters and medians over the replicas, at rows that are even along the calls."""
        rows, columns = self.trace.rows, self.trace.columns
        if not rows:
            return {}
        at = row_indices(axis_values(self.trace, CALLS), False)
        out = {name: axis_values(self.trace, name)[at] for name in (ITERATION, CALLS, SECONDS)}
        out |= {name: np.median(columns[name][at], axis=1) for name in _COURSE if name in columns}
        return {name: _numbers(values) for name, values in out.items()}

    def plain(self) -> dict[str, Any]:
        """Return it as plain numbers, lists and text, for JSON; what is not finite is None."""
        run, sure = self.run, self.sureness
        result = run.result if run.has_result else None
        return {
            "id": run.id,
            "name": self.shown.name,
            "label": run.label,
            "remarks": self.remarks,
            "colour": self.shown.colour,
            "problem": self.shown.problem_title,
            "solver": self.solver_title,
            "seed": run.seed,
            "replicas": run.replicas,
            "parent": run.parent,
            "status": str(run.status),
            "message": run.message,
            "counts": dict(run.progress.counts),
            "verdict": {"word": str(self.verdict.word), "sentence": self.verdict.sentence},
            "remedies": [{"remedy": one.words, "calls": one.calls} for one in self.remedies],
            "best_design": None if self.design is None else self.design.plain(),
            "certainty": sure.sentence if sure.certainty is None else certainty_plain(sure.certainty),
            "final": {} if result is None else {name: _numbers(getattr(result, name)) for name in _FINAL},
            "settings": self.settings,
            "changes": [
                [*one[:3], one.name, value_words(one.old, 17), value_words(one.new, 17)] for one in self.changes
            ],
            "ledger": {} if result is None else {name: count.tolist() for name, count in result.ledger.calls.items()},
            "versions": self.versions,
            "script": self.source,
            "course": self.course,
        }


@dataclass(frozen=True)
class Report:
    """What a report says of one run, with its forks, or of several runs.

    Attributes
    ----------
    title : str
    runs : tuple of RunReport
        The run that it is of comes first.
    made : str
        When, to the minute.
    shown : ShownRuns
        The same runs, for plots.
    """

    title: str
    runs: tuple[RunReport, ...]
    made: str
    shown: ShownRuns

    @classmethod
    def of(cls, runs: Runs) -> Report:
        """Return the report of runs that have begun; a run alone has the forks beside it that its store knows.

        Raises
        ------
        ValueError
            For a run that has not begun.
        """
        by_name, shown = named_runs(runs), ShownRuns()
        if len(by_name) == 1:
            by_name |= forks_of(next(iter(by_name.values())))
        entries = [shown.put(run, name) for name, run in by_name.items()]
        for one in entries:
            shown.reveal(one.key, True)
        parts = tuple(RunReport.of(one) for one in entries)
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime())
        first, own = parts[0], len(named_runs(runs))
        whole = f"{first.solver_title} on {first.shown.problem_title}"
        title = (first.run.label or whole) if own == 1 else f"{own} runs: {', '.join(one.name for one in entries)}"
        return cls(title, parts, made, shown)

    def plain(self) -> dict[str, Any]:
        """Return it as plain numbers, lists and text, for JSON."""
        runs = [one.plain() for one in self.runs]
        return {"title": self.title, "made": self.made, "zoviz": self.zoviz, "runs": runs}

    @property
    def zoviz(self) -> str:
        """The version that made it."""
        return installed_version()


def forks_of(run: RunView) -> dict[str, RunView]:
    """Return the run that this one repeats, and those that repeat it, by names that say where they leave it."""
    if run.store is None:
        return {}
    store = Store(run.store, create=False) if isinstance(run.store, str) else run.store
    records = store.runs(parent=run.id, limit=MOST_FORKS)
    ids = [one.id for one in records[::-1]]
    ids += [run.parent] if run.parent and store.record(run.parent) is not None else []
    out: dict[str, RunView] = {}
    for id in ids:
        other = store.load(id)
        if len(other.trace):
            word = "origin" if id == run.parent else "fork"
            own = f"{other.label} " if other.label != run.label else ""
            out[f"{own}{word} {id[:6]}: {_departure(run, other)}"] = other
    return out


def _departure(run: RunView, other: RunView) -> str:
    """Return in words where a run leaves another that it repeats, or is repeated by."""
    known = {(one.iteration, one.name, one.new) for one in run.journal}
    own = [one for one in other.journal if (one.iteration, one.name, one.new) not in known]
    if not own:
        return f"{other.progress.iteration:,} iterations"
    label = other.solver.label_of(own[0].name)
    return f"{label} → {value_words(own[0].new)} at iteration {own[0].iteration:,}"


def certainty_plain(sure: Certainty) -> dict[str, Any]:
    """Return a certainty as plain numbers and lists; an interval is its value and its ends."""
    several = {name: [_numbers(one) for one in getattr(sure, name)] for name in ("h_x", "multipliers", "x_star")}
    single = {name: _numbers(getattr(sure, name)) for name in ("f_x", "f_star", "gain", "p_feasible", "noise")}
    words = {"activity": [str(one) for one in sure.activity], "sentence": sure.sentence}
    return {**single, **several, **words, "calls": sure.calls, "level": sure.level, "next_digit": sure.next_digit}


def _numbers(values: Any) -> list[float | None]:
    """Return numbers (k,) as JSON has them: None for what is not finite."""
    return [float(one) if np.isfinite(one) else None for one in np.asarray(values, dtype=float)]


def _plain(value: Any) -> bool:
    """Return whether a value says something in a table of settings."""
    return isinstance(value, (bool, int, float, str)) and value != ""


def _words(parts: Mapping[str, param.Parameterized], resolved: Mapping[str, Any]) -> dict[str, str]:
    """Return the plain parameters of an object and its parts in words, by label."""
    out: dict[str, str] = {}
    for prefix, part in parts.items():
        for name, value in part.param.values().items():
            chosen = value is None and f"{prefix}{name}" in resolved
            value = resolved[f"{prefix}{name}"] if chosen else value
            if name == "name" or not _plain(value):
                continue
            label = str(part.param[name].label)
            key = label if label not in out else f"{label} ({prefix}{name})"
            out[key] = value_words(value, 6) + (" (chosen by the solver's rule)" if chosen else "")
    return out


def in_order(versions: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """Return versions, with those first that decide a run's numbers."""
    first = [name for name in ("zoviz", "python", "machine", "numpy", "scipy") if name in versions]
    return [(name, versions[name]) for name in dict.fromkeys([*first, *versions])]


def counted(count: float) -> str:
    """Return a count, or seconds, in words."""
    return f"{count:,}" if isinstance(count, int) else f"{count:,.3g}"


def compared(report: Report) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of a table of the runs: name, method, verdict, best f, whether feasible, counts."""
    heads = ["Run", "Problem and method", "Verdict", "Best f", "Feasible", "Iterations", "Calls", "Seconds", "Changes"]
    rows = []
    for one in report.runs:
        design, progress = one.design, one.run.progress
        best = ["–", "–"] if design is None else [f"{design.f:.8g}", "yes" if design.feasible else "no"]
        counts = [f"{progress.iteration:,}", f"{progress.calls:,}", f"{progress.seconds:.3g}", str(len(one.changes))]
        method = f"{one.solver_title} on {one.shown.problem_title}"
        rows.append([one.shown.name, method, str(one.verdict.word), *best, *counts])
    return heads, rows


def design_rows(design: BestDesign) -> list[list[str]]:
    """Return the rows of a table of a design: name, value, lower and upper end."""
    ends = zip(design.variables, design.x, design.lower, design.upper, strict=True)
    rows = [[name, f"{value:.10g}", f"{low:g}", f"{high:g}"] for name, value, low, high in ends]
    return rows + [[name, f"{value:.4g}", "", "0"] for name, value in zip(design.constraints, design.h, strict=True)]
