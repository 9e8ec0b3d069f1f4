"""Reports of runs beside the documentation: the starting points, a steered run with its forks, a paper's figure."""

from __future__ import annotations

import html
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from extensions.reference import write_all
from zoviz import Run, Store
from zoviz.core import registry
from zoviz.papers.splm.figure_1 import Courses
from zoviz.problems import NonconvexQCQP
from zoviz.problems.base import Problem
from zoviz.runs.engine.steering import Change
from zoviz.solvers import ZOSPLM
from zoviz.solvers.base import Solver
from zoviz.views.app.set_ups import SET_UPS, SetUp
from zoviz.views.plots.named_runs import Runs
from zoviz.views.report.files import write_report

FOLDER = "gallery/reports"
"""Where the files are, below the built pages."""
REPLICAS, ITERATIONS, CALLS = 8, 400, 20_000
LARGEST = 3_000_000
"""Bytes of a file."""
_HEAD = """# Runs to look at

For people who want to see a run before they install anything: you will find ten, with plots that zoom and hover, a
player of the course, and the best design.

Each is one file, as `zoviz report` writes it, with all settings and the script that repeats the run. It needs no
network. {made}

"""
_QUICK = "*This is a quick build of the documentation, in which the files were not made.*"


@dataclass(frozen=True)
class Example:
    """A report: its title, a sentence on it, and what makes its runs, in a folder for a store."""

    title: str
    sentence: str
    runs: Callable[[Path], Runs]

    @property
    def file(self) -> str:
        """The name of its file."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-") + ".html"


def examples() -> Iterator[Example]:
    """Yield the reports: one for each starting point of the page, then the others."""
    for one in SET_UPS:
        sentence = f"{one.problem}, {one.solver}: {one.sentence}"
        yield Example(one.title, sentence, lambda _, one=one: _starting_point(one))
    yield Example(
        "A steered run and its forks", "Its step becomes too short on the way; two forks go on otherwise.", _forks
    )
    yield Example("Figure 1 of ZO-SPLM's paper", "The methods that it compares, on the smallest size.", _figure)


def _starting_point(one: SetUp) -> Run:
    """Return the ended run of a starting point."""
    kinds: list[tuple[str, type[Any], str]] = [("problems", Problem, one.problem), ("solvers", Solver, one.solver)]
    problem, solver = (
        next(cls for cls in registry.discover(f"zoviz.{room}", kind).values() if cls.title == title)()
        for room, kind, title in kinds
    )
    for name, value in one.values.items():
        problem.param.update({name.removeprefix("problem."): value})
    return _ended(Run(problem, solver, replicas=REPLICAS, iterations=ITERATIONS, calls=CALLS, label=one.title))


def _forks(folder: Path) -> Run:
    """Return a run whose step becomes too short, with forks in its store: one before that, and one mended later."""
    store = Store(f"sqlite:///{folder / 'runs.db'}")
    shorter = Change(150, 0, 0.0, "primal_step", None, 5e-4)
    settings: dict[str, Any] = {"replicas": REPLICAS, "iterations": ITERATIONS, "store": store}
    run = _ended(Run(NonconvexQCQP(), ZOSPLM(), schedule=[shorter], label="A steered run", **settings))
    _ended(run.fork(149, label="without the change"))
    _ended(run.fork(250, {"primal_step": 0.01}, label="mended"))
    return store.load(run.id)


def _figure(_: Path) -> Runs:
    """Return the runs of a paper's figure that the page begins."""
    live = Courses(size="quick").live({})
    return {one.title: _ended(Run(one.problem, one.solver, **one.settings)) for one in live}


def _ended(run: Run) -> Run:
    run.run()
    return run


def write_reports(app: Sphinx) -> None:
    """Write the page that leads to the reports, and these themselves unless the build is quick."""
    quick, lines = app.tags.has("quick"), []
    for one in examples():
        title, sentence = html.escape(one.title), html.escape(one.sentence)
        link = title if quick else f'<a href="../reports/{one.file}">{title}</a>'
        lines.append(f"- {link}. {sentence}")
    text = _HEAD.format(made=_QUICK if quick else "") + "\n".join(lines) + "\n"
    write_all(Path(app.srcdir) / "gallery" / "runs", {"index.md": text})
    if not quick and app.builder.format == "html":
        for one in examples():
            write_example(one, Path(app.outdir) / FOLDER)


def write_example(one: Example, folder: Path) -> Path:
    """Write the report of an example, and return its file.

    Raises
    ------
    ValueError
        Where it is too large to be mailed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / one.file
    with tempfile.TemporaryDirectory() as kept:
        write_report(one.runs(Path(kept)), path)
    if (size := path.stat().st_size) > LARGEST:
        raise ValueError(f"Expected a report of at most {LARGEST:,} bytes, got {size:,} of {path.name}.")
    return path


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the writing of reports."""
    app.connect("builder-inited", write_reports)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
