"""What a page offers first for a problem: a solver that is made for its kind, replicas and budgets."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from zoviz.problems.base import Problem
from zoviz.problems.families import family
from zoviz.runs.engine.confidence import BUDGET, CONFIDENT

BY_KIND = {
    "linearly constrained": ("Smoothed ALM", "Smoothed ALM, sampled constraints"),
    "online bilevel": ("ZO-SOGD",),
}
"""By the most special kind of task that a problem is, those of its papers."""
BY_FAMILY = {
    "power": ("ZOBCEG",),
    "engineering": ("ZOSQP",),
    "cutest": ("ZOSQP",),
    "coco": ("ZOSQP",),
    "user": ("ZOSQP",),
}
"""By the folder of ``zoviz.problems``: variables of very different scales, as designs and others' problems have, are
for ZOSQP, which finds them."""
COSTLY = ("ZOSQP",)
"""Where every value is a simulation: a method with a batch of probes would not finish its first step in ten seconds."""
ELSE = ("ZO-SPLM", "ZOSQP")
REPLICAS, COSTLY_REPLICAS = 20, 2
"""Independent runs; where every value is a simulation of zoviz's, as few as show a spread."""
SECONDS = 20.0
"""The budget of a problem of zoviz's: time to steer in. A person's own gets calls, by which runs can be compared."""
SWEEPS = 100
"""Calls of a run on a person's own problem, in units of n + 1: within them the default method solves nine of ten
problems of the CUTEst collection to a thousandth."""


def default_solver(problem: Problem, offered: Collection[str]) -> str:
    """Return the title of the solver to begin with, of those that are offered for a problem; the first for want of it.

    Parameters
    ----------
    problem : Problem
    offered : collection of str
        Titles, in the order of the list; at least one.
    """
    kinds = [BY_KIND[kind] for kind in (*problem.kinds, problem.form) if kind in BY_KIND]
    titles = [*(title for kind in kinds for title in kind), *BY_FAMILY.get(family(problem), ())]
    titles += [*(COSTLY if problem.costly else ()), *ELSE]
    return next((title for title in titles if title in offered), next(iter(offered)))


def default_settings(problem: Problem) -> dict[str, Any]:
    """Return the replicas, the budgets and when to stop, by their names, to begin with.

    A person's own problem has one replica, and ends once its answer stands: its calls may be dear.
    """
    if family(problem) == "user":
        calls = SWEEPS * (problem.domain.n + 1)
        return {"replicas": 1, "calls": calls, "seconds": None, "stop_when": CONFIDENT}
    replicas = COSTLY_REPLICAS if problem.costly else REPLICAS
    return {"replicas": replicas, "calls": None, "seconds": SECONDS, "stop_when": BUDGET}
