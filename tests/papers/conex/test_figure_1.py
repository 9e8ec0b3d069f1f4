"""Fig. 1 of paper conex, small: a large radius runs away, a small one comes near, and why."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.conex.figure_1 import RADII, Budget, courses, errors, report, search
from zoviz.papers.conex.methods import OURS, diverges
from zoviz.problems import ConexQCQP

SMALL = Budget(replicas=4, calls=3000, rivals=0, seconds=1.0)


def test_a_small_radius_comes_near_and_a_large_one_runs_away() -> None:
    problem = ConexQCQP(n=10, noise="common")
    runs = courses(problem, SMALL)
    every = {name: errors(run) for name, run in runs.items()}
    assert len(every) == len(RADII) + 2
    np.testing.assert_allclose(every[f"{OURS}, ν = 0.05"].error[0], 1.0)
    assert np.median(every[f"{OURS}, ν = 0.05"].error[-1]) < 0.1
    assert diverges(every[f"{OURS}, ν = 2"].error[-1]).startswith("reproduced")
    # What biases the constraint is its value at the perturbed points, 0.5 nu^2 tr of its Hessian above that at x.
    biased, exact = (every[name].error[-1] for name in (f"{OURS}, ν = 2", f"{OURS}, ν = 2, values at x"))
    assert (exact < 0.1 * biased).all()


def test_a_row_within_a_rivals_calls_is_what_it_is_compared_by() -> None:
    run = courses(ConexQCQP(n=5, noise="common"), SMALL, radii=(0.1,))[f"{OURS}, ν = 0.1"]
    one = errors(run)
    row = int(np.flatnonzero(one.calls[:, 0] <= 1000)[-1])
    np.testing.assert_array_equal(one.at(1000, 3), one.error[row, :3])
    np.testing.assert_array_equal(one.at(0, 4), one.error[0])


@pytest.mark.slow
def test_the_report_has_every_claim(capsys: pytest.CaptureFixture[str]) -> None:
    report(ConexQCQP(n=8, noise="independent"), Budget(3, 2000, 0, 1.0), True, None)
    out = capsys.readouterr().out
    assert all(f"claim {i}" in out for i in (1, 2, 3, 4)) and out.count("best steps") == 2


@pytest.mark.slow
def test_the_search_is_no_worse_than_the_rule_on_its_own_seeds() -> None:
    problem, budget = ConexQCQP(n=8, noise="common"), Budget(5, 2000, 0, 1.0)
    runs = courses(problem, budget)
    best = search(problem, 1.0, budget, runs)
    assert "best steps" in best.label and np.median(errors(best).error[-1]) < 1.0
