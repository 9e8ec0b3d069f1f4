"""Marks of steering: in the words of the form, and one for each drag of a handle."""

from __future__ import annotations

from zoviz import Run
from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine.steering import Change
from zoviz.solvers import ZOSPLM
from zoviz.views.plots.event_marks import drags, event_marks, parameter_label


def change(seconds: float, name: str, old: float | None, new: float | None) -> Change:
    return Change(int(10 * seconds), 100, seconds, name, old, new)


def test_the_values_that_a_handle_sends_on_its_way_are_one_change() -> None:
    one, other = "primal_step", "dual_step"
    course = [change(1.0, one, None, 2e-3), change(1.4, one, 2e-3, 3e-3), change(2.2, one, 3e-3, 4e-3)]
    later = change(4.0, one, 4e-3, None)
    between = change(4.1, other, 1e-3, 2e-3)
    assert drags([*course, later, between]) == [change(1.0, one, None, 4e-3), later, between]
    assert drags([]) == []


def test_a_mark_has_the_words_of_the_form() -> None:
    schedule = (Change(3, 0, 0.0, "estimator.batch_size", 20, 30),)
    run = Run(NonconvexQCQP(n=3), ZOSPLM(), replicas=1, iterations=5, schedule=schedule)
    run.run()
    text = event_marks(run, "iteration")["text"]
    assert text[0].startswith("<b>Batch size k</b> 50 → 30<br>iteration 3")
    assert parameter_label(run.solver, "primal_step") == "Primal step c"
    assert parameter_label(run.solver, "estimator.gone") == "estimator.gone"
