"""The map of a study: what a cell says before, while and after its run goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.stores import whole_study
from zoviz.benchmark.courses import Hits
from zoviz.benchmark.stored_study import StoredStudy, StudySnapshot
from zoviz.core.errors import ZovizError
from zoviz.diagnosis.verdict import Verdict, Word
from zoviz.problems import LoadTracking, PressureVessel
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG, ZOEG
from zoviz.studies.study import Study
from zoviz.views.benchmark.heat_map import AT_WORK, ENDED, FILLS, NOT_THERE, WAITING, HeatMap, cell_of, solved_counts


@pytest.fixture
def snapshot(tmp_path: Path) -> StudySnapshot:
    store = Store(f"sqlite:///{tmp_path}/a.db")
    problems = {"load": LoadTracking(n=3), "vessel": PressureVessel()}
    Study("s", problems, {"one": ZOCEG(), "two": ZOEG()}, sweeps=20, replicas=2, store=store).run(progress=False)
    with pytest.raises(ZovizError, match="got 'other'"):
        StoredStudy(store, "other").read()
    return whole_study(store, "s")


def test_a_cell_through_its_life(snapshot: StudySnapshot) -> None:
    run = next(one for one in snapshot.definition.runs if (one.problem, one.solver) == ("load", "one"))
    here = ("load", "one", "1/2")
    assert snapshot.unread == 0
    whole = cell_of(snapshot, *here)
    assert whole.word == str(snapshot.outcomes[run.id].verdict.word) and (whole.text, whole.ids) == ("1/2", [run.id])
    unread = snapshot._replace(outcomes={})
    assert cell_of(unread, *here).word == ENDED and unread.unread == len(snapshot.outcomes)
    going = snapshot.records[run.id]._replace(status=RunStatus.RUNNING)
    assert cell_of(unread._replace(records={run.id: going}), *here).word == AT_WORK
    interrupted = going._replace(status=RunStatus.INTERRUPTED)
    assert cell_of(unread._replace(records={run.id: interrupted}), *here).word == "interrupted"
    assert cell_of(unread._replace(records={}), *here).word == WAITING
    assert cell_of(snapshot, "load", "none", "").word == "refused"


@pytest.mark.parametrize(
    ("verdict", "solved", "word"),
    [
        (Word.INFEASIBLE, "2/2", "solved"),
        (Word.INFEASIBLE, "1/2", "infeasible"),
        (Word.SOLVED, "0/2", NOT_THERE),
        (Word.SOLVED, "2/2", "solved"),
        (Word.DIVERGING, "0/2", "diverging"),
        (Word.STALLED, "", "stalled"),
    ],
)
def test_the_word_of_a_cell_follows_the_rule_of_its_count(
    snapshot: StudySnapshot, verdict: Word, solved: str, word: str
) -> None:
    run = next(one for one in snapshot.definition.runs if (one.problem, one.solver) == ("load", "one"))
    judged = snapshot.outcomes[run.id]._replace(verdict=Verdict(verdict, "Why."))
    cell = cell_of(snapshot._replace(outcomes=snapshot.outcomes | {run.id: judged}), "load", "one", solved)
    assert (cell.word, cell.text, cell.detail) == (word, solved, "Why.") and word in FILLS


def test_a_click_picks_the_cell_under_it(snapshot: StudySnapshot) -> None:
    from bokeh.events import Tap

    picked: list[tuple[str, str]] = []
    heat_map = HeatMap(["load", "vessel"], ["one", "two"], lambda *pair: picked.append(pair))
    heat_map.update(snapshot, {})
    assert list(heat_map.source.data["y"]) == ["load", "load", "vessel", "vessel"]
    heat_map.tapped(Tap(heat_map.figure, x=1.3, y=1.7))  # the first problem stands on top
    heat_map.tapped(Tap(heat_map.figure, x=7.0, y=0.5))
    assert picked == [("load", "two")]


def test_counts_of_replicas() -> None:
    calls = np.array([[[3.0, np.inf], [np.nan, np.nan]]])
    hits = Hits(("P",), ("A", "B"), np.ones(1), calls, np.where(np.isnan(calls), np.nan, 9.0))
    assert solved_counts(hits) == {("P", "A"): "1/2"}
