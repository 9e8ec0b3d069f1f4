"""The command ``zoviz sweep``: runs over a grid or random draws of parameters."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from zoviz.cli.build import dask, make, open_store, spec
from zoviz.cli.command import FAILED, FINE, Command, UsageError, number, say, show, table
from zoviz.cli.help import CommandParser
from zoviz.cli.options import json_option, run_options, store_option
from zoviz.cli.parse import read, split
from zoviz.problems.base import Problem
from zoviz.runs.engine.spec import SHARED
from zoviz.runs.engine.stopping import RunStatus
from zoviz.solvers.base import Solver
from zoviz.solvers.parameter_lookup import owner
from zoviz.studies.study import Study, draws, grid


class _Sweep(Command):
    name, order, help = "sweep", 33, "run a solver with a grid or with random draws of its parameters"
    operands = "PROBLEM SOLVER NAME=VALUES ... "
    examples = """  zoviz sweep LoadTracking ZOBCEG estimator.block_size=1,5,20 --calls 20000
  zoviz sweep NonconvexQCQP ZOSPLM n=20 primal_step=log:1e-3:1e-1:5 dual_step=lin:0.1:1:5
  zoviz sweep LoadTracking ZOEG primal_step=log:1e-4:1e-1 --random 50 --name steps
log:1e-3:1e-1:5 is five values, evenly spaced on a logarithmic scale; lin: on a linear one.
The same command again resumes what was interrupted and repeats what failed."""

    def arguments(self, parser: CommandParser) -> None:
        run_options(parser)
        parser.add_argument("--name", help="name of the study (default: problem and solver)")
        parser.add_argument("--random", type=int, metavar="N", help="N random draws instead of a grid")
        parser.add_argument("--sweep-seed", type=int, default=0, metavar="N", help="seed of the random draws (0)")
        parser.add_argument("--keep-failed", action="store_true", help="do not repeat failed runs")
        parser.add_argument("--quiet", action="store_true", help="no progress bar")
        store_option(parser)
        json_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        executor = dask(args.dask) if args.dask else None
        workers, args.dask, args.workers = args.workers or 1, None, None
        pairs = split(args.words)[1]
        many = [(name, text) for name, text in pairs if _several(text)]
        problem, solver = make(args, [pair for pair in pairs if pair not in many])
        description = spec(args, problem, solver)
        study = Study(
            args.name or description.label or f"{type(problem).__name__} {type(solver).__name__}",
            problem,
            solver,
            values=_sets(problem, solver, many, args),
            seeds=(description.seed,),
            store=open_store(args, create=True),
            **{name: description.settings[name] for name in SHARED},
        )
        study.run(workers=workers, executor=executor, progress=not args.quiet, keep_failed=args.keep_failed)
        return _tell(study, args.json)


def _several(text: str) -> bool:
    return "," in text or text.startswith(("log:", "lin:"))


def _sets(
    problem: Problem, solver: Solver, many: Sequence[tuple[str, str]], args: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return the parameter sets that the words stand for."""
    if args.random is None:
        return grid({name: _values(problem, solver, name, text) for name, text in many})
    ranges = {}
    for name, text in many:
        owner(problem, solver, name)
        kind, *ends = text.split(":")
        if kind not in ("log", "lin") or len(ends) != 2:
            raise UsageError(f"Expected {name}=log:low:high or lin:low:high with --random, got {text!r}.")
        ranges[name] = (kind, _float(ends[0], name), _float(ends[1], name))
    return draws(ranges, args.random, args.sweep_seed)


def _values(problem: Problem, solver: Solver, name: str, text: str) -> list[Any]:
    """Return the values of one parameter, in its type."""
    holder, own = owner(problem, solver, name)
    kind, *ends = text.split(":")
    if kind not in ("log", "lin"):
        return [read(holder.param[own], one.strip(), name) for one in text.split(",")]
    if len(ends) != 3:
        raise UsageError(f"Expected {kind}:low:high:count for {name}, got {text!r}.")
    low, high, count = _float(ends[0], name), _float(ends[1], name), int(_float(ends[2], name))
    space = np.geomspace if kind == "log" else np.linspace
    return [read(holder.param[own], repr(float(value)), name) for value in space(low, high, count)]


def _float(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"Expected a number for {name}, got {text!r}.") from None


def _tell(study: Study, as_json: bool) -> int:
    """Return the table: one line a cell."""
    rows = study.table()
    statuses = study.statuses()
    lines = []
    for cell in study.cells:
        own = [row for row in rows if row["id"] == cell.id]
        f, v = (np.array([row[name] for row in own]) for name in ("objective", "violation"))
        line = {"id": cell.id[:8], **cell.values, "status": statuses[cell.id] or "missing"}
        line |= {"objective": float(f.mean()) if f.size else None, "violation": float(v.max()) if v.size else None}
        lines.append(line | {"calls": max((row["calls"] for row in own), default=0)})
    if as_json:
        show({"study": study.name, "refusals": study.refusals, "runs": lines, "replicas": rows})
    else:
        table(
            [name.upper() for name in lines[0]] if lines else ["NOTHING"],
            [[_spell(v) for v in one.values()] for one in lines],
        )
        for reason in study.refusals:
            say(f"Left out: {reason}")
        say(f"Study {json.dumps(study.name)}: zoviz runs list --study {json.dumps(study.name)}")
    failed = [line["id"] for line in lines if line["status"] == RunStatus.FAILED]
    if failed:
        say(
            f"{len(failed)} of {len(lines)} runs failed (zoviz runs show {failed[0]} says why): the same "
            "command repeats them, unless --keep-failed is given."
        )
    return FAILED if failed else FINE


def _spell(value: Any) -> str:
    return number(value) if isinstance(value, float) or value is None else str(value)


COMMAND = _Sweep()
