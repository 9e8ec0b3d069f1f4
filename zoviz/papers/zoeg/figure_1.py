"""Paper zoeg, Fig. 1: its claims about ZOEG, SZO-ConEX and ZOGDA on load tracking, with two schedules of steps.

One direction in each estimate, as published: 4, 4 and 2 oracle calls per iteration; equal budgets of calls. Figures are
means over the last tenth of the budget, and over the replicas of an instance. ZOEG has one step for x and y, as
Algorithm 1 has it, the others have two. Every method has with either schedule the best of as many settings: that with
the least sum of the relative error and the violation, as a share of its start, on an instance that is not reported. A
star marks the ends of the steps that were tried.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.estimators import Gaussian, GradientEstimator, Sphere
from zoviz.problems import LoadTracking
from zoviz.runs.engine.columns import CALLS, ITERATION, RELATIVE_GAP, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers import Solver
from zoviz.studies.experiment import (
    Claim,
    Experiment,
    Figures,
    Measured,
    Panel,
    Table,
    Tuning,
    array,
    mean_text,
    plain,
    rounded,
)
from zoviz.studies.live import Live
from zoviz.studies.verdict import Evidence, of_instances

ONE_STEP = "ZOEG"
METHODS: dict[str, tuple[type[GradientEstimator], dict[str, Any]]] = {
    ONE_STEP: (Sphere, {"report": "last"}),
    "SZOConEX": (Gaussian, {"report": "last"}),
    "ZOGDA": (Sphere, {}),
}
CONSTANT, DIMINISHING = "constant", "diminishing"
PRIMAL = {CONSTANT: [2e-4, 5e-4, 1e-3, 2e-3, 4e-3], DIMINISHING: [5e-3, 0.01, 0.02, 0.05, 0.1]}
RATIOS = [0.01, 0.03, 0.1, 0.3, 1.0]
"""Primal steps, and dual step over primal step, of methods with two."""
LEVEL = 5.0
"""Violation in kW whose first hit says how fast a method is in violation: a third of a per cent of D."""
ALIKE = 1.5
"""Factor within which two methods' errors are about alike."""
TRIAL_SEED, TRIALS = 100, 10
"""Of the instance and the runs that choose steps, and their replicas; reported are those from 0 on."""
FLOOR = 1.0
"""Violation in kW, a level of the paper's Table 2: the starts on an instance may all be feasible."""
REPORTED = ("error", "violation", "feasible_at")
_ROWS = 60
"""Of a course."""
Steps = tuple[float, float]


class Outcome(NamedTuple):
    """Relative error and violation at the end of the budget, calls to the first hit of LEVEL, or of all; each (R,).

    And, for the search of steps, the violation as a share of its mean at the start, or of FLOOR where that is more.
    """

    error: Array
    violation: Array
    feasible_at: Array
    share: Array


def solver_at(method: str, schedule: str, steps: Steps) -> Solver:
    """Return a method with one schedule at one grid point."""
    family, options = METHODS[method]
    return discover("zoviz.solvers", Solver)[method].published(
        primal_step=steps[0],
        dual_step=steps[0] * steps[1],
        schedule=schedule,
        estimator=family(smoothing_radius=1e-3, batch_size=1),
        **options,
    )


def course(method: str, schedule: str, steps: Steps, problem: LoadTracking, **limits: Any) -> Run:
    """Return the run of one method with one schedule at one grid point, at its end."""
    run = Run(problem=problem, solver=solver_at(method, schedule, steps), targets={VIOLATION: LEVEL}, **limits)
    run.run()
    return run


def outcome(run: Run) -> Outcome:
    """Return a run's outcome."""
    end = max(1, len(run.trace[ITERATION]) // 10)
    error, violation = (run.trace[name][-end:].mean(axis=0) for name in (RELATIVE_GAP, VIOLATION))
    (hit,) = run.hits
    feasible_at = np.where(np.isnan(hit.calls), run.trace[CALLS][-1], hit.calls)
    return Outcome(error, violation, feasible_at, violation / max(run.trace[VIOLATION][0].mean(), FLOOR))


class Schedules(Experiment):
    """Fig. 1: three methods on load tracking with constant and with diminishing steps."""

    title = "zoeg Fig. 1"
    subject = "Relative error and violation of ZOEG, SZO-ConEX and ZOGDA on load tracking, by schedule of the steps"
    printed = (
        "Curves of relative error and violation with constant steps and eta_0 / sqrt(k + 1), no numbers; claims: "
        "diminishing steps improve all, SZO-ConEX is faster in violation and worse in relative error, ZOEG and ZOGDA "
        "are about alike."
    )
    protocol = (
        "LoadTracking, n = 100, drawn instances; one direction an estimate, equal calls; means over the last tenth of "
        "the budget and the replicas of an instance. ZOEG has one step for x and y, the others have two."
    )
    sizes = {
        "quick": {
            "n": 10,
            "calls": 400,
            "instances": 3,
            "replicas": 3,
            "primal": {CONSTANT: [1e-3], DIMINISHING: [0.1]},
        },
        "full": {"n": 100, "calls": 10_000, "instances": 6, "replicas": 4, "primal": PRIMAL},
    }

    def parts(self) -> list[str]:
        return list(METHODS)

    def tuning(self) -> Tuning:
        settings = sum(len(self.grid(ONE_STEP, schedule)) for schedule in PRIMAL)
        criterion = "the sum of error and share of violation, half of the settings with either schedule"
        return Tuning(settings, criterion, (TRIAL_SEED,), tuple(range(self.settings["instances"])))

    def grid(self, method: str, schedule: str) -> list[Steps]:
        """Return what is tried of a method with a schedule: as many single steps as there are pairs of two."""
        primal = self.settings["primal"][schedule]
        pairs = list(itertools.product(primal, RATIOS))
        if method != ONE_STEP:
            return pairs
        ends = min(primal) * min(RATIOS), max(primal)
        return [(float(f"{step:.3g}"), 1.0) for step in np.geomspace(*ends, len(pairs))]

    def measure(self, part: str) -> Figures:
        """Return a method's best steps with either schedule, their outcomes, and their courses."""
        out: Figures = {}
        for schedule in (CONSTANT, DIMINISHING):
            steps = self.search(part, schedule)
            runs = [self.run(part, schedule, steps, seed, self.settings["replicas"]) for seed in self.instance_seeds()]
            rows = np.unique(np.geomspace(1, len(runs[0].trace[CALLS]), _ROWS).astype(int)) - 1
            drawn = {"calls": CALLS, "error": RELATIVE_GAP, "violation": VIOLATION}
            ends = [outcome(run)._asdict() for run in runs]
            whole = {name: plain(np.concatenate([one[name] for one in ends])) for name in REPORTED}
            means = {
                name: rounded(np.mean([run.trace[column][rows].mean(axis=1) for run in runs], axis=0))
                for name, column in drawn.items()
            }
            out[schedule] = {"steps": list(steps), **whole, "course": means}
        return out

    def run(self, method: str, schedule: str, steps: Steps, seed: int, replicas: int) -> Run:
        """Return the run of a method on the instance of a seed, at the end of the budget."""
        problem = LoadTracking(n=self.settings["n"], seed=seed)
        return course(method, schedule, steps, problem, replicas=replicas, seed=seed, calls=self.settings["calls"])

    def search(self, method: str, schedule: str) -> Steps:
        """Return the steps with the least sum of error and share of violation on the instance of trials."""

        def score(steps: Steps) -> float:
            one = outcome(self.run(method, schedule, steps, self.seed(TRIAL_SEED), TRIALS))
            return float(np.nan_to_num((one.error + one.share).mean(), nan=np.inf))

        return min(self.grid(method, schedule), key=score)

    def claims(self) -> list[Claim]:
        out = []
        for method, what in itertools.product(METHODS, ("error", "violation")):
            says = f"diminishing steps improve {method} in {what}"
            constant, diminishing = (f"{method}, {schedule}" for schedule in (CONSTANT, DIMINISHING))
            out.append(
                Claim("Fig. 1, claim 1", says, partial(is_lower, self, what), diminishing, constant, (constant,))
            )
        mine, others = "SZOConEX", [name for name in METHODS if name != "SZOConEX"]
        for other, schedule in itertools.product(others, PRIMAL):
            pair = f"{mine}, {schedule}", f"{other}, {schedule}"
            says = f"SZO-ConEX comes to {LEVEL:g} kW in fewer calls than {other}, {schedule} steps"
            test = partial(is_lower, self, "feasible_at")
            out.append(Claim("Fig. 1, claim 2", says, test, pair[0], rivals=pair[1:]))
            says = f"SZO-ConEX has a larger relative error than {other}, {schedule} steps"
            out.append(Claim("Fig. 1, claim 2", says, partial(is_lower, self, "error"), pair[1], rivals=pair[:1]))
        for schedule in PRIMAL:
            says = f"ZOEG and ZOGDA have about the same error, {schedule} steps"
            pair = f"ZOEG, {schedule}", f"ZOGDA, {schedule}"
            out.append(Claim("Fig. 1, claim 3", says, partial(errors_are_alike, self), pair[0], rivals=pair[1:]))
        return out

    def tables(self, measured: Measured) -> list[Table]:
        rows = []
        for method, schedule in itertools.product(METHODS, PRIMAL):
            one = measured[method][schedule]
            tried = zip(*self.grid(method, schedule), strict=True)
            steps = ", ".join(
                f"{value:g}{'*' if len({*axis}) > 1 and value in (min(axis), max(axis)) else ''}"
                for value, axis in zip(one["steps"], tried, strict=True)
            )
            values = [array(one[name]) for name in ("error", "violation", "feasible_at")]
            cells = [mean_text(of_instances(value, self.settings["instances"])) for value in values]
            rows.append((method, schedule, steps, *cells))
        heads = ("Method", "Steps", "Primal, dual over primal", "Relative error", "Violation in kW")
        heading = "Means over instances; calls of the budget where a run never got there; * the end of what was tried"
        return [Table(heading, (*heads, f"Calls to {LEVEL:g} kW"), rows)]

    def panels(self, measured: Measured) -> list[Panel]:
        out = []
        for schedule, (key, words) in itertools.product(
            PRIMAL, (("error", "relative error"), ("violation", "violation in kW"))
        ):
            courses = {method: measured[method][schedule]["course"] for method in METHODS}
            lines = {method: (one["calls"], one[key]) for method, one in courses.items()}
            parts = {method: [method] for method in METHODS}
            out.append(Panel(f"{schedule} steps", "calls", words, lines, log_x=True, log_y=True, parts=parts))
        return out

    def live(self, measured: Measured) -> list[Live]:
        """Return each method at its best steps with either schedule; the paper prints no number for a line."""
        settings = {"replicas": self.settings["replicas"], "calls": self.settings["calls"]}
        return [
            Live(
                f"{method}, {schedule} steps",
                LoadTracking(n=self.settings["n"]),
                solver_at(method, schedule, measured[method][schedule]["steps"]),
                settings,
                (method,),
                log_x=True,
                note="The paper gives no values for these curves.",
            )
            for method, schedule in itertools.product(METHODS, PRIMAL)
            if method in measured
        ]


def values_of(experiment: Experiment, measured: Measured, what: str, *names: str) -> list[Array]:
    """Return a measure (instances,) of methods with schedules, "ZOEG, constant"."""
    parts, instances = [name.split(", ") for name in names], experiment.settings["instances"]
    return [of_instances(array(measured[method][schedule][what]), instances) for method, schedule in parts]


def is_lower(experiment: Experiment, what: str, measured: Measured, name: str, rival: str) -> Evidence:
    """Test that a measure of a method with a schedule is below another's."""
    mine, other = values_of(experiment, measured, what, name, rival)
    figures = f"{mean_text(mine)} against {mean_text(other)}"
    budgets = dict.fromkeys((name, rival), float(experiment.settings["calls"]))
    return Evidence((other - mine)[None], figures, budgets)


def errors_are_alike(experiment: Experiment, measured: Measured, name: str, rival: str) -> Evidence:
    """Test that two methods' mean errors are within a factor of each other."""
    mine, other = values_of(experiment, measured, "error", name, rival)
    figures = f"{mean_text(mine)} and {mean_text(other)}, ratio {mine.mean() / other.mean():.2f}"
    margins = np.array([ALIKE * other - mine, ALIKE * mine - other])
    budgets = dict.fromkeys((name, rival), float(experiment.settings["calls"]))
    return Evidence(margins, figures, budgets)
