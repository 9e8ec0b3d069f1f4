"""How long experiments take: recorded costs, at the pace of this machine and of what this folder has measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from zoviz.papers.sogd.product_variance import ProductVariance
from zoviz.studies import planning
from zoviz.studies.pace import reference_seconds
from zoviz.studies.reproduction import Reproduction

PARTS = ProductVariance(size="quick").parts()
WHOLE = len(PARTS) * (len(PARTS) + 1) / 2
"""Seconds of all parts, which take 1, 2, 3 and so on."""


def measured_in(folder: Path, seconds: Mapping[str, float], reference: float = 0.1) -> Reproduction:
    """Results of which some parts are there, each of which took some seconds."""
    work = Reproduction(ProductVariance(size="quick"), folder)
    work.parts = {part: {"seconds": one, "reference": reference, "figures": {}} for part, one in seconds.items()}
    return work


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reproduction:
    monkeypatch.setattr(planning, "reference_seconds", lambda: 0.1)
    return measured_in(tmp_path, {part: float(number) for number, part in enumerate(PARTS, 1)})


def test_what_is_missing_takes_what_it_took(tmp_path: Path, record: Reproduction) -> None:
    (plan,) = planning.plans([measured_in(tmp_path, {})], [record])
    assert (plan.experiment, plan.missing, plan.parts) == ("sogd-21", len(PARTS), len(PARTS))
    assert plan.seconds == pytest.approx(WHOLE) and record.seconds == WHOLE
    (plan,) = planning.plans([record], [record])
    assert (plan.missing, plan.seconds) == (0, 0.0)


def test_a_machine_that_is_slower_than_the_one_of_the_record_takes_longer(tmp_path: Path, record: Reproduction) -> None:
    quicker = measured_in(tmp_path, {part: entry["seconds"] for part, entry in record.parts.items()}, 0.05)
    (plan,) = planning.plans([measured_in(tmp_path, {})], [quicker])
    assert plan.seconds == pytest.approx(2.0 * WHOLE)


def test_several_processes_share_parts_and_none_takes_less_than_the_longest(
    tmp_path: Path, record: Reproduction
) -> None:
    new = measured_in(tmp_path, {})
    seconds = [planning.plans([new], [record], workers)[0].seconds for workers in (2, 1000)]
    assert seconds == pytest.approx([WHOLE / 2, len(PARTS)])


def test_the_pace_is_that_of_the_experiments_own_parts(tmp_path: Path, record: Reproduction) -> None:
    begun = measured_in(tmp_path, {PARTS[0]: 3.0, PARTS[1]: 6.0})  # 9 s in place of 3
    loaded = measured_in(tmp_path, {PARTS[0]: 3.0, PARTS[1]: 6.0}, 0.3)  # the same of a machine that others share
    first, second, untouched = planning.plans([begun, loaded, measured_in(tmp_path, {})], [record] * 3)
    assert first.seconds == pytest.approx(3.0 * (WHOLE - 3.0))
    assert second.seconds == pytest.approx(WHOLE - 3.0)
    assert untouched.seconds == pytest.approx(WHOLE)


def test_a_part_that_was_never_recorded_takes_as_long_as_the_others_do(tmp_path: Path, record: Reproduction) -> None:
    del record.parts[PARTS[-1]]
    (plan,) = planning.plans([measured_in(tmp_path, {})], [record])
    assert plan.seconds == pytest.approx((WHOLE - len(PARTS)) * len(PARTS) / (len(PARTS) - 1))
    (plan,) = planning.plans([measured_in(tmp_path, {})], [measured_in(tmp_path, {})])
    assert math.isnan(plan.seconds)


def test_the_reference_takes_a_while() -> None:
    assert reference_seconds() > 0.0
