"""Imports packages that only some problems or files need, with a sentence where one is missing."""

from __future__ import annotations

import importlib
import importlib.util
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

from zoviz.core.errors import MissingExtra


def require(module: str, extra: str, what: str = "this problem") -> ModuleType:
    """Import and return a module that is only needed here.

    Parameters
    ----------
    module : str
        Its name.
    extra : str
        The optional extra of zoviz that installs it.
    what : str
        Needs it, in words.

    Raises
    ------
    MissingExtra
        Where it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in (module, package := module.partition(".")[0]):
            raise
        raise missing(package, extra, what) from None


def base(module: str, name: str, extra: str, what: str) -> Any:
    """Return a class to inherit from, of a module that is only needed here; see ``require``.

    Where it is not installed, a class that can be inherited from, but not used: ``MissingExtra`` is raised then.
    """
    try:
        return getattr(require(module, extra, what), name)
    except MissingExtra as error:
        sentence = str(error)

    class Absent:
        """A stand-in for a class of a package that is not installed."""

        def __new__(cls, *args: Any, **params: Any) -> Any:
            raise MissingExtra(sentence)

    return Absent


def folder(package: str, extra: str, distribution: str = "") -> Path:
    """Return the folder of a package, of a distribution of that name or another, without importing it.

    See ``require``.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise missing(distribution or package, extra)
    return Path(spec.submodule_search_locations[0])


def missing(module: str, extra: str, what: str = "this problem") -> MissingExtra:
    """Return the error that a package is not installed; see ``require``."""
    return MissingExtra(
        f"Expected the package {module.replace('_', '-')}, which {what} needs, found none: install it with "
        f'python -m pip install "zoviz[{extra}]".'
    )


def installed_version() -> str:
    """Return the version of zoviz that is installed, "(not installed)" where it runs from its sources."""
    try:
        return version("zoviz")
    except PackageNotFoundError:
        return "(not installed)"
