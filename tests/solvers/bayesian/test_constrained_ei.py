"""Constrained expected improvement against its formula, and what is recommended under noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from zoviz.core.threads.blas import quiet_pytorch
from zoviz.core.types import Array
from zoviz.solvers.bayesian.constrained_ei import ConstrainedEI
from zoviz.solvers.bayesian.surrogate import Surrogate

HYPER = np.array([[-0.5, 0.2, -3.0, 0.1], [-1.0, 1.0, -4.0, 0.0]])


def made(h: Array, noisy: bool = False) -> Surrogate:
    x = np.random.default_rng(0).random((7, 2))
    with quiet_pytorch():
        return Surrogate(x, np.stack([x.sum(axis=1), h], axis=1), noisy, HYPER, fit=False)


@pytest.mark.parametrize("feasible", [True, False])
def test_the_acquisition_is_its_formula(feasible: bool) -> None:
    import torch

    solver = ConstrainedEI()
    surrogate = made(np.array([0.3, -0.2, 0.5, -0.1, 0.7, 0.2, 0.4]) + (0.0 if feasible else 1.0))
    points = np.random.default_rng(1).random((5, 2))
    with quiet_pytorch():
        evidence = solver.evidence(surrogate, 1e-6)
        acquisition = solver._acquisition(surrogate, evidence)
        told = acquisition(torch.tensor(points)[:, None]).detach().numpy()
        mean, deviation = surrogate.moments(points)
    expected = norm.logcdf(-mean[:, 1] / deviation[:, 1])
    if feasible:
        best = evidence.f[evidence.sure].min()
        assert best == surrogate.values[[1, 3], 0].min()
        u = (best - mean[:, 0]) / deviation[:, 0]
        # BoTorch's is in standardised units. Further out the formula has no digits left.
        near = u > -5.0
        improvement = deviation[near, 0] * (u * norm.cdf(u) + norm.pdf(u))[near] / surrogate.scale[0]
        expected, told = expected[near] + np.log(improvement), told[near]
    assert len(told) >= 2
    np.testing.assert_allclose(told, expected, rtol=1e-4)


def test_under_noise_the_least_mean_among_probably_feasible_points_is_recommended() -> None:
    solver = ConstrainedEI()
    with quiet_pytorch():
        evidence = solver.evidence(made(np.array([0.3, -0.9, 0.5, -0.8, 0.7, 0.2, 0.4]), noisy=True), 1e-6)
    sure = np.exp(evidence.chance) >= 0.95
    assert 0 < sure.sum() < 7
    np.testing.assert_array_equal(evidence.sure, sure)
    assert evidence.best == np.flatnonzero(sure)[np.argmin(evidence.f[sure])]
    nobody = evidence._replace(sure=np.zeros(7, dtype=bool))
    assert nobody.best == np.argmax(evidence.chance)
