"""Workers on a simulated clock: the clock by hand, and a small table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz import AskTell
from zoviz.core.types import Array
from zoviz.papers.minimize.simulated_workers import equal, simulated, tenfold
from zoviz.papers.minimize.workers import Workers
from zoviz.studies.reproduction import Reproduction


def bowl(number: int, x: Array) -> tuple[float, Array]:
    return float((x**2).sum()), np.empty(0)


def session() -> AskTell:
    return AskTell(solver="ZOCEG", bounds=[(-2, 2)] * 2, x0=[1.0, 1.0], noise="deterministic", calls=30)


def test_one_worker_never_waits_and_two_share_the_calls() -> None:
    alone = simulated(session(), bowl, equal, 1)
    assert alone.seconds == 30.0 and alone.idle == 0.0 and alone.lost == 0
    together = simulated(session(), bowl, equal, 2)
    assert 15.0 <= together.seconds < 30.0
    assert together.idle == pytest.approx(1.0 - 30.0 / (2.0 * together.seconds))
    assert together.points[-1].tolist() == alone.points[-1].tolist()


def test_who_dies_costs_the_call_alone() -> None:
    whole, dying = (simulated(session(), bowl, tenfold(0), 1, lifetime) for lifetime in (np.inf, 3.0))
    assert dying.lost > 0 == whole.lost and whole.seconds < dying.seconds < 3.0 * whole.seconds
    assert dying.points[-1].tolist() == whole.points[-1].tolist()


def test_durations_vary_tenfold_about_1() -> None:
    seconds = [tenfold(3)(number) for number in range(2000)]
    assert min(seconds) == pytest.approx(2 / 11, rel=0.05) and max(seconds) == pytest.approx(20 / 11, rel=0.05)
    assert np.mean(seconds) == pytest.approx(1.0, rel=0.05)


def test_the_quick_form_has_a_table(tmp_path: Path) -> None:
    pytest.importorskip("cocoex")
    work = Reproduction(Workers(size="quick"), tmp_path).run()
    (table,) = work.experiment.tables(work.measured)
    assert table.heads[-2:] == ("1", "4") and len(table.rows) == 2
    assert all(row[-2].startswith("1.0 / ") and "0% idle" in row[-2] for row in table.rows)
