"""Programs as black boxes, and the processes that they start."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zoviz.problems import Executable

NEEDS_A_SHELL = pytest.mark.skipif(os.name != "posix", reason="the programs of these tests are shell scripts")
BOX = [(-4.0, 4.0)] * 2
POINTS = np.array([[0.1, -0.2], [1.0 / 3.0, 2.0], [3.0, 1e-17]])
PYTHON = [sys.executable, "-I", "-S"]
"""Starts in a few milliseconds."""


def shell(source: str, m: int = 0, **params: Any) -> Executable:
    """A shell script as a program."""
    return Executable(["/bin/sh", "-c", source], bounds=BOX, m=m, **params)


def gone(pid: int) -> bool:
    """Whether the process ends soon, or is a zombie that only its parent keeps."""
    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if (
                Path("/proc/self").exists()
                and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
            ):
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.01)
    return False


def pids(path: Path, count: int) -> list[int]:
    """Numbers of processes that a script has written, once they are all there."""
    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline:
        if path.exists() and len(words := path.read_text().split()) == count and path.read_text().endswith("\n"):
            return [int(pid) for pid in words]
        time.sleep(0.01)
    raise AssertionError(f"{path} was not written")
