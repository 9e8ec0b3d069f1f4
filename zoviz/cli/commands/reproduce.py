"""The command ``zoviz reproduce``: the papers' tables, figures and claims, measured here, each with a verdict."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from zoviz.cli.build import dask
from zoviz.cli.command import CHANGED, FAILED, FINE, Command, UsageError, say, show, table
from zoviz.cli.help import CommandParser
from zoviz.cli.options import json_option
from zoviz.core.durations import duration
from zoviz.core.errors import MissingExtra
from zoviz.studies.contents import TITLES, contents
from zoviz.studies.experiment import Experiment
from zoviz.studies.planning import plans
from zoviz.studies.reports import html, markdown
from zoviz.studies.reproduction import Reproduction, changes, experiment_named, experiments, text_of, trials
from zoviz.studies.trials import Trials, narrowed

_FOLDER = "zoviz-reproduced"
_SUFFIXES = (".md", ".html", ".json")


class _Reproduce(Command):
    name, order, help = "reproduce", 38, "measure what the papers print and claim, with a verdict on each claim"
    operands = "[EXPERIMENT ...] "
    examples = """  zoviz reproduce --list
  zoviz reproduce sogd-remark-4-4 --quick
  zoviz reproduce salm --full --workers 2 --save salm.md
  zoviz reproduce --full --plan
  zoviz reproduce splm-theorem-1 --quick --draw 3
  zoviz reproduce minimize-printed-digits --full --only method=auto calls=200,2000
The same command again measures only what is missing.
The exit code is 4 if a verdict differs from the recorded one of the same size."""

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "which", nargs="*", metavar="EXPERIMENT", help="an experiment, or the short name of a paper (default: all)"
        )
        parser.add_argument("--list", action="store_true", help="list the claims and their recorded verdicts")
        parser.add_argument("--plan", action="store_true", help="say how long that takes; measure nothing")
        size = parser.add_mutually_exclusive_group()
        size.add_argument("--quick", action="store_true", help="small sizes: at most a minute each (default)")
        size.add_argument("--full", action="store_true", help="full sizes, as recorded: minutes to hours")
        parser.add_argument(
            "--draw", type=int, default=0, metavar="N", help="other seeds and instances: any number (0: as recorded)"
        )
        parser.add_argument(
            "--only", nargs="+", default=[], metavar="AXIS=VALUES", help="only the trials of a study with these values"
        )
        parser.add_argument("--folder", default=_FOLDER, help=f"folder of the results ({_FOLDER})")
        parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes (1)")
        parser.add_argument("--dask", metavar="ADDRESS", help="use the cluster of this Dask scheduler")
        parser.add_argument("--save", metavar="FILE", help="write the report: .md, .html with figures, or .json")
        json_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        if args.list:
            _tell(args.which, args.json)
            return FINE
        if args.save and Path(args.save).suffix not in _SUFFIXES:
            raise UsageError(
                f"Expected a file with one of the suffixes {', '.join(_SUFFIXES)} for --save, got {args.save!r}."
            )
        size = "full" if args.full else "quick"
        classes = [cls for word in args.which for cls in _chosen(word)] if args.which else list(experiments().values())
        sized = [_sized(cls, size, args.draw, args.only) for cls in classes]
        works, begun = [], [Reproduction(one, Path(args.folder)) for one in sized]
        if args.plan:
            _plan(begun, args.workers, args.json)
            return FINE
        for work in begun:
            try:
                works.append(work.run(args.workers, dask(args.dask) if args.dask else None, say))
            except MissingExtra as error:  # the others need not wait for a package
                say(f"{work.experiment.slug()}: {error}")
        if args.save:
            _save(works, Path(args.save))
        elif args.json:
            show([work.content() for work in works])
        else:
            print("\n".join(markdown(work) for work in works))
        new = [sentence for work in works for sentence in changes(work, Reproduction.recorded(work.experiment))]
        for sentence in new:
            say(sentence)
        if len(works) < len(classes):
            return FAILED
        return CHANGED if new else FINE


def _sized(cls: type[Experiment], size: str, draw: int, only: list[str]) -> Experiment:
    """Return an experiment of a size and a draw, or narrowed where some of a study's trials are wanted."""
    if draw and issubclass(cls, Trials):
        raise UsageError(f"Expected a paper's experiment for --draw, got {cls.slug()}, whose trials have their seeds.")
    if not only:
        try:
            return cls(size=size, draw=draw)
        except ValueError:
            low, high = cls.param.draw.bounds
            raise UsageError(f"Expected a number from {low} to {high} for --draw, got {draw}.") from None
    if not issubclass(cls, Trials):
        raise UsageError(f"Expected a study of trials for --only, got {cls.slug()}: these are {', '.join(trials())}.")
    return narrowed(cls, size, only)


def _chosen(word: str) -> list[Any]:
    """Return the experiment of this name, or those of the paper."""
    if word in TITLES:
        return [cls for cls in experiments().values() if cls.paper() == word]
    return [experiment_named(word)]


def _plan(works: list[Reproduction], workers: int, as_json: bool) -> None:
    """Print how long what is missing takes on this machine, where it does nothing else."""
    every = plans(works, [Reproduction.recorded(work.experiment) for work in works], workers)
    if as_json:
        show([one._asdict() for one in every])
        return
    cells = [(one.experiment, f"{one.missing} of {one.parts}", duration(one.seconds)) for one in every]
    whole = duration(sum(one.seconds for one in every if math.isfinite(one.seconds)))
    table(("EXPERIMENT", "PARTS TO MEASURE", "TIME"), [*cells, ("all whose time is known", "", whole)], "lrr")


def _save(works: list[Reproduction], path: Path) -> None:
    """Write the report in the format that the file's suffix says."""
    if path.suffix == ".md":
        text = "\n".join(markdown(work) for work in works)
    elif path.suffix == ".json":
        each = ",\n".join(text_of(work.content()) for work in works)
        text = f"[\n{each}]\n"
    else:
        text = _page(works)
    path.write_text(text, encoding="utf-8")


def _page(works: list[Reproduction]) -> str:
    """Return the reports as one page with figures, which any browser shows without a network."""
    from bokeh.embed import components
    from bokeh.resources import INLINE

    from zoviz.views.common.design import LIGHT
    from zoviz.views.experiments.figures import experiment_figures

    sections = []
    for work in works:
        panels = work.experiment.panels(work.measured)
        figures = components(experiment_figures(panels), theme=LIGHT) if panels else ()
        sections.append(html(work, "".join(figures)))
    style = "body{font:15px sans-serif;margin:2em}table{border-collapse:collapse}"
    style += "td,th{border:1px solid #bbb;padding:3px 8px}"
    head = f'<meta charset="utf-8"><title>zoviz reproduce</title><style>{style}</style>{INLINE.render()}'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(sections)}</body></html>\n'


def _tell(words: list[str], as_json: bool) -> None:
    """Print what the papers print and claim, with the recorded verdicts; of some papers or experiments, or of all."""
    slugs = {cls.slug() for word in words if word not in TITLES for cls in _chosen(word)}
    rows = [row for row in contents() if not words or row.paper in words or row.experiment in slugs]
    if as_json:
        show([row._asdict() for row in rows])
    else:
        table(("PAPER", "PLACE", "CLAIM", "EXPERIMENT", "VERDICT"), [row[:5] for row in rows])
        if not words:
            print("\nStudies of trials:")
            table(("STUDY", "SUBJECT"), [(name, cls.subject) for name, cls in trials().items()])


COMMAND = _Reproduce()
