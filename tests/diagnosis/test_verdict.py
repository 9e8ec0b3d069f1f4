"""The verdict on a run: right on labelled runs, quick, and never "converging" of one that runs away."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from zoviz import Run
from zoviz.diagnosis.course import FEWEST_ROWS
from zoviz.diagnosis.verdict import AT_REST, Verdict, Word, verdict, verdict_of
from zoviz.papers.robustness.labelled_runs import BAD, BOXED, GOOD, LOST, Case, cases, run_of
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP
from zoviz.runs.engine.columns import DUAL
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.engine.trace import Snapshot
from zoviz.solvers import ZOCEG, ZOSPLM

LABELLED = list(cases())
QUICK = LABELLED[:6]


def course(gap: np.ndarray, violation: np.ndarray | None = None) -> Snapshot:
    """A trace of one replica."""
    steps = np.arange(gap.size, dtype=float)
    columns = {"iteration": steps, "calls": 10.0 * steps[:, None], "gap": gap[:, None]}
    return Snapshot(columns | ({} if violation is None else {"violation": violation[:, None]}), gap.size, 0)


def test_the_labelled_set_has_every_kind_of_run() -> None:
    assert len(LABELLED) >= 60 and len({case.name for case in LABELLED}) == len(LABELLED)
    assert {word for case in LABELLED for word in case.words} >= set(Word) - {Word.EARLY, Word.SETTLED}


def test_a_run_that_goes_on_is_not_said_to_be_at_rest_before_it_had_time() -> None:
    plateau = np.r_[1.0, np.full(19, 0.2)]
    assert verdict(course(plateau)).word is Word.EARLY
    assert verdict(course(plateau), status=RunStatus.FINISHED).word is Word.STALLED
    assert verdict(course(10.0 ** -np.linspace(0, 3, 20))).word is Word.CONVERGING
    assert verdict(course(10.0 ** np.linspace(0, 3, 20))).word is Word.DIVERGING


def test_a_run_that_goes_on_is_not_at_rest_while_one_of_gap_and_violation_falls() -> None:
    """ZO-SPLM on the nonconvex QCQP at iteration 46: the gap falls from 80 to 1.7, and the violation stands at 10."""
    falls = np.r_[np.geomspace(400.0, 80.0, 23), np.geomspace(80.0, 1.7, 23)]
    stands = np.r_[np.geomspace(588.0, 0.4, 20), np.geomspace(2.0, 10.0, 6), np.full(20, 10.0)]
    judged = verdict(course(falls, stands))
    assert judged.word is Word.EARLY and "the gap is falling, the violation not yet; gap 3.4" in judged.sentence
    plateau = np.r_[np.geomspace(400.0, 300.0, 26), np.full(20, 300.0)]
    judged = verdict(course(plateau, falls))
    assert judged.word is Word.EARLY and "the violation is falling, the gap not yet" in judged.sentence
    for at_rest in (verdict(course(falls, stands), status=RunStatus.FINISHED), verdict(course(stands, stands))):
        assert at_rest.word in AT_REST
    swings = np.where(np.arange(46) // 7 % 2, 100.0, 20.0)
    assert verdict(course(swings, np.full(46, 10.0))).word in AT_REST


def test_a_run_that_went_on_a_detour_is_not_called_diverging_on_its_way_back() -> None:
    """ZOCEG on the pressure vessel: a violation of 1.3e6 up to iteration 80, and of 153 at iteration 120."""
    gap, near = np.geomspace(2e5, 200.0, 120), np.full(20, 1.5)
    away = np.r_[near, np.geomspace(10.0, 1e6, 20), np.full(40, 1.3e6)]
    assert verdict(course(gap[:80], away)).word is Word.DIVERGING
    back = np.r_[away, np.geomspace(1e6, 100.0, 40)]
    judged = verdict(course(gap, back))
    assert judged.word is Word.EARLY and judged.sentence.startswith("Recovering after divergence: gap")
    slowly = np.r_[away, np.geomspace(1e6, 3e4, 10), np.full(70, 3e4)]
    assert verdict(course(np.geomspace(2e5, 200.0, 160), slowly)).word is Word.EARLY
    for status in (RunStatus.RUNNING, RunStatus.FINISHED):
        jumps = np.r_[near, np.where(np.arange(100) % 3, 1e6, 1e3)]
        assert verdict(course(gap, jumps), status=status).word is Word.DIVERGING
    assert verdict(course(gap, back), status=RunStatus.FINISHED).word is Word.DIVERGING


@pytest.mark.slow
def test_verdicts_on_the_labelled_runs_are_right() -> None:
    judged = [(case, verdict_of(run_of(case))) for case in LABELLED]
    wrong = [f"{case.name}: {made.word}" for case, made in judged if made.word not in case.words]
    print(f"{len(judged) - len(wrong)} of {len(judged)} right; wrong: {wrong}")
    assert len(wrong) <= 0.05 * len(judged)
    assert not [case.name for case, made in judged if case.words in (BAD, BOXED, LOST) and made.word in GOOD]


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_a_few_of_them_in_short(case: Case) -> None:
    assert verdict_of(run_of(case, replicas=2)).word in case.words


def test_a_problem_without_feasible_points_is_said_to_be_infeasible() -> None:
    problem = BlackBox(lambda x: float(x @ x), lambda x: [1.0 - x[0], x[0] + 1.0], bounds=[(-3.0, 3.0)] * 3)
    run = Run(problem, ZOCEG(), replicas=2, iterations=200)
    run.run()
    judged = verdict_of(run)
    assert judged.word is Word.INFEASIBLE and "no longer falls" in judged.sentence


@pytest.mark.parametrize(
    ("gap", "word"),
    [
        (10.0 ** -np.linspace(0, 3, 50), Word.CONVERGING),
        (np.full(50, 1.0), Word.STALLED),
        (np.r_[np.geomspace(1.0, 1e-2, 25), np.full(25, 1e-2)], Word.STALLED),
        (np.geomspace(1.0, 1e-9, 50), Word.SOLVED),
        (10.0 ** np.linspace(0, 3, 50), Word.DIVERGING),
        (np.r_[np.geomspace(1.0, 1e-2, 25), np.geomspace(1e-2, 1e4, 25)], Word.DIVERGING),
        (np.r_[1.0, np.where(np.arange(49) % 2, 0.5, 0.01)], Word.OSCILLATING),
        (np.ones(FEWEST_ROWS - 1), Word.EARLY),
    ],
)
def test_plain_courses(gap: np.ndarray, word: Word) -> None:
    assert verdict(course(gap)).word is word
    assert verdict(course(gap, np.zeros(gap.size))).word is word


def test_the_rate_is_calls_per_digit_and_divergence_names_its_change() -> None:
    assert "167 calls per digit" in verdict(course(10.0 ** -np.linspace(0, 3, 51)), status=RunStatus.RUNNING).sentence
    gap = np.r_[np.geomspace(1.0, 1e-2, 30), np.geomspace(1e-2, 1e4, 30)]
    run = Run(NonconvexQCQP(n=3), ZOSPLM(primal_step=1e-4), replicas=1, iterations=40)

    def steer() -> None:
        if run.progress.iteration == 29:
            run.set({"primal_step": 2e-4})

    run.run(steer)
    sentence = verdict(course(gap), changes=run.journal).sentence
    assert "since iteration 29" in sentence and "after primal_step was changed at iteration 29" in sentence


def test_figures_say_that_they_are_of_the_middle_of_the_replicas() -> None:
    """One of five ends far from feasible, which the median does not show, and the run's own message says beside it."""
    one = course(10.0 ** -np.linspace(0, 3, 50), np.append(1e-3, np.zeros(49)))
    assert verdict(one).sentence.endswith("violation 0.")
    five = {name: np.repeat(values, 5, axis=1) for name, values in one.columns.items() if values.ndim == 2}
    five["violation"] = np.column_stack([np.full(50, 17.0), *np.zeros((4, 50))])
    assert verdict(Snapshot(one.columns | five, 50, 0)).sentence.endswith(
        "violation 0 (medians of 5 replicas; 1 infeasible)."
    )


def test_a_violation_barely_beyond_the_tolerance_is_not_called_infeasible() -> None:
    """ZOSQP's points on HS43: 1.03e-6 for a tolerance of 1e-6, from a feasible start."""
    gap, outside = 10.0 ** -np.linspace(0, 3, 50), np.append(0.0, np.full(49, 1.0))
    assert verdict(course(gap, 1.03e-6 * outside)).word is not Word.INFEASIBLE
    assert verdict(course(gap, 1e-5 * outside), status=RunStatus.FINISHED).word is Word.INFEASIBLE


def test_a_run_is_not_called_good_while_a_quarter_of_its_replicas_stays_outside() -> None:
    """SZO-ConEX on load tracking: a gap that falls, and five of twenty replicas far from feasible."""
    gap, feasible = 10.0 ** -np.linspace(0, 3, 50), np.zeros(50)
    outside = np.where(np.arange(50) % 2, 20.0, 30.0)
    columns = course(gap, feasible).columns | {"gap": np.tile(gap[:, None], 20), "calls": np.ones((50, 20))}
    columns["calls"] *= 10.0 * np.arange(50)[:, None]
    for count, word in ((4, Word.CONVERGING), (5, Word.INFEASIBLE)):
        columns["violation"] = np.column_stack([outside] * count + [feasible] * (20 - count))
        judged = verdict(Snapshot(columns, 50, 0), status=RunStatus.FINISHED)
        assert judged.word is word
    assert "violation 2.5e+01 (median gap, upper quartile of the violation of 20 replicas; 5 inf" in judged.sentence
    judged = verdict(Snapshot(columns, 50, 0))
    assert judged.word is Word.EARLY and "the violation not yet; gap 1.9e-03, violation 2.5" in judged.sentence


def test_a_violation_that_is_small_beside_the_starts_does_not_count_as_outside() -> None:
    rests = np.r_[np.geomspace(1.0, 1e-8, 25), np.full(25, 1e-8)]
    columns = course(rests).columns | {name: np.ones((50, 20)) for name in ("gap", "calls", "violation")}
    columns["gap"] *= rests[:, None]
    columns["calls"] *= 10.0 * np.arange(50)[:, None]
    columns["violation"][:, :5] = 1e3 * rests[:, None]
    columns["violation"][:, 5:] = 0.0
    assert verdict(Snapshot(columns, 50, 0)).word is Word.SOLVED


def test_an_edge_of_the_tolerance_does_not_hide_that_a_run_solves_its_problem() -> None:
    """ZOSQP on HS43, of which the trace knows no optimum: the violation is 1.006e-6 from the third row on."""
    residual = np.r_[np.geomspace(23.0, 9e-4, 30), np.full(20, 9e-4)]
    edge = course(residual, np.r_[0.0, 0.0, np.full(48, 1.006e-6)])
    columns = {"stationarity" if name == "gap" else name: values for name, values in edge.columns.items()}
    assert verdict(Snapshot(columns, 50, 0)).word is Word.SOLVED
    columns["stationarity"] = np.maximum(residual, 0.05)[:, None]  # at rest, and not near
    judged = verdict(Snapshot(columns, 50, 0))
    assert judged.word is Word.STALLED and "since about iteration 0:" not in judged.sentence


def test_a_run_that_rests_at_a_small_share_of_its_starts_gap_is_solved_to_so_many_digits() -> None:
    """ZO-SPLM at its smoothing's floor on the QCQP: a gap of 2e-8 and a violation of 9e-9 of the start's."""
    gap = np.r_[np.geomspace(385.0, 8.6e-6, 30), np.full(20, 8.6e-6)]
    violation = np.r_[np.geomspace(588.0, 5.1e-6, 30), np.full(20, 5.1e-6)]
    judged = verdict(course(gap, violation), status=RunStatus.FINISHED)
    assert judged.word is Word.SOLVED and judged.sentence.startswith(
        "Gap reduced 10⁷-fold; no progress since iteration "
    )
    for rests in (course(np.maximum(gap, 5e-3), violation), course(gap, np.maximum(violation, 1e-3))):
        assert verdict(rests, status=RunStatus.FINISHED).word is Word.STALLED


def test_of_a_problem_without_constraints_no_violation_is_told() -> None:
    gap = 10.0 ** -np.linspace(0, 3, 50)
    plain, multiplied = course(gap, np.zeros(50)), course(gap, np.zeros(50))
    assert verdict(plain).sentence.endswith(": gap 1.9e-03.") and verdict(course(gap)).sentence.endswith("gap 1.9e-03.")
    multiplied = Snapshot(multiplied.columns | {DUAL: np.ones((50, 1, 2))}, 50, 0)
    assert verdict(multiplied).sentence.endswith(": gap 1.9e-03, violation 0.")
    assert verdict(plain, constrained=True).sentence.endswith(": gap 1.9e-03, violation 0.")
    assert verdict(multiplied, constrained=False).sentence.endswith("gap 1.9e-03.")


def test_a_run_that_reached_its_floor_a_fifth_ago_is_not_converging_and_slow_ones_are() -> None:
    steps = np.arange(1.0, 201.0)
    noise = np.exp(0.1 * np.random.default_rng(3).standard_normal(200))
    floor = np.maximum(10.0 ** (-4.0 * steps / 200.0), 10.0**-3.1)
    judged = verdict(course(floor), status=RunStatus.FINISHED)
    assert judged.word is Word.STALLED and "no progress since iteration 13" in judged.sentence
    assert verdict(course(floor * noise), status=RunStatus.FINISHED).word is Word.STALLED
    for falling in (10.0 ** (-4.0 * steps / 200.0), 1.0 / steps, 1.0 / np.sqrt(steps), noise / steps):
        assert verdict(course(falling), status=RunStatus.FINISHED).word is Word.CONVERGING


def test_values_that_leave_every_scale_are_a_divergence_whatever_is_measured_beside_them() -> None:
    snapshot = course(10.0 ** -np.linspace(0, 3, 50))
    objective = np.geomspace(1.0, 1e30, 50)[:, None]
    assert verdict(Snapshot(snapshot.columns | {"objective": objective}, 50, 0)).word is Word.DIVERGING
    broken = np.r_[np.geomspace(1.0, 1e-2, 30), np.full(20, np.nan)]
    assert verdict(course(broken)).word is Word.DIVERGING


@pytest.fixture
def unknown() -> Iterator[dict[str, np.ndarray]]:
    steps = np.arange(60.0)
    yield {"iteration": steps, "calls": steps[:, None], "violation": np.zeros((60, 1))}


def test_without_an_optimum_it_says_no_more_than_the_objective_does(unknown: dict[str, np.ndarray]) -> None:
    falls = {"objective": -np.linspace(0.0, 40.0, 60)[:, None]}
    rests = {"objective": np.r_[np.linspace(5.0, 1.0, 20), np.ones(40)][:, None]}
    assert verdict(Snapshot(unknown | falls, 60, 0)).word is Word.CONVERGING
    judged = verdict(Snapshot(unknown | rests, 60, 0))
    assert judged.word is Word.SETTLED and "optimum is unknown" in judged.sentence


def test_targets_that_all_replicas_have_hit_are_solved() -> None:
    run = Run(LoadTracking(n=3), ZOCEG(), replicas=2, iterations=60, targets={"gap": 10.0})
    run.run()
    assert verdict_of(run) == Verdict(Word.SOLVED, "Solved: every replica has hit every target.")
