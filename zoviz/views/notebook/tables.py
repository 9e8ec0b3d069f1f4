"""Tables of results, of studies and of trials, as HTML that needs no script."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zoviz.diagnosis.trial import Trial
from zoviz.runs.engine.result import Result
from zoviz.studies.study import Study

MOST_LINES = 20
"""Of a table in a cell: what follows is counted."""


def table_html(lines: Sequence[Mapping[str, Any]], caption: str = "") -> str:
    """Return lines as a table, whose columns are the names that any line has.

    Parameters
    ----------
    lines : sequence of mapping of str to object
    caption : str
        Stands above.
    """
    names = list(dict.fromkeys(name for line in lines for name in line))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_text(line.get(name, '')))}</td>" for name in names) + "</tr>"
        for line in lines[:MOST_LINES]
    )
    more = f"<div>… and {len(lines) - MOST_LINES:,} more lines.</div>" if len(lines) > MOST_LINES else ""
    above = f"<div>{html.escape(caption)}</div>" if caption else ""
    return f"{above}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def result_html(result: Result) -> str:
    """Return a line for each replica of a result, under the sentence how the run ended."""
    lines = [
        {
            "replica": r,
            "objective": result.fun[r],
            "violation": result.violation[r],
            "feasible": "yes" if result.success[r] else "no",
            "best feasible objective": result.best_fun[r],
            "calls": int(result.calls[r]),
        }
        for r in range(len(result.fun))
    ]
    return table_html(lines, f"{str(result.status).capitalize()} after {result.nit:,} iterations. {result.message}")


def study_html(study: Study) -> str:
    """Return a line for each replica of a study's runs, under how many of its cells have ended."""
    statuses = [status for status in study.statuses().values() if status is not None]
    ended = sum(not status.active for status in statuses)
    return table_html(study.table(), f"{ended} of {len(study.cells)} runs have ended.")


def trial_html(trial: Trial) -> str:
    """Return a line for each remedy of a trial, under what each was given and which is best."""
    lines = [
        {
            "remedy": one.remedy.words,
            "outcome": one.word,
            "times as near": one.times.value,
            "from": one.times.low,
            "to": one.times.high,
            "calls": int(one.run.progress.calls),
        }
        for one in trial.outcomes
    ]
    return table_html(lines, f"{trial.price} {trial.sentence}")


def _text(value: object) -> str:
    """Return a value as the text of a table's cell: numbers with four digits, what is missing as nothing."""
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
