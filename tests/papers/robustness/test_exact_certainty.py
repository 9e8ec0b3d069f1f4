"""The certainty's coverage without noise: what a trial measures, with and without calls around the answer."""

from __future__ import annotations

from helpers.trials import lines_of
from zoviz.papers.robustness.exact_certainty import ExactCertainty


def test_a_trial_covers_the_truth_and_without_calls_around_the_answer_less_is_told() -> None:
    only = {"problem": ("waves",), "budget": (12, 1000), "seed": (0,)}
    short, line, *totals = lines_of(ExactCertainty(size="quick", only=only))
    assert (line["problem"], line["budget"], line["kind"], line["trials"]) == ("waves", "1000", "judged", "1")
    assert (line["told"], line["f*"], line["around"], short["around"]) == ("100", "100", "17", "0")
    assert float(line["width f*"]) < 1e-6 and float(line["calls"]) > float(short["calls"]) > 0.0
    assert [one["problem"] for one in totals] == ["all judged", "all judged"]
