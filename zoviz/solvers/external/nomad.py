"""NOMAD's mesh-adaptive direct search, each replica's in a process of its own."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np
import param

from zoviz.core.errors import ZovizError
from zoviz.core.parameters import Scale
from zoviz.core.types import Array, Constants
from zoviz.evaluation.process_group import pipe
from zoviz.problems.base import Problem
from zoviz.solvers.external.base import ExternalSolver
from zoviz.solvers.external.coroutine import Ask, Ended, Task
from zoviz.solvers.external.step_sizes import width_of

_MANY = 50
"""Variables from which NOMAD itself searches without models; it would still order its points by them."""

_SEEDS = 10_000
"""NOMAD takes time proportional to its seed, again and again: half a minute of it at 2e9."""


class NOMAD(ExternalSolver):
    """A mesh-adaptive direct search with the progressive barrier for h, by the NOMAD library.

    One call per step. Constraints may be violated on the way; bounds never are.

    Notes
    -----
    NOMAD keeps its generator and its cache for the whole process, so every replica has a process of its own, which
    hears only values and ends with the run. Its cache gives one realisation per point, so that under noise no point is
    paid twice. A value that is not finite is a failed evaluation to it.

    From 50 variables on, NOMAD switches its search by quadratic models off by itself, but goes on to order its points
    and to complete its directions by such models, at minutes for a call with 100 variables. There it works without any:
    EVAL_QUEUE_SORT DIR_LAST_SUCCESS, DIRECTION_TYPE ORTHO 2N. Its Nelder-Mead search, which finds the rank of its
    simplex anew for every vertex, is off there too: it took 15 times as long as all the rest.

    References
    ----------
    Audet, Le Digabel, Rochon Montplaisir, Tribes (2022), Algorithm 1027; PyNomadBBO. NOMAD's own help
    on QUAD_MODEL_SEARCH, "disabled for more than 50 variables"; its src/Param/RunParameters.cpp, ``bigDim = 50``.
    """

    title = "NOMAD (PyNomad)"
    needs: ClassVar[tuple[str, ...]] = ("PyNomad", "greenlet")
    extra = "nomad"
    measures = False  # the box is all that the rule looks at

    initial_radius = Scale(
        None, softbounds=(1e-6, 1e3), label="Initial frame size Δ₀", doc="Initial size of the frame, in units of x."
    )

    models = param.Boolean(
        default=True,
        label="Quadratic models",
        doc="Quadratic models: fewer calls, more computing. Below 50 variables only.",
    )

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return Delta_0, a tenth of the box's median finite width: NOMAD's own rule, one for all coordinates."""
        return {"initial_radius": 0.1 * width_of(problem)}

    def play(self, task: Task, ask: Ask) -> Ended:
        """Run NOMAD in a child process: points come by its output, values go to its input."""
        command = [sys.executable, str(Path(__file__).with_name("_nomad_child.py"))]
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        orders, points = pipe(child.stdin), pipe(child.stdout)
        try:
            message = self.order(task)
            while True:
                _tell(orders, message)
                ask(None)  # the other replicas' children get their values meanwhile
                line = _hear(child, points)
                if "ended" in line:
                    return Ended(line["ended"])
                f, h = ask(np.array([[float.fromhex(number) for number in line["x"]]]))
                numbers = [float(f[0]), *h[0].tolist()]
                message = {"values": [repr(number) for number in numbers] if np.isfinite(numbers).all() else None}
        finally:
            child.kill()
            child.wait()
            points.close()
            with contextlib.suppress(BrokenPipeError):  # what it was not told any more
                orders.close()

    def order(self, task: Task) -> dict[str, Any]:
        """Return the order for the child process: the start, and NOMAD's parameters as lines."""
        outputs = " ".join(["OBJ", *["PB"] * task.m])
        lines = [
            f"DIMENSION {len(task.start)}",
            f"BB_OUTPUT_TYPE {outputs}",
            f"LOWER_BOUND {_vector(task.lower)}",
            f"UPPER_BOUND {_vector(task.upper)}",
            f"INITIAL_FRAME_SIZE {_vector(np.full(len(task.start), self.initial_radius))}",
            f"SEED {task.seed % _SEEDS}",
            "DISPLAY_DEGREE 0",
        ]
        many = len(task.start) >= _MANY
        if many or not self.models:
            lines += ["QUAD_MODEL_SEARCH no", "EVAL_QUEUE_SORT DIR_LAST_SUCCESS"]
        if many:
            lines += ["DIRECTION_TYPE ORTHO 2N", "NM_SEARCH no"]
        return {"start": task.start.tolist(), "parameters": lines}


def _tell(orders: IO[str], message: dict[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError):  # that it has ended is told where it is heard
        orders.write(json.dumps(message) + "\n")
        orders.flush()


def _hear(child: subprocess.Popen[str], points: IO[str]) -> dict[str, Any]:
    line = points.readline()
    if not line:
        raise ZovizError(
            f"Expected NOMAD to go on, got the end of its process (exit status {child.wait()}): its parameters or the "
            "installation of PyNomadBBO may be at fault."
        )
    return json.loads(line)


def _vector(values: Array) -> str:
    """Return NOMAD's spelling of a vector (n,), "-" where there is no bound."""
    return "( " + " ".join(repr(float(value)) if np.isfinite(value) else "-" for value in values) + " )"
