"""Proximal-point stages: where the objective is concave along the normal, methods come to rest inside of them only."""

from __future__ import annotations

import pytest

from zoviz.papers.conex.meta_algorithm import MetaAlgorithm
from zoviz.papers.proximal_stages import BENT, CONCAVE, RESIDUAL, StagesExperiment
from zoviz.papers.zoeg.proximal_points import ProximalPoints


@pytest.mark.slow
def test_stages_bring_methods_to_rest_where_they_do_not_come_alone() -> None:
    for experiment, name in ((MetaAlgorithm(size="quick"), "SZO-ConEX"), (ProximalPoints(size="quick"), "ZOCEG")):
        inside, alone = (experiment.values(CONCAVE, f"{name} {how}", 400)[RESIDUAL] for how in ("in stages", "alone"))
        assert inside.shape == alone.shape == (2, 3), "one run has the residuals at every T"
        assert (inside[-1] < 0.02).all() and alone[-1].max() > 0.1


def test_every_method_has_a_claim_in_every_case() -> None:
    for experiment in (MetaAlgorithm(), ProximalPoints()):
        assert isinstance(experiment, StagesExperiment)
        rates = experiment.rates()
        assert {rate.case for rate in rates} == {CONCAVE, BENT} and len(rates) == 2 * len(experiment.inner)
        assert all(rate.ablation == rate.method.replace("in stages", "alone") for rate in rates)


def test_a_residual_that_stays_has_no_exponent() -> None:
    experiment = MetaAlgorithm(size="quick")
    (claim,) = experiment.claims()
    flat = {f"{CONCAVE} / {claim.method} / 400": {RESIDUAL: [[0.5, 0.51, 0.49]] * 2}}
    assert abs(experiment.fit(flat, CONCAVE, claim.method, RESIDUAL).value) < 1e-9
