"""Constructors of problems, solvers and estimators name all their parameters, with types and defaults."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import param
import pytest

import zoviz
from zoviz.core.configurable import Configurable
from zoviz.core.registry import required

CLASSES = {
    name: getattr(room, name)
    for room in (zoviz.problems, zoviz.solvers, zoviz.estimators)
    for name in room.__all__
    if name not in ("Problem", "Solver", "GradientEstimator")
}
EACH_CLASS = pytest.mark.parametrize("cls", CLASSES.values(), ids=CLASSES)
COMPLETE = {name: cls for name, cls in CLASSES.items() if not required(cls)}
EACH_COMPLETE = pytest.mark.parametrize("cls", COMPLETE.values(), ids=COMPLETE)
VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@EACH_CLASS
def test_every_parameter_is_named_with_a_type(cls: type[Configurable]) -> None:
    arguments = inspect.signature(cls).parameters
    assert set(cls.param) <= set(arguments)
    assert not [one for one in arguments.values() if one.kind in VARIABLE]
    vague = [one.name for one in arguments.values() if one.annotation in (inspect.Parameter.empty, Any, "Any")]
    assert not vague, f"{cls.__name__} does not tell the types of {vague}."


@EACH_COMPLETE
def test_the_defaults_are_what_an_object_is_made_with(cls: type[Configurable]) -> None:
    arguments, instance = inspect.signature(cls).parameters, cls()
    # The example of a black box without arguments is not what one with a function of the user's starts from.
    own = set(inspect.signature(cls.__init__).parameters)
    names = [name for name in cls.param if name != "name" and name not in own]
    if cls.__name__ == "BlackBox":
        names = [name for name in names if name not in ("vectorised", "optimal_value", "noise")]
    assert names
    for name in names:
        assert _content(arguments[name].default) == _content(getattr(instance, name)), name


@EACH_COMPLETE
def test_no_two_objects_share_a_part(cls: type[Configurable]) -> None:
    objects: list[Configurable] = []
    threads = [threading.Thread(target=lambda: objects.append(cls())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    one, other = objects
    holders = [_parts(one), _parts(other), _parts(one.clone())]
    of_class = {id(cls.param[name].default) for name in cls.param}
    ids = [{id(part) for part in parts} for parts in holders]
    assert not (ids[0] & ids[1] or ids[0] & ids[2] or ids[0] & of_class or ids[1] & of_class)


def _parts(holder: param.Parameterized) -> list[param.Parameterized]:
    """All that is nested in it."""
    direct = [value for value in holder.param.values().values() if isinstance(value, param.Parameterized)]
    return [*direct, *(inner for part in direct for inner in _parts(part))]


def _content(value: Any) -> Any:
    """A part's class and values, anything else itself."""
    if not isinstance(value, param.Parameterized):
        return value
    return type(value), {name: _content(inner) for name, inner in value.param.values().items() if name != "name"}
