"""Options that several commands have."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import param

from zoviz.core import defaults
from zoviz.runs.engine.spec import RunSettings
from zoviz.runs.engine.stopping import BUDGETS


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
        help="a module of yours, or a program, that the stored run may use; nothing else is imported or launched",
    )


def json_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--json``, results as JSON."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def budget_options(group: argparse._ActionsContainer, names: Iterable[str] = BUDGETS, more: str = "") -> None:
    """Declare an option for each of some budgets, as ``RunSettings`` describes it."""
    for name in names:
        setting = RunSettings.param[name]
        kind, metavar = (int, "N") if isinstance(setting, param.Integer) else (float, "S")
        group.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar=metavar, help=f"{setting.doc}{more}")


def run_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options that make a run, for the commands that make one."""
    parser.add_argument("words", nargs="*", metavar="PROBLEM SOLVER NAME=VALUE", help="see the examples")
    budget = parser.add_argument_group("budgets (the first one used up ends the run; default: 1000 (n + 1) calls)")
    budget_options(budget)
    budget.add_argument(
        "--target", action="append", default=[], metavar="NAME=VALUE", help="record the first hit, such as gap=1e-2"
    )
    budget.add_argument("--stop-at-targets", action="store_true", help="end when every replica has hit every target")
    parser.add_argument("--replicas", type=int, metavar="R", help="independent runs in lock-step (8; 1 for a program)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--label", default="", help="name of the run")
    parser.add_argument(
        "--checkpoint",
        metavar="S",
        help='seconds between two checkpoints (1), or "every call": the default for a program',
    )
    exe = parser.add_argument_group("your own program as the problem")
    exe.add_argument(
        "--exe", metavar="COMMAND", help='such as "./sim {input} {output}"; without these, stdin and stdout'
    )
    exe.add_argument("--bounds", metavar="LOW:HIGH,...", help="of the variables; LOW:HIGH*5 is five times the same")
    exe.add_argument("--x0", metavar="X,...", help="start; default: drawn from the bounds, by the seed")
    exe.add_argument("--constraints", type=int, metavar="M", help="number of constraint values after f (0)")
    exe.add_argument("--format", choices=("text", "json", "nomad"), default="text")
    exe.add_argument("--output-types", metavar="TYPES", help='in NOMAD\'s names, such as "OBJ PB PB"')
    exe.add_argument("--timeout", type=float, metavar="S", help="time limit of one launch")
    exe.add_argument("--retries", type=int, default=0, help="repeated launches after a failure")
    exe.add_argument("--folder", help="working folder of all launches (default: a fresh one for each)")
    exe.add_argument("--log-folder", help="folder for the output of the program")
    exe.add_argument("--workers", type=int, metavar="N", help="parallel launches, or calls of your own function")
    exe.add_argument("--dask", metavar="ADDRESS", help="run them on a Dask cluster: tcp://host:8786")
