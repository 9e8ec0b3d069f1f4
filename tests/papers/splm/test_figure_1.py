"""Fig. 1 of paper splm, small: what is judged is an error that infeasibility does not lower."""

from __future__ import annotations

import numpy as np

from zoviz.papers.splm.figure_1 import METHODS, OURS, Courses, published
from zoviz.studies.experiment import array, plain
from zoviz.studies.verdict import Verdict


def test_errors_fall_from_the_same_starts() -> None:
    experiment = Courses(size="quick")
    errors = {method: array(experiment.measure(f"n = 10 / {method}")["errors"]) for method in METHODS}
    assert all(values[1].mean() < values[0].mean() and (values >= 0.0).all() for values in errors.values())
    assert [published(method).estimator.batch_size for method in METHODS] == [50] * 3


def test_a_method_has_to_be_ahead_at_every_mark() -> None:
    conex, alm = Courses(size="quick").claims()
    low, high = np.array([[1.0, 1.1, 1.2], [0.5, 0.6, 0.55]]), np.array([[2.0, 2.2, 2.1], [1.5, 1.7, 1.6]])
    measured = {f"n = 10 / {method}": {"errors": plain(low if method == OURS else high)} for method in METHODS}
    assert alm.evidence(measured, OURS).verdict is Verdict.YES
    assert conex.evidence(measured, OURS).reason == "unequal budgets: ZOSPLM 51, SZOConEX 101"
    measured["n = 10 / ZOALM"] = {"errors": plain(np.array([high[0], [0.4, 0.5, 0.43]]))}
    assert alm.evidence(measured, OURS).verdict is Verdict.NO
