"""The compose file: its settings are those of the server, and its commands, run by hand in its order, do what it says.

Where no container engine runs the images themselves cannot be built.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from helpers import raw_client as raw
from helpers.event_loop import result_of
from helpers.ports import free_port, until_listening
from helpers.project import ROOT
from helpers.waiting import until
from zoviz.core.defaults import STORE_VARIABLE
from zoviz.runs.store import Store
from zoviz.views.server.settings import ServerSettings, variable_of


def services() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]


def instructions(name: str) -> list[str]:
    """What follows a word at the beginning of a line of the Containerfile."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return re.findall(rf"^{name} (.*)$", text, re.MULTILINE)


def environment(**values: str) -> dict[str, str]:
    """The dashboard's, of both files, with values in the place of ``${NAME}``."""
    image = dict(pair.split("=", 1) for pair in instructions("ENV")[0].split())
    own = services()["dashboard"]["environment"]
    return image | {
        name: re.sub(r"\$\{(\w+)[^}]*\}", lambda match: values.get(match[1], ""), text) for name, text in own.items()
    }


def seconds(text: str) -> float:
    return float(text.removesuffix("s"))


def test_its_settings_are_the_servers(tmp_path: Path) -> None:
    given = environment(POSTGRES_PASSWORD="x")
    known = {STORE_VARIABLE, *map(variable_of, ServerSettings.names())}
    assert {name for name in given if name.startswith("ZOVIZ_")} <= known
    users = tmp_path / "users"
    users.write_text("{}")
    settings = ServerSettings.read({}, given | {"ZOVIZ_BASIC_AUTH": str(users)})
    assert settings.owners and settings.turns == 1 and not settings.here and None not in settings.limits
    dashboard = services()["dashboard"]
    assert settings.grace < seconds(dashboard["stop_grace_period"])
    assert settings.limits.memory is not None
    assert settings.limits.memory < float(dashboard["mem_limit"].removesuffix("g"))


def test_the_image_has_all_that_it_copies() -> None:
    copied = [word for line in instructions("COPY") for word in line.split()[:-1]]
    assert copied and all((ROOT / name).exists() for name in copied)


async def visit(port: int, store: Store, begins: bool, end: Callable[[], object]) -> str:
    """Sign in; press Start and let the run go on for two seconds, or wait for what is said of interrupted runs.

    The page is there until the server has ended: closed, it would stop its run.
    """
    wire = await raw.Wire.open(port, cookie=await raw.log_in(port, "secret", "ann"), origin=f"http://localhost:{port}")
    await asyncio.wait_for(await wire.patch(raw.ready()), 60)
    if begins:
        await raw.press(wire, raw.labelled(await wire.document())["Start"])
        await asyncio.to_thread(until, lambda: store.count() == 1, 60)
        await asyncio.sleep(2)
    else:
        await asyncio.to_thread(until, lambda: "interrupted: Resume run" in "".join(wire.heard), 60, 0.1)
    heard = "".join(wire.heard)
    await asyncio.to_thread(end)
    await wire.close()
    return heard


def ended(process: subprocess.Popen[bytes]) -> None:
    """End the server as an engine does."""
    process.send_signal(signal.SIGTERM)
    assert process.wait(seconds(services()["dashboard"]["stop_grace_period"])) == 0


@pytest.mark.slow
def test_its_commands_by_hand(tmp_path: Path) -> None:
    from helpers.postgres import binaries, database, server  # not for Windows

    with server() as one, database(one, "zoviz") as url:
        host, _, number = url.split("@")[1].partition("/")[0].partition(":")
        check = services()["database"]["healthcheck"]["test"][1:]
        ready = [str((binaries() or Path()) / check[0]), "--host", host, "--port", number, *check[1:]]
        assert subprocess.run(ready, stdout=subprocess.DEVNULL).returncode == 0, "the database is healthy: go on"
        users, port = tmp_path / "users.json", free_port()
        users.write_text(json.dumps({"ann": "secret", "bob": "other"}))
        given = environment(POSTGRES_PASSWORD="any")
        given["ZOVIZ_STORE"] = given["ZOVIZ_STORE"].replace("@database/", f"@{host}:{number}/")
        given |= {"ZOVIZ_BASIC_AUTH": str(users), "ZOVIZ_PORT": str(port), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", *json.loads(instructions("CMD")[0])]
        probe = json.loads(instructions("HEALTHCHECK")[0].partition("CMD ")[2])
        probe = [sys.executable, *probe[1:-1], probe[-1].replace(":5006", f":{port}")]
        heard, log = [], tmp_path / "log"
        with Store(given["ZOVIZ_STORE"]) as store:
            for begins in (True, False):
                with log.open("ab") as out:
                    process = subprocess.Popen(command, cwd=tmp_path, env=os.environ | given, stdout=out, stderr=out)
                try:
                    until_listening(port, process, log)
                    assert subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0
                    heard.append(result_of(visit(port, store, begins, partial(ended, process))))
                finally:
                    process.kill()
                    process.wait()
            (run,) = store.runs()
    assert (run.owner, run.status) == ("ann", "interrupted") and run.iterations > 0
    assert "1 run was interrupted." in heard[1]
