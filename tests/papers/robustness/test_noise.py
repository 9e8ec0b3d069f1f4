"""The table of solvers under paper conex's noise: what is counted as stopped and as worse."""

from __future__ import annotations

from zoviz.papers.robustness.noise import Noise, outcome
from zoviz.solvers import ZOSPLM


def test_steps_that_are_too_long_for_the_noise_count_and_those_of_the_rule_do_not() -> None:
    row = outcome(ZOSPLM(), "independent", "student_t", calls=1200, replicas=8)
    assert (row["stopped"], row["worse"]) == (0, 0) and row["median"] < row["worst"] < 1.0
    wild = outcome(ZOSPLM(primal_step=1.0, dual_step=10.0), "independent", "student_t", calls=1200, replicas=8)
    assert wild["worse"] == 8 and not wild["median"] < 1.0


def test_the_table_has_a_line_for_each_law() -> None:
    study = Noise(size="quick")
    (table,) = study.tables({part: study.measure(part) for part in study.parts()})
    assert [row[:5] for row in table.rows] == [("common", law, "ZOSPLM", "0", "0") for law in ("normal", "student_t")]
