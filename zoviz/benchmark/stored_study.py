"""A study read from its store while other processes work on it; each finished run is read once."""

from __future__ import annotations

import time
from typing import NamedTuple

from zoviz.benchmark.courses import Benchmark, Course, courses_of
from zoviz.core.errors import ZovizError
from zoviz.diagnosis.verdict import Verdict, Word, verdict_of
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.storage.queries import Record
from zoviz.runs.store import Store
from zoviz.studies.cell import DONE
from zoviz.studies.definition import Definition

_LONGEST = 0.5
"""Seconds of reading ended runs at a time, so that what has been read is soon shown."""


class Outcome(NamedTuple):
    """The outcome of a study's run: its record, its verdict, and the courses of its replicas."""

    record: Record
    verdict: Verdict | None
    courses: list[Course]


class StudySnapshot(NamedTuple):
    """The runs and outcomes of a study so far.

    Attributes
    ----------
    definition : Definition
    records : dict of str to Record
        The runs that have begun, by id.
    outcomes : dict of str to Outcome
        Those that have ended and were read, by id.
    active : bool
        Whether a process is at work on it.
    """

    definition: Definition
    records: dict[str, Record]
    outcomes: dict[str, Outcome]
    active: bool

    @property
    def unread(self) -> int:
        """Runs that have ended and are still to be read."""
        return sum(one.status in DONE for one in self.records.values()) - len(self.outcomes)

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark of the runs that were read."""
        return Benchmark.of_runs(self.definition, {id: one.courses for id, one in self.outcomes.items()})


class StoredStudy:
    """A study in a store, whose state ``read`` returns.

    Parameters
    ----------
    store : Store
    name : str
    """

    def __init__(self, store: Store, name: str) -> None:
        self.name, self._store = name, store
        self._outcomes: dict[str, Outcome] = {}

    def read(self) -> StudySnapshot:
        """Return the study's present state, reading as many of the newly finished runs as time allows.

        Raises
        ------
        ZovizError
            Where the store has no such study.
        """
        record = self._store.study(self.name)
        if record is None:
            raise ZovizError(f"Expected the name of a study in the store, got {self.name!r}: run it first.")
        definition = Definition.of(record.definition)
        own = {run.id for run in definition.runs}
        every = (one for gone in (False, True) for one in self._store.runs(study=self.name, deleted=gone))
        records = {one.id: one for one in every if one.id in own}
        began = time.monotonic()
        for run in definition.runs:
            now = records.get(run.id)
            if now is None or now.status not in DONE:
                self._outcomes.pop(run.id, None)
            elif run.id not in self._outcomes or self._outcomes[run.id].record.updated != now.updated:
                self._outcomes[run.id] = self._outcome(now, definition.tolerance)
                if time.monotonic() - began > _LONGEST:
                    break
        outcomes = {id: one for id, one in self._outcomes.items() if id in records}
        return StudySnapshot(definition, records, outcomes, record.active)

    def _outcome(self, record: Record, tolerance: float) -> Outcome:
        """Read a run that has ended."""
        stored = self._store.load(record.id)
        if record.status is RunStatus.FAILED:
            verdict: Verdict | None = Verdict(Word.FAILED, record.message)
        else:
            verdict = verdict_of(stored) if len(stored.trace) > 1 else None
        return Outcome(record, verdict, courses_of(stored, tolerance) if len(stored.trace) else [])
