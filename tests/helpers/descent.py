"""Solvers for constrained problems where there is no constraint."""

from __future__ import annotations

from zoviz import Run
from zoviz.problems import BlackBox
from zoviz.solvers import Solver


def assert_plain_descent(solver: Solver, iterations: int) -> None:
    """Of what there is to gain on a bowl, less than a 300th is left in every replica: 9e-4 of 0.27."""
    bowl = BlackBox(lambda x: float(((x - 0.3) ** 2).sum()), bounds=[(-1.0, 1.0)] * 3)
    run = Run(bowl, solver, replicas=2, iterations=iterations)
    result = run.run()
    assert result.fun.max() < run.trace["objective"][0].min() / 300.0
