"""Builds a problem, a solver and a run's settings from the words of a command line."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import Any

import param

from zoviz.cli.command import UsageError, say
from zoviz.cli.parse import assign, put, split
from zoviz.core import defaults
from zoviz.core.optional import require
from zoviz.evaluation.program import words
from zoviz.problems.base import Problem
from zoviz.problems.find import find_problem, import_from_working_folder
from zoviz.problems.user.executable import Executable
from zoviz.runs.engine.confidence import CONFIDENT
from zoviz.runs.engine.spec import EVERY_CALL, SETTINGS, RunSpec
from zoviz.runs.store import Store
from zoviz.runs.stored_run import StoredRun
from zoviz.solvers.base import Solver
from zoviz.solvers.parameter_lookup import settable
from zoviz.solvers.portfolio.choice import AUTO, matched


def make(args: argparse.Namespace, pairs: Sequence[tuple[str, str]] | None = None) -> tuple[Problem, Solver]:
    """Build problem and solver from the words, with the given parameters set; say which solver was chosen."""
    plain, assignments = split(args.words)
    if args.exe:
        plain = ["", *plain]
    if len(plain) > 2 or not plain:
        raise UsageError(
            f"Expected a problem, a solver and name=value, got {' '.join(plain) or 'nothing'}: see zoviz problems."
        )
    workers = _workers(args)
    problem = executable(args, workers) if args.exe else find_problem(plain[0])
    if workers is not None and not args.exe:
        _employ(problem, workers)
    assignments = assignments if pairs is None else list(pairs)
    _set_up(problem, assignments)  # first: the choice of a method depends on it
    problem, solver, reason = matched(problem, plain[1] if len(plain) == 2 else AUTO, args.calls)
    if reason:
        say(reason)
    for name, text in assignments:
        assign(problem, solver, name, text)
    return problem, solver


def _set_up(problem: Problem, assignments: Sequence[tuple[str, str]]) -> None:
    """Set the parameters that are the problem's, all at once: a start goes with its bounds."""
    names = settable(problem)
    with param.parameterized.batch_call_watchers(problem):
        for name, text in assignments:
            own = name.removeprefix("problem.")
            if own in names:
                put(problem, own, name, text)


def _workers(args: argparse.Namespace) -> Any:
    """Who evaluates: a number, the executor of a cluster, or None."""
    if args.dask is None:
        return args.workers
    if args.workers is not None:
        raise UsageError("Expected --workers or --dask, got both.")
    return dask(args.dask)


def _employ(problem: Problem, workers: Any) -> None:
    """Have the problem evaluated by these workers."""
    if "workers" not in problem.param:
        raise UsageError(
            f"Expected a problem of your own for --workers or --dask, got {type(problem).__name__}: leave it out."
        )
    with param.edit_constant(problem):
        problem.param.update(workers=workers)


def executable(args: argparse.Namespace, workers: Any) -> Executable:
    """Build the problem of a user's program."""
    if not args.bounds and not args.x0:
        raise UsageError("Expected --bounds or --x0 with --exe, got neither: say how many variables there are.")
    return Executable(
        args.exe,
        bounds=_bounds(args.bounds),
        x0=_numbers(args.x0),
        m=None if args.output_types else args.constraints or 0,
        format=args.format,
        output_types=args.output_types,
        workers=workers,
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
        raise UsageError(f"Expected numbers separated by commas, got {text!r}.") from None


def _bounds(text: str | None) -> list[tuple[float, float]] | None:
    if text is None:
        return None
    bounds = []
    for part in text.split(","):
        pair, _, times = part.partition("*")
        try:
            low, high = (float(one) for one in pair.split(":"))
            bounds += [(low, high)] * (int(times) if times else 1)
        except ValueError:
            raise UsageError(f"Expected bounds such as 0:1,-2:2*3, got {part!r}.") from None
    return bounds


def dask(address: str) -> Any:
    """Return a Dask cluster's executor."""
    distributed: Any = require("distributed", "dask", "--dask")
    return distributed.Client(address, timeout="10s").get_executor()


def spec(args: argparse.Namespace, problem: Problem, solver: Solver) -> RunSpec:
    """Return the description of the run that the options ask for; without any budget it gets one of calls."""
    settings = {name: value for name, value in vars(args).items() if name in SETTINGS and value is not None}
    own = bool(args.exe)
    settings.setdefault("replicas", 1 if own or not problem.analytic else defaults.REPLICAS)
    if own or not problem.analytic:
        settings.setdefault("stop_when", CONFIDENT)
    settings["targets"] = targets(args.target)
    settings["checkpoint"] = _checkpoint(args.checkpoint or (EVERY_CALL if own else str(defaults.CHECKPOINT_SECONDS)))
    description = RunSpec(problem, solver, **settings)
    return description if description.ends else description.replaced(calls=defaults.calls_for(problem.domain.n))


def _checkpoint(text: str) -> float | str:
    if text == EVERY_CALL:
        return text
    try:
        return float(text)
    except ValueError:
        raise UsageError(f'Expected seconds or "{EVERY_CALL}" for --checkpoint, got {text!r}.') from None


def targets(pairs: Sequence[str]) -> dict[str, list[float]]:
    """Parse the targets, such as ``gap=1e-2``."""
    plain, assignments = split(pairs)
    thresholds: dict[str, list[float]] = {}
    try:
        for name, value in assignments:
            thresholds.setdefault(name, []).append(float(value))
    except ValueError:
        plain = list(pairs)
    if plain:
        raise UsageError(f"Expected --target NAME=VALUE such as gap=1e-2, got {' '.join(plain)!r}.")
    return thresholds


def trusted(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the modules and programs on the command line, from which a stored run may be rebuilt."""
    own = [word.partition(":")[0] for word in getattr(args, "words", []) if ":" in word and "=" not in word]
    names = getattr(args, "trust", [])
    if names:
        import_from_working_folder()
    programs = [shlex.join(words(name, form)) for name in names for form in ("text", "nomad")]
    return (*own, *names, *programs)


def open_store(args: argparse.Namespace, create: bool = False, own: bool = True) -> Store:
    """Open the store that the command line names, created if need be and allowed; closed when the command ends."""
    return args.closing.enter_context(Store(args.store, trusted=trusted(args), own=own, create=create))


def load(store: Store, id: str) -> StoredRun:
    """Return a stored run by any unique beginning of its id; one's own modules are found in the working folder."""
    stored = store.load(id)
    if stored.own:
        import_from_working_folder()
    return stored
