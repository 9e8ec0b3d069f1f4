"""Penalties where multipliers alone do not do: the augmented Lagrangian, slopes from probes, and a test of descent."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.types import Array, Evaluation
from zoviz.estimators.scalars import Lagrangian, Watch
from zoviz.papers.robustness.known_constants import without_constants
from zoviz.problems import BlackBox, ConexQCQP, NonconvexQCQP, Spring
from zoviz.solvers import ZOALM, ZOBCEG, ZOCEG, ZOEG, ZOGDA, ZOSPLM, ProximalPoint, Solver, SZOConEX
from zoviz.solvers.saddle.augmentation import Augmentation, first_augmentation

NOBODY = np.zeros(1, dtype=bool)
"""The replicas that restore feasibility."""


def value(f: list[float], h: list[list[float]]) -> Evaluation:
    return Evaluation(np.array(f), np.array(h))


def penalties(violation: float = 1.0, tested: bool = True, **fields: Array) -> Augmentation:
    return first_augmentation(value([0.0], [[violation, -1.0]]), 0.5, tested, 0.0)._replace(**fields)


def seen() -> Watch:
    """A watch that has seen constraints of slopes 2 and 4."""
    watch = Watch(Lagrangian(np.zeros((1, 2))), np.zeros((1, 2)), 1, 0.1)
    watch(Evaluation(np.zeros((1, 1)), np.array([[[0.2, 0.4]]])))
    return watch


def test_weights_and_slopes_are_the_derivatives_of_the_merit() -> None:
    for rho in ([[0.0, 0.0]], [[2.0, 3.0]]):
        one = penalties(penalty=np.array(rho))
        y, h, step = np.array([[0.5, 1.2]]), np.array([[0.4, -0.9]]), 1e-6
        for i in range(2):
            e = step * np.eye(2)[i]
            along_h = one.merit(y, Evaluation(np.zeros(1), h + e)) - one.merit(y, Evaluation(np.zeros(1), h - e))
            along_y = one.merit(y + e, Evaluation(np.zeros(1), h)) - one.merit(y - e, Evaluation(np.zeros(1), h))
            assert along_h[0] / (2 * step) == pytest.approx(one.weights(y, Evaluation(np.zeros(1), h))[0, i])
            assert along_y[0] / (2 * step) == pytest.approx(one.slope(y, h)[0, i])


def test_a_penalty_comes_where_a_window_lessens_no_violation_and_only_there() -> None:
    falling = standing = penalties()
    for k in range(100):
        falling = falling.advance(NOBODY, value([0.0], [[0.9**k, -1.0]]), seen())
        standing = standing.advance(NOBODY, value([0.0], [[1.0, -1.0]]), seen())
        if k == 48:
            assert not standing.penalty.any(), "two windows have to be compared"
        if k == 49:
            np.testing.assert_allclose(standing.penalty, [[0.25 / (0.5 * 4.0), 0.25 / (0.5 * 16.0)]])
    assert not falling.penalty.any()
    np.testing.assert_allclose(standing.factor, [1.0])


def test_it_does_not_grow_near_the_boundary_while_the_objective_falls() -> None:
    moving = standing = far = penalties()
    for k in range(100):
        violation = 1.0 if k == 0 else 0.005
        moving = moving.advance(NOBODY, value([-0.1 * k], [[violation, -1.0]]), seen())
        standing = standing.advance(NOBODY, value([0.0], [[violation, -1.0]]), seen())
        far = far.advance(NOBODY, value([-0.1 * k], [[1.0, -1.0]]), seen())
    assert not moving.factor.any() and standing.factor[0] == 0.5 and far.factor[0] == 1.0


def test_slopes_far_outside_do_not_count() -> None:
    outside = inside = penalties(squares=np.array([[1.0, 1.0]]))
    outside = outside.advance(NOBODY, value([0.0], [[1.0, -1.0]]), seen())
    inside = inside.advance(NOBODY, value([0.0], [[0.5, -1.0]]), seen())
    np.testing.assert_allclose(outside.squares, [[1.0, 1.0]])
    np.testing.assert_allclose(inside.squares, [[1.0 + 0.05 * 3.0, 1.0 + 0.05 * 15.0]])


@pytest.mark.parametrize("cls", [ZOSPLM, pytest.param(ZOGDA, marks=pytest.mark.slow)])
def test_a_curved_valley_is_followed(cls: type[Solver], monkeypatch: pytest.MonkeyPatch) -> None:
    """The spring's; the ablation: a penalty that grows by what motion leaves of the violation stops on the way."""
    left = []
    for near in (None, 0.0):
        if near is not None:
            monkeypatch.setattr("zoviz.solvers.saddle.augmentation._NEAR", near)
        run = Run(Spring(), cls(), replicas=8, iterations=1500 if cls is ZOSPLM else 3000, seed=1)
        run.run()
        gap = np.abs(run.trace["gap"])
        assert run.trace["violation"][-1].max() < 1e-2
        left.append(float((gap[-1] / gap[0]).max()))
    assert left[0] < 0.5 < 0.8 < left[1], left


def test_where_steps_cannot_be_judged_they_are_shorter_and_a_small_violation_counts_as_none() -> None:
    small = standing = penalties(tested=False)
    for _ in range(400):
        small = small.advance(NOBODY, value([0.0], [[0.09, -1.0]]), seen())
        standing = standing.advance(NOBODY, value([0.0], [[1.0, -1.0]]), seen())
    assert not small.penalty.any() and small.share[0] == 1.0, "noise leaves some violation for ever"
    np.testing.assert_allclose(standing.factor, [4.0])
    np.testing.assert_allclose(standing.penalty, [[4.0 / (0.5 * 4.0), 4.0 / (0.5 * 16.0)]])
    np.testing.assert_allclose(standing.share, [0.2])
    noise, scattered = np.random.default_rng(3), penalties(tested=False)
    for _ in range(400):
        scattered = scattered.advance(NOBODY, value([0.0], [[float(noise.normal()), -1.0]]), seen())
    assert not scattered.penalty.any(), "noise alone is no violation, however large"
    noisy = first_augmentation(value([0.0], [[1.0]]), 0.5, False, 1.0)
    assert noisy.step == 1.0 and noisy.pace == 2.0, "the step was halved for that variance"


def test_a_step_that_does_not_descend_is_taken_back_and_shortened() -> None:
    one = penalties(share=np.ones(1))
    nowhere, here = np.zeros(1, dtype=bool), np.ones(1)
    refused, shorter = one.judged(0.5 * here, -here, here, nowhere)
    assert refused.all() and shorter.share[0] == 0.5
    refused, longer = one.judged(-0.8 * here, -here, here, nowhere)
    assert not refused.any() and longer.share[0] == pytest.approx(1.1)
    refused, same = one.judged(0.5 * here, -here, here, ~nowhere)
    assert not refused.any() and same.share[0] == 1.0, "restoration judges its own steps"


SLOW = [pytest.param(cls, marks=pytest.mark.slow) for cls in (ZOBCEG, ZOALM, ZOGDA, SZOConEX)]


@pytest.mark.parametrize("cls", [ZOSPLM, ZOCEG, ProximalPoint, *SLOW])
def test_a_solution_that_is_no_saddle_point_is_found(cls: type[Solver]) -> None:
    """At x = (1, 1/2), y = 4 of min -(x_1 + 1)^2 + (x_2 - 1/2)^2, x_1 <= 1, the Lagrangian is greatest along x_1."""

    def evaluate(x: Array) -> Evaluation:
        return Evaluation(np.square(x[..., 1] - 0.5) - np.square(x[..., 0] + 1.0), x[..., :1] - 1.0)

    distance = []
    for switch in (None, False):
        problem = BlackBox(evaluate, x0=[0.5, 0.0], bounds=[(0.0, 4.0)] * 2, m=1, joint=True, vectorised=True)
        solver = cls()
        holder = solver.inner if cls is ProximalPoint else solver
        holder.augmentation = switch
        run = Run(problem=problem, solver=solver, replicas=1, iterations=800, seed=3)
        run.run()
        distance.append(float(np.abs(run.result.x - [[1.0, 0.5]]).max()))
    assert distance[0] <= 0.05 < 0.1 < distance[1], distance


@pytest.mark.parametrize("cls", [ZOSPLM, ZOCEG, *SLOW])
def test_it_is_found_under_noise_too(cls: type[Solver]) -> None:
    """The same, with values off by a thousandth each time: no step can be judged."""
    drawn = np.random.default_rng(7)

    def evaluate(x: Array) -> Evaluation:
        f, h = np.square(x[..., 1] - 0.5) - np.square(x[..., 0] + 1.0), x[..., :1] - 1.0
        return Evaluation(f + 1e-3 * drawn.standard_normal(f.shape), h + 1e-3 * drawn.standard_normal(h.shape))

    swings, distance = [], []
    for switch in (None, False):
        problem = BlackBox(
            evaluate, x0=[0.5, 0.0], bounds=[(0.0, 4.0)] * 2, m=1, joint=True, vectorised=True, noise="independent"
        )
        run = Run(problem=problem, solver=cls(augmentation=switch), replicas=2, iterations=1500, seed=3)
        run.run()
        swings.append(float(run.trace["violation"][-300:].max()))  # an average of iterates would hide it
        distance.append(float(np.abs(run.result.x - [[1.0, 0.5]]).max()))
    assert swings[0] <= 0.3 < 1.0 < swings[1], swings
    assert distance[0] <= 0.1, distance


def test_what_is_given_or_told_to_be_convex_goes_as_published() -> None:
    given = Run(problem=ConexQCQP(n=4), solver=ZOSPLM(primal_step=0.01), replicas=1, iterations=2)
    given.run()
    assert "augmentation" not in given.resolved
    convex = Run(problem=ConexQCQP(n=4), solver=ZOCEG(), replicas=1, iterations=2)
    convex.run()
    assert convex.resolved["augmentation"] is False and convex.state.safeguards.augmentation is None
    other = Run(problem=NonconvexQCQP(n=4), solver=ZOCEG(), replicas=1, iterations=2)
    other.run()
    assert other.resolved["augmentation"] is True and other.state.safeguards.augmentation is not None
    joint = Run(problem=ConexQCQP(n=4), solver=ZOEG(dual="estimated"), replicas=1, iterations=2)
    joint.run()
    assert "augmentation" not in joint.resolved, "joint directions see no constraint by itself"


@pytest.mark.parametrize("as_blocks_move", [True, False])
def test_a_window_is_as_long_as_blocks_take_to_move_every_variable(
    monkeypatch: pytest.MonkeyPatch, as_blocks_move: bool
) -> None:
    """Else ZOBCEG, which moves five of fifty variables a time, takes slow progress for none, and penalties grow."""
    # Near the boundary that would see slow progress, too.
    monkeypatch.setattr("zoviz.solvers.saddle.augmentation._NEAR", 0.0)
    if not as_blocks_move:
        monkeypatch.setattr(ZOBCEG, "pass_length", lambda self, n: 1.0)
    problem = without_constants(ConexQCQP(n=50))
    run = Run(problem=problem, solver=ZOBCEG(), replicas=2, seed=21, calls=30_000)
    run.run()
    assert bool(np.abs(run.trace["gap"][-1]).max() < 1e-2) is as_blocks_move
