"""The commands that list the registry's classes, one per line, or describe one class in full."""

from __future__ import annotations

import argparse
import inspect
from typing import Any

import param

from zoviz.cli.command import FINE, Command, show, table
from zoviz.cli.help import CommandParser
from zoviz.cli.options import json_option
from zoviz.core.registry import discover, named, required
from zoviz.solvers.base import Solver


class Catalogue(Command):
    """A command that lists the classes of one package.

    Parameters
    ----------
    name, kind : str
        The command, and what one of its lines is.
    package : str
    base : type
        As for ``registry.discover``.
    line : str
        The command's help.
    """

    def __init__(self, name: str, kind: str, package: str, base: type[Any], line: str) -> None:
        self.name, self.order, self.help, self.operands = name, 5, line, f"[{kind.upper()}] "
        self._kind, self._package, self._base = kind, package, base
        self.examples = f"  zoviz {name}\n  zoviz {name} {'ZOSPLM' if kind == 'solver' else 'LoadTracking'}"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("which", nargs="?", metavar=self._kind.upper(), help="show the details of this one")
        json_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        if args.which:
            return self._tell(named(self._package, self._base, args.which, self._kind), args.json)
        classes = discover(self._package, self._base).values()
        lines = [(cls.__name__, cls.title, _first_line(cls)) for cls in classes]
        if args.json:
            show([dict(zip(("name", "title", "summary"), line, strict=True)) for line in lines])
        else:
            table(("NAME", "", "SUMMARY"), [(name, title, summary) for name, title, summary in lines])
        return FINE

    def _tell(self, cls: Any, as_json: bool) -> int:
        """All parameters of one, with defaults and what they are for."""
        rows = [
            (f"{prefix}{name}", _spelled(one.default if holder is None else getattr(holder, name)), one.doc or "")
            for prefix, holder in _parts(cls).items()
            for name, one in (cls if holder is None else holder).param.objects().items()
            if name != "name" and not one.constant
        ]
        form = "" if not issubclass(cls, Solver) or not cls.source or required(cls) else cls().form()
        if as_json:
            parameters = [dict(zip(("name", "default", "doc"), row, strict=True)) for row in rows]
            about = {"name": cls.__name__, "title": cls.title, "doc": inspect.getdoc(cls), "form": form}
            show(about | {"parameters": parameters})
        else:
            print(f"{cls.__name__}: {inspect.getdoc(cls)}\n")
            if form:
                print(f"{form} {cls.__name__}.published() is as published.\n")
            table(("PARAMETER", "DEFAULT", ""), rows)
        return FINE


def _first_line(cls: type) -> str:
    return (inspect.getdoc(cls) or "").partition("\n")[0]


def _parts(cls: type[Any]) -> dict[str, param.Parameterized | None]:
    """Return an instance and its parts by prefix; None for a class that cannot be made from nothing."""
    if required(cls):
        return {"": None}
    instance = cls()
    return {**instance.parts()} if isinstance(instance, Solver) else {"": instance}


def _spelled(value: Any) -> str:
    if isinstance(value, param.Parameterized):
        return type(value).__name__
    return "auto" if value is None else str(value)
