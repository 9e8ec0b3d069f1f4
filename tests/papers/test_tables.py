"""Published tables of iterations, by the functions that ``python -m zoviz.papers`` prints them with."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest


def study(paper: str) -> dict[str, Any]:
    return vars(importlib.import_module(f"zoviz.papers.{paper}"))


SLOW = pytest.mark.slow  # up to minutes


@SLOW
@pytest.mark.parametrize("n", [50, 100, 200])
@pytest.mark.timeout(1200)
def test_splm_table_2(n: int) -> None:
    """With k = 10000, 20 replicas, the solver's own steps; a fifth of the paper's count (n = 200: half)."""
    splm = study("splm.table_2")
    hits = splm["hits"](n, seed=0, replicas=20, batch=10_000, iterations=500)
    print(f"\nn = {n}: {np.mean(hits):.1f} iterations on average, {np.max(hits):.0f} at most; paper {splm['PAPER'][n]}")
    assert np.mean(hits) <= splm["LIMIT"][n] * splm["PAPER"][n]
