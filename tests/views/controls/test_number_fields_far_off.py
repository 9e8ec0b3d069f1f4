"""A slider's handle is where a browser says, and that may be anywhere."""

from __future__ import annotations

import pytest

from zoviz.views.controls.number_fields import LogSlider


@pytest.mark.parametrize(("place", "value"), [(10**6, 1e300), (-(10**6), 1e-300)])
def test_a_power_that_no_number_holds_is_cut_short(place: int, value: float) -> None:
    field = LogSlider(value=1.0, start=1e-3, end=10.0)
    field.slider.value = place  # a longer integer's power would keep the server for ever
    assert field.value == value
