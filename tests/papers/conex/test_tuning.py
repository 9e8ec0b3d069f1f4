"""Tables 1 and 2 of paper conex: what an answer is, what it is worth, and the same effort for every method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.papers.conex import table_1, table_2
from zoviz.papers.conex.methods import OURS, PLAIN, RIVALS
from zoviz.papers.conex.tuning import Budget, Measured, answer, best_setting, outcomes, report, settings
from zoviz.papers.results_file import ResultsFile
from zoviz.problems import Gramacy, HMCTuning, NetworkTuning


def exact(problem: Any, x: Array, fresh: int) -> Measured:
    value = problem.evaluate(x)
    return Measured(np.full(fresh, value.f), np.full(fresh, value.f), np.tile(value.h, (fresh, 1)))


TASK = table_1.TASK._replace(problem=lambda instance: Gramacy(noise="independent", noise_scale=0.05), measure=exact)


def test_every_method_may_try_as_many_settings() -> None:
    assert {len(settings(TASK, method)) for method in (OURS, PLAIN, *RIVALS)} == {4}


def test_an_answer_that_breaks_a_limit_by_two_standard_errors_is_worth_nothing() -> None:
    h = np.array([[0.1, -1.0], [0.3, -1.0], [0.2, -1.0], [0.2, -1.0]])
    bad = Measured(np.ones(4), np.array([1.0, 2.0, 3.0, 2.0]), h)
    assert not bad.feasible and np.isinf(bad.loss)
    unsure = bad._replace(h=h - [0.15, 0.0])  # mean 0.05, standard error 0.041
    assert unsure.feasible and unsure.loss == 2.0


def test_the_answer_of_szo_conex_is_its_last_iterate_that_met_its_limits() -> None:
    problem, x = answer(TASK, OURS, (1e-3, 1e-2), 0, 60)
    again, same = answer(TASK, OURS, (1e-3, 1e-2), 0, 60)
    assert type(again) is type(problem)
    np.testing.assert_array_equal(x, same)
    _, plain = answer(TASK, PLAIN, (1e-3, 1e-2), 0, 60)
    assert not np.array_equal(x, plain), "without extrapolation it goes elsewhere"


def test_the_search_takes_the_setting_with_the_least_loss() -> None:
    budget = Budget(trials=2, search=2, calls=60, fresh=3, results=ResultsFile(None))
    task = TASK._replace(steps=((1e-12, 5e-3), (1e-12, 1e-2)))
    assert best_setting(task, OURS, budget._replace(search=0)) == (1e-12, 1e-12)
    still, moved = (
        [one.f.mean() for one in outcomes(task, OURS, setting, range(2), budget)]
        for setting in ((1e-12, 1e-12), (5e-3, 1e-2))
    )
    assert np.mean(moved) != np.mean(still)


def test_a_table_goes_on_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = 2, 0, 40, 3
    first = outcomes(TASK, OURS, (1e-3, 1e-2), range(2), Budget(*sizes, ResultsFile(tmp_path / "table.jsonl")))
    monkeypatch.setattr("zoviz.papers.conex.tuning.answer", None)  # nothing is run again
    again = outcomes(TASK, OURS, (1e-3, 1e-2), range(2), Budget(*sizes, ResultsFile(tmp_path / "table.jsonl")))
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.f, other.f)
        np.testing.assert_array_equal(one.h, other.h)
    with pytest.raises(TypeError):  # other calls are another outcome
        outcomes(TASK, OURS, (1e-3, 1e-2), range(1), Budget(2, 0, 44, 3, ResultsFile(tmp_path / "table.jsonl")))


@pytest.mark.parametrize("task, problem", [(table_1.TASK, HMCTuning), (table_2.TASK, NetworkTuning)])
def test_both_tables_measure_answers_by_fresh_trials(task: Any, problem: Any) -> None:
    pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')
    small = problem(gradients=200) if problem is HMCTuning else problem(steps=20)
    start = small.initial(type("One", (), {"replicas": 1})())[0]
    one = task.measure(small, start, 3)
    assert one.f.shape == (3,) and one.h.shape == (3, small.m)
    value = small.evaluate(start)
    assert np.isfinite([*one.f, *one.h.ravel(), value.f]).all()
    assert one.f.std() > 0.0, "trials are drawn afresh"


@pytest.mark.slow
def test_the_table_stands_beside_the_papers(capsys: pytest.CaptureFixture[str]) -> None:
    task = table_1.TASK._replace(problem=lambda instance: HMCTuning(seed=instance, gradients=200, rows=50))
    report(task, Budget(2, 1, 20, 3, ResultsFile(None)), [OURS, PLAIN])
    out = capsys.readouterr().out
    assert "108 000 ± 992" in out and "cannot be decided" in out
