"""Paper salm's applications at a length that tests can afford: bounds hold, and general solvers find no better."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from zoviz.papers.salm import applications
from zoviz.papers.salm.cases import consensus, fair, long_steps, random_graph, slsqp
from zoviz.papers.salm.distributed import APART, OBJECTIVE, Distributed
from zoviz.papers.salm.fair_frontier import ACCURACY, COVARIANCE, FairFrontier
from zoviz.papers.salm.slicing import BINARY, UNREGULARISED, Slicing
from zoviz.problems import FairClassification, NetworkSlicing
from zoviz.problems.margin_losses import LOSSES
from zoviz.runs.run import Run
from zoviz.solvers import SampledALM
from zoviz.studies.verdict import Verdict

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
        problem = FairClassification(bound=case.bound, loss=loss)
        assert (case.objective <= [1.02 * slsqp(problem, x)[0] for x in case.x]).all()
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


def test_methods_are_run_by_default_and_measured_from_the_general_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Run] = []

    def spied(**settings: object) -> Run:
        runs.append(Run(**settings))
        return runs[-1]

    monkeypatch.setattr(applications, "Run", spied)
    case = "8 nodes, p = 0.5"
    figures = Distributed(size="quick").measure(f"{case} / salm, Algorithm 2")
    (run,), problem = runs, random_graph(8, 0.5)
    assert type(run.solver) is SampledALM and run.solver.batch_size == SampledALM().batch_size
    assert {"primal_step", "penalty", "dual_step", "horizon"} <= run.resolved.keys()
    assert run.trace["samples"][-1].max() == 100 and run.replicas == 2
    mean = run.result.x.reshape(2, 8, -1).mean(axis=1, keepdims=True)
    apart = np.linalg.norm(run.result.x.reshape(2, 8, -1) - mean, axis=-1).max(axis=-1)
    start = run.path.snapshot().columns["x"][0].reshape(-1, 8, problem.domain.n // 8)
    first = np.linalg.norm(start - start.mean(axis=1, keepdims=True), axis=-1).max(axis=-1)
    np.testing.assert_allclose(figures[APART][0], apart[0] / first[0], rtol=1e-4)
    value = problem.evaluate(np.broadcast_to(mean, (2, 8, mean.shape[-1])).reshape(2, -1)).f
    np.testing.assert_allclose(figures[OBJECTIVE], value / problem.known_optimum.value - 1.0)


def test_a_classifier_stands_beside_slsqp_s_and_its_bound() -> None:
    experiment = FairFrontier(size="quick")
    case = experiment.settings["cases"][0]
    figures = experiment.measure(f"{case} / salm, Algorithm 3")
    assert experiment.problem(case, "").bound == 0.5 and experiment.problem(case, "").loss == LOSSES[0]
    assert all(-1.0 <= value for value in figures[COVARIANCE]) and len(figures[ACCURACY]) == 2
    assert [claim.ablation for claim in experiment.claims()] == ["penalty SGD"]


def test_the_regulariser_is_left_out_for_its_ablation_alone() -> None:
    experiment = Slicing()
    weights = {name: experiment.problem("network 2", name).weight for name in experiment.methods}
    assert weights.pop(UNREGULARISED) == 0.0 and set(weights.values()) == {NetworkSlicing().weight}
    assert experiment.problem("network 2", "").seed == 2
    claim = experiment.claims()[-1]
    binary = {
        "network 3 / salm, Algorithm 1": {BINARY: [0.0, 1e-4, 2e-4]},
        f"network 3 / {UNREGULARISED}": {BINARY: [0.3, 0.31, 0.32]},
    }
    assert claim.ablation == UNREGULARISED
    assert claim.evidence(binary, claim.method).verdict is Verdict.YES
    assert claim.evidence(binary, claim.ablation).verdict is Verdict.NO


def test_every_limit_has_to_be_kept() -> None:
    within = partial(applications.stays_within_limits, Slicing(), "one", {"f": 0.1, "h": 0.01})
    good, late, lost = (
        {"f": [0.0, 0.01, 0.02], "h": [0.001, 0.002, 0.003]},
        {"f": [0.0, 0.01, 0.02], "h": [0.1, 0.11, 0.12]},
        {"f": [0.0, 0.01, None], "h": [0.001, 0.002, 0.003]},
    )
    verdicts = [within({"one / own": measured}, "own").verdict for measured in (good, late, lost)]
    assert verdicts == [Verdict.YES, Verdict.NO, Verdict.OPEN]
    assert applications.text(np.array([1.0, 2.0, 6.0])) == "2, 6"
    assert applications.text(np.array([1.0, np.nan])) == "–"
