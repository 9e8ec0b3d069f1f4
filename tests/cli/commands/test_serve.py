"""``zoviz serve`` as a user runs it: a page on this machine only, for its own origin only, until it is told to end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from helpers.ports import free_port, until_listening
from zoviz.core.optional import installed_version


def answer(port: int, request: str, origin: str = "") -> str:
    """What the server answers, up to 2000 bytes of it."""
    upgrade = (
        f"Upgrade: websocket\r\nConnection: Upgrade\r\nOrigin: {origin}\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=60) as link:
        link.sendall(f"GET {request} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{upgrade if origin else ''}\r\n".encode())
        return link.recv(2000).decode(errors="replace")


def status(port: int, request: str, origin: str = "") -> str:
    """The first line of what the server answers."""
    return answer(port, request, origin).split("\r\n")[0]


@contextmanager
def served(folder: Path, root: Path, port: int, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command at work, once it listens."""
    process = subprocess.Popen(
        [sys.executable, "-m", "zoviz", "serve", "--no-show", "--store", "sqlite:///kept.db", *options],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(root), "ZOVIZ_PORT": str(port)},
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        until_listening(port, process)
        yield process
    finally:
        process.kill()
        process.wait()


def test_the_dashboard_is_served_here_to_its_own_origin_until_ctrl_c(tmp_path: Path, root: Path) -> None:
    port = free_port()
    with served(tmp_path, root, port) as process:
        head, _, body = answer(port, "/healthz").partition("\r\n\r\n")
        assert "200" in head.split("\r\n")[0]
        assert json.loads(body) == {"version": installed_version(), "store": True, "runs": 0, "closing": False}
        assert "200" in status(port, "/")
        assert "403" in status(port, "/ws", "http://evil.example")
        assert "403" not in status(port, "/ws", f"http://127.0.0.1:{port}")
        others = [info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
        for address in {one for one in others if not one.startswith("127.")}:
            with pytest.raises(OSError):
                socket.create_connection((address, port), timeout=5).close()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert (tmp_path / "kept.db").exists()
