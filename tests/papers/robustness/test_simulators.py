"""The study of three simulators: what a trial measures and what its table says."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.robustness import simulators
from zoviz.papers.robustness.simulators import Simulators


def test_a_trial_has_the_truth_of_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("simpy")
    monkeypatch.setattr(simulators, "DAYS", 20)
    study = Simulators(size="quick", only={"problem": ("QueueingNetwork",)})
    measured = {part: study.measure(part) for part in study.parts()}
    assert [one["method"] for one in study.rows(measured)] == ["auto", "independent"]
    assert all(one["calls"] == 60 for one in study.rows(measured))
    (table,) = study.tables(measured)
    assert table.heads[:3] == ("problem", "budget", "method") and len(table.rows) == 2


def test_without_noise_an_answer_is_beside_the_best_known_value() -> None:
    pytest.importorskip("CoolProp")
    study = Simulators(size="quick", only={"problem": ("RankineCycle",)})
    (part,) = study.parts()
    figures = study.measure(part)
    assert figures["calls"] <= 40 and figures["best known"] == pytest.approx(-15.2936951)
    assert figures["f"] > figures["best known"] - 1e-4 or not figures["feasible"]


def test_seeds_for_each_call_are_tried_on_the_queues_alone() -> None:
    parts = Simulators(size="full").parts()
    assert len(parts) == 5 * 2 * (6 + 6 + 7) and len(set(parts)) == len(parts)
    assert all("QueueingNetwork" in part for part in parts if "independent" in part)


def test_answers_that_are_not_feasible_count_as_infinitely_dear() -> None:
    common = {"calls": 300, "failures": 2, "best known": 12.5}
    rows = [common | {"f": f, "h": h, "feasible": h <= 0.0} for f, h in ((13.0, -0.1), (12.0, 0.01), (14.0, 0.0))]
    cells = Simulators(size="quick").cells(rows)
    assert (cells["feasible"], cells["median f"], cells["median h"]) == ("67 %", "14", "0.0000")
    assert cells["above the best known"] == "12.0000 %" and cells["failed calls"] == "2"
    unknown = Simulators(size="quick").cells([one | {"best known": np.nan} for one in rows])
    assert unknown["above the best known"] == ""
