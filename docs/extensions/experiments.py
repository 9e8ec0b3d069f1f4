"""Pages of the papers' experiments, from their recorded results: a list of all claims, and a page for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from extensions.reference import write_all
from zoviz.papers.contents import contents
from zoviz.papers.reports import markdown
from zoviz.papers.reproduction import Reproduction, experiments

FOLDER = "papers/experiments"
_HEAD = """# What the papers claim, and what was measured

`zoviz reproduce --list` prints this list. A verdict is of the recorded results of the full size; each experiment has a
page with its figures, which `zoviz reproduce <experiment> --full` measures again. *cannot be decided* stands, too,
where the same test is passed without what a claim credits. *not converted* names where figures are that are not yet an
experiment's, *not measured* says that there are none.

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
        rows.append(f"| {row.paper} | {place} | {_cell(row.claim)} | {_cell(row.verdict)} |")
    tree = "\n".join(name.removesuffix(".md") for name in texts)
    toctree = f"\n\n```{{toctree}}\n:maxdepth: 1\n:hidden:\n\n{tree}\n```\n"
    return {"index.md": _HEAD + "\n".join(rows) + toctree, **texts}


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*")


def write_pages(app: Sphinx) -> None:
    """Write the pages into their folder."""
    write_all(Path(app.srcdir) / FOLDER, pages())


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the writing."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
