"""A strongly convex problem with a known corner solution, exact gradients for it, and a counter of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.streams import RandomSource, Streams
from zoviz.core.types import Array, Constants, Estimate, Evaluation
from zoviz.estimators import GradientEstimator
from zoviz.oracle import Oracle, ValueOracle
from zoviz.problems import Problem
from zoviz.runs.run import Run
from zoviz.solvers import Solver


class Corner(Problem):
    r"""f = sum a_i (x_i - c_i)^2 / 2, h_1 = sum x - 3/2 (active), h_2 = x_1^2 - 1/4 (inactive), X = [0, 2]^4.

    Its solution is x = clip(c - lam / a, 0, 2): the last bound is active too, and lam = 9 / 11.
    """

    __abstract = True  # a test's own class: the registry must not offer it

    n, m = 4, 2
    domain = Box(np.zeros(4), np.full(4, 2.0))
    weights, centre = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1.0, 1.0, -1.0])
    constants = Constants(4.0, 2.0, 13.0, 4.5, 2.5, 0.0)
    multiplier = 9.0 / 11.0

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.points = 0

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        self.points += x.size // self.n
        f = 0.5 * (self.weights * (x - self.centre) ** 2).sum(axis=-1)
        return Evaluation(f, np.stack([x.sum(axis=-1) - 1.5, x[..., 0] ** 2 - 0.25], axis=-1))

    def gradient(self, x: Array, xi: Any = None) -> tuple[Array, Array]:
        first = np.ones_like(x)
        second = np.zeros_like(x)
        second[..., 0] = 2.0 * x[..., 0]
        return self.weights * (x - self.centre), np.stack([first, second], axis=-2)

    @property
    def solution(self) -> Array:
        return np.clip(self.centre - self.multiplier / self.weights, 0.0, 2.0)


class Exact(GradientEstimator):
    """In place of an estimate: the chain rule on phi(f, h), or the saddle function's gradient where z = (x, y)."""

    __abstract = True  # a test's own class
    problem = Corner()

    def estimate(
        self,
        phi: Any,
        x: Array,
        oracle: ValueOracle,
        streams: RandomSource,
        *,
        base: Any = None,
        radius: Any = None,
    ) -> Estimate:
        problem, zero = self.problem, np.zeros(len(x))
        n = problem.n
        value, (of_f, of_h) = problem.evaluate(x[:, :n]), problem.gradient(x[:, :n])
        if x.shape[1] > n:
            y = x[:, n:]
            return Estimate(np.concatenate([of_f + np.einsum("rj,rjn->rn", y, of_h), value.h], axis=1), zero, base)
        parts = np.concatenate([value.f[:, None], value.h], axis=1)
        gradient = np.zeros_like(of_f)
        for j in range(parts.shape[1]):
            ends = []
            for sign in (1.0, -1.0):
                moved = parts.copy()
                moved[:, j] += sign * 1e-4
                ends.append(phi(Evaluation(moved[:, 0], moved[:, 1:])))
            gradient += ((ends[0] - ends[1]) / 2e-4)[:, None] * (of_f if j == 0 else of_h[:, j - 1])
        return Estimate(gradient, zero, base)

    def predicted_variance(self, gradient_square: Array, n: int, noise: Any, radius: float) -> Array:
        return 0.0 * gradient_square


class Bench:
    """Takes a solver through a few steps on its own ``Corner`` and counts what the problem itself was asked."""

    seed = 7

    def __init__(self) -> None:
        self.problem, self.exact = Corner(), Exact

    def streams(self, replicas: int) -> Streams:
        return Streams(self.seed, replicas)

    def course(self, solver: Solver, steps: int, replicas: int = 3) -> tuple[list[Any], list[Any]]:
        """States, the first one's included, and the steps' infos; parameters that are None by the solver's rule."""
        suggestions = solver.from_constants(self.problem, self.problem.constants)
        for name in solver.open_scales():
            solver.set(name, suggestions[name])
        streams, self.problem.points = self.streams(replicas), 0
        self.oracle = Oracle(self.problem, streams)
        states = [solver.init(self.problem.initial(streams), self.oracle, streams)]
        infos = []
        for _ in range(steps):
            state, info = solver.step(states[-1], self.oracle, streams)
            states.append(state)
            infos.append(info)
        return states, infos

    def calls(self, solver: Solver, steps: int) -> int:
        """Points per replica that the problem was asked for in so many steps, the start's left out."""
        replicas = 3
        self.course(solver, 0, replicas)
        start = self.problem.points
        self.course(solver, steps, replicas)
        assert (self.oracle.calls * replicas == self.problem.points).all()
        return (self.problem.points - start) // replicas

    def shares(self, solver: Solver, problem: Problem, iterations: int) -> tuple[float, float]:
        """What so many iterations leave of gap and violation, as shares of the start's."""
        run = Run(problem=problem, solver=solver, replicas=8, iterations=iterations, seed=3)
        run.run()
        gap, violation = (np.abs(run.trace[name]).mean(axis=1) for name in ("gap", "violation"))
        return gap[-1] / gap[0], violation[-1] / violation[0]
