"""The MCP server by the official client: from a function in a file to a certified answer, and nothing else."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.doors import Ledger, assert_same_result, black_box
from helpers.project import ROOT
from zoviz import BlackBox, Run, Store
from zoviz.adapters.mcp import Laboratory, main, server

pytest.importorskip("mcp")

FILE = """
from zoviz import BlackBox


def both(x):
    return float(x @ x), float(1 - x[0])


problem = BlackBox(both, bounds=[(-2, 2)] * 2, x0=[1.5, 1.0], m=1, joint=True)
"""


def both(x: np.ndarray) -> tuple[float, list[float]]:
    return Ledger()(x)


def problem() -> BlackBox:
    return black_box(both)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(f"sqlite:///{tmp_path / 'runs.db'}", trusted=[both.__module__]) as store:
        yield store


class Agent:
    """A client, which a coroutine may ask to call tools."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def names(self) -> set[str]:
        return {tool.name for tool in (await self._client.list_tools()).tools}

    async def call(self, tool: str, **arguments: Any) -> Any:
        result = await self._client.call_tool(tool, arguments)
        assert not result.is_error, result.content[0].text
        content = result.structured_content
        return content["result"] if set(content) == {"result"} else content

    async def seen(self, tool: str, **arguments: Any) -> bytes:
        (image,) = (await self._client.call_tool(tool, arguments)).content
        assert image.mime_type == "image/png"
        return base64.b64decode(image.data)

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self._client.call_tool(tool, arguments)
        assert result.is_error
        return str(result.content[0].text)


def talk(target: Any, dialogue: Callable[[Agent], Coroutine[Any, Any, None]]) -> bool:
    """Let an agent talk to a server, or to a process that is launched, to the end."""
    from mcp.client import Client

    async def session() -> None:
        async with Client(target) as client:
            await dialogue(Agent(client))

    with ThreadPoolExecutor(1) as thread:  # the browser's tests leave an event loop in this one
        thread.submit(asyncio.run, session()).result()
    return True


def laboratory(store: Store, calls: int = 600, read_only: bool = False) -> Any:
    return server(Laboratory({"beam": problem()}, store, calls, read_only))


def test_from_a_problem_to_a_certified_answer_with_the_points_of_a_run(store: Store) -> None:
    async def dialogue(agent: Agent) -> None:
        assert (await agent.call("problems"))["problems"] == {"beam": 2}
        assert "ZOSQP" in await agent.call("solvers")
        started = await agent.call("start", problem="beam", solver="ZOSQP", calls=100, seed=4)
        ended = await agent.call("wait", run=started["run"], seconds=60)
        assert ended["best"]["feasible"]
        assert ended["verdict"]
        picture = await agent.seen("plot", runs=[started["run"]])
        assert picture.startswith(b"\x89PNG")
        report = await agent.call("report", run=started["run"])
        assert "## Best design" in report and "## Script that repeats it" in report
        sure = await agent.call("certify", run=started["run"])
        assert sure["sentence"]
        assert (await agent.call("problems"))["calls_left"] == 500 - sure["calls"]
        ids.append(started["run"])

    ids: list[str] = []
    talk(laboratory(store), dialogue)
    assert_same_result(store.load(ids[0]).result, the_run().result)


def the_run() -> Run:
    run = Run(problem(), "ZOSQP", replicas=1, calls=100, seed=4, judged=True)
    run.run()
    return run


KILLED = """
import os, signal, sys
from adapters.test_mcp import Laboratory, both
from helpers.doors import black_box
from zoviz import Store

calls = 0


def dying(x):
    global calls
    calls += 1
    if calls == 50:
        os.kill(os.getpid(), signal.SIGKILL)
    return both(x)


laboratory = Laboratory({"beam": black_box(dying)}, Store(sys.argv[1]), 600)
laboratory.wait(laboratory.start("beam", 100, "ZOSQP", 4)["run"], 60)
"""


def test_a_run_goes_on_after_its_server_was_killed(tmp_path: Path, store: Store) -> None:
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    command = [sys.executable, "-c", KILLED, f"sqlite:///{tmp_path / 'runs.db'}"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    (record,) = store.runs()

    async def dialogue(agent: Agent) -> None:
        resumed = await agent.call("resume", run=record.id)
        assert 500 <= resumed["calls_left"] < 600, "those that were made are not taken again"
        await agent.call("wait", run=record.id, seconds=60)

    talk(laboratory(store), dialogue)
    assert_same_result(store.load(record.id).result, the_run().result)


def test_steering_is_in_the_journal_and_its_author_in_the_notes(store: Store) -> None:
    async def dialogue(agent: Agent) -> None:
        run = (await agent.call("start", problem="beam", solver="ZOCEG", calls=500))["run"]
        state = await agent.call("steer", run=run, name="estimator.batch_size", value=1, author="Ada")
        assert "'Ada' by MCP" in state["authors"]
        await agent.call("stop", run=run)
        fork = (await agent.call("fork", run=run, calls=50, changes={}))["run"]
        assert {one["run"] for one in await agent.call("compare", runs=[run, fork])} == {run, fork}

    assert talk(laboratory(store, 10_000), dialogue)


def test_nobody_passes_the_budget_or_names_other_code_or_touches_the_runs_of_others(store: Store) -> None:
    other = Run(problem(), "ZOSQP", replicas=1, calls=40, store=store)
    other.run()

    async def dialogue(agent: Agent) -> None:
        for calls in (601, 10**12):
            assert "left of the budget" in await agent.refused("start", problem="beam", calls=calls)
        for calls in (0, -5):
            await agent.refused("start", problem="beam", calls=calls)
        for name in ("os:system", "subprocess.Popen", "../beam", "__main__:x"):
            assert "Expected one of the problems beam" in await agent.refused("start", problem=name, calls=10)
            assert await agent.refused("start", problem="beam", solver=name, calls=10)
        run = (await agent.call("start", problem="beam", calls=400))["run"]
        assert "left of the budget" in await agent.refused("start", problem="beam", calls=400)
        assert "an agent has started" in await agent.refused("resume", run=other.id)
        for tool, more in (("stop", {}), ("certify", {}), ("steer", {"name": "penalty", "value": 1, "author": "x"})):
            assert "started here" in await agent.refused(tool, run=other.id, **more)
        assert (await agent.call("read", run=other.id))["status"] == "finished"
        await agent.refused("steer", run=run, name="problem.fun", value=1, author="x")
        await agent.call("stop", run=run)

    assert talk(laboratory(store), dialogue)


def test_who_may_only_read_has_no_other_tools(store: Store) -> None:
    async def dialogue(agent: Agent) -> None:
        assert await agent.names() == {"problems", "solvers", "runs", "read", "compare", "plot", "report"}
        assert await agent.refused("start", problem="beam", calls=10)

    assert talk(laboratory(store, read_only=True), dialogue)


def test_an_agent_of_its_own_sees_and_resumes_its_own_runs_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"

    async def begin(agent: Agent) -> None:
        runs.append((await agent.call("start", problem="beam", solver="ZOCEG", calls=500))["run"])
        await agent.call("stop", run=runs[0])

    async def meddle(agent: Agent) -> None:
        assert await agent.call("runs") == []
        for tool in ("read", "resume", "report"):
            await agent.refused(tool, run=runs[0])
        assert (await agent.call("problems"))["calls_left"] == 600

    runs: list[str] = []
    for owner, dialogue in (("ada", begin), ("bob", meddle)):
        with Store(url, owner=owner) as own:
            talk(laboratory(own), dialogue)
    with Store(url, owner="ada") as own:
        assert own.load(runs[0]).status == "stopped"


def test_problems_of_one_name_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["zoviz.problems:LoadTracking", "zoviz.problems.power.load_tracking:LoadTracking", "--calls", "10"])
    assert "Expected problems of different names" in capsys.readouterr().err


@pytest.mark.slow
def test_a_process_serves_a_function_in_a_file(tmp_path: Path) -> None:
    from mcp import StdioServerParameters

    (tmp_path / "mine.py").write_text(FILE)

    async def dialogue(agent: Agent) -> None:
        run = (await agent.call("start", problem="problem", calls=80))["run"]
        assert (await agent.call("wait", run=run, seconds=60))["best"]["f"] == pytest.approx(1.0, abs=1e-3)

    options = ["-m", "zoviz.adapters.mcp", "mine:problem", "--calls", "200", "--store", "sqlite:///runs.db"]
    talk(StdioServerParameters(command=sys.executable, args=options, cwd=str(tmp_path), env=dict(os.environ)), dialogue)
    assert (tmp_path / "runs.db").exists()
