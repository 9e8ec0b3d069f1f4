"""What a study consists of, as its store keeps it: readable without the study's problems and solvers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class PlannedRun(NamedTuple):
    """A run of a study, whether it has begun or not.

    Attributes
    ----------
    id : str
        Of the run in the store.
    problem, solver : str
        Names in the study; a solver's is followed by the parameters that the study sets.
    calls : int or None
        Budget of each replica.
    replicas : int
    """

    id: str
    problem: str
    solver: str
    calls: int | None
    replicas: int


class ProblemFacts(NamedTuple):
    """A problem of a study, described without making it.

    Attributes
    ----------
    n : int
        Variables.
    optimum : float or None
        Its optimal value, where that is known.
    kind : str
        Of the problem, by which statistics are cut.
    published : str
        Its name in its collection, where values and starts are those published, else empty.
    """

    n: int
    optimum: float | None
    kind: str = ""
    published: str = ""


class Definition(NamedTuple):
    """The problems, solvers, parameters and budgets of a study.

    Attributes
    ----------
    problems : dict of str to ProblemFacts
    runs : list of PlannedRun
    tolerance : float
        Violation that counts as none.
    refusals : list of str
        Why pairs were left out.
    command : list of str
        Arguments of ``zoviz benchmark`` that make the same study again; empty for one that a script made.
    """

    problems: dict[str, ProblemFacts]
    runs: list[PlannedRun]
    tolerance: float
    refusals: list[str]
    command: list[str]

    def plain(self) -> dict[str, Any]:
        """Return the definition as data for JSON."""
        return {
            "problems": {name: list(facts) for name, facts in self.problems.items()},
            "runs": [list(run) for run in self.runs],
            "tolerance": self.tolerance,
            "refusals": self.refusals,
            "command": self.command,
        }

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Definition:
        """Return a definition from the data of ``plain``."""
        return cls(
            {name: ProblemFacts(*facts) for name, facts in plain["problems"].items()},
            [PlannedRun(*run) for run in plain["runs"]],
            plain["tolerance"],
            list(plain["refusals"]),
            list(plain["command"]),
        )

    def with_earlier(self, earlier: Definition) -> Definition:
        """Return this definition merged with the study's earlier one, to which it adds runs."""
        own = {run.id for run in self.runs}
        return self._replace(
            problems=earlier.problems | self.problems,
            runs=[*(run for run in earlier.runs if run.id not in own), *self.runs],
            refusals=list(dict.fromkeys([*earlier.refusals, *self.refusals])),
        )

    @property
    def solvers(self) -> list[str]:
        """The names of the solvers, in the order of their first runs."""
        return list(dict.fromkeys(run.solver for run in self.runs))
