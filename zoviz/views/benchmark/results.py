"""What came of a benchmark: curves, tables and comparisons at a level, of all problems or of a part of them."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import panel as pn
import param

from zoviz.benchmark.courses import Benchmark, Hits
from zoviz.benchmark.cuts import by_dimension, by_kind
from zoviz.benchmark.exchange.imported_runs import join
from zoviz.benchmark.exchange.tables import profile_table, table_file, tidy
from zoviz.benchmark.profiles import Profile, data_profile, performance_profile
from zoviz.benchmark.report import compared_solvers, latex, markdown, problem_rows, solver_rows
from zoviz.benchmark.running_time import TARGETS, running_time_distribution
from zoviz.benchmark.stored_study import StudySnapshot
from zoviz.core.errors import ZovizError
from zoviz.views.benchmark.imported_files import ImportedFiles
from zoviz.views.benchmark.printed_profiles import printed_profiles
from zoviz.views.benchmark.profile_plots import ProfilePlot
from zoviz.views.common.buttons import download_row
from zoviz.views.common.colours import PALETTE
from zoviz.views.common.search_list import SearchList
from zoviz.views.common.small_fields import CheckBox
from zoviz.views.common.style import scrolling_html, section, update_changed
from zoviz.views.compare.paired_sentences import TABLE_STYLE, paired_html

_SEED = 0
"""Of simulated restarts: the same curves from the same runs."""
_RESTARTS = 20
"""Simulated running times of each problem and target."""
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
LEVELS = {"10⁻" + str(power).translate(_RAISED): -float(power) for power in range(1, 11)}
"""Shares of the initial gap, as powers of ten."""
_LISTED = 12
"""Problems that are listed of a step."""


class BenchmarkResults(param.Parameterized):
    """Curves, tables and comparisons of a study's solvers and of those imported beside them.

    Parameters
    ----------
    say : callable
        Shows a sentence on the page.
    pick : callable
        Called with a sentence's beginning, problems, a solver and a sentence when a person clicks near a step.

    Attributes
    ----------
    snapshot : StudySnapshot or None
    whole : Benchmark or None
        Of the study and of what is imported beside it.
    benchmark : Benchmark or None
        Of it the part that is shown.
    curves : dict of str to ProfilePlot
    imports : ImportedFiles
    """

    level: param.Selector[float] = param.Selector(
        default=-3.0, objects=LEVELS, label="Level", doc="Share of the initial gap that is left."
    )
    kind: param.Selector[str] = param.Selector(
        default="", objects={"all kinds": ""}, label="Kind", doc="Kind of problems in curves and tables."
    )
    dimension: param.Selector[str] = param.Selector(
        default="",
        objects={"all": ""},
        label="Number of variables",
        doc="Dimension of these problems.",
    )
    restarts: param.Boolean[bool] = param.Boolean(
        default=False,
        label="Simulated restarts",
        doc="For targets: a failed run goes on as another run of the same problem, drawn at random, as in COCO.",
    )

    def __init__(
        self, say: Callable[[str], None], pick: Callable[[str, Sequence[str], str, str], None], **params: Any
    ) -> None:
        super().__init__(**params)
        self._pick = pick
        self.snapshot: StudySnapshot | None = None
        self.whole: Benchmark | None = None
        self.benchmark: Benchmark | None = None
        self.imports = ImportedFiles(say, self._put_together)
        self.curves = {
            "data": ProfilePlot("data", self._pick_runs),
            "performance": ProfilePlot("performance", self._pick_runs, legend=False),
            "targets": ProfilePlot("targets", self._pick_targets, legend=False),
        }
        self.table = _pane()
        self.running_times = _pane()
        self.comparisons = pn.pane.HTML("", styles={"font-size": "14px"}, sizing_mode="stretch_width", margin=(4, 10))
        self._figures = pn.Row(sizing_mode="stretch_width")
        self.param.watch(lambda _: self._draw(), "level")
        self.param.watch(lambda _: self._cut(), ["kind", "dimension"])
        self.param.watch(lambda _: self._draw_targets(), "restarts")

    def rows(self) -> list[pn.viewable.Viewable]:
        """Return what is shown, from above: rows of the page itself, whose heights change with what they hold."""
        widths = {"level": 130, "kind": 300, "dimension": 190}
        lists = [SearchList.of_room(self.param[name], width) for name, width in widths.items()]
        restarts = CheckBox.from_param(self.param.restarts)
        files = {
            "Runs, CSV": ("benchmark.csv", lambda: self.runs_file(".csv")),
            "Parquet": ("benchmark.parquet", lambda: self.runs_file(".parquet")),
            "NetCDF": ("benchmark.nc", lambda: self.runs_file(".nc")),
            "Curves, CSV": ("profiles.csv", self.curves_file),
            "Figure, PDF": ("profiles.pdf", self.figure_file),
            "Table, LaTeX": ("benchmark.tex", lambda: self.table_text(latex)),
            "Markdown": ("benchmark.md", lambda: self.table_text(markdown)),
        }
        return [
            pn.FlexBox(*lists, restarts, self.imports, align_items="end"),
            self.imports.remarks,
            self._figures,
            self.table,
            section("Pairwise comparison of solvers"),
            self.comparisons,
            section("Expected running time (ERT) to the level, in units of n + 1 calls; failed runs count in full"),
            self.running_times,
            download_row(files),
        ]

    @property
    def tau(self) -> float:
        """The level as a share."""
        return float(10.0**self.level)

    # What is shown

    def show(self, snapshot: StudySnapshot) -> None:
        """Show a study as it stands now."""
        self.snapshot = snapshot
        facts = snapshot.definition.problems
        for name, parts in (("kind", by_kind(facts)), ("dimension", by_dimension(facts))):
            offers = {next(iter(self.param[name].names)): ""}
            offers |= {f"{title} ({len(problems)})": title for title, problems in parts.items()}
            if self.param[name].names != offers:
                self.param[name].objects = offers
                if getattr(self, name) not in offers.values():
                    setattr(self, name, "")
        self._put_together()

    def _put_together(self) -> None:
        """Put what is imported beside the study: all runs in one array, once, not whenever the level is moved."""
        if self.snapshot is None:
            return
        definition, imported = self.snapshot.definition, self.imports.imported
        joined = join(self.snapshot.benchmark, definition.problems, definition.tolerance, imported.runs)
        self.whole = joined.benchmark
        if imported.runs or imported.remarks:
            self.imports.tell([*imported.remarks, *joined.remarks])
        self._cut()

    def _cut(self) -> None:
        """Take the problems of the chosen kind and number of variables."""
        if self.snapshot is None or self.whole is None:
            return
        facts = self.snapshot.definition.problems
        names = list(facts)
        for part, parts in ((self.kind, by_kind(facts)), (self.dimension, by_dimension(facts))):
            names = [name for name in names if not part or name in parts.get(part, [])]
        self.benchmark = self.whole if len(names) == len(facts) else self.whole.of_problems(names)
        self._draw()

    def _draw(self) -> None:
        """Draw curves, tables and comparisons at the level."""
        if not len(self._figures):  # figures that are made in a hidden place would stay without a height
            self._figures.objects = [
                pn.pane.Bokeh(plot.figure, sizing_mode="stretch_width") for plot in self.curves.values()
            ]
        profiles = self._profiles()
        for name in ("data", "performance"):
            self.curves[name].update(profiles.get(name))
            self.curves[name].update_bands()
        self._draw_targets()
        table = running_times = comparisons = ""
        if self.benchmark is not None and self.benchmark.courses:
            hits = self.benchmark.hits(self.tau)
            table = scrolling_html(table_html(*solver_rows(hits, self.tau)), "Solvers at the level")
            rows = table_html(*problem_rows(hits), coloured=False)
            running_times = scrolling_html(rows, "Expected running times", 360)
            comparisons = paired_html(compared_solvers(self.benchmark))
        update_changed(self.table, object=table)
        update_changed(self.running_times, object=running_times)
        update_changed(self.comparisons, object=comparisons)

    def _profiles(self) -> dict[str, Profile]:
        """Return both profiles at the level; none where no problem has all runs yet."""
        if self.benchmark is None or not _comparable(hits := self.benchmark.hits(self.tau)):
            return {}
        return {"data": data_profile(hits), "performance": performance_profile(hits)}

    def _targets(self) -> dict[str, Profile]:
        """Return the share of targets by calls; none where no problem has all runs yet."""
        if self.benchmark is None or not _comparable(self.benchmark.hits(self.tau)):
            return {}
        levels = [self.benchmark.hits(one) for one in TARGETS]
        generator = np.random.default_rng(_SEED) if self.restarts else None
        return {"targets": running_time_distribution(levels, generator, _RESTARTS)}

    def _draw_targets(self) -> None:
        self.curves["targets"].update(self._targets().get("targets"))
        self.curves["targets"].update_bands()

    # What a click leads to

    def _pick_runs(self, what: str, runs: list[tuple[str, int]]) -> None:
        """Name the replicas that make a step of a profile."""
        listed = ", ".join(f"{problem} (replica {replica})" for problem, replica in runs[:_LISTED])
        self._pick_step(what, runs, f"{len(runs)} runs: {listed}")

    def _pick_targets(self, what: str, runs: list[tuple[str, int]]) -> None:
        """Name the problems whose target was reached in the number of calls picked."""
        listed = ", ".join(list(dict.fromkeys(problem for problem, _ in runs))[:_LISTED])
        self._pick_step(what, runs, f"{len(runs)} targets of {listed}")

    def _pick_step(self, what: str, runs: list[tuple[str, int]], sentence: str) -> None:
        problems = list(dict.fromkeys(problem for problem, _ in runs))
        self._pick(what, problems, what.rpartition(" at ")[0], sentence)

    # Files

    def runs_file(self, suffix: str) -> bytes:
        """Return a line for each run that is shown, as a file of tidy data."""
        if self.snapshot is None or self.benchmark is None:
            raise ZovizError("Expected a study, got none: choose one.")
        return table_file(tidy(self.snapshot, self.benchmark), suffix)

    def curves_file(self) -> bytes:
        """Return the steps of all curves that are shown, as CSV."""
        return table_file(profile_table(self._profiles() | self._targets()), ".csv")

    def figure_file(self) -> bytes:
        """Return both profiles as a figure for print."""
        if not (profiles := self._profiles()):
            raise ZovizError("Expected a problem that every solver has run, got none: complete the study.")
        return printed_profiles(profiles, "pdf")

    def table_text(self, make: Callable[[Benchmark, float], str]) -> bytes:
        """Return the table of solvers for LaTeX or Markdown."""
        if self.benchmark is None:
            raise ZovizError("Expected a study, got none: choose one.")
        return make(self.benchmark, self.tau).encode()


def _pane() -> pn.pane.HTML:
    return pn.pane.HTML("", stylesheets=[TABLE_STYLE], sizing_mode="stretch_width", margin=(4, 10))


def _comparable(hits: Hits) -> bool:
    """Return whether some problem has all runs of every solver."""
    return bool(hits.spent.size) and bool(np.isfinite(hits.spent).all(axis=(1, 2)).any())


def table_html(heads: Sequence[str], rows: Sequence[Sequence[str]], coloured: bool = True) -> str:
    """Return a table whose first column has names and, where ``coloured``, the colours of the solvers' curves."""
    head = "".join(f"<th>{html.escape(title)}</th>" for title in heads)
    lines = ""
    for s, (name, *words) in enumerate(rows):
        swatch = f"<span style='color:{PALETTE[s % len(PALETTE)]}' aria-hidden='true'>&#9644;</span> " * coloured
        numbers = "".join(f"<td class='number'>{html.escape(word)}</td>" for word in words)
        lines += f"<tr><td>{swatch}{html.escape(name)}</td>{numbers}</tr>"
    return f"<table class='zoviz-compare'><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
