"""Asking and telling equals running, bit for bit, also through a pickle; and streams that can be put back."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from helpers.arrays import assert_same_arrays
from helpers.black_box import f_at, h_at
from helpers.every_solver import EVERY as SOLVERS
from helpers.same_run import FIELDS
from helpers.seeded import BOX, START, both
from zoviz import AskTell, Run
from zoviz.ask_tell.session import Batch
from zoviz.core.errors import OracleError, ZovizError
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.estimators import Sphere
from zoviz.problems import BlackBox, NonconvexQCQP, Problem
from zoviz.solvers import ZOCEG, ZOSPLM, ZOSQP

ITERATIONS = 6
DRAWN = Sphere(smoothing_radius=None, batch_size=50, directions="random")
"""Directions at random, of which a step asks for more than for anything before it."""


class Flat(NonconvexQCQP):
    """The same values whether points come as (R, q, n) or one after the other: products may round by shape."""

    __abstract = True

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        f, h = zip(*[super(Flat, self).evaluate(point) for point in x.reshape(-1, x.shape[-1])], strict=True)
        return Evaluation(np.array(f).reshape(x.shape[:-1]), np.array(h).reshape(*x.shape[:-1], self.m))


PROBLEMS = {
    "known constants": lambda: Flat(n=6),
    "measured constants": lambda: BlackBox(f_at, h_at, bounds=[(-4, 4)] * 2, x0=[0.5, 3.0]),
    "measured, random start": lambda: BlackBox(f_at, h_at, bounds=[(-4, 4)] * 2),
    "common noise": lambda: Flat(n=6, noise="common", noise_scale=0.01),
    "independent noise": lambda: Flat(n=6, noise="independent", noise_scale=0.01),
}


def drive(session: AskTell, problem: Problem, pickled: bool = False) -> AskTell:
    """Answer until it ends, from ``problem``; with ``pickled`` through a pickle before every answer."""
    while not session.done:
        if pickled:
            session = pickle.loads(pickle.dumps(session))
        batch = session.ask()
        session.tell(batch, *problem.evaluate(batch.x))
    return session


def assert_same_batch(one: Batch, other: Batch) -> None:
    np.testing.assert_array_equal(one.x, other.x)
    np.testing.assert_array_equal(one.ids, other.ids)
    np.testing.assert_array_equal(one.replicas, other.replicas)


def assert_same(session: AskTell, run: Run) -> None:
    mine, its = session.result, run.result
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(mine, name), getattr(its, name), err_msg=name)
    assert (mine.nit, mine.status, mine.message, mine.seed) == (its.nit, its.status, its.message, its.seed)
    mine, its = mine.trace.snapshot().columns, its.trace.snapshot().columns
    assert mine.keys() == its.keys()
    for name in mine.keys() - {"seconds"}:
        np.testing.assert_array_equal(mine[name], its[name], err_msg=name)


@pytest.mark.parametrize(
    "solver, kind",
    [
        pytest.param(solver, kind, marks=() if solver == "ZOSPLM" else pytest.mark.slow)  # conformance/resume has all
        for solver in SOLVERS
        for kind in PROBLEMS
    ],
)
def test_it_equals_a_run_to_the_bit(solver: str, kind: str) -> None:
    problem = PROBLEMS[kind]()
    if SOLVERS[solver]().accepts(problem) is not None:
        pytest.skip("not accepted")
    settings = {"replicas": 2, "iterations": ITERATIONS, "seed": 3}
    run = Run(problem=problem, solver=SOLVERS[solver](), **settings)
    run.run()
    assert_same(drive(AskTell(problem, SOLVERS[solver](), **settings), problem), run)


@pytest.mark.parametrize("solver", SOLVERS)
def test_it_goes_on_identically_through_pickles(solver: str) -> None:
    problem = PROBLEMS["independent noise"]()
    if SOLVERS[solver]().accepts(problem) is not None:
        pytest.skip("not accepted")
    settings = {"replicas": 2, "iterations": ITERATIONS, "seed": 5}
    run = Run(problem=problem, solver=SOLVERS[solver](), **settings)
    run.run()
    assert_same(drive(AskTell(problem, SOLVERS[solver](), **settings), problem, pickled=True), run)


def test_a_budget_of_calls_and_targets_end_it_as_they_end_a_run() -> None:
    problem = PROBLEMS["known constants"]()
    for settings in ({"calls": 700}, {"calls": 50_000, "targets": {"gap": 1e-2}, "stop_at_targets": True}):
        run = Run(problem=problem, solver=ZOCEG(), replicas=2, **settings)
        run.run()
        session = drive(AskTell(problem, "zoceg", replicas=2, **settings), problem)
        assert_same(session, run)
        assert session.result.calls.max() <= settings["calls"]


def test_a_value_that_is_not_finite_counts_as_in_a_run() -> None:
    def holed(x: Array) -> float:
        return np.nan if 0.0 < x[0] < 1e-4 else f_at(x)  # half of the first directions

    problem = BlackBox(holed, h_at, bounds=[(-4, 4)] * 2, x0=[0.0, 3.0], on_error="fail")
    run = Run(problem=problem, solver=ZOSPLM(), replicas=3, iterations=40, seed=1)
    run.run()
    session = drive(AskTell(problem, ZOSPLM(), replicas=3, iterations=40, seed=1), problem)
    assert run.result.failures.sum() > 0
    assert_same(session, run)


def test_no_id_comes_twice_and_the_last_is_the_number_of_calls() -> None:
    problem = PROBLEMS["measured constants"]()
    session, ids = AskTell(problem, ZOSPLM(), replicas=3, iterations=4, seed=1), []
    while not session.done:
        batch = session.ask()
        ids.extend(batch.ids)
        session.tell(batch, *problem.evaluate(batch.x))
    np.testing.assert_array_equal(ids, np.arange(session.result.calls.sum()))


def test_a_batch_says_which_replica_asks() -> None:
    problem = PROBLEMS["measured constants"]()
    session = AskTell(problem, ZOSPLM(), replicas=3, iterations=4, seed=1)
    while not session.done:
        batch = session.ask()
        active = np.flatnonzero(session.worker.oracle.active)
        np.testing.assert_array_equal(batch.replicas, np.repeat(active, len(batch.x) // len(active)))
        values = problem.evaluate(batch.x)
        if session.worker.iteration >= 2:
            values.f[batch.replicas == 1] = np.nan
        session.tell(batch, *values)
    np.testing.assert_array_equal(active, [0, 2])


@pytest.mark.parametrize("kind", ["measured constants", "independent noise"])
def test_parts_of_a_batch_may_be_told_in_any_order_and_through_a_pickle(kind: str) -> None:
    problem, order = PROBLEMS[kind](), np.random.default_rng(0)
    whole = drive(AskTell(problem, ZOSPLM(), replicas=2, iterations=3, seed=4), problem)
    session = AskTell(problem, ZOSPLM(), replicas=2, iterations=3, seed=4)
    while not session.done:
        batch = session.ask()
        rows = order.permutation(len(batch.x))[: 1 + len(batch.x) // 2]
        part = batch.take(rows)
        calls = session.worker.oracle.calls.sum()
        session.tell(part, *problem.evaluate(part.x))
        if len(part.x) < len(batch.x):
            assert session.worker.oracle.calls.sum() == calls, "the solver waits for the others"
            assert_same_batch(session.ask(), batch.take(~np.isin(batch.ids, part.ids)))
            session = pickle.loads(pickle.dumps(session))
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(session.result, name), getattr(whole.result, name), err_msg=name)


def test_a_batch_that_is_not_open_is_refused() -> None:
    session = AskTell(solver=ZOSPLM(estimator=DRAWN), bounds=[(-4, 4)] * 2, x0=[1.0, 1.0], calls=300)
    first = session.ask()
    session.tell(first, np.square(first.x).sum(axis=1))
    while len((batch := session.ask()).x) < 4:
        session.tell(batch, np.square(batch.x).sum(axis=1))
    session.tell(batch.take([0, 2]), [1.0, 1.0])
    session.tell(batch.take([]), [])
    for wrong, sentence in (
        (first, "Expected points that are open, each once, of ids .* got ids 0: tell what the last"),
        (batch.take([0]), "Expected points that are open"),
        (batch.take([1, 1]), "Expected points that are open"),
        (batch.take([1])._replace(x=batch.x[:1]), "got other points under its ids"),
        ([1.0], r"Expected the batch of ask\(\) first, then f and h, got \[1.0\] as batch"),
    ):
        with pytest.raises(ValueError, match=sentence):
            session.tell(wrong, [1.0] * len(wrong if isinstance(wrong, list) else wrong.x))
    assert_same_batch(session.ask(), batch.take(np.delete(np.arange(len(batch.x)), [0, 2])))


def test_all_replicas_frozen_is_an_error_as_in_a_run() -> None:
    session = AskTell(solver=ZOCEG(primal_step=0.1, dual_step=0.1, dual_cap=1.0), bounds=[(-1, 1)], calls=50)
    with pytest.raises(OracleError, match="Expected finite values from the black box"):
        for _ in range(20):
            batch = session.ask()
            session.tell(batch, np.where(batch.ids == 0, 0.0, np.nan))
    assert session.done and session.result.status == "failed"


def test_it_minimises_without_a_function() -> None:
    session = AskTell(solver=ZOCEG(), bounds=[(-4, 4)] * 2, x0=[0.0, 3.0], m=2, calls=600)
    while not session.done:
        batch = session.ask()
        assert batch.x.shape[1] == 2
        assert_same_batch(session.ask(), batch)
        session.tell(batch, [f_at(point) for point in batch.x], [h_at(point) for point in batch.x])
    assert session.result.success == (session.result.maxcv <= 1e-6)
    np.testing.assert_allclose(session.result.best_fun, 1.0, atol=1e-2)
    with pytest.raises(
        ZovizError, match="Expected a session that still needs values, got one that has ended: The budget of 600"
    ):
        session.ask()


def test_a_tell_that_makes_no_sense_is_refused_and_may_be_mended() -> None:
    session = AskTell(solver=ZOSPLM(estimator=DRAWN), bounds=[(-4, 4)] * 2, x0=[1.0, 1.0], m=2, calls=300)
    batch = session.ask()
    x = batch.x
    with pytest.raises(ZovizError, match="Expected a session with a first result"):
        _ = session.result
    good = [f_at(point) for point in x], [h_at(point) for point in x]
    for f, h, sentence in (
        (good[0][:-1], good[1], rf"Expected f of shape \({len(x)},\) for the {len(x)} points"),
        (good[0], None, rf"Expected h of shape \({len(x)}, 2\).*got \({len(x)}, 0\): one row of m numbers"),
        (good[0], np.transpose(good[1]), r"Expected h of shape"),
        (["heavy"] * len(x), good[1], "Expected numbers from f, got"),
        ({}, good[1], "Expected numbers from f, got"),
    ):
        with pytest.raises(ValueError, match=sentence):
            session.tell(batch, f, h)
        assert_same_batch(session.ask(), batch)
    session.tell(batch, *good)
    with pytest.raises(ZovizError, match="with a first result"):
        _ = session.result
    while (batch := session.ask()).x.shape != (50, 2):  # up to the first batch of directions
        x = batch.x
        one = len(x) == 1  # then a number and a row will do
        f, h = [f_at(point) for point in x], [h_at(point) for point in x]
        session.tell(batch, f[0] if one else f, h[0] if one else h)
    assert session.result.nit == 0 and session.result.fun[0] == pytest.approx(f_at([1.0, 1.0]))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"solver": "ZOSPLN", "bounds": [(0, 1)]}, "got 'ZOSPLN': did you mean ZOSPLM"),
        ({"solver": "ZOSPLM"}, "Expected bounds or x0"),
        (
            {"solver": "ZOSPLM", "problem": BlackBox(), "x0": [1, 1]},
            "Expected a problem, or bounds, x0, m and noise, got both",
        ),
    ],
)
def test_a_session_that_makes_no_sense_is_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        AskTell(**arguments)


class Restless(ZOCEG):
    """Remembers between steps what is not in its state."""

    __abstract = True

    count = 0

    def step(self, state: Any, oracle: Any, streams: Streams) -> Any:
        self.count += 1
        oracle(state.x + 1e-3 * self.count)
        return super().step(state, oracle, streams)


def test_a_solver_that_is_not_a_function_of_its_state_is_found_out() -> None:
    problem = PROBLEMS["measured constants"]()
    with pytest.raises(ZovizError, match="depends on its state and streams alone"):
        drive(AskTell(problem, Restless(), calls=500), problem)


# --- streams ----------------------------------------------------------------------------------------------------------


def read(streams: Streams) -> list[Array]:
    return [
        streams.normal("a", 7).copy(),
        streams.uniform("b", 3000).copy(),
        streams.student_t("c", 4.0, 2, 5).copy(),
        streams.subset("d", 9, 3, 2).copy(),
        streams.normal("a", 5000).copy(),
    ]


@pytest.mark.parametrize("reads", [0, 1, 3])
@pytest.mark.parametrize("through", ["restore", "pickle", "another"])
def test_streams_can_be_put_back(reads: int, through: str) -> None:
    streams = Streams(11, 3)
    for _ in range(reads):
        read(streams)
    snapshot = streams.snapshot()
    copy = pickle.loads(pickle.dumps(streams))
    expected = [read(streams), read(streams)]
    if through == "pickle":
        streams = copy
    elif through == "another":
        streams = Streams(11, 3)
        streams.restore(pickle.loads(pickle.dumps(snapshot)))
    else:
        streams.restore(snapshot)
    for later in expected:
        assert_same_arrays(read(streams), later)


def test_a_snapshot_serves_more_than_once() -> None:
    streams = Streams(0, 2)
    streams.normal("a", 10)
    snapshot = streams.snapshot()
    first = read(streams)
    for _ in range(2):
        streams.restore(snapshot)
        assert_same_arrays(read(streams), first)
    with pytest.raises(ValueError, match="Expected a snapshot of 3 replicas, got one of 2"):
        Streams(0, 3).restore(snapshot)


@pytest.mark.parametrize("noise", ["common", "independent"])
def test_a_batch_has_the_seeds_of_a_run(noise: str) -> None:
    settings = {"bounds": BOX, "x0": START, "m": 1, "noise": noise, "seeds": True}
    session = AskTell(solver="ZOSQP", replicas=1, seed=4, calls=60, **settings)
    while not session.done:
        batch = session.ask()
        parts = [batch.take(np.arange(len(batch.x)) % 2 == k) for k in (1, 0)]
        for part in (one for one in parts if len(one.x)):
            session.tell(part, *both(part.x, part.seeds))
    run = Run(BlackBox(both, joint=True, vectorised=True, **settings), ZOSQP(), replicas=1, seed=4, calls=60)
    run.run()
    np.testing.assert_array_equal(session.result.x, run.result.x)
    np.testing.assert_array_equal(session.result.fun, run.result.fun)


def test_a_batch_without_seeds_has_none() -> None:
    batch = AskTell(solver="ZOSQP", bounds=BOX, calls=60).ask()
    assert len(batch.seeds) == len(batch.take([0]).seeds) == 0
