"""A panel of an experiment: what was measured, and what is claimed."""

from __future__ import annotations

from zoviz.studies.experiment import Panel

FALLING = Panel(
    "Fall",
    "T",
    "error",
    {"ours": ([1.0, 10.0, 100.0], [1.0, 0.1, 0.01]), "claimed": ([1.0, 100.0], [1.0, 1.0])},
    log_x=True,
    log_y=True,
    parts={"ours": ["part 1"]},
)
"""A line that falls as 1 / T, and a claimed one that stays."""
