"""The tables of a benchmark: a line for each solver or problem, for people, LaTeX and Markdown; comparisons."""

from __future__ import annotations

import numpy as np

from zoviz.benchmark.courses import Benchmark, Hits
from zoviz.benchmark.paired_comparison import Comparison, compare
from zoviz.benchmark.running_time import expected_running_time


def shares(hits: Hits) -> np.ndarray:
    """Return the share (p, s) of replicas that reached the level; NaN where there is no run."""
    there = np.isfinite(hits.spent).sum(axis=-1)
    return np.where(there > 0, np.isfinite(hits.calls).sum(axis=-1) / np.maximum(there, 1), np.nan)


def compared_solvers(bench: Benchmark) -> list[Comparison]:
    """Compare all pairs of solvers by the remaining gap: per problem, the median over replicas."""
    left = bench.shortfalls()
    whole = ~np.isnan(left).any(axis=(1, 2))
    losses = {name: np.median(left[whole, s], axis=1) for s, name in enumerate(bench.solvers)}
    return compare(losses, np.random.default_rng(0))


def solver_rows(hits: Hits, tau: float) -> tuple[list[str], list[list[str]]]:
    """Return the column headings and one row per solver.

    Problems with a run, share of replicas solved, median over problems of the ERT in sweeps of n + 1 calls where it is
    finite, and how many problems no other solver solved in less.
    """
    share, ert = shares(hits), expected_running_time(hits) / (hits.dimensions[:, None] + 1.0)
    fewest = np.nanmin(np.where(np.isnan(ert), np.inf, ert), axis=1, initial=np.inf)
    rows = []
    for s, solver in enumerate(hits.solvers):
        there = np.isfinite(share[:, s])
        finite = ert[:, s][np.isfinite(ert[:, s])]
        fastest = int((np.isfinite(ert[:, s]) & (ert[:, s] == fewest)).sum())
        solved = f"{100 * share[there, s].mean():.0f} %" if there.any() else ""
        rows.append(
            [solver, str(int(there.sum())), solved, f"{np.median(finite):.3g}" if finite.size else "", str(fastest)]
        )
    return ["Solver", "Problems", f"Solved to {tau:.1e}", "Median sweeps (ERT)", "Fastest on"], rows


def latex(bench: Benchmark, tau: float) -> str:
    """Return the table of solvers as a ``tabular`` with the rules of booktabs."""
    heads, rows = solver_rows(bench.hits(tau), tau)
    heads = [head.removesuffix(" (ERT)") for head in heads]  # else it is wider than a page of LaTeX's article
    lines = [" & ".join(map(_escaped, row)) + r" \\" for row in (heads, *rows)]
    body = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([r"\begin{tabular}{lrrrr}", *body, r"\end{tabular}", ""])


def markdown(bench: Benchmark, tau: float) -> str:
    """Return the table of solvers for Markdown."""
    heads, rows = solver_rows(bench.hits(tau), tau)
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *([_without_bars(word) for word in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def problem_rows(hits: Hits) -> tuple[list[str], list[list[str]]]:
    """Return headings and one row per problem: the ERT of each solver in sweeps of n + 1 calls.

    "never" where no run reached the level, nothing where there is no run.
    """
    ert = expected_running_time(hits) / (hits.dimensions[:, None] + 1.0)
    rows = [[name, *(_in_words(float(one)) for one in ert[p])] for p, name in enumerate(hits.problems)]
    return ["Problem", *hits.solvers], rows


def _in_words(sweeps: float) -> str:
    """Return a running time for a table."""
    return "" if np.isnan(sweeps) else "never" if np.isinf(sweeps) else f"{sweeps:.3g}"


def _without_bars(word: str) -> str:
    return word.replace("|", "\\|")


def _escaped(word: str) -> str:
    """Return a word with what TeX would read as a command written out."""
    for sign in "&%$#_{}":
        word = word.replace(sign, f"\\{sign}")
    return word
