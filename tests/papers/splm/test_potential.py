"""The potential of paper splm: exact minimisers and maximisers, and the ablations of Lemma 1."""

from __future__ import annotations

import numpy as np

from zoviz.papers.splm.potential import (
    CAP,
    HALF_WIDTH,
    LONG,
    METHODS,
    ONE,
    OURS,
    SIZE,
    Potential,
    PotentialFall,
    method,
)
from zoviz.problems import NonconvexQCQP
from zoviz.studies.verdict import Verdict


def test_minimisers_and_best_duals_are_exact() -> None:
    problem = NonconvexQCQP(n=SIZE, half_width=HALF_WIDTH)
    weight = method(problem, METHODS[OURS]).proximal_weight
    potential = Potential(problem, weight)
    rng = np.random.default_rng(0)
    z, y = rng.uniform(-1.0, 1.0, (50, SIZE)), rng.uniform(0.0, CAP, 50)
    x = potential.nearest(z, y)
    slopes = problem.gradient(x)
    np.testing.assert_allclose(slopes[0] + y[:, None] * slopes[1][:, 0] + weight * (x - z), 0.0, atol=1e-8)
    best = potential.best_duals(z)
    h = problem.evaluate(potential.nearest(z, best)).h[:, 0]
    inside = (best > 1e-9) & (best < CAP - 1e-9)
    assert inside.any() and np.abs(h[inside]).max() < 1e-8 and (h[best <= 1e-9] <= 1e-8).all()
    top = potential.lagrangian(potential.nearest(z, best), z, best)
    assert (top >= potential.lagrangian(x, z, y) - 1e-9).all(), "P is the most of d"
    value = potential.value(x, y, z)
    np.testing.assert_allclose(value, 2.0 * top - potential.lagrangian(x, z, y), atol=1e-9)


def test_the_potential_falls_with_many_directions_and_neither_with_one_nor_with_long_steps() -> None:
    experiment = PotentialFall(size="quick")
    measured = {part: experiment.measure(part) for part in (OURS, ONE, LONG)}
    test = experiment.claims()[0].test
    assert test(measured, OURS).verdict is Verdict.YES
    assert [test(measured, name).verdict for name in (ONE, LONG)] == [Verdict.NO] * 2
