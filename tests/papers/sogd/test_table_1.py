"""Table 1 of paper sogd, small: every method follows the slow drift, and each is paired with SOGD."""

from __future__ import annotations

import numpy as np

from zoviz.papers.sogd.table_1 import CASE, LATER_REGRET, OURS, RIVALS, Regrets


def test_every_method_has_a_regret_and_every_rival_a_claim_beside_sogd() -> None:
    experiment = Regrets(size="quick")
    rates = experiment.rates()
    assert [rate.ablation for rate in rates if rate.method == OURS] == list(RIVALS)
    for method in (OURS, *RIVALS):
        regret = experiment.values(CASE, method, 256)[LATER_REGRET]
        assert regret.shape == (3, experiment.settings["instances"] * experiment.settings["replicas"])
        assert np.isfinite(regret).all() and (regret > 0).all()
