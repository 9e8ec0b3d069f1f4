"""Options that several commands have."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import param

from zoviz.cli.help import CommandParser, RareGroup
from zoviz.core import defaults
from zoviz.runs.engine.spec import RunSettings
from zoviz.runs.engine.stopping import BUDGETS

_USUAL = ("calls", "seconds")
"""Budgets that the help shows first."""


def store_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--store``, the store's URL."""
    default = defaults.store_url()  # not shown: it may hold a password
    parser.add_argument(
        "--store",
        metavar="URL",
        default=default,
        help=f"where runs are stored (${defaults.STORE_VARIABLE}, else {defaults.STORE_URL})",
    )


def trust_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--trust``, what a stored run may be rebuilt from."""
    parser.add_argument(
        "--trust",
        action="append",
        default=[],
        metavar="NAME",
        help="a module or program of yours that the stored run may use",
    )


def json_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--json``, results as JSON."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def budget_options(group: argparse._ActionsContainer | RareGroup, names: Iterable[str], default: str = "") -> None:
    """Declare an option for each of some budgets, as ``RunSettings`` describes it."""
    for name in names:
        setting = RunSettings.param[name]
        kind, metavar = (int, "N") if isinstance(setting, param.Integer) else (float, "S")
        doc = setting.doc or ""
        line = f"{doc[0].lower()}{doc[1:-1]}{default}"
        group.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar=metavar, help=line)


def run_options(parser: CommandParser) -> None:
    """Declare the options that make a run, for the commands that make one."""
    words = "problem, solver (else one is chosen), and values of their parameters"
    parser.add_argument("words", nargs="*", metavar="PROBLEM SOLVER NAME=VALUE", help=words)
    budget_options(parser, _USUAL)
    parser.add_argument("--replicas", type=int, metavar="R", help="independent runs at once (8; 1 for a program)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of all random numbers (0)")
    parser.add_argument("--label", default="", metavar="NAME", help="name of the run")
    _program_options(parser)
    more = parser.add_rare_group("other ends of a run (whichever comes first)")
    budget_options(more, [name for name in BUDGETS if name not in _USUAL])
    more.add_argument(
        "--target", action="append", default=[], metavar="NAME=VALUE", help="record the first hit, such as gap=1e-2"
    )
    more.add_argument("--stop-at-targets", action="store_true", help="end when every replica has hit every target")
    more.add_argument(
        "--checkpoint", metavar="S", help='seconds between two checkpoints (1), or "every call" (for a program)'
    )


def _program_options(parser: CommandParser) -> None:
    """Declare the options of a program that computes the values."""
    exe = parser.add_argument_group("your own program as the problem")
    exe.add_argument(
        "--exe", metavar="COMMAND", help=('such as "./sim {input} {output}"; without these, by stdin and stdout')
    )
    exe.add_argument("--bounds", metavar="LOW:HIGH,...", help="of the variables; LOW:HIGH*5 is five times the same")
    exe.add_argument("--x0", metavar="X,...", help="starting point (default: drawn from the bounds by the seed)")
    exe.add_argument("--constraints", type=int, metavar="M", help="number of constraint values after f (0)")
    exe.add_argument("--workers", type=int, metavar="N", help="parallel launches, or calls of your own function")
    more = parser.add_rare_group("more about your own program")
    more.add_argument("--format", choices=("text", "json", "nomad"), default="text", help="of input and output (text)")
    more.add_argument("--output-types", metavar="TYPES", help='in NOMAD\'s names, such as "OBJ PB PB"')
    more.add_argument("--timeout", type=float, metavar="S", help="time limit of one launch in seconds")
    more.add_argument("--retries", type=int, default=0, metavar="N", help="repeated launches after a failure (0)")
    more.add_argument("--folder", help="working folder of all launches (default: a new one for each)")
    more.add_argument("--log-folder", metavar="FOLDER", help="folder for what the program prints")
    more.add_argument("--dask", metavar="ADDRESS", help="launch on a Dask cluster: tcp://host:8786")
