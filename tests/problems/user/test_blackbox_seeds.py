"""Functions that take a seed: shared in a batch, new from batch to batch, the same in every repetition of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from helpers.same_run import assert_same_course
from helpers.seeded import BOX, START, Recorded, both, cost, limit
from zoviz import Run
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.runs.store import Store
from zoviz.solvers import ZOEG, ZOSQP


def run_of(fun: Any, **params: Any) -> Run:
    """Return a run of 60 calls that has ended."""
    settings = {"constraints": limit, "bounds": BOX, "x0": START, "seeds": True} | params
    run = Run(BlackBox(fun, **settings), ZOSQP(), replicas=1, seed=4, calls=60)
    run.run()
    return run


def test_the_points_of_a_batch_share_a_seed_and_batches_differ() -> None:
    fun = Recorded()
    run_of(fun)
    seeds = [seed for _, seed in fun.calls]
    assert all(0 <= seed < 2**31 for seed in seeds) and len(fun.calls) == 60
    assert len(set(seeds)) == len(fun.batches), "no seed comes again in a later batch"
    assert max(map(len, fun.batches)) > 2


def test_noise_that_is_declared_independent_has_a_seed_for_each_call() -> None:
    fun = Recorded()
    run_of(fun, noise="independent")
    assert len({seed for _, seed in fun.calls}) == len(fun.calls) == 60


def test_one_seed_serves_all_calls_of_deterministic_values() -> None:
    fun = Recorded()
    run_of(fun, noise="deterministic", constraints=None)
    assert {seed for _, seed in fun.calls} == {0}


@pytest.mark.parametrize("noise", ["common", "independent"])
def test_replays_and_other_instances_repeat_to_the_bit(noise: str) -> None:
    first, again = Recorded(), Recorded()
    run = run_of(first, noise=noise)
    made = list(first.calls)
    assert_same_course(run_of(again, noise=noise), run)
    assert again.calls == made
    repeated = run.replay()
    repeated.run()
    assert_same_course(repeated, run)
    assert first.calls == 2 * made


@pytest.mark.parametrize(
    "params",
    [{"workers": 2}, {"objective": both, "constraints": None, "joint": True, "m": 1, "vectorised": True}],
)
def test_processes_and_functions_of_several_points_are_handed_the_same_seeds(params: dict[str, Any]) -> None:
    fun = params.pop("objective", cost)
    assert_same_course(run_of(fun, **params), run_of(cost))


def test_replicas_have_seeds_of_their_own() -> None:
    fun = Recorded()
    Run(BlackBox(fun, bounds=BOX, x0=START, seeds=True), ZOEG(), replicas=2, seed=4, iterations=3).run()
    first, second = fun.calls[:2]
    assert first[0] == second[0] and first[1] != second[1]


def test_a_run_that_is_resumed_goes_on_with_the_seeds_that_it_would_have_drawn(tmp_path: Path) -> None:
    store, whole, first, rest = Store(f"sqlite:///{tmp_path / 'runs.db'}"), Recorded(), Recorded(), Recorded()

    def interrupted(x: Array, seed: int) -> float:
        if len(first.calls) == 30:
            raise OSError("the machine goes down")
        return first(x, seed)

    def problem(fun: Any) -> BlackBox:
        return BlackBox(fun, limit, BOX, x0=START, seeds=True)

    expected = Run(problem(whole), ZOSQP(), replicas=1, seed=4, calls=60)
    expected.run()
    run = Run(problem(interrupted), ZOSQP(), replicas=1, seed=4, calls=60, store=store, checkpoint="every call")
    with pytest.raises(OSError, match="goes down"):
        run.run()
    resumed = store.load(run.id).resume(problem=problem(rest))
    resumed.run()
    assert_same_course(resumed, expected)
    assert first.calls + rest.calls == whole.calls


def test_a_seed_that_is_switched_on_later_makes_the_noise_common() -> None:
    problem = BlackBox(cost, bounds=BOX)
    problem.seeds = True
    assert problem.noise == "common"
