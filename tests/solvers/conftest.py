"""What the tests of solvers share."""

from __future__ import annotations

import pytest

from helpers.bench import Bench


@pytest.fixture
def bench() -> Bench:
    """A fresh bench."""
    return Bench()
