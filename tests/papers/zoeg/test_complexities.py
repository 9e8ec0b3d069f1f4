"""Table 1 of paper zoeg, small: every method has an error, with the same steps, and none is left to a rule."""

from __future__ import annotations

import numpy as np

from zoviz.papers.zoeg.complexities import OGDA, OURS, SEPARATE, SHARED, Complexities, solver_of
from zoviz.papers.zoeg.convergence import ERROR
from zoviz.problems import LoadTracking


def test_methods_share_their_steps_and_each_has_an_error() -> None:
    solvers = [solver_of(name, LoadTracking(n=8)) for name in (OURS, SEPARATE, SHARED, OGDA)]
    assert len({(solver.get("primal_step"), solver.get("dual_step")) for solver in solvers}) == 1
    experiment = Complexities(size="quick")
    errors = [experiment.values("", name, 5)[ERROR] for name in (OURS, SEPARATE, SHARED, OGDA)]
    assert all(np.isfinite(row).all() and row.shape == (experiment.settings["instances"],) for row in errors)
    assert {rate.ablation for rate in experiment.rates()} == {SEPARATE, SHARED, OGDA}
