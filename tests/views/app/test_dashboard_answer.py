"""The page's answer is minimize's, to the digit: the verdict, and the card with the best design."""

from __future__ import annotations

import html

import numpy as np
import pytest

from helpers.own_simulations import CALLS, NAMES, SEED, own, solved
from helpers.waiting import until
from zoviz.diagnosis.verdict import Word
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.diagnosis.best_design_card import row_words


@pytest.mark.parametrize("name", NAMES)
def test_the_pages_card_and_verdict_agree_with_minimize(name: str) -> None:
    page, result = Dashboard(own(name)), solved(name)
    page.form.settings.param.update(seed=SEED, calls=CALLS)
    assert page.form.settings.stop_when == "confident" and page.form.settings.replicas == 1
    page.controller.start()
    until(lambda: page.refresh() or not page.controller.active)
    page.refresh()
    run, card = page.controller.run, page.best_design
    assert run is not None and card.design is not None and run.ending is result.status
    np.testing.assert_array_equal([*card.design.x, card.design.f, *card.design.h], [*result.x, result.fun, *result.h])
    shown, verdict = html.unescape(card.table.object), page.controller.verdict(run)
    assert f"{result.fun:.10g}" in shown and result.certainty.minimum in shown
    for row, _, word, worth in result.certainty.table():
        assert row_words(word, worth) in shown and f"<td>{row}</td>" in shown
    assert verdict is not None and verdict.word is (Word.NOISE_FLOOR if name == "noisy" else Word.SOLVED)
    assert verdict.word.good and result.success and "far from feasible" not in run.message
    assert name != "noisy" or result.certainty.nearby in verdict.sentence
