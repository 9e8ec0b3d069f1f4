"""Marks of steering, in the words of the form."""

from __future__ import annotations

from zoviz import Run
from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine.steering import Change
from zoviz.solvers import ZOSPLM
from zoviz.views.plots.event_marks import event_marks, parameter_label


def test_a_mark_has_the_words_of_the_form() -> None:
    schedule = (Change(3, 0, 0.0, "estimator.batch_size", 20, 30),)
    run = Run(NonconvexQCQP(n=3), ZOSPLM(), replicas=1, iterations=5, schedule=schedule)
    run.run()
    text = event_marks(run, "iteration")["text"]
    assert text[0].startswith("<b>Batch size k</b> 50 → 30<br>iteration 3")
    assert parameter_label(run.solver, "primal_step") == "Primal step c"
    assert parameter_label(run.solver, "estimator.gone") == "estimator.gone"
