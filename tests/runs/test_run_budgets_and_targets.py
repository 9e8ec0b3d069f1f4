"""A run's budgets and targets: what ends it, and when a level was first hit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.runs import assert_same_bits, small
from helpers.waiting import until
from zoviz import Run
from zoviz.core.errors import ZovizError
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.problems import LoadTracking, Problem, StochasticQP
from zoviz.runs.engine import worker as worker_module
from zoviz.runs.engine.trace import Trace
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, ZOSPLM, Solver, StormALM

# --- budgets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("iterations", [0, 1, 37])
def test_budget_of_iterations(iterations: int) -> None:
    run = small(iterations=iterations)
    result = run.run()
    assert result.status == "finished" and result.nit == iterations == run.progress.iteration
    assert f"budget of {iterations} iterations is spent" in result.message
    assert run.trace["iteration"].tolist() == list(range(iterations + 1))
    assert iterations == 0 or run.progress.fraction == 1.0


@pytest.mark.parametrize("budget", [1, 2, 12, 13, 14, 100, 101])
@pytest.mark.parametrize("solver", [ZOCEG, ZOBCEG, ZOEG, ZOSPLM])
def test_budget_of_calls_is_never_exceeded(solver: type[Solver], budget: int) -> None:
    run = small(solver=solver(), calls=budget)
    result = run.run()
    assert result.status == "finished" and f"budget of {budget} oracle calls is spent" in result.message
    assert (result.calls <= budget).all()
    assert run.progress.calls <= budget
    whole = small(solver=solver(), iterations=result.nit)
    np.testing.assert_array_equal(whole.run().x, result.x)
    following = small(solver=solver(), iterations=result.nit + 1)
    assert (following.run().calls > budget).all(), "another whole step would have fitted"


def test_a_budget_too_small_to_begin_is_said() -> None:
    run = Run(problem=StochasticQP(n=9), solver=StormALM(horizon=1000), replicas=2, samples=9)
    with pytest.raises(ValueError, match="Expected a budget that covers .* the start, got 9 samples: raise it"):
        run.run()
    assert run.status == "failed" and run.progress.calls == 0
    with pytest.raises(ZovizError, match="no iterate yet"):
        _ = run.result


def test_budget_of_seconds() -> None:
    run = small(seconds=0.5)
    result = run.run()
    assert result.status == "finished" and "budget of 0.5 s is spent" in result.message
    *_, before, last = run.trace["seconds"]
    assert before < 0.5 <= run.progress.seconds and last <= run.progress.seconds, "it ends in the first step beyond"
    assert result.nit > 0 and run.progress.fraction == 1.0


# --- targets ----------------------------------------------------------------------------------------------------------

LEVELS = {"relative_gap": [0.5, 0.2, 0.1, 0.05], "violation": [20.0, 1.0], "stationarity": 30.0}


def by_hand(problem: Problem, solver: Solver, replicas: int, seed: int, iterations: int) -> dict[tuple, Array]:
    """First hits from the measures of every iterate, (2, R): iterations and calls."""
    suggestions = solver.from_constants(problem, problem.constants)
    for name in solver.open_scales():
        solver.set(name, suggestions[name])
    streams = Streams(seed, replicas)
    oracle = Oracle(problem, streams)
    state = solver.init(problem.initial(streams), oracle, streams)
    hits: dict[tuple, Array] = {}
    for iteration in range(iterations + 1):
        measured = problem.metrics(state.x, state.y, state.value)
        for metric, levels in LEVELS.items():
            for level in np.atleast_1d(levels):
                first = hits.setdefault((metric, float(level)), np.full((2, replicas), np.nan))
                new = np.isnan(first[0]) & (np.abs(measured[metric]) <= level)
                first[0, new], first[1, new] = iteration, oracle.calls[new]
        state, _ = solver.step(state, oracle, streams)
    return hits


PROBLEM = LoadTracking(n=8, seed=2, curtailment=80.0)


@pytest.fixture(scope="module")
def expected() -> dict[tuple[str, float], Array]:
    """The first hits by hand, made once."""
    return by_hand(PROBLEM, ZOEG(dual="estimated"), 3, 5, 1500)


@pytest.mark.parametrize("capacity", [4, 4096], ids=["trace of 4 rows", "whole trace"])
def test_first_hits_are_exact_however_thin_the_trace(
    capacity: int, expected: dict[tuple[str, float], Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "Trace", lambda *_: Trace(capacity))
    run = Run(problem=PROBLEM, solver=ZOEG(dual="estimated"), replicas=3, seed=5, iterations=1500, targets=LEVELS)
    run.run()
    assert [(hit.metric, hit.threshold) for hit in run.hits][:2] == [("relative_gap", 0.5), ("relative_gap", 0.2)]
    some = 0
    for hit in run.hits:
        first = expected[hit.metric, hit.threshold]
        np.testing.assert_array_equal(hit.iteration, first[0])
        np.testing.assert_array_equal(hit.calls, first[1])
        assert hit.hits == np.isfinite(first[0]).sum()
        some += int((first[0] % 2 == 1).sum())
    assert some > 0, "no hit fell between the rows of a thinned trace"
    assert len(run.trace) <= capacity


def test_a_run_stepped_one_by_one_hits_the_same() -> None:
    whole = small(iterations=60, targets={"gap": [100.0, 1.0], "violation": 1e-3})
    whole.run()
    run = small(targets={"gap": [100.0, 1.0], "violation": 1e-3}).start(steps=0)
    for count in range(1, 61):
        run.step()
        until(lambda count=count: run.progress.iteration == count)
    run.stop()
    run.wait(120)
    for one, other in zip(whole.hits, run.hits, strict=True):
        np.testing.assert_array_equal(one.iteration, other.iteration)
        np.testing.assert_array_equal(one.calls, other.calls)
    assert_same_bits(whole, run)


def test_stop_at_targets_ends_with_the_last_hit() -> None:
    run = small(targets={"gap": 10.0, "violation": 0.1}, stop_at_targets=True)
    result = run.run()
    assert result.status == "finished" and result.message.startswith("Every replica hit every target.")
    assert result.nit == max(hit.iteration.max() for hit in run.hits)


@pytest.mark.parametrize(
    ("targets", "sentence"),
    [
        ({"regret": 1.0}, r"Expected targets among \['gap', .*got 'regret': LoadTracking does not measure it"),
        ({"gap": 0}, "Expected the target 'gap' a positive number or several, got 0"),
        ({"gap": [1.0, "x"]}, "Expected the target 'gap' a positive number|not supported between"),
        ({"gap": float("nan")}, "got nan"),
    ],
)
def test_bad_targets_are_refused(targets: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        small(iterations=5, targets=targets).run()
