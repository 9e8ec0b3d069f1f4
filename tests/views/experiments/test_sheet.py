"""The sheet of an experiment: what each curve was made of, and which runs repeat it."""

from __future__ import annotations

from collections.abc import Callable

import panel as pn
import pytest

from zoviz.studies.live import Live
from zoviz.views.experiments.overview import Overview, read_overview
from zoviz.views.experiments.sheet import ExperimentSheet


@pytest.fixture(scope="module")
def overview() -> Overview:
    """All that there is."""
    return read_overview()


@pytest.fixture
def begun() -> list[Live]:
    """The runs that were asked for."""
    return []


@pytest.fixture
def sheet_of(overview: Overview, begun: list[Live]) -> Callable[..., ExperimentSheet]:
    """``sheet_of(name, refusal="")``: an experiment's sheet."""

    def make(name: str, refusal: str = "") -> ExperimentSheet:
        record = overview.record(name)
        assert record is not None
        return ExperimentSheet(record, begun.append, lambda _: refusal)

    return make


def test_a_curve_tells_its_parts_with_seed_seconds_and_commit(sheet_of: Callable[..., ExperimentSheet]) -> None:
    sheet = sheet_of("splm-fig-1")
    assert [one.panel.heading for one in sheet.figures] == [
        "n = 50",
        "n = 100",
        "n = 200",
    ] and sheet.picked.object == ""
    sheet.pick(0, "ZOSPLM")
    entry = sheet.record.work.parts["n = 50 / ZOSPLM"]
    cells = "".join(f"<td>{one}</td>" for one in ("n = 50 / ZOSPLM", "0", f"{entry['seconds']:g}", entry["date"]))
    assert f"{cells}<td>{entry['commit']}</td>" in sheet.picked.object
    sheet.curve = ()
    assert sheet.picked.object == ""


def test_a_curve_offers_the_run_that_repeats_it(sheet_of: Callable[..., ExperimentSheet], begun: list[Live]) -> None:
    sheet = sheet_of("splm-fig-1")
    sheet.pick(0, "ZOALM")
    (button,) = sheet.offers
    assert button.label == "Run live: ZOALM, n = 50" and not button.disabled
    button.clicks += 1
    assert [one.title for one in begun] == ["ZOALM, n = 50"]
    sheet.pick(1, "ZOALM")
    assert sheet.offers == [], "no run of that size is declared"


def test_several_parts_have_their_own_seeds_and_a_claimed_line_has_none(
    sheet_of: Callable[..., ExperimentSheet],
) -> None:
    sheet = sheet_of("zoeg-dimension")
    names = list(sheet.figures[0].panel.lines)
    sheet.pick(0, names[0])
    assert "made of 6 parts of zoviz reproduce zoeg-dimension --full" in sheet.picked.object
    assert "<td>1000 to 1019</td>" in sheet.picked.object, "instances are drawn anew, and their runs with them"
    sheet.pick(0, names[-1])
    assert names[-1].startswith("claimed") and "was not measured" in sheet.picked.object


def test_a_run_that_the_page_cannot_begin_is_told_why(sheet_of: Callable[..., ExperimentSheet]) -> None:
    sheet = sheet_of("splm-fig-1", "It needs a package.")
    sheet.pick(0, "ZOSPLM")
    (button,) = sheet.offers
    said = [one.object for one in sheet.__panel__().select(pn.pane.HTML)]
    assert button.disabled and sum("It needs a package." in one for one in said) == 1


def test_the_whole_sheet_has_claims_and_tables_and_without_a_full_record_no_verdict(
    overview: Overview, sheet_of: Callable[..., ExperimentSheet]
) -> None:
    text = sheet_of("salm-multipliers").text
    assert "The paper prints: Multipliers make" in text and "zoviz reproduce salm-multipliers --full" in text
    assert "Ablation" in text and "||Ax - b|| at the end as a share of its start" in text
    for one in overview.records:
        if not one.whole:
            words = sheet_of(one.name).text
            assert "No results of the full size are recorded." in words and "class='verdict yes'" not in words
