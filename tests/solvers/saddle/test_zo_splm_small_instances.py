"""Default steps on instances that are so small that nothing averages out."""

from __future__ import annotations

import pytest

from zoviz import Run
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOSPLM


@pytest.mark.parametrize("n, seed", [(2, 0), (2, 7), (3, 0), (3, 4), (4, 1), (4, 6), (4, 7), (4, 10), (5, 0), (6, 1)])
def test_a_strongly_bent_constraint_does_not_throw_the_iterates_out(n: int, seed: int) -> None:
    run = Run(problem=NonconvexQCQP(n=n, seed=seed), solver=ZOSPLM(), replicas=4, iterations=800, seed=0)
    assert (run.run().violation < 0.01).all()
