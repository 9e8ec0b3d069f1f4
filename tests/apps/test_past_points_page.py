"""A file of past points on the page: chosen beside a problem of one's own, counted or refused, and taken away."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

MODULE = """
from zoviz import BlackBox

def fun(x):
    return float(x @ x), x[:1] - 0.5

problem = BlackBox(fun, bounds=[(-1.0, 1.0)] * 2, x0=[0.5, 0.5], joint=True, m=1)
"""


@pytest.mark.slow  # tests/views/controls/test_past_points_card.py has the card by itself
def test_a_file_is_chosen_counted_refused_and_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: Any, open_lab: Any
) -> None:
    (tmp_path / "known.py").write_text(MODULE, encoding="utf-8")
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths).rstrip(os.pathsep))
    good, bad = tmp_path / "points.csv", tmp_path / "bad.csv"
    good.write_text("x1,x2,f,h1\n0.1,0.1,0.02,-0.4\n0.2,0.2,0.08,-0.3\n5,5,1,-1\n", encoding="utf-8")
    bad.write_text("x1,f\n0.1,1\n", encoding="utf-8")
    page = open_lab(serve("--args", "known:problem").url, viewport={"width": 1440, "height": 900}).page
    field = page.locator("input[type=file][accept*=parquet]")
    field.set_input_files(bad)
    page.get_by_text("Expected columns x1, x2 and f, got x1, f").first.wait_for()
    page.get_by_text("Without past points").click()
    page.get_by_text("Expected columns x1, x2 and f, got x1, f").first.wait_for(state="hidden")
    field.set_input_files(good)
    page.get_by_text("2 of 3 past points are used: 1 outside the bounds.").wait_for()
    page.get_by_role("button", name="Start").click()
    page.get_by_text("past points were known").first.wait_for()
    assert page.get_by_text("2 of 3 past points are used").is_visible()
