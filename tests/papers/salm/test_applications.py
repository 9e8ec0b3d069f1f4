"""Paper salm's applications at a length that tests can afford: bounds hold, and general solvers find no better."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.salm.applications import report_consensus
from zoviz.papers.salm.cases import cheapest, consensus, fair, long_steps, slices, slsqp
from zoviz.problems import FairClassification, NetworkSlicing
from zoviz.problems.margin_losses import LOSSES
from zoviz.solvers import SampledALM

pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')


@pytest.mark.slow
def test_the_covariance_bound_holds_accuracy_falls_and_slsqp_finds_the_same() -> None:
    # The logistic loss is convex, so that any mu > 0 will do: 0.3 is quicker than 1.05 L_f.
    frontier = [fair(bound, iterations=700, batch=128, replicas=2, weight=0.3) for bound in (2.0, 0.5, 0.1)]
    for case in frontier:
        assert case.covariance.max() <= 1.05 * case.bound
        np.testing.assert_allclose(case.objective, case.general, rtol=0.02)
        np.testing.assert_allclose(case.accuracy, case.general_accuracy, atol=0.02)
    loose, medium, tight = frontier
    assert loose.covariance.max() < 1.5, "the first bound does not bind"
    assert tight.covariance.min() > 0.09 and medium.covariance.min() > 0.48, "the others do"
    assert loose.accuracy.min() > medium.accuracy.max() > tight.accuracy.max() + 0.03
    assert loose.objective.max() < medium.objective.min() < tight.objective.min()


@pytest.mark.slow
@pytest.mark.parametrize("loss, method", [(loss, "Alg. 1") for loss in LOSSES] + [("logistic", "Alg. 3")])
def test_the_frontier_at_full_length(loss: str, method: str) -> None:
    frontier = [fair(bound, loss, method, replicas=2) for bound in (1.0, 0.2, 0.05)]
    for case in frontier:
        assert (case.covariance <= case.bound + 0.003).all()
        assert (case.objective <= 1.02 * case.from_here).all()
        if loss == "logistic":
            np.testing.assert_allclose(case.objective, case.general, rtol=0.02)
    accuracy = [case.accuracy.mean() for case in frontier]
    assert (np.diff(accuracy) < 0.0).all()


def test_slsqp_is_given_the_problem_that_it_should_solve() -> None:
    problem = FairClassification(bound=0.1)
    value, x = slsqp(problem, np.zeros(problem.domain.n))
    assert value == pytest.approx(problem.known_optimum.value, rel=1e-6)
    assert problem.fairness(x)["covariance"] == pytest.approx(0.1, rel=1e-6)


def test_long_steps_are_those_of_their_sentence() -> None:
    problem = FairClassification()
    steps, curvature = long_steps(problem), problem.constants.curvature
    lifted = np.concatenate([problem.matrix()[0], -np.eye(2)], axis=1)
    assert steps["proximal_weight"] == pytest.approx(1.05 * curvature)
    assert steps["penalty"] == pytest.approx(1.05 * curvature / np.linalg.norm(lifted, 2) ** 2)
    assert steps["primal_step"] == pytest.approx(1.0 / (curvature + 2.1 * curvature))


@pytest.mark.slow
def test_fifty_nodes_agree_on_the_centralised_solution() -> None:
    run = consensus(iterations=1800, replicas=1)
    best = run.problem.known_optimum.value
    assert run.problem.nodes == 50 and (run.problem.data.graph.probability == 0.1).all()
    assert run.trace["consensus_error"][-1].max() < 1e-2
    assert np.abs(run.trace["objective"][-1] / best - 1.0).max() < 0.01
    assert np.abs(run.trace["mean_objective"][-1] / best - 1.0).max() < 0.01
    assert run.trace["dual_resets"][-1].max() == 0.0


@pytest.mark.slow
def test_by_default_all_three_become_feasible_and_approach_a_solution() -> None:
    case = fair(0.2, iterations=20_000, replicas=2, steps="default")
    assert (case.covariance <= 1.02 * case.bound).all() and (case.objective <= 1.1 * case.general).all()
    plan = slices(NetworkSlicing(), iterations=5000, replicas=2, steps="default")
    assert (plan.violation < 0.2).all() and np.isfinite(plan.routed).all()
    run = consensus(iterations=5000, replicas=1, steps="default")
    gap = np.abs(run.trace["mean_objective"][-1] / run.problem.known_optimum.value - 1.0)
    assert run.trace["consensus_error"][-1].max() < 0.05 and gap.max() < 0.2


def test_default_steps_are_left_to_the_method() -> None:
    run = consensus(nodes=8, probability=0.5, iterations=5, replicas=1, steps="default")
    assert {"primal_step", "penalty", "dual_step", "horizon"} <= run.resolved.keys()
    assert run.solver.batch_size == SampledALM().batch_size and run.resolved["horizon"] == 5


def test_nodes_that_are_not_coupled_do_not_agree() -> None:
    run = consensus(nodes=12, probability=0.3, iterations=300, replicas=1, coupled=False)
    assert run.trace["consensus_error"][-1].min() > 0.2


def test_an_assignment_is_read_off_a_network_and_can_be_routed() -> None:
    problem = NetworkSlicing()
    result = slices(problem, iterations=700, replicas=2)
    assert (result.binary_distance < 1e-3).all()
    assert (result.assignment_violation < 0.02).all() and (result.violation < 0.05).all()
    assert np.isfinite(result.routed).all() and result.routed.min() == pytest.approx(result.best, rel=1e-9)
    assert cheapest(problem, problem.data.network.planted) >= result.best - 1e-9


def test_the_table_says_what_was_measured(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    small = consensus(nodes=8, probability=0.5, iterations=40, replicas=2)
    monkeypatch.setattr("zoviz.papers.salm.applications.consensus", lambda **_: small)
    report_consensus(2, 40)
    lines = capsys.readouterr().out.strip().splitlines()
    assert len(lines) == 6 and lines[-1].split()[0] == "40"
    assert float(lines[-1].split()[1]) == pytest.approx(small.trace["consensus_error"][-1].max(), rel=0.01)
