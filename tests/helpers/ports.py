"""Ports for servers of the tests' own."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from subprocess import Popen
from threading import Thread
from typing import TypeAlias

Listener: TypeAlias = Popen[bytes] | Thread


def free_port() -> int:
    """A TCP port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_running(server: Listener) -> bool:
    """Whether a process or a thread goes on."""
    return server.is_alive() if isinstance(server, Thread) else server.poll() is None


def until_listening(port: int, server: Listener, log: Path | None = None, seconds: float = 120) -> None:
    """Wait until a server listens on a port, without a request: one over HTTP would itself create a session.

    Parameters
    ----------
    port : int
    server : process or thread
        What is to listen.
    log : Path, optional
        File with what it writes, for the error.
    seconds : float
        To wait at most.

    Raises
    ------
    RuntimeError
        Where it ends before, or takes longer.
    """
    end = time.monotonic() + seconds
    while is_running(server) and time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            time.sleep(0.05)
    text = "nothing" if log is None else log.read_text(encoding="utf-8", errors="replace")
    raise RuntimeError(f"Expected a server on port {port} within {seconds:g} s; it wrote:\n{text}")
