"""Steps within the stable end do not diverge, and far beyond it they do: a few instances of the script's hundred."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.diagnosis.stable_steps import PUBLISHED, diverges, instances
from zoviz.diagnosis.step_limits import limits_of
from zoviz.problems import BlackBox, ConexQCQP
from zoviz.runs.run import Run
from zoviz.solvers import ZOGDA
from zoviz.solvers.step_limits import extragradient_end


@pytest.mark.parametrize("name", PUBLISHED)
def test_within_the_stable_end_nothing_diverges_and_far_beyond_it_all_does(name: str) -> None:
    chosen = instances(2, name)
    assert [diverges(problem, 0.9, name) for problem in chosen] == [False, False]
    assert [diverges(problem, 4.0, name) for problem in chosen] == [True, True]


@pytest.mark.parametrize("variance", [0.0, 0.5, 5.0, 50.0])
def test_the_extragradient_end_is_where_the_mean_square_ceases_to_fall(variance: float) -> None:
    def growth(a: float) -> float:
        """The mean square of a component after a step from 1, by its three independent parts."""
        half = (1.0 - a) ** 2 + a**2 * variance
        return (1.0 - a + a**2) ** 2 + a**4 * variance + a**2 * variance * half

    end = extragradient_end(variance)
    assert growth(end) == pytest.approx(1.0) and growth(0.9 * end) < 1.0 < growth(1.1 * end)


def test_limits_of_a_run_are_those_at_its_multipliers_and_unknown_without_constants() -> None:
    run = Run(ConexQCQP(n=4), ZOGDA(), replicas=2, iterations=3, seed=0)
    assert limits_of(run) == {}
    run.run()
    limits, step = limits_of(run)["primal_step"], run.resolved["primal_step"]
    assert limits.theorem is None and step < limits.stable < 50 * step
    box = BlackBox(lambda x: np.square(x).sum(axis=-1), bounds=[(-1, 1)] * 2, vectorised=True, x0=[0.5, 0.5])
    untold = Run(box, ZOGDA(), replicas=1, iterations=1, seed=0)
    untold.run()
    assert limits_of(untold) == {}
