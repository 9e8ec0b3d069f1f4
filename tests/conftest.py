"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def pytest_configure() -> None:
    """Heed Ctrl-C: a shell that starts the tests in the background has them, and all they start, ignore it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Take thousands of tests and all that is imported out of what the garbage collector looks through each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the project: the one that holds pyproject.toml."""
    return ROOT
