"""The answer in a browser: card and verdict of a person's own simulation agree with minimize, to the digit."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.dashboard_page import Lab
from helpers.own_simulations import CALLS, MODULE, NAMES, SEED, solved
from zoviz.views.diagnosis.best_design_card import row_words

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", NAMES)
def test_card_and_verdict_are_minimizes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: Any, open_lab: Callable[..., Lab]
) -> None:
    (tmp_path / "mine.py").write_text(MODULE, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    monkeypatch.setenv("PYTHONPATH", path)
    lab, result = open_lab(str(serve("--args", f"mine:{name}").url)), solved(name)
    lab.settle(**{"Oracle calls": str(CALLS), "Seed": str(SEED)})
    lab.press("Start")
    lab.end("finished")
    card = lab.page.locator(".zoviz-best")
    lab.until(lambda: result.certainty.minimum in card.inner_text(), "the card says how sure the answer is")
    shown = card.inner_text()
    assert f"{result.fun:.10g}" in shown and "feasible" in shown
    for x in result.x:
        assert f"{x:.8g}" in shown
    for row, _, word, worth in result.certainty.table():
        assert row in shown and row_words(word, worth) in shown
    chip = lab.page.locator(".zoviz-verdict").first
    assert chip.inner_text() == ("at the noise floor" if name == "noisy" else "solved")
    assert chip.evaluate("one => getComputedStyle(one).backgroundColor") == "rgb(27, 122, 61)", "green"
    said = lab.page.locator(".zoviz-said").inner_text()
    assert "far from feasible" not in said and (name == "exact" or result.certainty.nearby in said)
