"""Paper sogd's claims on problems in closed form: small ones by default, its tables as slow tests."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.sogd import regret
from zoviz.papers.sogd.regret import compare_windows, variations, verdict
from zoviz.problems import QuadraticBilevel


def test_slow_drift_has_bounded_path_lengths_and_rapid_drift_has_not() -> None:
    slow, rapid = (
        [variations(QuadraticBilevel(n=3, d=3, drift=drift), T) for T in (1000, 4000)] for drift in ("slow", "rapid")
    )
    np.testing.assert_allclose(slow[1], slow[0], rtol=0.01)
    np.testing.assert_allclose(np.array(rapid[1]) / rapid[0], 4.0, rtol=0.05)


@pytest.mark.slow
def test_without_a_window_sogd_follows_a_stream_that_windows_lag_behind() -> None:
    """At drift rate 0.3, which a follower and a leader can keep up with but a mean of five rounds cannot."""
    result = compare_windows(QuadraticBilevel(drift="rapid", drift_rate=0.3), 300, 20)
    for rival in ("OAGD w = 5", "SOBOW w = 5"):
        assert verdict(result["SOGD"][-1], result[rival][-1]) == "yes"


def test_a_window_of_five_costs_regret_where_one_can_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regret, "GRID", (0.6, 1.0))
    monkeypatch.setattr(regret, "INNER", (0.2,))
    result = compare_windows(QuadraticBilevel(drift="rapid", drift_rate=0.3), 100, 4)
    for rival in ("OAGD w = 5", "SOBOW w = 5"):
        assert verdict(result["SOGD"][-1], result[rival][-1]) == "yes"
    for rival in ("OAGD", "SOBOW"):
        assert verdict(result[f"{rival} w = 1"][-1], result[f"{rival} w = 5"][-1]) == "yes", "it is the window"


def test_verdicts_are_of_paired_differences() -> None:
    rng = np.random.default_rng(0)
    common, noise = rng.normal(0.0, 5.0, 20), rng.normal(0.0, 0.1, 20)
    assert verdict(common - 1.0 + noise, common) == "yes"
    assert verdict(common + 1.0 + noise, common) == "no"
    assert verdict(rng.permutation(common), common) == "undecided"
