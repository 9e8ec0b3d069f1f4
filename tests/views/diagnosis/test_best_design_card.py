"""The card with the best design, without a browser."""

from __future__ import annotations

import html
import json
from pathlib import Path

import numpy as np

from helpers.waiting import until
from zoviz import Run, minimize
from zoviz.core.types import Array
from zoviz.diagnosis.certificate import Certifier
from zoviz.diagnosis.verdict import Word, verdict_of
from zoviz.problems import BlackBox, ConexQCQP, NonconvexQCQP, StochasticQP, WeldedBeam
from zoviz.runs.engine.stopping import Ending
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.diagnosis.best_design_card import BestDesignCard, design_html, row_words


def test_the_card_shows_the_design_of_the_run_and_says_what_it_is_for_without_one() -> None:
    card = BestDesignCard()
    (row, _), empty = card.__panel__(), card.table.object
    card.update(None)
    assert card.design is None and "shows the best point" in empty and len(row) == 1, "nothing to copy"
    run = Run(WeldedBeam(), ZOCEG(), replicas=2, iterations=200)
    card.update(run)
    assert card.table.object == empty, "it has not begun"
    run.run()
    card.update(run)
    design = run.best_design
    assert card.design is not None and card.design.plain() == design.plain()
    assert [one.label for one in row[1:] if one.visible] == ["Copy", "CSV", "JSON"]
    assert f"{design.f:.10g}" in card.table.object and card.table.object.count("<tr>") == 1 + 4 + 7
    card.update(None)
    assert card.table.object == empty and not any(one.visible for one in row[1:])


def test_a_constraint_that_is_not_met_is_marked_and_names_are_no_markup() -> None:
    def fun(x: Array) -> float:
        return float(x @ x)

    names = {"variable_names": ["<b>a</b>", "b"], "constraint_names": ["one", "two"]}
    problem = BlackBox(fun, [lambda x: 2.5, lambda x: -1.0], bounds=[(0, 1), (0, None)], x0=[0.5, 0.5], **names)
    run = Run(problem, "ZOSQP", replicas=1, calls=40)
    run.run()
    shown = design_html(run.best_design)
    assert "&lt;b&gt;a&lt;/b&gt;" in shown and shown.count(">violated</td>") == 1 and shown.count(">met</td>") == 1
    assert "no point is feasible" in shown and "none</td>" in shown, "no upper bound"


def test_the_downloads_have_the_whole_design() -> None:
    n = 80
    run = Run(BlackBox(lambda x: float(x @ x), bounds=[(-1, 1)] * n), "ZOCEG", replicas=1, calls=200)
    run.run()
    card = BestDesignCard()
    card.update(run)
    assert card.table.object.count("<tr>") == 1 + 60 and "20 more rows" in card.table.object
    row, _ = card.__panel__().objects
    table, plain = (make().decode() for make in (card.csv, card.json))
    assert table.count("\n") == 2 + n and len(json.loads(plain)["x"]) == n
    np.testing.assert_array_equal(list(json.loads(plain)["x"].values()), run.best_design.x)


def test_of_a_run_on_a_persons_functions_the_card_has_the_answer_and_how_sure_it_is_by_itself() -> None:
    def simulate(x: Array) -> tuple[float, Array]:
        return float((x[0] - 1.0) ** 2 + (x[1] - 0.8) ** 2), np.array([x[0] + x[1] - 1.0])

    bounds, noise = [(-2.0, 2.0)] * 2, {"noise": "independent", "noise_scale": 1e-2}
    problem = BlackBox(simulate, bounds=bounds, x0=[0.0, 0.0], joint=True, **noise)
    run = Run(problem, "ZOSQP", replicas=1, calls=1500, judged=True, seed=5, stop_when="confident")
    run.run()
    card = BestDesignCard()
    card.update(run)
    result, shown = minimize(problem, method="ZOSQP", max_calls=1500, seed=5), html.unescape(card.table.object)
    assert card.design is not None and card.design.f == result.fun and f"{result.fun:.10g}" in shown
    np.testing.assert_array_equal(card.design.x, result.x)
    assert result.certainty.minimum in shown and "<td colspan='3'>x* " in shown
    assert verdict_of(run).word is Word.NOISE_FLOOR and run.ending == result.status == Ending.NOISE_FLOOR


def test_of_a_run_on_zovizs_own_problem_a_thread_finds_it_out() -> None:
    run = Run(ConexQCQP(n=4, noise="independent", noise_scale=1e-2), ZOCEG(), replicas=1, iterations=300)
    run.run()
    card, calls = BestDesignCard(), run.result.calls.copy()
    card.update(run)
    assert "Measuring how certain" in card.table.object
    until(lambda: card.update(run) or "possible gain nearby" in card.table.object)
    assert (run.result.calls == calls).all() and "P(h &lt;= 0)" in card.table.object
    stochastic = Run(StochasticQP(), "SampledALM", replicas=1, iterations=3)
    stochastic.run()
    card.update(stochastic)
    assert "No intervals are computed: the objective is an expectation" in card.table.object


def test_beside_a_certified_point_stand_f_star_each_rows_word_and_what_its_limit_is_worth() -> None:
    problem = ConexQCQP(n=8, noise="independent", noise_scale=1e-2)
    run = Run(problem, ZOCEG(), replicas=1, iterations=5)
    run.run()
    sure = Certifier().certify(problem, run.best_design.x).certainty
    card = BestDesignCard(lambda: sure)
    card.update(run)
    (name, _, word, worth), shown = sure.table(run.best_design.constraints)[0], card.table.object
    assert html.escape(sure.minimum) in shown and "another digit would take about" in shown
    assert html.escape(row_words(word, worth)) in shown and f"<td>{name}</td>" in shown
    assert "zoviz-certainty" not in design_html(run.best_design)


def test_a_median_that_does_not_exist_is_said_in_words() -> None:
    run = Run(ConexQCQP(n=3), ZOCEG(), replicas=3, iterations=2)
    run.run()
    design = run.best_design._replace(kind="best feasible point", replicas=3, middle=np.nan)
    shown = design_html(design)
    assert "Best feasible point. Half of 3 replicas or more have none." in shown and "nan" not in shown
    assert "Median f of 3 replicas: 1.5." in design_html(design._replace(middle=1.5))


def test_a_row_says_what_its_limit_is_worth_where_it_is_worth_something() -> None:
    assert row_words("active", "1.50 (1.20 to 1.80)") == "active; a unit of this limit is worth 1.50 (1.20 to 1.80)"
    assert row_words("inactive", "0") == "inactive" and row_words("undecided", "cannot tell") == "undecided"


def test_a_stored_run_on_the_plots_of_a_page_without_a_run_shows_its_design(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    run = Run(NonconvexQCQP(n=4), ZOCEG(), replicas=1, calls=80, store=store)
    run.run()
    page = Dashboard(store=store)
    key = page.controller.runs_shown.put(store.load(run.id)).key
    for _ in range(2):  # lines first
        page.refresh()
    assert page.best_design.design is not None and page.best_design.design.value == run.best_design.value
    page.controller.runs_shown.take_off(key)
    for _ in range(2):
        page.refresh()
    assert "This card shows the best point" in page.best_design.table.object
