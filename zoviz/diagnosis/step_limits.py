"""How far the live parameters of a run may be moved at its present iterate."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.core.types import Constants
from zoviz.runs.run import Run
from zoviz.solvers.step_limits import StepLimits


def limits_of(run: Run) -> Mapping[str, StepLimits]:
    """Return the limits of a run's live parameters by (dotted) name, at no call.

    By the constants that the problem knows, else by those that the run measured when it began. Empty where the solver
    declares none, and where steps were given, so that nothing was measured.

    Parameters
    ----------
    run : Run
        Paused, going on or ended: it is left alone.
    """
    worker, state = run.worker, run.state
    if worker is None or state is None:
        return {}
    constants = worker.solver.known_constants(worker.scaled_problem) or worker.constants
    if not isinstance(constants, Constants):
        return {}
    return worker.solver.limits(constants, worker.solver.iterate(state))
