"""Finds every concrete problem, estimator, solver and view by importing its package: there are no hand-kept lists.

A class takes part as soon as its module lies in the package; a class that only serves others to inherit from says so
with Param's private ``__abstract = True``.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
from typing import Any, TypeVar

import param

from zoviz.core.errors import key, suggestion

T = TypeVar("T")


def modules(package: str) -> list[str]:
    """Return the names of a package's public modules, its sub-packages' included.

    Parameters
    ----------
    package : str
        Dotted name, e.g. ``"zoviz.solvers"``.
    """
    root = importlib.import_module(package)
    items = pkgutil.walk_packages(root.__path__, prefix=f"{package}.")
    return sorted(item.name for item in items if not item.name.rpartition(".")[2].startswith("_"))


def discover(package: str, base: type[T]) -> dict[str, type[T]]:
    """Return every concrete subclass of ``base``, by class name, after importing the package's modules.

    Classes that a user defined elsewhere (a notebook, a script) are found too.

    Parameters
    ----------
    package : str
        Dotted name of the package whose modules are imported.
    base : type
        A ``param.Parameterized`` class.

    Returns
    -------
    dict of str to type
        Sorted by name.
    """
    classes = {cls.__name__: cls for cls in every(package, base)}
    return dict(sorted(classes.items()))


def title_of(thing: Any) -> str:
    """Return what people call a class of the registry, or one of its objects: the title, else the class's name."""
    return str(thing.title or (thing if isinstance(thing, type) else type(thing)).__name__)


def every(package: str, base: type[T]) -> list[type[T]]:
    """Return the classes of ``discover`` as a list, in which two may share a name: ``discover`` has the later one."""
    for name in modules(package):
        importlib.import_module(name)
    return list(param.descendents(base, concrete=True))


def named(package: str, base: type[T], name: str, kind: str) -> type[T]:
    """Return the concrete subclass of ``base`` with this name, of the class or for people.

    Parameters
    ----------
    package, base
        As for ``discover``.
    name : str
        Case, blanks and hyphens do not count.
    kind : str
        What it is, for the sentence: "solver".

    Raises
    ------
    ValueError
        For an unknown name, with those that are near.
    """
    classes = discover(package, base)
    titles = {title: cls for cls in classes.values() if (title := getattr(cls, "title", ""))}
    keys = {key(own): cls for own, cls in (titles | classes).items()}
    if key(name) in keys:
        return keys[key(name)]
    hint = suggestion(name, classes, suggestion(name, titles, f"the {kind}s are {', '.join(classes)}."))
    raise ValueError(f"Expected the name of a {kind}, got {name!r}: {hint}")


def required(cls: type) -> list[str]:
    """Return the names of the arguments without which the class cannot be made.

    Parameters
    ----------
    cls : type
    """
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    arguments = inspect.signature(cls).parameters.values()
    return [one.name for one in arguments if one.default is one.empty and one.kind not in kinds]


class LazyExports:
    """The public classes of a package as attributes of it, found when one of them is first used.

    Importing every module of a package takes longer than a small task does: whoever needs two solvers does not wait for
    fifty.

    Parameters
    ----------
    package : str
        Dotted name.
    namespace : dict
        The package's, into which the classes are put.
    base : type
        A ``param.Parameterized`` class.
    """

    def __init__(self, package: str, namespace: dict[str, Any], base: type[Any]) -> None:
        self._package, self._namespace, self._base = package, namespace, base

    def __call__(self, name: str) -> Any:
        """Return a name of the package, as its ``__getattr__``."""
        # A module is imported by whoever asks for it; and no class has a name with underscores around it.
        hidden = name.startswith("__") and name != "__all__"
        if (
            not hidden
            and importlib.util.find_spec(f"{self._package}.{name}") is None
            and "__all__" not in self._namespace
        ):
            classes = discover(self._package, self._base)
            own = {key: cls for key, cls in classes.items() if cls.__module__.startswith(f"{self._package}.")}
            self._namespace |= own | {"__all__": sorted([self._base.__name__, *own])}
        if name in self._namespace:
            return self._namespace[name]
        raise AttributeError(f"module {self._package!r} has no attribute {name!r}")

    def names(self) -> list[str]:
        """Return the names of the package's classes, as its ``__dir__``."""
        names: list[str] = self("__all__")
        return names
