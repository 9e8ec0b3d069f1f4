"""The base class of experiments: what a paper prints, how it is measured here, and what is claimed of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.types import Array
from zoviz.studies.live import Live
from zoviz.studies.verdict import Evidence

Figures = dict[str, Any]
"""What one part of an experiment measured: names, and numbers, text or lists of them, as JSON holds them."""
Measured = Mapping[str, Figures]
"""The figures of all parts, by name."""
Settings = Mapping[str, Any]
"""Sizes such as rounds and replicas, as JSON holds them."""
SEEDS_OF_A_DRAW = 100_000
"""From a draw's seeds to those of the next: more than any experiment has."""


@dataclass(frozen=True)
class Claim:
    """One claim of a paper, and the test of statistics on it.

    Attributes
    ----------
    place : str
        Where the paper says it, as ``contents.toml`` has it: "Theorem 5.7"; "ours" in it where the paper does not.
    says : str
        The claim in a sentence.
    test : callable
        Takes the figures of all parts, the name of a method and those of its rivals, and returns the evidence on that
        method; the rules of ``zoviz.studies.verdict`` decide.
    method : str
        The method that the claim is on.
    ablation : str
        The same method without what the claim credits, for which the test has to fail. "" where none was run: then
        nothing is called reproduced.
    rivals : tuple of str
        What the test compares the method with, none in a claim on the method alone. Where the ablation is among them it
        is put to the test against the method, never against itself.

    Raises
    ------
    ValueError
        Where a method would be compared with itself.
    """

    place: str
    says: str
    test: Callable[..., Evidence]
    method: str
    ablation: str = ""
    rivals: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.method in (self.ablation, *self.rivals):
            raise ValueError(
                f"Expected an ablation and rivals of {self.method} that are other methods, got it twice in the claim "
                f"that {self.says}: name the method without what the claim credits."
            )

    def evidence(self, measured: Measured, method: str) -> Evidence:
        """Return the evidence on the claim's method or on its ablation, which takes the place of the method."""
        return self.test(measured, method, *(self.method if name == method else name for name in self.rivals))


class Tuning(NamedTuple):
    """How steps were chosen: among how many settings for every method, by what, and on which seeds.

    Attributes
    ----------
    settings : int
        Tried for each method alike.
    criterion : str
    trial_seeds, reported_seeds : tuple of int
        Which have none in common; those of draw 0.
    """

    settings: int
    criterion: str
    trial_seeds: tuple[int, ...]
    reported_seeds: tuple[int, ...]


class Table(NamedTuple):
    """A table of a report: its heading, its heads and its rows, all text."""

    heading: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


class Panel(NamedTuple):
    """A picture's data: lines by name, each of x and y, and whether an axis is logarithmic.

    ``parts`` has the parts of the experiment that each line was made of; a line that was not measured has none.
    """

    heading: str
    x: str
    y: str
    lines: Mapping[str, tuple[list[float], list[float]]]
    log_x: bool = False
    log_y: bool = False
    parts: Mapping[str, Sequence[str]] = MappingProxyType({})


class Experiment(param.Parameterized):
    """A table, a figure or a theorem of a paper as it is measured here.

    A module in ``zoviz.papers.<paper>`` defines a subclass; ``zoviz reproduce`` finds it. Its parts depend on no others
    than those that ``needs`` names, so that they are measured on several processes, or on another day.
    """

    __abstract = True

    title: ClassVar[str]
    """Paper and place: "sogd Fig. 2". The command line calls it sogd-fig-2."""
    subject: ClassVar[str]
    """What is measured, in a line."""
    printed: ClassVar[str]
    """What the paper prints, with its numbers."""
    protocol: ClassVar[str]
    """Problem, solvers, counts, metric and its reading."""
    sizes: ClassVar[Mapping[str, Settings]]
    """The settings of a ``quick`` and of the ``full`` experiment."""

    size: param.Selector[str] = param.Selector(default="full", objects=["quick", "full"], doc="Which of the two sizes.")
    draw = param.Integer(default=0, bounds=(0, 1000), doc="Which seeds and instances; 0: those of the record.")

    def seed(self, first: int = 0) -> int:
        """Return the seed, of runs or of an instance, that stands in this draw for one of the recorded results."""
        return first + SEEDS_OF_A_DRAW * self.draw

    def instance_seeds(self, first: int = 0) -> tuple[int, ...]:
        """Return the seeds of the instances in this draw, given the first of the recorded ones."""
        return tuple(self.seed(first + number) for number in range(self.settings["instances"]))

    @property
    def settings(self) -> Settings:
        """The settings of this size."""
        return self.sizes[self.size]

    @classmethod
    def slug(cls) -> str:
        """Return the title as one word, for the command line and for files."""
        return re.sub(r"[^a-z0-9]+", "-", cls.title.lower()).strip("-")

    @classmethod
    def paper(cls) -> str:
        """Return the short name of the paper."""
        return cls.title.split()[0]

    def parts(self) -> list[str]:
        """Return the names of the parts, each after those that it needs."""
        raise NotImplementedError

    def needs(self, part: str) -> list[str]:
        """Return the parts whose figures are needed to measure a part; by default none."""
        return []

    def measure(self, part: str) -> Figures:
        """Return the figures of one part, the same at every call but for times."""
        raise NotImplementedError

    def measure_after(self, part: str, needed: Measured) -> Figures:
        """Return the figures of one part, given those of the parts that it needs."""
        return self.measure(part)

    def tuning(self) -> Tuning | None:
        """Return how steps were chosen; None where nothing is tuned."""
        return None

    def claims(self) -> list[Claim]:
        """Return the claims that figures of this size decide on."""
        raise NotImplementedError

    def tables(self, measured: Measured) -> list[Table]:
        """Return the tables, with the paper's numbers beside ours."""
        raise NotImplementedError

    def panels(self, measured: Measured) -> list[Panel]:
        """Return the panels of the figure."""
        return []

    def seeds(self, part: str) -> tuple[int, ...]:
        """Return the seeds of the runs that a part's figures are of."""
        tuning = self.tuning()
        return tuple(map(self.seed, (0,) if tuning is None else tuning.reported_seeds))

    def live(self, measured: Measured) -> list[Live]:
        """Return the runs that a page can start, the most instructive first, with steps as they were tuned."""
        return []


def plain(values: Array) -> list[Any]:
    """Return an array of any shape as lists for JSON, with None for values that are not finite."""
    if values.ndim > 1:
        return [plain(row) for row in values]
    return [float(value) if np.isfinite(value) else None for value in values]


def rounded(values: Array) -> list[Any]:
    """Return an array of any shape, which is only plotted, as lists of numbers rounded to four digits."""
    return [None if value is None else float(f"{value:.4g}") for value in plain(values)]


def array(values: list[Any]) -> Array:
    """Return lists of numbers as an array of their shape, with NaN for None."""
    return np.array(values, dtype=float)


def mean_text(values: Array, digits: int = 3) -> str:
    """Return "mean ± standard error" of values (R,); a dash where one is missing."""
    if not np.isfinite(values).all():
        return "–"
    if values.size < 2:
        return f"{values.mean():.{digits}g}"
    return f"{values.mean():.{digits}g} ± {values.std(ddof=1) / np.sqrt(values.size):.2g}"
