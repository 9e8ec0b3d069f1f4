"""Figures for print, as wide as a column, with a caption of the settings and the scripts that remake them."""

from __future__ import annotations

import io
import itertools
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import param

from zoviz.core.optional import require
from zoviz.core.parameters import value_words
from zoviz.core.registry import title_of
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import CALLS
from zoviz.runs.engine.steering import Change
from zoviz.runs.engine.trace import Snapshot
from zoviz.runs.run_view import RunView
from zoviz.runs.script import script
from zoviz.views.common.colours import REFERENCE
from zoviz.views.common.drags import by_drag
from zoviz.views.common.log_axis import ZeroStrip, lane
from zoviz.views.plots.base import THIN, PlotView, every_plot
from zoviz.views.plots.event_marks import places_of
from zoviz.views.plots.line_data import (
    AXES,
    BANDS,
    LineData,
    Series,
    has_negatives,
    has_zeros,
    line_data,
    signed,
    strip_for,
    with_strips,
)
from zoviz.views.plots.named_runs import Runs, named_runs

WIDTHS = {"one column": 3.5, "two columns": 7.16}
"""Widths of a figure in inches: those of a column and of a page in IEEE's guide for authors."""
HEIGHT = 2.3
"""Height of a figure in inches."""
RESOLUTION = 600
"""Dots per inch of a PNG, as printers ask for lines."""
INKS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito (2008), which colour-blind readers tell apart, without yellow, which paper swallows."""
DASHES: tuple[Any, ...] = ("solid", (0, (6, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), (0, (10, 3)), (0, (3, 3)))
"""Of the runs in turn, or of a single run's lines: a figure must be read in black and white, too."""
LOOK: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # Matplotlib's own: the same everywhere, with all the symbols
    "font.size": 7.5,
    "axes.labelsize": 7.5,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "lines.linewidth": 1.1,
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.4,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "pdf.fonttype": 42,  # outlines of letters, as publishers ask; Matplotlib's own choice is pictures of letters
    "svg.hashsalt": "zoviz",  # the same figure gives the same file
}
_NEAR = 0.03
"""Share of a panel's width within which marks of changes share one label."""
MOST_LISTED = 4
"""Lines of a single run that its legend lists."""
MOST_STEPS = 4
"""Steps of a drag of a handle that a caption lists one by one."""
_SPREAD = {
    "std": "mean, with a band of one standard deviation",
    "range": "median, with a band from the least to the largest",
    "quartiles": "median, with a band between the quartiles",
    "none": "median",
}
_REMAKE = '''"""Remakes a figure of zoviz: repeats its runs, and draws them as they were drawn."""

import runpy
from pathlib import Path

from zoviz.views.plots.paper_figure import PaperFigure

here = Path(__file__).parent
runs = {{
{runs}}}
figure = PaperFigure(runs, {plots!r}, width={width!r}, axis={axis!r}, band={band!r}, log_x={log_x!r}, log_y={log_y!r})
for suffix in ("pdf", "svg", "png"):
    figure.save(here / f"figure.{{suffix}}")
'''


class PaperFigure:
    """A figure of one or several runs of one problem for print; needs the extra ``figures``.

    Lines, bands and zeros are those of the dashboard, in inks and dashes that colour-blind readers and printers tell
    apart. What a live run has come to is drawn as it was when the figure was made.

    Parameters
    ----------
    runs : Run or StoredRun, sequence of them or mapping of str to them
        Runs that have begun.
    plots : sequence of str
        Names of the dashboard's plots, ``"Gap"``, ``"Violation"``, side by side; by default the gap, or the objective
        where no optimum is known, and in two columns the violation beside it.
    width : str
        ``one column`` or ``two columns``.
    axis : str
        ``calls``, ``samples``, ``zeta_samples``, ``iteration`` or ``seconds``.
    band : str
        ``quartiles``, ``range`` or ``none``, with the median; or ``std``, with the mean.
    log_x : bool
        Draw ``axis`` logarithmically.
    log_y : bool
        Draw magnitudes on logarithmic axes.

    Examples
    --------
    >>> from zoviz import Run
    >>> from zoviz.problems import LoadTracking
    >>> from zoviz.solvers import ZOCEG
    >>> run = Run(LoadTracking(n=5), ZOCEG(), replicas=2, iterations=9)
    >>> result = run.run()
    >>> PaperFigure(run).caption.partition(" on ")[0]
    'Objective gap |f − f*| against oracle calls per replica'
    """

    _one_at_a_time = threading.Lock()
    """Matplotlib's settings are those of the whole process."""

    def __init__(
        self,
        runs: Runs,
        plots: Sequence[str] = (),
        *,
        width: str = "one column",
        axis: str = CALLS,
        band: str = "quartiles",
        log_x: bool = False,
        log_y: bool = True,
    ) -> None:
        self.runs = named_runs(runs)
        self._snapshots = {name: run.trace.snapshot() for name, run in self.runs.items()}
        self.width, self.axis, self.band, self.log_x, self.log_y = width, axis, band, log_x, log_y
        for what, value, values in (("width", width, WIDTHS), ("axis", axis, AXES), ("band", band, BANDS.values())):
            if value not in values:
                raise ValueError(f"Expected a {what} of {', '.join(values)}, got {value!r}.")
        without = [name for name, snapshot in self._snapshots.items() if axis not in snapshot.columns]
        if without:
            raise ValueError(f"Expected runs with {axis}, got {without[0]!r}, which has none: choose another axis.")
        views = {type(view).__name__: view for view in every_plot()}
        known = [name for name, view in views.items() if view.has_values(list(self._snapshots.values()))]
        if not plots:
            first = [name for name in ("Gap", "Objective") if name in known][:1]
            plots = [*first, *(name for name in ("Violation",) if width == "two columns" and name in known)]
        strange = [name for name in plots if name not in known]
        if strange or not plots:
            raise ValueError(f"Expected plots on which the runs have values, {', '.join(known)}, got {strange}.")
        self.plots = tuple(plots)
        self._views = [views[name] for name in plots]
        numbers = itertools.count(1)
        self._changes = {
            name: {number: one for one, number in zip(by_drag(list(run.journal)), numbers, strict=False)}
            for name, run in self.runs.items()
        }
        """What was changed of each run while it ran, by the numbers that figure and caption have."""

    def save(self, path: str | Path) -> None:
        """Write the figure as ``.pdf``, ``.svg`` or ``.png``; as ``.zip`` all three, caption and scripts with them.

        Raises
        ------
        ValueError
            For another suffix.
        MissingExtra
            Where Matplotlib is not installed.
        """
        path = Path(path)
        suffix = path.suffix.lstrip(".")
        if suffix not in ("pdf", "svg", "png", "zip"):
            raise ValueError(f"Expected a name that ends in .pdf, .svg, .png or .zip, got {path.name!r}.")
        path.write_bytes(self.archive() if suffix == "zip" else self.drawn(suffix)[suffix])

    def archive(self) -> bytes:
        """Return a zip file of the figure in three formats, its caption, and the scripts that remake it."""
        files: dict[str, str | bytes] = {f"figure.{name}": data for name, data in self.drawn().items()}
        files |= {"caption.txt": self.caption + "\n", **self.scripts()}
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return out.getvalue()

    def drawn(self, *formats: str) -> dict[str, bytes]:
        """Return the figure in some formats, by default PDF, SVG and PNG, by their names."""
        return self.printed(self.width, len(self._views), self.draw_on, *formats)

    def draw_on(self, panels: Sequence[Any]) -> None:
        """Draw the plots on as many of Matplotlib's axes, within ``settings_for_print``."""
        for at, (axes, view) in enumerate(zip(panels, self._views, strict=True)):
            self._draw(axes, view, f"({chr(ord('a') + at)})" if len(panels) > 1 else "", not at)

    @classmethod
    @contextmanager
    def settings_for_print(cls) -> Iterator[None]:
        """Return a context in which Matplotlib, which has one set of settings for the process, has those for print.

        Raises
        ------
        MissingExtra
            Where Matplotlib is not installed.
        """
        matplotlib = require("matplotlib", "figures", "a figure for print")
        with cls._one_at_a_time, matplotlib.rc_context(LOOK):
            yield

    @classmethod
    def printed(cls, width: str, count: int, draw: Callable[[Sequence[Any]], None], *formats: str) -> dict[str, bytes]:
        """Return a figure for print of any content in some formats, by default PDF, SVG and PNG, by their names.

        Parameters
        ----------
        width : str
            A key of ``WIDTHS``.
        count : int
            Panels side by side.
        draw : callable
            Called with as many of Matplotlib's axes.
        *formats : str

        Raises
        ------
        MissingExtra
            Where Matplotlib is not installed.
        """
        out = {}
        with cls.settings_for_print():
            from matplotlib.figure import Figure

            figure = Figure(figsize=(WIDTHS[width], HEIGHT), layout="constrained")
            draw(list(figure.subplots(1, count, squeeze=False)[0]))
            for name in formats or ("pdf", "svg", "png"):
                file = io.BytesIO()
                dates: dict[str, Any] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
                figure.savefig(file, format=name, dpi=RESOLUTION, metadata=dates.get(name))
                out[name] = file.getvalue()
        return out

    def _draw(self, axes: Any, view: PlotView, tag: str, first: bool) -> None:
        """Draw one plot; the legend of several runs stands on the first only."""
        from matplotlib.ticker import EngFormatter

        log, alone = self.log_y and view.can_log, len(self.runs) == 1
        axes.set_yscale("log" if log else "linear")
        axes.set_xscale("log" if self.log_x else "linear")
        drawn, strip = self._drawn_lines(view, log)
        for at, (name, (whole, lines)) in enumerate(zip(self.runs, drawn, strict=True)):
            data = whole.columns()
            for rank, one in enumerate(lines):
                listed = one.label if alone and len(lines) <= MOST_LISTED else "" if rank or alone else name
                look = {"color": REFERENCE if one.muted else INKS[at % len(INKS)]}
                look |= {"linestyle": DASHES[(rank if alone else at) % len(DASHES)]}
                look |= {"linewidth": LOOK["lines.linewidth"] * (1.0 if alone or not rank else THIN)}
                _line(axes, data, one, look, listed)
        columns = next(iter(self._snapshots.values())).columns
        thin = [] if alone else self._further(view)
        if thin:
            axes.plot([], [], color=REFERENCE, linewidth=THIN * LOOK["lines.linewidth"], label=", ".join(thin))
        label = f"{view.heading(columns)} {signed(view.y_label(columns), log)}".strip()
        axes.set(xlabel=AXES[self.axis], ylabel=label)
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.grid(axis="y", alpha=0.4)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_title(tag, loc="left", fontsize=LOOK["font.size"])
        if strip is not None:
            _mark_zeros(axes, strip)
        self._mark_changes(axes)
        if first or alone:
            handles, labels = axes.get_legend_handles_labels()
            if len(handles) > 1:
                axes.legend(handles, labels, frameon=False, handlelength=2.6)

    def _drawn_lines(self, view: PlotView, log: bool) -> tuple[list[tuple[LineData, list[Series]]], ZeroStrip | None]:
        """Return what is drawn of each run on a plot, and the strip in which zeros stand."""
        drawn = []
        for at, snapshot in enumerate(self._snapshots.values()):
            lines = [one for one in view.lines(snapshot.columns) if len(self.runs) == 1 or not one.muted]
            drawn.append((line_data(snapshot, lines, self.axis, self.band, self.log_x, log, lane(at)), lines))
        strip = strip_for(drawn) if log else None
        strips = {one.key: strip for _, lines in drawn for one in lines}
        return [(with_strips(data, lines, strips), lines) for data, lines in drawn], strip

    def _mark_changes(self, axes: Any) -> None:
        """Mark where parameters were changed: dashed lines in the run's ink, with the numbers that the caption has."""
        low, high = axes.get_xlim()
        marks: list[tuple[float, str, int]] = []
        for at, (name, run) in enumerate(self.runs.items()):
            ink = REFERENCE if len(self.runs) == 1 else INKS[at % len(INKS)]
            for number, changes in self._changes[name].items():
                shown = changes if len(changes) <= MOST_STEPS else [changes[0], changes[-1]]
                marks += [(max(x, low), ink, number) for x in places_of(run, shown, self.axis)]
        above = axes.get_xaxis_transform()
        marks.sort()

        def share(x: float) -> float:
            """Return the place of an abscissa as a share of the panel's width."""
            inside = axes.transAxes.inverted().transform(axes.transData.transform((x, axes.get_ylim()[1])))
            return float(inside[0])

        while marks:
            near = [mark for mark in marks if share(mark[0]) - share(marks[0][0]) < _NEAR]
            marks = marks[len(near) :]
            for along, ink, _ in near:
                axes.axvline(along, color=ink, linewidth=0.6, linestyle=DASHES[1], zorder=1)
            colour = near[0][1] if len({ink for _, ink, _ in near}) == 1 else "black"
            words = {"fontsize": 0.85 * LOOK["font.size"], "ha": "center", "va": "bottom", "color": colour}
            numbers = sorted({number for *_, number in near})
            axes.text(near[0][0], 1.0, _numbers_words(numbers), transform=above, **words)
        axes.set_xlim(low, high)

    @property
    def caption(self) -> str:
        """The sentences below the figure: what is drawn, of which runs, with which settings."""
        columns = next(iter(self._snapshots.values())).columns
        headings = []
        for at, view in enumerate(self._views):
            log = self.log_y and view.can_log
            text = f"{view.heading(columns)} {signed(view.y_label(columns), log)}".strip()
            text = text if not at else text[:1].lower() + text[1:]
            headings.append(f"{text} ({chr(ord('a') + at)})" if len(self._views) > 1 else text)
        run = next(iter(self.runs.values()))
        problem = run.problem if run.initial is None else run.initial.problem
        sentences = [f"{' and '.join(headings)} against {AXES[self.axis]} on {_problem_words(problem)}."]
        sentences.append(f"Lines: {_SPREAD[self.band]} of the replicas.")
        sentences += self._sentences_on_signs()
        thin = dict.fromkeys(label for view in self._views for label in self._further(view))
        sentences += [f"Thin lines: {', '.join(thin)}."] if thin and len(self.runs) > 1 else []
        for name, run in self.runs.items():
            changes = [f"({number}) {_change_words(run, one)}" for number, one in self._changes[name].items()]
            changed = f"; changed while it ran, at the dashed lines: {', '.join(changes)}" if changes else ""
            sentences.append(f"{_run_words(name, run, self._snapshots[name])}{changed}.")
        if any(run.resolved for run in self.runs.values()):
            sentences.append("An asterisk marks what the solver's rule chose.")
        return " ".join([*sentences, f"Made with zoviz {version('zoviz')}."]).replace(". .", ".")

    def _further(self, view: PlotView) -> list[str]:
        """Return the labels of a plot's lines after the first, which are thin where several runs are drawn."""
        return [line.label for line in view.lines(next(iter(self._snapshots.values())).columns)[1:] if not line.muted]

    def _sentences_on_signs(self) -> list[str]:
        """Return what 0 means on the logarithmic axes that have it, and what is drawn of values below it."""
        out, turned = [], False
        for at, view in enumerate(self._views):
            lines = [(one, line) for one in self._snapshots.values() for line in view.lines(one.columns)]
            if self.log_y and view.can_log:
                turned = turned or any(not line.best and has_negatives(one, line) for one, line in lines)
                if any(has_zeros(*line) for line in lines):
                    panel = f" of ({chr(ord('a') + at)})" if len(self._views) > 1 else ""
                    out.append(f"Below the break{panel}: 0, {view.words_for_zero(lines)}.")
        return [*out, *(["Of values below 0 the magnitude is drawn."] if turned else [])]

    def scripts(self) -> dict[str, str]:
        """Return Python scripts by file name: one that remakes the figure, and one for each run that it repeats."""
        files, entries = {}, ""
        for at, (name, run) in enumerate(self.runs.items(), 1):
            files[f"run_{at}.py"] = script(run)
            entries += f'    {name!r}: runpy.run_path(str(here / "run_{at}.py"))["run"],\n'
        chosen = {name: getattr(self, name) for name in ("plots", "width", "axis", "band", "log_x", "log_y")}
        return {"figure.py": _REMAKE.format(runs=entries, **chosen), **files}


def _line(axes: Any, data: Mapping[str, Any], one: Series, look: dict[str, Any], label: str) -> None:
    """Draw a line, its band, and where it is 0 on a logarithmic axis; references leave the axis as it is."""
    x = data["x"]
    if not one.muted:
        low, high = data[f"{one.key}.low"], data[f"{one.key}.high"]
        axes.fill_between(x, low, high, color=look["color"], alpha=0.18, linewidth=0)
    known = np.isfinite(data[one.key]).any()
    axes.plot(x, data[one.key], label=label if label and known else "_", scaley=not one.muted, **look)
    if one.zeros:
        # In dashes zeros would not be told from values that are 0 now and then.
        axes.plot(x, data[f"{one.key}.zero"], **look | {"linewidth": 1.6, "linestyle": "solid"})
        axes.plot(x, data[f"{one.key}.lone"], color=look["color"], linestyle="none", marker=".", markersize=3)


def _mark_zeros(axes: Any, strip: ZeroStrip) -> None:
    """Draw the strip of zeros below a break of the vertical axis, with the tick "0"."""
    axes.figure.canvas.draw()  # works out the limits and the ticks that stand above the break
    _, end = axes.get_ylim()
    ticks = [tick for tick in axes.get_yticks() if strip.top < tick <= end and not strip.empty]
    labels = axes.yaxis.get_major_formatter().format_ticks(ticks)
    minor = [tick for tick in axes.yaxis.get_minorticklocs() if strip.top < tick <= end and not strip.empty]
    axes.set_yticks([strip.tick, *ticks], ["0", *labels])
    axes.set_yticks(minor, ["" for _ in minor], minor=True)
    axes.set_ylim(strip.bottom, strip.top * 10 if strip.empty else end)
    if strip.empty:  # nothing to be cut off from
        return
    axes.axhspan(strip.bottom, strip.top, color=REFERENCE, alpha=0.13, linewidth=0, zorder=0)
    axes.axhline(strip.top, color=REFERENCE, linewidth=0.6, linestyle=DASHES[1], zorder=1)
    height = float(axes.transAxes.inverted().transform(axes.transData.transform((1.0, strip.top)))[1])
    # The sign of a break: the axis is cut between two strokes.
    cut = {"transform": axes.transAxes, "clip_on": False, "solid_capstyle": "butt"}
    axes.plot([0.0, 0.0], [height - 0.012, height + 0.012], color="white", linewidth=2.0, zorder=3, **cut)
    for shift in (-0.012, 0.012):
        stroke = [height + shift - 0.01, height + shift + 0.01]
        axes.plot([-0.012, 0.012], stroke, color="black", linewidth=0.6, zorder=4, **cut)


def _problem_words(problem: Problem) -> str:
    """Return a problem's title, with its dimensions and what differs from the defaults."""
    count = f"{problem.m} constraint{'s' if problem.m != 1 else ''}"
    words = [f"{problem.domain.n} variables", count, *_differing({"": problem}, {})]
    return f"{title_of(problem)} ({', '.join(words)})"


def _run_words(name: str, run: RunView, snapshot: Snapshot) -> str:
    """Return a run's solver, what differs from its defaults or its rule chose, replicas, seed, iterations and calls."""
    solver = run.solver if run.initial is None else run.initial.solver
    title = title_of(solver)
    words = [title if title == name else f"{name}: {title}", *_differing(solver.parts(), run.resolved)]
    calls = snapshot.columns[CALLS].max(axis=None)
    words += [f"{run.replicas} replica{'s' if run.replicas != 1 else ''}", f"seed {run.seed}"]
    return ", ".join([*words, f"{run.progress.iteration:,} iterations", f"{calls:,.0f} calls each"])


def _differing(parts: Mapping[str, param.Parameterized], resolved: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of each plain parameter that is not as its class has it; with an asterisk what a rule chose."""
    for prefix, part in parts.items():
        for name, value in part.param.values().items():
            parameter = type(part).param[name]
            chosen = value is None and f"{prefix}{name}" in resolved
            value = resolved[f"{prefix}{name}"] if chosen else value
            plain = isinstance(value, (bool, int, float, str)) and (parameter.precedence or 0) >= 0
            # What a rule leaves off is as its paper has it.
            if name != "name" and plain and (value is not False if chosen else value != parameter.default):
                yield f"{parameter.label} {value_words(value)}{'*' if chosen else ''}"


def _change_words(run: RunView, changes: Sequence[Change]) -> str:
    """Return what a person or a schedule changed, and when; of a drag in many steps its beginning and its end."""
    first, last = changes[0], changes[-1]
    begin = f"{run.solver.label_of(first.name)} from {value_words(first.old)}"
    if len(changes) > MOST_STEPS:
        when = f"iterations {first.iteration:,} to {last.iteration:,} ({first.calls:,} to {last.calls:,} calls)"
        return f"{begin} in {len(changes)} steps to {value_words(last.new)} at {when}"
    steps = [f"to {value_words(one.new)} at iteration {one.iteration:,} ({one.calls:,} calls)" for one in changes]
    return f"{begin} {', '.join(steps)}"


def _numbers_words(numbers: Sequence[int]) -> str:
    """Return the numbers of changes that stand together, in order; of three or more in a row the first and the last."""
    rows = [[n for _, n in row] for _, row in itertools.groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return ",".join(f"{row[0]}–{row[-1]}" if len(row) > 2 else ",".join(map(str, row)) for row in rows)
