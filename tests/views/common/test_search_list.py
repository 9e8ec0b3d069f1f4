"""The list to choose from, without a browser: what a browser sends is given to ``receive``."""

from __future__ import annotations

import math
from typing import Any

import param
import pytest
from panel.custom import JSComponent

from zoviz.solvers import ZOEG, ZOSPLM
from zoviz.views.common.search_list import SearchList, SeveralList
from zoviz.views.common.small_fields import CheckBox
from zoviz.views.controls.parameter_forms import SolverForm, widget_for


class Method(param.Parameterized):
    sweep = param.Boolean(None, allow_None=True, label="Sweep", doc="By the rule where empty.")
    pairs = param.Boolean(True)
    slope = param.Selector(default=None, allow_None=True, objects=["estimated", "exact"], label="Slope")
    schedule = param.Selector(objects=["constant", "diminishing", "the square root"])


class Study(param.Parameterized):
    problems = param.List(item_type=str)


def titles(field: SearchList) -> list[str]:
    """What can be chosen, in the order of the list."""
    return [title for _, group in field.spec["groups"] for title in group]


def test_a_switch_that_may_be_left_to_a_rule_has_three_states() -> None:
    method = Method()
    field = SearchList.from_param(method.param.sweep)
    assert titles(field) == ["auto", "on", "off"] and field.shown == "auto"
    assert field.spec["label"] == "Sweep" and "By the rule" in field.spec["help"]
    for number, (word, value) in enumerate((("on", True), ("off", False), ("auto", None))):
        field.receive({"seq": number, "title": word})
        assert method.sweep is value and field.spec["value"] == word and field.spec["ack"] == number
    method.sweep = False
    assert field.shown == "off"


def test_what_the_rule_chooses_is_said_and_sets_nothing() -> None:
    method = Method()
    field = SearchList.from_param(method.param.sweep)
    for choice, words in ((True, "auto: on"), (False, "auto: off"), (None, "auto")):
        field.suggestion = choice
        assert field.shown == words == field.spec["names"]["auto"] and method.sweep is None
    field.suggestion = True
    field.receive({"seq": 1, "title": "off"})
    assert field.shown == "off" and method.sweep is False


def test_words_that_may_be_left_to_a_rule_stand_below_auto() -> None:
    method = Method()
    field = SearchList.from_param(method.param.slope)
    assert titles(field) == ["auto", "estimated", "exact"] and field.shown == "auto"
    field.suggestion = "exact"
    assert field.shown == "auto: exact" and method.slope is None
    field.receive({"seq": 1, "title": "estimated"})
    assert method.slope == "estimated" and field.shown == "estimated"
    method.slope = None
    assert field.shown == "auto: exact"


def test_the_list_follows_the_titles_of_its_parameter() -> None:
    method = Method()
    field = SearchList.from_param(method.param.schedule)
    assert titles(field) == ["constant", "diminishing", "the square root"] and field.shown == "constant"
    method.param.schedule.objects = ["constant", "harmonic"]
    assert titles(field) == ["constant", "harmonic"]
    field.receive({"seq": 1, "title": "harmonic"})
    assert method.schedule == "harmonic"


WRONG: list[Any] = [
    None,
    "constant",
    {},
    {"seq": 1},
    {"seq": 1, "title": None},
    {"seq": 1, "title": "no such thing"},
    {"seq": 1, "title": "x" * 10**6},
    {"seq": 1, "title": ["diminishing"]},
    {"seq": 1, "value": "diminishing"},
    {"seq": 1.0, "title": "diminishing"},
    {"seq": True, "title": "diminishing"},
    {"seq": math.nan, "title": "diminishing"},
    {"seq": 10**400, "title": "diminishing"},
    {"seq": -1, "title": "diminishing"},
    {"seq": "1", "title": "diminishing"},
]


@pytest.mark.parametrize("message", WRONG, ids=lambda message: repr(message)[:40])
def test_what_is_no_choice_of_the_list_is_left_alone(message: Any) -> None:
    method = Method()
    field = SearchList.from_param(method.param.schedule)
    field.receive(message)
    assert method.schedule == "constant" and field.shown == "constant" and not field.spec["error"]
    field.receive({"seq": 2, "title": "diminishing"})
    assert method.schedule == "diminishing" and field.spec["ack"] == 2


def test_a_choice_is_answered_once_and_what_the_owner_says_against_it_is_shown() -> None:
    method, answers = Method(), []
    field = SearchList.from_param(method.param.schedule)
    field.param.watch(lambda event: answers.append((event.new["value"], event.new["ack"])), "spec")
    field.receive({"seq": 1, "title": "diminishing"})
    assert answers == [("diminishing", 1)]

    def refuse(event: param.parameterized.Event) -> None:
        raise ValueError("Expected another schedule.")

    watcher = method.param.watch(refuse, "schedule")
    field.receive({"seq": 2, "title": "constant"})
    assert field.spec["error"] == "Expected another schedule." and field.spec["ack"] == 2
    method.param.unwatch(watcher)
    field.receive({"seq": 3, "title": "the square root"})
    assert not field.spec["error"] and method.schedule == "the square root"


def test_a_browser_can_set_nothing_but_what_it_is_shown() -> None:
    data = SearchList.from_param(Method().param.slope).get_root().data
    own = set(SearchList.param) - set(JSComponent.param)
    assert "value" in own and own & data.properties() == {"spec"}


def test_only_a_switch_without_a_rule_is_a_switch() -> None:
    method = Method()
    kinds = {name: widget_for(method.param[name])["type"] for name in ("sweep", "slope", "pairs", "schedule")}
    assert kinds == {"sweep": SearchList, "slope": SearchList, "pairs": CheckBox, "schedule": SearchList}


def test_the_form_says_what_the_rule_has_switched() -> None:
    solver = ZOSPLM()
    form = SolverForm(solver)
    directions, penalty = form.fields["estimator.directions"], form.fields["augmentation"]
    assert [directions.shown, penalty.shown] == ["auto", "auto"]
    form.suggest({"primal_step": 1e-3, "estimator.directions": "sweep", "augmentation": True})
    assert [directions.shown, penalty.shown] == ["auto: sweep", "auto: on"]
    form.suggest({"dual_step": 1e-3})
    assert [directions.shown, penalty.shown] == ["auto", "auto: off"], "what no rule switches on is off"
    assert solver.augmentation is None and solver.estimator.directions is None


def test_the_form_says_which_slope_the_rule_takes() -> None:
    form = SolverForm(ZOEG())
    form.suggest({"primal_step": 1e-3, "dual": "exact"})
    assert form.fields["dual"].shown == "auto: exact"
    form.suggest({"primal_step": 1e-3})
    assert form.fields["dual"].shown == "auto", "words that the rule leaves open are none of its choices"


def test_of_several_each_is_added_and_taken_away_and_what_is_not_listed_stays() -> None:
    study = Study(problems=["WeldedBeam", "of another page"])
    field = SeveralList.from_param(study.param.problems, options={one: one for one in ("WeldedBeam", "Spring")})
    assert field.spec["chosen"] == ["WeldedBeam", "of another page"] and titles(field) == ["WeldedBeam", "Spring"]
    for number, title in enumerate(("Spring", "WeldedBeam", "os:system", ["Spring"], None, {"Spring": 1})):
        field.receive({"seq": number, "title": title})
        assert field.spec["ack"] == number
    assert study.problems == ["of another page", "Spring"] == field.spec["chosen"] and not field.complaint
    field.receive({"seq": 9, "title": "of another page"})
    assert study.problems == ["Spring"], "what is shown can be taken away"
