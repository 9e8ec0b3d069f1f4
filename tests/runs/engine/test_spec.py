"""The settings of a run, and what each of them means to those who store, find and compare runs."""

from __future__ import annotations

from typing import Any

import pytest

from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine.spec import COMPUTING, DEFAULTS, FREE, LISTED, SETTINGS, RunSpec
from zoviz.runs.storage.schema import RUNS
from zoviz.solvers import ZOSPLM

OTHERS: dict[str, Any] = {
    "replicas": 3,
    "seed": 5,
    "iterations": 20,
    "calls": 100,
    "seconds": 1.5,
    "samples": 70,
    "stop_when": "confident",
    "accuracy": 1e-3,
    "zeta_samples": 210,
    "targets": {"gap": 0.1},
    "stop_at_targets": True,
    "tolerance": 1e-3,
    "checkpoint": "every call",
    "past": {"x": [[0.5] * 4], "values": [[1.0, -1.0]]},
    "unit_sizes": {"level": 0.0, "f": 2.0, "h": [3.0], "width": [1.0] * 4},
    "curvature_scaling": "never",
    "judged": True,
    "label": "mine",
    "study": "loads",
    "parent": "0" * 32,
}
"""A value of each setting that is not as by default."""


def spec(**settings: Any) -> RunSpec:
    return RunSpec(NonconvexQCQP(n=4), ZOSPLM(), **settings)


def test_the_identity_has_what_differs_from_the_defaults() -> None:
    assert spec().identity == {}
    assert spec(**OTHERS).identity == {name: OTHERS[name] for name in COMPUTING}
    assert list(spec(**OTHERS).identity) == sorted(COMPUTING), "whatever the order of their declarations"


@pytest.mark.parametrize("name", SETTINGS)
def test_the_identity_tells_what_computes(name: str) -> None:
    differs = spec(**{name: OTHERS[name]}).identity != spec().identity
    assert differs == (name in COMPUTING)


def test_what_is_listed_is_a_column_of_the_runs() -> None:
    assert set(LISTED) == {"label", "seed", "replicas", "study", "parent"}
    assert set(LISTED) <= set(RUNS.c.keys())


def test_what_a_run_has_done_does_not_depend_on_what_is_free() -> None:
    assert set(FREE) == {
        "iterations",
        "calls",
        "seconds",
        "samples",
        "zeta_samples",
        "stop_at_targets",
        "checkpoint",
    } | {
        "stop_when",
        "accuracy",
    }
    assert set(SETTINGS) == set(OTHERS) == set(DEFAULTS)
