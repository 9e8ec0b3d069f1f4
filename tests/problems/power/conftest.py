"""The feeder, and the problem on it."""

from __future__ import annotations

import pytest

from zoviz.problems import ACLoadTracking
from zoviz.problems.power.case141 import case141
from zoviz.problems.power.feeder import Feeder


@pytest.fixture(scope="module")
def feeder() -> Feeder:
    pytest.importorskip("power_grid_model")
    return case141()


@pytest.fixture
def problem(feeder: Feeder) -> ACLoadTracking:
    return ACLoadTracking()
