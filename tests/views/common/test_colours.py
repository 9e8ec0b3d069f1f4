"""The runs' colours: readable on light and on dark pages, and told apart by everybody."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.views.common.colours import PALETTE

GROUNDS = ("#ffffff", "#121212", "#161b22")
# Machado, Oliveira and Fernandes (2009), Table 1, severity 1: of linear red, green and blue.
VISIONS = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
# Ottosson (2020), A perceptual color space for image processing.
TO_CONES = np.array(
    [[0.41222147, 0.53633254, 0.05144599], [0.2119035, 0.68069955, 0.10739696], [0.0883025, 0.281719, 0.629979]]
)
FROM_CONES = np.array(
    [[0.21045426, 0.79361779, -0.00407205], [1.9779985, -2.42859221, 0.45059371], [0.0259040, 0.7827718, -0.8086758]]
)


def linear(colour: str) -> Array:
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("colour", PALETTE)
def test_they_are_readable_on_both_pages(colour: str, ground: str) -> None:
    low, high = sorted((luminance(colour), luminance(ground)))
    assert (high + 0.05) / (low + 0.05) >= 3.0


@pytest.mark.parametrize(("vision", "least"), [("normal", 0.139), *((name, 0.08) for name in list(VISIONS)[1:])])
def test_they_are_told_apart(vision: str, least: float) -> None:
    def seen(colour: str) -> Array:
        light = np.clip(np.array(VISIONS[vision]) @ linear(colour), 0.0, 1.0)
        return np.array([0.8, 1.0, 1.0]) * (FROM_CONES @ np.cbrt(TO_CONES @ light))

    assert min(np.linalg.norm(seen(one) - seen(other)) for one, other in combinations(PALETTE, 2)) >= least
