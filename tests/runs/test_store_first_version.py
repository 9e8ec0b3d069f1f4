"""A store that an early version wrote (22 runs of all kinds of problem) lives on, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.first_store import KNOWN, RUNS, assert_close, assert_outcome, ended, exact, nameless, opened
from zoviz.core.errors import Untrusted
from zoviz.problems import LoadTracking
from zoviz.runs.storage.schema import VERSION
from zoviz.solvers import ZOCEG
from zoviz.studies.study import Study

EACH_RUN = pytest.mark.parametrize("reference", RUNS.values(), ids=RUNS)
DELETED = [name for name in RUNS if "deleted" in name]


def test_it_is_listed_as_it_was(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        lines = {one.id: one for deleted in (False, True) for one in store.runs(deleted=deleted)}
        assert (store.count(), store.count(deleted=True)) == (len(RUNS) - len(DELETED), len(DELETED))
        assert store.check() == [] and store.database.version() == VERSION
    assert lines.keys() == {reference["id"] for reference in RUNS.values()}
    for reference in RUNS.values():
        line = lines[reference["id"]]._asdict() | {"tags": list(lines[reference["id"]].tags)}
        assert {name: line[name] for name in reference["record"]} == reference["record"]
        for name, figure in reference["figures"].items():
            assert_close(line[name], figure)


@EACH_RUN
def test_a_run_is_read_as_it_was(reference: dict[str, Any], tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        stored = store.load(reference["id"])
    assert_outcome(stored, reference["stored"])
    assert len(stored.schedule) == len(reference["script"])
    for change, (iteration, name, new) in zip(stored.schedule, reference["script"], strict=True):
        assert (change.iteration, change.name) == (iteration, name)
        assert_close(change.new, new)


@EACH_RUN
@pytest.mark.parametrize("again", ["resume", "replay", "fork"])
def test_a_run_goes_on_or_again_as_it_would_have(reference: dict[str, Any], again: str, tmp_path: Path) -> None:
    if not (exact() or reference["portable"]):
        pytest.skip("where arithmetic differs, this run has paid for other points, or magnifies rounding")
    substitutes, fork = nameless(reference), reference["fork"]
    with opened(tmp_path, tuple(reference["trusted"])) as store:
        if again == "resume":
            run = store.load(reference["id"]).resume(**substitutes, **reference["resume"]["settings"])
        elif again == "replay":
            run = store.load(reference["id"]).replay(**substitutes)
        else:
            run = store.load(reference["id"]).fork(fork["at"], fork["changes"], **substitutes, **fork["settings"])
        assert_outcome(ended(run), reference[again]["outcome"])
        assert_outcome(store.load(run.id), reference[again]["outcome"])


def test_samples_that_it_did_not_count_are_not_zero(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        stored = store.load(RUNS["linear interrupted"]["id"])
        assert stored.record.samples is None and stored.progress.samples is None
        assert stored.record.zeta_samples is None and stored.progress.zeta_samples is None
        assert np.isnan([stored.result.samples, stored.result.zeta_samples]).all()
        assert stored.result.ledger is None, "nor did it say what calls were for"
        run = stored.resume()
        assert np.isnan(run.run().samples).all() and run.progress.samples is None and run.result.ledger is None
        assert "samples" not in run.trace.snapshot().columns and store.load(run.id).record.samples is None
        fork = store.load(stored.id).fork(iterations=4)
        assert (fork.run().samples > 0).all(), "a run that begins today counts them"


def test_what_is_not_trusted_still_is_not(tmp_path: Path) -> None:
    (reference,) = [one for one in RUNS.values() if one["trusted"]]
    with opened(tmp_path) as store, pytest.raises(Untrusted, match="statistics:geometric_mean"):
        store.load(reference["id"]).resume()


def test_a_study_finds_its_cells(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        problem, before = LoadTracking(n=5, curtailment=40.0), store.count()
        study = Study("fixture study", problem, ZOCEG(), seeds=(0, 1), replicas=2, iterations=8, store=store)
        assert [cell.id for cell in study.cells] == KNOWN["study"]["cells"]
        study.run(progress=False)
        assert store.count() == before
        for number, cell in enumerate(study.cells):
            assert_outcome(store.load(cell.id), RUNS[f"study {number}"]["resume"]["outcome"])
