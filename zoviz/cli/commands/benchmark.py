"""The command ``zoviz benchmark``: solvers on problems at equal budgets, with profiles and paired comparisons."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from zoviz.benchmark.cost import Cost, cost_of
from zoviz.benchmark.courses import Benchmark, Hits
from zoviz.benchmark.paired_comparison import Comparison, Decision
from zoviz.benchmark.profiles import data_profile, performance_profile
from zoviz.benchmark.report import compared_solvers, shares
from zoviz.benchmark.running_time import expected_running_time
from zoviz.cli.build import dask, find_problem, open_store
from zoviz.cli.command import FAILED, FINE, Command, UsageError, number, say, show, table
from zoviz.cli.options import json_option, store_option
from zoviz.cli.parse import read
from zoviz.cli.progress import ended_by_sigterm
from zoviz.runs.engine.stopping import RunStatus
from zoviz.solvers.portfolio.choice import named
from zoviz.studies.study import Study

_LEVELS = (1e-1, 1e-3, 1e-5)
_SWEEPS, _REPLICAS = 100.0, 5
_Item = TypeVar("_Item")


class _Benchmark(Command):
    name, order, help = "benchmark", 36, "set solvers against each other on problems, at equal budgets"
    examples = """  zoviz benchmark --problems LoadTracking:n=10 NonconvexQCQP:n=10 --solvers ZOSPLM ZOCEG ZOBCEG
  zoviz benchmark --problems Suite:problem_name=HS43 PressureVessel --solvers auto COBYLA --sweeps 50 --save out.html
A problem or a solver may be followed by parameters: NAME:parameter=value,parameter=value. The budget is in sweeps of
n + 1 calls. The same command again does what is missing; with more solvers or problems it does these alone.
A run has reached a level, say 1e-3, when at most this share of the way from the start to the best point is left: to
the known optimum, else to the best that any of the runs met. Violations count on the way, as in OptiProfiler."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's options."""
        parser.add_argument("--problems", nargs="+", required=True, metavar="NAME[:p=v,...]")
        parser.add_argument("--solvers", nargs="+", required=True, metavar="NAME[:p=v,...]")
        parser.add_argument("--sweeps", type=float, default=_SWEEPS, help=f"of n + 1 calls ({_SWEEPS:g})")
        parser.add_argument("--replicas", type=int, default=_REPLICAS, help=f"of every pair ({_REPLICAS})")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--noise", type=float, default=0.0, metavar="SD", help="of values, where a problem has it")
        parser.add_argument("--levels", nargs="+", type=float, default=list(_LEVELS), metavar="TAU")
        parser.add_argument("--name", default="benchmark", help="of the study in the store (benchmark)")
        parser.add_argument("--workers", type=int, default=1, help="processes (1)")
        parser.add_argument("--dask", metavar="ADDRESS", help="a cluster's scheduler instead")
        parser.add_argument("--save", metavar="FILE.html", help="profiles at the second level, which any browser shows")
        parser.add_argument("--plan", action="store_true", help="tell what it costs, by short trials, and run nothing")
        parser.add_argument("--quiet", action="store_true", help="no progress bar")
        store_option(parser)
        json_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Run what is missing, and print the tables."""
        if args.save and Path(args.save).suffix != ".html":
            raise UsageError(f"Expected a file with the suffix .html for --save, got {args.save!r}.")
        wrong = [tau for tau in args.levels if not 0.0 < tau < 1.0]
        if wrong or not args.sweeps > 0.0:
            raise UsageError(f"Expected levels between 0 and 1 and sweeps above 0, got {wrong or args.sweeps}.")
        problems = _by_word(args.problems, find_problem)
        if args.noise:
            for word, problem in problems.items():
                _assign(problem, word, f"noise_scale={args.noise!r}")
                if problem.noise == "deterministic":  # else its values would stay as they are
                    _assign(problem, word, "noise=independent")
        study = Study(
            args.name,
            problems,
            _by_word(args.solvers, named),
            seeds=(args.seed,),
            replicas=args.replicas,
            sweeps=args.sweeps,
            store=open_store(args, create=True),
            command=command_of(args),
        )
        for reason in study.refusals:
            say(f"Left out: {reason}")
        if args.plan:
            return _tell_cost(cost_of(study), args)
        with ended_by_sigterm():
            study.run(workers=args.workers, executor=dask(args.dask) if args.dask else None, progress=not args.quiet)
        bench = Benchmark.of_study(study)
        levels = {tau: bench.hits(tau) for tau in args.levels}
        comparisons = compared_solvers(bench)
        if args.json:
            show(_plain(bench, levels, comparisons))
        else:
            _tell(bench, levels, comparisons)
        if args.save:
            _draw(levels[args.levels[min(1, len(args.levels) - 1)]], args)
        failures = [one.message for one in study.store.runs(study=args.name, status=RunStatus.FAILED)]
        if failures:
            say(f"{len(failures)} of {len(study.cells)} runs failed and count as unsolved, one with: {failures[0]}")
        return FAILED if failures else FINE


def command_of(args: argparse.Namespace) -> list[str]:
    """Return the arguments that make the same study again."""
    words = ["--name", args.name, "--problems", *args.problems, "--solvers", *args.solvers]
    for name in ("sweeps", "replicas", "seed", "noise", "workers"):
        words += [f"--{name}", str(getattr(args, name))]
    return words


def _tell_cost(cost: Cost, args: argparse.Namespace) -> int:
    """Print what is missing of a study, and what it costs."""
    processes = max(1, min(args.workers, os.cpu_count() or 1))
    if args.json:
        show(cost._asdict() | {"processes": processes})
    else:
        print(
            f"{cost.runs} runs are missing, {cost.calls} calls in all: about {number(cost.seconds / processes, 2)} s "
            f"on {processes} processor{'s' * (processes > 1)}, by trials of {cost.tried} of them."
        )
    return FINE


def _by_word(words: Sequence[str], find: Callable[[str], _Item]) -> dict[str, _Item]:
    """Return problems or solvers by the words that name them, with the parameters that follow a colon set."""
    items: dict[str, _Item] = {}
    for word in words:
        name, _, rest = word.partition(":")
        if rest and "=" not in rest:  # module:object
            name, rest = word, ""
        item: Any = find(name)
        for pair in filter(None, rest.split(",")):
            _assign(item, name, pair)
        items[word] = item
    return items


def _assign(item: Any, name: str, pair: str) -> None:
    """Set one parameter, such as ``n=5`` or ``estimator.batch_size=2``."""
    parameter, sign, text = pair.partition("=")
    *path, own = parameter.split(".")
    for part in path:
        item = getattr(item, part, None)
    if not sign or own not in getattr(item, "param", ()):
        raise UsageError(f"Expected parameters of {name} such as name=value after the colon, got {pair!r}.")
    try:
        setattr(item, own, read(item.param[own], text, parameter))
    except (ValueError, TypeError) as error:
        raise UsageError(f"Expected another value for {parameter} of {name}, got {text!r}: {error}") from None


def _tell(bench: Benchmark, levels: dict[float, Hits], comparisons: Sequence[Comparison]) -> None:
    """Print shares solved, running times, the problems one by one, and the comparisons."""
    heads = [f"SOLVED TO {tau:g}" for tau in levels]
    rows = []
    for s, solver in enumerate(bench.solvers):
        solved = [np.nanmean(shares(hits)[:, s]) for hits in levels.values()]
        rows.append([solver, *(f"{100 * share:.0f} %" for share in solved)])
    table(["SOLVER", *heads], rows, "l" + "r" * len(heads))
    tau, hits = list(levels.items())[min(1, len(levels) - 1)]
    ert = expected_running_time(hits) / (hits.dimensions[:, None] + 1.0)
    print(f"\nSweeps to {tau:g} in the mean, failed runs counted in full (ERT); - where no run reached it")
    lines = [[name, *(number(float(one), 3) for one in ert[p])] for p, name in enumerate(bench.problems)]
    table(["PROBLEM", *bench.solvers], lines, "l" + "r" * len(bench.solvers))
    if comparisons:
        print("\nWhat is left of the way at the end, problem by problem (signed ranks, corrected by Holm)")
        table(["", "", "", "P"], [[one.first, _spoken(one), one.second, number(one.p_value, 2)] for one in comparisons])


def _spoken(one: Comparison) -> str:
    words = {Decision.BETTER: "is better than", Decision.WORSE: "is worse than"}
    return words.get(one.decision, "cannot be told from")


def _plain(bench: Benchmark, levels: dict[float, Hits], comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Return the tables for JSON."""
    return {
        "problems": bench.problems,
        "solvers": bench.solvers,
        "levels": [
            {"level": tau, "solved": shares(hits), "calls": hits.calls, "ert": expected_running_time(hits)}
            for tau, hits in levels.items()
        ],
        "comparisons": [one._asdict() for one in comparisons],
    }


def _draw(hits: Hits, args: argparse.Namespace) -> None:
    """Write both profiles, with all that they need inside."""
    import holoviews as hv
    from bokeh.resources import INLINE

    from zoviz.views.plots.static import profile_figure

    sweeps = profile_figure(data_profile(hits), "Data profile", "calls / (n + 1)")
    ratios = profile_figure(performance_profile(hits), "Performance profile", "calls / fewest calls of a solver")
    hv.save((sweeps + ratios).cols(1).opts(sizing_mode="stretch_width"), args.save, backend="bokeh", resources=INLINE)
    say(f"Written to {args.save}.")


COMMAND = _Benchmark()
