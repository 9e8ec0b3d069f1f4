"""When an answer stands, by hand, and runs that end by it."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import BlackBox, Run, minimize
from zoviz.core.types import Array
from zoviz.oracle import Account, Purpose
from zoviz.runs.engine.confidence import BUDGET, CONFIDENT, FIRST, Confidence
from zoviz.runs.engine.stopping import Ending
from zoviz.solvers import ZOSPLM, ZOSQP
from zoviz.solvers.base import Searches


def searches(ended: int, minima: int, settling: float = np.inf, elsewhere: int = 0) -> Searches:
    """Those of one replica."""
    return Searches(np.array([ended]), np.array([minima]), np.array([settling]), np.array([elsewhere]))


def course(stop: str, rows: list[tuple[int, int, int, float]], accuracy: float = 1e-6) -> list[bool]:
    """Whether the answer of one replica stands after each row: searches ended, minima, calls, best f."""
    confidence = Confidence(1, stop, accuracy)
    return [
        bool(confidence.stands(searches(ended, minima), np.array([calls]), np.array([best]))[0])
        for ended, minima, calls, best in rows
    ]


def test_another_search_and_half_as_many_calls_again() -> None:
    rows = [(0, 1, 10, 5.0), (0, 1, 20, 1.0), (1, 1, 24, 1.0), (2, 1, 28, 1.0), (2, 1, 29, 1.0), (2, 1, 30, 1.0)]
    assert course(CONFIDENT, rows) == [False] * 5 + [True], "20 calls to the answer, so 30 in all"
    assert course(CONFIDENT, [*rows[:3], (1, 1, 300, 1.0)])[-1] is False, "no further search has ended"


def test_several_minima_ask_for_three_times_as_many() -> None:
    rows = [(0, 1, 20, 1.0), (1, 1, 24, 1.0), (2, 2, 79, 1.0), (2, 2, 80, 1.0)]
    assert course(CONFIDENT, rows) == [False, False, False, True]


def test_a_fall_begins_the_count_anew_and_one_within_the_accuracy_does_not() -> None:
    rows = [(0, 1, 20, 1.0), (1, 1, 24, 1.0), (2, 1, 30, 0.5), (3, 1, 44, 0.5), (4, 1, 45, 0.5)]
    assert course(CONFIDENT, rows) == [False, False, False, False, True]
    rows = [(0, 1, 20, 1.0), (1, 1, 24, 1.0), (2, 1, 30, 1.0 - 1e-8)]
    assert course(CONFIDENT, rows)[-1] is True
    assert course(CONFIDENT, [(0, 1, 20, 1.0), (1, 1, 24, 1.0), (2, 1, 30, 0.9)], accuracy=0.2)[-1] is True


def test_a_search_from_the_best_point_alone_tells_nothing_of_other_places() -> None:
    one = Confidence(1, CONFIDENT, 1e-6)
    for ended, elsewhere in ((1, 0), (2, 0)):
        one.stands(searches(ended, 1, elsewhere=elsewhere), np.array([20]), np.array([1.0]))
    assert "Other places were not searched" in one.sentence
    one.stands(searches(3, 1, elsewhere=1), np.array([40]), np.array([1.0]))
    assert one.sentence == "The answer stands: further searches found nothing better."


def test_without_a_feasible_point_nothing_stands() -> None:
    assert course(CONFIDENT, [(0, 1, 20, np.inf), (5, 1, 900, np.inf)]) == [False, False]
    assert course(FIRST, [(0, 1, 20, np.inf), (1, 1, 30, np.inf), (1, 1, 31, 2.0), (2, 1, 40, 2.0)])[-2:] == [
        False,
        True,
    ]


def test_searches_that_ended_at_no_minimum_solve_nothing() -> None:
    """As on a plateau, or where a better point was met before the searches began."""
    rows = [(0, 0, 20, 1.0), (3, 0, 90, 1.0)]
    assert course(FIRST, rows) == course(CONFIDENT, rows) == [False, False]
    one = Confidence(1, BUDGET, 1e-6)
    for ended, minima in ((1, 0), (2, 0)):
        one.stands(searches(ended, minima), np.array([30]), np.array([1.0]))
    assert not one.solved[0]
    one.stands(searches(3, 1), np.array([40]), np.array([1.0]))
    assert one.solved[0]


def test_members_that_count_anew() -> None:
    rows = [(3, 1, 20, 1.0), (4, 1, 24, 1.0), (0, 1, 32, 1.0)]
    assert course(CONFIDENT, rows) == [False, False, True]


def test_it_goes_on_from_what_it_has_seen() -> None:
    one = Confidence(1, CONFIDENT, 1e-6)
    one.stands(searches(1, 1), np.array([20]), np.array([1.0]))
    other = Confidence(1, CONFIDENT, 1e-6)
    other.restore(one.snapshot())
    last = searches(3, 1), np.array([30]), np.array([1.0])
    assert one.stands(*last)[0] and other.stands(*last)[0] and not Confidence(1, CONFIDENT, 1e-6).stands(*last)[0]


def bowl(x: Array) -> tuple[float, list[float]]:
    return float(np.square(x - 1.0).sum()), [float(x[0] + x[1] - 1.0)]


def test_a_run_ends_when_its_answer_stands_and_takes_the_same_points_until_then() -> None:
    problem = BlackBox(bowl, joint=True, m=1, bounds=[(-5, 5)] * 2, x0=[3.0, 3.0])
    runs = {stop: Run(problem, ZOSQP(), replicas=1, calls=600, stop_when=stop) for stop in (FIRST, CONFIDENT, BUDGET)}
    calls = {stop: run.run().calls[0] for stop, run in runs.items()}
    assert calls[FIRST] < calls[CONFIDENT] < 150 and calls[BUDGET] == 600
    assert runs[CONFIDENT].result.ending is Ending.SOLVED and "The answer stands" in runs[CONFIDENT].message
    assert runs[FIRST].result.ending is Ending.SOLVED and "first local search" in runs[FIRST].message
    np.testing.assert_allclose(runs[CONFIDENT].result.x, 0.5, atol=1e-5)
    whole, part = (runs[stop].path["x"][:4] for stop in (BUDGET, CONFIDENT))
    np.testing.assert_array_equal(whole, part)


def test_nothing_stands_where_rounding_hides_every_slope() -> None:
    def rounded(x: Array) -> tuple[float, list[float]]:
        f, h = bowl(x)
        return round(f, 3), [round(h[0], 3)]

    result = minimize(rounded, [0.2, 0.3], joint=True, bounds=[(-3, 3)] * 2, method="ZOSQP", max_calls=200)
    assert result.fun < 0.6 and (result.status is not Ending.SOLVED or result.fun < 0.51)


def test_what_a_person_is_told_of_places_that_were_not_searched() -> None:
    """Schwefel's function: the first search ends in a minimum far above others."""

    def schwefel(x: Array) -> float:
        return float(837.9658 - (x * np.sin(np.sqrt(np.abs(x)))).sum())

    few, all_calls = (
        minimize(schwefel, [100, -50], bounds=[(-500, 500)] * 2, stop=stop) for stop in ("confident", BUDGET)
    )
    assert few.fun > 100.0 and few.nfev < 300 and "Other places were not searched" in few.message
    assert all_calls.fun < 1e-3 and all_calls.nfev == 3000


@pytest.mark.parametrize("constant", [0.0, 7.5])
def test_a_constant_needs_no_further_calls_where_constraints_hold(constant: float) -> None:
    """Who looks for a feasible point alone writes such an objective."""
    result = minimize(lambda x: (constant, [2.0 - x[0] - x[1], x[0] ** 2 - 3.0]), [0.0, 0.0], joint=True)
    assert result.status is Ending.SOLVED and result.success and result.fun == constant and result.nfev < 300
    assert "the objective had the same value at all points" in result.message


def test_the_accuracy_is_minimizes_tol() -> None:
    fine, coarse = (minimize(bowl, [3.0, 3.0], joint=True, tol=tol) for tol in (1e-12, 1e-2))
    assert coarse.nfev <= fine.nfev < 400 and coarse.success and fine.success


def test_what_minimize_says_of_its_end() -> None:
    assert minimize(bowl, [3.0, 3.0], joint=True).status is Ending.SOLVED
    few = minimize(bowl, [3.0, 3.0], joint=True, max_calls=9)
    assert few.status is Ending.BUDGET and few.feasible and not few.success
    outside = minimize(lambda x: (x @ x, [1.0 + x @ x]), [3.0, 3.0], joint=True, max_calls=60)
    assert outside.status is Ending.INFEASIBLE and not outside.success and not outside.feasible
    stopped = minimize(bowl, [3.0, 3.0], joint=True, callback=lambda x: True)
    assert stopped.status is Ending.STOPPED and not stopped.success


def test_under_noise_the_budget_falls_once_all_active_replicas_are_at_the_floor() -> None:
    floor, everyone = np.array([9.0, np.inf]), np.array([True, True])
    none = np.zeros(2, dtype=int)
    both = Searches(none, none, floor, none)
    one, account = Confidence(2, CONFIDENT, 1e-6), Account(2, {"calls": 500})
    account.pay(account.bill(np.array([80, 90]), (), own=False), Purpose.BASE)
    one.settle(both, account, everyone)
    one.settle(None, account, everyone)
    assert one.last_call is None and account.limit == 500, "one is still on its way"
    one.settle(both, account, np.array([True, False]))
    assert one.last_call == account.limit == 89
    assert one.sentence == "Noise hides what further steps would gain.", "without a feasible point nothing stands"
    one.stands(both, account.calls, np.array([1.0, 2.0]))
    assert one.sentence == "The answer stands: noise hides what further steps would gain."
    one.settle(both._replace(settling=np.array([0.0, 0.0])), account, everyone)
    assert account.limit == 89, "once and for all"
    other = Confidence(2, BUDGET, 1e-6)
    other.restore(one.snapshot())
    other.settle(both._replace(settling=np.zeros(2)), account, everyone)
    assert other.last_call is None and account.limit == 89, "a run that goes on to spend its budget"


def noisy_bowl(calls: int | None, stop: str, replicas: int = 1) -> Run:
    """A run on the bowl with noise of 0.01 in f and h."""
    problem = BlackBox(
        bowl, joint=True, m=1, bounds=[(-5, 5)] * 2, x0=[3.0, 3.0], noise="independent", noise_scale=0.01
    )
    return Run(problem, ZOSQP(), replicas=replicas, calls=calls, stop_when=stop, seed=3)


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_noisy_run_ends_at_its_noise_floor_after_a_race(replicas: int) -> None:
    runs = {stop: noisy_bowl(1200, stop, replicas) for stop in (CONFIDENT, BUDGET)}
    calls = {stop: int(run.run().calls.max()) for stop, run in runs.items()}
    assert calls[CONFIDENT] < 0.85 * calls[BUDGET] and calls[BUDGET] == 1200
    result = runs[CONFIDENT].result
    assert result.ending is Ending.NOISE_FLOOR and "noise hides" in runs[CONFIDENT].message
    assert runs[BUDGET].result.ending is Ending.BUDGET
    np.testing.assert_allclose(result.x, 0.5, atol=0.1)
    races = result.ledger.calls[Purpose.VERIFICATION]
    assert (races >= 0.05 * result.calls).all() and (races <= 0.12 * result.calls + 2).all()
    whole, part = (runs[stop].path["x"][:20] for stop in (BUDGET, CONFIDENT))
    np.testing.assert_array_equal(whole, part)


def test_a_noisy_run_without_a_budget_ends_by_itself() -> None:
    run = noisy_bowl(None, CONFIDENT)
    run.iterations = 10_000
    result = run.run()
    assert result.ending is Ending.NOISE_FLOOR and result.calls[0] < 2100


@pytest.mark.parametrize("stop", [CONFIDENT, BUDGET])
def test_a_method_without_searches_spends_its_budget(stop: str) -> None:
    result = minimize(bowl, [3.0, 3.0], joint=True, method=ZOSPLM, stop=stop, max_calls=200)
    assert result.status is Ending.BUDGET and 180 < result.calls <= 200


def test_endings_have_words_and_tell_successes() -> None:
    assert [one.words for one in Ending if one.success] == ["solved", "noise floor"]
    assert Ending.NOTHING_TO_DO.words == "nothing to do" and int(Ending.BUDGET) == 2
