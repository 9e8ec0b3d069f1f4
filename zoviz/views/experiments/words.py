"""Verdicts, tables and sentences of the room as HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from zoviz.studies.experiment import Table
from zoviz.studies.verdict import Verdict
from zoviz.views.experiments.overview import NOT_MEASURED, NOT_RECORDED

_LOOKS = {
    str(Verdict.YES): "yes",
    str(Verdict.NO): "no",
    str(Verdict.OPEN): "open",
    NOT_RECORDED: "none",
    NOT_MEASURED: "none",
}
FEW = 3
"""Claims that a card lists; more are opened by a click."""
VERDICT_STYLE = """
.verdict {display: inline-block; border-radius: 10px; padding: 1px 9px; font-size: 12.5px; font-weight: 600;
  color: #fff; white-space: nowrap; line-height: 1.45}
.verdict.yes {background: #27774c} .verdict.no {background: #b3362b} .verdict.open {background: #85600a}
.verdict.none {background: #636a73}
"""
"""Of verdicts: the same white on dark colours on light and dark pages; the word says what the colour does."""
TABLE_STYLE = """
table {border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums}
caption {text-align: left; font-weight: 600; font-size: 14px; padding: 10px 0 4px}
th {text-align: left; font-weight: 600; opacity: .7; padding: 4px 14px 4px 0; vertical-align: bottom}
td {padding: 4px 14px 4px 0; vertical-align: top; overflow-wrap: break-word}
tr + tr td {border-top: 1px solid color-mix(in srgb, currentColor 14%, transparent)}
"""


def verdict_html(verdict: str, what: str = "") -> str:
    """Return a verdict as a coloured word, after what it is on."""
    return f"<span class='verdict {_LOOKS.get(verdict, 'none')}'>{what}{html.escape(verdict)}</span>"


def states_html(states: Mapping[str, int]) -> str:
    """Return the verdicts of an experiment's claims, each with how many of them have it."""
    whole = sum(states.values())
    claims = "1 claim" if whole == 1 else f"{whole} claims"
    of = {state: claims if count == whole else f"{count} of {claims}" for state, count in states.items()}
    return " ".join(verdict_html(state, f"{what} ") for state, what in of.items())


def brief_claims_html(judged: Sequence[Mapping[str, Any]]) -> str:
    """Return each claim after its verdict, as a list that can be opened where it is longer than a few lines."""
    points = "".join(
        f"<li>{verdict_html(row['verdict'])} {html.escape(row['place'])}: {html.escape(row['says'])}</li>"
        for row in judged
    )
    if len(judged) <= FEW:
        return f"<ul class='claims'>{points}</ul>"
    return f"<details class='claims'><summary>The {len(judged)} claims</summary><ul>{points}</ul></details>"


def table_html(table: Table) -> str:
    """Return a table of a report."""
    rows = "".join(_row([html.escape(cell) for cell in row]) for row in table.rows)
    return _table(table.heading, table.heads, rows)


def claims_html(judged: Sequence[Mapping[str, Any]]) -> str:
    """Return the claims with their verdicts, and what the same test says without what each credits."""
    heads = ("Place", "Claim", "Verdict", "Figures", "Ablation")
    rows = []
    for row in judged:
        without = ""
        if "ablation" in row:
            sentence = f"{row['ablation']}: {row['ablation_figures']}"
            without = f"{verdict_html(row['ablation_verdict'])}<br>{html.escape(sentence)}"
        words = [html.escape(row[name]) for name in ("place", "says", "figures")]
        verdict = f"{verdict_html(row['verdict'])} {html.escape(row.get('reason', ''))}"
        rows.append(_row([words[0], words[1], verdict, words[2], without]))
    return _table("Claims and our verdicts", heads, "".join(rows))


def _table(heading: str, heads: Sequence[str], rows: str) -> str:
    head = "".join(f"<th scope='col'>{html.escape(one)}</th>" for one in heads)
    caption = f"<caption>{html.escape(heading)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _row(cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
