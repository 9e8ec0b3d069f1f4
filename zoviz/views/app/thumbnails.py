"""The small courses on the gallery's cards: ``python -m zoviz.views.app.thumbnails`` runs and writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

import numpy as np

from zoviz.core.types import Array
from zoviz.runs.engine.columns import GAP, ITERATION, OBJECTIVE
from zoviz.views.app.page_address import apply_query
from zoviz.views.app.set_ups import SET_UPS, SetUp
from zoviz.views.controls.run_form import RunForm
from zoviz.views.plots.line_data import row_indices

FILE = Path(__file__).with_name("thumbnails.json")
GAP_LABEL = "objective gap"
"""Of courses on a logarithmic axis."""
POINTS = 40
"""Of a course on a card."""


class Thumbnail(TypedDict):
    """A course: what it is of, its first and last value, and its points as shares of the picture's width and height."""

    label: str
    first: float
    last: float
    points: list[list[float]]


def course(label: str, iterations: Array, mean: Array, logarithmic: bool) -> Thumbnail:
    """Return the thumbnail of means (T,) over replicas; on a logarithmic axis those of magnitudes."""
    finite = np.isfinite(mean)
    x, y = iterations[finite], np.abs(mean[finite]) if logarithmic else mean[finite]
    level = np.log10(np.maximum(y, 1e-12)) if logarithmic else y
    rows = row_indices(x, False, POINTS)
    width, height = x[-1] - x[0] or 1.0, np.ptp(level) or 1.0
    across, down = (x[rows] - x[0]) / width, (level.max() - level[rows]) / height
    points = [[round(float(a), 3), round(float(b), 3)] for a, b in zip(across, down, strict=True)]
    return Thumbnail(label=label, first=float(f"{y[0]:.3g}"), last=float(f"{y[-1]:.3g}"), points=points)


def ends(thumbnail: Thumbnail) -> tuple[float, float]:
    """Return the largest and the least value of a course, by its first and last and where these stand."""
    logarithmic = thumbnail["label"] == GAP_LABEL
    (_, first), (_, last) = thumbnail["points"][0], thumbnail["points"][-1]
    values = np.array([thumbnail["first"], thumbnail["last"]])
    level = np.log10(np.maximum(np.abs(values), 1e-12)) if logarithmic else values
    height = float((level[0] - level[1]) / (last - first)) if last != first else 0.0
    top = float(level[0] + first * height)
    return (10.0**top, 10.0 ** (top - height)) if logarithmic else (top, top - height)


def thumbnail(set_up: SetUp, seconds: float) -> Thumbnail:
    """Run a set-up for so long and return its course."""
    form = RunForm()
    complaints = apply_query(form, set_up.query)
    if complaints:
        raise ValueError(f"Expected a set-up that the page offers, got {set_up.title!r}: {' '.join(complaints)}")
    form.settings.seconds = seconds
    run = form.make()
    run.run()
    columns = run.trace.snapshot().columns
    label, column = (GAP_LABEL, GAP) if GAP in columns else ("objective", OBJECTIVE)
    return course(label, columns[ITERATION], columns[column].mean(axis=-1), column == GAP)


def thumbnails() -> dict[str, Thumbnail]:
    """Return the courses by the titles of their set-ups, as they were last written."""
    stored: dict[str, Thumbnail] = json.loads(FILE.read_text(encoding="utf-8"))
    return stored


def main() -> None:
    """Run all set-ups and write their courses."""
    courses = {one.title: thumbnail(one, 8.0) for one in SET_UPS}
    lines = [f"  {json.dumps(title)}: {json.dumps(one)}" for title, one in courses.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
