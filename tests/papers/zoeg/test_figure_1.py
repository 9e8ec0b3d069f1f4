"""Fig. 1 of paper zoeg: claims by paired differences, the search of both schedules, and the ablation."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.papers.zoeg.figure_1 import (
    CONSTANT,
    DIMINISHING,
    METHODS,
    ONE_STEP,
    RATIOS,
    Outcome,
    Schedules,
    course,
    errors_are_alike,
    is_lower,
    outcome,
)
from zoviz.problems import LoadTracking
from zoviz.studies.experiment import Figures, Measured, array
from zoviz.studies.verdict import Verdict


class TwentyInstances(Schedules):
    """With one replica on each."""

    __abstract = True
    sizes = {"full": {**Schedules.sizes["full"], "instances": 20, "replicas": 1}}


def figures_of(**errors: Array) -> Measured:
    return {name: Figures({CONSTANT: {"error": values.tolist()}}) for name, values in errors.items()}


def test_claims_are_judged_by_paired_differences() -> None:
    rng = np.random.default_rng(0)
    common, noise = rng.normal(9.0, 5.0, 20), rng.normal(0.0, 0.1, 20)
    measured = figures_of(
        low=common - 1.0 + noise, high=common + 1.0 + noise, same=common, other=rng.permutation(common)
    )
    experiment = TwentyInstances()
    lower, alike = (partial(is_lower, experiment, "error"), partial(errors_are_alike, experiment))
    verdicts = {name: lower(measured, f"{name}, {CONSTANT}", f"same, {CONSTANT}").verdict for name in measured}
    assert verdicts == {"low": Verdict.YES, "high": Verdict.NO, "same": Verdict.OPEN, "other": Verdict.OPEN}
    assert alike(measured, f"low, {CONSTANT}", f"same, {CONSTANT}").verdict is Verdict.YES
    assert alike(measured, f"same, {CONSTANT}", f"same, {CONSTANT}").figures.endswith("ratio 1.00")
    replicas = figures_of(a=common, b=common + np.tile([5.0, -4.0, 5.0, -4.0], 5))
    one = is_lower(
        Schedules(),
        "error",
        {k: {CONSTANT: {"error": v[CONSTANT]["error"] + [0.0] * 4}} for k, v in replicas.items()},
        f"a, {CONSTANT}",
        f"b, {CONSTANT}",
    )
    assert one.margins.shape == (1, 6), "the replicas of an instance are one draw"
    doubled = figures_of(a=common + 20.0, b=2.0 * (common + 20.0))
    assert alike(doubled, f"a, {CONSTANT}", f"b, {CONSTANT}").verdict is Verdict.NO


def test_the_search_goes_by_the_sum_among_as_many_settings_for_each_method(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(self: Schedules, method: str, schedule: str, steps: Any, *rest: Any) -> Any:
        return steps

    def judged(steps: Any) -> Outcome:
        # Longer primal steps are better in error, larger ratios worse in violation.
        error, violation = 0.1 / steps[0], 10.0 * steps[1]
        return Outcome(*(np.full(2, value) for value in (error, violation, 0.0, violation / 1e3)))

    monkeypatch.setattr(Schedules, "run", run)
    monkeypatch.setattr("zoviz.papers.zoeg.figure_1.outcome", judged)
    one = Schedules()
    assert one.search("ZOGDA", CONSTANT) == (max(one.settings["primal"][CONSTANT]), min(RATIOS))
    assert one.search(ONE_STEP, DIMINISHING) == (0.1, 1.0)
    sizes = {len(one.grid(method, schedule)) for method in METHODS for schedule in (CONSTANT, DIMINISHING)}
    assert sizes == {25} and one.tuning().settings == 50
    assert {ratio for _, ratio in one.grid(ONE_STEP, CONSTANT)} == {1.0}, "one step for x and y"


def test_an_outcome_has_the_budget_where_the_level_was_never_met() -> None:
    run = course("ZOGDA", CONSTANT, (1e-6, 0.01), LoadTracking(n=10), replicas=20, seed=0, calls=100)
    one, first = outcome(run), run.hits[0].calls
    missing = np.isnan(first)
    assert missing.any() and not missing.all()
    np.testing.assert_array_equal(one.feasible_at, np.where(missing, 99.0, first))  # no iteration of 2 calls fits after
    np.testing.assert_allclose(one.share, one.violation / run.trace["violation"][0].mean())


def test_diminishing_steps_are_another_run_and_fail_their_claim_without_it() -> None:
    one = Schedules(size="quick")
    measured = {part: one.measure(part) for part in one.parts()[-1:]}
    (method,) = measured
    assert method in METHODS and measured[method][CONSTANT]["error"] != measured[method][DIMINISHING]["error"]
    assert np.isfinite(array(measured[method][CONSTANT]["course"]["error"])).all()
    claims = [claim for claim in one.claims() if f"improve {method}" in claim.says]
    assert len(claims) == 2 and all(claim.rivals == (claim.ablation,) for claim in claims)
    for claim in claims:
        ours, without = (claim.evidence(measured, name).margins for name in (claim.method, claim.ablation))
        np.testing.assert_allclose(ours, -without, err_msg="the ablation is put to the test against the method")
    assert all(claim.evidence(measured, claim.method).figures for claim in claims)
