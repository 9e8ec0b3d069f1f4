"""Augmented Lagrangians: published updates of laGP, the starting penalty put right, and what is maximised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.core.threads.blas import quiet_pytorch
from zoviz.core.types import Array
from zoviz.solvers.bayesian.albo import ALBO, SlackAL, lagrangian, start_penalty, updated
from zoviz.solvers.bayesian.base import exact_evidence
from zoviz.solvers.bayesian.surrogate import Numbers, Surrogate

# Run 1 of laGP's slack augmented Lagrangian on LSQ, as published with github.com/Thomas-Christie/trieste (results of
# "original_albo/lsq/slack_al_optim"): values of f and of both constraints in the order of evaluation.
F = [
    *(0.965943837888991, 0.894881847378537, 0.514836220688847, 0.489078959321854, 1.19393647216585),
    *(0.402096179143424, 0.86228948269461, 0.417207242673356, 0.529209167703123, 0.962449810480945),
    *(0.576081776552415, 0.579123737443161, 0.442719967296806, 0.605906746237276, 0.108226439098554),
    *(0.622624417065024, 0.748906571225837, 0.832375229176924, 0.609334680603151),
]
H = [
    [0.0339207099925111, -0.902453314535092],
    [0.0979469295887047, -0.942564840605994],
    [0.588213892873056, -1.27942147079067],
    [0.130523219134693, -1.34348060486682],
    [-0.25747264616302, -0.779676132238936],
    [0.335210699755823, -1.38369218036437],
    [0.327679588382854, -0.989685173594326],
    [0.995415511048404, -1.36852425578492],
    [0.0806632056181529, -1.32663659836927],
    [0.00801835435914877, -0.902055933270237],
    [0.0373527848001085, -1.30187225440617],
    [0.0627166615019941, -1.29332498895252],
    [0.193034234920321, -1.3310099471884],
    [0.00312855403597756, -1.28934575224763],
    [1.77248083993836, -1.48828703788005],
    [0.333150981477402, -1.17146055813423],
    [0.17711229305346, -1.04902149545895],
    [0.0520122933309617, -0.977396469781423],
    [-0.000795265423136515, -1.28779103534865],
]
START_RHO = 0.0095187486388226
MULTIPLIERS = [
    3.56356820414021,
    0.0,
    7.12713640828042,
    0.0,
    0.0,
    3.369499358958,
    10.108498076874,
    23.586495512706,
    0.0,
    10.5175305021674,
    31.5525915065024,
    73.6227135151723,
    157.762957532512,
    0.0,
]
"""lambda_1 by which the 6th to the 19th point were chosen, lambda_1 = 0 before; lambda_2 is always 0."""
PENALTIES = [
    0.0047593743194113,
    0.0047593743194113,
    0.00237968715970565,
    0.00237968715970565,
    0.00237968715970565,
    0.00118984357985283,
    0.000594921789926413,
    0.000297460894963206,
    0.000297460894963206,
    0.000148730447481603,
    7.43652237408016e-05,
    3.71826118704008e-05,
    1.85913059352004e-05,
    1.85913059352004e-05,
]


def test_slack_updates_are_the_published_ones() -> None:
    f, h = np.array(F), np.array(H)
    dual, rho = np.zeros(2), START_RHO
    for t, (multiplier, penalty) in enumerate(zip(MULTIPLIERS, PENALTIES, strict=True), start=5):
        dual, rho = updated(f[:t], h[:t], dual, rho, slack=True)
        assert dual[0] == pytest.approx(multiplier, abs=1e-6) and dual[1] == 0.0
        assert rho == pytest.approx(penalty, abs=1e-9)


def test_the_starting_penalty_is_that_of_the_rule_put_right() -> None:
    f, h = np.array(F[:5]), np.array(H[:5])
    assert start_penalty(f, h) == pytest.approx(4.8186e-4, rel=1e-4)
    assert start_penalty(f, -np.ones((5, 2))) == 0.5
    nowhere = np.abs(h) + 0.1
    squares = np.square(nowhere).sum(axis=1).min()
    assert start_penalty(f, nowhere) == pytest.approx(squares / (2 * np.median(f)))


def test_both_lagrangians_are_their_formulas() -> None:
    rng = np.random.default_rng(0)
    f, h, dual, rho = rng.standard_normal(6), rng.standard_normal((6, 2)), np.array([0.7, 0.0]), 0.3
    for i in range(6):
        plain = f[i] + dual @ h[i] + sum(max(0.0, c) ** 2 for c in h[i]) / (2 * rho)
        slack = [max(0.0, -c - rho * y) for c, y in zip(h[i], dual, strict=True)]
        shifted = h[i] + slack
        assert lagrangian(f, h, dual, rho, False)[i] == pytest.approx(plain)
        assert lagrangian(f, h, dual, rho, True)[i] == pytest.approx(f[i] + dual @ shifted + shifted @ shifted / 0.6)


def evidence(f: Array, h: Array) -> object:
    return exact_evidence(np.zeros((len(f), 2)), np.concatenate([f[:, None], h], axis=1), 1e-6)


def test_without_a_feasible_point_multipliers_are_0_and_the_penalty_falls_by_half_at_most() -> None:
    f, h = np.ones(3), np.array([[1.0], [2.0], [0.1]])
    memory = ALBO().remember(evidence(f, h), np.array([8.0, 3.0]))
    assert memory.tolist() == [4.0, 0.0]
    memory = ALBO().remember(evidence(f, h), np.array([1e-3, 3.0]))
    assert memory.tolist() == pytest.approx([0.9e-3, 0.0])
    slack = SlackAL().remember(evidence(f, h), np.array([8.0, 0.0]))
    assert slack[0] == 4.0 and slack[1] == pytest.approx(0.1 / 8.0)


def test_multipliers_are_what_the_page_is_told() -> None:
    memory = np.array([[0.5, 1.0, 2.0], [0.25, 0.0, 3.0]])
    np.testing.assert_array_equal(ALBO().multipliers(memory, 2), memory[:, 1:])


@pytest.mark.parametrize("cls", [ALBO, SlackAL])
def test_the_improvement_is_botorchs_with_the_lagrangian_as_its_objective(cls: type[ALBO]) -> None:
    pytest.importorskip("botorch")
    import torch
    from botorch.acquisition.logei import qLogExpectedImprovement
    from botorch.acquisition.objective import GenericMCObjective
    from botorch.sampling.normal import SobolQMCNormalSampler

    rng = np.random.default_rng(0)
    x = rng.random((12, 2))
    values = np.stack([x.sum(axis=1), 3.0 * np.sin(5.0 * x[:, 0]) - 0.5, x[:, 1] ** 2 - 0.4], axis=1)
    points, dual, rho = rng.random((7, 2)), np.array([0.5, 0.2]), 0.1
    solver, hyper = cls(samples=64), np.tile([-0.5, 0.2, 0.0, 0.1], (3, 1))
    with quiet_pytorch():
        surrogate = Surrogate(x, values, False, hyper, fit=False)
        evidence = solver.evidence(surrogate, 1e-6)
        own = solver.score(
            surrogate,
            evidence,
            np.array([rho, *dual]),
            Numbers(points, points, np.zeros((1, 3, 7))),
            points,
        )
        centre, scale = torch.tensor(surrogate.centre), torch.tensor(surrogate.scale)

        def objective(values: Any, X: Any) -> Any:
            f, h = (part.numpy() for part in ((centre + scale * values)[..., 0], (centre + scale * values)[..., 1:]))
            if not cls.slack:
                return torch.tensor(-(f + h @ dual + np.square(np.maximum(h, 0.0)).sum(axis=-1) / (2.0 * rho)))
            mean = (centre + scale * surrogate.model.posterior(X).mean).numpy()[..., 1:]
            shifted = h + np.maximum(0.0, -mean - rho * dual)
            return torch.tensor(-(f + shifted @ dual + np.square(shifted).sum(axis=-1) / (2.0 * rho)))

        theirs = qLogExpectedImprovement(
            surrogate.model,
            best_f=-lagrangian(evidence.f, evidence.h, dual, rho, cls.slack).min(),
            sampler=SobolQMCNormalSampler(torch.Size([64]), seed=0),
            objective=GenericMCObjective(objective),
        )
        with torch.no_grad():
            expected = theirs(torch.tensor(points)[:, None]).numpy()
    np.testing.assert_allclose(own, expected, atol=1e-4)
