"""The minimiser of the models: its penalty where a row cannot be met in the trust region."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.solvers.sqp import candidate as candidates
from zoviz.solvers.sqp.candidate import Region
from zoviz.solvers.sqp.elastic_qp import Step
from zoviz.solvers.sqp.regression import Data, Model, Prior, fit


def linear_model() -> Model:
    """Return models of f = u_2, h_1 = 10 - u_1 (violated for |u| <= 1) and h_2 = 1.25 u_1 - 0.5, with noise 1e-3."""
    u = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 2))
    values = np.stack([u[:, 1], 10.0 - u[:, 0], 1.25 * u[:, 0] - 0.5], axis=1)
    data = Data(u, np.abs(u).max(axis=1), np.full(40, 100.0), values, np.zeros((40, 0)))
    return fit(data, np.full(3, 1e-3), [Prior(0, 0.03, 1e-3)])


def penalties(steps: int) -> Array:
    """Return the penalties (steps,) of candidates that follow one another, each with the last one's."""
    model, region = linear_model(), Region(-np.ones(2), np.ones(2), 1.0, np.full(2, 1e-4))
    out, penalty = [], 1.0
    for _ in range(steps):
        penalty = candidates.candidate(model, region, penalty, np.zeros(2, dtype=bool), 3.0, 0.5).penalty
        out.append(penalty)
    return np.array(out)


def test_a_row_that_cannot_be_met_does_not_raise_the_penalty_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    # While h_1 pulls with the penalty, h_2 holds against it with 0.8 of it: no measure of what the penalty must be.
    assert penalties(60)[-1] == penalties(2)[-1] <= 1e3
    monkeypatch.setattr(candidates, "rows_are_met", lambda step, enough: True)
    assert penalties(60)[-1] > 1e4, "1.5 times 0.8 of it, again and again"


def test_a_step_that_leaves_next_to_no_violation_has_met_its_rows() -> None:
    assert candidates.rows_are_met(Step(np.zeros(1), np.zeros(1), 0.0, 1.0), 1e-4)
    assert not candidates.rows_are_met(Step(np.zeros(1), np.zeros(1), 1e-3, 1.0), 1e-4)
