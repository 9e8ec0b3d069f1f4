"""The command line ``zoviz``: one file in ``zoviz.cli.commands`` for each command."""

from zoviz.cli.main import main

__all__ = ["main"]
