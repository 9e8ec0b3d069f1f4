"""A table of every solver and every peer with default parameters on load tracking, without and with noise.

Oracle calls until the reported point has a relative error |f - f*| / f* of at most 5 % or 1 % and violates the
constraint by at most 1 kW, both in the same iteration and both without noise, off the books; then what is reported at
the end. The noise is independent from call to call: normal, with 0.1 % of f* on f and 1 kW on h.

What decides is the error of the reported point, infinite where it violates the constraint by more than 1 kW: a point
that lies v kW outside is cheaper by about lambda* v (31 per kW, 0.13 % of f*), so that the error alone would reward a
violation. The same without a threshold is the loss, (f - f* + lambda* v) / f*: never negative, and 0 at the solution
only. Every method is taken at what it reports: the last iterate, an average, or a peer's best point so far by its own
noisy values. Beside it stands the best feasible point among all that were queried, which under noise nobody can tell
from the others.

``shown`` says what the methods see: the problem with its constants (known), which our step sizes and the peers'
difference steps are made of; without (hidden), as with a user's black box, so that they are measured by charged calls;
and also in units of its box and its first values (scaled), as ``minimize`` shows a user's. Its curvatures are alike in
kW (2a between 1 and 3) and far apart in units of the box (2a u^2).

With 20 replicas of instance 0 and 20,000 calls: under noise, constants known, ZOBCEG has the least loss, 0.165 %,
against 0.298 %
of CMA-ES, the best peer (smaller by 0.145 % +- 0.037 % on average), and ends within 1 kW in 18 replicas against 1; by
the best point queried both are even, 0.242 % and 0.243 %. Hidden, ours have
0.116 % (ZOCEG) against 0.316 %, and end within 1 kW in 18 replicas against 2; scaled, 0.094 % (ZOBCEG) against 0.342 %.
Those tables are one draw of what is measured at the start; ``zoviz.papers.robustness.noisy_load_tracking`` has many.
NOMAD ends at 36 % (known), the other peers at 1.7 % (trust-constr) and more.

Without noise peers win: to 1 %, COBYLA takes 230 calls, SLSQP 355, trust-constr 1111, and ours 3233 (ZOCEG); scaled,
COBYQA takes 217, and ours 5637 (ZO-SPLM).

    zoviz reproduce zoeg-load-tracking --full --workers 2              # both tables, half an hour at most for a method
    zoviz reproduce zoeg-load-tracking --full --only method=ZOBCEG,CMAES
    zoviz reproduce zoeg-load-tracking --full --only case=noisy shown=scaled seconds=600

A method is cut short after ``seconds``, all its replicas together, and the table says so. Without noise a slow peer
ends where all its replicas have met both levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from zoviz.core.registry import discover
from zoviz.core.types import Array, Evaluation, ExactValues
from zoviz.papers.zoeg.load_tracking_table import (
    AT_THE_END,
    FEASIBLE,
    LEVELS,
    ON_THE_WAY,
    Outcome,
    line,
    share,
    verdicts,
)
from zoviz.problems import LoadTracking
from zoviz.runs.engine.columns import RELATIVE_GAP, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers import Solver
from zoviz.studies.experiment import Figures, Measured, Table
from zoviz.studies.trials import Row, Trials, grouped

NOISE_SHARE, NOISE_KILOWATTS = 1e-3, 1.0
"""Standard deviations of the noise: of f as a share of f*, and of h."""
SLOW = ("CMAES", "COBYLA", "NOMAD", "COBYQA")
"""Peers that think for 1 ms or more about a call of one replica, the fastest first: what comes last in a table."""


class Judged(LoadTracking):
    """Load tracking with one more measure: error and violation over their levels, the larger of both."""

    __abstract = True

    def metrics(
        self, x: Array, y: Array | None, value: Evaluation | None, exact: ExactValues | None = None
    ) -> dict[str, Array]:
        """Return the problem's measures (R,), and for every level the larger of error / level and violation / 1 kW."""
        measured = super().metrics(x, y, value, exact)
        error, violation = measured[RELATIVE_GAP], measured[VIOLATION]
        return measured | {f"joint {level:g}": np.maximum(error / level, violation / FEASIBLE) for level in LEVELS}


class Hidden(Judged):
    """Load tracking that hides its curvatures and slopes, as a user's black box does, so that they are measured."""

    __abstract = True

    @property
    def constants(self) -> None:
        """None, so that solvers measure the constants."""
        return None


VIEWS: dict[str, type[Judged]] = {"known": Judged, "hidden": Hidden, "scaled": Hidden}
"""How methods see the problem: with its constants; without; and also in units of its box and its first values."""


def posed(seed: int, n: int, noisy: bool, view: str = "known") -> Judged:
    """Return load tracking of n users, with or without noise, in one of the views of ``VIEWS``."""
    problem = VIEWS[view](n=n, seed=seed, scaled=view == "scaled")
    if noisy:
        problem.noise, problem.noise_constraint_scale = "independent", NOISE_KILOWATTS
        problem.noise_scale = NOISE_SHARE * abs(problem.known_optimum.value)
    return problem


def losses(values: Array, violation: Array, problem: Judged) -> Array:
    """Return the losses (f - f* + lambda* v) / f*, of any shape, of values f and violations v in kW, without noise."""
    optimum = problem.known_optimum
    return (values - optimum.value + optimum.multipliers[0] * violation) / abs(optimum.value)


def solve(
    method: type[Solver],
    problem: Judged,
    replicas: int,
    calls: int,
    seconds: float | None = None,
    until_hit: bool = False,
) -> Outcome:
    """Run one method with default parameters; seed 0, so that all methods share their starts.

    ``until_hit``: end once every replica has met both levels.
    """
    targets = {f"joint {level:g}": 1.0 for level in LEVELS}
    run = Run(
        problem=problem,
        solver=method(),
        replicas=replicas,
        calls=calls,
        seconds=seconds,
        targets=targets,
        stop_at_targets=until_hit,
    )
    result = run.run()
    optimum = problem.known_optimum.value
    return Outcome(
        hits=tuple(np.where(np.isnan(hit.calls), np.inf, hit.calls) for hit in run.hits),
        error=np.abs(result.fun - optimum) / abs(optimum),
        violation=result.violation,
        loss=losses(result.fun, result.violation, problem),
        best=np.nan_to_num(np.abs(result.best_fun - optimum) / abs(optimum), nan=np.inf),
        spent=result.calls,
        message=result.message,
    )


EVERY = ("every",)
"""In the place of methods' names: all that there are."""


class LoadTrackingTable(Trials):
    """Every solver and every peer by default parameters on load tracking."""

    title = "zoeg load tracking"
    subject = "Every solver and every peer by default parameters on load tracking"
    protocol = (
        f"Noise of {share(NOISE_SHARE)} of f* and {NOISE_KILOWATTS:g} kW; medians over replicas, and how many of them. "
        f"The seconds of a method are for all its replicas together."
    )
    sizes: ClassVar = {
        "quick": {
            "case": ("noisy",),
            "shown": ("known",),
            "instance": (0,),
            "users": (5,),
            "calls": (120,),
            "replicas": (3,),
            "seconds": (60.0,),
            "method": ("ZOEG", "SLSQP"),
        },
        "full": {
            "case": ("noiseless", "noisy"),
            "shown": ("known",),
            "instance": (0,),
            "users": (100,),
            "calls": (20_000,),
            "replicas": (20,),
            "seconds": (1800.0,),
            "method": EVERY,
        },
    }
    lines = ("case", "shown", "instance", "method")

    @property
    def axes(self) -> dict[str, Sequence[Any]]:
        """The values of each axis; all methods where none is named, the slow ones last."""
        axes = super().axes
        if tuple(axes["method"]) != EVERY:
            return axes
        late = {name: 2 + i for i, name in enumerate(SLOW)}
        every = discover("zoviz.solvers", Solver)
        return axes | {"method": sorted(every, key=lambda name: late.get(name, every[name].external))}

    def trial(
        self,
        case: str,
        shown: str,
        instance: int,
        users: int,
        calls: int,
        replicas: int,
        seconds: float,
        method: str,
    ) -> Figures:
        problem, cls = posed(instance, users, case == "noisy", shown), discover("zoviz.solvers", Solver)[method]
        if reason := cls().accepts(problem):
            return {"refused": reason}
        # Without noise a slow peer ends where all its replicas have met both levels.
        outcome = solve(cls, problem, replicas, calls, seconds, case != "noisy" and method in SLOW)
        return {name: _listed(value) for name, value in outcome._asdict().items()}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        (one,) = rows
        if "refused" in one:
            return {"": f"left out: {one['refused']}"}
        outcome = Outcome.of(one)
        early = "" if np.median(outcome.spent) > 0.9 * one["calls"] else outcome.message
        return line(outcome) | {"": early}

    def tables(self, measured: Measured) -> list[Table]:
        peers = {name for name, cls in discover("zoviz.solvers", Solver).items() if cls.external}
        lines = []
        for place, own in grouped(self.rows(measured), "case", "shown", "instance"):
            outcomes = {one["method"]: Outcome.of(one) for one in own if "refused" not in one}
            measures = ON_THE_WAY | AT_THE_END if place["case"] == "noisy" else ON_THE_WAY
            lines += [(str(place["case"]), *words) for words in verdicts(outcomes, peers, measures)]
        heads = ("case", "measure", "our best default", "peer", "beaten", "ours against the peer's")
        return [*super().tables(measured), Table("Our best default beside every peer", heads, lines)]


def _listed(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_listed(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray) else value
