"""A gest-api generator: Xopt, Badger, libEnsemble and Optimas evaluate a solver's points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zoviz.ask_tell.session import AskTell, Batch
from zoviz.core.optional import base
from zoviz.evaluation.scipy_constraints import Between
from zoviz.problems.noise import UNKNOWN
from zoviz.runs.engine.result import Result
from zoviz.solvers.base import Solver
from zoviz.solvers.portfolio.choice import AUTO

Base: Any = base("gest_api.generator", "Generator", "gest", "ZovizGenerator")
RELATIVE, ABSOLUTE = 1e-9, 1e-12
"""How far a point may be from the one that was suggested, as files of text round it."""


class ZovizGenerator(Base):
    """A gest-api generator that proposes a solver's points, for problems with constraints too.

    Each point has an ``_id``, by which its values are taken in, in any order. A result without an objective or a
    constraint, or with NaN in one, is a failed call.

    Parameters
    ----------
    vocs : gest_api.vocs.VOCS
        Continuous variables, one objective to be minimised or maximised, and constraints. The start is where every
        variable has its ``default_value``; without one it is uniform in the (finite) domain.
    solver : Solver, its class or name
        ``"auto"`` chooses by dimension, noise and budget as ``minimize`` does.
    noise : str
        As for ``AskTell``.
    seed : int
    calls : int, optional
        Budget; without it the tool's own stopping condition ends the run.

    Raises
    ------
    ValueError
        For discrete and contextual variables, and for several objectives or none.

    Notes
    -----
    ``suggest(num_points)`` returns fewer points where the solver's step needs fewer: then their values come first. The
    generator can be pickled at any time. One made anew with the same settings goes on where another was once it has
    ingested that one's results, with their ids.

    Examples
    --------
    >>> from gest_api.vocs import VOCS
    >>> from zoviz.adapters.gest import ZovizGenerator
    >>> vocs = VOCS(
    ...     variables={"x": [-2, 2], "y": [-2, 2]},
    ...     objectives={"f": "MINIMIZE"},
    ...     constraints={"right": ["GREATER_THAN", 1.0]},
    ... )
    >>> generator = ZovizGenerator(vocs)
    >>> for _ in range(30):
    ...     points = generator.suggest(None)
    ...     generator.ingest([one | {"f": one["x"] ** 2 + one["y"] ** 2, "right": one["x"]} for one in points])
    >>> round(float(generator.result.best_fun[0]), 3)
    1.0
    """

    returns_id = True

    def __init__(
        self,
        vocs: Any,
        solver: Solver | type[Solver] | str = AUTO,
        *,
        noise: str = UNKNOWN,
        seed: int = 0,
        calls: int | None = None,
    ) -> None:
        super().__init__(vocs)
        self.vocs = vocs
        (objective,) = vocs.objectives.values()
        self._sign = -1.0 if type(objective).__name__ == "MaximizeObjective" else 1.0
        lower, upper = np.array([_limits(one) for one in vocs.constraints.values()]).reshape(-1, 2).T
        self._rows = Between(np.atleast_1d, lower, upper, "the constraints")
        self._suggested: set[int] = set()
        start = [one.default_value for one in vocs.variables.values()]
        self._session = AskTell(
            solver=solver,
            bounds=[one.domain for one in vocs.variables.values()],
            x0=None if None in start else start,
            m=int(np.isfinite([lower, upper]).sum()),
            noise=noise,
            seed=seed,
            calls=calls,
        )

    def _validate_vocs(self, vocs: Any) -> None:
        from gest_api.vocs import ContextualVariable, ContinuousVariable

        for name, one in vocs.variables.items():
            if not isinstance(one, ContinuousVariable) or isinstance(one, ContextualVariable):
                raise ValueError(
                    f"Expected continuous variables, got {name} as a {type(one).__name__}: no method here keeps "
                    "variables discrete or observes them. Make it a constant, or use another generator."
                )
        kinds = [type(one).__name__ for one in vocs.objectives.values()]
        if kinds not in (["MinimizeObjective"], ["MaximizeObjective"]):
            raise ValueError(
                f"Expected one objective, to be minimised or maximised, got {', '.join(kinds) or 'none'}: make all but "
                "one constraints."
            )

    @property
    def result(self) -> Result:
        """The result so far; if the objective is maximised, that of the negated objective.

        Raises
        ------
        ZovizError
            Before the solver has begun.
        """
        return self._session.result

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        """Return points to evaluate, at most ``num_points``, and at least one.

        Raises
        ------
        ValueError
            Where all that the solver's step needs have been suggested and not yet ingested, and where its budget is
            spent.
        """
        if self._session.done:
            raise ValueError("Expected a solver that goes on, got one whose budget is spent: its answer is in result.")
        batch = self._session.ask()
        free = np.flatnonzero([int(number) not in self._suggested for number in batch.ids])[:num_points]
        if not free.size:
            raise ValueError(
                f"Expected values before the next point, got none of the last {len(batch.ids)}: ingest them first; the "
                "solver's next step depends on them."
            )
        batch = batch.take(free)
        self._suggested.update(batch.ids.tolist())
        constants = {name: one.value for name, one in self.vocs.constants.items()}
        names = self.vocs.variable_names
        return [
            dict(zip(names, x.tolist(), strict=True)) | constants | {"_id": number}
            for x, number in zip(batch.x, batch.ids.tolist(), strict=True)
        ]

    def ingest(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Take in the values at points, by their ids, in any order.

        Raises
        ------
        ValueError
            For a point without an id, and for one that this session does not suggest: nothing but its own points can be
            used, and those before are taken in.
        """
        waiting = {}
        for one in results:
            if (number := one.get("_id")) is None or number != number:
                raise ValueError(
                    f"Expected points with the _id of suggest(), got {dict(one)!r:.120}: others cannot be used. Give a "
                    "start by the default_value of each variable."
                )
            waiting[int(number)] = one
        while not self._session.done:
            batch = self._session.ask()
            rows = [row for row, number in enumerate(batch.ids.tolist()) if number in waiting]
            if not rows:
                break
            self._tell(batch.take(rows), [waiting.pop(number) for number in batch.ids[rows].tolist()])
        if waiting:
            raise ValueError(f"Expected ids that are open, got {sorted(waiting)[:5]}: each point is ingested once.")

    def _tell(self, batch: Batch, results: Sequence[Mapping[str, Any]]) -> None:
        (objective,) = self.vocs.objective_names
        x = np.array([[float(one[name]) for name in self.vocs.variable_names] for one in results])
        if not np.allclose(x, batch.x, RELATIVE, ABSOLUTE):
            raise ValueError(
                f"Expected the points {batch.x.tolist()!r:.80} under ids {batch.ids.tolist()!r:.40}, got "
                f"{x.tolist()!r:.80}: make the generator with the settings and the seed of the one that suggested them."
            )
        f = [self._sign * _number(one.get(objective)) for one in results]
        h = [self._rows(np.array([_number(one.get(name)) for name in self.vocs.constraints])) for one in results]
        self._session.tell(batch, f, h)


def _number(value: Any) -> float:
    """Return a value as a number, NaN where there is none."""
    return np.nan if value is None else float(value)


def _limits(constraint: Any) -> tuple[float, float]:
    """Return the lower and the upper limit of a constraint's value."""
    from gest_api.vocs import BoundsConstraint, LessThanConstraint

    if isinstance(constraint, BoundsConstraint):
        return constraint.range[0], constraint.range[1]
    if isinstance(constraint, LessThanConstraint):
        return -np.inf, constraint.value
    return constraint.value, np.inf
