"""Paper zoeg, Theorems 3.1, 4.1 and 4.3 with their corollaries: errors of averaged iterates.

Proposition 3.1 bounds both f(x) - f* and ||[h(x)]_+|| of ZOEG's averaged iterate by D^2 / (2 eta K) + C / K
+ 108 eta d G^2: the rate 1 / K down to a floor of order eta, that random directions leave. Steps of order K^(-1/2) then
give K^(-1/2) (Corollary 3.2: d / eps^2 calls), and estimates along coordinates, which leave no floor, 1 / K (Theorems
4.1, 4.3; Corollary 4.2: d / eps calls). What the theorems credit is the extra-gradient: beside each stands one step in
place of two, as many calls in twice the iterations.

The error is (f(x) - f* + 2 y* [h(x)]_+) / f*, which is 0 at the optimum only: y* [h]_+ is the most by which a point
outside can be cheaper.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import Block, Coordinate, GradientEstimator, Sphere
from zoviz.oracle import Oracle
from zoviz.papers.rate_experiment import Rate, RateExperiment
from zoviz.papers.zoeg.single_step import ZOBCEGSingle, ZOCEGSingle, ZOEGSingle
from zoviz.problems import LoadTracking
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, Solver
from zoviz.solvers.saddle.extragradient import ExtraGradient

USERS, RADIUS, BLOCK = 20, 1e-3, 5
ERROR = "error of the average"
COORDINATES, BLOCKS, RANDOM = "coordinates", "blocks of 5", "random directions"
FALLING, SAME = "steps of order K^(-1/2)", "the same steps at every K"
SINGLE = ", one step at equal calls"
STEPS = {COORDINATES: 0.05, BLOCKS: 0.05, RANDOM: 2e-3, FALLING: 0.02, SAME: 0.02}
"""Of x, at the least K where they fall; 1 / L, of the gradient of the Lagrangian, is about 0.17 with 20 users."""
REPLICAS, FIRST_SEED = 8, 1000
"""Of an instance, whose mean is one draw, and of what is reported: steps and the least K were looked at on seed 0."""


def solver_of(method: str, step: float, problem: LoadTracking) -> Solver:
    """Return a method with equal steps of x and y in units in which L does not depend on n."""
    options: dict[str, Any] = {
        "primal_step": step,
        "dual_step": step * USERS / problem.n,  # ||1 + gamma||^2, h's slope squared, is of order n
        "dual_cap": 4.0 * float(problem.known_optimum.multipliers[0]),
    }
    families: dict[str, tuple[type[ExtraGradient], type[ExtraGradient], GradientEstimator]] = {
        COORDINATES: (ZOCEG, ZOCEGSingle, Coordinate(smoothing_radius=RADIUS)),
        BLOCKS: (ZOBCEG, ZOBCEGSingle, Block(smoothing_radius=RADIUS, block_size=BLOCK)),
    }
    random = (ZOEG, ZOEGSingle, Sphere(smoothing_radius=RADIUS, batch_size=1))
    two, one, estimator = families.get(method.removesuffix(SINGLE), random)
    return (one if method.endswith(SINGLE) else two).published(estimator=estimator, report="average", **options)


def errors_at(marks: list[int], method: str, step: float, problem: LoadTracking) -> Array:
    """Return the errors (marks, R) of a method's averaged iterates after numbers of iterations, of as many calls."""
    solver, streams = solver_of(method, step, problem), Streams(problem.seed, REPLICAS)
    oracle = Oracle(problem, streams)
    state, out = solver.init(problem.initial(streams), oracle, streams), []
    per = 2 if method.endswith(SINGLE) else 1
    for k in range(1, per * marks[-1] + 1):
        state, _ = solver.step(state, oracle, streams)
        if k % per == 0 and k // per in marks:
            out.append(error(solver.output(state), problem))
    return np.array(out)


def error(x: Array, problem: LoadTracking) -> Array:
    """Return the errors (R,) of points (R, n)."""
    values, optimum = problem.evaluate(x), problem.known_optimum
    excess = 2.0 * optimum.multipliers[0] * np.maximum(values.h[:, 0], 0.0)
    return (values.f - optimum.value + excess) / optimum.value


class InstancesExperiment(RateExperiment):
    """An experiment on drawn instances of load tracking, one run on each."""

    __abstract = True

    def instances(self, n: int) -> list[LoadTracking]:
        """Return the instances with n users."""
        return [LoadTracking(n=n, seed=seed) for seed in self.instance_seeds(FIRST_SEED)]

    def seeds(self, part: str) -> tuple[int, ...]:
        """Return the seeds of the instances, which those of the runs are, too."""
        return self.instance_seeds(FIRST_SEED)

    def errors(self, marks: list[int], method: str, step: float, n: int) -> Array:
        """Return the errors (marks, instances times replicas) with n users."""
        return np.concatenate([errors_at(marks, method, step, one) for one in self.instances(n)], axis=1)


class Averages(InstancesExperiment):
    """The error of averaged iterates against K, with and without what each theorem credits."""

    title = "zoeg Theorems"
    subject = "The error of the averaged iterate of ZOEG, ZOCEG and ZOBCEG against the iterations K"
    printed = "1 / K down to a floor of order eta (Theorem 3.1), K^(-1/2) (Corollary 3.2), 1 / K (Theorems 4.1, 4.3)."
    protocol = (
        "LoadTracking, 20 users, drawn instances and starts, one direction or all coordinates or blocks of 5, "
        "constant steps and the least K by hand, on an instance that is not reported."
    )
    variable = "K"
    sizes = {
        "quick": {"horizons": [200, 400, 800], "instances": 2},
        "full": {"horizons": [800, 1212, 1838, 2786, 4223, 6400], "instances": 6},
    }
    anytime = True

    def rates(self) -> list[Rate]:
        """Return the theorems' claims, each beside one step, and the corollary beside the same steps at every K."""
        floor = "ZOEG comes to a floor at the rate 1 / K"
        corollary = "ZOEG's error falls as K^(-1/2): calls of order 1 / eps^2"
        near, blocks = "the average of ZOCEG comes near at 1 / K", "the same for blocks of coordinates"
        cases = {
            "ZOEG": ("Theorem 3.1", floor, RANDOM),
            "ZOCEG": ("Theorem 4.1", near, COORDINATES),
            "ZOBCEG": ("Theorem 4.3", blocks, BLOCKS),
        }
        out = [Rate(place, says, case, ERROR, -1.0, name, name + SINGLE) for case, (place, says, name) in cases.items()]
        return [*out, Rate("Corollary 3.2", corollary, "ZOEG, K known", ERROR, -1.0 / 2.0, FALLING, SAME)]

    def values(self, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the errors after every K; steps that fall with K take a run for each."""
        horizons, step = self.settings["horizons"], STEPS[method.removesuffix(SINGLE)]
        if method == FALLING:
            sized = [(K, step * (horizons[0] / K) ** 0.5) for K in horizons]
            return {ERROR: np.concatenate([self.errors([K], method, own, USERS) for K, own in sized])}
        return {ERROR: self.errors(horizons, method, step, USERS)}


class StepFloor(InstancesExperiment):
    """The floor of ZOEG's averaged iterate against the step."""

    title = "zoeg floor"
    subject = "The error at which ZOEG's averaged iterate ends, against 1 / eta"
    printed = "A floor of order eta (Theorem 3.1)."
    protocol = (
        "LoadTracking, 20 users, drawn instances, one direction; max(iterations, 1 / eta) / eta iterations, by "
        "hand, on instances that are not reported."
    )
    variable = "1 / eta"
    sizes = {
        "quick": {"horizons": [50, 100], "instances": 5, "iterations": 100},
        "full": {"horizons": [50, 100, 200], "instances": 20, "iterations": 200},
    }

    def rates(self) -> list[Rate]:
        """Return the claim; it is about no idea that could be switched off."""
        return [Rate("Theorem 3.1", "the floor is of order eta", "ZOEG", ERROR, -1.0, "eta", "")]

    def values(self, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the errors after a number of iterations of order 1 / eta^2: what began far away is averaged out."""
        iterations = max(self.settings["iterations"], horizon) * horizon
        return {ERROR: self.errors([iterations], RANDOM, 1.0 / horizon, USERS)[0]}


class Dimension(InstancesExperiment):
    """The error of averaged iterates at calls of order d, against d."""

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
        """Return the corollaries' claims: the error at calls of order d does not grow with d."""
        wrong = "the same iterations and steps at every d"
        return [
            Rate("Corollary 3.2", "ZOEG takes calls of order d", "ZOEG", ERROR, 0.0, "calls of order d", wrong),
            Rate("Corollary 4.2", "ZOCEG takes calls of order d", "ZOCEG", ERROR, 0.0, COORDINATES, ""),
        ]

    def values(self, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the errors with d users."""
        iterations, step = 200, STEPS[COORDINATES]
        if case == "ZOEG":
            size = horizon if method == "calls of order d" else self.settings["horizons"][0]
            iterations, step = 40 * size, 0.2 / size
        return {ERROR: self.errors([iterations], method, step, horizon)[0]}
