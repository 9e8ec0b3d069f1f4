"""Verdicts under noise, at the end of a budget, and after changes of parameters."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from zoviz import BlackBox, Run
from zoviz.core.registry import discover
from zoviz.diagnosis.noise_floor import NoiseScale
from zoviz.diagnosis.verdict import RunContext, Verdict, Word, context_of, verdict, verdict_of
from zoviz.problems import LoadTracking, NonconvexQCQP
from zoviz.runs.engine.columns import VALUE_NOISE
from zoviz.runs.engine.steering import Change
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.engine.trace import Snapshot
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG, ZOSPLM, ZOSQP
from zoviz.solvers.base import Solver

CUT = RunContext(budget_spent=True)
ENDED = RunStatus.FINISHED


class Set(NamedTuple):
    """A change of a parameter."""

    iteration: int
    name: str = "primal_step"


def course(values: np.ndarray, name: str = "gap", **more: np.ndarray) -> Snapshot:
    """A trace of one replica, with ten calls a step."""
    steps = np.arange(values.size, dtype=float)
    columns = {"iteration": steps, "seconds": 0.5 * steps, "calls": 10.0 * steps[:, None], name: values[:, None]}
    return Snapshot(columns | {key: column[:, None] for key, column in more.items()}, values.size, 0)


def noisy(sigma: float) -> RunContext:
    return RunContext(noise=NoiseScale(sigma, sigma))


def to_and_fro(rows: int, level: float, share: float = 0.6) -> np.ndarray:
    """Values about a level, by factors of up to e^share and more."""
    return level * np.exp(share * np.random.default_rng(3).standard_normal(rows))


@pytest.mark.parametrize("sigma", [1e-3, 1e-2, 1e-1])
@pytest.mark.parametrize("share", [0.1, 0.6, 1.5])
@pytest.mark.parametrize("status", [RunStatus.RUNNING, ENDED])
def test_a_run_within_the_noise_of_its_values_is_at_the_noise_floor(
    sigma: float, share: float, status: RunStatus
) -> None:
    for level in (0.3, 1.0, 3.0):
        gap = np.r_[np.geomspace(16.0, level * sigma, 30), to_and_fro(60, level * sigma, share)]
        judged = verdict(course(gap), status=status, context=noisy(sigma))
        assert judged.word is Word.NOISE_FLOOR and judged.sentence.startswith(
            f"At the noise floor (σ = {sigma:g}): gap"
        )
        assert verdict(course(gap), status=status).word in (Word.STALLED, Word.OSCILLATING)
    far = np.r_[np.geomspace(16.0, 100.0 * sigma, 30), to_and_fro(60, 100.0 * sigma, share)]
    assert verdict(course(far), status=status, context=noisy(sigma)).word in (Word.STALLED, Word.OSCILLATING)


def test_noise_hides_neither_progress_nor_a_divergence_nor_a_violation() -> None:
    falls = np.geomspace(16.0, 0.02, 60)
    assert verdict(course(falls), context=noisy(1e-2)).word is Word.CONVERGING
    assert verdict(course(10.0 ** np.linspace(0.0, 3.0, 60)), context=noisy(1e-2)).word is Word.DIVERGING
    floor = np.r_[np.geomspace(16.0, 1e-3, 30), np.full(60, 1e-3)]
    for violation, word in ((0.05, Word.NOISE_FLOOR), (0.5, Word.INFEASIBLE)):
        judged = verdict(course(floor, violation=np.full(90, violation)), status=ENDED, context=noisy(1e-2))
        assert judged.word is word
    near = np.r_[1e-3, to_and_fro(60, 2e-2)]  # the start is better than what the noise allows
    assert verdict(course(near)).word is Word.DIVERGING
    assert verdict(course(near), context=noisy(1e-2)).word is Word.NOISE_FLOOR
    unmoved = np.full(60, 16.0)
    assert verdict(course(unmoved), context=noisy(1e-2)).word is Word.STALLED


@pytest.mark.parametrize("sigma", [1e-3, 1e-2, 1e-1])
def test_without_an_optimum_the_objectives_own_values_show_the_floor(sigma: float) -> None:
    rng = np.random.default_rng(5)
    objective = np.r_[np.linspace(5.0, 1.0, 40), 1.0 + sigma * rng.standard_normal(80)]
    for context in (noisy(sigma), noisy(math.nan)):
        judged = verdict(course(objective, "objective"), context=context)
        assert judged.word is Word.NOISE_FLOOR, judged
    measured = re.search(r"σ about (\S+), measured", judged.sentence)
    assert measured is not None and float(measured[1]) == pytest.approx(sigma, rel=0.2)
    assert verdict(course(objective, "objective")).word is Word.SETTLED
    drifts = np.r_[np.linspace(5.0, 1.0, 40), 1.0 + 0.1 * np.sin(np.linspace(0.0, 9.0, 80))]
    assert verdict(course(drifts, "objective"), context=noisy(math.nan)).word is Word.SETTLED


@pytest.mark.parametrize(("name", "iterations"), [("ZOSQP", 80), ("ZOSPLM", 1000), ("ZOCEG", 400), ("auto", 80)])
def test_methods_on_a_noisy_problem_with_a_known_optimum(name: str, iterations: int) -> None:
    solver: Any = name if name == "auto" else discover("zoviz.solvers", Solver)[name]()
    problem = NonconvexQCQP(n=10, noise="independent", noise_scale=0.1)
    run = Run(problem, solver, replicas=2, iterations=iterations, seed=1)
    run.run()
    judged = verdict_of(run)
    assert judged.word is Word.NOISE_FLOOR and "σ = 0.1" in judged.sentence


@pytest.mark.parametrize("solver", [ZOSQP, ZOCEG])
def test_a_function_with_noise_of_its_own_of_which_no_size_is_declared(solver: type[Solver]) -> None:
    rng = np.random.default_rng(0)
    problem = BlackBox(
        lambda x: float(np.square(x - 0.3).sum()) + 0.01 * rng.standard_normal(),
        lambda x: np.array([x.sum() - 0.5]),
        bounds=[(-1.0, 1.0)] * 4,
        noise="independent",
        x0=[-0.9] * 4,
    )
    run = Run(problem, solver(), replicas=1, calls=3000)
    run.run()
    assert verdict_of(run).word is Word.NOISE_FLOOR and "σ about 0.01, measured" in verdict_of(run).sentence
    if solver is ZOSQP:
        assert 0.005 < run.trace.snapshot().columns[VALUE_NOISE][-1, 0] < 0.02


def test_a_budget_that_ends_a_run_on_its_way_is_said_to_have_ended_it() -> None:
    plateau = np.r_[1.0, np.full(9, 0.2)]
    judged = verdict(course(plateau), status=ENDED, context=CUT)
    assert judged == Verdict(
        Word.BUDGET_ENDED,
        "The budget ran out after 9 iterations and 90 calls in 4.5 s, too few to tell whether it has converged.",
    )
    assert verdict(course(plateau[:4]), status=ENDED, context=CUT).word is Word.BUDGET_ENDED
    assert verdict(course(plateau), status=ENDED).word is Word.STALLED
    falls = course(10.0 ** -np.linspace(0.0, 3.0, 51))
    judged = verdict(falls, status=ENDED, context=CUT)
    assert (
        judged.word is Word.BUDGET_ENDED and "25 s: converging at 167 calls and 8.3 s per digit: gap" in judged.sentence
    )
    assert verdict(falls, context=CUT).word is Word.CONVERGING
    rests = course(np.r_[np.geomspace(1.0, 1e-2, 25), np.full(25, 1e-2)])
    assert verdict(rests, status=ENDED, context=CUT).word is Word.STALLED
    assert verdict(course(np.geomspace(1.0, 1e-9, 20)), status=ENDED, context=CUT).word is Word.SOLVED
    assert verdict(course(10.0 ** np.linspace(0, 3, 20)), status=ENDED, context=CUT).word is Word.DIVERGING


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ({"iterations": 4}, {Word.BUDGET_ENDED}),
        ({"iterations": 9}, {Word.BUDGET_ENDED}),
        ({"iterations": 60}, {Word.BUDGET_ENDED}),
        ({"calls": 200}, {Word.BUDGET_ENDED}),
        ({"calls": 999}, {Word.BUDGET_ENDED}),
        ({"seconds": 1e-6}, {Word.BUDGET_ENDED, Word.EARLY}),
        ({"iterations": 3000}, {Word.SOLVED}),
    ],
)
def test_runs_that_end_by_each_budget(budget: dict[str, Any], words: set[Word]) -> None:
    run = Run(LoadTracking(n=10), ZOCEG(), replicas=2, **budget)
    run.run()
    assert context_of(run).budget_spent and verdict_of(run).word in words


def test_a_run_is_judged_from_its_last_change_on() -> None:
    rests = np.r_[np.geomspace(1.0, 1e-2, 40), np.full(60, 1e-2)]
    better = np.r_[rests, np.geomspace(1e-2, 1e-5, 60)]
    judged = verdict(course(better), changes=[Set(20), Set(99)])
    assert judged.word is Word.CONVERGING and judged.sentence.endswith("iteration 99, where primal_step was changed.")
    judged = verdict(course(np.r_[rests, np.full(60, 1e-2)]), changes=[Set(99, "dual_step")])
    assert judged.word is Word.STALLED and "no progress since iteration 99;" in judged.sentence
    for rows in (3, 20):  # too few since the change
        cut = course(better[: 99 + rows])
        at_rest = course(np.r_[rests, np.full(rows - 1, 1e-2)])
        assert verdict(at_rest, changes=[Set(99)]).word is Word.EARLY
        judged = verdict(at_rest, changes=[Set(99)], status=ENDED, context=CUT)
        assert judged.word is Word.BUDGET_ENDED and "too few since the last change to tell" in judged.sentence
        assert verdict(cut, changes=[Set(99)]).word in (Word.EARLY, Word.CONVERGING)
    unsteered = verdict(course(rests))
    assert verdict(course(rests), changes=[Set(0)]) == unsteered  # before the first step


def test_a_run_is_judged_from_a_change_of_what_forms_call_the_parameter(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    schedule = [Change(30, 0, 0.0, "estimator.batch_size", 50, 40)]
    run = Run(NonconvexQCQP(n=4), ZOSPLM(), replicas=2, iterations=60, schedule=schedule, store=store)
    run.run()
    assert "from iteration 30, where Batch size k was changed" in verdict_of(run).sentence
    assert verdict_of(store.load(run.id)) == verdict_of(run)


def test_a_change_that_makes_it_worse_and_one_that_mends_a_divergence() -> None:
    falls = np.geomspace(1.0, 1e-2, 50)
    for end in (0.3, 1e3):  # worse than at the change, and worse than at the start
        judged = verdict(course(np.r_[falls, np.geomspace(1e-2, end, 40)]), changes=[Set(10), Set(49)])
        assert judged.word is Word.DIVERGING and "after primal_step was changed at iteration 49" in judged.sentence
    rested = np.r_[falls, np.geomspace(1e-2, 0.05, 10), np.full(60, 0.05)]
    assert verdict(course(rested), changes=[Set(49)]).word is Word.STALLED
    mended = np.r_[falls, np.geomspace(1e-2, 1e3, 30), np.geomspace(1e3, 1e-3, 80)]
    for status in (RunStatus.RUNNING, ENDED):
        judged = verdict(course(mended), changes=[Set(49), Set(79)], status=status)
        assert judged.word is Word.CONVERGING and "Judged from iteration 79" in judged.sentence
    partly = course(mended[:110])  # still far beyond its start
    assert verdict(partly, changes=[Set(49), Set(79)]).sentence.startswith("Recovering after divergence")
    kept = np.r_[falls, np.geomspace(1e-2, 1e3, 30), np.full(60, 1e3)]
    judged = verdict(course(kept), changes=[Set(49), Set(79)], status=ENDED)
    assert judged.word is Word.DIVERGING and "after primal_step was changed at iteration 49" in judged.sentence


def test_a_stored_run_is_judged_like_the_live_one(tmp_path: Any) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    problem = NonconvexQCQP(n=4, noise="independent", noise_scale=0.1)
    for solver in (ZOSQP(), ZOCEG()):
        run = Run(problem, solver, replicas=2, calls=900, store=store)
        run.run()
        stored = store.load(run.id)
        assert context_of(run) == context_of(stored) == RunContext(NoiseScale(0.1, 0.1), True)
        assert verdict_of(run) == verdict_of(stored)
    exact = Run(NonconvexQCQP(n=4), ZOCEG(), replicas=2, calls=900)
    assert context_of(exact).noise is None
