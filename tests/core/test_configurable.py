"""Constructors name their parameters, with types and defaults; clones share nothing that can be set."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any, Literal

import param
import pytest

from zoviz.core.configurable import Configurable, constructor, value_type
from zoviz.core.parameters import Part, Scale
from zoviz.estimators import GradientEstimator, Sphere


class Base(Configurable):
    """A parameter of each kind."""

    step = Scale(None, label="Step", doc="A step.")
    count = param.Integer(default=3)
    exact = param.Boolean(default=True)
    law: param.Selector[str] = param.Selector(default="normal", objects=["normal", "uniform"])
    weights = param.List(default=[0.5], item_type=float)
    start: param.Parameter[list[float] | None] = param.Parameter(default=None)
    function = param.Callable(default=max)
    anything = param.Parameter(default=None)


class Heir(Base):
    """A part of its own and another default."""

    part = Part(GradientEstimator, default=Sphere(batch_size=3))
    count = param.Integer(default=5)


class Positional(Base):
    """A constructor that names some parameters itself."""

    def __init__(self, count: int, other: str = "", **params: Any) -> None:
        super().__init__(count=count, **params)


def test_own_parameters_come_first_and_the_name_last() -> None:
    names = list(inspect.signature(Heir).parameters)
    assert names[:2] == ["part", "count"] and names[-1] == "name"
    assert len(set(names)) == len(names) and set(names) == set(Heir.param)


def test_defaults_are_those_of_the_class() -> None:
    arguments = inspect.signature(Heir).parameters
    assert [arguments[name].default for name in ("count", "exact", "step", "name")] == [5, True, None, None]
    assert inspect.signature(Base).parameters["count"].default == 3
    assert all(one.kind is inspect.Parameter.KEYWORD_ONLY for one in arguments.values())


@pytest.mark.parametrize(
    "name, expected",
    [
        ("step", float | None),
        ("count", int),
        ("exact", bool),
        ("law", Literal["normal", "uniform"]),
        ("weights", list[float]),
        ("start", "list[float] | None"),
        ("function", Callable[..., Any]),
        ("anything", Any),
        ("part", GradientEstimator),
        ("name", str | None),
    ],
)
def test_types_are_those_of_the_values(name: str, expected: object) -> None:
    assert value_type(Heir, name) == expected
    assert inspect.signature(Heir).parameters[name].annotation == expected


def test_arguments_of_a_constructor_stand_before_the_parameters_that_it_passes_on() -> None:
    names = list(constructor(Positional).parameters)
    assert names[:2] == ["count", "other"] and "step" in names and names.count("count") == 1
    assert constructor(Positional).parameters["count"].default is inspect.Parameter.empty


def test_a_twin_has_equal_values_and_parts_of_its_own() -> None:
    one = Heir(step=0.5, part=Sphere(batch_size=7))
    one.param.watch(lambda event: pytest.fail("the clone's change was heard"), ["step"])
    clone = one.clone()
    clone.step, clone.part.batch_size = 2.0, 9
    assert (one.step, one.part.batch_size) == (0.5, 7)
    assert type(clone) is Heir and clone.count == 5


def test_a_default_part_is_shared_with_no_object() -> None:
    one, other = Heir(), Heir()
    one.part.batch_size = 11
    assert other.part.batch_size == Heir().part.batch_size == 3
    assert pickle.loads(pickle.dumps(one)).part.batch_size == 11


def test_an_unknown_parameter_is_refused_with_those_that_are_near() -> None:
    with pytest.raises(TypeError, match="Expected a parameter of Heir, got 'wieghts': did you mean weights"):
        Heir(wieghts=[1.0])
    with pytest.raises(TypeError, match="got 'q': the parameters are part, count, step, exact, "):
        Heir(q=1)
