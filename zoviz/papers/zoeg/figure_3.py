"""Paper zoeg, Fig. 3: ZOEG and ZOBCEG, by block size, on load tracking with AC power flow.

The figure's numbers are not printed; its claims are that ZOEG converges with constant and with diminishing steps, that
ZOBCEG converges faster than ZOEG, and faster with larger blocks. The latter are tested after as many iterations, as the
figure draws them, and after as many oracle calls, which is what a user pays for.

The error of a point is max(|f - f*| / f*, [p_c - D]_+ / D); what is compared is its mean over the last tenth of a run,
and over the starts on an instance. ZOEG is run as printed, with both schedules of steps, radii and margins delta, which
shrink X around its middle: iterates, not half steps, are put back, at a call each. Beside it every method has one
constant step for x and y, as Algorithms 1 and 3 have it, the best of six on an instance that is not reported. Steps of
x and y that differ, the best of six pairs, stand beside them; they are ours, and nothing is claimed of them.
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
from zoviz.studies.verdict import Evidence, gain, of_instances

CONVERGED = 0.1
"""Error from which on ZOEG is called converged."""
CONSTANT, DIMINISHING, RANDOM = "ZOEG, constant steps", "ZOEG, diminishing steps", "ZOEG"
TWO_STEPS = ", steps of x and y apart"
ITERATIONS, CALLS = "iterations", "calls"
DUAL_CAP = 100.0
TRIAL_SEED, TRIALS = 100, 4
"""Of the instance and the runs that choose steps, and their replicas; reported are those from 0 on."""
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
FACTORS = (0.05, 0.2, 0.8, 3.2, 12.8, 51.2)
"""One step over the length at which a step along the field is stable, about 1 / L of the tracking term. Far longer ones
are among them: x is in a small box, and only long steps move y."""
BEND, ACTIVE, NUMBER = 44.0, 84, 169
"""The tracking term's curvature along a coordinate, coordinates that it depends on, and the numbers in x and y."""
PRIMAL, DUAL = (0.3, 0.6), (0.05, 0.15, 0.45)
"""Steps of x apart from those of y over the same length, and steps of y over the size of a block; by hand, as are the
pairs of ZOEG, whose floor falls with its step."""
RANDOM_PAIRS = ((2e-7, 4e-7), (1e-4, 3e-4, 1e-3))


def size_of(method: str) -> int:
    """Return the block size of a method."""
    return int(method.removesuffix(TWO_STEPS).removeprefix("block "))


def grid(method: str) -> list[Steps]:
    """Return the six steps of x and y that a method may try."""
    if method == RANDOM + TWO_STEPS:
        return list(itertools.product(*RANDOM_PAIRS))
    block = 0 if method == RANDOM else size_of(method)
    length = 1.0 / (BEND * max(0.5 * block, 1.0)) if block else 1.0 / (BEND * ACTIVE * NUMBER)
    if not method.endswith(TWO_STEPS):
        return [(factor * length, factor * length) for factor in FACTORS]
    return [(factor * length, share * block) for factor, share in itertools.product(PRIMAL, DUAL)]


class Course(NamedTuple):
    """Errors (iterations + 1, R) of a run, and its calls per iteration."""

    errors: Array
    calls: float


def solver_of(method: str, steps: Steps) -> Solver:
    """Return a method with given steps, for blocks with the paper's radii."""
    primal, dual = steps
    common: dict[str, Any] = {"primal_step": primal, "dual_step": dual, "dual_cap": DUAL_CAP, "report": "last"}
    if method.startswith("ZOEG"):
        return ZOEG.published(estimator=Sphere(smoothing_radius=1e-6, batch_size=1), radius_scale=1.0, **common)
    estimator = Block(smoothing_radius=2e-4, block_size=size_of(method), scaled=False)
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
        "ACLoadTracking, drawn loads, drawn instances; means over the last tenth of the budget of max(|f - f*| / f*, "
        "[p_c - D]_+ / D); the printed schedules of ZOEG, and every method at the best of six steps for x and y alike, "
        "at equal calls."
    )
    sizes = {
        "quick": {
            "iterations": {RANDOM: 80, "block 20": 8, "block 168": 1},
            "printed": 40,
            "instances": 2,
            "replicas": 2,
        },
        "full": {
            "iterations": {RANDOM: 1200, "block 1": 1200, "block 5": 400, "block 20": 114, "block 168": 14},
            "printed": 4000,
            "instances": 5,
            "replicas": 4,
        },
    }

    def parts(self) -> list[str]:
        methods = list(self.settings["iterations"])
        return [*PRINTED, *methods, *(method + TWO_STEPS for method in methods)]

    def tuning(self) -> Tuning:
        criterion = "the mean error over the last tenth of the budget"
        return Tuning(len(FACTORS), criterion, (TRIAL_SEED,), tuple(range(self.settings["instances"])))

    def measure(self, part: str) -> Figures:
        """Return the errors at the end and after fewer iterations, calls per iteration, steps and mean course."""
        schedule, iterations = PRINTED.get(part), self.budget(part)
        steps = self.search(part, iterations) if schedule is None else (schedule.step(0),) * 2
        courses = [
            solve(instance(seed), solver_of(part, steps), iterations, self.settings["replicas"], seed, schedule)
            for seed in self.instance_seeds()
        ]
        errors = np.concatenate([course.errors for course in courses], axis=1)
        drawn = np.unique(np.geomspace(1, iterations + 1, _ROWS).astype(int)) - 1
        marks = sorted({count for count in self.settings["iterations"].values() if count <= iterations})
        return {
            "steps": list(steps),
            "calls": courses[0].calls,
            "error": plain(at_the_end(errors)),
            "after": {str(count): plain(at_the_end(errors[: count + 1])) for count in marks},
            "course": {"iteration": drawn.tolist(), "error": rounded(errors[drawn].mean(axis=1))},
        }

    def search(self, part: str, iterations: int) -> Steps:
        """Return the steps with the least error at the end on the instance of trials."""
        seed = self.seed(TRIAL_SEED)
        problem = instance(seed)

        def score(steps: Steps) -> float:
            errors = solve(problem, solver_of(part, steps), iterations, TRIALS, seed).errors
            return float(np.nan_to_num(at_the_end(errors).mean(), nan=np.inf))

        return min(grid(part), key=score)

    def claims(self) -> list[Claim]:
        out = [
            Claim("Fig. 3 a, b", f"{name} comes within {CONVERGED:g} of the optimum", partial(converges, self), name)
            for name in PRINTED
        ]
        _, *blocks = self.settings["iterations"]
        pairs = [(RANDOM, block) for block in blocks] + list(itertools.pairwise(blocks))
        for (slow, fast), unit in itertools.product(pairs, (ITERATIONS, CALLS)):
            says = f"ZOBCEG, {fast}, comes nearer than {slow} in as many {unit}"
            out.append(Claim("Fig. 3 c, d", says, partial(is_nearer, self, unit), fast, slow, (slow,)))
        return out

    def budget(self, part: str) -> int:
        """Return the iterations of a part."""
        own: dict[str, int] = self.settings["iterations"]
        return own.get(part.removesuffix(TWO_STEPS), int(self.settings["printed"]))

    def tables(self, measured: Measured) -> list[Table]:
        rows = []
        for part, one in measured.items():
            ends = {grid(part)[0], grid(part)[-1]} if part not in PRINTED else set()
            star = "*" if tuple(one["steps"]) in ends else ""
            steps, error = ", ".join(f"{step:.3g}" for step in one["steps"]), mean_text(self.errors(one["error"]))
            rows.append((part, steps + star, f"{one['calls']:.0f}", str(self.budget(part)), error))
        heads = ("Method", "Steps of x, y", "Calls an iteration", "Iterations", "Error at the end")
        return [Table("Means over instances; * an end of what was tried", heads, rows)]

    def errors(self, values: list[Any]) -> Array:
        """Return the errors (instances,) of a measure, infinite where a run ended in NaN."""
        return of_instances(np.nan_to_num(array(values), nan=np.inf), self.settings["instances"])

    def panels(self, measured: Measured) -> list[Panel]:
        two = [name for name in measured if name.endswith(TWO_STEPS)]
        one = [name for name in measured if name not in PRINTED and name not in two]
        out = []
        for heading, names in (("ZOEG as printed", list(PRINTED)), ("One step", one), ("Two steps, ours", two)):
            lines = {
                name: (measured[name]["course"]["iteration"], measured[name]["course"]["error"])
                for name in names
                if name in measured
            }
            own = {name: (name,) for name in lines}
            log_x = heading != "ZOEG as printed"
            out.append(Panel(heading, "iteration", "error", lines, log_x=log_x, log_y=True, parts=own))
        return out


def instance(seed: int) -> ACLoadTracking:
    """Return an instance with drawn loads."""
    return ACLoadTracking(loads="drawn", seed=seed)


def at_the_end(errors: Array) -> Array:
    """Return the means (R,) of errors (iterations + 1, R) over the last tenth of a run."""
    return errors[-max(1, len(errors) // 10) :].mean(axis=0)


def converges(experiment: FeederCourses, measured: Measured, method: str) -> Evidence:
    """Test that the errors at the end are within a level."""
    errors = experiment.errors(measured[method]["error"])
    figures = f"{mean_text(errors)}, largest {errors.max():.3g}"
    return Evidence(CONVERGED - errors[None], figures, {method: measured[method]["calls"]})


def is_nearer(experiment: FeederCourses, unit: str, measured: Measured, method: str, rival: str) -> Evidence:
    """Test that a method's error is below another's after as many iterations, or after as many calls."""
    ones = {name: measured[name] for name in (method, rival)}
    budgets = {name: one["calls"] for name, one in ones.items()}
    if unit == CALLS:
        errors = [experiment.errors(one["error"]) for one in ones.values()]
        budgets = {name: calls * experiment.budget(name) for name, calls in budgets.items()}
    else:
        count = min(experiment.budget(name) for name in ones)
        errors = [experiment.errors(one["after"][str(count)]) for one in ones.values()]
    figures = f"{mean_text(errors[0])} against {mean_text(errors[1])}"
    return Evidence(gain(*errors)[None], figures, budgets)
