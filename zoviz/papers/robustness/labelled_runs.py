"""Labelled runs of every family of solvers, with good and bad steps and noise, on which verdicts are tried.

zoviz reproduce robustness-labelled-runs --full                    # the runs on which the verdict is wrong
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from zoviz.core.parameters import Scale
from zoviz.core.registry import discover
from zoviz.diagnosis.verdict import Word, verdict_of
from zoviz.problems.base import Problem
from zoviz.runs.run import Run
from zoviz.solvers.base import Solver
from zoviz.studies.experiment import Figures, Measured, Table
from zoviz.studies.trials import Trials

GOOD = frozenset({Word.SOLVED, Word.CONVERGING, Word.BUDGET_ENDED})
"""It gets there, or was on its way when its iterations ended."""
RESTLESS = frozenset({Word.OSCILLATING, Word.STALLED})
"""Sampled gradients or noise keep it at a distance, about which it goes to and fro."""
AT_NOISE = frozenset({Word.NOISE_FLOOR})
STUCK = frozenset({Word.INFEASIBLE, Word.STALLED})
"""It comes to rest at a violation."""
BAD = frozenset({Word.DIVERGING})
LOST = frozenset({Word.DIVERGING, Word.INFEASIBLE})
"""Its violation rose to where the box ends, and stays there."""
BOXED = frozenset({Word.DIVERGING, Word.OSCILLATING})
"""The box keeps it from leaving; it jumps about in it."""
UNMOVED = frozenset({Word.STALLED})
TINY, HUGE = 1e-5, 100.0
"""Times the steps of a solver's rule: far too short, and far too long."""
QCQP: dict[str, Any] = {"n": 10}
LOADS: dict[str, Any] = {"n": 10}
NOISE: dict[str, Any] = {"noise": "independent", "noise_scale": 1.0}


class Case(NamedTuple):
    """A run to be judged: what it is made of, the factor of its rule's steps, and the words that are right."""

    problem: str
    solver: str
    words: frozenset[Word]
    factor: float = 1.0
    iterations: int = 300
    options: Mapping[str, Any] = {}

    @property
    def name(self) -> str:
        """What it is, in a line."""
        noisy = f" with noise {self.options['noise_scale']:g}" if "noise" in self.options else ""
        steps = "" if self.factor == 1.0 else f", steps times {self.factor:g}"
        return f"{self.solver} on {self.problem}{noisy}{steps}"


def cases() -> Iterator[Case]:
    """Yield the labelled runs: labels were given by hand, from the course of gap, violation and stationarity."""
    exact = ("ZOCEG", "ZOBCEG")
    sampled = ("ZOSPLM", "ZOEG", "ZOALM", "ZOGDA", "SZOConEX")
    for solver in (*exact, *sampled):
        yield Case("NonconvexQCQP", solver, GOOD, options=QCQP)
        yield Case("NonconvexQCQP", solver, UNMOVED, TINY, options=QCQP)
        yield Case("NonconvexQCQP", solver, BAD, HUGE, options=QCQP)
        yield Case("LoadTracking", solver, GOOD if solver in exact else RESTLESS, options=LOADS)
        yield Case("LoadTracking", solver, UNMOVED, TINY, options=LOADS)
        yield Case("LoadTracking", solver, BOXED, HUGE, options=LOADS)
    for solver in ("OGDARR", "DSZOG"):
        yield Case("NonconvexQCQP", solver, GOOD, options=QCQP)
        yield Case("NonconvexQCQP", solver, BAD, HUGE, options=QCQP)
    yield Case("NonconvexQCQP", "ZOiALM", STUCK, options=QCQP)
    yield Case("LoadTracking", "DSZOG", STUCK, options=LOADS)
    for solver in ("ALSPG", "ZOSQP", "Portfolio"):
        for problem, options in (("NonconvexQCQP", QCQP), ("LoadTracking", LOADS), ("PressureVessel", {})):
            yield Case(problem, solver, GOOD, iterations=60, options=options)
    for solver in ("ZOCEG", "ZOEG"):
        yield Case("NonconvexQCQP", solver, AT_NOISE, iterations=400, options=QCQP | NOISE)
    for sigma in (1e-2, 1e-1):
        for solver, iterations in (("ZOSQP", 80), ("ZOSPLM", 1500)):
            yield Case("NonconvexQCQP", solver, AT_NOISE, 1.0, iterations, QCQP | NOISE | {"noise_scale": sigma})
    for solver in ("ZOSPLM", "ZOEG"):  # random directions keep it a hundred times farther off than the noise
        yield Case("LoadTracking", solver, RESTLESS, iterations=400, options=LOADS | NOISE)
    for solver in ("SmoothedALM", "LinearisedALM", "StormALM"):
        # The linearised form is at the noise of its gradients after some 70 iterations.
        yield Case("StochasticQP", solver, RESTLESS if solver == "LinearisedALM" else GOOD, iterations=400)
        yield Case("StochasticQP", solver, UNMOVED, TINY, 400)
        yield Case("StochasticQP", solver, BOXED, 300.0, 400)
    for solver in ("ZOCEG", "ZOSPLM", "ZOBCEG"):
        yield Case("PressureVessel", solver, LOST, 10.0)
    for solver in ("SOGD", "ZOSOGD"):
        yield Case("QuadraticBilevel", solver, GOOD)
        yield Case("QuadraticBilevel", solver, BAD | {Word.FAILED}, HUGE)


def run_of(case: Case, seed: int = 0, replicas: int = 4) -> Run:
    """Return the ended run of a case."""
    problem = discover("zoviz.problems", Problem)[case.problem](**case.options)
    solver = discover("zoviz.solvers", Solver)[case.solver]()
    if case.factor != 1.0:
        solver = with_steps(problem, solver, case.factor, seed, replicas)
    return ended(Run(problem, solver, replicas=replicas, iterations=case.iterations, seed=seed))


def with_steps(problem: Problem, solver: Solver, factor: float, seed: int = 0, replicas: int = 4) -> Solver:
    """Return a solver with steps that are a factor of those that its rule chooses for a problem."""
    probe, out = Run(problem, solver.clone(), replicas=replicas, iterations=1, seed=seed), solver.clone()
    probe.run()
    for name, value in probe.resolved.items():
        owner, own = out.owner(name)
        parameter = owner.param[own]
        if "step" in name and isinstance(parameter, Scale):
            highest = (parameter.bounds or (None, None))[1]
            out.set(name, factor * value if highest is None else min(factor * value, highest))
    return out


def ended(run: Run) -> Run:
    """Run to the end and return the run; one that runs away may end by an error of its black box."""
    try:
        run.run()
    except Exception:  # whatever its black box raises
        if run.status.active:
            raise
    return run


class LabelledRuns(Trials):
    """Verdicts on runs that were labelled by hand."""

    title = "robustness labelled runs"
    subject = "Verdicts on labelled runs, those that are wrong"
    protocol = "Labels by the course of gap, violation and stationarity."
    sizes: ClassVar = {"quick": {"run": (0,)}, "full": {"run": tuple(range(len(list(cases()))))}}
    lines = ("run",)

    def trial(self, run: int) -> Figures:
        case = next(itertools.islice(cases(), run, None))
        judged = verdict_of(run_of(case))
        return {"name": case.name, "verdict": f"{judged.word}: {judged.sentence}", "right": judged.word in case.words}

    def tables(self, measured: Measured) -> list[Table]:
        rows = self.rows(measured)
        wrong = [(row["name"], row["verdict"]) for row in rows if not row["right"]]
        return [Table(self.subject, ("run", "verdict"), [*wrong, (f"{len(rows)} runs", f"{len(wrong)} wrong")])]
