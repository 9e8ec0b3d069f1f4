"""A report as Markdown, for a repository, a ticket or a message."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from zoviz.views.report.report import Report, RunReport, compared, counted, design_rows, in_order

_MARKS = re.compile(r"([\\`*_{}\[\]()#+!|>~-])")
_MOST = 60
"""Rows of a design: the page's data have all of them."""


def markdown(report: Report) -> str:
    """Return a report as Markdown.

    Parameters
    ----------
    report : Report
    """
    parts = [f"# {_safe(report.title)}", f"Made {report.made} with zoviz {report.zoviz}."]
    if len(report.runs) > 1:
        parts.append(_table(*compared(report)))
    for one in report.runs:
        parts += _run(one, report.runs[0], alone=len(report.runs) == 1)
    return "\n\n".join(filter(None, parts)) + "\n"


def _run(one: RunReport, first: RunReport, alone: bool) -> list[str]:
    """Return the paragraphs on a run beside the first."""
    run, deep = one.run, "##" if alone else "###"
    head = (
        f"{one.solver_title} on {one.shown.problem_title}, {run.replicas} replicas, seed {run.seed}, run {run.id[:8]}"
    )
    parts = [] if alone else [f"## {_safe(one.shown.name)}"]
    parts += [_safe(f"{head}."), _safe(one.remarks)]
    parts.append(f"**{_safe(str(one.verdict.word))}**: {_safe(one.judged)} {_safe(run.message)}")
    parts += [f"{deep} Best design", *_design(one)]
    parts += [f"{deep} Counts", _table(["", ""], [[name, counted(count)] for name, count in one.counts.items()])]
    purposes = [[name, f"{mean:,.0f}", f"{100 * share:.0f} %"] for name, (mean, share) in one.ledger.items()]
    parts += [f"{deep} Calls by purpose, per replica", _table(["purpose", "calls", "share"], purposes)]
    if one.changes:
        rows = [[f"{c.iteration:,}", f"{c.calls:,}", one.change_words(c)] for c in one.changes]
        parts += [f"{deep} Steering", _table(["iteration", "calls", "change"], rows)]
    for group, values in one.settings_beside(first).items():
        parts += [f"{deep} {_safe(group)}", _table(["", ""], list(values.items()))]
    if one is first or one.versions != first.versions:
        parts += [f"{deep} Environment", _table(["", ""], in_order(one.versions))]
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", one.source)), default=0))
    return [*parts, f"{deep} Script that repeats it", f"{fence}python\n{one.source.rstrip()}\n{fence}"]


def _design(one: RunReport) -> list[str]:
    """Return the best design, with how sure it is."""
    design, sure = one.design, one.sureness
    if design is None:
        return ["It has no point yet."]
    said = sure.sentence if sure.certainty is None else sure.certainty.sentence
    state = "feasible" if design.feasible else "not feasible"
    rows = design_rows(design)
    more = f"… and {len(rows) - _MOST} more rows." if len(rows) > _MOST else ""
    head = f"f = {design.value}, {state}: {_safe(design.kind)}. {_safe(said)}"
    return [head.rstrip(), _table(["", "value", "lower", "upper"], rows[:_MOST]), more]


def _safe(text: str) -> str:
    """Return text that Markdown takes as it stands, on one line."""
    return _MARKS.sub(r"\\\1", html.escape(" ".join(text.split()), quote=False))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the first column is text, the others are as they come."""
    lines = [heads, ["---"] * len(heads), *([_safe(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) if len(lines) > 2 else ""
