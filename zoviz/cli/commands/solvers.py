"""The command ``zoviz solvers``: a list of the solvers, or one solver's parameters."""

from __future__ import annotations

from zoviz.cli.catalogue_command import Catalogue
from zoviz.solvers.base import Solver

COMMAND = Catalogue("solvers", "solver", "zoviz.solvers", Solver, "list the solvers; with a name, its parameters")
