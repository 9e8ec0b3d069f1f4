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
        "Every value has an error of its own now. See the gap level off, then raise the batch size.",
        "Nonconvex QCQP",
        "ZO-SPLM",
        {"problem.noise": "independent", "problem.noise_scale": 0.01},
    ),
    SetUp(
        "A load to be shared",
        "Users of a power grid follow a target together; blocks of variables are moved in turn.",
        "Load tracking (convex)",
        "ZOBCEG",
    ),
    SetUp(
        "A beam to be welded",
        "A classic design problem: seven constraints, variables of very different sizes, found by a quadratic model.",
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
        "Slices of a network",
        "Flows of several services share a network's links under 196 linear constraints.",
        "Network slicing",
        "Smoothed ALM",
    ),
    SetUp(
        "A moving target",
        "Online bilevel: each round has a new task, with a follower's problem inside. The plots show the regret.",
        "Quadratic online bilevel",
        "ZO-SOGD",
    ),
    SetUp(
        "Two variables, many valleys",
        "A toy with several local minima in the unit square; the picture shows where a portfolio of solvers looks.",
        "Toy of Gramacy and others (LSQ)",
        "Portfolio",
    ),
)
"""The gallery of a page, in its order."""
