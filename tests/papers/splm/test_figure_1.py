"""Fig. 1 of paper splm, small: what is judged is an error that infeasibility does not lower."""

from __future__ import annotations

import numpy as np

from zoviz.papers.splm.figure_1 import METHODS, OURS, Courses, published
from zoviz.studies.experiment import Verdict, array, plain


def test_errors_fall_from_the_same_starts() -> None:
    experiment = Courses(size="quick")
    errors = {method: array(experiment.measure(f"n = 10 / {method}")["errors"]) for method in METHODS}
    assert all(values[1].mean() < values[0].mean() and (values >= 0.0).all() for values in errors.values())
    assert [published(method).estimator.batch_size for method in METHODS] == [50] * 3


def test_a_method_has_to_be_ahead_of_each_other_at_every_mark() -> None:
    (claim,) = Courses(size="quick").claims()
    low, high = plain(np.array([[1.0, 1.1], [0.5, 0.6]])), plain(np.array([[2.0, 2.1], [1.5, 1.6]]))
    measured = {f"n = 10 / {method}": {"errors": low if method == OURS else high} for method in METHODS}
    assert [claim.test(measured, method).verdict for method in METHODS] == [Verdict.YES, Verdict.NO, Verdict.NO]
    measured["n = 10 / ZOALM"] = {"errors": plain(np.array([[2.0, 2.1], [0.4, 0.5]]))}
    assert claim.test(measured, OURS).verdict is Verdict.NO
