"""The help of commands: examples first, on one screen; rarely used options under ``--help-all``."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

_FORMAT = partial(argparse.RawDescriptionHelpFormatter, max_help_position=30)


class CommandParser(argparse.ArgumentParser):
    """A parser whose help begins with examples and leaves rare options to ``--help-all``.

    Parameters
    ----------
    prog, usage, description : str, optional
        As for ``argparse.ArgumentParser``.
    examples : str
        Command lines, and what is to be said of all of them.
    """

    def __init__(self, *, examples: str = "", description: str = "", **options: Any) -> None:
        about = f"{description}\n\nexamples:\n{examples}" if examples else description
        super().__init__(description=about, formatter_class=_FORMAT, **options)
        self._all = self.add_argument("--help-all", action=_HelpAll, nargs=0, help=argparse.SUPPRESS)
        self._rare: list[tuple[argparse.Action, str]] = []

    def add_rare_group(self, title: str) -> RareGroup:
        """Return a group of options that ``--help`` does not list.

        Parameters
        ----------
        title : str

        Returns
        -------
        RareGroup
        """
        self._all.help = "show all options and exit"
        return RareGroup(self.add_argument_group(title), self._rare)

    def print_help_all(self) -> None:
        """Print the help with the rare options."""
        for action, text in self._rare:
            action.help = text
        self.print_help()


class RareGroup:
    """A group of options that ``--help-all`` lists and ``--help`` does not.

    Parameters
    ----------
    group : argument group of argparse
    hidden : list of (action, str)
        Where the options and their help are kept.
    """

    def __init__(self, group: argparse._ArgumentGroup, hidden: list[tuple[argparse.Action, str]]) -> None:
        self._group, self._hidden = group, hidden

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """Declare an option, as argparse does."""
        text = options.pop("help", "")
        action = self._group.add_argument(*names, help=argparse.SUPPRESS, **options)
        self._hidden.append((action, text))
        return action


class _HelpAll(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        if isinstance(parser, CommandParser):
            parser.print_help_all()
        parser.exit()
