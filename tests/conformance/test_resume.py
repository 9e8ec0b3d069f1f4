"""What every solver in the registry keeps through an interruption: it goes on as if there had been none."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from zoviz import Run
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP, Problem, QuadraticBilevel, StochasticQP
from zoviz.registry import discover
from zoviz.runs.checkpoint import capture, restore
from zoviz.runs.evaluations import Entry, Log, Logged
from zoviz.runs.journal import Change
from zoviz.runs.packing import pack, unpack
from zoviz.runs.trace import Trace
from zoviz.solvers import ZOCEG, ZOSPLM, Solver
from zoviz.solvers.proximal_point import ProximalPoint
from zoviz.types import Array, ZovizError

SOLVERS = {name: cls for name, cls in discover("zoviz.solvers", Solver).items() if cls.__module__[:6] == "zoviz."}
SOLVERS = {name: cls for name, cls in SOLVERS.items() if "not installed" not in (cls().accepts(NonconvexQCQP()) or "")}
GENERAL = {name for name, cls in SOLVERS.items() if cls().accepts(NonconvexQCQP()) is None}
OWN = [name for name, cls in SOLVERS.items() if cls.checkpointable]
FIELDS = ("x", "fun", "maxcv", "success", "nfev", "multipliers", "best_feasible", "best_value", "failures")


def f_at(x: Array) -> float:
    return float((x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2)


def h_at(x: Array) -> list[float]:
    return [float(x[0] + x[1] - 2.0), float(x[0] ** 2 - x[1])]


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "exact": lambda: NonconvexQCQP(n=6),
    "common": lambda: NonconvexQCQP(n=6, noise="common", noise_scale=0.01),
    "independent": lambda: NonconvexQCQP(n=6, noise="independent", noise_scale=0.01),
    "student": lambda: NonconvexQCQP(n=6, noise="independent", noise_scale=0.01, noise_distribution="student_t"),
    "scaled": lambda: LoadTracking(scaled=True),
    "black box": lambda: BlackBox(f_at, h_at, bounds=[(-4, 4)] * 2),
    "linear rows": lambda: StochasticQP(),
    "sampled rows": lambda: StochasticQP(sampled_rows=True),
    "rounds": lambda: QuadraticBilevel(),
}
SPECIAL = ("linear rows", "sampled rows", "rounds")


def prepared(make: Callable[[], Run]) -> Run:
    run = make()
    run._prepare()
    return run


def watched(run: Run, at: Callable[[int], bool]) -> dict[int, tuple[bytes, Any, Any, list[Change]]]:
    """Run to the end; what a store would have, had it been interrupted at each of these iterations."""
    kept = {}

    def look() -> None:
        worker = run._worker
        if at(worker.iteration):
            rows = [pickle.loads(pickle.dumps(part.snapshot())) for part in (worker.trace, worker.path)]
            kept[worker.iteration] = capture(worker), *rows, list(worker.journal)

    run.run(look)
    return kept


def resumed(make: Callable[[], Run], kept: tuple[bytes, Any, Any, list[Change]], journal: Any = ()) -> Run:
    data, *rows, _ = kept
    run = make()
    if run._worker is None:
        run._prepare()
    worker = run._worker
    trace, path = (
        Trace.holding(now.columns, into.capacity, 2**now.epoch)
        for now, into in zip(rows, (worker.trace, worker.path), strict=True)
    )
    restore(worker, data, trace, path, journal)
    worker.work()
    run.wait()
    return run


def assert_same(run: Run, whole: Run) -> None:
    mine, its = run.result, whole.result
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(mine, name), getattr(its, name), err_msg=name)
    assert (mine.nit, mine.status, mine.message) == (its.nit, its.status, its.message)
    assert run._worker.notes == whole._worker.notes and run.resolved == whole.resolved
    for one, other in ((run.trace, whole.trace), (run.path, whole.path)):
        mine, its = one.snapshot().columns, other.snapshot().columns
        assert mine.keys() == its.keys()
        for name in mine.keys() - {"seconds"}:
            np.testing.assert_array_equal(mine[name], its[name], err_msg=name)
    for one, other in zip(run.hits, whole.hits, strict=True):
        np.testing.assert_array_equal(one.iteration, other.iteration)
        np.testing.assert_array_equal(one.calls, other.calls)
    assert [(c.iteration, c.name, c.old, c.new) for c in run.journal] == [
        (c.iteration, c.name, c.old, c.new) for c in whole.journal
    ]


PAIRS = [(solver, kind) for kind in PROBLEMS for solver in OWN]
"""Every solver with one kind of problem or two, and every kind with two solvers at least; all others are slow."""


@pytest.mark.parametrize(
    "solver, kind",
    [
        pytest.param(*pair, marks=() if {*pair} & {"ZOSPLM", "ZOCEG", "common", *SPECIAL} else pytest.mark.slow)
        for pair in PAIRS
    ],
)
def test_it_goes_on_bit_for_bit_from_any_step(solver: str, kind: str) -> None:
    if SOLVERS[solver]().accepts(PROBLEMS[kind]()) is not None or (solver in GENERAL and kind in SPECIAL):
        pytest.skip("not accepted, or a problem for special methods")

    def make() -> Run:
        return Run(problem=PROBLEMS[kind](), solver=SOLVERS[solver](), replicas=3, iterations=40, seed=2)

    whole = make()
    kept = watched(whole, lambda t: t in (1, 23))
    for stopped in kept.values():
        assert_same(resumed(make, stopped), whole)


def test_the_end_of_a_proximal_stage_is_one_point_of_interruption_more() -> None:
    # There the next centre is the very array of the iterate, which saves a call.
    def make() -> Run:
        return Run(problem=PROBLEMS["exact"](), solver=ProximalPoint(stage_length=5), replicas=2, iterations=17)

    whole = make()
    for stopped in watched(whole, lambda t: t % 5 in (0, 1)).values():
        assert_same(resumed(make, stopped), whole)


def spoilt(x: Array) -> float:
    return np.nan if 0.0 < x[0] < 0.7 else f_at(x)


CASES: dict[str, Callable[[], Run]] = {
    "targets": lambda: Run(
        problem=PROBLEMS["exact"](),
        solver=ZOCEG(),
        replicas=4,
        iterations=400,
        targets={"gap": [1.0, 0.3, 0.1], "violation": 0.05},
        stop_at_targets=True,
    ),
    "a budget of calls": lambda: Run(problem=PROBLEMS["common"](), solver=ZOSPLM(), replicas=2, calls=3001),
    "frozen replicas": lambda: Run(
        problem=BlackBox(spoilt, h_at, bounds=[(-4, 4)] * 2), solver=ZOCEG(), replicas=6, iterations=120, seed=3
    ),
    "a script": lambda: Run(
        problem=PROBLEMS["exact"](),
        solver=ZOSPLM(),
        replicas=2,
        iterations=60,
        script=tuple(
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
    kept = watched(whole, lambda t: t in (1, 20, 21, 50, 100))
    if case == "frozen replicas":
        assert 0 < whole.frozen < 6 and whole.result.failures.sum() > 0
    if case == "targets":
        assert len({tuple(target.iteration) for target in whole.hits}) == 4 and whole.status == "finished"
    for stopped in kept.values():
        assert_same(resumed(CASES[case], stopped), whole)


def test_a_thinned_trace_goes_on_and_so_does_a_run_that_was_stopped() -> None:
    def make() -> Run:
        return Run(problem=PROBLEMS["exact"](), solver=ZOSPLM(), replicas=1, iterations=150)

    def narrow() -> Run:
        run = prepared(make)
        run._worker.trace = Trace(64)
        return run

    whole, kept = narrow(), {}

    def look() -> None:
        worker = whole._worker
        kept[worker.iteration] = capture(worker), worker.trace.snapshot(), worker.path.snapshot(), []

    whole._worker.observer = look
    whole._worker.work()
    stopped = narrow()
    stopped._worker.observer = lambda: stopped.stop() if stopped.progress.iteration == 101 else None
    stopped._worker.work()
    # It ends with a row that has no place in the trace of a run that was never stopped.
    assert stopped.status == "stopped" and stopped.trace["iteration"][-1] == 101 and stopped.trace.stride == 2
    worker = stopped._worker
    kept[101] = capture(worker), worker.trace.snapshot(), worker.path.snapshot(), []
    for at in (60, 64, 65, 101, 149):
        assert_same(resumed(narrow, kept[at]), whole)


def steered() -> Run:
    return Run(problem=PROBLEMS["exact"](), solver=ZOSPLM(), replicas=2, iterations=50)


def test_what_was_steered_after_the_checkpoint_is_steered_again() -> None:
    whole, kept = steered(), {}

    def look() -> None:
        worker = whole._worker
        if worker.iteration in (10, 30):
            kept[worker.iteration] = capture(worker), worker.trace.snapshot(), worker.path.snapshot(), []
        if worker.iteration in (5, 10, 22):
            whole.change("primal_step", 1e-3 * worker.iteration)
            whole.change("estimator.batch_size", worker.iteration)

    whole.run(look)
    assert len(whole.journal) == 6
    for stopped in kept.values():
        assert_same(resumed(steered, stopped, whole.journal), whole)
    assert (resumed(steered, kept[10]).result.x != whole.result.x).any()


def test_a_replay_is_itself_resumed() -> None:
    whole = steered()
    whole.run(lambda: whole.change("primal_step", 1e-3) if whole.progress.iteration == 7 else None)

    def make() -> Run:
        return Run.replay(whole)

    again = make()
    for stopped in watched(again, lambda t: t in (6, 7, 8)).values():
        assert_same(resumed(make, stopped), whole)


# --- values that are logged -------------------------------------------------------------------------------------------


class Counted:
    """A black box that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Array) -> float:
        self.calls += 1
        if self.calls > 9 and np.isnan(spoilt(x)):
            raise ValueError("too near")
        return f_at(x)


def logged(make: Callable[[], Run], log: Log) -> Run:
    run = prepared(make)
    worker = run._worker
    worker.asked = Logged(worker.problem, log)
    return run


@pytest.mark.parametrize("solver", sorted(GENERAL))
@pytest.mark.parametrize("vectorised", [False, True])
def test_what_the_log_has_is_not_paid_again(solver: str, vectorised: bool) -> None:
    count = [0]

    def objective(x: Array) -> Array:
        count[0] += x.size // 2
        return (x[..., 0] - 2.0) ** 2 + (x[..., 1] - 1.0) ** 2

    def constraints(x: Array) -> Array:
        return (x[..., 0] + x[..., 1] - 2.0)[..., None]

    def make() -> Run:
        box = BlackBox(objective, constraints, bounds=[(-4, 4)] * 2, m=1, vectorised=vectorised)
        return Run(problem=box, solver=SOLVERS[solver](), replicas=2, iterations=8, seed=1)

    entries: dict[int, Entry] = {}
    whole = logged(make, Log(write=entries.__setitem__))
    whole._worker.work()
    whole.wait()
    paid, count[0] = count[0], 0
    assert sum(len(entry.x) for entry in entries.values()) == paid == whole.result.calls.sum()
    known = dict(list(entries.items())[: len(entries) // 2])
    later: dict[int, Entry] = {}
    run = logged(make, Log(known, later.__setitem__))
    restore(run._worker, None)
    run._worker.work()
    run.wait()
    assert_same(run, whole)
    assert later.keys() == entries.keys() - known.keys()
    assert count[0] == sum(len(entry.x) for entry in later.values())


def test_the_log_goes_on_after_a_checkpoint() -> None:
    box = Counted()

    def make() -> Run:
        problem = BlackBox(box, h_at, bounds=[(-4, 4)] * 2, m=2, on_error="fail")
        return Run(problem=problem, solver=ZOSPLM(), replicas=4, iterations=30, seed=3)

    entries: dict[int, Entry] = {}
    whole, kept = logged(make, Log(write=entries.__setitem__)), []

    def look() -> None:
        worker = whole._worker
        if worker.iteration == 12:
            kept.extend((capture(worker), worker.trace.snapshot(), worker.path.snapshot()))

    whole._worker.observer = look
    whole._worker.work()
    whole.wait()
    paid, box.calls = box.calls, 9
    assert 0 < whole.frozen < 4 and "ValueError: too near" in whole.result.message
    known = dict(list(entries.items())[:-200])
    run = logged(make, Log(known, lambda ordinal, entry: None))
    data, trace, path = kept
    restore(run._worker, data, Trace.holding(trace.columns), Trace.holding(path.columns, 256))
    run._worker.work()
    run.wait()
    assert_same(run, whole)
    missing = [entry for ordinal, entry in entries.items() if ordinal not in known]
    assert box.calls == 9 + len(missing) == 9 + 200 < paid


def hurried(x: Array) -> float:
    time.sleep(0.004 * (np.abs(x).sum() * 1e3 % 1.0))  # who is done first depends on the point, not on its place
    return f_at(x)


def test_ordinals_do_not_depend_on_who_is_done_first() -> None:
    def make(workers: Any) -> Run:
        problem = BlackBox(hurried, h_at, bounds=[(-4, 4)] * 2, m=2, workers=workers)
        return Run(problem=problem, solver=ZOSPLM(), replicas=3, iterations=3, seed=3)

    course: dict[int, Entry] = {}
    with ThreadPoolExecutor(4) as pool:
        whole = logged(lambda: make(pool), Log(write=course.__setitem__))
        whole._worker.work()
        assert list(course) != sorted(course), "some points overtook others"
        # Whatever had ended when it was interrupted: here every third.
        known = {ordinal: entry for ordinal, entry in course.items() if ordinal % 3 == 0}
        for workers in (pool, None):
            later: dict[int, Entry] = {}
            run = logged(lambda workers=workers: make(workers), Log(known, later.__setitem__))
            run._worker.work()
            assert_same(run, whole)
            assert sorted([*known, *later]) == sorted(course) == list(range(int(run.result.calls.sum())))


def test_steering_and_the_log_go_together() -> None:
    def make() -> Run:
        problem = BlackBox(f_at, h_at, bounds=[(-4, 4)] * 2, m=2)
        return Run(problem=problem, solver=ZOSPLM(), replicas=2, iterations=20)

    entries: dict[int, Entry] = {}
    whole, kept = logged(make, Log(write=entries.__setitem__)), []

    def look() -> None:
        worker = whole._worker
        if worker.iteration == 4:
            kept.extend((capture(worker), worker.trace.snapshot(), worker.path.snapshot()))
        if worker.iteration in (9, 12):
            worker.inbox.post("primal_step", 1e-3 * worker.iteration)

    whole._worker.observer = look
    whole._worker.work()
    data, trace, path = kept
    for start in (None, data):
        run = logged(make, Log(entries, lambda ordinal, entry: pytest.fail("nothing is left to evaluate")))
        rows = Trace.holding(trace.columns), Trace.holding(path.columns, 256)
        restore(run._worker, start, *rows, whole.journal)
        run._worker.work()
        assert_same(run, whole)


def test_other_points_than_those_logged_are_refused() -> None:
    log = Log({0: Entry(np.zeros((1, 2)), np.zeros(1), np.zeros((1, 2)))})
    run = logged(lambda: Run(problem=PROBLEMS["black box"](), solver=ZOSPLM(), replicas=1, iterations=1), log)
    run._worker.work()
    with pytest.raises(ZovizError, match="Expected the points that were asked for before, got others at evaluation 0"):
        run.wait()


# --- bytes ------------------------------------------------------------------------------------------------------------


def test_a_checkpoint_is_small_and_does_not_grow() -> None:
    run = Run(problem=NonconvexQCQP(n=6, noise="independent"), solver=ZOSPLM(), replicas=8, iterations=700)
    sizes = {t: len(kept[0]) for t, kept in watched(run, lambda t: t in (10, 699)).items()}
    assert max(sizes.values()) < 20_000 and abs(sizes[10] - sizes[699]) < 500, sizes


def test_there_is_none_in_the_midst_of_a_step_or_of_a_library() -> None:
    run = Run(problem=PROBLEMS["exact"](), solver=ZOSPLM(), replicas=1, calls=200)
    run.run()
    assert run._worker.spent_calls and capture(run._worker) is None
    assert capture(prepared(lambda: Run(problem=PROBLEMS["exact"](), solver=ZOSPLM()))._worker) is None
    for name in SOLVERS.keys() - set(OWN):
        run = Run(problem=PROBLEMS["black box"](), solver=SOLVERS[name](), replicas=1, iterations=2)
        run.run()
        assert capture(run._worker) is None


def test_nested_values_come_back_as_they_were() -> None:
    shared, bits = np.arange(6.0).reshape(2, 3), np.array([np.nan, -0.0, np.inf, 5e-324])
    change = Change(3, 4, 0.1 + 0.2, "a", None, np.int64(7))
    value = {"a": [shared, (shared, True, 2**127)], ("b", 1): change, "c": bits, "d": np.empty((0, 4)), "e": "ü\n"}
    back = unpack(pack(value))
    assert back["a"][0] is back["a"][1][0] and back["a"][1][1:] == (True, 2**127)
    assert back["b", 1] == change and isinstance(back["b", 1], Change) and type(back["b", 1].new) is np.int64
    assert back["c"].tobytes() == bits.tobytes() and back["d"].shape == (0, 4) and back["e"] == "ü\n"
    np.testing.assert_array_equal(back["a"][0], shared)


@pytest.mark.parametrize("value", [{1, 2}, object(), np.array([object()]), lambda: 0, b"bytes"])
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(ZovizError, match="Expected (arrays|an array) of numbers"):
        pack({"state": value})


def test_damaged_bytes_are_found_out() -> None:
    data = pack({"a": np.arange(50.0)})
    for broken in (data[:-9], data[:100] + bytes([data[100] ^ 1]) + data[101:], b"", b"zoviz pack 9\n" + data[14:]):
        with pytest.raises(ZovizError, match="Expected"):
            unpack(broken)


def test_no_module_is_imported_for_a_name() -> None:
    change = pack(Change(1, 2, 3.0, "a", 1, 2))
    assert b"zoviz.runs.journal:Change" in change
    for name in ("antigravity:Change_______", "subprocess:Popen_________", "builtins:eval____________"):
        from zoviz.runs import packing

        spelt = {"named": name.rstrip("_"), "parts": []}
        with pytest.raises(ZovizError, match="Expected a NamedTuple at"):
            packing._Reader({}).read(spelt)
