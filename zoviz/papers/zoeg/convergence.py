"""Paper zoeg, Theorems 3.1, 4.1 and 4.3 with their corollaries: duality gaps and errors of averaged iterates.

Theorem 3.1 bounds the gap of ZOEG's average, Proposition 3.1 both f(x) - f* and ||[h(x)]_+||, by D^2 / (2 eta K)
+ C / K + 108 eta d G^2: the rate 1 / K down to a floor of order eta, that random directions leave. Steps of order
K^(-1/2) then give K^(-1/2) (Corollary 3.2: d / eps^2 calls), and estimates along coordinates, which leave no floor,
1 / K (Theorems 4.1, 4.3; Corollary 4.2: d / eps calls). What the theorems credit is the extra-gradient: beside each
stands one step of x and y together in place of two, as many calls in twice the iterations, and beside these, where the
value at the new x is known, one step of y after that of x.

The gap is (phi(x, y*) - phi(x*, y)) / f*, phi the Lagrangian: the constraint is active, so that phi(x*, y) = f* for
every y. The error is (f(x) - f* + 2 y* [h(x)]_+) / f*, which is 0 at the optimum only: y* [h]_+ is the most by which a
point outside can be cheaper. With the paper's costs the Lagrangian is strongly convex in x, for which one step is
enough; with linear costs it is bilinear, and one step is not.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array, Optimum
from zoviz.estimators import Block, Coordinate, GradientEstimator, Sphere
from zoviz.oracle import Oracle
from zoviz.papers.rate_experiment import Rate, RateExperiment
from zoviz.papers.zoeg.single_step import (
    ZOBCEGAlternating,
    ZOBCEGSingle,
    ZOCEGAlternating,
    ZOCEGSingle,
    ZOEGSingle,
)
from zoviz.problems import LoadTracking
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, Solver
from zoviz.solvers.saddle.extragradient import ExtraGradient
from zoviz.studies.experiment import Measured, Table

USERS, RADIUS, BLOCK = 20, 1e-3, 5
GAP, ERROR = "duality gap of the average", "error of the average"
HALF = " at half of the calls"
QUADRATIC, LINEAR = "the paper's costs", "linear costs"
COORDINATES, BLOCKS, RANDOM = "coordinates", "blocks of 5", "random directions"
FALLING, SAME = "steps of order K^(-1/2)", "the same steps at every K"
LARGEST = "the largest eta"
SINGLE, ALTERNATING = ", one step at equal calls", ", one step, y after x, at equal calls"
STEPS = {COORDINATES: 0.05, BLOCKS: 0.05, RANDOM: 2e-3, FALLING: 0.02, SAME: 0.02}
"""Of x, at the least K where they fall; 1 / L, of the gradient of the Lagrangian, is about 0.17 with 20 users."""
REPLICAS, FIRST_SEED = 8, 1000
"""Of an instance, whose mean is one draw, and of what is reported: steps and the least K were looked at on seed 0."""


class LinearCosts(LoadTracking):
    """Load tracking without the quadratic part of its costs: its Lagrangian is bilinear."""

    __abstract = True

    def build(self) -> Any:
        data = super().build()
        room, price = data.weight * data.upper, data.b / data.weight
        order = np.argsort(price)
        share = np.empty(self.n)
        share[order] = np.clip((data.demand - room[order].cumsum()) / room[order] + 1.0, 0.0, 1.0)
        point, dearest = share * data.upper, price[share > 0.0].max(keepdims=True)
        optimum = Optimum(float(data.b @ point), point, dearest, "closed form")
        return data._replace(a=np.zeros(self.n), optimum=optimum)


PROBLEMS: dict[str, type[LoadTracking]] = {QUADRATIC: LoadTracking, LINEAR: LinearCosts}


def longest_step(problem: LoadTracking) -> float:
    """Return 1 / (2 L), the longest step of Theorem 4.1, L the Lipschitz constant of the Lagrangian's field."""
    slope = problem.data.weight[:, None]
    return 0.5 / float(np.linalg.norm(np.block([[np.diag(2.0 * problem.data.a), -slope], [slope.T, 0.0]]), 2))


def solver_of(method: str, step: float, problem: LoadTracking) -> Solver:
    """Return a method with equal steps of x and y in units in which L does not depend on n."""
    options: dict[str, Any] = {
        "primal_step": step,
        "dual_step": step * USERS / problem.n,  # ||1 + gamma||^2, h's slope squared, is of order n
        "dual_cap": 4.0 * float(problem.known_optimum.multipliers[0]),
        "report": "average",
    }
    coordinates, blocks = Coordinate(smoothing_radius=RADIUS), Block(smoothing_radius=RADIUS, block_size=BLOCK)
    families: dict[str, tuple[type[ExtraGradient], GradientEstimator]] = {
        COORDINATES: (ZOCEG, coordinates),
        COORDINATES + SINGLE: (ZOCEGSingle, coordinates),
        COORDINATES + ALTERNATING: (ZOCEGAlternating, coordinates),
        BLOCKS: (ZOBCEG, blocks),
        BLOCKS + SINGLE: (ZOBCEGSingle, blocks),
        BLOCKS + ALTERNATING: (ZOBCEGAlternating, blocks),
    }
    random = (ZOEGSingle if method == RANDOM + SINGLE else ZOEG, Sphere(smoothing_radius=RADIUS, batch_size=1))
    cls, estimator = families.get(method, random)
    return cls.published(estimator=estimator, **options)


def answers_at(marks: list[int], method: str, step: float, problem: LoadTracking) -> Array:
    """Return a method's answers (marks, R, n) after numbers of iterations."""
    solver, streams = solver_of(method, step, problem), Streams(problem.seed, REPLICAS)
    oracle = Oracle(problem, streams)
    state, out = solver.init(problem.initial(streams), oracle, streams), []
    for k in range(1, marks[-1] + 1):
        state, _ = solver.step(state, oracle, streams)
        if k in marks:
            out.append(solver.output(state))
    return np.array(out)


def gap(x: Array, problem: LoadTracking) -> Array:
    """Return the duality gaps (...) of points (..., n), with any y."""
    values, optimum = problem.evaluate(x), problem.known_optimum
    return (values.f + optimum.multipliers[0] * values.h[..., 0] - optimum.value) / optimum.value


def error(x: Array, problem: LoadTracking) -> Array:
    """Return the errors (...) of points (..., n)."""
    values, optimum = problem.evaluate(x), problem.known_optimum
    excess = 2.0 * optimum.multipliers[0] * np.maximum(values.h[..., 0], 0.0)
    return (values.f - optimum.value + excess) / optimum.value


def error_after(iterations: int, method: str, step: float, problem: LoadTracking) -> Array:
    """Return the errors (R,) of a method's answers after a number of iterations."""
    return error(answers_at([iterations], method, step, problem)[0], problem)


class Averages(RateExperiment):
    """Gap and error of averaged iterates against K, with and without what each theorem credits."""

    first_seed = FIRST_SEED
    title = "zoeg Theorems"
    subject = "Duality gap and error of the averaged iterate of ZOEG, ZOCEG and ZOBCEG against the iterations K"
    printed = "1 / K down to a floor of order eta (Theorem 3.1), K^(-1/2) (Corollary 3.2), 1 / K (Theorems 4.1, 4.3)."
    protocol = (
        "LoadTracking with the paper's costs and with linear ones, which are ours, 20 users, drawn instances and "
        "starts; one direction or all coordinates or blocks of 5; the longest steps of Theorem 4.1, for one direction "
        "and for the least K by hand, on an instance that is not reported."
    )
    variable = "K"
    sizes = {
        "quick": {"horizons": [200, 400, 800], "instances": 2},
        "full": {"horizons": [800, 1212, 1838, 2786, 4223, 6400], "instances": 6},
    }
    anytime = True

    def rates(self) -> list[Rate]:
        theorems = {
            RANDOM: ("Theorem 3.1", "ZOEG comes to a floor at the rate 1 / K"),
            COORDINATES: ("Theorem 4.1", "the average of ZOCEG comes near at 1 / K"),
            BLOCKS: ("Theorem 4.3", "the same for blocks of coordinates"),
        }
        out = [
            Rate(
                "Theorems 3.1, 4.1, 4.3, gap" if measure == GAP else place,
                f"{says}: {measure}, {case}",
                case,
                measure,
                -1.0,
                name,
                name + SINGLE,
            )
            for case in PROBLEMS
            for measure in (ERROR, GAP)
            for name, (place, says) in theorems.items()
            if not (case == LINEAR and name == RANDOM)
        ]
        corollary = "ZOEG's error falls as K^(-1/2): calls of order 1 / eps^2"
        return [*out, Rate("Corollary 3.2", corollary, QUADRATIC, ERROR, -1.0 / 2.0, FALLING, SAME)]

    def methods(self, case: str) -> list[str]:
        """Return the methods of the claims, and one step of y after that of x."""
        return [*super().methods(case), COORDINATES + ALTERNATING, BLOCKS + ALTERNATING]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return gaps and errors (horizons, R) after every K, of one step after as many calls and after half.

        Steps that fall with K take a run for each.
        """
        problem, horizons = PROBLEMS[case](n=USERS, seed=seed), self.settings["horizons"]
        if method == FALLING:
            steps = [STEPS[method] * (horizons[0] / K) ** 0.5 for K in horizons]
            runs = zip(horizons, steps, strict=True)
            found = {"": np.concatenate([answers_at([K], method, step, problem) for K, step in runs])}
        elif method.endswith((SINGLE, ALTERNATING)):
            marks = sorted({*horizons, *(2 * K for K in horizons)})
            answers = dict(zip(marks, answers_at(marks, method, self.step(method, problem), problem), strict=True))
            found = {"": np.array([answers[2 * K] for K in horizons]), HALF: np.array([answers[K] for K in horizons])}
        else:
            found = {"": answers_at(horizons, method, self.step(method, problem), problem)}
        measures = {GAP: gap, ERROR: error}
        return {name + when: of(x, problem) for when, x in found.items() for name, of in measures.items()}

    def step(self, method: str, problem: LoadTracking) -> float:
        """Return a method's step of x: by hand with random directions, else the longest of Theorem 4.1."""
        name = method.split(", ")[0]
        return STEPS[name] if name in (RANDOM, SAME) else longest_step(problem)

    def tables(self, measured: Measured) -> list[Table]:
        rows = []
        for case, name, measure in itertools.product(PROBLEMS, (RANDOM, COORDINATES, BLOCKS), (GAP, ERROR)):
            kinds = [(name, measure)]
            kinds += [(name + how, measure + when) for how in (SINGLE, ALTERNATING) for when in ("", HALF)]
            own = self.methods(case)
            cells = [
                f"{self.rows(measured, case, method, what)[-1].mean():.3g}" if method in own else "–"
                for method, what in kinds
            ]
            if name in own:
                rows.append((case, measure, name, *cells))
        heads: tuple[str, ...] = ("Costs", "Measure", "Estimates", "Two steps")
        heads += tuple(f"{how}, {calls} calls" for how in ("One step", "y after x") for calls in ("equal", "half the"))
        return [*super().tables(measured), Table("Means at the largest K", heads, rows)]


class StepFloor(RateExperiment):
    """The floor of ZOEG's averaged iterate against the step."""

    first_seed = FIRST_SEED
    title = "zoeg floor"
    subject = "The error at which ZOEG's averaged iterate ends, against 1 / eta"
    printed = "A floor of order eta (Theorem 3.1)."
    protocol = (
        "LoadTracking, 20 users, drawn instances, one direction; max(iterations, 1 / eta) / eta iterations, by hand, "
        "on instances that are not reported; beside it as many iterations with the largest eta."
    )
    variable = "1 / eta"
    sizes = {
        "quick": {"horizons": [50, 100], "instances": 3, "iterations": 100},
        "full": {"horizons": [50, 66, 87, 115, 152, 200], "instances": 6, "iterations": 200},
    }

    def rates(self) -> list[Rate]:
        """Return the claim beside as many iterations with the largest eta, which do not lower a floor."""
        return [Rate("Theorem 3.1", "the floor is of order eta", "ZOEG", ERROR, -1.0, "eta", LARGEST)]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the errors (R,) after iterations of order 1 / eta^2, over which the start is averaged out."""
        iterations = max(self.settings["iterations"], horizon) * horizon
        step = 1.0 / (self.settings["horizons"][0] if method == LARGEST else horizon)
        return {ERROR: error_after(iterations, RANDOM, step, LoadTracking(n=USERS, seed=seed))}


class Dimension(RateExperiment):
    """The error of averaged iterates at calls of order d, against d."""

    first_seed = FIRST_SEED
    title = "zoeg dimension"
    subject = "The error of the averaged iterate at a number of oracle calls of order d, against d"
    printed = "d / eps^2 calls of ZOEG, d / eps of ZOCEG (Corollaries 3.2, 4.2): at calls of order d the error stays."
    protocol = (
        "LoadTracking with d users, drawn instances; ZOEG: 40 d iterations, steps 0.2 / d; ZOCEG: 200 iterations; "
        "all by hand, on instances that are not reported."
    )
    variable = "d"
    sizes = {
        "quick": {"horizons": [20, 80], "instances": 5},
        "full": {"horizons": [20, 40, 80, 113, 160, 320], "instances": 20},
    }

    def rates(self) -> list[Rate]:
        wrong = "the same iterations and steps at every d"
        return [
            Rate("Corollary 3.2", "ZOEG takes calls of order d", "ZOEG", ERROR, 0.0, "calls of order d", wrong),
            Rate("Corollary 4.2", "ZOCEG takes calls of order d", "ZOCEG", ERROR, 0.0, COORDINATES, ""),
        ]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the errors (R,) with d users."""
        iterations, step = 200, STEPS[COORDINATES]
        if case == "ZOEG":
            size = horizon if method == "calls of order d" else self.settings["horizons"][0]
            iterations, step = 40 * size, 0.2 / size
        return {ERROR: error_after(iterations, method, step, LoadTracking(n=horizon, seed=seed))}
