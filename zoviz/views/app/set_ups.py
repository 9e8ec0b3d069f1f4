"""Named set-ups to begin with: a problem, a solver and settings, each with a sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode


@dataclass(frozen=True)
class SetUp:
    """A starting point: what a page's address would say of it, under a title.

    Attributes
    ----------
    title, sentence : str
    problem, solver : str
        Titles, as the page lists them.
    values : mapping of str to object
        What differs from the defaults, by the names that addresses use: ``problem.n``, ``run.seconds``.
    """

    title: str
    sentence: str
    problem: str
    solver: str
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def query(self) -> str:
        """The query of an address that says the same."""
        values = {name: json.dumps(value) for name, value in self.values.items()}
        return "?" + urlencode({"problem": self.problem, "solver": self.solver} | values)


SET_UPS = (
    SetUp(
        "A first descent",
        "A nonconvex quadratic with a known optimum, solved from function values alone. Move a slider while it runs.",
        "Nonconvex QCQP",
        "ZO-SPLM",
    ),
    SetUp(
        "The same under noise",
        "Function values are now noisy. Watch the gap level off, then increase the batch size.",
        "Nonconvex QCQP",
        "ZO-SPLM",
        {"problem.noise": "independent", "problem.noise_scale": 0.01},
    ),
    SetUp(
        "Sharing a load",
        "Grid users jointly track a load target; one block of variables is updated at a time.",
        "Load tracking (convex)",
        "ZOBCEG",
    ),
    SetUp(
        "A welded beam",
        "A classic design problem: seven constraints and badly scaled variables, solved with quadratic models.",
        "Welded beam design",
        "ZOSQP",
    ),
    SetUp(
        "A fair classifier",
        "Accuracy against fairness: linear constraints keep the covariance with a protected attribute small.",
        "Fair classification",
        "Smoothed ALM",
    ),
    SetUp(
        "Network slicing",
        "Flows of several services share the links of a network, under 196 linear constraints.",
        "Network slicing",
        "Smoothed ALM",
    ),
    SetUp(
        "A moving target",
        "Online bilevel optimisation: each round has a new objective with an inner problem. The plots show the regret.",
        "Quadratic online bilevel",
        "ZO-SOGD",
    ),
    SetUp(
        "Two variables, many valleys",
        "A toy with several local minima in the unit square; the picture shows where the portfolio searches.",
        "Toy of Gramacy and others (LSQ)",
        "Portfolio",
    ),
)
"""The gallery of a page, in its order."""
