"""The form of a benchmark: problems, solvers, budgets and processes, as arguments of ``zoviz benchmark``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import panel as pn
import param

from zoviz.core.errors import MissingExtra
from zoviz.core.registry import discover, required
from zoviz.problems.base import Problem
from zoviz.problems.coco.bbob_constrained import DIMENSIONS, FUNCTIONS
from zoviz.problems.collection import CollectionProblem
from zoviz.problems.cutest.suite import Suite
from zoviz.solvers.base import Solver
from zoviz.views.common.parameter_row import ParameterRow
from zoviz.views.common.search_list import SearchList, SeveralList
from zoviz.views.common.style import WIDE

_FAMILIES = {"engineering": "Engineering designs", "quadratic": "Quadratic problems", "power": "Power grids"}
_KINDS = {"n": "nonlinear constraints", "l": "linear constraints", "b": "bounds only"}
_SMALL, _LARGE = (2, 10), (11, 50)
"""Numbers of variables of the lists of published problems."""
_WORD = re.compile(r"[^\s,:]+(?::[^\s,=:]+(?:=[^\s,]+(?:,[^\s,=:]+=[^\s,]+)*)?)?")
"""A problem or a solver with parameters: NAME:a=1,b=2."""


def offered_problems() -> list[str]:
    """Return the problems that need no data of one's own and are no stream, by class name, without published ones."""
    return [
        name
        for name, cls in discover("zoviz.problems", Problem).items()
        if not issubclass(cls, CollectionProblem)
        and not required(cls)
        and cls.__module__.startswith("zoviz.")
        and cls().form != "online bilevel"
    ]


def offered_solvers() -> list[str]:
    """Return all solvers by class name."""
    return [name for name, cls in discover("zoviz.solvers", Solver).items() if cls.__module__.startswith("zoviz.")]


def lists_of_problems() -> dict[str, list[str]]:
    """Return named lists of problems: ours by family, and those of collections that are installed by kind and size."""
    problems = discover("zoviz.problems", Problem)
    lists: dict[str, list[str]] = {}
    for name in offered_problems():
        title = _FAMILIES.get(problems[name].__module__.split(".")[2])
        if title is not None:
            lists.setdefault(title, []).append(name)
    with suppress(MissingExtra):
        for kind, what in _KINDS.items():
            for low, high in (_SMALL, _LARGE):
                names = [entry.name for entry in Suite.names(low, high, kinds=kind)]
                lists[f"CUTEst, {what}, n = {low} to {high}"] = [f"Suite:problem_name={name}" for name in names]
    if find_spec("cocoex"):
        for n in DIMENSIONS:
            names = [f"function={function},dimension={n}" for function in FUNCTIONS]
            lists[f"COCO, constrained, n = {n}"] = [f"BBOBConstrained:{name}" for name in names]
    return lists


def words_of(text: str) -> list[str]:
    """Return the words of a text, such as ``LoadTracking:n=6,curtailment=40 PressureVessel``."""
    return _WORD.findall(text)


class SetUpForm(pn.viewable.Viewer):
    """A form for what a benchmark consists of.

    Parameters are the arguments of ``zoviz benchmark``; ``command`` returns them as it wants them.
    """

    name_of_study: param.String[str] = param.String(
        default="benchmark", label="Name", doc="Name of the study. An existing study is extended."
    )
    problems: param.List[list[str]] = param.List(default=[], item_type=str, label="Problems", doc="Type to search.")
    solvers: param.List[list[str]] = param.List(
        default=["ZOSQP", "ZOSPLM", "COBYLA"], item_type=str, label="Solvers", doc="Type to search."
    )
    more_problems: param.String[str] = param.String(
        default="", label="Problems with parameters", doc="For example LoadTracking:n=6 NonconvexQCQP:n=20,seed=3."
    )
    more_solvers: param.String[str] = param.String(
        default="",
        label="Solvers with parameters",
        doc="For example ZOSPLM:estimator.batch_size=5.",
    )
    sweeps: param.Number[float] = param.Number(
        default=100.0, bounds=(1, 1e6), label="Budget / (n + 1)", doc="Budget per replica, in units of n + 1 calls."
    )
    replicas: param.Integer[int] = param.Integer(
        default=5, bounds=(1, 1000), label="Replicas", doc="Runs of each pair, with different starts and noise."
    )
    seed: param.Integer[int] = param.Integer(default=0, bounds=(0, None), label="Seed", doc="Random seed.")
    noise: param.Number[float] = param.Number(
        default=0.0,
        bounds=(0, None),
        label="Noise",
        doc="Standard deviation of the noise on all values; 0: none.",
    )
    workers: param.Integer[int] = param.Integer(
        default=min(2, os.cpu_count() or 1),
        bounds=(1, os.cpu_count() or 1),
        label="Processes",
        doc="Parallel processes on the server.",
    )
    problem_list: param.Selector[str] = param.Selector(
        default=None, objects=[None], label="Add a list", doc="Adds a list of problems to the selection."
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._lists = lists_of_problems()
        self.param.problem_list.objects = {"": None} | {
            f"{title} ({len(names)})": title for title, names in self._lists.items()
        }
        known = [*offered_problems(), *(name for names in self._lists.values() for name in names)]
        self._known_problems, self._known_solvers = list(dict.fromkeys(known)), offered_solvers()
        self.param.watch(lambda event: self._add(event.new), "problem_list")

    def _add(self, title: str | None) -> None:
        """Add a list's problems to those that are chosen."""
        if title is not None:
            self.problems = list(dict.fromkeys([*self.problems, *self._lists[title]]))
            self.problem_list = None

    def command(self) -> list[str]:
        """Return the arguments of ``zoviz benchmark``.

        Raises
        ------
        ValueError
            Where a problem or a solver is missing, or none of zoviz's own.
        """
        problems = [*self.problems, *words_of(self.more_problems)]
        solvers = [*self.solvers, *words_of(self.more_solvers)]
        for kind, words, offered in (
            ("problem", problems, {*offered_problems(), "Suite", "BBOBConstrained"}),
            ("solver", solvers, {*self._known_solvers}),
        ):
            if not words:
                raise ValueError(f"Expected at least one {kind}, got none: choose some.")
            for word in words:
                name = word.partition(":")[0]
                if name not in offered:
                    raise ValueError(
                        f"Expected a {kind} of zoviz, got {name!r}: for your own classes use zoviz benchmark on the "
                        "command line; the study is shown here."
                    )
        numbers = {name: getattr(self, name) for name in ("sweeps", "replicas", "seed", "noise", "workers")}
        words = ["--name", self.name_of_study, "--problems", *problems, "--solvers", *solvers]
        return words + [part for name, value in numbers.items() for part in (f"--{name}", str(value))]

    def set_command(self, command: Sequence[str]) -> None:
        """Set the form as the arguments of ``zoviz benchmark`` say."""
        values: dict[str, list[str]] = {}
        for word in command:
            if word.startswith("--"):
                values[word[2:]] = []
            elif values:
                values[list(values)[-1]].append(word)
        plain = {name: own[0] for name, own in values.items() if len(own) == 1 and name in self.param}
        numbers = {
            name: float(text) if name in ("sweeps", "noise") else int(text)
            for name, text in plain.items()
            if name in ("sweeps", "replicas", "seed", "noise", "workers")
        }
        if "workers" in numbers:  # another machine may have had more
            numbers["workers"] = min(numbers["workers"], os.cpu_count() or 1)
        problems, solvers = values.get("problems", []), values.get("solvers", [])
        self.param.update(
            name_of_study=values.get("name", [self.name_of_study])[0],
            problems=[word for word in problems if word in self._known_problems],
            more_problems=" ".join(word for word in problems if word not in self._known_problems),
            solvers=[word for word in solvers if word in self._known_solvers],
            more_solvers=" ".join(word for word in solvers if word not in self._known_solvers),
            **numbers,
        )

    def __panel__(self) -> pn.viewable.Viewable:
        def text(name: str, width: int) -> pn.widgets.TextInput:
            return pn.widgets.TextInput.from_param(self.param[name], width=width, margin=(4, 10))

        def several(name: str, known: Sequence[str]) -> SeveralList:
            return SeveralList.of_room(self.param[name], 400, options={one: one for one in known})

        numbers = {"sweeps": 270, "replicas": 210, "seed": 180, "noise": 190, "workers": 220}
        fields = [ParameterRow.in_row(self.param[name], width) for name, width in numbers.items()]
        return pn.Column(
            pn.FlexBox(
                several("problems", self._known_problems),
                SearchList.of_room(self.param.problem_list, 270),
                several("solvers", self._known_solvers),
            ),
            pn.FlexBox(text("name_of_study", 160), text("more_problems", 400), text("more_solvers", 400)),
            pn.FlexBox(*fields),
            **WIDE,
        )
