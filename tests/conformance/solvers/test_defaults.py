"""What the defaults of every solver in the registry come to, and what an iteration costs."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from helpers.every_solver import EACH_OWN_CLASS, OWN, OWN_PAIRS, PARTS, PROBLEMS, World, finished, marks
from zoviz.core.registry import discover
from zoviz.core.streams import Streams
from zoviz.estimators import GradientEstimator, OnePoint
from zoviz.problems import Gramacy, NonconvexQCQP
from zoviz.runs.run import Run
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, ZOSPLM, Solver

ESTIMATORS = {
    name: cls
    for name, cls in discover("zoviz.estimators", GradientEstimator).items()
    if cls.__module__.startswith("zoviz.")
}
# Gap and violation, each of its mean over seeds and 8 replicas at the start, or of |h| where that is feasible: the
# random-direction methods level off where bounds are active (the gradient, and with it their variance, is not zero
# there), so this asks for no more.
ITERATIONS, GAP_SHARE, VIOLATION_SHARE = 500, 0.1, 0.5
EACH_SEEDS = pytest.mark.parametrize(
    "seeds", [pytest.param((3,), id="one seed"), pytest.param((3, 4, 5), id="three seeds", marks=pytest.mark.slow)]
)


# It has local solutions, at which a method of descent ends as it should: a test of its own, below.
SEVERAL = "Gramacy"
# To restore feasibility of the spring, where constraints are flat in most of the box, takes hundreds of iterations,
# more in stages of twenty; of seed 3 SZO-ConEX leaves .8 of the beam's violation after 500 iterations, .002 after
# 1000. ZOGDA has no proximal term, and a shorter step: of seed 3 a tenth of the gap is left after 500 iterations,
# and 3 % after 1000. DSZOG looks at its violation once in a hundred iterations, and takes shorter steps where rows
# are drawn at random. The longest takes five seconds.
LONGER = {
    ("SZOConEX", "WeldedBeam"): 2,
    ("ZOSPLM", "Spring"): 3,
    ("ZOGDA", "LoadTracking"): 2,
    ("ProximalPoint", "Spring"): 3,
    ("DSZOG", "PressureVessel"): 8,
    ("DSZOG", "Spring"): 8,
    ("DSZOG", "WeldedBeam"): 8,
    ("DSZOG", "FairClassification"): 4,
    ("DSZOG", "DistributedConsensus"): 4,
}


@EACH_SEEDS
@pytest.mark.parametrize(
    "solver, problem",
    [pytest.param(s, p, id=f"{s}-{p}", marks=marks(s, p, long=True)) for s, p in OWN_PAIRS if p != SEVERAL],
)
def test_defaults_converge_visibly(solver: str, problem: str, seeds: tuple[int, ...]) -> None:
    if PROBLEMS[problem]().known_optimum is None:
        pytest.skip("no known optimum")
    starts, ends = [], []
    steps = ITERATIONS * PARTS.get(solver, 1) * LONGER.get((solver, problem), 1)
    costly = PROBLEMS[problem].costly
    for seed in seeds[:1] if costly else seeds:
        run = finished(solver, PROBLEMS[problem](), 4 if costly else 8, steps, seed)
        assert run.frozen == 0
        columns = [np.abs(run.trace[name]) for name in ("gap", "violation")]
        start = run.problem.evaluate(run.problem.initial(Streams(seed, 1)))
        starts.append([columns[0][0].mean(), columns[1][0].mean() or np.linalg.norm(start.h)])
        ends.append([column[-1].mean() for column in columns])
    share = np.mean(ends, axis=0) / np.mean(starts, axis=0)
    assert share[0] <= GAP_SHARE and share[1] <= VIOLATION_SHARE, share


@pytest.mark.parametrize(
    "solver",
    [
        pytest.param(solver, marks=pytest.mark.slow if solver != "SZOConEX" else ())
        # DSZOG's penalty is fixed, and settles outside.
        for solver in ("SZOConEX", "ProximalPoint", "ZOALM", "ZOBCEG", "ZOCEG", "ZOGDA", "ZOSPLM", "ZOiALM")
    ],
)
def test_each_run_on_the_toy_ends_at_one_of_its_solutions(solver: str) -> None:
    """Two are local, of higher f, which no theorem on descent excludes: the counter-example is in the class's notes."""
    run = finished(solver, Gramacy(), 4, ITERATIONS * PARTS.get(solver, 1), 3)
    solutions = np.array([[0.195123, 0.404665], [0.0, 0.75], [0.7196, 0.1413]])
    away = np.linalg.norm(run.result.x[:, None] - solutions, axis=-1).min(axis=1)
    assert away.max() < 5e-3 and run.trace["violation"][-1].max() < 5e-3, away


def takes(cls: type[Solver], estimator: type[GradientEstimator]) -> bool:
    if cls is ZOBCEG or issubclass(estimator, OnePoint):  # estimates from one value a direction want steps by hand
        return False
    solver = cls()
    try:
        solver.estimator = estimator()
    except ValueError:
        return False
    return solver.accepts(NonconvexQCQP(n=10)) is None


@pytest.mark.parametrize(
    "cls, estimator",
    [
        pytest.param(cls, name, id=f"{cls.__name__}-{name}", marks=pytest.mark.slow if (i + j) % 3 else ())
        for (i, cls), (j, name) in itertools.product(enumerate(OWN.values()), enumerate(ESTIMATORS))
        if takes(cls, ESTIMATORS[name])
    ],
)
def test_the_rule_serves_every_estimator(cls: type[Solver], estimator: str) -> None:
    solver = cls()
    solver.estimator = ESTIMATORS[estimator](smoothing_radius=None, batch_size=3)
    run = Run(problem=NonconvexQCQP(n=10), solver=solver, replicas=4, iterations=400 * PARTS.get(cls.__name__, 1))
    run.run()
    stationarity = run.trace["stationarity"]
    assert stationarity[-1].mean() <= 0.1 * stationarity[0].mean()


@EACH_SEEDS
@EACH_OWN_CLASS
def test_defaults_reach_stationarity_on_the_nonconvex_problem(cls: type[Solver], seeds: tuple[int, ...]) -> None:
    ends, starts = [], []
    for seed in seeds:
        steps = 400 * PARTS.get(cls.__name__, 1)
        stationarity = finished(cls.__name__, NonconvexQCQP(), 8, steps, seed).trace["stationarity"]
        starts.append(stationarity[0].mean())
        ends.append(stationarity[-1].mean())
    assert np.mean(ends) <= 0.03 * np.mean(starts)


@pytest.mark.parametrize(
    "solver, calls",
    [
        (ZOSPLM, lambda n, m, s: s.estimator.batch_size + 1),
        (ZOEG, lambda n, m, s: 2 * (s.estimator.batch_size + 1)),
        (ZOCEG, lambda n, m, s: 2 * (n + 1)),
        (ZOBCEG, lambda n, m, s: 2 * (s.estimator.block_size + 1)),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_calls_per_iteration_are_as_documented(solver: type[Solver], calls: Callable[..., int]) -> None:
    world = World(solver.__name__, NonconvexQCQP(n=9))
    before = world.oracle.calls.copy()
    world.step(3)
    expected = 3 * calls(9, 1, world.solver)
    assert (world.oracle.calls - before == expected).all()
