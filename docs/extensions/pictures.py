"""Pictures of the gallery: the course of every solver, and a slice through every problem, light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from sphinx.util import logging

from zoviz import Run
from zoviz.core import registry
from zoviz.core.errors import ZovizError
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.problems import Gramacy, LoadTracking, NonconvexQCQP, QuadraticBilevel, StochasticQP
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import CALLS
from zoviz.solvers.base import Solver
from zoviz.views.plots.paper_figure import INKS

_LOGGER = logging.getLogger(__name__)

SCHEMES = {"light": "#333333", "dark": "#d0d4da"}
"""Colour of text and axes on a page of each scheme; what is behind a picture is the page's."""

_LARGEST = 100
"""Variables of a problem that is drawn: values of larger ones take long."""
_COLUMNS = ("gap", "normal_residual", "average_regret", "objective")
"""Columns of a trace, of which a course shows the first that it has."""
_POINTS = 60
"""Of a slice along each side."""


class Trial(NamedTuple):
    """What solvers are shown on: a problem, its name in a caption, and settings of the run."""

    problem: Callable[[], Problem]
    words: str
    settings: dict[str, int]


_TRIALS = (
    Trial(lambda: NonconvexQCQP(n=10), "NonconvexQCQP(n=10)", {"calls": 2000, "replicas": 5}),
    Trial(lambda: LoadTracking(n=10), "LoadTracking(n=10)", {"calls": 2000, "replicas": 5}),
    Trial(StochasticQP, "StochasticQP()", {"iterations": 600, "replicas": 5}),
    Trial(lambda: QuadraticBilevel(n=4, d=5), "QuadraticBilevel(n=4, d=5)", {"iterations": 300, "replicas": 5}),
)
_FEW = Trial(Gramacy, "Gramacy()", {"calls": 20, "replicas": 2})
"""For methods that fit a model at every step."""
_FOREIGN = Trial(lambda: NonconvexQCQP(n=10), "NonconvexQCQP(n=10)", {"calls": 400, "replicas": 3})
"""For other libraries' methods, which step one replica after the other."""


def draw(kind: str, members: dict[str, type[Any]], folder: Path) -> dict[str, str]:
    """Draw a picture of every class that has one, in both schemes, and return the captions by name.

    Parameters
    ----------
    kind : str
        "problems" or "solvers".
    members : dict of str to type
    folder : Path
        Of the pictures.
    """
    folder.mkdir(parents=True, exist_ok=True)
    captions = {}
    for name, cls in members.items():
        try:
            picture = _slice(cls) if kind == "problems" else _course(cls)
        except ZovizError as error:  # an extra is missing: the page is there without a picture
            _LOGGER.info("No picture of %s: %s", name, error)
            continue
        if picture is None:
            continue
        captions[name], paint = picture
        for scheme in SCHEMES:
            with _inks(scheme):
                figure = Figure(figsize=(6.2, 2.6), layout="constrained")
                paint(figure)
                figure.savefig(folder / f"{name}.{scheme}.svg", transparent=True, metadata={"Date": None})
    return captions


@contextmanager
def _inks(scheme: str) -> Iterator[None]:
    ink = SCHEMES[scheme]
    names = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    options: dict[str, Any] = {name: ink for name in names}
    with matplotlib.rc_context(options | {"font.size": 9, "svg.hashsalt": "zoviz", "svg.fonttype": "path"}):
        yield


def _course(cls: type[Solver]) -> tuple[str, Callable[[Figure], None]] | None:
    """Run a solver by its defaults on the first trial that it accepts."""
    solver = cls()
    trials = (_FEW,) if "bayesian" in cls.__module__ else (_FOREIGN,) if cls.external else _TRIALS
    trial = next((one for one in trials if solver.accepts(one.problem()) is None), None)
    if trial is None:
        return None
    run = Run(trial.problem(), solver, seed=0, **trial.settings)
    run.run()
    columns = run.trace.snapshot().columns
    shown = [next(name for name in _COLUMNS if name in columns), "violation"]
    per_iteration = run.result.calls.max() / max(1, run.result.nit)
    caption = (
        f"{trial.words} by default parameters, seed 0: median and quartiles of {run.replicas} replicas; "
        f"{per_iteration:.3g} calls an iteration, start and measuring counted."
    )

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for name, ink in zip(shown, INKS, strict=False):
            if name not in columns:
                continue
            values = np.abs(columns[name])
            measured = np.isfinite(values).any(axis=1)
            low, middle, high = np.nanquantile(values[measured], [0.25, 0.5, 0.75], axis=1)
            if not (middle > 0).any():
                continue
            calls = np.asarray(columns[CALLS], dtype=float)
            x = calls if calls.ndim == 1 else calls.mean(axis=1)
            axes.plot(x[measured], middle, color=ink, label=name.replace("_", " "))
            axes.fill_between(x[measured], low, high, color=ink, alpha=0.25, linewidth=0)
        axes.set(yscale="log", xlabel="oracle calls")
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)

    return caption, paint


def _slice(cls: type[Problem]) -> tuple[str, Callable[[Figure], None]] | None:
    """Cut a plane through a start and the optimum of a problem whose values are free."""
    if registry.required(cls) or cls.online or cls.costly or not cls.analytic:
        return None
    problem = cls()
    if problem.domain.n > _LARGEST:
        return None
    optimum = problem.known_optimum
    start = problem.initial(Streams(0, 1))[0]
    goal = start if optimum is None or optimum.point is None else np.asarray(optimum.point, dtype=float)
    plane = _plane(goal, start, problem)
    if plane is None:
        return None
    a, b, points = plane
    value = problem.evaluate(points)
    words = "through a start and the optimum" if goal is not start else "through a start"
    caption = f"A plane {words}: objective by colour, infeasible points shaded; outside of X as at its nearest point."

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        f = np.where(np.isfinite(value.f), value.f, np.nan)
        levels = np.unique(np.nanquantile(f, np.linspace(0.0, 1.0, 22)))
        shades = axes.contourf(a, b, f, levels=levels, cmap="viridis_r", alpha=0.85)
        if value.h.shape[-1]:
            worst = value.h.max(axis=-1)
            axes.contourf(a, b, worst, levels=[1e-6, np.inf], colors=["#555555"], alpha=0.45)
            if worst.min() < 0 < worst.max():
                axes.contour(a, b, worst, levels=[0.0], colors=[INKS[1]], linewidths=1.5)
        axes.plot(1, 0, "o", color=INKS[1], markeredgecolor="white", label="start")
        if goal is not start:
            axes.plot(0, 0, "*", color="white", markeredgecolor="black", markersize=13, label="optimum")
        figure.colorbar(shades, ax=axes, label="f", format="%.3g")
        axes.set(xlabel="towards the start", ylabel="across")

    return caption, paint


def _plane(goal: Array, start: Array, problem: Problem) -> tuple[Array, Array, Array] | None:
    """Return coordinates along two orthogonal directions and the points (side, side, n), goal at 0, start at 1."""
    n = problem.domain.n
    along = start - goal
    if n < 2:
        return None
    rng = np.random.default_rng(0)
    if not np.linalg.norm(along) > 1e-9 * (1.0 + np.linalg.norm(goal)):
        along = rng.standard_normal(n) * (1.0 + np.abs(goal).mean()) * 0.3
    across = rng.standard_normal(n)
    across -= along * (across @ along) / (along @ along)
    across *= np.linalg.norm(along) / np.linalg.norm(across)
    a, b = np.linspace(-0.5, 1.5, _POINTS), np.linspace(-1.0, 1.0, _POINTS)
    points = goal + a[None, :, None] * along + b[:, None, None] * across
    return a, b, problem.domain.project(points)
