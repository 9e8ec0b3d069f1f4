"""Bars of what a run's calls were for."""

from __future__ import annotations

import html
from collections.abc import Mapping

import numpy as np
import panel as pn

from zoviz.core.types import Array
from zoviz.evaluation.worker_log import WorkerTable
from zoviz.runs.engine.columns import CALLS, CALLS_FOR
from zoviz.runs.run_view import RunView
from zoviz.views.common.style import WIDE, muted_html, section, update_changed

BARS_STYLE = """
.bars {display: grid; grid-template-columns: max-content minmax(40px, 1fr) max-content; gap: 3px 8px;
  align-items: center; font-size: 13px; line-height: 1.3; font-variant-numeric: tabular-nums}
.bar {height: 10px; border-radius: 2px; background: color-mix(in srgb, currentColor 10%, transparent)}
.bar div {height: 10px; border-radius: 2px; background: var(--panel-primary-color)}
"""
WORKERS = 32
"""Workers that are drawn."""
_BAR = "<span>{purpose}</span><div class='bar'><div style='width:{percent:.1f}%'></div></div><span>{count}</span>"


def shares(columns: Mapping[str, Array]) -> dict[str, tuple[float, float]]:
    """Return the calls of each purpose in a trace's last row, mean over the replicas, and their share of all calls.

    Empty before the first call.
    """
    if CALLS not in columns or not len(columns[CALLS]):
        return {}
    total = float(columns[CALLS][-1].mean())
    means = {
        name.removeprefix(CALLS_FOR): float(np.nan_to_num(column[-1]).mean())
        for name, column in columns.items()
        if name.startswith(CALLS_FOR)
    }
    descending = sorted(means.items(), key=lambda item: -item[1])
    return {purpose: (mean, mean / total if total else 0.0) for purpose, mean in descending if mean}


def bars_html(columns: Mapping[str, Array]) -> str:
    """Return the shares as HTML, the largest first; a sentence where they are unknown."""
    purposes = shares(columns)
    if not purposes:
        return muted_html("No calls yet.")
    rows = [
        _BAR.format(purpose=html.escape(purpose), percent=100 * share, count=f"{mean:,.0f} · {100 * share:.0f} %")
        for purpose, (mean, share) in purposes.items()
    ]
    return f"<div class='bars'>{''.join(rows)}</div>"


def workers_html(workers: WorkerTable) -> str:
    """Return the workers' calls as HTML, those that took longest first; empty where there are no workers."""
    longest = max((row.seconds for row in workers.rows), default=0.0) or 1.0
    rows = [
        _BAR.format(purpose=html.escape(name), percent=100 * seconds / longest, count=f"{calls:,} · {seconds:,.0f} s")
        for name, calls, seconds, _ in sorted(workers.rows, key=lambda row: -row.seconds)[:WORKERS]
    ]
    return f"{muted_html('Calls by worker')}<div class='bars'>{''.join(rows)}</div>" if rows else ""


class LedgerBars(pn.viewable.Viewer):
    """A card with a bar for each purpose of a run's calls, of a replica, on average; and one for each worker."""

    def __init__(self) -> None:
        super().__init__()
        self.pane = pn.pane.HTML("", stylesheets=[BARS_STYLE], sizing_mode="stretch_width", margin=(0, 10))

    def __panel__(self) -> pn.viewable.Viewable:
        title = section("Calls by purpose, per replica")
        return pn.Column(title, self.pane, **WIDE)

    def update(self, run: RunView | None) -> None:
        """Draw the newest row of a run's trace; called with the document's lock."""
        text = muted_html("Start a run first.")
        if run is not None:
            text = bars_html(run.trace.snapshot().columns) + workers_html(run.workers)
        update_changed(self.pane, object=text)
