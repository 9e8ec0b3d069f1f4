"""The status of a run: one enumeration, equal to the words that stores and command lines have."""

from __future__ import annotations

import json

import pytest

from zoviz import Run
from zoviz.problems import LoadTracking
from zoviz.runs.engine.stopping import RunStatus
from zoviz.solvers import ZOCEG


@pytest.mark.parametrize("status", RunStatus)
def test_a_status_is_its_word(status: RunStatus) -> None:
    assert status == status.name.lower() == str(status) == f"{status}" == json.loads(json.dumps(status))
    assert RunStatus(status.value) is status


def test_a_status_is_active_or_ended_or_neither() -> None:
    assert [status for status in RunStatus if status.active] == ["running", "paused"]
    assert [status for status in RunStatus if status.ended] == ["finished", "diverged", "stopped", "failed"]


def test_a_run_has_one() -> None:
    run = Run(problem=LoadTracking(), solver=ZOCEG(), replicas=1, iterations=2)
    assert run.status is RunStatus.READY
    run.run()
    assert run.status is RunStatus.FINISHED and run.result.status is RunStatus.FINISHED
