"""Marks of steering, in the words of the form."""

from __future__ import annotations

from zoviz import Run
from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine.steering import Change
from zoviz.solvers import ZOBCEG, ZOSPLM
from zoviz.views.plots.event_marks import event_marks, parameter_label


def test_a_mark_has_the_words_of_the_form() -> None:
    schedule = (Change(3, 0, 0.0, "estimator.batch_size", 20, 30),)
    run = Run(NonconvexQCQP(n=3), ZOSPLM(), replicas=1, iterations=5, schedule=schedule)
    run.run()
    text = event_marks(run, "iteration")["text"]
    assert text[0].startswith("<b>Batch size k</b> 50 → 30<br>iteration 3")
    assert parameter_label(run.solver, "primal_step") == "Primal step c"
    assert parameter_label(run.solver, "estimator.gone") == "estimator.gone"


def test_a_mark_says_how_much_of_a_block_is_used_that_is_larger_than_the_problem() -> None:
    schedule = (Change(2, 0, 0.0, "estimator.block_size", 5, 1000),)
    run = Run(NonconvexQCQP(n=6), ZOBCEG(), replicas=1, iterations=6, schedule=schedule)
    run.run()
    (text,) = event_marks(run, "iteration")["text"]
    assert text.startswith("<b>Block size τ</b> 5 → 1000, of which 6 are used<br>")
