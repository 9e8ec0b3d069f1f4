"""The field of a switch or of words that may be left to a rule, without a browser."""

from __future__ import annotations

import panel_material_ui as pmui
import param
import pytest

from zoviz.solvers import ZOEG, ZOSPLM
from zoviz.views.controls.number_fields import AutoChoice, widget_for
from zoviz.views.controls.parameter_forms import SolverForm

# Panel's Material widgets of Panel's
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


class Method(param.Parameterized):
    sweep = param.Boolean(None, allow_None=True, label="Sweep", doc="By the rule where empty.")
    pairs = param.Boolean(True)
    slope = param.Selector(default=None, allow_None=True, objects=["estimated", "exact"], label="Slope")
    schedule = param.Selector(objects=["constant", "diminishing"])


def shown(field: AutoChoice) -> str:
    """The words that stand in the list."""
    return {key: words for words, key in field.choice.options.items()}[field.choice.value]


def test_a_switch_that_may_be_left_to_a_rule_has_three_states() -> None:
    method = Method()
    field = AutoChoice.from_param(method.param.sweep)
    assert shown(field) == "auto" and field.choice.label == "Sweep" and "By the rule" in field.choice.description
    for word, value in (("on", True), ("off", False), ("auto", None)):
        field.choice.value = word
        assert method.sweep is value
    method.sweep = False
    assert shown(field) == "off"


def test_what_the_rule_chooses_is_said_and_sets_nothing() -> None:
    method = Method()
    field = AutoChoice.from_param(method.param.sweep)
    model = field.choice.get_root()  # the browser's, which outlives the changes
    for choice, words in ((True, "auto: on"), (False, "auto: off"), (None, "auto")):
        field.suggestion = choice
        assert shown(field) == words == model.data.value and method.sweep is None
    field.suggestion, field.choice.value = True, "off"
    assert shown(field) == "off" and method.sweep is False


def test_words_that_may_be_left_to_a_rule_stand_below_auto() -> None:
    method = Method()
    field = AutoChoice.from_param(method.param.slope)
    assert list(field.choice.options) == ["auto", "estimated", "exact"] and shown(field) == "auto"
    field.suggestion = "exact"
    assert shown(field) == "auto: exact" and method.slope is None
    field.choice.value = "estimated"
    assert method.slope == "estimated" and shown(field) == "estimated"
    method.slope = None
    assert shown(field) == "auto: exact"


def test_a_switch_that_is_fixed_cannot_be_moved() -> None:
    method = Method()
    field = AutoChoice.from_param(method.param.sweep)
    field.disabled = True
    assert field.choice.disabled
    field.disabled = False
    assert not field.choice.disabled


def test_only_a_switch_without_a_rule_is_a_switch() -> None:
    assert widget_for(Method().param.sweep) == {"type": AutoChoice}
    assert widget_for(Method().param.slope) == {"type": AutoChoice}
    assert widget_for(Method().param.pairs)["type"] is pmui.Switch
    assert widget_for(Method().param.schedule)["type"] is pmui.Select


def test_the_form_says_what_the_rule_has_switched() -> None:
    solver = ZOSPLM()
    form = SolverForm(solver)
    directions, penalty = form.fields["estimator.directions"], form.fields["augmentation"]
    assert [shown(directions), shown(penalty)] == ["auto", "auto"]
    form.suggest({"primal_step": 1e-3, "estimator.directions": "sweep", "augmentation": True})
    assert [shown(directions), shown(penalty)] == ["auto: sweep", "auto: on"]
    form.suggest({"dual_step": 1e-3})
    assert [shown(directions), shown(penalty)] == ["auto", "auto: off"], "what no rule switches on is off"
    assert solver.augmentation is None and solver.estimator.directions is None


def test_the_form_says_which_slope_the_rule_takes() -> None:
    form = SolverForm(ZOEG())
    form.suggest({"primal_step": 1e-3, "dual": "exact"})
    assert shown(form.fields["dual"]) == "auto: exact"
    form.suggest({"primal_step": 1e-3})
    assert shown(form.fields["dual"]) == "auto", "words that the rule leaves open are none of its choices"
