"""The names at the top, and the signatures that people type."""

from __future__ import annotations

import ast
import inspect

import pytest
from scipy import optimize

import zoviz
from zoviz.runs.engine.spec import SETTINGS, SHARED, RunSettings


@pytest.mark.parametrize("name", zoviz.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(zoviz, name) is not None


def test_a_run_and_a_study_name_their_settings() -> None:
    own, runs = (inspect.signature(cls).parameters for cls in (zoviz.Study, zoviz.Run))
    assert runs.keys() == {"problem", "solver", "schedule", "resolved", "store", "name", *SETTINGS}
    assert own.keys() & set(SETTINGS) == set(SHARED), "seeds and labels are each run's own"
    assert all(runs[name].default == RunSettings.param[name].default for name in SETTINGS)


def test_only_what_scipy_has_in_the_same_place_may_be_given_by_position() -> None:
    kinds = {name: one.kind for name, one in inspect.signature(zoviz.minimize).parameters.items()}
    theirs = list(inspect.signature(optimize.minimize).parameters)
    assert [name for name, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD] == theirs
    assert [name for name, kind in kinds.items() if kind is inspect.Parameter.VAR_KEYWORD] == []


def test_the_docstring_of_minimize_is_a_literal() -> None:
    (function,) = [
        node
        for node in ast.parse(inspect.getsource(inspect.getmodule(zoviz.minimize))).body
        if isinstance(node, ast.FunctionDef) and node.name == "minimize"
    ]
    assert "max_calls : int, optional" in (ast.get_docstring(function) or "")
