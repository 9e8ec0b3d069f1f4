"""Paired comparisons as sentences, and how tables of what is compared look."""

from __future__ import annotations

import html
from collections.abc import Sequence

from zoviz.benchmark.paired_comparison import Comparison
from zoviz.views.common.style import muted_html

TABLE_STYLE = """
table.zoviz-compare {border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums}
.zoviz-compare th {text-align: left; font-weight: 600; opacity: .65; padding: 4px 14px 4px 0; white-space: nowrap}
.zoviz-compare td {padding: 4px 14px 4px 0; vertical-align: top; white-space: nowrap}
.zoviz-compare td.text {white-space: normal; min-width: 190px; overflow-wrap: anywhere}
.zoviz-compare tr + tr td {border-top: 1px solid color-mix(in srgb, currentColor 14%, transparent)}
.zoviz-compare .number {text-align: right}
.zoviz-compare thead th {vertical-align: bottom}
.zoviz-compare th.number {white-space: normal; min-width: 70px}
.zoviz-compare small {display: block; font-size: 11.5px; opacity: .8}
.zoviz-compare small.words {white-space: normal}
.zoviz-compare .group th {padding-top: 10px; opacity: 1}
"""
_MOST_PAIRS = 28
"""Comparisons that are listed: those of eight runs."""


def paired_html(comparisons: Sequence[Comparison]) -> str:
    """Return paired comparisons as sentences."""
    if not comparisons:
        return muted_html("No two runs share problem, seed and replica count.")
    lines = []
    for one in comparisons[:_MOST_PAIRS]:
        lines.append(
            f"<div><b>{html.escape(one.first)}</b> {one.verb} <b>{html.escape(one.second)}</b> "
            f"<span style='opacity:.8;margin-left:8px'>{html.escape(one.evidence)}</span></div>"
        )
    more = len(comparisons) - _MOST_PAIRS
    return "".join(lines) + (muted_html(f"… and {more} more.") if more > 0 else "")
