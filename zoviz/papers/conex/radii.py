"""What Figs. 1 and 2 of paper conex share: SZO-ConEX on a QCQP by smoothing radii, beside its ablation and its rivals.

The paper's radii are 0.05, 0.1 and "2", which may mean 0.2: all four are run, under noise of every value that either
all points of an iteration share ("common", as the theory asks) or every call draws afresh ("independent", as §4 reads).
Every method has its default rule; no setting was tried beforehand for any of them. Trials are replicas; those of a
Bayesian method have the starts of the first ones of SZO-ConEX. A Bayesian method has a few dozen calls, since a step of
it takes seconds at n = 200: it is compared at those calls, where SZO-ConEX has made an iteration or none. Its own end
is a thousand times as many calls away, at which no other has been.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.papers.conex.methods import OURS, PLAIN, RIVALS
from zoviz.papers.conex.pairs import Pair, PairedExperiment
from zoviz.problems import ConexQCQP
from zoviz.runs.run import Run
from zoviz.solvers import Solver
from zoviz.studies.experiment import Claim, Figures, Measured, Panel, Table, array, plain, rounded
from zoviz.studies.live import Live
from zoviz.studies.verdict import Evidence, gain

SMALL, LARGE = (0.05, 0.1, 0.2), 2.0
"""The radii that the paper calls small enough, 0.2 by our reading, and the one that is too large."""
RADII = (*SMALL, LARGE)
BATCH = 20
"""Directions of an estimate; the paper has one, which costs the same calls in more iterations."""
DESIGN = 20
"""Points of a Bayesian method's first design: 2 (n + 1), the default, would be all that it has calls for."""
RATIO = 2.0
"""Within this factor medians of calls are alike."""
EARLY, END = "early", "end"
"""At the calls that a Bayesian method has, and at the end of a method's own budget."""
_ROWS = 60
"""Of a course."""


class Course(NamedTuple):
    """A run by rows of its trace, (rows, R) each: calls, errors as shares of the start's, and violations.

    And its errors at the end and at the calls that a Bayesian method has, (R,).
    """

    calls: Array
    error: Array
    violation: Array
    end: Array
    early: Array


def with_radius(name: str, radius: float) -> str:
    """Return the name of a method with a radius."""
    return f"{name}, ν = {radius:g}"


class OverRadii(PairedExperiment):
    """A figure on a QCQP. The settings have ``panels`` (n, noise law, noise contract), trials and calls."""

    __abstract = True

    place: ClassVar[str]
    convex: ClassVar[bool]
    near: ClassVar[float]
    """Share of the start's error whose last crossing counts as accuracy reached."""
    measure_of_error: ClassVar[str]
    least = 0.01
    unit = " of the start's"
    ideas: ClassVar[dict[str, str]]
    """What is credited, with its verb, and the method without it."""

    def solvers(self) -> dict[str, Solver]:
        """Return SZO-ConEX by radii, and its ablations, by name."""
        raise NotImplementedError

    def course(self, problem: ConexQCQP, run: Run) -> Course:
        """Return a run's outcome at its end."""
        raise NotImplementedError

    def problem(self, panel: str) -> ConexQCQP:
        """Return the problem of a panel."""
        n, law, contract = self.settings["panels"][self.panel_names().index(panel)]
        noise: dict[str, Any] = {"noise": contract, "noise_scale": 1.0, "noise_distribution": law}
        return ConexQCQP(n=n, convex=self.convex, seed=self.seed(), **noise)

    def panel_names(self) -> list[str]:
        """Return what the panels are called."""
        return [f"n = {n}, {law} {contract} noise" for n, law, contract in self.settings["panels"]]

    def parts(self) -> list[str]:
        return [f"{panel} / {name}" for panel in self.panel_names() for name in (*self.solvers(), *RIVALS)]

    def run(self, problem: ConexQCQP, name: str, **limits: Any) -> Run:
        """Return a method's run, at its end."""
        solver = RIVALS[name](initial_points=DESIGN) if name in RIVALS else self.solvers()[name]
        replicas = self.settings["rivals" if name in RIVALS else "replicas"]
        run = Run(problem=problem, solver=solver, replicas=replicas, label=name, seed=self.seed(), **limits)
        run.run()
        return run

    def measure(self, part: str) -> Figures:
        """Return a method's errors at both ends, the calls to ``near``, and its course: medians over trials."""
        panel, name = part.split(" / ")
        problem = self.problem(panel)
        run = self.run(problem, name, calls=self.settings["rival_calls" if name in RIVALS else "calls"])
        one = self.course(problem, run)
        rows = np.unique(np.geomspace(1, len(one.calls), _ROWS).astype(int)) - 1
        drawn = {"calls": one.calls, "error": one.error, "violation": one.violation}
        return {
            "calls": int(one.calls[-1].max()),
            END: plain(one.end),
            EARLY: plain(one.early),
            "near": plain(last_crossing(one.calls, one.error, self.near)),
            "course": {key: rounded(np.median(values[rows], axis=1)) for key, values in drawn.items()},
        }

    def pairs(self) -> list[Pair]:
        """Return, for each panel, SZO-ConEX against its ablations, and against each rival at equal calls."""
        out, ours = [], with_radius(OURS, SMALL[0])
        laws = {"normal": "N(0, 1)", "student_t": "t5"}
        where = {
            name: f"n = {n}, {laws[law]}"
            for name, (n, law, _) in zip(self.panel_names(), self.settings["panels"], strict=True)
        }
        for panel in self.panel_names():
            for idea, other in self.ideas.items():
                says = f"{idea} it better, ν = {SMALL[0]:g}: {panel}"
                out.append(Pair(f"{self.place}, ours", says, panel, ours, other, other, END))
            plain_one = with_radius(PLAIN, SMALL[0])
            for name in RIVALS:
                says = f"{OURS} is better than {name} at {self.settings['rival_calls']} calls of both: {panel}"
                out.append(Pair(f"{self.place}, {where[panel]}", says, panel, ours, name, plain_one, EARLY))
        return out

    def budgets(self, measured: Measured, pair: Pair, method: str) -> Mapping[str, float]:
        """Return the calls at which errors are compared."""
        if pair.when == EARLY:
            return dict.fromkeys((method, pair.other), float(self.settings["rival_calls"]))
        return {name: float(measured[f"{pair.panel} / {name}"]["calls"]) for name in (method, pair.other)}

    def losses(self, measured: Measured, pair: Pair, method: str) -> Array:
        """Return a method's errors (R,) on a panel, infinite where it ran away."""
        when = END if method in RIVALS else pair.when  # a rival's end is at the calls that are compared
        return infinite(measured[f"{pair.panel} / {method}"][when])

    def claims(self) -> list[Claim]:
        out, place = [], f"{self.place}, radii"
        large, small = (with_radius(OURS, radius) for radius in (LARGE, SMALL[0]))
        for panel in self.panel_names():
            for radius in SMALL[1:]:
                says = f"as many calls to {100 * self.near:g} % with ν = {radius:g} as with {SMALL[0]:g}: {panel}"
                test = partial(takes_as_many_calls, self, panel)
                out.append(Claim(place, says, test, with_radius(OURS, radius), large, (small,)))
            out.append(
                Claim(place, f"diverges with ν = {LARGE:g}: {panel}", partial(diverges, self, panel), large, small)
            )
        return out + self.paired_claims()

    def tables(self, measured: Measured) -> list[Table]:
        heads = ("Method", "Calls", "Error at the end, % of start (largest)", f"Calls to {100 * self.near:g} %")
        out = []
        for panel in self.panel_names():
            rows = []
            for name in (*self.solvers(), *RIVALS):
                one = measured[f"{panel} / {name}"]
                end, near = 100.0 * infinite(one[END]), infinite(one["near"])
                error = f"{np.median(end):.3g} ({end.max():.3g})"
                there = f"{np.isfinite(near).sum()} of {near.size}"
                rows.append((name, f"{one['calls']}", error, count_text(near), there))
            heading = f"{panel}: {self.measure_of_error}, medians over trials"
            out.append(Table(heading, (*heads, "Trials there"), rows))
        return out

    def panels(self, measured: Measured) -> list[Panel]:
        out = []
        for panel in self.panel_names():
            courses = {name: measured[f"{panel} / {name}"]["course"] for name in (*self.solvers(), *RIVALS)}
            for key, words in (("error", self.measure_of_error), ("violation", "violation")):
                lines = {name: (one["calls"], one[key]) for name, one in courses.items()}
                parts = {name: [f"{panel} / {name}"] for name in courses}
                out.append(Panel(panel, "calls", words, lines, log_x=True, log_y=True, parts=parts))
        return out

    def live(self, measured: Measured) -> list[Live]:
        """Return SZO-ConEX with every radius, and its ablations, on the first panel; no number is printed of them."""
        panel = self.panel_names()[0]
        settings = {"replicas": self.settings["replicas"], "calls": self.settings["calls"]}
        note = "The paper's curves have no numbers: no line of it is drawn."
        return [
            Live(name, self.problem(panel), solver, settings, (f"{panel} / {name}",), log_x=True, note=note)
            for name, solver in self.solvers().items()
        ]


def infinite(values: list[Any]) -> Array:
    """Return lists of numbers as an array of their shape, with infinity for None."""
    return np.nan_to_num(array(values), nan=np.inf)


def count_text(counts: Array) -> str:
    """Return the median of counts (R,) as text."""
    median = float(np.median(counts))
    return "never" if np.isinf(median) else f"{median:.0f}"


def last_crossing(calls: Array, values: Array, level: Array | float) -> Array:
    """Return the calls (R,) from which on values (rows, R) stay at or below a level; inf for never."""
    below = np.logical_and.accumulate((values <= level)[::-1], axis=0)[::-1]
    return np.where(below.any(axis=0), calls[below.argmax(axis=0), np.arange(calls.shape[1])], np.inf)


def takes_as_many_calls(experiment: OverRadii, panel: str, measured: Measured, method: str, rival: str) -> Evidence:
    """Test that a radius takes as many calls to an accuracy as another, within a factor, trial by trial."""
    mine, other = (infinite(measured[f"{panel} / {name}"]["near"]) for name in (method, rival))
    budgets = dict.fromkeys((method, rival), float(experiment.settings["calls"]))
    ratio, within = gain(np.log(other), np.log(mine)), np.log(RATIO)
    neither = np.isinf([np.median(mine), np.median(other)]).all()
    doubt = f"neither comes to {100 * experiment.near:g} % in the median" if neither else ""
    margins = np.array([within - ratio, within + ratio])
    return Evidence(margins, f"{count_text(mine)} against {count_text(other)}", budgets, doubt=doubt)


def diverges(experiment: OverRadii, panel: str, measured: Measured, method: str) -> Evidence:
    """Test that trials of a method end with a larger error than they began with."""
    shares = infinite(measured[f"{panel} / {method}"][END])
    above = f"above the start's in {100 * (shares > 1.0).mean():.0f} % of the trials"
    figures = f"{above}, median {np.median(shares):.3g} times it"
    return Evidence(np.log(shares)[None], figures, {method: float(experiment.settings["calls"])})
