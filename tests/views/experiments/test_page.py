"""The room on a page without a browser: cards, sheets, and runs with a paper's numbers beside them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.waiting import until
from zoviz.runs.engine.columns import ITERATION
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.app.page_address import query_of
from zoviz.views.experiments.page import ExperimentsPage, picture


@pytest.fixture
def dashboard() -> Iterator[Dashboard]:
    """A page."""
    dashboard = Dashboard()
    yield dashboard
    dashboard.controller.stop()


@pytest.fixture
def page(dashboard: Dashboard) -> ExperimentsPage:
    """Its room of experiments, opened, with all results read."""
    dashboard.rooms.open = "experiments"
    page = dashboard.experiments
    assert page is not None
    page.__panel__()

    def there() -> bool:
        page.update()
        return page.overview is not None

    until(there)
    return page


def test_the_room_is_made_when_it_is_opened_and_reads_in_the_background(dashboard: Dashboard) -> None:
    assert dashboard.experiments is None
    dashboard.rooms.open = "experiments"
    assert dashboard.experiments is not None and dashboard.experiments.cards.content == ""


def test_cards_follow_the_choice_of_paper_and_verdict(page: ExperimentsPage) -> None:
    everything = page.cards.content
    page.paper = "sogd"
    assert "sogd Fig. 2" in page.cards.content and "splm Fig. 1" not in page.cards.content
    page.param.update(paper="", state="cannot be decided")
    assert "sogd (21)" not in page.cards.content and "conex Fig. 1" in page.cards.content
    page.state = ""
    assert page.cards.content == everything


def test_a_sheet_is_opened_by_its_card_and_has_an_address(dashboard: Dashboard, page: ExperimentsPage) -> None:
    page.act("open", "zoeg-fig-1")
    assert page.sheet is not None and page.sheet.record.name == "zoeg-fig-1"
    assert "experiment=zoeg-fig-1" in query_of(dashboard.form, (), "experiments", page.experiment)
    page.act("open", "nonsense")
    assert page.experiment == "zoeg-fig-1", "what is not there is left alone"
    page.experiment = "nonsense"
    assert page.experiment == "" and "'nonsense'" in dashboard.controller.error


def test_an_address_opens_a_sheet(dashboard: Dashboard) -> None:
    dashboard.read_address("?room=experiments&experiment=splm-fig-1")
    page = dashboard.experiments
    assert page is not None and page.sheet is None

    def opened() -> bool:
        page.update()
        return page.sheet is not None

    until(opened)
    assert page.sheet is not None and page.sheet.record.name == "splm-fig-1"


def test_a_picture_is_made_for_a_card_in_sight(page: ExperimentsPage) -> None:
    assert page.overview is not None
    pictures = [picture(one) for one in page.overview.records]
    assert sum(one.startswith("<svg") for one in pictures) > 25 and "Tables only, no figure." in pictures
    page.act("seen", "splm-fig-1")


def test_one_click_sets_the_page_up_and_runs_it_with_the_papers_numbers(
    dashboard: Dashboard, page: ExperimentsPage
) -> None:
    page.act("live", "zoeg-table-2")
    run = dashboard.controller.run
    assert run is not None and dashboard.rooms.open == "run"
    assert (type(run.problem).__name__, type(run.solver).__name__) == ("LoadTracking", "ZOBCEG")
    assert (run.replicas, run.iterations, run.seconds, run.solver.get("estimator.block_size")) == (4, 1500, None, 5)
    assert dashboard.board.axis == ITERATION and dashboard.board.log_x
    assert [one.place for one in dashboard.controller.runs_shown.references] == ["Table 2", "Table 2"]
    page.act("live", "splm-table-2")
    assert dashboard.controller.run is run and "still in progress" in dashboard.controller.error
    assert dashboard.form.picker.solver_name == "ZOBCEG", "a run that is going on is left alone"
    dashboard.controller.stop()
    run.wait()
    dashboard.controller.start()
    assert dashboard.controller.run is not run and dashboard.controller.runs_shown.references == ()


def test_going_back_in_such_a_run_keeps_the_papers_numbers(dashboard: Dashboard, page: ExperimentsPage) -> None:
    page.act("live", "zoeg-table-2")
    run = dashboard.controller.run
    assert run is not None
    until(lambda: run.progress.iteration > 20)
    dashboard.controller.go_back(10)

    def forked() -> bool:
        dashboard.controller.refresh()
        return dashboard.controller.run is not run

    until(forked)
    assert len(dashboard.controller.runs_shown.references) == 2
