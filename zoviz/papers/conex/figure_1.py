"""Paper conex, Fig. 1: SZO-ConEX on the convex QCQP by smoothing radii, against Bayesian methods and its ablation.

What is judged is |f - f*| + y* [h]_+, with the optimum's multiplier y*, as a share of its value at the start: an
infeasible point may have f = f*. Of it 0.01, a per cent of the start's, is the least difference between methods that
matters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.papers.conex.methods import OURS, PLAIN, conex
from zoviz.papers.conex.radii import BATCH, LARGE, RADII, SMALL, Course, OverRadii, with_radius
from zoviz.problems import ConexQCQP
from zoviz.runs.engine.columns import CALLS, GAP, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers import Solver

NORMAL = [[200, "normal", "common"], [200, "normal", "independent"], [500, "normal", "common"]]
STUDENT = [[200, "student_t", contract] for contract in ("common", "independent")]


class ConvexQCQP(OverRadii):
    """Fig. 1."""

    title = "conex Fig. 1"
    subject = "Error of SZO-ConEX on the convex QCQP by smoothing radii, beside Bayesian methods"
    printed = (
        "Curves of |f - f*| against oracle calls at n = 200 and 500, noise N(0, 1) and Student-t of 5 degrees, radii "
        "0.05, 0.1 and 2, 100 trials, no numbers; claims: better than ALBO, Slack-AL, ADMMBO and PESC, robust to small "
        "radii, diverges for large ones."
    )
    protocol = (
        "ConexQCQP; error |f - f*| + y* [h]_+ as a share of the start's; twenty directions an estimate, separate ones "
        "for f and h, steps by the solver's rule; a first design of 20 points for the Bayesian methods, PESC in its "
        "lite form. No setting was tried for any method."
    )
    sizes = {
        "quick": {
            "panels": [[10, "normal", "common"]],
            "replicas": 8,
            "calls": 3000,
            "rivals": 2,
            "rival_calls": 24,
        },
        "full": {
            "panels": NORMAL,
            "replicas": 20,
            "calls": 40_000,
            "rivals": 14,
            "rival_calls": 40,
        },
    }
    place = "Fig. 1"
    convex = True
    near = 0.05
    measure_of_error = "error, share of the start's"
    ideas = {"the extrapolation makes": with_radius(PLAIN, SMALL[0])}

    def solvers(self) -> dict[str, Solver]:
        """Return SZO-ConEX with every radius, without extrapolation, and with h taken at x itself."""
        separate: dict[str, Any] = {"directions": "separate"}
        out: dict[str, Solver] = {with_radius(OURS, radius): conex(radius, BATCH, **separate) for radius in RADII}
        out[with_radius(PLAIN, SMALL[0])] = conex(SMALL[0], BATCH, 0.0, **separate)
        out[f"{with_radius(OURS, LARGE)}, h at x"] = conex(LARGE, BATCH, value="base", **separate)
        return out

    def course(self, problem: ConexQCQP, run: Run) -> Course:
        """Return a run's errors by rows, at its end and in the last row within a Bayesian method's calls."""
        optimum = problem.known_optimum
        if optimum is None or optimum.multipliers is None:
            raise ValueError(f"Expected a problem with a known optimum, got {problem} without one.")
        calls, violation = run.trace[CALLS], run.trace[VIOLATION]
        both = np.nan_to_num(np.abs(run.trace[GAP]) + float(optimum.multipliers[0]) * violation, nan=np.inf)
        error = both / both[0]
        row = np.maximum((calls <= self.settings["rival_calls"]).sum(axis=0) - 1, 0)
        return Course(calls, error, violation, error[-1], error[row, np.arange(run.replicas)])


class ConvexQCQPStudent(ConvexQCQP):
    """Fig. 1 under Student-t noise of 5 degrees."""

    title = "conex Fig. 1 t5"
    sizes = {
        "quick": {**ConvexQCQP.sizes["quick"], "panels": [[10, "student_t", "independent"]]},
        "full": {**ConvexQCQP.sizes["full"], "panels": STUDENT},
    }
