"""Optuna's studies, sampled by a solver: the points of a Run, in parallel, pruned, failed, and after a kill."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.doors import BOUNDS, CALLS, START, Ledger, assert_same_result, finished_run
from helpers.project import ROOT
from zoviz.core.errors import ZovizError

optuna = pytest.importorskip("optuna", reason='python -m pip install "zoviz[optuna]"')
from zoviz.adapters.optuna import ZovizSampler  # noqa: E402  # once it is known that it can be

optuna.logging.set_verbosity(optuna.logging.ERROR)
X0 = dict(zip("xy", START, strict=True))


def point(trial: Any) -> list[float]:
    return [trial.suggest_float(name, *ends) for name, ends in zip("xy", BOUNDS, strict=True)]


class Objective:
    """The noisy function as Optuna's; a failed call is pruned where ``pruned``, else it raises."""

    def __init__(self, pruned: bool = False) -> None:
        self.ledger, self.pruned = Ledger(), pruned

    def __call__(self, trial: Any) -> float:
        x = point(trial)
        try:
            f, h = self.ledger(np.array(x))
        except ArithmeticError:
            if self.pruned:
                raise optuna.TrialPruned from None
            raise
        for i, value in enumerate(h):
            trial.set_constraint(f"c{i}", value)
        return f


def sampler(**settings: Any) -> ZovizSampler:
    return ZovizSampler(**{"x0": X0, "noise": "independent", "seed": 1, "calls": CALLS} | settings)


@pytest.mark.parametrize("solver", ["auto", "ZOSPLM"])
@pytest.mark.parametrize("pruned", [False, True], ids=["failed", "pruned"])
def test_trials_are_the_calls_of_a_run(solver: str, pruned: bool) -> None:
    ledger, objective = Ledger(), Objective(pruned)
    run = finished_run(ledger, solver)
    study = optuna.create_study(sampler=sampler(solver=solver))
    study.optimize(objective, n_trials=2 * CALLS, catch=(ArithmeticError,))
    assert objective.ledger.points == ledger.points and len(study.trials) == len(ledger.points)
    assert_same_result(study.sampler.result, run.result)


def test_trials_in_parallel_are_those_of_one_after_the_other() -> None:
    ledger, objective = Ledger(), Objective()
    run = finished_run(ledger, "ZOSPLM")
    study = optuna.create_study(sampler=sampler(solver="ZOSPLM"))
    study.optimize(objective, n_jobs=2, catch=(ArithmeticError,))
    assert sorted(objective.ledger.points) == sorted(ledger.points)
    assert_same_result(study.sampler.result, run.result)


KILLED = """
import os
from adapters.test_optuna import Objective, optuna, sampler

class Dying(Objective):
    def __call__(self, trial):
        if trial.number == 10:
            trial.suggest_float("x", -2.0, 2.0)
            os._exit(9)
        return super().__call__(trial)

study = optuna.create_study(storage="sqlite:///study.db", study_name="study", sampler=sampler(calls=20, seed=3))
study.optimize(Dying(), catch=(ArithmeticError,))
"""


def test_a_kill_in_the_middle_loses_nothing(tmp_path: Path) -> None:
    command, environment = [sys.executable, "-c", KILLED], {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ended.returncode == 9, ended.stderr
    ledger, objective = Ledger(), Objective()
    run, again = finished_run(ledger, calls=20, seed=3), pickle.loads(pickle.dumps(sampler(calls=20, seed=3)))
    study = optuna.load_study(storage=f"sqlite:///{tmp_path / 'study.db'}", study_name="study", sampler=again)
    study.optimize(objective, catch=(ArithmeticError,))
    assert objective.ledger.points == ledger.points[10:]
    assert_same_result(again.result, run.result)


def test_a_logarithm_and_a_maximum_are_those_of_the_function() -> None:
    points = []

    def of(x: float, rate: float) -> tuple[float, float]:
        points.append((x, rate))
        return (x - 1.0) ** 2 + rate + 1e-4 / rate, 1.5 - x

    def objective(trial: Any) -> float:
        f, h = of(trial.suggest_float("x", -2.0, 2.0), trial.suggest_float("rate", 1e-5, 1.0, log=True))
        trial.set_constraint("right", h)
        return -f

    study = optuna.create_study(direction="maximize", sampler=ZovizSampler("ZOSQP", seed=2, calls=60))
    study.optimize(objective)
    mine = points.copy()
    points.clear()
    ends = math.log(1e-5), math.log(1.0)
    run = finished_run(
        lambda x: of(float(x[0]), min(max(math.exp(x[1]), 1e-5), 1.0)),
        "ZOSQP",
        seed=2,
        calls=60,
        bounds=[(-2.0, 2.0), ends],
        x0=[0.0, sum(ends) / 2],
        noise="unknown",
        m=1,
    )
    assert mine == points
    np.testing.assert_array_equal(study.sampler.result.best_fun, run.result.best_fun)
    assert study.best_params["x"] == pytest.approx(1.5, abs=1e-3)
    assert study.best_params["rate"] == pytest.approx(1e-2, rel=0.1)


def test_values_that_were_enqueued_or_sampled_before_are_not_paid_again() -> None:
    first, second = Objective(), Objective()
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(first, n_trials=5, catch=(ArithmeticError,))
    complete = next(one for one in study.trials if one.state == optuna.trial.TrialState.COMPLETE)
    study.sampler = sampler(x0=None)
    study.enqueue_trial({"x": 1.25, "y": 0.75})
    study.optimize(second, catch=(ArithmeticError,))
    assert second.ledger.points[0] == [1.25, 0.75], "an enqueued trial is evaluated, as with any sampler"
    ledger = Ledger()
    run = finished_run(ledger, x0=list(complete.params.values()))
    assert second.ledger.points[1:] == ledger.points[1:], "the start was paid for"
    assert_same_result(study.sampler.result, run.result)


def test_a_first_trial_that_fails_is_followed_by_others_until_one_is_complete() -> None:
    def objective(trial: Any) -> float:
        x = np.array(point(trial))
        if trial.number < 3:
            raise ArithmeticError
        return float(x @ x)

    study = optuna.create_study(sampler=sampler())
    study.optimize(objective, n_trials=60, catch=(ArithmeticError,))
    tried = [tuple(one.params.values()) for one in study.trials[:4]]
    assert tried[0] == tuple(START) and len(set(tried)) == 4
    assert study.best_value < 1e-3


def test_what_it_cannot_do_is_said() -> None:
    def discrete(trial: Any) -> float:
        return trial.suggest_int("layers", 1, 5)

    def growing(trial: Any) -> float:
        return sum(point(trial)) + (trial.suggest_float("z", 0.0, 1.0) if trial.number else 0.0)

    def two(trial: Any) -> tuple[float, float]:
        return tuple(point(trial))

    cases = (
        (discrete, 1, "Expected parameters from suggest_float without a step, got layers of IntDistribution"),
        (growing, 1, r"Expected the parameters and ranges of the first trial \(x, y\), got z of Float"),
        (two, 2, "Expected a study of one objective, got 2"),
    )
    for objective, objectives, sentence in cases:
        study = optuna.create_study(directions=["minimize"] * objectives, sampler=sampler(calls=None))
        with pytest.raises(ValueError, match=sentence):
            study.optimize(objective, n_trials=10)
    with pytest.raises(ZovizError, match="Expected a study with a complete trial, got none"):
        _ = sampler().result


def test_asking_for_more_than_a_step_needs_is_an_error_and_not_a_deadlock() -> None:
    study = optuna.create_study(sampler=sampler())
    objective, trial = Objective(), study.ask()
    study.tell(trial, objective(trial))
    waiting = []
    with pytest.raises(ZovizError, match="Expected values before the next point, got none of"):
        for _ in range(100):
            waiting.append(study.ask())
            point(waiting[-1])
    for trial in waiting[:-1]:
        study.tell(trial, objective(trial))
    assert len(point(waiting[-1])) == 2
