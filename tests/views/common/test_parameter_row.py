"""The row of a number, without a browser: what a browser sends is given to ``receive``."""

from __future__ import annotations

import math
from typing import Any

import panel as pn
import param
import pytest
from panel.custom import JSComponent

from zoviz.core.parameters import ABSENT, Scale
from zoviz.core.types import Provenance
from zoviz.solvers import ZOSPLM
from zoviz.solvers.step_limits import StepLimits
from zoviz.views.common.parameter_row import ABOVE, BELOW, ParameterRow
from zoviz.views.common.search_list import SearchList
from zoviz.views.common.small_fields import CheckBox
from zoviz.views.controls.parameter_forms import SolverForm, widget_for


class Settings(param.Parameterized):
    step = Scale(0.01, softbounds=(1e-6, 10), label="Primal step c", doc="How far one iteration moves.")
    radius = Scale(None, softbounds=(1e-8, 1), allow_None=True)
    batch = param.Integer(50, bounds=(1, 4096), softbounds=(1, 1000), label="Batch size")
    budget = param.Integer(None, bounds=(1, None), allow_None=True, metadata=ABSENT)
    momentum = param.Number(0.9, bounds=(0, 1), inclusive_bounds=(True, False))
    weight = param.Number(1.0, bounds=(0, None), softbounds=(1, 2), inclusive_bounds=(False, True))
    rule = param.Selector(default="constant", objects=["constant", "1/k"])
    pairs = param.Boolean(True)
    note = param.String("")


@pytest.fixture
def settings() -> Settings:
    return Settings()


def rows(settings: Settings) -> dict[str, Any]:
    """All widgets of one pn.Param, by the name of their parameter."""
    names = [name for name in settings.param if name != "name"]
    widgets = {name: widget_for(settings.param[name]) for name in names}
    pane = pn.Param(settings, parameters=names, widgets=widgets, show_name=False)
    return dict(zip(names, pane, strict=True))


def send(row: ParameterRow, **message: Any) -> None:
    """What a browser sends next."""
    row.receive({"seq": row.spec["ack"] + 1, **message})


def shown(row: ParameterRow) -> tuple[str, str]:
    """The text in the field, and what is said below it."""
    return row.spec["text"], row.spec["error"]


def test_typing_sets_the_parameter_and_tidies_the_text(settings):
    row = rows(settings)["batch"]
    send(row, text="1_000")
    assert settings.batch == 1000 and row.value == 1000 and shown(row) == ("1000", "")


def test_bad_text_stays_with_one_sentence_and_the_value_stays(settings):
    row = rows(settings)["batch"]
    send(row, text="abc")
    assert settings.batch == 50
    assert shown(row) == ("abc", "Expected a whole number from 1 to 4096, got 'abc': the value stays 50.")
    send(row, text="50")
    assert shown(row) == ("50", "")
    send(row, text="abc")
    send(row, do="decline")  # Escape
    assert shown(row) == ("50", "")


def test_a_value_set_in_python_replaces_bad_text(settings):
    row = rows(settings)["batch"]
    send(row, text="abc")
    settings.batch = 60
    assert shown(row) == ("60", "")


@pytest.mark.parametrize("word", ["", "auto", "None"])
def test_none_is_a_value_where_allowed(settings, word):
    row = rows(settings)["budget"]
    send(row, text="7")
    assert settings.budget == 7
    send(row, text=word)
    assert settings.budget is None and shown(row) == ("none", "")


def test_exclusive_bounds(settings):
    widgets = rows(settings)
    send(widgets["momentum"], text="1")
    assert settings.momentum == 0.9 and "below 1" in widgets["momentum"].complaint
    send(widgets["weight"], text="2")  # a soft bound
    assert settings.weight == 2 and widgets["weight"].value == 2
    send(widgets["weight"], text="1")  # pn.Param's own link would undo this one
    assert settings.weight == 1 and widgets["weight"].value == 1


def test_bounds_changed_later_count(settings):
    row = ParameterRow.from_param(settings.param.batch)
    settings.param.batch.bounds = (1, 10_000)
    send(row, text="5000")
    assert settings.batch == 5000


def test_what_the_owner_says_against_a_value_is_shown(settings):
    def refuse(event: param.parameterized.Event) -> None:
        raise ValueError("Expected an even batch size.")

    row = ParameterRow.from_param(settings.param.batch)
    settings.param.watch(refuse, "batch")
    send(row, text="51")
    assert shown(row) == ("51", "Expected an even batch size.")


def test_label_help_and_constant_come_from_the_parameter(settings):
    row = ParameterRow.from_param(settings.param.step)
    assert row.spec["label"] == "Primal step c" and row.spec["help"] == "How far one iteration moves."
    settings.param.step.constant = True
    assert row.spec["locked"]
    send(row, text="1")
    assert settings.step == 0.01, "what is fixed changes nothing"
    settings.param.step.constant = False
    assert not row.spec["locked"]


def test_the_class_alone_works_with_param(settings):
    widgets = {"batch": ParameterRow, "step": ParameterRow}
    step, batch = pn.Param(settings, parameters=["batch", "step"], widgets=widgets, show_name=False)
    send(batch, text="1.5")
    assert settings.batch == 50 and "batch" in batch.complaint and batch.spec["slider"] is None
    send(step, text="1e-3")
    assert settings.step == 1e-3


def test_what_was_typed_is_answered_once(settings):
    row, answers, changes = rows(settings)["step"], [], []
    row.param.watch(lambda event: answers.append((event.new["text"], event.new["ack"])), "spec")
    settings.param.watch(lambda event: changes.append(event.new), "step")
    send(row, value=0.1)
    send(row, text="0.123456")
    settings.step = 3
    assert changes == [0.1, 0.123456, 3]
    assert answers == [("0.1", 1), ("0.123456", 2), ("3", 2)]


def ends(row: ParameterRow) -> tuple[float, float, float]:
    """Ends and place of the slider."""
    return tuple(row.spec["slider"][name] for name in ("low", "high", "at"))


def test_the_slider_spans_the_soft_bounds(settings):
    assert ends(rows(settings)["step"]) == pytest.approx((-6, 1, -2))
    assert ends(rows(settings)["batch"]) == pytest.approx((0, 3, math.log10(50)))


def test_a_typed_value_is_exact_and_moves_the_handle(settings):
    row = rows(settings)["step"]
    send(row, text="1.2345e-3")
    assert settings.step == 1.2345e-3 and ends(row)[2] == math.log10(1.2345e-3)


def test_a_value_outside_the_soft_bounds_widens_the_slider(settings):
    row = rows(settings)["step"]
    send(row, text="500")
    assert settings.step == 500 and ends(row)[1] == ends(row)[2] == math.log10(500)
    settings.step = 1e-9
    assert ends(row)[0] == ends(row)[2] == -9
    send(row, value=1e-3)
    assert settings.step == 1e-3 and ends(row) == pytest.approx((-6, 1, -3))


def test_the_slider_of_a_count_sets_whole_numbers_within_the_bounds(settings):
    row = rows(settings)["batch"]
    for sent, value in ((64.2, 64), (1e9, 4096), (0.1, 1)):
        send(row, value=sent)
        assert settings.batch == value and isinstance(settings.batch, int)


def test_the_slider_can_be_auto(settings):
    row = rows(settings)["radius"]
    assert shown(row) == ("auto", "") and row.spec["slider"]["tick"] is None
    row.suggestion = 1e-4
    assert shown(row) == ("auto · 1e-4", "") and ends(row) == pytest.approx((-6, -3, -4))
    send(row, value=1e-5)
    assert settings.radius == 1e-5 and row.spec["slider"]["tick"] == 67, "where auto is, in percent"
    send(row, text="auto")
    assert settings.radius is None and shown(row) == ("auto · 1e-4", "")


def test_a_range_without_soft_bounds():
    class Free(param.Parameterized):
        size = Scale(1e-3, softbounds=(None, None))

    assert ends(ParameterRow.from_param(Free().param.size)) == pytest.approx((-12, 9, -3))


def test_widget_for_every_kind(settings):
    kinds = {name: widget_for(settings.param[name]).get("type") for name in settings.param if name != "name"}
    expected = {"rule": SearchList, "pairs": CheckBox, "note": pn.widgets.TextInput}
    numbers = ["step", "radius", "batch", "budget", "momentum", "weight"]
    assert kinds == expected | dict.fromkeys(numbers, ParameterRow)
    sliders = {name for name, row in rows(settings).items() if name in numbers and row.spec["slider"] is not None}
    assert sliders == {"step", "radius", "batch"}


def test_a_plain_number_that_a_rule_chooses_says_what_the_rule_takes() -> None:
    solver = ZOSPLM()
    form = SolverForm(solver)
    reach = form.fields["step_reach"]
    assert reach.text == "auto"
    form.suggest({"primal_step": 1e-3, "step_reach": 41.5})
    assert reach.text == "auto · 41.5" and solver.step_reach is None
    send(reach, text="7")
    assert solver.step_reach == 7.0 and reach.text == "7"
    send(reach, text="auto · 41.5")
    assert solver.step_reach is None and reach.text == "auto · 41.5"
    form.suggest({"dual_step": 1e-3})
    assert reach.text == "auto", "where the step is given the rule chooses none"


def test_a_slider_reaches_no_further_around_a_rules_choice_than_a_run_bears() -> None:
    class Method(param.Parameterized):
        step = Scale(None, softbounds=(1e-6, 1e3))

    row = ParameterRow.from_param(Method().param.step, suggestion=0.02)
    assert [10**end for end in row.span()] == pytest.approx([0.02 * BELOW, 0.02 * ABOVE])
    row.suggestion = 4.0
    assert 10 ** row.span()[1] == pytest.approx(4.0 * ABOVE)
    send(row, text="900")
    assert row.value == 900 and 10 ** row.span()[1] == pytest.approx(900), "a typed value is taken all the same"


def test_a_step_beyond_the_stable_end_is_asked_about_once_and_then_never_forbidden() -> None:
    solver = ZOSPLM(primal_step=0.01)
    row = SolverForm(solver).fields["primal_step"]
    send(row, text="5")
    assert solver.primal_step == 5.0 and not row.question, "nothing is known: nothing is asked"
    send(row, text="0.01")
    row.limits = StepLimits(0.001, "splm, Lemma 5", 0.1, Provenance.ANALYTIC)
    assert "splm, Lemma 5 holds up to 0.001. Locally stable up to 0.1" in row.spec["help"]
    send(row, text="0.05")
    assert solver.primal_step == 0.05 and not row.question
    send(row, text="0.2")
    assert solver.primal_step == 0.05 and row.text == "0.05"
    assert row.spec["ask"] == ["0.2 exceeds the stability limit 0.1. Use it anyway?", "Use 0.2", "Keep 0.05"]
    send(row, do="decline")
    assert solver.primal_step == 0.05 and row.spec["ask"] == []
    send(row, do="agree")
    assert solver.primal_step == 0.05, "there is no question to agree to"
    send(row, value=0.3)
    assert solver.primal_step == 0.05 and row.question, "a drag is asked about as what is typed is"
    send(row, do="agree")
    assert solver.primal_step == 0.3 and not row.question
    send(row, text="0.4")
    assert solver.primal_step == 0.4 and not row.question, "once"
    row.limits = None
    row.limits = StepLimits(None, "", 0.1, Provenance.MEASURED)
    send(row, text="0.35")
    assert solver.primal_step == 0.35, "a way back is never asked about"
    send(row, text="1")
    assert solver.primal_step == 0.35 and row.question, "another run: anew"


def test_the_ranges_end_where_the_limits_are() -> None:
    class Method(param.Parameterized):
        step = Scale(1e-2, softbounds=(1e-4, 1.0))

    row, asked = ParameterRow.from_param(Method().param.step), []
    row.param.watch(asked.append, "spec")
    for theorem, stable, places in ((1e-3, 1e-1, [25, 75]), (None, 1e3, [0, 100]), (1.0, 1e-3, [25, 25])):
        row.limits = StepLimits(theorem, "a theorem", stable, Provenance.ANALYTIC)
        assert row.spec["slider"]["ends"] == places
    before = len(asked)
    row.limits = StepLimits(1.0, "a theorem", 1.000001e-3, Provenance.ANALYTIC)
    assert len(asked) == before, "what cannot be seen is not sent"
    row.limits = None
    assert row.spec["slider"]["ends"] == []


WRONG: list[Any] = [
    None,
    "0.5",
    {"text": "0.5"},
    {"seq": "1", "text": "0.5"},
    {"seq": math.nan, "text": "0.5"},
    {"seq": 10**400, "text": "0.5"},
    {"seq": 1},
    {"seq": 1, "text": 0.5},
    {"seq": 1, "text": None},
    {"seq": 1, "text": ["0.5"]},
    {"seq": 1, "name": "batch", "owner": "problem"},
    {"seq": 1, "do": "set"},
    {"seq": 1, "do": "agree"},
]
REFUSED: list[Any] = [
    {"text": "9" * 10**6},
    {"text": "nan"},
    {"text": "1e400"},
    {"value": math.nan},
    {"value": math.inf},
    {"value": 10**400},
    {"value": "0.5"},
    {"value": None},
    {"value": True},
    {"value": [0.5]},
]


@pytest.mark.parametrize("message", WRONG, ids=lambda message: repr(message)[:40])
@pytest.mark.parametrize("name", ["step", "batch"])
def test_what_is_no_message_is_left_alone(settings, name, message):
    before = settings.param.values()
    row = ParameterRow.from_param(settings.param[name])
    row.receive(message)
    assert settings.param.values() == before and not row.spec["error"]


@pytest.mark.parametrize("message", REFUSED, ids=lambda message: str(message)[:40])
@pytest.mark.parametrize("name", ["step", "batch"])
def test_what_is_no_number_is_refused_and_nothing_is_lost(settings, name, message):
    before = settings.param.values()
    row = ParameterRow.from_param(settings.param[name])
    send(row, **message)
    assert settings.param.values() == before and row.spec["error"].startswith("Expected a")
    assert row.spec["ack"] == 1 and len(row.spec["text"]) <= 64 and len(row.spec["error"]) < 200
    send(row, text="7")
    assert getattr(settings, name) == 7 and shown(row) == ("7", "")


def test_a_browser_can_set_nothing_but_what_it_is_shown(settings):
    data = ParameterRow.from_param(settings.param.step).get_root().data
    own = set(ParameterRow.param) - set(JSComponent.param)
    assert {"value", "limits", "suggestion"} < own and own & data.properties() == {"spec"}


def test_a_row_brings_its_code_and_style_sheet_where_no_server_has_them(settings):
    """In a notebook's output and in a saved page."""
    model = ParameterRow.from_param(settings.param.step).get_root()
    sheets = [sheet for sheet in model.stylesheets if isinstance(sheet, str)]
    assert "export function render" in model.esm and any("--zf-accent" in sheet for sheet in sheets)
