"""The cards, and what a browser may say of them."""

from __future__ import annotations

import pytest

from zoviz.views.experiments.cards import Cards, cards_html
from zoviz.views.experiments.overview import Overview, read_overview


@pytest.fixture(scope="module")
def overview() -> Overview:
    """All that there is."""
    return read_overview()


def test_a_card_has_title_claim_verdicts_and_buttons(overview: Overview) -> None:
    text = cards_html(overview.chosen("splm", ""))
    figure = text.split("data-name='splm-fig-1'")[1].split("</article>")[0]
    assert "splm Fig. 1" in figure and "ZO-SPLM is the fastest" in figure and "not reproduced" in figure
    assert (
        "aria-label='Run splm Fig. 1 live'" in figure and "aria-label='Figures and verdicts of splm Fig. 1'" in figure
    )
    assert "<svg" not in text, "a picture comes when its card is in sight"
    floor = cards_html(overview).split("data-name='zoeg-floor'")[1].split("</article>")[0]
    assert "data-does='live'" not in floor and "data-does='open'" in floor


def test_what_nothing_measures_is_told_as_such(overview: Overview) -> None:
    text = cards_html(overview)
    assert text.count("<section>") == 5 and text.count("more of what it prints and claims") <= 5
    for row in overview.unmeasured:
        assert f"<b>{row.place.replace('&', '&amp;')}</b>" in text
    assert "Choose another verdict" in cards_html(Overview([], []))


def test_messages_that_are_none_of_the_cards_are_left_alone() -> None:
    told = []
    cards = Cards(lambda does, name: told.append((does, name)))
    for nonsense in (None, 3, "open", {"does": "close", "name": "a"}, {"name": "a"}, ["open"]):
        cards.obey(nonsense)
    cards.obey({"does": "open", "name": "splm-fig-1"})
    cards.draw("splm-fig-1", "<svg></svg>")
    assert told == [("open", "splm-fig-1")]
