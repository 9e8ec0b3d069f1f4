"""Black boxes that misbehave: where they do, and what is left of their processes."""

from __future__ import annotations

import gc
import multiprocessing

import numpy as np

from zoviz.core.types import Array
from zoviz.problems import BlackBox

BOX = [(-1.0, 1.0)] * 2
POINTS = np.array([[0.0, 0.1], [0.9, 0.0], [0.2, 0.3], [0.3, 0.3]])
"""The second is where the functions misbehave."""
UNSCALED = {"scaled": False} if "scaled" in BlackBox.param else {}
"""Where a test's own steps are in the user's units."""


def bowl(x: Array) -> float:
    return float(((x - 0.25) ** 2).sum())


# --- in parallel ------------------------------------------------------------------------------------------------------


def alive() -> int:
    gc.collect()  # a problem watches itself, hence is a cycle
    return sum(process.name == "zoviz-blackbox" for process in multiprocessing.active_children())
