"""What Tables 1 and 2 of paper conex share: methods tune settings by noisy calls; answers are measured afresh.

Every trial has an instance of its own (other rows of the data, another split) and one start for all methods. Where
instances for a search are given, every method may try four settings beforehand, each on the same of them, which are
none of those reported; the best by the median loss is run. SZO-ConEX: primal step and dual step; Bayesian methods: size
of the first design, and the probability from which on a constraint counts as met. Without a search each method has the
first of its settings. The paper's K = 50 are iterations here: with one shared direction, and values that do not repeat,
four calls each.

A Bayesian method's answer is its recommendation, SZO-ConEX's the last iterate whose own noisy constraints were met, the
last one where none was. What is said of an answer comes from fresh trials off the books. Its loss is the mean objective
where the mean of every constraint is at most 0, by two standard errors, else infinite.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.papers.conex.methods import OURS, PLAIN, RIVALS, conex
from zoviz.papers.conex.pairs import Pair, PairedExperiment
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import OBJECTIVE
from zoviz.runs.references import Reference
from zoviz.runs.run import Run
from zoviz.solvers import Solver
from zoviz.studies.experiment import Claim, Figures, Measured, Panel, Table, Tuning, array, mean_text, plain
from zoviz.studies.live import Live

SEARCH_SEED = 1000
"""First instance of the search; those that are reported begin at 0."""
DESIGNS, LEVELS = (1, 3), (0.5, 0.95)
"""Sizes of a Bayesian method's first design, over 2 (n + 1), and feasibility levels that are tried."""
METHODS = (OURS, PLAIN, *RIVALS)
Setting = tuple[float, float]


class FreshTrials(NamedTuple):
    """What fresh trials say of an answer: their figures of merit (k,), objectives (k,) and constraints (k, m)."""

    merit: Array
    f: Array
    h: Array

    def figures(self) -> Figures:
        """Return the means, and the standard errors of the constraints."""
        error = self.h.std(axis=0, ddof=1) / np.sqrt(len(self.h))
        return {
            "merit": float(self.merit.mean()),
            "objective": float(self.f.mean()),
            "constraints": plain(self.h.mean(axis=0)),
            "errors": plain(error),
        }


def feasible(one: Figures) -> bool:
    """Return whether the mean of every constraint of an answer is at most 0, by two standard errors."""
    return bool((array(one["constraints"]) <= 2.0 * array(one["errors"]) + 1e-9).all())


def loss(one: Figures) -> float:
    """Return the mean objective of an answer, infinite where it is infeasible."""
    return float(one["objective"]) if feasible(one) else np.inf


class TunedApplication(PairedExperiment):
    """Methods that tune the settings of an application, at equal calls.

    The settings have ``trials`` and ``search``, the numbers of instances reported and of the search, ``calls`` of a
    run, ``fresh`` trials of an answer, and ``problem``, parameters of the problem. Parts are a method on an instance.
    """

    __abstract = True

    doubt = "the paper runs Algorithm 2 with K = 50 stages, this Algorithm 1 with 50 iterations"
    place: ClassVar[str]
    """Of the table."""
    merit: ClassVar[str]
    """The figure of merit, with its unit."""
    radius: ClassVar[float]
    """nu of SZO-ConEX."""
    steps: ClassVar[tuple[tuple[float, float], tuple[float, float]]]
    """Primal and dual steps that SZO-ConEX may try."""
    published: ClassVar[Mapping[str, str]]
    """The paper's figure by method."""
    caution: ClassVar[str]
    """How far the paper's figures can be compared with those of a run."""

    def problem(self, instance: int) -> Problem:
        """Return an instance of the problem."""
        raise NotImplementedError

    def fresh(self, problem: Any, x: Array, count: int) -> FreshTrials:
        """Return fresh trials of an answer x (n,)."""
        raise NotImplementedError

    def choices(self, method: str) -> list[Setting]:
        """Return the four settings that a method may try."""
        grids = self.steps if method in (OURS, PLAIN) else (DESIGNS, LEVELS)
        return list(itertools.product(*grids))

    def solver(self, method: str, n: int, setting: Setting) -> Solver:
        """Return the method with a setting."""
        if method in (OURS, PLAIN):
            theta = 0.0 if method == PLAIN else 1.0
            return conex(self.radius, 1, theta, primal_step=setting[0], dual_step=setting[1])
        return RIVALS[method](initial_points=int(setting[0]) * 2 * (n + 1), feasibility_level=setting[1])

    def answer(self, method: str, setting: Setting, instance: int) -> tuple[Problem, Array]:
        """Return an instance and a method's answer (n,) on it."""
        problem, calls = self.problem(instance), self.settings["calls"]
        solver = self.solver(method, problem.domain.n, setting)
        run = Run(problem, solver, replicas=1, seed=self.seed(instance), calls=calls)
        met: list[Array] = []

        def look() -> None:
            result = run.result
            if result.maxcv[0] <= 0.0:
                met[:] = [result.x[0]]

        result = run.run(look if method in (OURS, PLAIN) else None)
        return problem, met[0] if met else result.x[0]

    def outcome(self, method: str, setting: Setting, instance: int) -> Figures:
        """Return what a method's answer on an instance is worth."""
        problem, x = self.answer(method, setting, instance)
        return self.fresh(problem, x, self.settings["fresh"]).figures()

    def best_setting(self, method: str) -> Setting:
        """Return the setting with the least median loss over the instances of the search; the first for no search."""
        return min(self.choices(method), key=lambda setting: self._score(method, setting))

    def _score(self, method: str, setting: Setting) -> tuple[float, float]:
        every = [self.outcome(method, setting, instance) for instance in self._search()]
        if not every:
            return 0.0, 0.0
        return float(np.median([loss(one) for one in every])), float(np.mean([one["objective"] for one in every]))

    def _search(self) -> range:
        return range(SEARCH_SEED, SEARCH_SEED + self.settings["search"])

    def parts(self) -> list[str]:
        return [f"{method} / {instance}" for instance in range(self.settings["trials"]) for method in METHODS]

    def needs(self, part: str) -> list[str]:
        """Return the method's part on the first instance, which searches for its setting."""
        first = f"{part.split(' / ')[0]} / 0"
        return [first] if part != first else []

    def measure_after(self, part: str, needed: Measured) -> Figures:
        """Return a method's setting and what its answer is worth."""
        method, instance = part.split(" / ")
        first, second = needed[f"{method} / 0"]["setting"] if needed else self.best_setting(method)
        return {"setting": [first, second], **self.outcome(method, (first, second), int(instance))}

    def tuning(self) -> Tuning | None:
        if not self.settings["search"]:
            return None
        trials = tuple(range(self.settings["trials"]))
        return Tuning(len(self.choices(OURS)), "the median loss", tuple(self._search()), trials)

    def outcomes(self, measured: Measured, method: str) -> list[Figures]:
        """Return what a method's answers are worth, by instance."""
        return [measured[f"{method} / {instance}"] for instance in range(self.settings["trials"])]

    def losses(self, measured: Measured, pair: Pair, method: str) -> Array:
        """Return the losses (trials,) of a method's answers."""
        return np.array([loss(one) for one in self.outcomes(measured, method)])

    def pairs(self) -> list[Pair]:
        """Return SZO-ConEX against each rival, and against itself without extrapolation."""
        out = [Pair(self.place, f"{OURS} is better than {name}", "", OURS, name, PLAIN) for name in RIVALS]
        says = "the extrapolation makes it better"
        return [*out, Pair(f"{self.place}, ours", says, "", OURS, PLAIN, PLAIN)]

    def budgets(self, measured: Measured, pair: Pair, method: str) -> Mapping[str, float]:
        """Return the calls of both."""
        return dict.fromkeys((method, pair.other), float(self.settings["calls"]))

    def claims(self) -> list[Claim]:
        return self.paired_claims()

    def tables(self, measured: Measured) -> list[Table]:
        rows = []
        for method in METHODS:
            every = self.outcomes(measured, method)
            merit, met = np.array([one["merit"] for one in every]), np.array([feasible(one) for one in every])
            where = mean_text(merit[met], 4) if met.any() else "–"
            cells = (mean_text(merit, 4), where, f"{met.sum()} of {len(every)}")
            setting = ", ".join(f"{value:g}" for value in every[0]["setting"])
            rows.append((method, self.published.get(method, "–"), *cells, setting))
        heads = ("Method", "Paper", self.merit, "Where feasible", "Feasible", "Setting")
        return [Table(f"{self.merit}: means ± standard errors over trials", heads, rows)]

    def panels(self, measured: Measured) -> list[Panel]:
        lines, parts = {}, {}
        for method in METHODS:
            values = np.sort([one["merit"] for one in self.outcomes(measured, method)])
            lines[method] = (plain(values), plain(np.arange(1, len(values) + 1) / len(values)))
            parts[method] = [f"{method} / {instance}" for instance in range(self.settings["trials"])]
        return [Panel(self.place, self.merit, "share of trials at most there", lines, parts=parts)]

    def seeds(self, part: str) -> tuple[int, ...]:
        """Return the instance, which is the run's seed."""
        return (self.seed(int(part.split(" / ")[1])),)

    def _printed(self) -> dict[str, float]:
        """Return the paper's figures as numbers, without their errors."""
        return {name: float(text.split("±")[0].replace(" ", "")) for name, text in self.published.items()}

    def objective_of(self, merit: float) -> float:
        """Return the objective of an answer with this figure of merit."""
        raise NotImplementedError

    def live(self, measured: Measured) -> list[Live]:
        """Return every method on the first instance at its setting, with the printed figures of merit as levels."""
        out, settings = [], {"replicas": 1, "calls": self.settings["calls"]}
        for method in [name for name in METHODS if f"{name} / 0" in measured]:
            problem, setting = self.problem(0), measured[f"{method} / 0"]["setting"]
            solver = self.solver(method, problem.domain.n, (setting[0], setting[1]))
            references = tuple(
                Reference(OBJECTIVE, f"{name} {printed:g}", self.place, y=(self.objective_of(printed),))
                for name, printed in self._printed().items()
                if name in (OURS, method)
            )
            out.append(Live(method, problem, solver, settings, (f"{method} / 0",), references, note=self.caution))
        return out
