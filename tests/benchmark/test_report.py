"""The tables of a benchmark, against a small one worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.benchmark.courses import Benchmark, Course, Hits
from zoviz.benchmark.paired_comparison import Decision
from zoviz.benchmark.report import compared_solvers, latex, markdown, problem_rows, shares, solver_rows

CALLS = np.array([[[3.0, np.inf], [6.0, 6.0]], [[8.0, 8.0], [np.nan, np.nan]], [[np.inf, np.inf], [np.inf, 4.0]]])
SPENT = np.where(np.isnan(CALLS), np.nan, 12.0)
HITS = Hits(("P", "Q", "R"), ("A", "B_1"), np.array([2.0, 3.0, 1.0]), CALLS, SPENT)


def test_the_rows_of_solvers_by_hand() -> None:
    """A's ERT: P (3 + 12) / 1 = 15 calls of 3, Q 8 of 4, R never; B's: P 6 of 3, R (12 + 4) / 1 = 16 of 2."""
    np.testing.assert_array_equal(shares(HITS), [[0.5, 1.0], [1.0, np.nan], [0.0, 0.5]])
    heads, rows = solver_rows(HITS, 1e-3)
    assert heads == ["Solver", "Problems", "Solved to 1.0e-03", "Median sweeps (ERT)", "Fastest on"]
    assert rows == [["A", "3", "50 %", "3.5", "1"], ["B_1", "2", "75 %", "5", "2"]]


@pytest.fixture
def bench() -> Benchmark:
    courses = {
        ("P", solver): [Course(np.array([0.0, last]), np.array([1.0, 0.0]))]
        for solver, last in (("A & B", 3.0), ("100 % C_1", 5.0))
    }
    return Benchmark(["P"], ["A & B", "100 % C_1"], [2], courses)


def test_latex_by_hand(bench: Benchmark) -> None:
    assert latex(bench, 0.1).splitlines() == [
        r"\begin{tabular}{lrrrr}",
        r"\toprule",
        r"Solver & Problems & Solved to 1.0e-01 & Median sweeps & Fastest on \\",
        r"\midrule",
        r"A \& B & 1 & 100 \% & 1 & 1 \\",
        r"100 \% C\_1 & 1 & 100 \% & 1.67 & 0 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_markdown_by_hand(bench: Benchmark) -> None:
    bench = Benchmark(bench.problems, ["A|B"], [2], {("P", "A|B"): bench.courses["P", "A & B"]})
    assert markdown(bench, 0.1).splitlines() == [
        "| Solver | Problems | Solved to 1.0e-01 | Median sweeps (ERT) | Fastest on |",
        "| --- | ---: | ---: | ---: | ---: |",
        r"| A\|B | 1 | 100 % | 1 | 1 |",
    ]


def test_running_times_by_problem_by_hand() -> None:
    heads, rows = problem_rows(HITS)
    assert heads == ["Problem", "A", "B_1"]
    assert rows == [["P", "5", "2"], ["Q", "2", ""], ["R", "never", "8"]]


def test_too_few_problems_cannot_tell(bench: Benchmark) -> None:
    assert [one.decision for one in compared_solvers(bench)] == [Decision.CANNOT_TELL]
