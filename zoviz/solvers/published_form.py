"""The form of a method: as its paper prints it, or by what it differs from that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

from zoviz.problems.base import Problem
from zoviz.solvers.parameter_paths import ParameterPaths
from zoviz.solvers.theorem_steps import Setting

FAR = 1e9
"""As good as no bound, for a size of multipliers."""


class Departure(NamedTuple):
    """A parameter that takes a method away from its paper's form.

    Attributes
    ----------
    name : str
        The parameter, dotted where it is a nested part's.
    published : object
        Its value in the paper's form; ``FAR`` stands for any that is as large.
    words : str
        What another value means, as a noun.
    """

    name: str
    published: Any
    words: str

    def is_taken(self, get: Callable[[str], Any], open_counts: bool) -> bool:
        """Return whether the value departs from the paper's; an open one, None, where ``open_counts``."""
        value = get(self.name)
        if value is None:
            return open_counts
        return bool(value < FAR if self.published == FAR else value != self.published)


SAFEGUARDS = (
    Departure("restoration", 0, "restoration of feasibility first"),
    Departure("augmentation", False, "a penalty where multipliers alone do not suffice"),
    Departure("step_reach", FAR, "steps that are shortened for large multipliers"),
)
"""What guards the methods on the Lagrangian."""
ALONG_COORDINATES = Departure("estimator.directions", "random", "directions along coordinates")
SEVERAL_DIRECTIONS = Departure("estimator.batch_size", 1, "several directions in an estimate")
BOUNDED_DUALS = Departure("dual_cap", FAR, "a bound on multipliers")
LAST_ITERATE = Departure("report", "average", "an answer other than the average")


class PublishedForm(ParameterPaths):
    """The part of a solver that knows what its paper prints, and by what it differs from that."""

    __abstract = True

    source: ClassVar[str] = ""
    """Where the method is printed, e.g. "paper splm, Algorithm 1"; empty for one that no paper prints."""
    departures: ClassVar[tuple[Departure, ...]] = ()
    """The parameters that take the method away from what is printed there."""
    printed: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Steps, radii and other values that the paper prints for its theorems or experiments."""

    theorems: ClassVar[Mapping[str, Callable[[Setting], dict[str, Any]]]] = MappingProxyType({})
    """By the numbers of the paper's theorems what gives their steps and radii, by the names of parameters."""

    @classmethod
    def published(
        cls,
        theorem: str | None = None,
        *,
        problem: Problem | None = None,
        iterations: int | None = None,
        **parameters: Any,
    ) -> Self:
        """Return the method exactly as its paper prints it: no safeguards, and the paper's steps and radii.

        Parameters
        ----------
        theorem : str, optional
            Number of the theorem whose steps and radii are wanted, for ``problem`` and ``iterations``: "3.1".
        problem : Problem, optional
        iterations : int, optional
        **parameters
            Of the constructor; what the paper does not print, e.g. most steps. Without them the rule chooses those.

        Raises
        ------
        ValueError
            For a method that no paper prints, and for a theorem whose steps cannot be computed.
        """
        if not cls.source:
            raise ValueError(f"Expected a method that a paper prints, got {cls.__name__}: make it by {cls.__name__}().")
        values = {**cls.printed, **{one.name: one.published for one in cls.departures}}
        if theorem is not None:
            values |= cls._by_theorem(theorem, problem, iterations, parameters)
        solver = cls(**{name: value for name, value in values.items() if "." not in name} | parameters)
        for name, value in values.items():
            part, dot, _ = name.partition(".")
            # Of a part that is given, what it leaves open is as published, and the rest as given.
            if dot and (part not in parameters or solver._value(name) is None):
                solver.set(name, value)
        return solver

    @classmethod
    def _by_theorem(
        cls, theorem: str, problem: Problem | None, iterations: int | None, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the parameters that a theorem gives."""
        if theorem not in cls.theorems:
            known = " or ".join(cls.theorems) or f"none, as {cls.source} prints no steps that can be computed"
            raise ValueError(f"Expected the number of a theorem of {cls.__name__}, {known}, got {theorem!r}.")
        if problem is None or iterations is None:
            raise ValueError(
                f"Expected a problem and the number of iterations for the steps of Theorem {theorem}, got "
                f"problem={problem}, iterations={iterations}."
            )
        return cls.theorems[theorem](Setting(problem, iterations, parameters))

    def differences_from_paper(self, resolved: Mapping[str, Any] = MappingProxyType({})) -> tuple[str, ...]:
        """Return what the method has that its paper does not print, as nouns; what a rule may still choose counts.

        Parameters
        ----------
        resolved : mapping, optional
            What the rule chose, by (dotted) name, for parameters that are left to it.
        """

        def value(name: str) -> Any:
            own = self._value(name)
            return resolved.get(name) if own is None else own

        may = "primal_step" in self.param and value("primal_step") is None
        return tuple(one.words for one in self.departures if one.is_taken(value, may))

    def _value(self, name: str) -> Any:
        """Return a parameter's value; where a part of another class has no such parameter, its class."""
        path, _, last = name.rpartition(".")
        part = self.get(path) if path else self
        return getattr(part, last) if last in part.param else type(part)

    def form(self, resolved: Mapping[str, Any] = MappingProxyType({})) -> str:
        """Return whether the method is as published, as a sentence; empty for one that no paper prints.

        Parameters
        ----------
        resolved : mapping, optional
            What the rule chose, by (dotted) name, for parameters that are left to it.
        """
        if not self.source:
            return ""
        words = self.differences_from_paper(resolved)
        if not words:
            return f"As published: {self.source}."
        listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
        return f"Differs from {self.source} by {listed}."
