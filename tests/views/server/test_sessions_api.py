"""Ask and tell over HTTP: the points of a run of the same seed, nothing lost by a kill, nobody without the token."""

from __future__ import annotations

import asyncio
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.netutil import bind_sockets
from tornado.web import Application

from helpers.project import ROOT
from zoviz import BlackBox, Run, Store
from zoviz.ask_tell.kept_sessions import KeptSessions
from zoviz.views.server.sessions_api import openapi, patterns

TOKEN = "a secret"
SETTINGS = {"bounds": [[-2, 2], [-2, 2]], "x0": [1.5, 1.0], "m": 1, "noise": "independent", "seed": 3, "calls": 60}


def value(x: np.ndarray, number: int) -> tuple[float, float]:
    """Noise that follows from the number of the call, and a call in nine that fails."""
    noise = 0.01 * math.sin(1e4 * number + x[0])
    return (math.nan, math.nan) if number % 9 == 8 else (float(x @ x) + noise, float(1.0 - x[0]) + noise)


class Client:
    """A caller with a token."""

    def __init__(self, server: str, token: str = TOKEN) -> None:
        self.server, self.token = server, token

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(f"{self.server}/api{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def tell(self, id: str, points: list[dict[str, Any]]) -> Any:
        told = []
        for point in points:
            f, h = value(np.array(point["x"]), point["id"])
            told.append({"id": point["id"], "f": None if math.isnan(f) else f, "h": [] if math.isnan(h) else [h]})
        return self("POST", f"/sessions/{id}/tell", {"points": told})

    def refused(self, *request: Any) -> tuple[int, str]:
        with pytest.raises(urllib.error.HTTPError) as error:
            self(*request)
        with error.value as answer:
            return answer.code, json.load(answer)["error"]


class Server:
    """A server of sessions in a thread."""

    def __init__(self, store: Store) -> None:
        ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(store, ready), daemon=True)
        self._thread.start()
        assert ready.wait(120)

    def _serve(self, store: Store, ready: threading.Event) -> None:
        asyncio.set_event_loop(asyncio.new_event_loop())
        sockets = bind_sockets(0, "127.0.0.1")
        self._http = HTTPServer(Application(patterns(KeptSessions(store), TOKEN)))
        self._http.add_sockets(sockets)
        self.url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
        self._loop = IOLoop.current()
        self._loop.add_callback(ready.set)
        self._loop.start()
        self._loop.close()

    def end(self) -> None:
        self._loop.add_callback(self._http.stop)
        self._loop.add_callback(self._loop.stop)
        self._thread.join(120)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(f"sqlite:///{tmp_path / 'sessions.db'}") as store:
        yield store


@pytest.fixture
def client(store: Store) -> Iterator[Client]:
    server = Server(store)
    yield Client(server.url)
    server.end()


def the_run() -> Any:
    """A run of the same seed: what its numbers of calls are is what ids are."""
    numbers = iter(range(10_000))
    settings = {name: SETTINGS[name] for name in ("bounds", "x0", "noise")}
    problem = BlackBox(lambda x: value(x, next(numbers)), m=1, joint=True, on_error="fail", **settings)
    return Run(problem, "ZOSQP", replicas=1, seed=3, calls=60).run()


def spend(client: Client, id: str) -> dict[str, Any]:
    while not (asked := client("GET", f"/sessions/{id}/ask"))["done"]:
        client.tell(id, asked["points"])
    return client("GET", f"/sessions/{id}/result")


def test_points_are_those_of_a_run_also_where_servers_come_and_go(store: Store) -> None:
    expected = the_run()
    server, id = Server(store), ""
    for turn in range(200):
        client = Client(server.url)
        id = id or client("POST", "/sessions", {"solver": "ZOSQP", **SETTINGS})["id"]
        asked = client("GET", f"/sessions/{id}/ask?most=2")
        if asked["done"]:
            break
        client.tell(id, asked["points"][::-1])
        if turn % 11 == 5:  # all that this server knew is gone
            server.end()
            server = Server(store)
    result = Client(server.url)("GET", f"/sessions/{id}/result")
    server.end()
    assert result["calls"] == [60]
    assert result["failures"] == expected.failures.tolist()
    assert np.array_equal(result["x"], expected.x)


KILLED = {
    "server": """
import sys, threading
from views.server.test_sessions_api import Server
from zoviz import Store

print(Server(Store(sys.argv[1])).url, flush=True)
threading.Event().wait()
""",
    "client": """
import os, signal, sys
from views.server.test_sessions_api import Client

client, path = Client(sys.argv[1]), f"/sessions/{sys.argv[2]}"
while True:
    points = client("GET", f"{path}/ask?most=3")["points"]
    client.tell(sys.argv[2], points[:2])
    if points[0]["id"] >= 30:
        os.kill(os.getpid(), signal.SIGKILL)
""",
}


def launched(name: str, *arguments: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    command = [sys.executable, "-c", KILLED[name], *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_nothing_is_lost_where_client_and_server_are_killed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'sessions.db'}"
    with launched("server", url) as server:
        address = server.stdout.readline().strip()
        id = Client(address)("POST", "/sessions", {"solver": "ZOSQP", **SETTINGS})["id"]
        with launched("client", address, id) as caller:
            assert caller.wait(120) == -signal.SIGKILL
        told = Client(address)("GET", f"/sessions/{id}")["values"]
        server.kill()
    with launched("server", url) as server:
        client = Client(server.stdout.readline().strip())
        assert client("GET", f"/sessions/{id}")["values"] == told >= 30
        result = spend(client, id)
        server.kill()
    expected = the_run()
    assert result["failures"] == expected.failures.tolist()
    assert np.array_equal(result["x"], expected.x)


def test_values_that_could_not_be_stored_are_told_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = KeptSessions(store)
    id = sessions.create(SETTINGS).id
    values = [{"id": int(number), "f": 1.0, "h": [0.0]} for number in sessions.get(id).open().ids]

    def full(*_: Any) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as broken:
        broken.setattr(type(store.database), "writing", full)
        with pytest.raises(OSError, match="no space"):
            sessions.tell(id, values)
    sessions.tell(id, values)
    assert len(KeptSessions(store).get(id).told) == len(values), "they are in the store now"


def test_what_was_told_may_be_told_again_but_not_otherwise(client: Client) -> None:
    id = client("POST", "/sessions", SETTINGS)["id"]
    points = client("GET", f"/sessions/{id}/ask")["points"]
    client.tell(id, points[:1])
    assert client.tell(id, points[:1])["values"] == 1
    other = {"points": [{"id": points[0]["id"], "f": 7.0, "h": [0.0]}]}
    code, sentence = client.refused("POST", f"/sessions/{id}/tell", other)
    assert code == 409
    assert "the same values" in sentence


def test_events_tell_what_was_told_and_the_end(client: Client) -> None:
    id = client("POST", "/sessions", SETTINGS)["id"]
    points = client("GET", f"/sessions/{id}/ask")["points"]
    assert client("GET", f"/sessions/{id}/events")["events"] == []
    client.tell(id, points)
    (told,) = client("GET", f"/sessions/{id}/events?wait=20")["events"]
    assert told["values"] == [point["id"] for point in points]
    assert client("DELETE", f"/sessions/{id}")["cancelled"]
    (ended,) = client("GET", f"/sessions/{id}/events?after=0&wait=20")["events"]
    assert ended["ended"] == "cancelled"
    assert client("GET", f"/sessions/{id}/ask") == {"done": True, "points": []}
    assert client("GET", "/sessions")["sessions"] == [id]


def test_the_certainty_of_values_that_repeat_comes_from_what_was_told(client: Client) -> None:
    settings = SETTINGS | {"noise": "deterministic", "calls": 120}
    id = client("POST", "/sessions", settings)["id"]
    while not (asked := client("GET", f"/sessions/{id}/ask"))["done"]:
        told = [{"id": p["id"], "f": float(np.square(p["x"]).sum()), "h": [1 - p["x"][0]]} for p in asked["points"]]
        client("POST", f"/sessions/{id}/tell", {"points": told})
    sure = client("GET", f"/sessions/{id}/certainty")
    assert sure["x"][0] == pytest.approx(1.0, abs=1e-5)
    assert sure["f_x"]["value"] == pytest.approx(1.0, abs=1e-5)
    assert sure["sentence"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"solver": "None such", **SETTINGS}, "solver"),
        (SETTINGS | {"function": "os.system"}, "got function"),
        (SETTINGS | {"solver": "ZOSQP", "parameters": {"shape": 3}}, "shape"),
        (SETTINGS | {"past": "/etc/passwd"}, "past"),
    ],
)
def test_settings_that_make_no_sense_are_refused(client: Client, body: Any, sentence: str) -> None:
    code, said = client.refused("POST", "/sessions", body)
    assert code in (400, 409)
    assert sentence in said


def test_past_points_come_with_the_settings(client: Client) -> None:
    x = np.random.default_rng(0).uniform(-2, 2, (20, 2)).tolist()
    past = {"x": x, "values": [[float(np.square(one).sum()), 1 - one[0]] for one in x]}
    id = client("POST", "/sessions", SETTINGS | {"noise": "deterministic", "past": past})["id"]
    assert client("GET", f"/sessions/{id}/ask")["points"][0]["x"] in x


def test_nobody_without_the_token_learns_anything(client: Client) -> None:
    id = client("POST", "/sessions", SETTINGS)["id"]
    for token in ("", "another", TOKEN + "s"):
        stranger = Client(client.server, token)
        for request in (("GET", "/sessions"), ("GET", f"/sessions/{id}/ask"), ("DELETE", f"/sessions/{id}")):
            code, sentence = stranger.refused(*request)
            assert code == 401
            assert id not in sentence
    assert not client("GET", f"/sessions/{id}")["cancelled"]


def test_ids_that_no_session_has_are_refused(client: Client) -> None:
    assert client.refused("GET", "/sessions/abc")[0] == 404
    assert client.refused("POST", f"/sessions/{'0' * 32}/tell", {"points": []})[0] == 404


def test_the_description_names_every_address(client: Client) -> None:
    described = client("GET", "/openapi.json")
    assert described == json.loads(json.dumps(openapi()))
    id = client("POST", "/sessions", SETTINGS)["id"]
    for path, operations in described["paths"].items():
        if "get" in operations and "result" not in path and "certainty" not in path:
            assert client("GET", path.replace("{id}", id))


PROGRAMS = {
    "octave-cli": """
addpath("{folder}");
settings = struct("bounds", [-2 2; -2 2], "x0", [1.5 1], "m", 1, "solver", "ZOSQP", "calls", 60);
settings.noise = "deterministic";
[result, id] = zoviz_minimise(@(x) deal(x(1) * x(1) + x(2) * x(2), 1 - x(1)), "{server}", "{token}", settings);
printf("%s\\n", id);
""",
    "Rscript": """
source("{folder}/zoviz.R")
session <- zoviz_session("{server}", "{token}", bounds = list(c(-2, 2), c(-2, 2)), x0 = c(1.5, 1), m = 1,
                         solver = "ZOSQP", noise = "deterministic", calls = 60)
result <- zoviz_minimise(session, function(x) list(f = x[1] * x[1] + x[2] * x[2], h = 1 - x[1]))
cat(session$id, "\\n")
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_clients_in_other_languages_get_the_points_of_a_run(client: Client, tmp_path: Path, program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    script = tmp_path / "client"
    text = PROGRAMS[program]
    for name, value in {"folder": str(ROOT / "docs/clients"), "server": client.server, "token": client.token}.items():
        text = text.replace(f"{{{name}}}", value)
    script.write_text(text)
    done = subprocess.run([program, str(script)], capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr

    def function(x: np.ndarray) -> tuple[float, float]:
        return float(x[0] * x[0] + x[1] * x[1]), float(1 - x[0])  # a sum of a language's own has other round-off

    settings = {"bounds": [(-2, 2)] * 2, "x0": [1.5, 1.0], "noise": "deterministic"}
    expected = Run(BlackBox(function, m=1, joint=True, **settings), "ZOSQP", replicas=1, calls=60).run().x[0]
    assert client("GET", f"/sessions/{done.stdout.split()[-1]}/result")["x"][0] == expected.tolist()
