"""Paper zoeg, Fig. 1: its claims about ZOEG, SZO-ConEX and ZOGDA on load tracking, with two schedules of steps.

One direction in each estimate, as published: 4, 4 and 2 oracle calls per iteration; equal budgets of calls. Figures are
means over replicas and the last tenth of the budget. Every method has its best constant steps of one grid: those with
the smallest sum of the relative error and the violation (as a share of its start); and, of another, the diminishing
steps with the smallest larger one of the two ratios, error to error and violation to violation, to those: so that both
are improved where any can do it. The grids are searched with other starts than the runs reported; a star marks their
edge.
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
from zoviz.studies.verdict import Evidence

METHODS: dict[str, tuple[type[GradientEstimator], dict[str, Any]]] = {
    "ZOEG": (Sphere, {"report": "last"}),
    "SZOConEX": (Gaussian, {"report": "last"}),
    "ZOGDA": (Sphere, {}),
}
CONSTANT, DIMINISHING = "constant", "diminishing"
PRIMAL = {CONSTANT: [2e-4, 5e-4, 1e-3, 2e-3, 4e-3], DIMINISHING: [5e-3, 0.01, 0.02, 0.05, 0.1]}
RATIOS = [0.01, 0.03, 0.1, 0.3, 1.0]
"""Primal steps, and dual step over primal step."""
LEVEL = 5.0
"""Violation in kW whose first hit says how fast a method is in violation: a third of a per cent of D."""
ALIKE = 1.5
"""Factor within which two methods' errors are about alike."""
FLOOR = 1.0
"""Violation in kW below which a search makes no difference, a level of the paper's Table 2."""
TWO_STEPS = "Algorithm 1 has one step for x and y, ZOEG has two here; diminishing steps were chosen beside the others"
"""Why these runs decide nothing on the paper's methods."""
TRIAL_SEED, REPORTED_SEED, TRIALS = 1, 0, 10
"""Of the runs that choose steps and of those that are reported, and replicas of the former."""
_ROWS = 60
"""Of a course."""
Steps = tuple[float, float]


class Outcome(NamedTuple):
    """Relative error and violation at the end of the budget, calls to the first hit of LEVEL, or of all; each (R,).

    And the violation as a share of its mean at the start.
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
    """Return what a run came to."""
    end = max(1, len(run.trace[ITERATION]) // 10)
    error, violation = (run.trace[name][-end:].mean(axis=0) for name in (RELATIVE_GAP, VIOLATION))
    (hit,) = run.hits
    feasible_at = np.where(np.isnan(hit.calls), run.trace[CALLS][-1], hit.calls)
    return Outcome(error, violation, feasible_at, violation / run.trace[VIOLATION][0].mean())


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
        "LoadTracking, n = 100, instance 0; one direction an estimate, equal calls; means over the last tenth of the "
        "budget. Constant steps have the least sum of error and share of violation; diminishing ones the least larger "
        "ratio of both to those."
    )
    sizes = {
        "quick": {"n": 10, "calls": 400, "replicas": 6, "primal": {CONSTANT: [1e-3], DIMINISHING: [0.02, 0.1]}},
        "full": {"n": 100, "calls": 10_000, "replicas": 20, "primal": PRIMAL},
    }

    def parts(self) -> list[str]:
        return list(METHODS)

    def tuning(self) -> Tuning:
        settings = sum(len(self.grid(schedule)) for schedule in PRIMAL)
        criterion = "error and violation at the end, half of the settings of either schedule"
        return Tuning(settings, criterion, (TRIAL_SEED,), (REPORTED_SEED,))

    def grid(self, schedule: str) -> list[Steps]:
        """Return the steps that are tried with a schedule."""
        return list(itertools.product(self.settings["primal"][schedule], RATIOS))

    def measure(self, part: str) -> Figures:
        """Return a method's best steps with either schedule, what they came to, and their courses."""
        problem = LoadTracking(n=self.settings["n"])
        out: Figures = {}
        rival: Outcome | None = None
        for schedule in (CONSTANT, DIMINISHING):
            steps, rival = self.search(part, schedule, rival, problem)
            run = self.run(part, schedule, steps, problem, self.settings["replicas"], REPORTED_SEED)
            rows = np.unique(np.geomspace(1, len(run.trace[CALLS]), _ROWS).astype(int)) - 1
            drawn = {"calls": CALLS, "error": RELATIVE_GAP, "violation": VIOLATION}
            ends = {name: plain(values) for name, values in outcome(run)._asdict().items()}
            means = {name: rounded(run.trace[column][rows].mean(axis=1)) for name, column in drawn.items()}
            out[schedule] = {"steps": list(steps), **ends, "course": means}
        return out

    def run(self, method: str, schedule: str, steps: Steps, problem: LoadTracking, replicas: int, seed: int) -> Run:
        """Return the run of a method, at the end of the budget."""
        return course(method, schedule, steps, problem, replicas=replicas, seed=seed, calls=self.settings["calls"])

    def search(self, method: str, schedule: str, rival: Outcome | None, problem: LoadTracking) -> tuple[Steps, Outcome]:
        """Return the best grid point and its outcome: by the sum, or by the larger ratio to a rival's figures."""
        trials = {
            steps: outcome(self.run(method, schedule, steps, problem, TRIALS, TRIAL_SEED))
            for steps in self.grid(schedule)
        }

        def score(steps: Steps) -> float:
            one = trials[steps]
            if rival is None:
                return float(np.nan_to_num((one.error + one.share).mean(), nan=np.inf))
            in_error = one.error.mean() / rival.error.mean()
            in_violation = (one.violation.mean() + FLOOR) / (rival.violation.mean() + FLOOR)
            return float(np.nan_to_num(max(in_error, in_violation), nan=np.inf))

        best = min(trials, key=score)
        return best, trials[best]

    def claims(self) -> list[Claim]:
        """Return the paper's three claims, for every method, or pair of methods, and schedule."""
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
        """Return the steps and the figures of every method and schedule."""
        rows = []
        for method, schedule in itertools.product(METHODS, PRIMAL):
            one, primal = measured[method][schedule], self.settings["primal"][schedule]
            steps = ", ".join(
                f"{value:g}{'*' if value in (axis[0], axis[-1]) else ''}"
                for value, axis in zip(one["steps"], (primal, RATIOS), strict=True)
            )
            cells = [mean_text(array(one[name])) for name in ("error", "violation", "feasible_at")]
            rows.append((method, schedule, steps, *cells))
        heads = ("Method", "Steps", "Primal, dual over primal", "Relative error", "Violation in kW")
        heading = "Means over starts; calls of the budget where a run never got there; * the grid's end"
        return [Table(heading, (*heads, f"Calls to {LEVEL:g} kW"), rows)]

    def panels(self, measured: Measured) -> list[Panel]:
        """Return the courses of error and violation with either schedule."""
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


def values_of(measured: Measured, what: str, *names: str) -> list[Array]:
    """Return a measure (R,) of methods with schedules, "ZOEG, constant"."""
    parts = [name.split(", ") for name in names]
    return [array(measured[method][schedule][what]) for method, schedule in parts]


def doubt_of(*names: str) -> str:
    """Return why methods decide nothing: ZOEG has two steps here, diminishing steps depend on constant ones."""
    return TWO_STEPS if any(name.startswith("ZOEG") or name.endswith(DIMINISHING) for name in names) else ""


def is_lower(experiment: Experiment, what: str, measured: Measured, name: str, rival: str) -> Evidence:
    """Test that a measure of a method with a schedule is below another's."""
    mine, other = values_of(measured, what, name, rival)
    figures = f"{mean_text(mine)} against {mean_text(other)}"
    budgets = dict.fromkeys((name, rival), float(experiment.settings["calls"]))
    return Evidence((other - mine)[None], figures, budgets, doubt=doubt_of(name, rival))


def errors_are_alike(experiment: Experiment, measured: Measured, name: str, rival: str) -> Evidence:
    """Test that two methods' mean errors are within a factor of each other."""
    mine, other = values_of(measured, "error", name, rival)
    figures = f"{mean_text(mine)} and {mean_text(other)}, ratio {mine.mean() / other.mean():.2f}"
    margins = np.array([ALIKE * other - mine, ALIKE * mine - other])
    budgets = dict.fromkeys((name, rival), float(experiment.settings["calls"]))
    return Evidence(margins, figures, budgets, doubt=doubt_of(name, rival))
