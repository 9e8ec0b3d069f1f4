"""What the documentation has of the papers' experiments, from their recorded results.

A page for each experiment, the tables that the papers' pages include, the verdicts that have changed, and what other
seeds and instances say.
"""

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
from zoviz.core.durations import duration
from zoviz.studies.contents import TITLES, Row, contents
from zoviz.studies.experiment import Experiment, Panel
from zoviz.studies.reports import escaped, markdown
from zoviz.studies.reproduction import Reproduction, experiments
from zoviz.studies.verdict import Verdict
from zoviz.views.plots.paper_figure import INKS

FOLDER = "papers/experiments"
_CLAIMS = """
## What the paper claims, and what was measured

`zoviz reproduce {paper} --list` prints this list. What the paper prints is bold, and below it stands what experiments
test of it, by their recorded results of the full size. *cannot be decided* stands, too, where the same test is passed
without what a claim credits or no such ablation was run, where budgets are unequal, and where an exponent has too few
horizons or instances or no line fits. *not measured* says why there are no figures.

| Place | Claim | Verdict | Figures | Without what it credits |
|---|---|---|---|---|
"""
_COSTS = """
## What it costs, and how to see it

Times are those of one process on the machine of the record, where it does nothing else;
`zoviz reproduce {paper} --full --plan` says how long what is missing takes on this one. What is interrupted goes on
where it was. While `zoviz serve --port 5006` is running, *open* leads to an experiment on its page, where a button
begins each of its runs live.

| Experiment | What is measured | Command | Full size | Quick size | Live |
|---|---|---|---|---|---|
"""
_LIVE = "[open](http://localhost:5006/?room=experiments&experiment={name})"
_COUNTS = """| Paper | Reproduced | Not reproduced | Cannot be decided | Results that are not measured, or in part |
|---|---|---|---|---|
"""
_CHANGES = """# Verdicts that have changed, and why

Every claim passes through the rules of `zoviz/studies/verdict.py`. Before them 88 of the claims that were called
reproduced had no ablation, and 31 ablations were compared with themselves. Counts are of claims that are *reproduced*,
*not reproduced* and *cannot be decided*.

| Experiment | Before | Now | Why |
|---|---|---|---|
"""

DRAWS = Path(__file__).parents[1] / "papers" / "draws"
"""Results of the experiments that were measured again by ``--draw``."""
_DRAWS = """# Other seeds and other instances

For people who ask what a verdict would have been with other random numbers: experiments that were measured again, by
the command in each row, with seeds and instances that no recorded result has. They are experiments that take little
time and whose recorded claims are decided, not a random sample: some have several draws here, and larger ones have
none. A claim counts where its recorded verdict is *reproduced* or *not reproduced*; where it cannot be decided now, it
is neither held nor turned.

| Command | Decided | Held | Turned | Undecided now |
|---|---|---|---|---|
"""
_STATES = ("decided", "held", "turned", "undecided")
_TURNED = """
Claims that did not hold:

| Claim | Recorded | With other seeds |
|---|---|---|
"""


def pages() -> dict[str, str]:
    """Return texts by the names of their files: the recorded experiments' reports, and what the papers' pages include.

    ``<paper>.txt`` has a paper's claims and experiments, ``counts.txt`` how many claims have which verdict.
    """
    works = [Reproduction.recorded(cls(size="full")) for cls in experiments().values()]
    texts = {f"{one.experiment.slug()}.md": markdown(one, level=1) for one in works if not one.missing}
    rows = contents()
    for paper in TITLES:
        own = [one for one in works if one.experiment.paper() == paper]
        texts[f"{paper}.txt"] = _claims(paper, [row for row in rows if row.paper == paper]) + _costs(paper, own)
    return {"changes.md": changes(), "counts.txt": _counts(rows), "draws.md": draws(), **texts}


def _claims(paper: str, rows: Sequence[Row]) -> str:
    """Return the table of a paper's claims, for a page in the folder above."""
    lines = []
    for row in rows:
        place = f"[{row.place}](experiments/{row.experiment}.md)" if row.figures else row.place
        claim = escaped(row.claim) if row.experiment else f"**{escaped(row.claim)}**"
        lines.append(_line(place, claim, *map(escaped, (row.verdict, row.figures, row.without))))
    return _CLAIMS.format(paper=paper) + "".join(lines)


def _costs(paper: str, works: Sequence[Reproduction]) -> str:
    """Return the table of a paper's experiments with their times and commands, and the tree of their pages."""
    lines, pages = [], []
    for work in works:
        one, name = work.experiment, work.experiment.slug()
        quick = Reproduction.recorded(type(one)(size="quick"))
        times = ["" if each.missing else duration(each.seconds) for each in (work, quick)]
        live = _LIVE.format(name=name) if type(one).live is not Experiment.live else ""
        title = name if work.missing else f"[{one.title}](experiments/{name}.md)"
        lines.append(_line(title, escaped(one.subject), f"`{work.command}`", *times, live))
        pages += [] if work.missing else [f"experiments/{name}"]
    tree = "\n".join(["", "```{toctree}", ":maxdepth: 1", ":hidden:", "", *pages, "```", ""])
    return _COSTS.format(paper=paper) + "".join(lines) + tree


def _counts(rows: Sequence[Row]) -> str:
    """Return the table of the papers with how many claims have which verdict."""
    lines = []
    for paper in TITLES:
        own = [row for row in rows if row.paper == paper]
        states = Counter(row.verdict.split(":")[0].split(" (")[0] for row in own if row.experiment)
        missing = sum(bool(row.missing) for row in own)
        lines.append(_line(f"[{paper}]({paper}.md)", *(str(states[verdict]) for verdict in Verdict), str(missing)))
    return _COUNTS + "".join(lines)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


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


def draws() -> str:
    """Return the page on the experiments that were measured again with other seeds and instances."""
    rows, others, sums = [], [], Counter[str]()
    for path in sorted(DRAWS.glob("*.json")):
        name, _, draw = path.stem.rpartition("-draw-")
        name, _, size = name.rpartition("-")
        again = Reproduction(experiments()[name](size=size, draw=int(draw)), DRAWS)
        paper, own = again.experiment.paper(), Counter[str]()
        for before, now in zip(Reproduction.recorded(again.experiment).judged, again.judged, strict=True):
            if before["verdict"] == Verdict.OPEN:
                continue
            state = "undecided" if now["verdict"] == Verdict.OPEN else "turned"
            state = "held" if now["verdict"] == before["verdict"] else state
            own.update({"decided": 1, state: 1})
            if state != "held":
                said = [f"{one['verdict']}, {one['figures']}" for one in (before, now)]
                others.append(_line(*map(escaped, (f"{again.experiment.title}: {before['says']}", *said))))
        rows.append(_line(f"`{again.command}`", *(str(own[state]) for state in _STATES)))
        sums.update({f"{one} {state}": own[state] for one in (paper, "All") for state in _STATES})
    for paper in (*TITLES, "All"):
        rows.append(_line(f"**{paper}**", *(f"**{sums[f'{paper} {state}']}**" for state in _STATES)))
    return _DRAWS + "".join(rows) + (_TURNED + "".join(others) if others else "")


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
        panels = _panels(name.removesuffix(".md")) if name.removesuffix(".md") in experiments() else []
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
