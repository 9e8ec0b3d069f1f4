"""What a verdict needs to know of a run beside its trace: its noise, the end of its budget, and its steps."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from zoviz.diagnosis.noise_floor import NoiseScale
from zoviz.runs.engine.stopping import RunStatus


class RunContext(NamedTuple):
    """What is known of a run beside its trace.

    Attributes
    ----------
    noise : NoiseScale or None
        Of its values; None where they are exact, or points that are compared share their noise.
    budget_spent : bool
        Whether a budget ended it.
    has_steps : bool
        Whether its method has steps that a person may set.
    """

    noise: NoiseScale | None = None
    budget_spent: bool = False
    has_steps: bool = True


UNKNOWN = RunContext()
"""Nothing is known beside the trace."""


def context_of(run: Any) -> RunContext:
    """Return what is known of a live or stored run; nothing is made again, which might call a person's functions."""
    problem, solver = _values(run, "problem"), _values(run, "solver")
    spent = run.status is RunStatus.FINISHED and (run.spent_calls or run.progress.fraction >= 1.0)
    return RunContext(_noise(problem), spent, any(name.endswith("_step") for name in solver))


def _values(run: Any, part: str) -> Mapping[str, Any]:
    """Return the parameters of a run's problem or solver by name: of a stored run, as it is described."""
    recipe = getattr(run, "recipe", None)
    if recipe is None:
        return dict(getattr(run, part).param.values())
    values: Mapping[str, Any] = json.loads(recipe[part])["values"]
    return values


def _noise(problem: Mapping[str, Any]) -> NoiseScale | None:
    """Return the noise that a problem's parameters declare; of unknown size where it is the problem's own."""
    contract, scale, of_h = (problem.get(f"noise{one}") for one in ("", "_scale", "_constraint_scale"))
    if contract not in ("common", "independent") or (contract == "common" and scale):
        return None  # what pairs of points share cancels in their differences
    return NoiseScale(scale, scale if of_h is None else of_h) if scale else NoiseScale(math.nan, math.nan)
