"""What a page says of a problem before it is run."""

from __future__ import annotations

from zoviz.core.registry import discover
from zoviz.problems import BlackBox, NonconvexQCQP, PressureVessel, Problem
from zoviz.solvers import ZOSPLM
from zoviz.views.controls.about_problem import about_html, equation, facts, formula, sentence, source
from zoviz.views.controls.picker import Picker


class Undocumented(NonconvexQCQP):
    __abstract = True


Undocumented.__doc__ = None


def test_it_tells_what_the_problem_is_how_large_and_where_it_comes_from() -> None:
    vessel = PressureVessel()
    assert sentence(vessel).startswith("The cheapest cylindrical vessel")
    assert facts(vessel) == "4 variables, 4 constraints; constrained; values deterministic; optimum 5885.33"
    assert source(vessel).startswith("Sandgren (1990), J. Mech. Design") and "title" not in source(vessel)
    text = about_html(vessel)
    assert "<summary" in text and "4 variables" in text and "Sandgren" in text


def test_a_formula_can_stand_by_itself_and_no_sign_of_it_is_taken_for_html() -> None:
    assert equation(NonconvexQCQP()) == formula(NonconvexQCQP()), "one line"
    vessel = equation(PressureVessel())
    assert vessel.startswith(r"\begin{aligned} \min\ & 0.6224") and vessel.endswith(r"\end{aligned}")
    text = about_html(PressureVessel())
    assert r"\begin{aligned} \min\ &amp; 0.6224" in text and text.index("zoviz-formula") < text.index("4 variables")
    assert "zoviz-formula" not in about_html(BlackBox(lambda x: float(x @ x), bounds=[(-1, 1)]))


def test_every_problem_has_a_sentence() -> None:
    first = {
        name: (cls.__doc__ or "").strip().partition("\n")[0]
        for name, cls in discover("zoviz.problems", Problem).items()
    }
    assert [name for name, line in first.items() if not line.endswith(".")] == []


def test_a_users_problem_and_one_without_documentation_do_as_well() -> None:
    own = BlackBox(lambda x: float(x @ x), bounds=[(-1, 1)] * 2)
    assert facts(own).startswith("2 variables, 0 constraints") and "optimum unknown" in facts(own)
    assert "50 variables" in about_html(Undocumented())


def test_the_picker_shows_it() -> None:
    picker = Picker()
    assert "50 variables, 1 constraint" in str(picker.about.object)
    picker.problem_name = "Pressure vessel design"
    assert "The cheapest cylindrical vessel" in str(picker.about.object)


def test_formulas_are_found_also_where_param_has_appended_to_the_documentation() -> None:
    class Documented(ZOSPLM):
        r"""A method.

        .. math::
            x = 1,

            y = 2.

        More words.
        """

        __abstract = True

    assert formula(Documented()) == "x = 1, y = 2."
    Documented.__doc__ = f"{Documented.__doc__}\x1b[1mParameters of 'Documented'\n\x1b[0m"
    assert formula(Documented()) == "x = 1, y = 2." and sentence(Documented()) == "A method."
    assert formula(BlackBox(lambda x: float(x @ x), bounds=[(-1, 1)])) == ""
