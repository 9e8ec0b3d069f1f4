"""What Tables 1 and 2 of paper conex share: methods tune settings by 200 noisy calls; answers are measured afresh.

Every trial has an instance of its own (other rows of the data, another split) and one start for all methods. Every
method may try four settings beforehand, each on the same trial instances, which are none of those reported; the best
by the median loss is run. SZO-ConEX: primal step and dual step, a factor five apart; Bayesian methods: size of the
first design, and the probability from which on a constraint counts as met. The paper's K = 50 are iterations here: with
one shared direction, and values that do not repeat, four calls each.

A Bayesian method's answer is its recommendation, SZO-ConEX's the last iterate whose own noisy constraints were met, the
last one where none was. What is told of an answer comes from fresh trials off the books. Its loss is the mean
objective where the mean of every constraint is at most 0, by two standard errors, else infinite. Every outcome is a
line of ``--results``, so that a table that was interrupted, or has grown, goes on where it stood.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.papers.conex.methods import BASELINE, OURS, PLAIN, RIVALS, Claim, conex, judged
from zoviz.papers.results_file import ResultsFile
from zoviz.problems.base import Problem
from zoviz.runs.run import Run
from zoviz.solvers import Solver

SEARCH_SEED = 1000
"""First instance of the search; those that are reported begin at 0."""
DESIGNS, LEVELS = (1, 3), (0.5, 0.95)
"""Sizes of a Bayesian method's first design, over 2 (n + 1), and feasibility levels that are tried."""


class Measured(NamedTuple):
    """What fresh trials say of an answer: their figures of merit (k,), objectives (k,) and constraints (k, m)."""

    merit: Array
    f: Array
    h: Array

    @property
    def feasible(self) -> bool:
        """Whether the mean of every constraint is at most 0, by two standard errors."""
        error = self.h.std(axis=0, ddof=1) / np.sqrt(len(self.h))
        return bool((self.h.mean(axis=0) <= 2.0 * error + 1e-9).all())

    @property
    def loss(self) -> float:
        """The mean objective, infinite where the answer is infeasible."""
        return float(self.f.mean()) if self.feasible else np.inf


class Task(NamedTuple):
    """A table of the paper: its problem by instance, what is measured of an answer, and the published figures.

    Attributes
    ----------
    title, merit : str
        Of the table, and of the figure of merit.
    problem : callable
        Maps an instance's number to the problem.
    measure : callable
        Maps a problem, an answer x (n,) and a number of fresh trials to ``Measured``.
    radius : float
        nu of SZO-ConEX.
    steps : pair of tuples of float
        Primal and dual steps that SZO-ConEX may try.
    least : float
        Least median difference of losses that matters.
    unit : str
        Of the losses, for the text.
    published : mapping of str to str
        The paper's figure by method.
    """

    title: str
    merit: str
    problem: Callable[[int], Problem]
    measure: Callable[[Any, Array, int], Measured]
    radius: float
    steps: tuple[tuple[float, float], tuple[float, float]]
    least: float
    unit: str
    published: Mapping[str, str]


class Budget(NamedTuple):
    """Instances reported, instances of a search, calls of each run, fresh trials of an answer, and the file."""

    trials: int
    search: int
    calls: int
    fresh: int
    results: ResultsFile


Setting = tuple[float, float]


def settings(task: Task, method: str) -> list[Setting]:
    """Return the four settings that a method may try."""
    grids = task.steps if method in (OURS, PLAIN) else (DESIGNS, LEVELS)
    return list(itertools.product(*grids))


def solver(task: Task, method: str, n: int, setting: Setting) -> Solver:
    """Return the method with a setting."""
    if method in (OURS, PLAIN):
        theta = 0.0 if method == PLAIN else 1.0
        return conex(task.radius, 1, theta, primal_step=setting[0], dual_step=setting[1])
    cls = {**RIVALS, **BASELINE}[method]
    return cls(initial_points=int(setting[0]) * 2 * (n + 1), feasibility_level=setting[1])


def answer(task: Task, method: str, setting: Setting, instance: int, calls: int) -> tuple[Problem, Array]:
    """Return an instance and a method's answer (n,) after so many calls."""
    problem = task.problem(instance)
    run = Run(problem, solver(task, method, problem.domain.n, setting), replicas=1, seed=instance, calls=calls)
    met: list[Array] = []

    def look() -> None:
        result = run.result
        if result.maxcv[0] <= 0.0:
            met[:] = [result.x[0]]

    result = run.run(look if method in (OURS, PLAIN) else None)
    return problem, met[0] if met else result.x[0]


def outcome(task: Task, method: str, setting: Setting, instance: int, budget: Budget) -> Measured:
    """Return what a method's answer on an instance is worth, from the file where that has it."""

    def make() -> list[Any]:
        problem, x = answer(task, method, setting, instance, budget.calls)
        return [part.tolist() for part in task.measure(problem, x, budget.fresh)]

    row = budget.results.of((task.title, method, *setting, instance, budget.calls, budget.fresh), make)
    return Measured(*(np.array(part) for part in row))


def outcomes(task: Task, method: str, setting: Setting, instances: Iterable[int], budget: Budget) -> list[Measured]:
    """Return what a method's answers on some instances are worth."""
    return [outcome(task, method, setting, instance, budget) for instance in instances]


def best_setting(task: Task, method: str, budget: Budget) -> Setting:
    """Return the setting with the least median loss over the instances of the search; the first one for no search."""
    choices = settings(task, method)
    if not budget.search:
        return choices[0]
    instances = range(SEARCH_SEED, SEARCH_SEED + budget.search)

    def losses(setting: Setting) -> tuple[float, float]:
        values = [(one.loss, float(one.f.mean())) for one in outcomes(task, method, setting, instances, budget)]
        median, mean = np.median(values, axis=0)
        return float(median), float(mean)

    return min(choices, key=losses)


def mean_and_error(values: Array) -> str:
    """Return "mean ± standard error" of values (k,) as text."""
    return f"{values.mean():.4g} ± {values.std(ddof=1) / np.sqrt(len(values)):.2g}" if len(values) > 1 else "-"


def line(task: Task, method: str, setting: Setting, found: list[Measured]) -> str:
    """Return a method's row of the table as text."""
    merit = np.array([one.merit.mean() for one in found])
    feasible = np.array([one.feasible for one in found])
    cells = (
        task.published.get(method, "—"),
        mean_and_error(merit),
        mean_and_error(merit[feasible]),
        f"{feasible.sum()} of {len(found)}",
        f"{setting[0]:g}, {setting[1]:g}",
    )
    return f"| {method} | " + " | ".join(cells) + " |"


def report(task: Task, budget: Budget, methods: Iterable[str]) -> None:
    """Print the table beside the paper's, and the verdict on every claim."""
    print(
        f"\n{task.title}: {budget.trials} trials, {budget.calls} calls each, answers measured by {budget.fresh} fresh"
    )
    print(f"{task.merit}, means ± standard errors over trials; four settings tried on {budget.search} other instances")
    print(f"| Method | Paper | {task.merit} | Where feasible | Feasible | Setting |")
    print("|---" * 6 + "|", flush=True)
    losses: dict[str, Array] = {}
    for method in methods:
        setting = best_setting(task, method, budget)
        found = outcomes(task, method, setting, range(budget.trials), budget)
        losses[method] = np.array([one.loss for one in found])
        print(line(task, method, setting, found), flush=True)
    if OURS in losses:
        claims = [Claim(f"{OURS} better than {name}", losses[OURS], losses[name]) for name in losses if name != OURS]
        print(f"differences below {task.least:g}{task.unit} do not matter; p-values corrected for {len(claims)} pairs")
        for text in judged(claims, task.least, task.unit):
            print(text)


def run(task: Task, description: str | None) -> None:
    """Print the report for the sizes that the command line gives."""
    every = [OURS, PLAIN, *RIVALS, *BASELINE]
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--search", type=int, default=3, help="instances of the search; 0: the first setting")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--fresh", type=int, default=16, help="trials of an answer, off the books")
    parser.add_argument("--results", type=Path, help="file of the outcomes, which is gone on with")
    parser.add_argument("--only", nargs="+", default=every, choices=every, metavar="METHOD")
    options = parser.parse_args()
    sizes = options.trials, options.search, options.calls, options.fresh
    report(task, Budget(*sizes, ResultsFile(options.results)), options.only)
