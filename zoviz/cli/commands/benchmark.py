"""The command ``zoviz benchmark``: solvers on problems at equal budgets, with profiles and paired comparisons."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from zoviz.benchmark.cost import Cost, cost_of
from zoviz.benchmark.courses import LEVELS, Benchmark
from zoviz.benchmark.exchange.imported_runs import benchmark_of, join
from zoviz.benchmark.exchange.result_files import read_results
from zoviz.benchmark.exchange.tables import SUFFIXES, tidy, tidy_courses
from zoviz.benchmark.standard.forms import FORMS
from zoviz.benchmark.stored_study import StoredStudy
from zoviz.cli.benchmark_report import CUTS, TABLES, facts_of, tell
from zoviz.cli.build import dask, open_store
from zoviz.cli.command import FAILED, FINE, Command, UsageError, number, say, show
from zoviz.cli.help import CommandParser, RareGroup
from zoviz.cli.options import json_option, store_option
from zoviz.cli.parse import put
from zoviz.cli.progress import ended_by_sigterm
from zoviz.cli.standard_benchmark import run_standard
from zoviz.problems.find import find_problem
from zoviz.runs.engine.stopping import RunStatus
from zoviz.solvers.portfolio.choice import named
from zoviz.studies.study import Study

if TYPE_CHECKING:
    import pandas

_SWEEPS, _REPLICAS = 100.0, 5
_NAME = "benchmark"
_Item = TypeVar("_Item")


class _Benchmark(Command):
    name, order, help = "benchmark", 36, "compare solvers on many problems at equal budgets"
    examples = """  zoviz benchmark --problems LoadTracking:n=10 NonconvexQCQP:n=10 --solvers ZOSPLM ZOCEG
  zoviz benchmark --problems PressureVessel WeldedBeam --solvers auto COBYLA --save out.html
  zoviz benchmark --import data_for_loading.h5 --by dimension --export runs.csv table.tex
A run has reached level 1e-3 when at most 0.001 of the way from the start to the best known point,
with violations counted, is left. The same command again runs only what is missing."""

    def arguments(self, parser: CommandParser) -> None:
        pairs = "NAME[:p=v,...]"
        parser.add_argument("--problems", nargs="+", default=[], metavar=pairs, help="with values of parameters")
        parser.add_argument("--solvers", nargs="+", default=[], metavar=pairs, help="with values of parameters")
        sweeps = f"budget of a replica in units of n + 1 calls ({_SWEEPS:g})"
        parser.add_argument("--sweeps", type=float, default=_SWEEPS, metavar="B", help=sweeps)
        replicas = f"replicas of each problem and solver ({_REPLICAS})"
        parser.add_argument("--replicas", type=int, default=_REPLICAS, metavar="R", help=replicas)
        parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of all random numbers (0)")
        parser.add_argument("--noise", type=float, default=0.0, metavar="SD", help="standard deviation of noise (0)")
        parser.add_argument("--name", default="", help=f"name of the study in the store ({_NAME})")
        parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes (1)")
        parser.add_argument("--plan", action="store_true", help="estimate the cost by short trials, and run nothing")
        parser.add_argument("--save", metavar="FILE.html", help="write the profiles as a page for a browser")
        parser.add_argument(
            "--export", nargs="+", default=[], metavar="FILE", help="write .csv, .parquet, .nc, .tex or .md"
        )
        parser.add_argument("--quiet", action="store_true", help="no progress bar")
        store_option(parser)
        json_option(parser)
        self._rare_arguments(parser.add_rare_group("more options"))

    def _rare_arguments(self, group: RareGroup) -> None:
        """Declare what few people need."""
        levels = "shares of the way that may be left ({})".format(" ".join(f"{tau:g}" for tau in LEVELS))
        group.add_argument("--levels", nargs="+", type=float, default=list(LEVELS), metavar="TAU", help=levels)
        group.add_argument("--by", choices=list(CUTS), help="also show the share solved by kind or dimension")
        group.add_argument("--dask", metavar="ADDRESS", help="use the cluster of this Dask scheduler")
        profiles = "write the profiles at the second level (.csv, .parquet, .nc)"
        group.add_argument("--export-profiles", metavar="FILE", help=profiles)
        group.add_argument(
            "--import",
            nargs="+",
            default=[],
            dest="imports",
            metavar="FILE",
            help="results of OptiProfiler (.h5) or COCO (folder, .info, .zip, .tgz)",
        )
        group.add_argument(
            "--standard",
            nargs="?",
            const="quick",
            choices=list(FORMS),
            help="run zoviz's own benchmark: quick (minutes), full (hours) or expensive (few calls)",
        )
        group.add_argument("--record", metavar="FOLDER", help="write the results of --standard there")

    def run(self, args: argparse.Namespace) -> int:
        if args.standard:
            return run_standard(args, args.name or f"standard {args.standard} {version('zoviz')}")
        _check(args)
        args.name = args.name or _NAME
        imported = read_results(args.imports)
        for remark in imported.remarks:
            say(remark)
        if not args.problems:
            bench = benchmark_of(imported.runs).benchmark
            tell(bench, facts_of(bench), args, lambda: tidy_courses(bench))
            return FINE
        problems = _by_word(args.problems, find_problem)
        if args.noise:
            for word, problem in problems.items():
                _assign(problem, word, f"noise_scale={args.noise!r}")
                if problem.contract == "deterministic":  # else its values would stay as they are
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
        definition = study.definition
        joined = join(Benchmark.of_study(study), definition.problems, definition.tolerance, imported.runs)
        for remark in joined.remarks:
            say(remark)
        tell(joined.benchmark, definition.problems, args, lambda: _runs(study, joined.benchmark))
        failures = [one.message for one in study.store.runs(study=args.name, status=RunStatus.FAILED)]
        if failures:
            say(f"{len(failures)} of {len(study.cells)} runs failed and count as unsolved, one with: {failures[0]}")
        return FAILED if failures else FINE


def _check(args: argparse.Namespace) -> None:
    """Say what of the arguments cannot be served, before anything is run."""
    if bool(args.problems) != bool(args.solvers) or not (args.problems or args.imports):
        raise UsageError("Expected --problems and --solvers, or --import with files of results, got neither.")
    if args.save and Path(args.save).suffix != ".html":
        raise UsageError(f"Expected a file with the suffix .html for --save, got {args.save!r}.")
    wrong = [tau for tau in args.levels if not 0.0 < tau < 1.0]
    if wrong or not args.sweeps > 0.0:
        raise UsageError(f"Expected levels between 0 and 1 and sweeps above 0, got {wrong or args.sweeps}.")
    profiles = [args.export_profiles] if args.export_profiles else []
    for paths, suffixes in ((args.export, (*SUFFIXES, *TABLES)), (profiles, SUFFIXES)):
        for path in paths:
            if Path(path).suffix not in suffixes:
                raise UsageError(f"Expected a file that ends in {', '.join(suffixes)}, got {path!r}.")


def _runs(study: Study, bench: Benchmark) -> pandas.DataFrame:
    """Return a line for each replica of a study and of what is imported."""
    stored = StoredStudy(study.store, study.name)
    while (snapshot := stored.read()).unread:  # as many at a time as there is time for on a page
        pass
    return tidy(snapshot, bench)


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
            f"{cost.runs} runs to do, {cost.calls} calls in all: about {number(cost.seconds / processes, 2)} s "
            f"on {processes} processor{'s' * (processes > 1)}, estimated from short trials of {cost.tried} runs."
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
    put(item, own, f"{parameter} of {name}", text)


COMMAND = _Benchmark()
