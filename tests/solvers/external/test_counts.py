"""Other libraries' optimisers: every call is counted, and what is asked for again is charged as it should be."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.peers import BOUNDS, EACH, FIXED, IN_PROCESS, START, Simulation, each
from zoviz.problems import BlackBox
from zoviz.runs.run import Run
from zoviz.solvers import COBYQA, SLSQP
from zoviz.solvers.external.base import ExternalSolver


@EACH
@pytest.mark.parametrize("calls", [9, 13])
def test_the_budget_ends_it_and_every_call_is_counted(cls: type[ExternalSolver], calls: int) -> None:
    simulation = Simulation()
    run = Run(
        problem=BlackBox(simulation, scaled=False, bounds=BOUNDS, m=2, joint=True), solver=cls(**FIXED[cls]), replicas=3
    )
    run.calls = calls
    result = run.run()
    assert run.status == "finished" and f"budget of {calls} oracle calls is spent" in run.message
    assert result.calls.sum() == len(simulation.points)
    widest = cls(**FIXED[cls]).width(2)
    assert (result.calls <= calls).all() and (result.calls > calls - widest).all()
    if widest == 1:
        assert (result.calls == calls).all()


@EACH
def test_the_rule_costs_no_call_where_there_is_no_noise_to_measure(cls: type[ExternalSolver]) -> None:
    calls = {}
    for noise in ("deterministic", "independent"):
        simulation = Simulation()
        box = BlackBox(
            simulation, scaled=False, bounds=BOUNDS, x0=START, m=2, joint=True, noise=noise, noise_scale=1e-3
        )
        run = Run(problem=box, solver=cls(), replicas=1, iterations=0)
        calls[noise] = int(run.run().calls[0])
        assert calls[noise] == len(simulation.points)
        assert set(run.resolved) == set(cls().open_scales())
    assert calls["deterministic"] == 1 and (calls["independent"] == 1 or cls.measures)


@IN_PROCESS
def test_a_replica_that_ends_early_is_not_charged_any_more(cls: type[ExternalSolver]) -> None:
    # Every replica by itself ends after as many calls as among others.
    together = Run(problem=BlackBox(scaled=False), solver=cls(**FIXED[cls]), replicas=3, iterations=900)
    result = together.run()
    assert together.status == "finished" and "has ended in every replica" in together.message
    assert len(set(result.calls)) > 1
    one = Run(problem=BlackBox(scaled=False), solver=cls(**FIXED[cls]), replicas=1, iterations=900).run()
    assert one.calls[0] == result.calls[0]
    np.testing.assert_array_equal(one.x[0], result.x[0])
    assert np.isfinite(together.trace["objective"][-1]).all(), "a replica that has ended still has a value"


@each(SLSQP)
def test_repeats_are_charged_under_independent_noise_only(cls: type[ExternalSolver]) -> None:
    repeats = {}
    for noise in ("deterministic", "common", "independent"):
        simulation = Simulation()
        box = BlackBox(
            simulation, scaled=False, bounds=BOUNDS, x0=START, m=2, joint=True, noise=noise, noise_scale=1e-6
        )
        run = Run(problem=box, solver=cls(difference=1e-2, tolerance=1e-4), replicas=1, iterations=9)
        calls = int(run.run().calls[0])
        assert calls == len(simulation.points)
        repeats[noise] = calls - len({x.tobytes() for x in simulation.points})
    assert repeats["deterministic"] == 0
    assert repeats["independent"] == 1, "SciPy asks for h at the start twice; bases of differences are used again"
    assert repeats["common"] >= 2, "a sweep has a base of its own, which shares its noise"


@each(COBYQA)
def test_constraints_asked_for_again_are_free_without_noise_and_charged_with_it(cls: type[ExternalSolver]) -> None:
    counts = {}
    for noise in ("deterministic", "independent"):
        simulation = Simulation()
        box = BlackBox(simulation, scaled=False, bounds=BOUNDS, x0=START, m=2, joint=True, noise=noise, noise_scale=0.0)
        counts[noise] = Run(problem=box, solver=cls(**FIXED[cls]), replicas=1, calls=500).run().calls[0]
        assert counts[noise] == len(simulation.points)
    assert counts["independent"] > counts["deterministic"]
