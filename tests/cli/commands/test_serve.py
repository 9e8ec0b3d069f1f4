"""``zoviz serve`` as a user runs it: a page on this machine only, for its own origin only, until Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers.ports import free_port


def answer(port: int, request: str, origin: str = "") -> str:
    """The first line of what the server answers."""
    upgrade = (
        f"Upgrade: websocket\r\nConnection: Upgrade\r\nOrigin: {origin}\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=60) as link:
        link.sendall(f"GET {request} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{upgrade if origin else ''}\r\n".encode())
        return link.recv(200).decode(errors="replace").split("\r\n")[0]


def test_the_dashboard_is_served_here_to_its_own_origin_until_ctrl_c(tmp_path: Path, root: Path) -> None:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "zoviz", "serve", "--no-show", "--port", str(port), "--store", "sqlite:///kept.db"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(root)},
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 120
        while True:
            assert process.poll() is None and time.monotonic() < end
            try:
                first = answer(port, "/")
                break
            except OSError:
                time.sleep(0.2)
        assert "200" in first
        assert "403" in answer(port, "/ws", "http://evil.example")
        assert "403" not in answer(port, "/ws", f"http://127.0.0.1:{port}")
        others = [info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
        for address in {one for one in others if not one.startswith("127.")}:
            with pytest.raises(OSError):
                socket.create_connection((address, port), timeout=5).close()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in (0, 130)
    finally:
        process.kill()
    assert (tmp_path / "kept.db").exists()
