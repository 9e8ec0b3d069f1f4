"""Verdicts and tables as HTML: a colour and a word, and nothing that a text could smuggle in."""

from __future__ import annotations

import pytest

from zoviz.studies.experiment import Table
from zoviz.studies.verdict import Verdict
from zoviz.views.experiments.overview import STATES
from zoviz.views.experiments.words import (
    VERDICT_STYLE,
    brief_claims_html,
    claims_html,
    states_html,
    table_html,
    verdict_html,
)


def test_every_state_has_its_word_and_its_colour() -> None:
    for state in STATES:
        text = verdict_html(state)
        look = text.split("'")[1].split()[1]
        assert f">{state}<" in text and f".verdict.{look}" in VERDICT_STYLE
    looks = {verdict_html(str(one)).split("'")[1] for one in Verdict}
    assert len(looks) == 3
    text = states_html({"reproduced": 3, "not reproduced": 1})
    assert ">3 of 4 claims reproduced<" in text and ">1 of 4 claims not reproduced<" in text
    assert ">1 claim cannot be decided<" in states_html({"cannot be decided": 1})
    assert ">16 claims not reproduced<" in states_html({"not reproduced": 16})


@pytest.mark.parametrize("count", [1, 3, 4, 16])
def test_each_verdict_says_on_which_claim(count: int) -> None:
    judged = [{"place": f"Theorem {at}", "says": "a < b", "verdict": "not reproduced"} for at in range(count)]
    text = brief_claims_html(judged)
    assert text.count(">not reproduced</span> Theorem ") == count and text.count("a &lt; b") == count
    assert ("<details" in text) == (count > 3)


def test_claims_stand_beside_what_the_test_says_without_their_idea() -> None:
    row = {"place": "Theorem 1", "says": "a < b", "verdict": "reproduced", "figures": "1", "method": "ours"}
    text = claims_html([row | {"ablation": "none", "ablation_verdict": "not reproduced", "ablation_figures": "2"}, row])
    assert "a &lt; b" in text and text.count("class='verdict yes'") == 2 and text.count("class='verdict no'") == 1
    assert "none: 2" in text


def test_tables_are_escaped() -> None:
    text = table_html(Table("A & B", ("<x>",), [("1 < 2",)]))
    assert "A &amp; B" in text and "<th scope='col'>&lt;x&gt;</th>" in text and "<td>1 &lt; 2</td>" in text
