"""Paper salm, §6: one case of each application, solved and compared with what general solvers find."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.problems import DistributedConsensus, FairClassification, NetworkSlicing
from zoviz.problems.linear import LinearlyConstrained
from zoviz.problems.margin_losses import LOSSES, Loss
from zoviz.runs.run import Run
from zoviz.solvers import SampledALM, SmoothedALM, StormALM

METHODS = {"Alg. 1": SmoothedALM, "Alg. 3": StormALM}
WEIGHTS = {"smoothed 0-1": 2.0}
"""mu, where 1.05 L_f is far too careful: that L_f is met only where all margins are -1 or 1 at once."""


def long_steps(problem: LinearlyConstrained, weight: float | None = None) -> dict[str, float]:
    """Return steps that do not shrink with T: rho = eta = mu / ||A||^2 and tau = 1 / (L_f + 2 mu), mu = 1.05 L_f.

    For inequalities ||A||^2 is that of (A, -I). ``weight`` is another mu, where f is convex any positive one will do.
    """
    constants = problem.constants
    if constants is None:
        raise ValueError(f"Expected a problem whose curvature is known, got {type(problem).__name__}.")
    curvature, square = constants.curvature, problem.operator_norm**2 + (not problem.equations)
    weight = 1.05 * curvature if weight is None else weight
    return {
        "proximal_weight": weight,
        "proximal_step": 0.3,
        "penalty": weight / square,
        "dual_step": weight / square,
        "primal_step": 1.0 / (curvature + 2.0 * weight),
    }


def slsqp(problem: LinearlyConstrained, start: Array) -> tuple[float, Array]:
    """Solve the full problem by SciPy's SLSQP from a start (n,); return f and x (n,) of the local solution."""
    matrix, sign, box = problem.matrix()[0], 1.0 if problem.equations else -1.0, Box.of(problem.domain)
    result = optimize.minimize(
        lambda x: float(problem.evaluate(x).f),
        start,
        jac=lambda x: problem.stochastic_gradient(x),
        bounds=optimize.Bounds(*(np.broadcast_to(end, start.shape) for end in (box.lower, box.upper))),
        constraints={
            "type": "eq" if problem.equations else "ineq",
            "fun": lambda x: sign * problem.residual(x),
            "jac": lambda x: sign * matrix,
        },
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    return float(result.fun), result.x


class Fair(NamedTuple):
    """The figures of fair classification under one bound, arrays of shape (R,) but for x.

    Attributes
    ----------
    bound : float
        c.
    x : Array, shape (R, n)
        The last iterate.
    objective, covariance, accuracy : Array
        There.
    general : Array
        Objective of SLSQP from the same starts.
    general_accuracy : Array
    """

    bound: float
    x: Array
    objective: Array
    covariance: Array
    accuracy: Array
    general: Array
    general_accuracy: Array


def fair(
    bound: float,
    loss: Loss = LOSSES[0],
    method: str = "Alg. 1",
    iterations: int = 8000,
    batch: int = 64,
    replicas: int = 4,
    weight: float | None = None,
) -> Fair:
    """Train a fair classifier under one bound by long steps and mini-batches, and compare it with SLSQP's."""
    problem = FairClassification(bound=bound, loss=loss)
    parameters: dict[str, Any] = {**long_steps(problem, weight or WEIGHTS.get(loss))}
    if method == "Alg. 3":
        parameters["momentum"], batch = 0.05, max(1, batch // 8)
    solver = METHODS[method](**parameters, batch_size=batch)
    run = Run(problem=problem, solver=solver, replicas=replicas, iterations=iterations)
    run.run()
    return fair_figures(problem, run)


def fair_figures(problem: FairClassification, run: Run) -> Fair:
    """Return the figures of a run at its end beside SLSQP's on all data."""
    x = run.result.x
    pairs = [slsqp(problem, start) for start in problem.initial(Streams(run.seed, run.replicas))]
    measured, general = problem.fairness(x), problem.fairness(np.stack([point for _, point in pairs]))
    return Fair(
        problem.bound,
        x,
        problem.evaluate(x).f,
        measured["covariance"],
        measured["accuracy"],
        np.array([value for value, _ in pairs]),
        general["accuracy"],
    )


def cheapest(problem: NetworkSlicing, assignment: Array | None = None) -> float:
    """Return the cost of the best binary plan, or of the best routes for an assignment (K, S); infinite without any.

    By SciPy's branch and bound, and by its linear programming.
    """
    a, b = problem.matrix()
    cost, whole = np.zeros((2, problem.domain.n))
    problem.parts(cost).totals[...] = problem.data.network.cost
    lower, upper = np.broadcast_to(problem.domain.lower, cost.shape).copy(), problem.domain.upper.copy()
    if assignment is None:
        problem.parts(whole).choices[...] = 1.0
    else:
        fixed = np.arange(problem.providers) == assignment[..., None]
        problem.parts(lower).choices[...] = problem.parts(upper).choices[...] = fixed
    rows, bounds = optimize.LinearConstraint(a, b, b), optimize.Bounds(lower, upper)
    solution = optimize.milp(cost, constraints=rows, integrality=whole, bounds=bounds)
    return float(solution.fun) if solution.success else np.inf


def consensus(
    nodes: int = 50,
    probability: float = 0.1,
    iterations: int = 4000,
    replicas: int = 2,
    coupled: bool = True,
) -> Run:
    """Run Algorithm 2 on the random graph with steps that trials gave; ``coupled=False`` leaves the rows out."""
    problem = random_graph(nodes, probability)
    tried = {
        "primal_step": 0.2,
        "penalty": 2.0 * coupled or 1e-12,
        "dual_step": 1e-3 * coupled or 1e-12,
        "proximal_weight": 1.05 * problem.data.constants.curvature,
        "proximal_step": 0.3,
        "batch_size": 4,
    }
    run = Run(problem=problem, solver=SampledALM(**tried), replicas=replicas, iterations=iterations)
    run.run()
    return run


def random_graph(nodes: int, probability: float, seed: int = 0) -> DistributedConsensus:
    """Return distributed optimisation whose nodes begin near each other, though not at one point.

    What the multipliers of pairs take up while nodes are far apart stays in them, where it adds to the noise of
    A_zeta'y.
    """
    return DistributedConsensus(nodes=nodes, edge_probability=probability, start_radius=0.5, seed=seed)
