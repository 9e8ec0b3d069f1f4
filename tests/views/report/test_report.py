"""A report's figures are those of the runs, whether they are in memory or in a store, and forks stand beside them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zoviz import BlackBox, Run, Store
from zoviz.core.errors import ZovizError
from zoviz.problems import LoadTracking, WeldedBeam
from zoviz.solvers import ZOSPLM, ZOSQP
from zoviz.views.report.report import Report

HOSTILE = "</script><script>alert(1)</script> & *x* | y"


@pytest.fixture
def steered(store: Store) -> Run:
    """A stored run, one of whose parameters was changed."""
    settings: dict[str, Any] = {"schedule": [(10, 0, 0.0, "primal_step", None, 0.02)], "label": HOSTILE}
    run = Run(LoadTracking(n=5), ZOSPLM(), replicas=3, iterations=30, seed=2, store=store, **settings)
    run.run()
    store.annotate(run.id, notes=HOSTILE, tags=["paper"])
    return run


def page_data(text: str) -> Any:
    """The data block of a page, as a program reads it."""
    blocks = re.findall(r'<script type="application/json" id="zoviz-report">(.*?)</script>', text, re.DOTALL)
    assert len(blocks) == 1
    return json.loads(blocks[0])


def test_the_pages_numbers_are_the_stores(steered: Run, store: Store, tmp_path: Path) -> None:
    stored = store.load(steered.id)
    stored.report(tmp_path / "run.html")
    text = (tmp_path / "run.html").read_text(encoding="utf-8")
    (data,) = page_data(text)["runs"]
    result = stored.result
    for name in ("fun", "violation", "best_fun"):
        np.testing.assert_array_equal(np.array(data["final"][name], dtype=float), getattr(result, name))
    assert data["best_design"] == stored.best_design.plain() and data["id"] == stored.id
    assert {name: np.sum(calls) for name, calls in data["ledger"].items()} == {
        name: calls.sum() for name, calls in result.ledger.calls.items()
    }
    assert data["counts"] == dict(stored.progress.counts) and data["versions"] == stored.versions
    trace = stored.trace.snapshot().columns
    assert data["course"]["iteration"] == trace["iteration"].tolist()
    assert data["course"]["objective"] == np.median(trace["objective"], axis=1).tolist()
    assert data["changes"][0][:2] == [10, next(iter(stored.journal)).calls]
    compile(data["script"], "again.py", "exec")
    assert len(text) < 3e6


def test_hostile_words_stay_words(steered: Run, store: Store, tmp_path: Path) -> None:
    for suffix in ("html", "md"):
        store.load(steered.id).report(tmp_path / f"run.{suffix}")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page
    assert page_data(page)["runs"][0]["label"] == HOSTILE
    text = (tmp_path / "run.md").read_text(encoding="utf-8").partition("Script that repeats it")[0]
    assert "<script>" not in text and r"\*x\* \| y" in text


def test_markdown_has_the_same_figures(steered: Run, tmp_path: Path) -> None:
    steered.report(tmp_path / "run.md")
    text = (tmp_path / "run.md").read_text(encoding="utf-8")
    design = steered.best_design
    assert f"f = {design.f:.10g}, feasible" in text and f"| x1 | {design.x[0]:.10g} |" in text
    assert f"| Iterations | {steered.progress.iteration} |" in text and "Primal step c: " in text
    widths = [line.count(" | ") for line in text.splitlines() if line.startswith("| ---")]
    assert widths and "```python" in text


def test_print_has_two_pages(steered: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    steered.report(tmp_path / "run.pdf")
    data = (tmp_path / "run.pdf").read_bytes()
    assert data.startswith(b"%PDF") and len(re.findall(rb"/Type /Page\b", data)) == 2 and b"/Type3" not in data


def test_a_runs_forks_stand_beside_it_and_it_beside_its_fork(steered: Run, store: Store) -> None:
    fork = steered.fork(20, {"primal_step": 0.05}, iterations=40)
    fork.run()
    report = Report.of(store.load(steered.id))
    beside = report.runs[1]
    assert [one.run.id for one in report.runs] == [steered.id, fork.id]
    assert beside.shown.name == f"fork {fork.id[:6]}: Primal step c → 0.05 at iteration 20"
    assert beside.settings_beside(report.runs[0]) == {"Run": {"Iterations": "40"}}
    assert len({one.shown.colour for one in report.runs}) == 2
    back = Report.of(fork)
    assert [one.run.id for one in back.runs] == [fork.id, steered.id]
    assert back.runs[1].shown.name.startswith(f"origin {steered.id[:6]}")


def test_several_runs_are_compared(tmp_path: Path) -> None:
    runs = [Run(WeldedBeam(), ZOSQP(), replicas=2, calls=60, seed=seed) for seed in (0, 1)]
    for run in runs:
        run.run()
    report = Report.of(runs)
    assert report.title == "2 runs: ZOSQP, ZOSQP #2" and len(report.runs) == 2
    with pytest.raises(ZovizError, match="ends in .html"):
        runs[0].report(tmp_path / "run.doc")
    with pytest.raises(ValueError, match="have begun"):
        Run(WeldedBeam(), ZOSQP()).report(tmp_path / "run.html")


def test_a_persons_own_run_has_its_answers_certainty(tmp_path: Path) -> None:
    def noisy(x: np.ndarray) -> tuple[float, list[float]]:
        return float((x - 0.3) @ (x - 0.3)), [0.5 - float(x.sum())]

    problem = BlackBox(noisy, joint=True, m=1, bounds=[(0, 1)] * 2, x0=[0.9, 0.9])
    run = Run(problem, calls=80, replicas=1, judged=True)
    run.run()
    run.report(tmp_path / "run.html")
    (data,) = page_data((tmp_path / "run.html").read_text(encoding="utf-8"))["runs"]
    assert run.answer is not None and run.answer.certainty is not None
    assert data["certainty"]["f_x"][0] == run.answer.certainty.f_x.value
    assert "put_your_function_here" in data["script"]


def test_a_failed_run_has_a_report_too(tmp_path: Path) -> None:
    calls = []

    def breaks(x: np.ndarray) -> float:
        calls.append(x)
        if len(calls) > 30:
            raise RuntimeError("the licence server is down")
        return float(x @ x)

    run = Run(BlackBox(breaks, bounds=[(-1, 1)] * 2, x0=[0.5, 0.5]), replicas=1, calls=100)
    with pytest.raises(RuntimeError, match="licence"):
        run.run()
    run.report(tmp_path / "run.html")
    (data,) = page_data((tmp_path / "run.html").read_text(encoding="utf-8"))["runs"]
    assert data["status"] == "failed" and "licence" in data["message"]
    assert data["best_design"] == run.best_design.plain()


def test_a_stored_path_is_in_the_users_units(store: Store) -> None:
    run = Run(WeldedBeam(), ZOSQP(), replicas=1, calls=60, store=store)
    run.run()
    stored = store.load(run.id)
    assert run.units is not None and stored.units is not None and stored.units.sizes == run.units.sizes
    u = run.path.snapshot().columns["x"]
    np.testing.assert_array_equal(stored.units.point(u), run.units.point(u))
