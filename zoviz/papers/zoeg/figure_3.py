"""Paper zoeg, Fig. 3: ZOEG and ZOBCEG, by block size, on load tracking with AC power flow.

The figure's numbers are not printed; its claims are that ZOEG converges with constant and with diminishing steps, that
ZOBCEG converges faster than ZOEG, and faster with larger blocks. The latter are tested per iteration, as the figure
draws them, and per oracle call, which is what a user pays for.

The error of a point is max(|f - f*| / f*, [p_c - D]_+ / D). What is counted is the last entry: the first iteration from
which the error stays below a level to the end of the run. ZOEG is run as printed, with both schedules of steps, radii
and margins delta, which shrink X around its middle: iterates, not half steps, are put back, at a call each. Beside it
every method has constant steps, its best pair of four (the paper prints none for ZOBCEG), searched on other starts;
where ZOEG's four lie was settled by sixteen more, which favours it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.estimators import Block, Sphere
from zoviz.oracle import Oracle
from zoviz.papers.zoeg.table_2 import last_entry
from zoviz.problems import ACLoadTracking
from zoviz.solvers import ZOBCEG, ZOEG, Solver
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
from zoviz.studies.verdict import Evidence

LEVELS = (0.3, 0.1)
CONVERGED = 0.1
"""Error from which on ZOEG is called converged."""
CONSTANT, DIMINISHING, TUNED = "ZOEG, constant steps", "ZOEG, diminishing steps", "ZOEG, best steps"
ITERATIONS, CALLS = "iterations", "calls"
TWO_STEPS = "Algorithms 1 and 3 have one step for x and y, these runs have two"
"""Why runs with the best pairs of steps decide nothing on the paper's methods."""
DUAL_CAP = 100.0
TRIAL_SEED, REPORTED_SEED, TRIALS = 1, 11, 4
"""Of the runs that choose steps and of those that are reported, and replicas of the former."""
_ROWS = 60
"""Of a course that is drawn."""
Steps = tuple[float, float]
"""Of x and of y."""


class Schedule(NamedTuple):
    """What the paper prints for ZOEG: the step of x and y, the radius and the margin delta, each of k from 0 on."""

    step: Callable[[int], float]
    margin: Callable[[int], float]

    def radius(self, k: int) -> float:
        """Return min{0.01 / (k + 4000)^1.1, 1e-5}."""
        return float(min(0.01 / (k + 4000.0) ** 1.1, 1e-5))


PRINTED = {
    CONSTANT: Schedule(lambda k: 3e-6, lambda k: 0.005),
    DIMINISHING: Schedule(lambda k: 3e-4 / (k + 1000.0) ** 0.5, lambda k: min(50.0 / (k + 1.0), 0.1)),
}
GRID = {
    TUNED: ((2e-7, 3e-7), (1e-4, 3e-4)),
    "block 1": ((7e-3, 1.4e-2), (0.1, 0.3)),
    "block 5": ((1.4e-3, 2.8e-3), (0.2, 0.5)),
    "block 20": ((3.4e-4, 6.8e-4), (1.0, 3.0)),
    "block 168": ((8e-5, 1.6e-4), (10.0, 30.0)),
}
"""Steps of x and of y.

Those of blocks are near 0.3 / (44 tau) and twice it, 44 the curvature along a coordinate. So chosen, ZOEG's were worse
than the printed ones, for its floor falls with its step: they lie about the best of sixteen more pairs, from 7e-8 to
1e-5 and from 3e-6 to 0.01, on the trial seed, which favours ZOEG.
"""


class Course(NamedTuple):
    """Errors (iterations + 1, R) of a run, and its calls of an iteration."""

    errors: Array
    calls: float


def solver_of(method: str, steps: Steps) -> Solver:
    """Return a method with given steps, for blocks with the paper's radii."""
    primal, dual = steps
    common: dict[str, Any] = {"primal_step": primal, "dual_step": dual, "dual_cap": DUAL_CAP, "report": "last"}
    if method.startswith("ZOEG"):
        return ZOEG.published(estimator=Sphere(smoothing_radius=1e-6, batch_size=1), radius_scale=1.0, **common)
    block = int(method.removeprefix("block "))
    estimator = Block(smoothing_radius=2e-4, block_size=block, scaled=False)
    return ZOBCEG.published(estimator=estimator, radius_scale=0.1, radius_power=1.2, **common)


def moved(before: Any, x: Array, value: Evaluation) -> Any:
    """Return the state of an extra-gradient method with another iterate x (R, n), where the values are these."""
    return before._replace(x=x, value=value)


def solve(
    problem: ACLoadTracking, solver: Solver, iterations: int, replicas: int, seed: int, schedule: Schedule | None = None
) -> Course:
    """Return the course of a method, with a printed schedule put into its live parameters before every iteration.

    Raises
    ------
    ZovizError
        Where the instance's optimum is not certified.
    """
    optimum = problem.known_optimum
    if optimum is None:
        raise ZovizError(
            "Expected an instance whose optimum is certified, got none: choose other loads or another seed."
        )
    method, streams = solver.clone(), Streams(seed, replicas)
    oracle, upper = Oracle(problem, streams), problem.data.upper

    def error(state: Any) -> Array:
        value = cast(Evaluation, method.iterate(state).value)
        violation = np.maximum(value.h[:, 0], 0.0) / problem.target
        return np.maximum(np.abs(value.f - optimum.value) / abs(optimum.value), violation)

    state = method.init(problem.initial(streams), oracle, streams)
    errors, started = [error(state)], oracle.calls.max()
    for k in range(iterations):
        if schedule is not None:
            method.set("primal_step", schedule.step(k))
            method.set("dual_step", schedule.step(k))
            method.estimator.smoothing_radius = schedule.radius(k)
        state, _ = method.step(state, oracle, streams)
        if schedule is not None:
            half = 0.5 * schedule.margin(k)
            inside = np.clip(method.iterate(state).x, half * upper, (1.0 - half) * upper)
            state = moved(state, inside, oracle(inside))
        errors.append(error(state))
    return Course(np.array(errors), float(oracle.calls.max() - started) / iterations)


class FeederCourses(Experiment):
    """Fig. 3: errors of ZOEG and of ZOBCEG on a feeder."""

    title = "zoeg Fig. 3"
    subject = "Errors of ZOEG by schedule, and of ZOBCEG by block size, on load tracking with AC power flow"
    printed = (
        "Curves of 50 runs without numbers: ZOEG with constant and diminishing steps converges, ZOBCEG is faster, and "
        "the faster the larger its blocks."
    )
    protocol = (
        "ACLoadTracking, drawn loads, instance 0; last entries of max(|f - f*| / f*, [p_c - D]_+ / D); the printed "
        "schedules of ZOEG, and every method at the best of four pairs of constant steps; where ZOEG's four lie was "
        "settled by sixteen more on the trial seed."
    )
    sizes = {
        "quick": {"iterations": {TUNED: 200, "block 20": 40, "block 168": 12}, "printed": 200, "replicas": 4},
        "full": {
            "iterations": {TUNED: 8000, "block 1": 3000, "block 5": 1000, "block 20": 400, "block 168": 100},
            "printed": 8000,
            "replicas": 50,
        },
    }

    def parts(self) -> list[str]:
        """Return a part for every schedule and every method with steps of its own."""
        return [*PRINTED, *self.settings["iterations"]]

    def tuning(self) -> Tuning:
        """Return how steps were chosen; the printed ones are not."""
        return Tuning(4, f"the mean last entry to {LEVELS[-1]:g}", (TRIAL_SEED,), (REPORTED_SEED,))

    def measure(self, part: str) -> Figures:
        """Return the last entries (levels, R), the errors at the end, calls of an iteration, steps and mean course."""
        problem, replicas = ACLoadTracking(loads="drawn", seed=self.seed()), self.settings["replicas"]
        if part in PRINTED:
            iterations, schedule, steps = self.settings["printed"], PRINTED[part], (PRINTED[part].step(0),) * 2
        else:
            iterations, schedule = self.settings["iterations"][part], None
            steps = self.search(problem, part, iterations)
        seed = self.seed(REPORTED_SEED)
        course = solve(problem, solver_of(part, steps), iterations, replicas, seed, schedule)
        counts = np.arange(iterations + 1.0)
        drawn = np.unique(np.geomspace(1, iterations + 1, _ROWS).astype(int)) - 1
        return {
            "steps": list(steps),
            "calls": course.calls,
            "entries": plain(np.array([last_entry(counts, course.errors, level) for level in LEVELS])),
            "error": plain(course.errors[-1]),
            "course": {"iteration": plain(counts[drawn]), "error": rounded(course.errors[drawn].mean(axis=1))},
        }

    def search(self, problem: ACLoadTracking, part: str, iterations: int) -> Steps:
        """Return the steps that stay within the tightest level first, or come nearest where none does."""

        def rank(steps: Steps) -> tuple[float, float]:
            errors = solve(problem, solver_of(part, steps), iterations, TRIALS, self.seed(TRIAL_SEED)).errors
            entries = last_entry(np.arange(iterations + 1.0), errors, LEVELS[-1])
            spent = np.where(np.isnan(entries), iterations, entries).mean()
            return float(spent), float(np.nan_to_num(errors[-1].mean(), nan=np.inf))

        return min(itertools.product(*GRID[part]), key=rank)

    def claims(self) -> list[Claim]:
        """Return that ZOEG converges, that blocks are faster, and larger ones the more."""
        out = [
            Claim("Fig. 3 a, b", f"{name} comes within {CONVERGED:g} of the optimum", converges, name)
            for name in PRINTED
        ]
        _, *blocks = self.settings["iterations"]
        pairs = [(TUNED, block) for block in blocks] + list(itertools.pairwise(blocks))
        for (slow, fast), unit, level in itertools.product(pairs, (ITERATIONS, CALLS), range(len(LEVELS))):
            says = f"ZOBCEG, {fast}, takes fewer {unit} than {slow} to an error of {LEVELS[level]:g}"
            ablation = slow if slow != TUNED else ""
            out.append(Claim("Fig. 3 c, d", says, partial(is_faster, self, unit, level), fast, ablation, (slow,)))
        return out

    def budget(self, part: str) -> int:
        """Return the iterations of a part."""
        own: dict[str, int] = self.settings["iterations"]
        return own[part] if part in own else int(self.settings["printed"])

    def tables(self, measured: Measured) -> list[Table]:
        """Return the last entries and the errors at the end."""
        rows = []
        for part, one in measured.items():
            entries, calls = array(one["entries"]), one["calls"]
            cells = [f"{mean_text(row)} ({np.isnan(row).sum()} missing)" for row in entries]
            steps = ", ".join(f"{step:g}" for step in one["steps"])
            rows.append((part, steps, f"{calls:.0f}", str(self.budget(part)), *cells, mean_text(array(one["error"]))))
        heads = ("Method", "Steps of x, y", "Calls an iteration", "Iterations")
        levels = [f"Last entry of {level:g}" for level in LEVELS]
        return [
            Table("Means over starts; a dash where a run never got there", (*heads, *levels, "Error at the end"), rows)
        ]

    def panels(self, measured: Measured) -> list[Panel]:
        """Return the mean errors against iterations, of ZOEG and of ZOBCEG."""
        out = []
        for heading, chosen in (("ZOEG", True), ("ZOBCEG, and ZOEG", False)):
            names = [name for name in measured if (name in PRINTED) == chosen]
            lines = {name: (measured[name]["course"]["iteration"], measured[name]["course"]["error"]) for name in names}
            own = {name: (name,) for name in names}
            out.append(Panel(heading, "iteration", "error", lines, log_x=not chosen, log_y=True, parts=own))
        return out


def converges(measured: Measured, method: str) -> Evidence:
    """Test that the errors at the end are within a level."""
    errors = array(measured[method]["error"])
    figures = f"{mean_text(errors)}, largest {errors.max():.3g}"
    return Evidence(CONVERGED - errors[None], figures, {method: measured[method]["calls"]})


def is_faster(
    experiment: FeederCourses, unit: str, level: int, measured: Measured, method: str, rival: str
) -> Evidence:
    """Test that a method's last entry comes before another's; who never got there took its budget at least."""
    counts, missing = {}, {}
    for name in (method, rival):
        entries = array(measured[name]["entries"])[level]
        factor = measured[name]["calls"] if unit == CALLS else 1.0
        counts[name] = factor * np.where(np.isnan(entries), experiment.budget(name), entries)
        missing[name] = bool(np.isnan(entries).any())
    gain = counts[rival] - counts[method]
    early = missing[method] if gain.mean() > 0.0 else missing[rival]
    texts = [f"{mean_text(counts[name])}{' at least' if missing[name] else ''}" for name in (method, rival)]
    budgets = {name: 1.0 if unit == CALLS else measured[name]["calls"] for name in (method, rival)}
    doubt = "the budget ended too early to tell" if early else TWO_STEPS
    return Evidence(gain[None], f"{texts[0]} against {texts[1]} {unit}", budgets, doubt=doubt)
