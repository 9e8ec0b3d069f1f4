"""The names at the top, and the signatures that people type."""

from __future__ import annotations

import ast
import inspect
from dataclasses import fields

import pytest

import zoviz
from zoviz.runs.engine.spec import SETTINGS, SHARED, RunSettings, RunSpec


@pytest.mark.parametrize("name", zoviz.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(zoviz, name) is not None


def test_a_run_names_all_that_it_is_made_of() -> None:
    """The signature, the description and the parameters are written out apart: they must not part."""
    own = inspect.signature(zoviz.Run).parameters
    assert own.keys() - {"store"} == {one.name for one in fields(RunSpec)}
    beside = {one.name for one in fields(RunSpec)} - {"problem", "solver", "schedule", "resolved"}
    assert set(RunSettings.param) - {"name"} == beside
    for one in fields(RunSpec):
        if one.name in RunSettings.param and one.name != "targets":
            assert own[one.name].default == one.default == RunSettings.param[one.name].default, one.name


def test_a_study_names_all_settings_that_its_runs_share() -> None:
    own, runs = (inspect.signature(cls).parameters for cls in (zoviz.Study, zoviz.Run))
    assert set(SHARED) <= own.keys()
    assert [name for name in SHARED if own[name].default != runs[name].default] == []
    assert own.keys() & set(SETTINGS) == set(SHARED), "seeds and labels are each run's own"


def test_only_what_scipy_has_in_the_same_place_may_be_given_by_position() -> None:
    kinds = {name: one.kind for name, one in inspect.signature(zoviz.minimize).parameters.items()}
    assert [name for name, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD] == ["fun", "x0"]
    assert [name for name, kind in kinds.items() if kind is inspect.Parameter.VAR_KEYWORD] == []


def test_the_docstring_of_minimize_is_a_literal() -> None:
    (function,) = [
        node
        for node in ast.parse(inspect.getsource(inspect.getmodule(zoviz.minimize))).body
        if isinstance(node, ast.FunctionDef) and node.name == "minimize"
    ]
    assert "max_calls : int, optional" in (ast.get_docstring(function) or "")
