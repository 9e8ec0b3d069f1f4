"""What all conformance tests share."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from zoviz.core.errors import MissingExtra


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    """Skip a test that meets a problem or a solver whose optional packages are not installed."""
    try:
        return (yield)
    except MissingExtra as missing:
        pytest.skip(str(missing))
