"""Packages that only some parts need: the sentence where one is missing, at import or at use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.core.errors import MissingExtra
from zoviz.core.optional import base, require


def test_a_missing_package_is_said_with_its_extra() -> None:
    for module in ("no_such_package", "no_such_package.inner"):
        with pytest.raises(MissingExtra, match=r'no-such-package, which a door needs.*pip install "zoviz\[door\]"'):
            require(module, "door", "a door")


def test_a_class_of_a_missing_package_can_be_inherited_from_and_not_used() -> None:
    parent: Any = base("no_such_package.inner", "Base", "door", "a door")

    class Door(parent):
        def __init__(self, width: float) -> None:
            self.width = width

    assert base("numpy", "ndarray", "door", "a door") is np.ndarray
    with pytest.raises(MissingExtra, match=r'pip install "zoviz\[door\]"'):
        Door(1.0)
