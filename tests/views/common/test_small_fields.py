"""Boxes to tick and sliders of places, without a browser: what a browser sends is given to ``receive``."""

from __future__ import annotations

from typing import Any

import param
import pytest

from zoviz.views.common.small_fields import CheckBox, PlaceSlider


class Settings(param.Parameterized):
    keep = param.Boolean(default=True, label="Keep", doc="Keep them.")
    share = param.Integer(default=100, bounds=(0, 100), label="Path up to", doc="Drag.")


def test_a_box_follows_its_parameter_and_sets_it() -> None:
    settings = Settings()
    box = CheckBox.from_param(settings.param.keep)
    assert (box.spec["value"], box.spec["label"], box.spec["help"]) == (True, "Keep", "Keep them.")
    box.receive({"seq": 1, "on": False})
    assert settings.keep is False and box.spec["value"] is False and box.spec["ack"] == 1
    settings.keep = True
    assert box.spec["value"] is True
    box.disabled = True
    box.receive({"seq": 2, "on": False})
    assert settings.keep is True and box.spec["locked"] and box.spec["ack"] == 2


def test_a_slider_of_places_follows_its_parameter_and_says_what_its_place_means() -> None:
    settings = Settings()
    slider = PlaceSlider.from_param(settings.param.share)
    assert (slider.spec["low"], slider.spec["high"], slider.spec["value"]) == (0, 100, 100)
    slider.receive({"seq": 1, "value": 50})
    slider.words = "iteration 3 of 6"
    assert settings.share == 50 and slider.spec["text"] == "iteration 3 of 6"


@pytest.mark.parametrize("value", [None, "1", 0.5, 1e308, -1, 101, 2**70, [], {"on": True}, float("nan")])
def test_what_is_no_place_or_tick_changes_nothing(value: Any) -> None:
    settings = Settings()
    for field in (CheckBox.from_param(settings.param.keep), PlaceSlider.from_param(settings.param.share)):
        field.receive({"seq": 1, "on": value, "value": value})
        assert field.spec["ack"] == 1
    assert (settings.keep, settings.share) == (True, 100)
