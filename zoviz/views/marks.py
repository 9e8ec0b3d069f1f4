"""Where a parameter was changed and where a target was first hit, as points on the horizontal axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.runs.run import Run


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def event_marks(run: Run, axis: str) -> dict[str, list]:
    """A mark for each change of a parameter, with its old and new value."""
    changes = list(run.journal)
    return {
        "x": [getattr(change, axis) for change in changes],
        "y": [0.97] * len(changes),
        "text": [
            f"<b>{change.name}</b> {_text(change.old)} → {_text(change.new)}<br>"
            f"iteration {change.iteration:,}, {change.calls:,} calls"
            for change in changes
        ],
    }


def target_marks(run: Run, axis: str) -> dict[str, list]:
    """A mark for each target, where the first replica hit it, with how many did and when on average."""
    hit = [target for target in run.hits if target.hits]
    return {
        "x": [float(np.nanmin(getattr(target, axis))) for target in hit],
        "y": [0.97] * len(hit),
        "text": [
            f"<b>{target.metric} ≤ {target.threshold:g}</b> hit by {target.hits} of {target.iteration.size} replicas"
            f"<br>first at iteration {np.nanmin(target.iteration):,.0f}, on average "
            f"{np.nanmean(target.iteration):,.0f} ({np.nanmean(target.calls):,.0f} calls)"
            for target in hit
        ],
    }
