"""A Model Context Protocol server: an agent solves the problems named at its start, within a budget.

``python -m zoviz.adapters.mcp my_module:problem --calls 5000`` speaks over standard input and output.
"""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from zoviz.core import registry
from zoviz.core.defaults import STORE_URL
from zoviz.core.errors import ZovizError
from zoviz.core.optional import require
from zoviz.diagnosis.certificate import Certifier, certificate_of, known_certainty
from zoviz.diagnosis.verdict import verdict_of
from zoviz.problems.base import Problem
from zoviz.problems.find import find_problem
from zoviz.runs.run import Run
from zoviz.runs.store import Store
from zoviz.runs.stored_run import StoredRun
from zoviz.solvers.base import Solver
from zoviz.solvers.portfolio.choice import AUTO, matched

INSTRUCTIONS = (
    "Minimise black-box problems under constraints h <= 0. List the problems, start a run with some calls of the "
    "budget, wait for it, read its verdict and best design, steer or fork it, and certify the answer."
)

TAG = "agent"
"""Of the runs that an agent has started."""


class Laboratory:
    """The tools of one server: its problems, its runs, and the calls that are left.

    Parameters
    ----------
    problems : mapping of str to Problem
        All that can be solved; nothing else is imported or launched.
    store : Store
    calls : int
        Budget of all runs and certificates together.
    read_only : bool
        Whether runs can only be looked at.
    """

    def __init__(self, problems: Mapping[str, Problem], store: Store, calls: int, read_only: bool = False) -> None:
        self._problems, self._store, self._read_only = dict(problems), store, read_only
        self._left, self._lock = calls, threading.Lock()
        self._runs: dict[str, Run] = {}

    @property
    def tools(self) -> list[Any]:
        """The functions that an agent may call."""
        reading = [self.problems, self.solvers, self.runs, self.read, self.compare, self.plot, self.report]
        acting = [self.start, self.wait, self.steer, self.fork, self.stop, self.resume, self.certify]
        return reading if self._read_only else reading + acting

    def problems(self) -> dict[str, Any]:
        """List the problems by name, with their numbers of variables, and the calls that are left."""
        return {"problems": {name: one.domain.n for name, one in self._problems.items()}, "calls_left": self._left}

    def solvers(self) -> list[str]:
        """List the names of the solvers; "auto" chooses one."""
        return [AUTO, *sorted(one.__name__ for one in registry.discover("zoviz.solvers", Solver).values())]

    def runs(self) -> list[dict[str, Any]]:
        """List the stored runs, the latest first."""
        listed = self._store.runs(limit=50)
        return [
            {"run": one.id, "solver": one.solver, "status": str(one.status), "best": one.best_value} for one in listed
        ]

    def read(self, run: str) -> dict[str, Any]:
        """Read a run's state: status, verdict, best design, parameters that can be steered, and their changes."""
        one, own = self._loaded(run), self._runs.get(run)
        found: dict[str, Any] = {
            "status": str(one.status),
            "message": one.message,
            "calls": one.progress.counts["calls"],
        }
        if one.has_result:
            found |= {"verdict": verdict_of(one).sentence, "best": one.best_design.plain()}
        if one.answer is not None and one.answer.certainty is not None:
            found["certainty"] = one.answer.certainty.sentence
        if own is not None:
            found["parameters"] = {name: repr(value) for name, value in own.parameters.items()}
        changes = [f"{one.iteration}: {one.name} from {one.old} to {one.new}" for one in one.journal]
        return found | {"changes": changes, "authors": self._store.load(run).record.notes}

    def compare(self, runs: list[str]) -> list[dict[str, Any]]:
        """Compare the present states of runs, the lowest feasible objective first."""
        found = [{"run": run, **self.read(run)} for run in runs]
        best = [one.get("best") or {"feasible": False, "f": None} for one in found]
        order = sorted(range(len(found)), key=lambda i: (not best[i]["feasible"], best[i]["f"] or 0.0))
        return [found[i] for i in order]

    def plot(self, runs: list[str]) -> Any:
        """Draw the courses of runs of one problem beside each other, as a PNG picture."""
        figure = import_module("zoviz.views.plots.paper_figure").PaperFigure([self._loaded(run) for run in runs])
        image = require("mcp.server.mcpserver", "mcp").Image
        return image(data=figure.drawn("png")["png"], format="png")

    def report(self, run: str) -> str:
        """Write the report of a run: verdict, best design, counts, steering, settings, and a script that repeats it."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "report.md"
            self._loaded(run).report(path)
            return path.read_text(encoding="utf-8")

    def start(self, problem: str, calls: int, solver: str = AUTO, seed: int = 0) -> dict[str, Any]:
        """Start a run of a problem with ``calls`` of the budget."""
        if problem not in self._problems:
            raise ValueError(f"Expected one of the problems {', '.join(self._problems)}, got {problem!r}.")
        made = matched(self._problems[problem].clone(), solver, calls)
        settings: dict[str, Any] = {"replicas": 1, "calls": calls, "seed": seed, "judged": made.problem.partial}
        return self._begin(Run(made.problem, made.solver, store=self._store, label=problem, **settings), calls)

    def wait(self, run: str, seconds: float = 30.0) -> dict[str, Any]:
        """Wait at most ``seconds`` for the end of a run, then read its state."""
        try:
            self._own(run).wait(min(seconds, 600.0))
        except TimeoutError:
            pass
        return self.read(run)

    def steer(self, run: str, name: str, value: float, author: str) -> dict[str, Any]:
        """Set a parameter of a running run; its journal records the change, and its notes the author."""
        own = self._own(run)
        own.set({name: value})
        notes = self._store.load(run).record.notes
        line = f"{author.strip()[:80]!r} by MCP at iteration {own.progress.iteration}: {name} = {value:g}"
        self._store.annotate(run, notes=f"{notes}\n{line}".strip())
        return self.read(run)

    def fork(self, run: str, calls: int, changes: dict[str, float]) -> dict[str, Any]:
        """Start a run that repeats one up to now, and goes on with other parameters to ``calls`` in all."""
        return self._begin(self._own(run).fork(changes=changes, calls=calls), calls)

    def resume(self, run: str) -> dict[str, Any]:
        """Continue a run that an agent started here before the server ended; its remaining calls are reserved again."""
        stored = self._store.load(run)
        if TAG not in stored.record.tags or stored.label not in self._problems:
            raise ZovizError(f"Expected a run that an agent has started, got {run[:40]!r}: others can only be read.")
        own = stored.resume(problem=self._problems[stored.label].clone())
        return self._begin(own, int(own.calls or 0) - stored.progress.calls)

    def stop(self, run: str) -> dict[str, Any]:
        """End a run after the step in progress."""
        self._own(run).stop()
        return self.wait(run)

    def certify(self, run: str) -> dict[str, Any]:
        """Measure, by further calls, how certain the answer of a finished run is."""
        own, certifier = self._own(run), Certifier()
        if own.active:
            raise ValueError("Expected a run that has ended, got one at work: wait for it, or stop it.")
        most = certifier.cost(own.problem, known_certainty(own, 0, certifier))[1]
        self._take(most)
        made = certificate_of(own, 0, certifier)
        return {"sentence": made.sentence, "certainty": str(made.certainty), "calls": most}

    def _begin(self, run: Run, calls: int) -> dict[str, Any]:
        """Start a run, for which ``calls`` are taken from the budget."""
        self._take(calls)
        self._runs[run.id] = run
        run.start()
        self._store.annotate(run.id, tags=[TAG])
        return {"run": run.id, "solver": type(run.solver).__name__, "reason": run.reason, "calls_left": self._left}

    def _take(self, calls: int) -> None:
        """Take calls from the budget, before any of them is made; none come back."""
        with self._lock:
            if not 0 < calls <= self._left:
                raise ValueError(f"Expected from 1 to {self._left} calls, which are left of the budget, got {calls}.")
            self._left -= calls

    def _loaded(self, run: str) -> Run | StoredRun:
        return self._runs.get(run) or self._store.load(run)

    def _own(self, run: str) -> Run:
        if run not in self._runs:
            raise ZovizError(f"Expected a run that was started here, got {run[:40]!r}: others can only be read.")
        return self._runs[run]


def server(laboratory: Laboratory) -> Any:
    """Return an ``MCPServer`` with a laboratory's tools."""
    made = require("mcp.server", "mcp", "the MCP server").MCPServer("zoviz", instructions=INSTRUCTIONS)
    for tool in laboratory.tools:
        made.add_tool(_saying(tool))
    return made


def _saying(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Return a tool whose refusals reach the agent with their sentences; those of other errors do not."""
    error: type[Exception] = require("mcp.server.mcpserver.exceptions", "mcp").ToolError

    @wraps(tool)
    def said(*args: Any, **arguments: Any) -> Any:
        try:
            return tool(*args, **arguments)
        except (ValueError, ZovizError) as refusal:
            raise error(str(refusal)) from refusal

    return said


def main(arguments: list[str] | None = None) -> None:
    """Serve over standard input and output until the client leaves."""
    parser = argparse.ArgumentParser(prog="python -m zoviz.adapters.mcp", description="Serve problems to an agent.")
    parser.add_argument("problems", nargs="+", metavar="MODULE:OBJECT", help="problem that may be solved")
    parser.add_argument("--calls", type=int, required=True, help="budget of all runs together")
    parser.add_argument("--store", default=os.environ.get("ZOVIZ_STORE", STORE_URL), help="store of the runs")
    parser.add_argument("--owner", help="person or agent whose runs alone are listed, read and resumed (everybody's)")
    parser.add_argument("--read-only", action="store_true", help="let runs be read only")
    args = parser.parse_args(arguments)
    try:
        problems = {path.rpartition(":")[2]: find_problem(path) for path in args.problems}
    except ValueError as error:
        parser.error(str(error))
    if len(problems) < len(args.problems):
        parser.error(f"Expected problems of different names, got {' '.join(args.problems)}.")
    server(Laboratory(problems, Store(args.store, owner=args.owner), args.calls, args.read_only)).run()


if __name__ == "__main__":
    main()
