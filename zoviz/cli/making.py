"""From the words of a command line to a problem, a solver and a run."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from zoviz import registry
from zoviz.cli.command import UsageError
from zoviz.cli.values import assign, split
from zoviz.problems.base import Problem
from zoviz.problems.executable import Executable
from zoviz.runs.methods import choose, named
from zoviz.runs.run import Run
from zoviz.runs.store import Store
from zoviz.solvers.base import Solver

DEFAULT_STORE = "sqlite:///zoviz.db"


def store_option(parser: argparse.ArgumentParser) -> None:
    """``--store``."""
    parser.add_argument(
        "--store",
        metavar="URL",
        default=os.environ.get("ZOVIZ_STORE", DEFAULT_STORE),
        help="where runs are kept: %(default)s",
    )


def json_option(parser: argparse.ArgumentParser) -> None:
    """``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run_options(parser: argparse.ArgumentParser) -> None:
    """Options that make a run, shared by the commands that make some."""
    parser.add_argument("words", nargs="*", metavar="PROBLEM SOLVER NAME=VALUE", help="see the examples")
    budget = parser.add_argument_group("budgets (the first that is spent ends the run; default: 1000 (n + 1) calls)")
    budget.add_argument("--calls", type=int, metavar="N", help="oracle calls of each replica")
    budget.add_argument("--iterations", type=int, metavar="N")
    budget.add_argument("--seconds", type=float, metavar="S", help="of computing")
    budget.add_argument(
        "--target", action="append", default=[], metavar="NAME=VALUE", help="first hit to record: gap=1e-2"
    )
    budget.add_argument("--stop-at-targets", action="store_true", help="end when every replica has hit every target")
    parser.add_argument("--replicas", type=int, metavar="R", help="independent runs in lock-step (8; 1 for a program)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--label", default="", help="name for people")
    parser.add_argument("--tag", action="append", default=[], help="may be given more than once")
    exe = parser.add_argument_group("your own program as the problem")
    exe.add_argument(
        "--exe", metavar="COMMAND", help='such as "./sim {input} {output}"; without these, stdin and stdout'
    )
    exe.add_argument("--bounds", metavar="LOW:HIGH,...", help="of the variables; LOW:HIGH*5 is five times the same")
    exe.add_argument("--x0", metavar="X,...", help="start; default: the middle of the bounds")
    exe.add_argument("--constraints", type=int, metavar="M", help="numbers after f in the output (0)")
    exe.add_argument("--format", choices=("text", "json", "nomad"), default="text")
    exe.add_argument("--output-types", metavar="TYPES", help='in NOMAD\'s names, such as "OBJ PB PB"')
    exe.add_argument("--timeout", type=float, metavar="S", help="seconds that one launch may take")
    exe.add_argument("--retries", type=int, default=0, help="launches after one that failed")
    exe.add_argument("--folder", help="working folder of all launches (a fresh one for each)")
    exe.add_argument("--log-folder", help="where what the program prints is kept")
    exe.add_argument("--workers", type=int, metavar="N", help="launches (or calls of your own function) at once")
    exe.add_argument("--dask", metavar="ADDRESS", help="have them done by a Dask cluster: tcp://host:8786")


def make(args: argparse.Namespace, pairs: Sequence[tuple[str, str]] | None = None) -> tuple[Problem, Solver]:
    """Problem and solver as the words say, with the given parameters set."""
    plain, given = split(args.words)
    if args.exe:
        plain = ["", *plain]
    if len(plain) > 2 or not plain:
        raise UsageError(
            f"Expected a problem, a solver and name=value, got {' '.join(plain) or 'nothing'}: see zoviz problems."
        )
    problem = executable(args) if args.exe else find_problem(plain[0])
    if getattr(args, "dask", None):
        problem.workers = dask(args.dask)
    elif args.workers is not None and not args.exe:
        if "workers" not in problem.param:
            raise UsageError(
                f"Expected a problem of your own for --workers, got {type(problem).__name__}: leave it out."
            )
        problem.workers = args.workers
    solver = named(plain[1]) if len(plain) == 2 else None
    calls = args.calls or 1000 * (problem.domain.n + 1)
    solver = solver or choose(problem, calls)[0]
    for name, text in given if pairs is None else pairs:
        assign(problem, solver, name, text)
    return problem, solver


def find_problem(name: str) -> Problem:
    """A problem by its class's name, or the object that ``module:object`` names.

    Raises
    ------
    UsageError
        For no such module or object, or one that is not a problem.
    """
    if ":" not in name:
        return registry.named("zoviz.problems", Problem, name, "problem")()
    module, _, path = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # a console script has its own folder there instead
    try:
        found = getattr(importlib.import_module(module), path)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"Expected module:object of a problem, got {name!r}: {error}.") from error
    found = found() if isinstance(found, type) and issubclass(found, Problem) else found
    if not isinstance(found, Problem):
        raise UsageError(f"Expected a zoviz problem in {name!r}, got {type(found).__name__}: wrap it in BlackBox(...).")
    return found


def executable(args: argparse.Namespace) -> Executable:
    """The user's program."""
    if not args.bounds and not args.x0:
        raise UsageError("Expected --bounds or --x0 with --exe, got neither: say how many variables there are.")
    return Executable(
        args.exe,
        bounds=_bounds(args.bounds),
        x0=_numbers(args.x0),
        m=None if args.output_types else args.constraints or 0,
        format=args.format,
        output_types=args.output_types,
        workers=args.workers,
        timeout=args.timeout,
        retries=args.retries,
        folder=args.folder,
        log_folder=args.log_folder,
    )


def _numbers(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(one) for one in text.replace(",", " ").split()]
    except ValueError:
        raise UsageError(f"Expected numbers with commas between them, got {text!r}.") from None


def _bounds(text: str | None) -> list[tuple[float, float]] | None:
    if text is None:
        return None
    found = []
    for part in text.split(","):
        pair, _, times = part.partition("*")
        try:
            low, high = (float(one) for one in pair.split(":"))
            found += [(low, high)] * (int(times) if times else 1)
        except ValueError:
            raise UsageError(f"Expected bounds such as 0:1,-2:2*3, got {part!r}.") from None
    return found


def dask(address: str) -> Any:
    """The executor of a Dask cluster."""
    try:
        from distributed import Client
    except ImportError:
        raise UsageError('Expected Dask for --dask, got none: run python -m pip install "zoviz[dask]".') from None
    return Client(address, timeout="10s").get_executor()


def settings(args: argparse.Namespace, problem: Problem) -> dict[str, Any]:
    """Parameters of the run but problem and solver."""
    budgets = {name: getattr(args, name) for name in ("calls", "iterations", "seconds")}
    if not any(budgets.values()) and not (args.stop_at_targets and args.target):
        budgets["calls"] = 1000 * (problem.domain.n + 1)
    own = bool(args.exe)
    return {
        **budgets,
        "replicas": args.replicas if args.replicas is not None else 1 if own or not problem.analytic else 8,
        "seed": args.seed,
        "label": args.label,
        "targets": targets(args.target),
        "stop_at_targets": args.stop_at_targets,
    }


def targets(words: Sequence[str]) -> dict[str, list[float]]:
    """First hits to record, from ``gap=1e-2``."""
    plain, pairs = split(words)
    found: dict[str, list[float]] = {}
    try:
        for name, value in pairs:
            found.setdefault(name, []).append(float(value))
    except ValueError:
        plain = list(words)
    if plain:
        raise UsageError(f"Expected --target NAME=VALUE such as gap=1e-2, got {' '.join(plain)!r}.")
    return found


def trusted(args: argparse.Namespace) -> tuple[str, ...]:
    """Modules that the command line itself names: what a stored run may be rebuilt from."""
    words = [*getattr(args, "words", []), *getattr(args, "trust", [])]
    return tuple(word.partition(":")[0] for word in words if ":" in word and "=" not in word)


def open_store(args: argparse.Namespace) -> Store:
    """The store that the command line names."""
    return Store(args.store, trusted=trusted(args))


def run_of(problem: Problem, solver: Solver, store: Store | None, **options: Any) -> Run:
    """A run, kept in the store."""
    return Run(problem=problem, solver=solver, **({} if store is None else {"store": store}), **options)
