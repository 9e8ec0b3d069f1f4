"""The table of ZOSQP's constants, whose values an option replaces."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import Run
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOSQP
from zoviz.solvers.sqp.constants import STANDARD


def test_other_values_are_taken_and_other_names_refused() -> None:
    table = ZOSQP(constants={"sure": 3.0}).table
    assert table.sure == 3.0 and table.proof == STANDARD.proof
    with pytest.raises(ValueError, match="Expected names of constants of ZOSQP, got surely"):
        ZOSQP(constants={"surely": 3.0})


def test_an_option_of_the_solver_reaches_its_runs_and_their_replays() -> None:
    def course(solver: ZOSQP) -> Run:
        run = Run(NonconvexQCQP(n=4), solver, replicas=1, calls=60, seed=0)
        run.run()
        return run

    plain, slow = course(ZOSQP()), course(ZOSQP(constants={"sufficient": 0.9}))
    assert not np.array_equal(slow.trace["trust_radius"], plain.trace["trust_radius"])
    again = slow.replay()
    again.run()
    np.testing.assert_array_equal(again.trace["trust_radius"], slow.trace["trust_radius"])
