"""The command ``zoviz problems``: a list of the problems, or one problem's parameters."""

from __future__ import annotations

from zoviz.cli.catalogue_command import Catalogue
from zoviz.problems.base import Problem

COMMAND = Catalogue("problems", "problem", "zoviz.problems", Problem, "list the problems; with a name, its parameters")
