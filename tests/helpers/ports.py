"""Ports for servers of the tests' own."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path


def free_port() -> int:
    """A TCP port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until_listening(port: int, process: subprocess.Popen[bytes], log: Path | None = None, seconds: float = 120) -> None:
    """Wait until a process listens on a port, without a request: one over HTTP would itself create a session."""
    end = time.monotonic() + seconds
    while True:
        assert process.poll() is None and time.monotonic() < end, log and log.read_text(errors="replace")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
