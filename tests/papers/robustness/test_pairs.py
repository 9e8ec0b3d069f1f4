"""The table of pairs: what is measured, and what it says of runs whose course is known."""

from __future__ import annotations

import numpy as np

from zoviz.papers.robustness.pairs import MORE, BilevelPairs, DesignPairs, distances, left, outcome
from zoviz.problems import QuadraticBilevel, StochasticQP
from zoviz.solvers import SOGD, ZOGD, SmoothedALM

CURVE = np.array([[4.0, 2.0]] * 5 + [[1.0, 1.0]] * 15)


def test_the_worse_of_gap_and_violation_is_left_of_designs() -> None:
    zero = np.zeros_like(CURVE)
    columns = {"gap": -CURVE, "stationarity": zero, "violation": zero + 0.5, "objective": zero}
    np.testing.assert_allclose(left(columns, SmoothedALM()), 1.0)
    columns["violation"] = CURVE * [1.0, 0.0]
    np.testing.assert_allclose(left(columns, SmoothedALM()), [0.25, 0.5])
    columns["violation"][-1, 0] = np.nan
    np.testing.assert_allclose(left(columns, SmoothedALM()), [np.inf, 0.5])
    assert np.isinf(left(columns | {"gap": np.full_like(CURVE, np.inf)}, SmoothedALM())).all()


def test_methods_that_leave_the_leader_alone_are_judged_by_the_follower() -> None:
    columns = {"hypergradient": CURVE, "inner_error": 2.0 * CURVE, "objective": CURVE}
    assert distances(columns, SOGD())[0] is columns["hypergradient"]
    assert distances(columns, ZOGD())[0] is columns["inner_error"]
    np.testing.assert_array_equal(distances({"balanced_accuracy": CURVE}, SOGD())[0], 1.0 - CURVE)


def test_a_pair_that_diverges_is_said_to_and_one_by_default_converges() -> None:
    problem = QuadraticBilevel(n=4, d=5)
    good = outcome(problem, ZOGD(), 2, 100)
    assert (good["verdict"], good["note"]) == ("converges", "finished") and good["left"] < 0.5
    bad = outcome(problem, ZOGD(inner_step=50.0), 2, 100)
    assert bad["verdict"] == "diverges" and bad["left"] > MORE
    assert outcome(StochasticQP(n=4), SOGD(), 2, 10)["verdict"] == "refused"


def test_a_family_has_every_solver_for_it() -> None:
    names = set(BilevelPairs(size="full").axes["solver"])
    assert {"SOGD", "OGD", "OAGD", "SOBOW", "SOBBO", "ZOSOGD", "ZOGD", "ZOAdam"} <= names
    assert "ConstrainedEI" not in DesignPairs(size="full").axes["solver"]


def test_the_table_has_a_line_for_each_pair_and_counts_verdicts() -> None:
    study = BilevelPairs(size="quick", only={"solver": ["ZOGD", "OGD"], "iterations": [20]})
    (table,) = study.tables({part: study.measure(part) for part in study.parts()})
    assert [row[:2] for row in table.rows] == [("ToyBilevel", "ZOGD"), ("ToyBilevel", "OGD"), ("all", "")]
    assert all(verdict in table.rows[-1][2] for row in table.rows[:2] for verdict in [row[2]])
