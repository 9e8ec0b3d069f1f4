"""Problems as if nothing were known of them."""

from __future__ import annotations

from typing import Any

from zoviz.problems import BlackBox, Problem

# --- defaults on unknown copies of known problems ---------------------------------------------------------------------


def copy_of(problem: Problem, **settings: Any) -> BlackBox:
    return BlackBox(
        lambda x: tuple(problem.evaluate(x)),
        joint=True,
        vectorised=True,
        m=problem.m,
        bounds=list(zip(problem.domain.lower, problem.domain.upper, strict=True)),
        optimal_value=problem.known_optimum.value,
        **settings,
    )
