"""Reads the command line and runs what it names."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from zoviz.cli.command import FAILED, FINE, INTERRUPTED, MISUSED, Command, say
from zoviz.cli.help import CommandParser
from zoviz.core.errors import Untrusted, ZovizError
from zoviz.core.optional import installed_version
from zoviz.core.registry import modules

_ABOUT = "Zeroth-order constrained optimisation: minimise a black box f(x) subject to h(x) <= 0, from values alone."

_EXAMPLES = """  zoviz demo                                    solve a first problem in a few seconds
  zoviz run LoadTracking ZOCEG --calls 20000    solve with a progress bar, and store the run
  zoviz serve                                   open the dashboard in a browser"""

_FIRST = """zoviz solves min f(x) subject to h(x) <= 0 from function values alone. Start with one of

  zoviz demo      solve a first problem in a few seconds
  zoviz serve     the dashboard, in a browser
  zoviz doctor    check this installation

zoviz --help lists all commands, zoviz COMMAND --help explains one."""

_CODES = """zoviz COMMAND --help explains a command.
exit codes: 0 success; 1 a run or its store failed; 2 bad arguments; 3 no feasible point was found;
4 a verdict differs from the recorded one; 130 Ctrl-C.
Runs are stored in zoviz.db in the current folder, or where --store or the environment variable
ZOVIZ_STORE says."""


_NEGATIVE = re.compile(r"-(\d|\.\d|inf)", re.IGNORECASE)
"""How a value such as -3:3*4 or -inf:0 begins. No option of ours does."""


def with_negative_values(argv: Sequence[str]) -> list[str]:
    """Return the words with every value that begins with a minus joined to its option: ``--bounds=-3:3*4``.

    argparse takes such a word for an option, unless the whole of it is a number.

    Parameters
    ----------
    argv : sequence of str

    Returns
    -------
    list of str
    """
    joined: list[str] = []
    for word in argv:
        if _NEGATIVE.match(word) and joined and joined[-1].startswith("--") and "=" not in joined[-1]:
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def commands() -> list[Command]:
    """Return every command, in the order of the help."""
    files = (importlib.import_module(name) for name in modules("zoviz.cli.commands"))
    instances = [module.COMMAND for module in files if not hasattr(module, "__path__")]  # a folder is no command
    return sorted(instances, key=lambda command: (command.order, command.name))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    whole = CommandParser(prog="zoviz", description=_ABOUT, examples=_EXAMPLES, epilog=_CODES)
    whole.add_argument("--version", action="version", version=f"zoviz {installed_version()}")
    parts = whole.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for command in commands():
        part = parts.add_parser(
            command.name,
            help=command.help,
            usage=f"zoviz {command.name} {command.operands}[OPTIONS]",
            description=command.help,
            examples=command.examples,
        )
        command.arguments(part)
        part.set_defaults(subcommand=command)
    return whole


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Words after ``zoviz``; default: those of the process.

    Returns
    -------
    int
        The exit code.
    """
    whole = parser()
    args, rest = whole.parse_known_args(with_negative_values(sys.argv[1:] if argv is None else argv))
    if rest and (not hasattr(args, "words") or any(word.startswith("-") for word in rest)):
        whole.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:  # argparse takes the words of one list from one place only
        args.words += rest
    if args.command is None:
        print(_FIRST)
        return FINE
    try:
        with ExitStack() as args.closing:
            code = args.subcommand.run(args)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        say("zoviz: interrupted.")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe has gone, e.g. head: what is left must not fail at the exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except (ValueError, ZovizError, OSError) as error:
        hint = f" On the command line: --trust {shlex.quote(error.name)}" if isinstance(error, Untrusted) else ""
        say(f"zoviz {args.command}: {error}{hint}")
        return MISUSED if isinstance(error, (ValueError, Untrusted)) else FAILED
