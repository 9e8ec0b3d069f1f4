"""The number widgets, without a browser: what is typed is put into the inner text field."""

from __future__ import annotations

import math

import panel as pn
import panel_material_ui as pmui
import param
import pytest
from bokeh.document import Document

from zoviz.core.parameters import ABSENT, Scale
from zoviz.core.types import Provenance
from zoviz.solvers import ZOSPLM
from zoviz.solvers.step_limits import StepLimits
from zoviz.views.common.search_list import SearchList
from zoviz.views.controls.number_fields import (
    ABOVE,
    BELOW,
    LogSlider,
    NumberField,
    NumberRule,
    bands,
    format_number,
    widget_for,
)
from zoviz.views.controls.parameter_forms import SolverForm


class Settings(param.Parameterized):
    step = Scale(0.01, softbounds=(1e-6, 10), label="Primal step c", doc="How far one iteration moves.")
    radius = Scale(None, softbounds=(1e-8, 1), allow_None=True)
    batch = param.Integer(50, bounds=(1, 4096), label="Batch size")
    budget = param.Integer(None, bounds=(1, None), allow_None=True, metadata=ABSENT)
    momentum = param.Number(0.9, bounds=(0, 1), inclusive_bounds=(True, False))
    weight = param.Number(1.0, bounds=(0, None), softbounds=(1, 2), inclusive_bounds=(False, True))
    rule = param.Selector(default="constant", objects=["constant", "1/k"])
    pairs = param.Boolean(True)
    note = param.String("")


@pytest.fixture
def settings() -> Settings:
    return Settings()


def fields(settings: Settings) -> dict[str, NumberField]:
    """All widgets of one pn.Param, by the name of their parameter."""
    names = [name for name in settings.param if name != "name"]
    widgets = {name: widget_for(settings.param[name]) for name in names}
    pane = pn.Param(settings, parameters=names, widgets=widgets, show_name=False)
    return dict(zip(names, pane, strict=True))


def complaint(field: NumberField) -> str:
    assert field.text_input.error_state == bool(field.text_input.helper_text)
    return field.text_input.helper_text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "auto"), (50, "50"), (10000.0, "10000"), (1e-5, "1e-5"), (0.0012345, "0.0012345"), (0.1 + 0.2, None)]
    + [(-2.5e-7, "-2.5e-7"), (1e12, "1e12"), (0.0, "0"), (2**60, str(2**60)), (math.pi * 1e-9, None)],
)
def test_text_is_short_and_reads_back_exactly(value, text):
    assert text is None or format_number(value) == text
    assert NumberRule(integer=isinstance(value, int), optional=True).read(format_number(value)) == value


@pytest.mark.parametrize("text", ["1e3", " 1_000 ", "1000", "1000.0", "+1000"])
def test_a_whole_number_may_be_written_in_many_ways(text):
    value = NumberRule(1, 4096, integer=True).read(text)
    assert value == 1000 and isinstance(value, int)


@pytest.mark.parametrize("text", ["abc", "", "nan", "inf", "-inf", "0", "4097", "1.5", "1e400", "1e40", "0x10", "auto"])
def test_a_bad_whole_number_is_refused(text):
    with pytest.raises(ValueError, match=r"^Expected a whole number from 1 to 4096, got"):
        NumberRule(1, 4096, integer=True).read(text)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (NumberRule(), "a number"),
        (NumberRule(low=0), "a number of at least 0"),
        (NumberRule(high=1e-5), "a number of at most 1e-5"),
        (NumberRule(0, 1, (False, True)), "a number above 0 and of at most 1"),
        (NumberRule(0, 1, (True, False)), "a number of at least 0 and below 1"),
        (NumberRule(1, None, integer=True, optional=True), "a whole number of at least 1 or 'auto'"),
    ],
)
def test_the_rule_in_words(rule, words):
    assert rule.expected() == words


def test_typing_sets_the_parameter_and_tidies_the_text(settings):
    field = fields(settings)["batch"]
    field.text_input.value = "1_000"
    assert settings.batch == 1000 and field.value == 1000 and field.text_input.value == "1000"


def test_bad_text_stays_with_one_sentence_and_the_value_stays(settings):
    field = fields(settings)["batch"]
    field.text_input.value = "abc"
    assert settings.batch == 50 and field.text_input.value == "abc"
    assert complaint(field) == "Expected a whole number from 1 to 4096, got 'abc': the value stays 50."
    field.text_input.value = "50"
    assert not complaint(field)


def test_a_value_set_in_python_replaces_bad_text(settings):
    field = fields(settings)["batch"]
    field.text_input.value = "abc"
    settings.batch = 60
    assert field.text_input.value == "60" and not complaint(field)


@pytest.mark.parametrize("word", ["", "auto", "None"])
def test_none_is_a_value_where_allowed(settings, word):
    field = fields(settings)["budget"]
    field.text_input.value = "7"
    assert settings.budget == 7
    field.text_input.value = word
    assert settings.budget is None and field.text_input.value == "none" and not complaint(field)


def test_exclusive_bounds(settings):
    widgets = fields(settings)
    widgets["momentum"].text_input.value = "1"
    assert settings.momentum == 0.9 and "below 1" in complaint(widgets["momentum"])
    widgets["weight"].text_input.value = "2"  # a soft bound
    assert settings.weight == 2 and widgets["weight"].value == 2
    widgets["weight"].text_input.value = "1"  # pn.Param's own link would undo this one
    assert settings.weight == 1 and widgets["weight"].value == 1


def test_bounds_changed_later_count(settings):
    field = NumberField.from_param(settings.param.batch)
    settings.param.batch.bounds = (1, 10_000)
    field.text_input.value = "5000"
    assert settings.batch == 5000


def test_what_the_owner_says_against_a_value_is_shown(settings):
    def refuse(event: param.parameterized.Event) -> None:
        raise ValueError("Expected an even batch size.")

    field = NumberField.from_param(settings.param.batch)
    settings.param.watch(refuse, "batch")
    field.text_input.value = "51"
    assert complaint(field) == "Expected an even batch size."


@pytest.mark.parametrize("kind", [NumberField, LogSlider])
def test_label_tooltip_and_constant_come_from_the_parameter(settings, kind):
    field = kind.from_param(settings.param.step)
    assert field.text_input.label == "Primal step c" and "How far" in field.text_input.description
    settings.param.step.constant = True
    assert field.disabled and field.text_input.disabled
    settings.param.step.constant = False
    assert not field.text_input.disabled


def test_the_class_alone_works_with_param(settings):
    widgets = {"batch": NumberField, "step": LogSlider}
    step, batch = pn.Param(settings, parameters=["batch", "step"], widgets=widgets, show_name=False)
    batch.text_input.value = "1.5"
    assert "whole number" in complaint(batch)
    step.text_input.value = "1e-20"
    assert "from 1e-12 to 1e9" in complaint(step)


def test_the_slider_spans_the_soft_bounds(settings):
    slider = fields(settings)["step"].slider
    assert (slider.start, slider.end, slider.value) == pytest.approx((-6, 1, -2))


def test_the_handle_sets_three_digits_and_stays_where_it_was_put(settings):
    widget = fields(settings)["step"]
    widget.slider.value = -1.987654
    assert settings.step == 0.0103 and widget.text_input.value == "0.0103"
    assert widget.slider.value == -1.987654


def test_a_typed_value_is_exact_and_moves_the_handle(settings):
    widget = fields(settings)["step"]
    widget.text_input.value = "1.2345e-3"
    assert settings.step == 1.2345e-3 and widget.slider.value == math.log10(1.2345e-3)


def test_a_value_outside_the_soft_bounds_widens_the_slider(settings):
    widget = fields(settings)["step"]
    widget.text_input.value = "500"
    assert settings.step == 500 and widget.slider.end == widget.slider.value == math.log10(500)
    settings.step = 1e-9
    assert settings.step == 1e-9 and widget.slider.start == widget.slider.value == -9
    widget.slider.value = -3
    assert settings.step == 1e-3 and (widget.slider.start, widget.slider.end) == (-9, math.log10(500))


def test_the_slider_can_be_auto(settings):
    widget = fields(settings)["radius"]
    assert widget.text_input.value == "auto"
    widget.slider.value = -5
    assert settings.radius == 1e-5
    settings.radius = None
    assert widget.text_input.value == "auto" and widget.slider.value == -5 and settings.radius is None


def test_one_change_for_one_edit(settings):
    changes = []
    widget = fields(settings)["step"]
    settings.param.watch(lambda event: changes.append(event.new), "step")
    widget.slider.value = -1
    widget.text_input.value = "0.123456"
    settings.step = 3
    assert changes == [0.1, 0.123456, 3]


def test_a_range_without_soft_bounds():
    class Free(param.Parameterized):
        size = param.Number(1e-3, bounds=(0, None))

    slider = LogSlider.from_param(Free().param.size).slider
    assert (slider.start, slider.end) == pytest.approx((-7, 1))


def test_widget_for_every_kind(settings):
    kinds = {name: widget_for(settings.param[name]).get("type") for name in settings.param if name != "name"}
    expected = {"step": LogSlider, "radius": LogSlider, "rule": SearchList, "pairs": pmui.Switch}
    assert kinds == expected | {"note": pmui.TextInput} | dict.fromkeys(
        ["batch", "budget", "momentum", "weight"], NumberField
    )


def test_a_plain_number_that_a_rule_chooses_says_what_the_rule_takes() -> None:
    solver = ZOSPLM()
    form = SolverForm(solver)
    reach = form.fields["step_reach"].text_input
    assert reach.value == "auto"
    form.suggest({"primal_step": 1e-3, "step_reach": 41.5})
    assert reach.value == "auto: 41.5" and solver.step_reach is None
    reach.value = "7"
    assert solver.step_reach == 7.0 and reach.value == "7"
    reach.value = "auto"
    assert solver.step_reach is None and reach.value == "auto: 41.5"
    form.suggest({"dual_step": 1e-3})
    assert reach.value == "auto", "where the step is given the rule chooses none"


def test_a_slider_reaches_no_further_around_a_rules_choice_than_a_run_bears() -> None:
    class Method(param.Parameterized):
        step = Scale(None, softbounds=(1e-6, 1e3))

    slider = LogSlider.from_param(Method().param.step, suggestion=0.02)
    assert [10**slider.slider.start, 10**slider.slider.end] == pytest.approx([0.02 * BELOW, 0.02 * ABOVE])
    slider.suggestion = 4.0
    assert 10**slider.slider.end == pytest.approx(4.0 * ABOVE)
    slider.text_input.value = "900"
    assert slider.value == 900 and 10**slider.slider.end == pytest.approx(900), "a typed value is taken all the same"


def test_a_step_beyond_the_stable_end_is_asked_about_once_and_then_never_forbidden() -> None:
    solver = ZOSPLM(primal_step=0.01)
    field = SolverForm(solver).fields["primal_step"]
    field.text_input.value = "5"
    assert solver.primal_step == 5.0 and not field.question.open, "nothing is known: nothing is asked"
    field.text_input.value = "0.01"
    field.limits = StepLimits(0.001, "splm, Lemma 5", 0.1, Provenance.ANALYTIC)
    assert "splm, Lemma 5 holds up to 0.001. Locally stable up to 0.1" in field.text_input.description
    field.text_input.value = "0.05"
    assert solver.primal_step == 0.05 and not field.question.open
    field.text_input.value = "0.2"
    assert solver.primal_step == 0.05 and field.question.open
    field.question.decline()
    assert solver.primal_step == 0.05 and field.text_input.value == "0.05" and not field.question.open
    assert field.slider.value == pytest.approx(math.log10(0.05))
    field.slider.value = math.log10(0.3)
    assert solver.primal_step == 0.05 and field.question.open, "a drag is asked about as what is typed is"
    field.question.agree()
    assert solver.primal_step == 0.3
    field.text_input.value = "0.4"
    assert solver.primal_step == 0.4 and not field.question.open, "once"
    field.limits = None
    field.limits = StepLimits(None, "", 0.1, Provenance.MEASURED)
    field.text_input.value = "0.35"
    assert solver.primal_step == 0.35, "a way back is never asked about"
    field.text_input.value = "1"
    assert solver.primal_step == 0.35 and field.question.open, "another run: anew"


def test_the_rail_has_its_bands_where_the_limits_are() -> None:
    css = bands(StepLimits(1e-3, "a theorem", 1e-1, Provenance.ANALYTIC), -4.0, 0.0)
    assert "#2e9e5b 0 25%, #b48a00 25% 75%, #b3261e 75% 100%" in css
    css = bands(StepLimits(None, "", 1e3, Provenance.ANALYTIC), -4.0, 0.0)
    assert "#2e9e5b 0 0%, #b48a00 0% 100%, #b3261e 100% 100%" in css


def test_limits_that_move_bring_no_new_models() -> None:
    """All models of a page are counted anew where a change brings one, which takes longer than drawing the lines."""
    field = SolverForm(ZOSPLM(primal_step=0.01)).fields["primal_step"]
    field.limits = StepLimits(0.001, "splm, Lemma 5", 0.1, Provenance.MEASURED)
    document = Document()
    document.add_root(field.__panel__().get_root(document))
    models, bands_before = set(document.models), field.slider.styles["--zoviz-bands"]
    field.limits = StepLimits(0.001, "splm, Lemma 5", 0.05, Provenance.MEASURED)
    assert set(document.models) == models and field.slider.styles["--zoviz-bands"] != bands_before
    field.limits = None
    assert "--zoviz-bands" not in field.slider.styles
