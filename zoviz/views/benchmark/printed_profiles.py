"""Profiles as figures for print, with the widths, inks and dashes of the other figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zoviz.benchmark.profiles import Profile, staircase
from zoviz.views.benchmark.profile_plots import CURVES
from zoviz.views.plots.paper_figure import DASHES, INKS, PaperFigure


def printed_profiles(profiles: Mapping[str, Profile], suffix: str) -> bytes:
    """Return profiles side by side as a PDF, SVG or PNG, one column wide, or two where there are several.

    Parameters
    ----------
    profiles : mapping of str to Profile
        By the names of ``CURVES``.
    suffix : str
        ``pdf``, ``svg`` or ``png``.
    """

    def draw(panels: Sequence[Any]) -> None:
        for at, (axes, (name, profile)) in enumerate(zip(panels, profiles.items(), strict=True)):
            draw_profile(axes, profile, CURVES[name].x_label)
            if not at:
                axes.set_ylabel("share of problems and replicas")
                axes.legend(frameon=False, handlelength=2.6)
            if len(panels) > 1:
                axes.set_title(f"({chr(ord('a') + at)})", loc="left")

    width = "two columns" if len(profiles) > 1 else "one column"
    return PaperFigure.printed(width, len(profiles), draw, suffix)[suffix]


def draw_profile(axes: Any, profile: Profile, x_label: str) -> None:
    """Draw the curves of a profile on Matplotlib's axes."""
    from matplotlib.ticker import LogFormatter

    for s, solver in enumerate(profile.solvers):
        x, y = staircase(profile.x[s], profile.y[s], *profile.ends)
        axes.plot(x, y, label=solver, color=INKS[s % len(INKS)], linestyle=DASHES[s % len(DASHES)])
    axes.set(xscale="log", xlabel=x_label, ylim=(-0.03, 1.03))
    for set_formatter in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        set_formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(2.0, 0.5)))  # 20 and not 2 x 10^1
    axes.grid(axis="y", alpha=0.4)
    axes.spines[["top", "right"]].set_visible(False)
