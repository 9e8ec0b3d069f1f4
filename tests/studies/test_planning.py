"""How long experiments take: sums of recorded seconds, at the pace of what this folder has measured."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from zoviz.papers.sogd.product_variance import ProductVariance
from zoviz.studies.planning import plans
from zoviz.studies.reproduction import Reproduction

PARTS = ProductVariance(size="quick").parts()


def measured_in(folder: Path, seconds: dict[str, float]) -> Reproduction:
    """Results of which some parts are there, each of which took some seconds."""
    work = Reproduction(ProductVariance(size="quick"), folder)
    work.parts = {part: {"seconds": one, "figures": {}} for part, one in seconds.items()}
    return work


@pytest.fixture
def record(tmp_path: Path) -> Reproduction:
    return measured_in(tmp_path, {part: float(number) for number, part in enumerate(PARTS, 1)})


def test_what_is_missing_takes_what_it_took(tmp_path: Path, record: Reproduction) -> None:
    (plan,) = plans([measured_in(tmp_path, {})], [record])
    assert (plan.experiment, plan.missing, plan.parts) == ("sogd-21", len(PARTS), len(PARTS))
    assert plan.seconds == record.seconds == len(PARTS) * (len(PARTS) + 1) / 2
    (plan,) = plans([record], [record])
    assert (plan.missing, plan.seconds) == (0, 0.0)


def test_several_processes_share_parts_and_none_takes_less_than_the_longest(
    tmp_path: Path, record: Reproduction
) -> None:
    new = measured_in(tmp_path, {})
    assert [plans([new], [record], workers)[0].seconds for workers in (2, 1000)] == [record.seconds / 2, len(PARTS)]


def test_the_pace_is_that_of_the_parts_that_are_there(tmp_path: Path, record: Reproduction) -> None:
    begun = measured_in(tmp_path, {PARTS[0]: 3.0, PARTS[1]: 6.0})  # 9 s in place of 3
    untouched = measured_in(tmp_path, {})
    first, second = plans([begun, untouched], [record, record])
    assert first.seconds == pytest.approx(3.0 * (record.seconds - 3.0))
    assert second.seconds == pytest.approx(3.0 * record.seconds)


def test_a_part_that_was_never_recorded_takes_an_unknown_time(tmp_path: Path, record: Reproduction) -> None:
    del record.parts[PARTS[-1]]
    (plan,) = plans([measured_in(tmp_path, {})], [record])
    assert math.isnan(plan.seconds)
