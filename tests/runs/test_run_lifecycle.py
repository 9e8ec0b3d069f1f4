"""A run from start to end: begun, paused, stepped, resumed, stopped, waited for."""

from __future__ import annotations

from typing import Any

import pytest

from helpers.runs import small
from helpers.waiting import until
from zoviz import Run
from zoviz.core.errors import ZovizError
from zoviz.runs.script import script
from zoviz.solvers import ZOCEG

# --- lifecycle --------------------------------------------------------------------------------------------------------


def test_start_pause_step_resume_stop() -> None:
    run = small()
    assert run.status == "ready" and not run.active and len(run.trace) == 0
    run.start()
    until(lambda: run.progress.iteration > 20)
    assert run.status == "running"
    run.pause()
    until(lambda: run.status == "paused")
    held = run.progress.iteration
    assert run.trace["iteration"][-1] == held
    run.step(3)
    until(lambda: run.progress.iteration == held + 3 and run.status == "paused")
    run.unpause()
    until(lambda: run.progress.iteration > held + 20)
    run.stop()
    result = run.wait(120)
    assert run.status == "stopped" and not run.active
    assert result.message.startswith(f"Stopped after {result.nit} iterations.")
    assert run.trace["iteration"][-1] == result.nit


def test_start_with_a_number_of_steps_pauses_there() -> None:
    run = small().start(steps=4)
    until(lambda: run.status == "paused")
    assert run.progress.iteration == 4
    run.stop()
    run.wait(120)
    assert run.status == "stopped"


def test_a_paused_run_can_be_stopped_and_a_stopped_one_takes_no_orders() -> None:
    run = small().start()
    run.pause()
    until(lambda: run.status == "paused")
    run.stop()
    run.wait(120)
    for order in (run.pause, run.unpause, run.step, run.stop):
        order()
    assert run.status == "stopped"


def test_a_second_start_is_refused_with_a_sentence() -> None:
    run = small().start()
    for again in (run.start, lambda: small(iterations=3).run() and run.run()):
        with pytest.raises((ZovizError, ValueError), match="Expected"):
            again()
    with pytest.raises(
        ZovizError, match="Expected a run that has not started, got one that is running: make a new Run"
    ):
        run.start()
    assert run.status == "running"
    run.stop()
    run.wait(120)
    with pytest.raises(ZovizError, match="got one that is stopped"):
        run.start()


@pytest.mark.parametrize("settings", [{}, {"stop_at_targets": True}], ids=["nothing", "stop without targets"])
def test_run_without_any_budget_is_refused(settings: dict[str, Any]) -> None:
    run = small(**settings)
    with pytest.raises(ValueError, match="Expected a budget, got none"):
        run.run()
    assert run.status == "ready"


def test_what_needs_a_started_run_says_so() -> None:
    run = small(iterations=3)
    for need in (lambda: run.result, run.fork, lambda: run.replay(), lambda: script(run)):
        with pytest.raises(ZovizError, match="Expected a run that has started"):
            need()
    with pytest.raises(ValueError, match="Expected a problem, got None"):
        Run(None, ZOCEG())  # type: ignore[arg-type]


def test_wait_gives_up_after_its_timeout() -> None:
    run = small().start()
    with pytest.raises(TimeoutError, match="still running after 0.05 s"):
        run.wait(0.05)
    run.stop()
    run.wait(120)


def test_an_id_is_given_when_a_run_is_made_and_never_again() -> None:
    run = small()
    assert Run.of(run.spec, id="5" * 32).id == "5" * 32
    assert Run.of(run.spec).id not in {run.id, Run.of(run.spec).id}
    with pytest.raises(AttributeError):
        run.id = "5" * 32
