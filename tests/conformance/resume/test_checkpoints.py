"""What every solver in the registry keeps through an interruption: it goes on as if there had been none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from helpers.black_box import h_at
from helpers.every_solver import BAYESIAN
from helpers.interruption import GENERAL, OWN, PROBLEMS, SOLVERS, assert_same, prepared, resumed, spoilt, watched
from zoviz import Run
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.runs.engine.checkpoint import snapshot
from zoviz.runs.engine.observer import StepCallback
from zoviz.runs.engine.steering import Change
from zoviz.runs.engine.trace import Trace
from zoviz.solvers import ZOCEG, ZOSPLM, ZOSQP
from zoviz.solvers.saddle.proximal_point import ProximalPoint

SPECIAL = ("linear rows", "sampled rows", "rounds")
PAIRS = [(solver, kind) for kind in PROBLEMS for solver in OWN]
"""Every solver with one kind of problem or two, and every kind with two solvers at least; all others are slow."""


@pytest.mark.parametrize(
    "solver, kind",
    [
        pytest.param(
            *pair,
            marks=()
            if {*pair} & {"ZOSPLM", "ZOCEG", "common", *SPECIAL} and pair[0] not in BAYESIAN
            else pytest.mark.slow,
        )
        for pair in PAIRS
    ],
)
def test_it_goes_on_bit_for_bit_from_any_step(solver: str, kind: str) -> None:
    if SOLVERS[solver]().accepts(PROBLEMS[kind]()) is not None or (solver in GENERAL and kind in SPECIAL):
        pytest.skip("not accepted, or a problem for special methods")

    def make() -> Run:
        return Run(problem=PROBLEMS[kind](), solver=SOLVERS[solver](), replicas=3, iterations=24, seed=2)

    whole = make()
    states = watched(whole, lambda t: t in (1, 13))
    assert states.keys() == {1, 13}
    for stopped in states.values():
        assert_same(resumed(make, stopped), whole)


def test_the_end_of_a_proximal_stage_is_one_point_of_interruption_more() -> None:
    # There the next centre is the very array of the iterate, which saves a call.
    def make() -> Run:
        return Run(problem=PROBLEMS["exact"](), solver=ProximalPoint(stage_length=5), replicas=2, iterations=17)

    whole = make()
    states = watched(whole, lambda t: t % 5 in (0, 1))
    assert len(states) > 3
    for stopped in states.values():
        assert_same(resumed(make, stopped), whole)


CASES: dict[str, Callable[[], Run]] = {
    "targets": lambda: Run(
        problem=PROBLEMS["exact"](),
        solver=ZOCEG(),
        replicas=4,
        iterations=400,
        targets={"gap": [1.0, 0.3, 1e-4], "violation": 1e-4},
        stop_at_targets=True,
    ),
    "a budget of calls": lambda: Run(problem=PROBLEMS["common"](), solver=ZOSPLM(), replicas=2, calls=3001),
    "frozen replicas": lambda: Run(
        problem=BlackBox(spoilt, h_at, bounds=[(-4, 4)] * 2), solver=ZOCEG(), replicas=6, iterations=120, seed=3
    ),
    "the noise floor": lambda: Run(
        problem=PROBLEMS["independent"](), solver=ZOSQP(), replicas=2, calls=1500, stop_when="confident"
    ),
    "a script": lambda: Run(
        problem=PROBLEMS["exact"](),
        solver=ZOSPLM(),
        replicas=2,
        iterations=60,
        schedule=tuple(
            Change(at, 0, 0.0, name, None, value)
            for at, name, value in (
                (3, "primal_step", 1e-3),
                (20, "estimator.batch_size", 7),
                (20, "primal_step", 2e-3),
                (41, "primal_step", 3e-3),
            )
        ),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_stands_beside_the_state_goes_on_too(case: str) -> None:
    whole = CASES[case]()
    states = watched(whole, lambda t: t in (1, 20, 21, 50, 100))
    assert states.keys() >= {1, 20, 21}
    if case == "frozen replicas":
        assert 0 < whole.frozen < 6 and whole.result.failures.sum() > 0
    if case == "targets":
        assert len({tuple(target.iteration) for target in whole.hits}) == 4 and whole.status == "finished"
    for stopped in states.values():
        assert_same(resumed(CASES[case], stopped), whole)


def test_a_thinned_trace_goes_on_and_so_does_a_run_that_was_stopped() -> None:
    def make() -> Run:
        return Run(problem=PROBLEMS["exact"](), solver=ZOSPLM(), replicas=1, iterations=150)

    def narrow() -> Run:
        run = prepared(make)
        run.worker.trace = Trace(64)
        return run

    whole, states = narrow(), {}

    def look() -> None:
        worker = whole.worker
        states[worker.iteration] = snapshot(worker), worker.trace.snapshot(), worker.path.snapshot(), []

    whole.worker.observers = (StepCallback(look),)
    whole.worker.work()
    stopped = narrow()
    stopped.worker.observers = (StepCallback(lambda: stopped.stop() if stopped.progress.iteration == 101 else None),)
    stopped.worker.work()
    # It ends with a row that has no place in the trace of a run that was never stopped.
    assert stopped.status == "stopped" and stopped.trace["iteration"][-1] == 101 and stopped.trace.stride == 2
    worker = stopped.worker
    states[101] = snapshot(worker), worker.trace.snapshot(), worker.path.snapshot(), []
    for at in (60, 64, 65, 101, 149):
        assert_same(resumed(narrow, states[at]), whole)


def steered() -> Run:
    return Run(problem=PROBLEMS["exact"](), solver=ZOSPLM(), replicas=2, iterations=50)


def test_what_was_steered_after_the_checkpoint_is_steered_again() -> None:
    whole, states = steered(), {}

    def look() -> None:
        worker = whole.worker
        if worker.iteration in (10, 30):
            states[worker.iteration] = snapshot(worker), worker.trace.snapshot(), worker.path.snapshot(), []
        if worker.iteration in (5, 10, 22):
            whole.set({"primal_step": 1e-3 * worker.iteration})
            whole.set({"estimator.batch_size": worker.iteration})

    whole.run(look)
    assert len(whole.journal) == 6
    for stopped in states.values():
        assert_same(resumed(steered, stopped, whole.journal), whole)
    assert (resumed(steered, states[10]).result.x != whole.result.x).any()


def test_a_replay_is_itself_resumed() -> None:
    whole = steered()
    whole.run(lambda: whole.set({"primal_step": 1e-3}) if whole.progress.iteration == 7 else None)

    def make() -> Run:
        return whole.replay()

    again = make()
    states = watched(again, lambda t: t in (6, 7, 8))
    assert states.keys() == {6, 7, 8}
    for stopped in states.values():
        assert_same(resumed(make, stopped), whole)


# --- bytes ------------------------------------------------------------------------------------------------------------


def test_a_checkpoint_is_small_and_does_not_grow() -> None:
    run = Run(problem=NonconvexQCQP(n=6, noise="independent"), solver=ZOSPLM(), replicas=8, iterations=700)
    sizes = {t: len(state[0]) for t, state in watched(run, lambda t: t in (10, 699)).items()}
    assert max(sizes.values()) < 20_000 and abs(sizes[10] - sizes[699]) < 500, sizes


def test_there_is_none_in_the_midst_of_a_step_or_of_a_library() -> None:
    run = Run(problem=PROBLEMS["exact"](), solver=ZOSPLM(), replicas=1, calls=200)
    run.run()
    assert run.worker.spent_calls and snapshot(run.worker) is None
    assert snapshot(prepared(lambda: Run(problem=PROBLEMS["exact"](), solver=ZOSPLM())).worker) is None
    for name in SOLVERS.keys() - set(OWN):
        run = Run(problem=PROBLEMS["black box"](), solver=SOLVERS[name](), replicas=1, iterations=2)
        run.run()
        assert snapshot(run.worker) is None
