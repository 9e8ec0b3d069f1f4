"""What the room has on its cards."""

from __future__ import annotations

import pytest

from zoviz.studies.contents import TITLES, contents
from zoviz.studies.reproduction import experiments
from zoviz.views.experiments.overview import NOT_MEASURED, NOT_RECORDED, Overview, read_overview


@pytest.fixture(scope="module")
def overview() -> Overview:
    """All that there is."""
    return read_overview()


def test_every_experiment_has_a_card_and_every_other_row_is_told(overview: Overview) -> None:
    assert [one.name for one in overview.records] == list(experiments())
    rows = contents()
    assert list(overview.unmeasured) == [row for row in rows if row.missing]
    assert overview.papers == list(TITLES)
    for one in overview.records:
        told = [row.verdict.split(":")[0].split(" (")[0] for row in rows if row.experiment == one.name]
        assert sum(one.states.values()) == len(told), one.name
        assert one.states == {state: told.count(state) for state in one.states}, one.name


def test_an_experiment_of_which_only_the_quick_size_is_recorded_has_no_verdicts(overview: Overview) -> None:
    quick = [one for one in overview.records if not one.whole]
    for one in quick:
        assert list(one.states) == [NOT_RECORDED] and one.full.size == "full"
    assert all(one.work.experiment.size == "full" for one in overview.records if one.whole)


def test_a_choice_of_paper_and_verdict_leaves_what_belongs_to_it(overview: Overview) -> None:
    some = overview.chosen("salm", "not reproduced")
    assert some.records and not some.unmeasured and some.papers == ["salm"]
    assert all(one.states.get("not reproduced") for one in some.records)
    assert {one.name for one in overview.chosen("salm", "").records} > {one.name for one in some.records}
    nothing_yet = overview.chosen("", NOT_MEASURED)
    assert not nothing_yet.records and nothing_yet.unmeasured == overview.unmeasured
    assert overview.record("splm-fig-1") is not None and overview.record("nonsense") is None
