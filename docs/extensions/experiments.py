"""Pages of the papers' experiments, from their recorded results: a list of all claims, and a page for each."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
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
from zoviz.studies.verdict import Verdict
from zoviz.views.plots.paper_figure import INKS

FOLDER = "papers/experiments"
_HEAD = """# What the papers claim, and what was measured

`zoviz reproduce --list` prints this list. What a paper prints or claims is bold, and below it stands what experiments
test of it. A verdict is of the recorded results of the full size; each experiment has a
page with its figures, which `zoviz reproduce <experiment> --full` measures again. *cannot be decided* stands, too,
where the same test is passed without what a claim credits or no such ablation was run, where budgets are unequal, and
where an exponent has too few horizons or instances or no line fits. *not measured* says why there are no figures.

| Paper | Place | Claim | Verdict |
|---|---|---|---|
"""


_CHANGES = """# Verdicts that have changed, and why

Every claim passes through the rules of `zoviz/studies/verdict.py`. Before them 88 of the claims that were called
reproduced had no ablation, and 31 ablations were compared with themselves. Counts are of claims that are *reproduced*,
*not reproduced* and *cannot be decided*.

| Experiment | Before | Now | Why |
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
        claim = escaped(row.claim) if row.experiment else f"**{escaped(row.claim)}**"
        rows.append(f"| {row.paper} | {place} | {claim} | {escaped(row.verdict)} |")
    tree = "\n".join(["changes", *(name.removesuffix(".md") for name in texts)])
    toctree = f"\n\n```{{toctree}}\n:maxdepth: 1\n:hidden:\n\n{tree}\n```\n"
    return {"index.md": _HEAD + "\n".join(rows) + toctree, "changes.md": changes(), **texts}


def changes() -> str:
    """Return the page on the verdicts that are others since a common set of rules decides them."""
    before = tomllib.loads((Path(__file__).parents[1] / "papers" / "verdicts_before.toml").read_text(encoding="utf-8"))
    rows, sums = [], Counter[str]()
    for name, one in before.items():
        now = Counter[str]()
        if name in experiments():
            work = Reproduction.recorded(experiments()[name](size="full"))
            now.update([] if work.missing else [row["verdict"] for row in work.judged])
        counts = [now[verdict] for verdict in Verdict]
        link = f"[{name}]({name}.md)" if now else name
        rows.append(f"| {link} | {_three(one['before'])} | {_three(counts)} | {one['why']} |")
        for i, (old, new) in enumerate(zip(one["before"], counts, strict=True)):
            sums.update({f"before {i}": old, f"now {i}": new})
    totals = [_three([sums[f"{when} {i}"] for i in range(3)]) for when in ("before", "now")]
    rows.append(f"| **All** | **{totals[0]}** | **{totals[1]}** | |")
    return _CHANGES + "\n".join(rows) + "\n"


def _three(counts: Sequence[int]) -> str:
    return ", ".join(map(str, counts))


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
        panels = [] if name in ("index.md", "changes.md") else _panels(name.removesuffix(".md"))
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
