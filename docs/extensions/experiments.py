"""Pages of the papers' experiments, from their recorded results: a list of all claims, and a page for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from sphinx.application import Sphinx

from extensions.reference import write_all
from zoviz.studies.contents import contents
from zoviz.studies.experiment import Panel
from zoviz.studies.reports import escaped, markdown
from zoviz.studies.reproduction import Reproduction, experiments
from zoviz.views.plots.paper_figure import INKS

FOLDER = "papers/experiments"
_HEAD = """# What the papers claim, and what was measured

`zoviz reproduce --list` prints this list. A verdict is of the recorded results of the full size; each experiment has a
page with its figures, which `zoviz reproduce <experiment> --full` measures again. *cannot be decided* stands, too,
where the same test is passed without what a claim credits or no such ablation was run, where budgets are unequal, and
where an exponent has too few horizons or instances or no line fits. *not measured* says why there are no figures.

| Paper | Place | Claim | Verdict |
|---|---|---|---|
"""


def pages() -> dict[str, str]:
    """Return the pages by the names of their files: a list of all claims, and the recorded experiments' reports."""
    texts = {}
    for name, cls in experiments().items():
        work = Reproduction.recorded(cls(size="full"))
        if not work.missing:
            texts[f"{name}.md"] = markdown(work, level=1)
    rows = []
    for row in contents():
        place = f"[{row.place}]({row.experiment}.md)" if f"{row.experiment}.md" in texts else row.place
        rows.append(f"| {row.paper} | {place} | {escaped(row.claim)} | {escaped(row.verdict)} |")
    tree = "\n".join(name.removesuffix(".md") for name in texts)
    toctree = f"\n\n```{{toctree}}\n:maxdepth: 1\n:hidden:\n\n{tree}\n```\n"
    return {"index.md": _HEAD + "\n".join(rows) + toctree, **texts}


def draw(panels: Sequence[Panel], path: Path) -> None:
    """Draw what an experiment draws, two panels in a row, as one picture."""
    rows = math.ceil(len(panels) / 2)
    picture = Figure(figsize=(11.0, 3.6 * rows), layout="constrained", facecolor="white")
    for panel, axes in zip(panels, picture.subplots(rows, 2, squeeze=False).flat, strict=False):
        for i, (name, (x, y)) in enumerate(panel.lines.items()):
            ys = np.array(y, dtype=float)  # NaN for None: the line has a gap there
            axes.plot(x, ys, color=INKS[i % len(INKS)], linestyle="-" if i < len(INKS) else "--", label=name)
        axes.set(title=panel.heading, xlabel=panel.x, ylabel=panel.y)
        axes.set(xscale="log" if panel.log_x else "linear", yscale="log" if panel.log_y else "linear")
        axes.legend(fontsize="x-small")
    for axes in picture.axes[len(panels) :]:
        axes.set_axis_off()
    path.parent.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": "zoviz"}):
        picture.savefig(path, metadata={"Date": None})


def write_pages(app: Sphinx) -> None:
    """Write the pages into their folder, and the pictures unless the build is quick."""
    folder, texts = Path(app.srcdir) / FOLDER, pages()
    for name in [] if app.tags.has("quick") else texts:
        panels = [] if name == "index.md" else _panels(name.removesuffix(".md"))
        if panels:
            picture = f"figures/{name.removesuffix('.md')}.svg"
            draw(panels, folder / picture)
            texts[name] += f"\n![{', '.join(panel.heading for panel in panels)}]({picture})\n"
    write_all(folder, texts)


def _panels(slug: str) -> list[Panel]:
    work = Reproduction.recorded(experiments()[slug](size="full"))
    return work.experiment.panels(work.measured)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the writing."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
