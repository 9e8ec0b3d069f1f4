"""Points of later batches: told whenever they are there, by whoever; points and results stay those of a run."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from zoviz import AskTell, Run
from zoviz.core.types import Array
from zoviz.papers.minimize.simulated_workers import Course, equal, simulated, tenfold
from zoviz.problems import BlackBox
from zoviz.solvers import ZOSQP

N, CALLS = 4, 400
CENTRE = np.linspace(-1.0, 1.0, N)


def smooth(x: Array) -> tuple[float, Array]:
    """A valley and a disc."""
    f = float(((x - CENTRE) ** 2).sum() + 5.0 * (x[1] - x[0] ** 2) ** 2)
    return f, np.array([float((x**2).sum() - 1.0)])


def values(number: int, x: Array) -> tuple[float, Array]:
    """The same with noise that depends on the point alone."""
    noise = np.random.default_rng(np.abs(x).view(np.uint64)).standard_normal(2)
    f, h = smooth(x)
    return f + 1e-2 * noise[0], h + 1e-2 * noise[1]


def joint(x: Array) -> tuple[float, Array]:
    return values(0, x)


def problem() -> BlackBox:
    return BlackBox(joint, bounds=[(-2, 2)] * N, x0=np.full(N, 0.4), joint=True, m=1, noise="independent")


def session(workers: int, calls: int = CALLS) -> AskTell:
    return AskTell(problem(), ZOSQP(parallel_calls=workers), calls=calls, seed=3)


def by_workers(workers: int, seconds, lifetime: float = np.inf, calls: int = CALLS) -> tuple[AskTell, Course]:
    made = session(workers, calls)
    return made, simulated(made, values, seconds, workers, lifetime)


def begun(made: AskTell) -> AskTell:
    """The session as soon as it has points ahead."""
    while not len(made.ahead().ids):
        batch = made.ask()
        f, h = zip(*(joint(x) for x in batch.x), strict=True)
        made.tell(batch, f, h)
    return made


def test_the_course_is_that_of_a_run_whoever_is_first_and_whoever_dies() -> None:
    run = Run(problem(), ZOSQP(parallel_calls=8), replicas=1, calls=CALLS, seed=3)
    run.run()
    lost = []
    for seed, lifetime in ((0, np.inf), (1, np.inf), (1, 5.0)):
        made, course = by_workers(8, tenfold(seed), lifetime)
        np.testing.assert_array_equal(made.result.x, run.result.x)
        np.testing.assert_array_equal(made.worker.trace["objective"], run.trace["objective"])
        assert made.result.calls == run.result.calls
        lost.append(course.lost)
    assert lost[:2] == [0, 0] and lost[2] > 3


def test_without_noise_too_and_all_calls_are_of_the_budget() -> None:
    exact = BlackBox(smooth, bounds=[(-2, 2)] * N, x0=np.full(N, 0.4), joint=True, m=1, noise="deterministic")
    run = Run(exact, ZOSQP(parallel_calls=8), replicas=1, calls=CALLS, seed=3)
    run.run()
    for seed, lifetime in ((0, np.inf), (1, 5.0)):
        made, begun = AskTell(exact, ZOSQP(parallel_calls=8), calls=CALLS, seed=3), set()

        def noted(number: int, x: Array, begun: set[int] = begun) -> tuple[float, Array]:
            begun.add(number)
            return smooth(x)

        simulated(made, noted, tenfold(seed), 8, lifetime)
        np.testing.assert_array_equal(made.result.x, run.result.x)
        np.testing.assert_array_equal(made.worker.trace["objective"], run.trace["objective"])
        assert len(begun) == made.result.calls[0] == CALLS


def test_workers_of_unequal_durations_hardly_wait() -> None:
    (_, even), (_, uneven) = by_workers(8, equal, calls=1000), by_workers(8, tenfold(0), calls=1000)
    assert uneven.seconds < 1.2 * even.seconds
    assert even.idle < 0.1 and uneven.idle < 0.16


def test_no_id_comes_twice_and_each_stays_with_its_point() -> None:
    made, places = session(8), {}
    while not made.done:
        for batch in (made.ask(), made.ahead()):
            for i, x in zip(batch.ids.tolist(), batch.x, strict=True):
                assert np.array_equal(places.setdefault(i, x), x)
        batch = made.ask()
        f, h = zip(*(joint(x) for x in batch.x), strict=True)
        made.tell(batch, f, h)
    assert sorted(places) == list(range(CALLS)) and made.result.calls == CALLS


def test_values_ahead_go_through_a_pickle_and_are_refused_a_second_time() -> None:
    made = begun(session(8))
    early = made.ahead().take([1, 2])
    f, h = zip(*(joint(x) for x in early.x), strict=True)
    made.tell(early, f, h)
    made = pickle.loads(pickle.dumps(made))
    assert not np.isin(early.ids, made.ahead().ids).any()
    with pytest.raises(ValueError, match="that are open"):
        made.tell(early, f, h)
    asked = made.ask()
    made.tell(asked, *zip(*(joint(x) for x in asked.x), strict=True))
    assert not np.isin(early.ids, made.ask().ids).any(), "they are known"


def test_without_parallel_calls_or_with_replicas_nothing_is_ahead() -> None:
    several = AskTell(problem(), ZOSQP(parallel_calls=8), calls=120, seed=3, replicas=2)
    counts = []
    for made in (session(1, 120), several):
        while not made.done:
            counts.append(len(made.ahead().ids))
            batch = made.ask()
            made.tell(batch, *zip(*(joint(x) for x in batch.x), strict=True))
    assert len(counts) > 20 and not any(counts)


def test_the_start_is_called_by_all_workers_at_once_where_it_will_be_called_again() -> None:
    made = session(8)
    batch, early = made.ask(), made.ahead()
    assert len(batch.ids) == 1 and len(early.ids) == 12
    same = (early.x == batch.x).all(axis=1)
    np.testing.assert_array_equal(same, [False] * 4 + [True] * 8)  # those that tell the units, and the noise
    noisy = AskTell(BlackBox(joint, bounds=[(-2, 2)] * N, x0=np.full(N, 0.4), joint=True, m=1), ZOSQP(parallel_calls=8))
    assert len(noisy.ask().ids) == 1
    assert not (noisy.ahead().x == noisy.ask().x).all(axis=1).any(), "nobody has said that values differ"


def test_without_noise_the_first_differences_begin_with_the_call_at_the_start() -> None:
    exact = BlackBox(smooth, bounds=[(-2, 2)] * N, x0=np.full(N, 0.4), joint=True, m=1, noise="deterministic")
    made = AskTell(exact, ZOSQP(parallel_calls=8), calls=CALLS, seed=3)
    early = made.ahead()
    assert len(made.ask().ids) == 1 and len(early.ids) == 4 + N
    for batch in (early, made.ask()):
        made.tell(batch, *zip(*map(smooth, batch.x), strict=True))
    assert not np.isin(made.ask().ids, early.ids).any() and made.worker.progress.counts["calls"] == 5 + N
