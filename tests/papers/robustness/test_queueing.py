"""The study of the network of queues: what a trial measures and what its table says."""

from __future__ import annotations

import pytest

from zoviz.papers.robustness import queueing
from zoviz.papers.robustness.queueing import QueueingNetworks

pytest.importorskip("simpy")


def test_a_trial_has_the_truth_of_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queueing, "DAYS", 20)
    study = QueueingNetworks(size="quick")
    measured = {part: study.measure(part) for part in study.parts()}
    assert [one["method"] for one in study.rows(measured)] == ["common", "independent"]
    assert all(one["calls"] == 60 for one in study.rows(measured))
    (table,) = study.tables(measured)
    assert table.heads[:2] == ("budget", "method") and len(table.rows) == 2


def test_answers_that_are_not_feasible_count_as_infinitely_dear() -> None:
    rows = [{"f": f, "h": h, "calls": 300} for f, h in ((13.0, -0.1), (12.0, 0.01), (14.0, 0.0))]
    cells = QueueingNetworks(size="quick").cells(rows)
    assert (cells["feasible"], cells["median cost"], cells["median h"]) == ("67 %", "14.00", "0.0000")
