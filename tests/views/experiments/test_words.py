"""Verdicts and tables as HTML: a colour and a word, and nothing that a text could smuggle in."""

from __future__ import annotations

from zoviz.papers.experiment import Table, Verdict
from zoviz.views.experiments.overview import STATES
from zoviz.views.experiments.words import VERDICT_STYLE, claims_html, states_html, table_html, verdict_html


def test_every_state_has_its_word_and_its_colour() -> None:
    for state in STATES:
        text = verdict_html(state)
        look = text.split("'")[1].split()[1]
        assert f">{state}<" in text and f".verdict.{look}" in VERDICT_STYLE
    looks = {verdict_html(str(one)).split("'")[1] for one in Verdict}
    assert len(looks) == 3
    assert ">3 reproduced<" in states_html({"reproduced": 3, "not reproduced": 1})


def test_claims_stand_beside_what_the_test_says_without_their_idea() -> None:
    row = {"place": "Theorem 1", "says": "a < b", "verdict": "reproduced", "figures": "1", "method": "ours"}
    text = claims_html([row | {"ablation": "none", "ablation_verdict": "not reproduced", "ablation_figures": "2"}, row])
    assert "a &lt; b" in text and text.count("class='verdict yes'") == 2 and text.count("class='verdict no'") == 1
    assert "none: 2" in text


def test_tables_are_escaped() -> None:
    text = table_html(Table("A & B", ("<x>",), [("1 < 2",)]))
    assert "A &amp; B" in text and "<th scope='col'>&lt;x&gt;</th>" in text and "<td>1 &lt; 2</td>" in text
