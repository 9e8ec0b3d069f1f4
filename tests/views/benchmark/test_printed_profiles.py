"""Profiles for print: to the digit, and set by TeX beside the table of the same benchmark."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from zoviz.benchmark.courses import Benchmark, Course
from zoviz.benchmark.profiles import data_profile, performance_profile
from zoviz.benchmark.report import latex
from zoviz.views.benchmark.printed_profiles import draw_profile, printed_profiles

figures = pytest.importorskip("matplotlib.figure")
DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs,graphicx}
\begin{document}
\begin{figure}[h]\includegraphics[width=\textwidth]{figure}\caption{Profiles.}\end{figure}
\begin{table}[h]\centering\input{table}\caption{Solvers.}\end{table}
\end{document}
"""


@pytest.fixture
def bench() -> Benchmark:
    """Three solvers on five problems, from 1 to 0 with growing numbers of calls; one is late, one never arrives."""
    names = [f"P{k}" for k in range(5)]
    ends = {"A & B": (3.0, 1e-4), "100 % C_1": (5.0, 1e-3), "never": (4.0, 0.5)}
    courses = {
        (name, solver): [Course(np.array([1.0, calls * (k + 2), 60.0]), np.array([1.0, value, value]))]
        for k, name in enumerate(names)
        for solver, (calls, value) in ends.items()
    }
    return Benchmark(names, list(ends), [2] * 5, courses, dict.fromkeys(names, 0.0))


def test_a_curve_is_the_profiles_steps(bench: Benchmark) -> None:
    axes = figures.Figure().subplots()
    profile = data_profile(bench.hits(0.1))
    draw_profile(axes, profile, "calls / (n + 1)")
    lines = axes.get_lines()
    assert [line.get_label() for line in lines] == ["A & B", "100 % C_1", "never"]
    np.testing.assert_array_equal(lines[0].get_xdata()[1:-1], np.repeat(profile.x[0], 2))
    np.testing.assert_array_equal(lines[0].get_ydata()[1::2], [0.0, *profile.y[0]])
    assert not lines[2].get_ydata().any() and axes.get_xscale() == "log"


def test_the_same_profiles_give_the_same_file(bench: Benchmark) -> None:
    profiles = {"performance": performance_profile(bench.hits(0.1))}
    assert printed_profiles(profiles, "pdf") == printed_profiles(profiles, "pdf")
    assert printed_profiles(profiles, "png").startswith(b"\x89PNG")


def without_tex() -> str:
    """What is missing for setting a table, empty where nothing is."""
    if shutil.which("pdflatex") is None:
        return "without TeX"
    looked_up = subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True, text=True, check=False)
    return "" if looked_up.stdout.strip() else "without the package booktabs"


@pytest.mark.slow
def test_table_and_figure_are_set_by_tex(bench: Benchmark, tmp_path: Path) -> None:
    if missing := without_tex():
        pytest.skip(f"{missing}: apt-get install texlive-latex-recommended")
    hits = bench.hits(0.1)
    profiles = {"data": data_profile(hits), "performance": performance_profile(hits)}
    (tmp_path / "figure.pdf").write_bytes(printed_profiles(profiles, "pdf"))
    (tmp_path / "table.tex").write_text(latex(bench, 0.1))
    (tmp_path / "a.tex").write_text(DOCUMENT)
    words = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "a.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and (tmp_path / "a.pdf").stat().st_size > 5000, done.stdout[-2000:]
    assert "Overfull" not in done.stdout, "both fit the page"
