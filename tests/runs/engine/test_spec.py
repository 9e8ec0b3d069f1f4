"""The settings of a run, and what each of them means to those who store, find and compare runs."""

from __future__ import annotations

from typing import Any

import pytest

from zoviz.core.defaults import FEASIBILITY_TOLERANCE
from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine.spec import COMPUTING, DEFAULTS, FREE, LISTED, ROLES, SETTINGS, RunSpec
from zoviz.runs.storage.schema import RUNS
from zoviz.solvers import ZOSPLM

BEGINNING = ("replicas", "calls", "iterations", "seconds", "targets", "stop_at_targets", "study", "seed")
"""What the identity of a run was made of in the first stores, in this order."""

OTHERS: dict[str, Any] = {
    "replicas": 3,
    "seed": 5,
    "iterations": 20,
    "calls": 100,
    "seconds": 1.5,
    "samples": 70,
    "zeta_samples": 210,
    "targets": {"gap": 0.1},
    "stop_at_targets": True,
    "tolerance": 1e-3,
    "checkpoint": "every call",
    "unit_sizes": {"level": 0.0, "f": 2.0, "h": [3.0], "width": [1.0] * 4},
    "curvature_scaling": "never",
    "label": "mine",
    "study": "loads",
    "parent": "0" * 32,
}
"""A value of each setting that is not as by default."""


def spec(**settings: Any) -> RunSpec:
    return RunSpec(NonconvexQCQP(n=4), ZOSPLM(), **settings)


def test_the_identity_is_that_of_the_first_stores() -> None:
    first = spec(tolerance=FEASIBILITY_TOLERANCE)  # as it was by default
    assert list(first.identity.items()) == [(name, DEFAULTS[name]) for name in BEGINNING]
    assert list(spec(**OTHERS).identity.items()) == [
        (name, OTHERS[name])
        for name in (*BEGINNING, "samples", "zeta_samples", "tolerance", "unit_sizes", "curvature_scaling")
    ]


@pytest.mark.parametrize("name", SETTINGS)
def test_the_identity_tells_what_computes(name: str) -> None:
    """The study of a cell is in it too, as it was from the beginning."""
    differs = spec(**{name: OTHERS[name]}).identity != spec().identity
    assert differs == (name in COMPUTING or name == "study")


def test_what_is_listed_is_a_column_of_the_runs() -> None:
    assert set(LISTED) == {"label", "seed", "replicas", "study", "parent"}
    assert set(LISTED) <= set(RUNS.c.keys())


def test_what_a_run_has_done_does_not_depend_on_what_is_free() -> None:
    assert set(FREE) == {"iterations", "calls", "seconds", "samples", "zeta_samples", "stop_at_targets", "checkpoint"}
    assert set(SETTINGS) == set(ROLES) == set(OTHERS) == set(DEFAULTS)
