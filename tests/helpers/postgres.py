"""A PostgreSQL server of the tests' own, or one that ZOVIZ_TEST_POSTGRES names."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from helpers.ports import free_port


def binaries() -> Path | None:
    """Folder of the server's programs, the newest where there are several."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if folders:
        return folders[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else None


def owner() -> str | None:
    """Whom the server runs as: PostgreSQL refuses to be root."""
    if os.getuid():
        return None
    users = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in users)


@contextmanager
def server() -> Iterator[str]:
    """URL of a server, without the name of a database; skips where there is none."""
    pytest.importorskip("psycopg")
    url = os.environ.get("ZOVIZ_TEST_POSTGRES")
    if url:
        yield url.rstrip("/")
        return
    programs = binaries()
    if programs is None:
        pytest.skip("no PostgreSQL here: install it, or name one by ZOVIZ_TEST_POSTGRES=postgresql://user@host")
    port = free_port()
    folder, user = Path(tempfile.mkdtemp(prefix="zoviz-postgres-")), owner()
    if user is not None:
        shutil.chown(folder, user)
    settings = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200"

    def run(name: str, *arguments: str) -> None:
        command = [str(programs / name), "-D", str(folder / "data"), *arguments]
        process = subprocess.run(command, user=user, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert process.returncode == 0, process.stderr.decode()

    try:
        run("initdb", "-A", "trust", "-U", "zoviz", "--no-sync", "-E", "UTF8")
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", settings, "start")
        try:
            yield f"postgresql://zoviz@127.0.0.1:{port}"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


@contextmanager
def database(url: str, name: str) -> Iterator[str]:
    """URL of a fresh database of a server."""
    import psycopg

    def command(text: str) -> None:
        with psycopg.connect(f"{url}/postgres", autocommit=True) as connection:
            connection.execute(text)

    command(f'CREATE DATABASE "{name}"')
    try:
        yield f"{url}/{name}"
    finally:
        command(f'DROP DATABASE "{name}" WITH (FORCE)')
