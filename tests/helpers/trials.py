"""The table of a study's trials, measured here and now."""

from __future__ import annotations

from zoviz.studies.trials import Trials


def lines_of(study: Trials) -> list[dict[str, str]]:
    """Measure all parts of a study with one table, and return its lines by head."""
    measured: dict[str, dict[str, float]] = {}
    for part in study.parts():
        measured[part] = study.measure_after(part, {need: measured[need] for need in study.needs(part)})
    (table,) = study.tables(measured)
    return [dict(zip(table.heads, row, strict=True)) for row in table.rows]
