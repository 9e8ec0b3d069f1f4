"""What the room has on its cards: the recorded results of every experiment, and what nothing has measured yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from zoviz.studies.contents import TITLES, Row, contents
from zoviz.studies.experiment import Experiment
from zoviz.studies.reproduction import Reproduction, experiments
from zoviz.studies.verdict import Verdict

NOT_RECORDED, NOT_MEASURED = "not recorded", "nothing measured yet"
"""What stands in the place of a verdict: where the full size was not run, and where there is no experiment."""
STATES = (*(str(verdict) for verdict in Verdict), NOT_RECORDED, NOT_MEASURED)
"""What can be asked for, verdicts first."""


class Record(NamedTuple):
    """An experiment with its recorded results.

    Attributes
    ----------
    full : Experiment
        Of the full size.
    work : Reproduction
        The results of the full size, or, where it was not run, those of the quick one, which may be missing, too.
    live : bool
        Whether the experiment says how a page runs it.
    """

    full: Experiment
    work: Reproduction
    live: bool

    @property
    def name(self) -> str:
        """The name on the command line."""
        return self.full.slug()

    @property
    def paper(self) -> str:
        """The short name of the paper."""
        return self.full.paper()

    @property
    def whole(self) -> bool:
        """Whether the full size is recorded: only its verdicts count."""
        return self.work.experiment.size == self.full.size and not self.work.missing

    @property
    def states(self) -> Mapping[str, int]:
        """How many claims have each verdict, verdicts in their order."""
        if not self.whole:
            return {NOT_RECORDED: len(self.full.claims())}
        count = Counter(row["verdict"] for row in self.work.judged)
        return {state: count[state] for state in STATES if count[state]}


class Overview(NamedTuple):
    """All that the five papers print and claim: experiments, and rows of the contents that have none."""

    records: Sequence[Record]
    unmeasured: Sequence[Row]

    @property
    def papers(self) -> list[str]:
        """The papers of which there is something, in the order of the contents."""
        present = {*(row.paper for row in self.unmeasured), *(one.paper for one in self.records)}
        return [*(paper for paper in TITLES if paper in present), *sorted(present - TITLES.keys())]

    def record(self, name: str) -> Record | None:
        """Return the experiment with this name; None where there is none."""
        return next((one for one in self.records if one.name == name), None)

    def chosen(self, paper: str, state: str) -> Overview:
        """Return what belongs to a paper and has a claim with a verdict; "" for either leaves it open."""
        records = [one for one in self.records if paper in ("", one.paper) and (not state or state in one.states)]
        rows = [row for row in self.unmeasured if paper in ("", row.paper) and state in ("", NOT_MEASURED)]
        return Overview(records, rows)


def read_overview() -> Overview:
    """Return every experiment with its recorded results; takes seconds at a process's first."""
    records = [_record(cls) for cls in experiments().values()]
    return Overview(records, [row for row in contents() if row.missing])


def _record(cls: type[Experiment]) -> Record:
    full, quick = cls(size="full"), cls(size="quick")
    work = Reproduction.recorded(full)
    if work.missing and not Reproduction.recorded(quick).missing:
        work = Reproduction.recorded(quick)
    return Record(full, work, cls.live is not Experiment.live)
