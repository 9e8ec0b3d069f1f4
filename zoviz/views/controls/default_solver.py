"""What a page offers first for a problem: a solver that is made for its kind, and how many replicas."""

from __future__ import annotations

from collections.abc import Collection

from zoviz.problems.base import Problem
from zoviz.problems.families import family

BY_KIND = {
    "linearly constrained": ("Smoothed ALM", "Smoothed ALM, sampled constraints"),
    "online bilevel": ("ZO-SOGD",),
}
"""By the most special kind of task that a problem is, those of its papers."""
BY_FAMILY = {
    "power": ("ZOBCEG",),
    "engineering": ("ZOSQP",),
    "cutest": ("ZOSQP",),
    "user": ("ZOSQP",),
}
"""By the folder of ``zoviz.problems``: variables of very different scales, as designs and strangers' problems have, are
for ZOSQP, which finds them."""
COSTLY = ("ZOSQP",)
"""Where every value is a simulation: a method with a batch of probes would not finish its first step in ten seconds."""
ELSE = ("ZO-SPLM", "ZOSQP")
REPLICAS, COSTLY_REPLICAS = 20, 2
"""Independent runs; where every value is a simulation, as few as show a spread."""


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


def default_replicas(problem: Problem) -> int:
    """Return how many replicas to begin with."""
    return COSTLY_REPLICAS if problem.costly else REPLICAS
