"""The tables that ``zoviz benchmark`` prints, and the files that it writes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zoviz.benchmark.courses import Benchmark, Hits
from zoviz.benchmark.cuts import by_dimension, by_kind
from zoviz.benchmark.exchange.tables import profile_table, table_file
from zoviz.benchmark.paired_comparison import Comparison
from zoviz.benchmark.profiles import Profile, data_profile, performance_profile
from zoviz.benchmark.report import compared_solvers, latex, markdown, shares
from zoviz.benchmark.running_time import TARGETS, expected_running_time, running_time_distribution
from zoviz.cli.command import number, say, show, table
from zoviz.studies.definition import ProblemFacts

if TYPE_CHECKING:
    import pandas

CUTS = {"kind": by_kind, "dimension": by_dimension}
"""Parts of the problems by what --by names."""
TABLES: dict[str, Callable[[Benchmark, float], str]] = {".tex": latex, ".md": markdown}
"""Tables of solvers by the suffix of their file."""


def facts_of(bench: Benchmark) -> dict[str, ProblemFacts]:
    """Return what is known of the problems of a benchmark without a study."""
    return {name: ProblemFacts(int(n), None) for name, n in zip(bench.problems, bench.dimensions, strict=True)}


def tell(
    bench: Benchmark,
    facts: Mapping[str, ProblemFacts],
    args: argparse.Namespace,
    runs: Callable[[], pandas.DataFrame],
) -> None:
    """Print the tables and write the requested files.

    Parameters
    ----------
    bench : Benchmark
    facts : mapping of str to ProblemFacts
        Of its problems, by which they are cut.
    args : argparse.Namespace
        ``levels``, ``by``, ``json``, ``save``, ``export`` and ``export_profiles``.
    runs : callable
        Returns the table of all runs.
    """
    levels = {tau: bench.hits(tau) for tau in args.levels}
    comparisons = compared_solvers(bench)
    parts = CUTS[args.by](facts) if args.by else {}
    if args.json:
        show(_plain(bench, levels, comparisons, parts))
    else:
        _print(bench, levels, comparisons)
        for title, names in parts.items():
            print(f"\n{title}: {len(names)} problem{'s' * (len(names) > 1)}")
            _print_shares(bench.solvers, {tau: _part(hits, names) for tau, hits in levels.items()})
    tau = args.levels[min(1, len(args.levels) - 1)]
    for path in args.export:
        suffix = Path(path).suffix
        if suffix in TABLES:
            _write(path, TABLES[suffix](bench, tau).encode())
        else:
            _write(path, table_file(runs(), suffix))
    if args.export_profiles:
        _write(
            args.export_profiles, table_file(profile_table(_profiles(bench, tau)), Path(args.export_profiles).suffix)
        )
    if args.save:
        _draw(_profiles(bench, tau), args.save)


def _part(hits: Hits, problems: Sequence[str]) -> Hits:
    """Return the hits on some of the problems."""
    own = [p for p, name in enumerate(hits.problems) if name in problems]
    names = tuple(hits.problems[p] for p in own)
    return Hits(names, hits.solvers, hits.dimensions[own], hits.calls[own], hits.spent[own])


def _profiles(bench: Benchmark, tau: float) -> dict[str, Profile]:
    hits = bench.hits(tau)
    targets = running_time_distribution([bench.hits(one) for one in TARGETS])
    return {"data": data_profile(hits), "performance": performance_profile(hits), "targets": targets}


def _write(path: str, content: bytes) -> None:
    Path(path).write_bytes(content)
    say(f"Written to {path}.")


def _print(bench: Benchmark, levels: dict[float, Hits], comparisons: Sequence[Comparison]) -> None:
    """Print shares solved, running times, the problems one by one, and the comparisons."""
    _print_shares(bench.solvers, levels)
    tau, hits = list(levels.items())[min(1, len(levels) - 1)]
    ert = expected_running_time(hits) / (hits.dimensions[:, None] + 1.0)
    print(f"\nERT to {tau:g} in units of n + 1 calls, failed runs counted in full; - where no run reached it")
    lines = [[name, *(number(float(one), 3) for one in ert[p])] for p, name in enumerate(bench.problems)]
    table(["PROBLEM", *bench.solvers], lines, "l" + "r" * len(bench.solvers))
    if comparisons:
        print("\nRemaining gap at the end, problem by problem (signed ranks, corrected by Holm)")
        table(["", "", "", "P"], [[one.first, one.verb, one.second, number(one.p_value, 2)] for one in comparisons])


def _print_shares(solvers: Sequence[str], levels: Mapping[float, Hits]) -> None:
    """Print the share that each solver solved to each level, of the problems that it has runs of."""
    rows = [[solver, *(_percent(shares(hits)[:, s]) for hits in levels.values())] for s, solver in enumerate(solvers)]
    table(["SOLVER", *(f"SOLVED TO {tau:g}" for tau in levels)], rows, "l" + "r" * len(levels))


def _percent(own: np.ndarray) -> str:
    return f"{100 * np.nanmean(own):.0f} %" if np.isfinite(own).any() else "-"


def _plain(
    bench: Benchmark,
    levels: dict[float, Hits],
    comparisons: Sequence[Comparison],
    parts: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return the tables for JSON."""
    return {
        "problems": bench.problems,
        "solvers": bench.solvers,
        "levels": [
            {"level": tau, "solved": shares(hits), "calls": hits.calls, "ert": expected_running_time(hits)}
            for tau, hits in levels.items()
        ],
        "parts": parts,
        "comparisons": [one._asdict() for one in comparisons],
    }


def _draw(profiles: Mapping[str, Profile], path: str) -> None:
    """Write all curves, with all that they need inside."""
    from bokeh.embed import file_html
    from bokeh.layouts import column
    from bokeh.resources import INLINE

    from zoviz.views.benchmark.profile_plots import ProfilePlot
    from zoviz.views.common.design import LIGHT

    plots = []
    for name, one in profiles.items():
        plots.append(ProfilePlot(name, lambda *_: None))
        plots[-1].update(one)
        plots[-1].update_bands()
    figures = column([one.figure for one in plots], sizing_mode="stretch_width")
    _write(path, file_html(figures, INLINE, "zoviz benchmark", theme=LIGHT, suppress_callback_warning=True).encode())
