"""Fig. 1 of paper conex, small: a large radius runs away, a small one comes near, and why."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz.papers.conex.figure_1 import RADII, Budget, course, courses, errors, judge, report, search
from zoviz.papers.conex.methods import OURS, conex, diverges
from zoviz.problems import ConexQCQP
from zoviz.runs.store import Store

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


def test_a_run_that_the_store_has_is_not_run_again(tmp_path: Path) -> None:
    problem, store = ConexQCQP(n=5, noise="common"), Store(f"sqlite:///{tmp_path}/figure.db")
    limits = {"replicas": 2, "calls": 300}
    stored = course(problem, conex(0.1, 4), OURS, store, **limits)
    again, fresh = course(problem, conex(0.1, 4), OURS, store, **limits), course(problem, conex(0.1, 4), OURS, **limits)
    assert again.id == stored.id and stored.label == OURS and len(store.runs()) == 1
    for name, column in errors(fresh)._asdict().items():
        np.testing.assert_array_equal(getattr(errors(again), name), column)


@pytest.mark.slow
def test_the_report_has_every_claim(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("botorch")
    every = report(ConexQCQP(n=8, noise="independent"), Budget(3, 2000, 2, 1.0), True)
    judge(every, 0.01)
    out = capsys.readouterr().out
    assert all(f"claim {i}" in out for i in (1, 2, 3, 4)) and out.count("best steps") == 2
    assert "corrected for 9 pairs" in out, "one call for all: the ablation, and four rivals twice"


@pytest.mark.slow
def test_the_search_is_no_worse_than_the_rule_on_its_own_seeds() -> None:
    problem, budget = ConexQCQP(n=8, noise="common"), Budget(5, 2000, 0, 1.0)
    runs = courses(problem, budget)
    best = search(problem, 1.0, budget, runs)
    assert "best steps" in best.label and np.median(errors(best).error[-1]) < 1.0
