"""Scale takes positive finite numbers and says what it expected."""

from __future__ import annotations

from typing import Any

import numpy as np
import param
import pytest

from zoviz.core.parameters import Scale, value_words


class Holder(param.Parameterized):
    """One parameter of each kind."""

    step = Scale(0.5, doc="A step.", label="Step c")
    radius = Scale(None, bounds=(1e-14, 1e6), softbounds=(1e-8, 1.0), label="Radius r")


BAD = [0, 0.0, -1.0, 1e300, 1e-300, float("nan"), float("inf"), "0.1", "fast", [1.0], True, 1 + 2j]


@pytest.mark.parametrize("value", BAD, ids=repr)
def test_what_is_no_scale_is_refused_with_a_sentence(value: Any) -> None:
    holder = Holder()
    with pytest.raises(ValueError) as caught:
        holder.step = value
    assert str(caught.value) == f"Expected step a number from 1e-12 to 1e+09; got {value!r}."
    assert holder.step == 0.5


@pytest.mark.parametrize("value", BAD, ids=repr)
def test_the_sentence_offers_none_where_none_is_allowed(value: Any) -> None:
    with pytest.raises(ValueError) as caught:
        Holder(radius=value)
    expected = f"Expected radius a number from 1e-14 to 1e+06, or None for the solver's own rule; got {value!r}."
    assert str(caught.value) == expected


def test_none_only_where_it_is_allowed() -> None:
    assert Holder().radius is None
    assert Holder(radius=1.0).radius == 1.0
    with pytest.raises(ValueError, match=r"Expected step a number from 1e-12 to 1e\+09; got None\."):
        Holder(step=None)


@pytest.mark.parametrize("value", [1e-12, 1e9, 1, 3.5, np.float64(0.1)], ids=repr)
def test_numbers_within_the_bounds_are_taken(value: Any) -> None:
    assert Holder(step=value).step == value


def test_soft_bounds_are_only_for_the_slider() -> None:
    holder = Holder(step=1e5)
    assert holder.step == 1e5
    assert holder.param.step.softbounds == (1e-6, 1e2)
    assert holder.param.radius.get_soft_bounds() == (1e-8, 1.0)


def test_a_default_out_of_bounds_is_refused_when_the_class_is_made() -> None:
    with pytest.raises(ValueError, match="a number from 1e-12"):
        Scale(0.0)


def test_documentation_and_label_are_kept() -> None:
    assert Holder.param.step.doc == "A step."
    assert Holder.param.step.label == "Step c"


@pytest.mark.parametrize(
    "value, words", [(None, "auto"), (True, "on"), (False, "off"), (0.012345, "0.0123"), (7, "7"), ("exact", "exact")]
)
def test_every_kind_of_value_has_its_words(value: Any, words: str) -> None:
    assert value_words(value) == words
