"""A separate process that runs a study, started and stopped from a page that need not stay open."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zoviz.core import defaults
from zoviz.core.errors import ZovizError
from zoviz.runs.storage.rows import host
from zoviz.runs.store import Store

_LAST_WORDS = 2000
"""Characters of what a process wrote at its end that are read."""
_BEGUN: list[subprocess.Popen[bytes]] = []
"""Processes that may still be at work: one that nobody refers to would not be taken leave of at its end."""


def _environment(store: Store) -> dict[str, str]:
    """Return the environment of a process: the store's URL may hold a password, and arguments are seen by all."""
    return os.environ | {defaults.STORE_VARIABLE: store.url}


def cost_of_command(store: Store, command: Sequence[str]) -> dict[str, Any]:
    """Return what ``zoviz benchmark --plan`` prints of a study; ``refusals`` are the pairs that it leaves out.

    Parameters
    ----------
    store : Store
    command : sequence of str
        Arguments of ``zoviz benchmark``.

    Raises
    ------
    ZovizError
        With the command's own sentence, where it cannot be run.
    """
    words = [sys.executable, "-m", "zoviz", "benchmark", *command, "--plan", "--json"]
    done = subprocess.run(words, env=_environment(store), capture_output=True, text=True, check=False)
    if done.returncode:
        raise ZovizError(_sentence(done.stderr))
    refusals = [line.partition(": ")[2] for line in done.stderr.splitlines() if line.startswith("Left out: ")]
    return json.loads(done.stdout) | {"refusals": refusals}


def _sentence(text: str) -> str:
    """Return the last line of what a command wrote."""
    lines = text.strip().splitlines()
    return lines[-1].removeprefix("zoviz: ") if lines else "Expected an answer of zoviz benchmark, got none."


class StudyProcess:
    """A ``zoviz benchmark`` process that outlives the page and the server that started it.

    Parameters
    ----------
    store : Store
    command : sequence of str
        Arguments of ``zoviz benchmark``.
    """

    def __init__(self, store: Store, command: Sequence[str]) -> None:
        words = [sys.executable, "-m", "zoviz", "benchmark", *command, "--quiet"]
        errors, name = tempfile.mkstemp(prefix="zoviz-study-")
        self._errors = Path(name)
        weakref.finalize(self, self._errors.unlink, missing_ok=True)
        try:
            self._process = subprocess.Popen(
                words,
                env=_environment(store),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,  # what ends the server does not end it
            )
        finally:
            os.close(errors)
        _BEGUN[:] = [self._process, *(one for one in _BEGUN if one.poll() is None)]

    @property
    def active(self) -> bool:
        """Whether it is still at work."""
        return self._process.poll() is None

    @property
    def complaint(self) -> str:
        """The last line that the process wrote if it failed; empty if it succeeded or was stopped."""
        code = self._process.poll()
        if code in (None, 0, 130) or code == -signal.SIGTERM:
            return ""
        return _sentence(self._errors.read_text(encoding="utf-8", errors="replace")[-_LAST_WORDS:])


def stop_study(store: Store, name: str) -> None:
    """Stop a study's process; when it is started again, its runs go on from their checkpoints.

    Raises
    ------
    ZovizError
        Where it is at work on another machine, or not at all.
    """
    record = store.study(name)
    if record is None or not record.active:
        raise ZovizError(f"Expected a running study, got {name!r}, which no process runs.")
    if record.host != host():
        raise ZovizError(f"Expected a study that runs on this machine, got {name!r} on {record.host}: stop it there.")
    os.kill(record.pid, signal.SIGTERM)
