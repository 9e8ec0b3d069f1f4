"""One page's run: commands, what is said, and runs that other pages of the server find."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest

from helpers.waiting import until
from zoviz import Run
from zoviz.core.errors import ZovizError
from zoviz.diagnosis.verdict import Verdict, Word
from zoviz.problems import LoadTracking, Problem
from zoviz.runs.live_runs import LiveRuns
from zoviz.solvers import ZOCEG, Solver
from zoviz.views.common import run_controller
from zoviz.views.common.drags import iteration_at
from zoviz.views.common.run_controller import RunController, say_errors


class Source:
    """Makes runs that go on until they are stopped, or says why it cannot."""

    complaint = ""
    loading = False

    def __init__(self) -> None:
        self.problem: Problem = LoadTracking(n=4)
        self.solver: Solver = ZOCEG()

    def check(self) -> str:
        return self.complaint

    def make(self) -> Run:
        return Run(problem=self.problem, solver=self.solver, replicas=1)

    def load(self, problem: Problem, solver: Solver) -> None:
        self.problem, self.solver = problem, solver


@pytest.fixture
def live_runs() -> LiveRuns:
    return LiveRuns()


@pytest.fixture
def make(live_runs: LiveRuns) -> Iterator[Callable[[], RunController]]:
    """``make()``: one more page of the server, whose run ends with the test."""
    controllers: list[RunController] = []

    def make_one() -> RunController:
        controllers.append(RunController(Source(), live_runs=live_runs))
        return controllers[-1]

    yield make_one
    for one in controllers:
        one.stop()


def ended(controller: RunController) -> bool:
    controller.refresh()
    return not controller.active


def test_cards_hear_of_the_status_as_soon_as_a_command_is_given(make: Callable[[], RunController]) -> None:
    controller, heard = make(), []
    controller.param.watch(lambda *events: heard.extend(event.new for event in events), ["status", "active"])
    controller.start()
    assert heard == ["running", True] and [one.run for one in controller.runs_shown.runs.values()] == [controller.run]
    controller.start_or_pause()
    until(lambda: controller.refresh() or controller.status == "paused")
    controller.start_or_pause()
    until(lambda: controller.refresh() or controller.status == "running")
    controller.stop()
    until(lambda: ended(controller))
    assert controller.status == "stopped" and len(controller.runs_shown.runs) == 1
    controller.forget("run1")
    assert (controller.run, controller.status, controller.runs_shown.runs) == (None, "ready", {})


def test_going_back_ends_the_run_and_repeats_it_up_to_before_a_change(make: Callable[[], RunController]) -> None:
    controller = make()
    controller.start()
    first = controller.run
    assert first is not None
    until(lambda: first.progress.iteration > 3)
    first.set({"primal_step": 1e-5})
    until(lambda: len(first.journal) == 1)
    (change,) = first.journal
    at = iteration_at(first, "iteration", change.iteration + 0.01)
    assert at == change.iteration - 1 and iteration_at(first, "samples", 1.0) is None
    controller.go_back(at)
    until(lambda: controller.refresh() or (controller.run is not first and controller.status == "paused"))
    run = controller.run
    assert run is not None and not first.active
    assert run.progress.iteration == at and not len(run.journal), "the change itself is not repeated"
    assert run.parameters["primal_step"] != 1e-5
    assert "Forked at iteration" in controller.message and len(controller.runs_shown.runs) == 2


def test_a_second_start_is_refused_until_the_run_has_ended(make: Callable[[], RunController]) -> None:
    controller = make()
    controller.start()
    first = controller.run
    controller.start()
    assert controller.run is first and "still in progress" in controller.message
    controller.begin(Run(problem=LoadTracking(n=4), solver=ZOCEG(), replicas=1))
    assert controller.run is first and "stop it first" in controller.message
    controller.stop()
    until(lambda: ended(controller))
    assert controller.error == "" and controller.message == first.message
    controller.keep = False
    controller.start()
    assert controller.run is not first and len(controller.runs_shown.runs) == 1, "the first was not kept"


def test_what_cannot_be_made_is_said(make: Callable[[], RunController], monkeypatch: pytest.MonkeyPatch) -> None:
    controller = make()
    monkeypatch.setattr(Source, "complaint", "Loading the data.")
    controller.start()
    assert controller.run is None and controller.message == "Loading the data."
    monkeypatch.setattr(Source, "complaint", "")

    def refuse(self: Source) -> Run:
        raise ZovizError("Expected a budget, got none.")

    monkeypatch.setattr(Source, "make", refuse)
    controller.start()
    assert controller.run is None and controller.message == "Expected a budget, got none."


def test_another_page_of_the_server_joins_a_run_while_it_goes_on(make: Callable[[], RunController]) -> None:
    first, second = make(), make()
    first.outlive = True
    first.start()
    run = first.run
    assert run is not None
    first.close()
    assert run.active and second.join(run.id) and second.run is run
    assert not RunController(Source()).join(run.id), "a page of another server does not find it"
    second.stop()
    until(lambda: ended(second))
    assert not make().join(run.id), "nobody joins what has ended"


def test_a_page_that_is_closed_interrupts_its_run(make: Callable[[], RunController]) -> None:
    controller = make()
    controller.start()
    controller.close()
    until(lambda: ended(controller))
    assert controller.status == "interrupted"


class Card:
    """What says sentences."""

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.quotient = 0.0

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)

    @say_errors("Not stored: ")
    def divide(self, numerator: float, denominator: float = 1.0) -> None:
        if denominator == 0:
            raise ValueError("Expected a denominator other than 0.")
        self.quotient = {1.0: numerator}[denominator]


def test_errors_of_a_buttons_method_are_said_and_unforeseen_ones_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    card = Card()
    card.divide(3.0)
    assert card.quotient == 3.0 and card.sentences == []
    with caplog.at_level(logging.ERROR, "zoviz"):
        card.divide(3.0, denominator=0.0)
        assert card.sentences == ["Not stored: Expected a denominator other than 0."] and not caplog.records
        card.divide(3.0, 2.0)
    assert card.sentences[1] == "Not stored: 2.0" and "KeyError" in caplog.text


def test_a_start_while_data_load_waits_and_then_begins(live_runs: LiveRuns) -> None:
    source = Source()
    page = RunController(source, live_runs=live_runs)
    source.complaint, source.loading = "Loading the data of X.", True
    page.start()
    page.start()
    page.refresh()
    assert page.waiting and page.run is None and page.message.startswith("Loading the data of X. The run starts once")
    source.complaint, source.loading = "", False
    page.refresh()
    assert not page.waiting and page.run is not None and page.run.active
    page.stop()


def test_stop_calls_off_a_start_that_waits_and_data_that_fail_are_told_of(live_runs: LiveRuns) -> None:
    source = Source()
    page = RunController(source, live_runs=live_runs)
    source.complaint, source.loading = "Loading the data of X.", True
    page.start()
    assert page.waiting
    page.stop()
    source.complaint, source.loading = "", False
    page.refresh()
    assert not page.waiting and page.run is None
    source.complaint, source.loading = "Loading the data of X.", True
    page.start(steps=1)
    source.complaint, source.loading = "There are no data.", False
    page.refresh()
    assert not page.waiting and page.run is None and page.message == "There are no data."


def test_a_run_that_goes_on_is_judged_at_every_second_look_and_one_that_has_ended_at_once(
    make: Callable[[], RunController], monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[int] = []

    def judge(run: Run, constrained: bool) -> Verdict:
        assert constrained
        judged.append(run.progress.iteration)
        return Verdict(Word.EARLY, "")

    monkeypatch.setattr(run_controller, "verdict_of", judge)
    controller, run = make(), Run(problem=LoadTracking(n=4), solver=ZOCEG(), replicas=1, iterations=5)

    def look() -> None:
        controller.refresh()
        controller.verdict(run)
        controller.verdict(run)

    run.run(observer=look)
    assert judged == [1, 3, 5]
    controller.verdict(run)
    controller.verdict(run)
    assert judged == [1, 3, 5, 5], "the run has ended since"
