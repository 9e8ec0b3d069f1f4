"""The configuration of nginx in the documentation, tried: TLS, users and websockets, and nobody is somebody else."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tornado.httpclient import HTTPClientError

from helpers import raw_client as raw
from helpers.classroom import USER_HEADER, ClassServer
from helpers.event_loop import result_of
from helpers.ports import free_port, until_listening
from helpers.project import ROOT
from helpers.waiting import until
from zoviz.runs.store import Store

pytestmark = pytest.mark.slow

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
FRAME = (
    "daemon off; pid {folder}/pid; error_log {folder}/error.log;\nevents {{}}\nhttp {{ access_log off;\n{site}\n}}\n"
)


def site(folder: Path, port: int, server: int) -> str:
    """The documentation's site, with this test's ports and files."""
    text = (ROOT / "docs" / "how_to" / "nginx.conf").read_text(encoding="utf-8")
    replaced = {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/ssl/lab.pem": f"{folder}/lab.pem",
        "/etc/ssl/lab.key": f"{folder}/lab.key",
        "/etc/nginx/zoviz.htpasswd": f"{folder}/users",
        "127.0.0.1:5006": f"127.0.0.1:{server}",
    }
    for old, new in replaced.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[tuple[int, ClassServer]]:
    """The proxy's port, and the server behind it."""
    if NGINX is None or shutil.which("openssl") is None:
        pytest.skip("nginx or openssl is missing: apt-get install nginx-light openssl")
    port, folder = free_port(), tmp_path / "nginx"
    folder.mkdir()
    tmp_path.chmod(0o755)
    key = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=lab.example"]
    subprocess.run([*key, "-keyout", folder / "lab.key", "-out", folder / "lab.pem"], check=True, capture_output=True)
    hashed = subprocess.run(["openssl", "passwd", "-apr1", "secret"], check=True, capture_output=True, text=True).stdout
    (folder / "users").write_text(f"ann:{hashed}")
    server = ClassServer(
        tmp_path,
        f"sqlite:///{tmp_path / 'kept.db'}",
        "--owners",
        "--behind-proxy",
        "--allow-origin",
        f"127.0.0.1:{port}",
    )
    try:
        # As root its workers would run as somebody who may not read this folder.
        frame = ("user root;\n" if os.getuid() == 0 else "") + FRAME
        (folder / "nginx.conf").write_text(frame.format(folder=folder, site=site(folder, port, server.port)))
        process = subprocess.Popen([NGINX, "-p", folder, "-c", folder / "nginx.conf"], stderr=subprocess.DEVNULL)
        try:
            until_listening(port, process, folder / "error.log")
            yield port, server
        finally:
            process.terminate()
            process.wait(120)
    finally:
        assert server.stop() == 0


def test_a_person_signs_in_at_the_proxy_and_is_nobody_else(proxied: tuple[int, ClassServer]) -> None:
    port, server = proxied
    signed_in = {"Authorization": "Basic " + base64.b64encode(b"ann:secret").decode()}

    async def visit() -> tuple[int, int, dict[str, object]]:
        stranger = await raw.get(port, "/", tls=True)
        spoofed = await raw.get(port, "/", headers={USER_HEADER: "bob"}, tls=True)
        healthy = await raw.get(port, "/healthz", tls=True)
        with pytest.raises(HTTPClientError, match="401"):
            await raw.Wire.connect(port, "token", headers={USER_HEADER: "bob"}, tls=True)
        wire = await raw.Wire.open(port, headers={**signed_in, USER_HEADER: "bob"}, tls=True)
        await asyncio.wait_for(await wire.patch(raw.ready()), 60)
        await raw.press(wire, raw.labelled(await wire.document())["Start"])
        await asyncio.sleep(1)
        assert not wire.closed
        await wire.close()
        return stranger.code, spoofed.code, json.loads(healthy.body)

    stranger, spoofed, health = result_of(visit())
    assert (stranger, spoofed, health["store"], health["closing"]) == (401, 401, True, False)
    with Store(server.store) as store:
        until(lambda: store.count() == 1)
        assert store.runs()[0].owner == "ann", "whatever the browser says of itself"
