"""The variance of a product stays bounded where its two gradients share their directions, and only there."""

from __future__ import annotations

from zoviz.papers.sogd.product_variance import OWN, SHARED, ProductVariance
from zoviz.studies.verdict import Verdict


def test_the_variance_of_a_product_is_bounded_with_shared_directions_only() -> None:
    experiment = ProductVariance(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts()}
    (claim,) = experiment.claims()
    assert claim.evidence(measured, SHARED).verdict is Verdict.YES
    assert claim.evidence(measured, OWN).verdict is Verdict.NO
