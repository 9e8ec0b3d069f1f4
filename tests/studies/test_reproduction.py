"""Experiments: found by discovery, measured part by part, resumed to the digit, and judged beside their ablations."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from zoviz.core.errors import ZovizError
from zoviz.papers.sogd.product_variance import ProductVariance
from zoviz.studies.experiment import Claim, Experiment, Figures, Measured, Settings, Table, array, mean_text, plain
from zoviz.studies.planning import plans
from zoviz.studies.reports import html, markdown
from zoviz.studies.reproduction import Reproduction, changes, experiments
from zoviz.studies.verdict import Evidence


class Falls(Experiment):
    """Two methods, of which the first falls."""

    __abstract = True  # a test's own: the registry must not offer it

    title = "toy Fig. 1"
    subject = "Two sequences"
    printed = "A claim."
    protocol = "None."
    sizes: ClassVar[Any] = {"quick": {"rounds": 4}, "full": {"rounds": 8}}
    calls: ClassVar[list[str]] = []
    without = [4.0, 4.5]

    def parts(self) -> list[str]:
        return ["method", "without it"]

    def measure(self, part: str) -> Figures:
        self.calls.append(part)
        if "stop" in self.calls:
            raise KeyboardInterrupt
        return {"values": plain(np.array([1.0 / 3.0, np.nan]) if part == "method" else np.array(self.without))}

    def claims(self) -> list[Claim]:
        def test(measured: Measured, method: str) -> Evidence:
            value = array(measured[method]["values"])[0]
            return Evidence(np.array([[3.9 - value]]), f"{value:.3g}", {method: 1.0}, exact=True)

        return [Claim("Fig. 1", "it falls", test, "method", "without it")]

    def tables(self, measured: Measured) -> list[Table]:
        return [
            Table("a table", ("Method", "Value"), [(name, str(one["values"][0])) for name, one in measured.items()])
        ]


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Falls:
    monkeypatch.setattr(Falls, "calls", [])
    return Falls(size="quick")


def test_what_was_interrupted_goes_on_and_ends_with_the_same_report(toy: Falls, tmp_path: Path) -> None:
    whole = Reproduction(toy, tmp_path / "whole").run()
    toy.calls[:] = []

    def stop(sentence: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Reproduction(toy, tmp_path / "part").run(say=stop)
    assert toy.calls == ["method"]
    again = Reproduction(toy, tmp_path / "part")
    assert again.missing == ["without it"]
    with pytest.raises(ZovizError, match="Expected all parts of toy Fig. 1, got 1: without it missing"):
        again.judgements()
    again.run()
    assert toy.calls == ["method", "without it"], "nothing is measured twice"
    assert again.measured == whole.measured == Reproduction(toy, tmp_path / "part").measured
    assert markdown(again) == markdown(whole)
    assert "| toy" not in markdown(again) and "| reproduced |" in markdown(again)


def test_a_whole_file_is_judged_anew_where_its_claims_are_not_those_of_today(toy: Falls, tmp_path: Path) -> None:
    work = Reproduction(toy, tmp_path).run()
    content = json.loads(work.path.read_text(encoding="utf-8"))
    del content["claims"]
    work.path.write_text(json.dumps(content), encoding="utf-8")
    toy.calls[:] = []
    assert Reproduction(toy, tmp_path).run().judged == work.judged == Reproduction(toy, tmp_path).judged != []
    assert toy.calls == [], "nothing is measured twice"


def test_a_page_says_the_same_and_shows_what_is_written(toy: Falls, tmp_path: Path) -> None:
    work = Reproduction(toy, tmp_path).run()
    page = html(work, "<figure></figure>")
    assert "<td>reproduced</td>" in page and page.count("<table>") == 2 and "<figure></figure>" in page
    assert "<td>0.333 &lt; 4</td>" in html(work).replace("<td>0.333</td>", "<td>0.333 &lt; 4</td>")


def test_parts_may_be_done_by_others(toy: Falls, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        there = Reproduction(toy, tmp_path / "there").run(executor=pool)
    assert there.measured == Reproduction(toy, tmp_path / "here").run().measured


class Grows(Falls):
    """A number that each part takes from the part before it."""

    __abstract = True

    def parts(self) -> list[str]:
        return [str(i) for i in range(6)]

    def needs(self, part: str) -> list[str]:
        return [str(int(part) - 1)] if part != "0" else []

    def measure_after(self, part: str, needed: Measured) -> Figures:
        return {"values": [sum(2.0 * one["values"][0] for one in needed.values()) + 1.0]}

    def claims(self) -> list[Claim]:
        return []


def test_a_part_is_given_the_figures_of_those_that_it_needs(tmp_path: Path) -> None:
    """On other threads, in a row here, and where the first three are in the file."""
    with ThreadPoolExecutor(3) as pool:
        there = Reproduction(Grows(size="quick"), tmp_path / "there").run(executor=pool)
    assert there.measured["5"]["values"] == [63.0]
    here = Reproduction(Grows(size="quick"), tmp_path / "here").run()
    assert here.measured == there.measured
    for part in "345":
        del here.parts[part]
    assert here.run().measured == there.measured


def test_other_settings_are_not_mixed(toy: Falls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Reproduction(toy, tmp_path).run()
    other: Settings = {"rounds": 5}
    monkeypatch.setattr(Falls, "sizes", {"quick": other})
    with pytest.raises(
        ZovizError, match=r"Expected results with the settings \{'rounds': 5\} in .*, got \{'rounds': 4\}"
    ):
        Reproduction(toy, tmp_path)


def test_a_record_of_older_settings_counts_as_none(toy: Falls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Reproduction(toy, tmp_path / "recorded").run()
    monkeypatch.setattr(resources, "files", lambda package: tmp_path)
    assert Reproduction.recorded(toy).missing == []
    other: Settings = {"rounds": 5}
    monkeypatch.setattr(Falls, "sizes", {"quick": other})
    work = Reproduction(Falls(size="quick"), tmp_path / "here")
    record = Reproduction.recorded(work.experiment)
    assert record.missing == ["method", "without it"]
    (plan,) = plans([work], [record])
    assert plan.missing == 2 and np.isnan(plan.seconds)
    assert changes(work.run(), record) == []


def test_a_claim_whose_ablation_passes_cannot_be_decided(
    toy: Falls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Reproduction(toy, tmp_path / "a").run()
    assert [row["verdict"] for row in before.judgements()] == ["reproduced"]
    assert changes(before, before) == []
    monkeypatch.setattr(Falls, "without", [3.0, 3.5])
    after = Reproduction(toy, tmp_path / "b").run()
    assert [row["verdict"] for row in after.judgements()] == ["cannot be decided"]
    assert changes(after, before) == ["toy Fig. 1, Fig. 1, it falls: cannot be decided, recorded as reproduced."]
    assert changes(after, Reproduction(toy, tmp_path / "nothing")) == []


def test_the_file_is_json_that_others_read(toy: Falls, tmp_path: Path) -> None:
    work = Reproduction(toy, tmp_path).run()
    content = json.loads(work.path.read_text(encoding="utf-8"), parse_constant=lambda word: pytest.fail(word))
    assert content["command"] == "zoviz reproduce toy-fig-1 --quick" and content["size"] == "quick"
    assert content["parts"]["method"]["figures"] == {"values": [1.0 / 3.0, None]}
    assert set(content["parts"]["method"]) == {"date", "commit", "seconds", "reference", "figures"}


def test_another_draw_has_other_seeds_and_a_file_of_its_own(tmp_path: Path) -> None:
    work, again = (Reproduction(ProductVariance(size="quick", draw=draw), tmp_path).run() for draw in (0, 2))
    assert (work.path.name, again.path.name) == ("sogd-21-quick.json", "sogd-21-quick-draw-2.json")
    assert again.command == "zoviz reproduce sogd-21 --quick --draw 2"
    assert all(again.measured[part] != figures for part, figures in work.measured.items())
    assert [row["verdict"] for row in again.judgements()] == [row["verdict"] for row in work.judgements()]
    assert Reproduction.recorded(again.experiment).experiment.draw == 0
    with ThreadPoolExecutor(1) as pool:
        assert Reproduction(again.experiment, tmp_path / "there").run(executor=pool).measured == again.measured


@pytest.mark.parametrize("name", experiments())
def test_draws_have_no_seed_in_common(name: str) -> None:
    one, other = (experiments()[name](size="quick", draw=draw) for draw in (0, 1))
    assert not set(one.seeds(one.parts()[0])) & set(other.seeds(other.parts()[0]))


def test_a_mean_stands_with_its_error() -> None:
    assert mean_text(np.array([1.0, 3.0])) == "2 ± 1" and mean_text(np.array([1.0, np.nan])) == "–"


@pytest.mark.parametrize("size", ["quick", "full"])
@pytest.mark.parametrize("name", experiments())
def test_every_experiment_says_what_it_is(name: str, size: str) -> None:
    one = experiments()[name](size=size)
    assert one.subject and one.printed and one.protocol and one.parts() and one.claims()
    assert len(one.parts()) == len(set(one.parts()))
    assert json.loads(json.dumps(one.settings)) == one.settings
    claims = [(claim.place, claim.says) for claim in one.claims()]
    assert len(claims) == len(set(claims)), "a verdict is found by its place and its sentence"
    assert all(claim.method != claim.ablation for claim in one.claims())


TUNINGS = {name: tuning for name, cls in experiments().items() if (tuning := cls().tuning()) is not None}


@pytest.mark.parametrize("name", TUNINGS)
def test_steps_are_chosen_on_other_seeds(name: str) -> None:
    tuning = TUNINGS[name]
    assert tuning.settings > 1 and tuning.criterion
    assert not set(tuning.trial_seeds) & set(tuning.reported_seeds)
