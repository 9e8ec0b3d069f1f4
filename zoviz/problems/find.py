"""A problem by its name: that of a class, or ``module:object`` for a person's own."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from zoviz.core import registry
from zoviz.core.errors import described, suggestion
from zoviz.problems.base import Problem


def find_problem(name: str) -> Problem:
    """Return a problem by its class's name, or the object that ``module:object`` names.

    Parameters
    ----------
    name : str
        The module is one of the working folder, or one that is installed.

    Raises
    ------
    ValueError
        For no such class, module or object, one that is not a problem, and a module that fails, with the line.
    """
    if ":" not in name:
        cls = registry.named("zoviz.problems", Problem, name, "problem")
        if registry.required(cls):
            raise ValueError(
                f"Expected a complete problem, got {cls.__name__}, which needs {registry.required(cls)[0]}: "
                "put one into a module and pass module:object, or give a program with --exe."
            )
        return cls()
    module, _, path = name.partition(":")
    found: Any = _import(module)
    if not hasattr(found, path):
        own = [key for key, value in vars(found).items() if isinstance(value, Problem)]
        others = f"its problems are {', '.join(own)}." if own else "assign one there, problem = BlackBox(...)."
        raise ValueError(
            f"Expected a problem in module {module}, got {path!r}, which is not there: {suggestion(path, own, others)}"
        )
    problem = getattr(found, path)
    problem = problem() if isinstance(problem, type) and issubclass(problem, Problem) else problem
    if not isinstance(problem, Problem):
        raise ValueError(
            f"Expected a zoviz problem in {name!r}, got {type(problem).__name__}: wrap it in BlackBox(...)."
        )
    return problem


def import_from_working_folder() -> None:
    """Find modules in the working folder: a console script has its own folder on the path instead."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())


def _import(module: str) -> ModuleType:
    """Import a person's module, or say in a sentence what it fails of, and in which of its lines."""
    import_from_working_folder()
    importlib.invalidate_caches()  # the file may have come since the last try
    try:
        return importlib.import_module(module)
    except Exception as error:  # the module is a person's own code, which may raise anything
        if isinstance(error, ModuleNotFoundError) and (error.name or "") in _parents(module):
            raise ValueError(
                f"Expected the module {module} in the folder {Path.cwd().name} or installed, got none: check its name, "
                "and start in its folder."
            ) from error
        raise ValueError(
            f"Expected to import the module {module}, got an error{_place(error)}; correct it and try again: "
            f"{described(error)}"
        ) from error


def _parents(module: str) -> list[str]:
    """Return a module's dotted name and those of the packages that it is in."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _place(error: Exception) -> str:
    """Return the line in which an import failed: the last in the file that was imported, not of what it called."""
    if isinstance(error, SyntaxError):
        return ""  # its own sentence has the line
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_machinery(frame.filename)]
    last = [frame for frame in own if frame.filename == own[0].filename][-1:]
    return "".join(f" in {Path(frame.filename).name}, line {frame.lineno}" for frame in last)


def _is_machinery(file: str) -> bool:
    return file.startswith("<frozen") or file in (__file__, importlib.__file__)
