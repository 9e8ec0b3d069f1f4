"""ADMMBO: its improvements against samples, and the alternation of its steps written out."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.solvers.bayesian.admmbo import ADMMBO, Stage, improvement_of_f, improvement_of_h
from zoviz.solvers.bayesian.base import Evidence, exact_evidence

SETTINGS = {"first_budget": 1, "first_constraint_budget": 2, "budget": 1, "constraint_budget": 1}


def test_improvements_match_samples() -> None:
    rng = np.random.default_rng(0)
    z = rng.standard_normal(200_000)
    for room, mean in ((-0.2, 0.3), (0.4, 0.3), (0.9, -1.0), (1.3, 0.5)):
        chance = (0.7 * z + mean <= 0).mean()
        expected = np.maximum(room - (0.7 * z + mean > 0), 0.0).mean()
        assert improvement_of_h(np.array([room]), np.array([chance]))[0] == pytest.approx(expected, abs=1e-12)
    told = improvement_of_f(
        np.array([0.2, 0.0]), np.array([0.5, 0.9]), np.ones(1) * 0.1, np.ones((1, 2)), np.ones((1, 2))
    )
    assert told[0] == pytest.approx(np.maximum(0.7 - 0.1 - (1.0 + z), 0.0).mean(), rel=0.02)


def data(x: Array) -> Evidence:
    """f = x1 + x2; h1 = 0.5 - x1, h2 = x2 - 0.5."""
    values = np.stack([x.sum(axis=1), 0.5 - x[:, 0], x[:, 1] - 0.5], axis=1)
    return exact_evidence(x, values, 0.0)


def test_steps_alternate_as_they_are_written_out() -> None:
    solver, rng = ADMMBO(**SETTINGS), np.random.default_rng(0)
    x = rng.random((4, 2))
    memory = solver.remember(data(x), np.zeros(solver.memory_width(2, 2)))
    turns, rho, z, y, at = [], 0.1, np.zeros((2, 2)), np.zeros((2, 2)), None
    primal = dual = 0.0
    plan = [0, 1, 1, 2, 2, 0, 1, 2, 0]
    for k, turn in enumerate(plan):
        stage = Stage.of(memory, 2, 2)
        turns.append(stage.turn)
        assert stage.rho == rho
        x = np.concatenate([x, rng.random((1, 2))])
        f, h = x.sum(axis=1), np.stack([0.5 - x[:, 0], x[:, 1] - 0.5], axis=1)
        if turn == 0:
            at = x[np.argmin(f + rho * np.square(x - z.mean(axis=0) + y.mean(axis=0) / rho).sum(axis=1))]
            primal = dual = 0.0
        elif k + 1 == len(plan) or plan[k + 1] != turn:
            j = turn - 1
            level = (h[:, j] > 0) + rho / 40.0 * np.square(at - x + y[j] / rho).sum(axis=1)
            before, z[j] = z[j].copy(), x[np.argmin(level)]
            y[j] = y[j] + rho * (at - z[j])
            primal, dual = primal + np.linalg.norm(at - z[j]), dual + rho * np.linalg.norm(z[j] - before)
        memory = solver.remember(data(x), memory)
        stage = Stage.of(memory, 2, 2)
        if turn == 2 and stage.turn == 0:
            rho *= 2.0 if primal > 10 * dual else 0.5 if dual > 10 * primal else 1.0
        np.testing.assert_allclose(stage.x, at if at is not None else stage.x)
        np.testing.assert_allclose(stage.z, z)
        np.testing.assert_allclose(stage.y, y)
    assert turns == plan and stage.outer == 2


def test_a_stage_is_what_its_memory_holds() -> None:
    stage = Stage(1, 3, 2, 0.2, 0.5, 0.1, np.arange(2.0), np.ones((3, 2)), np.full((3, 2), 4.0))
    again = Stage.of(stage.packed(), 2, 3)
    assert again[:6] == stage[:6] and len(stage.packed()) == ADMMBO().memory_width(2, 3)
    np.testing.assert_array_equal(again.y, stage.y)
