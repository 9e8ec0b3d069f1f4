"""The pickers of problem and solver: what is said of a solver is of the one that is picked."""

from __future__ import annotations

from zoviz.views.controls.picker import Picker


def test_the_sentence_on_a_published_form_is_that_of_the_picked_solver() -> None:
    picker = Picker()
    picker.suggest()
    assert "Differs from" in str(picker.form.object) and picker.form.visible
    for problem, solver in (("Welded beam design", "ZOSQP"), ("Quadratic online bilevel", "SOGD")):
        assert picker.pick(problem, solver)
        picker.suggest()
        said = picker.solver.form({})
        assert bool(picker.form.visible) is bool(said) and ("splm" in str(picker.form.object)) is ("splm" in said)
