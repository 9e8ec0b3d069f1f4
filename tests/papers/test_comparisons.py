"""The comparisons of methods that the papers' scripts print, on small instances."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.registry import discover
from zoviz.papers.splm import comparison
from zoviz.solvers import Solver

PRESENT = discover("zoviz.solvers", Solver)


@pytest.mark.parametrize("method", [name for name in comparison.PAPER if name in PRESENT])
def test_splm_methods_reach_the_target_with_their_own_rule_and_on_the_grid(method: str) -> None:
    settings = comparison.Settings(n=10, instance=0, seed=0, replicas=3, batch=300)
    ruled = comparison.trial(method, None, settings, 600)
    assert np.isfinite(ruled.iterations).all()
    assert ruled.calls == {"SZOConEX": 601}.get(method, 301)
    result = comparison.trial(method, (1.0, 0.3), settings, 600)
    assert np.isfinite(result.iterations).all() and (result.iterations != ruled.iterations).any()
    short = comparison.trial(method, (0.01, 0.3), settings, 5)
    assert np.isnan(short.iterations).all() and comparison.mean_and_error(short.iterations)[0] == np.inf


def test_splm_search_puts_the_fewest_iterations_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def trial(method: str, steps: tuple[float, float], settings: comparison.Settings, limit: int) -> comparison.Trial:
        count = 100.0 * abs(np.log(steps[0] / 1.4)) + 10.0 * abs(np.log(steps[1] / 0.3)) + 20.0
        return comparison.Trial(np.full(4, count if count <= limit else np.nan), 1.0, 0.0)

    monkeypatch.setattr(comparison, "trial", trial)
    best = comparison.search("ZOSPLM", comparison.Settings(10, 0, 0, 4, 10))
    assert best[0] == (1.4, 0.3) and len(best) == comparison.FINALISTS
