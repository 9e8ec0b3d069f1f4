"""Descriptions of problems, solvers and estimators as JSON: class names and values, never code or a pickle."""

from __future__ import annotations

import importlib
import inspect
import math
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from importlib.machinery import PathFinder
from typing import Any

import numpy as np
import param

from zoviz.core.errors import Untrusted, ZovizError
from zoviz.core.registry import every
from zoviz.estimators import GradientEstimator
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver

_ROOMS = (("zoviz.problems", Problem), ("zoviz.solvers", Solver), ("zoviz.estimators", GradientEstimator))
TAGS = ("class", "function", "program", "unnamed", "omitted", "array", "tuple", "float", "dict")
"""Keys that mark a description; a plain dict is wrapped, so that none of its own keys is taken for one."""


def describe(value: Any) -> Any:
    """Return the JSON value from which ``rebuild`` makes an equal object.

    Numbers keep every bit (arrays are nested lists of shortest decimals). Classes and functions are named as
    ``name_of`` does; what has no such name (a lambda, a closure, what lives in ``__main__``) is noted as unnamed. What
    a problem launches is marked as a program. Executors are left out: they say who evaluates, not what.

    Parameters
    ----------
    value : Parameterized, number, text, None, array, function, or list, tuple or dict of such

    Returns
    -------
    object
        Of dicts, lists, text, numbers, booleans and None.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, np.generic):
        return describe(value.item())
    if isinstance(value, np.ndarray):
        return {"array": describe(value.tolist()), "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, param.Parameterized):
        values = {name: describe(held) for name, held in value.param.values().items() if name != "name"}
        for name in getattr(value, "programs", ()):
            values[name] = {"program": shlex.join(getattr(value, name))}
        return {"class": name_of(type(value)), "values": values}
    if isinstance(value, tuple):
        return {"tuple": [describe(item) for item in value]}
    if isinstance(value, list):
        return [describe(item) for item in value]
    if isinstance(value, Mapping):
        return {"dict": [[describe(key), describe(item)] for key, item in value.items()]}
    if hasattr(value, "lb") and hasattr(value, "ub"):  # SciPy's Bounds
        return describe(tuple(zip(np.atleast_1d(value.lb).tolist(), np.atleast_1d(value.ub).tolist(), strict=True)))
    return _of_object(value)


def _of_object(value: Any) -> dict[str, str]:
    if hasattr(value, "submit"):
        return {"omitted": type(value).__name__}
    path = name_of(value) if callable(value) and hasattr(value, "__qualname__") else ""
    if not path or "<" in path or path.startswith("__main__:"):
        return {"unnamed": path or f"{type(value).__module__}:{type(value).__qualname__}"}
    return {"function": path}


def name_of(value: type | Callable[..., Any]) -> str:
    """Return a class's or function's name in descriptions: zoviz's own without a module, since that may move.

    These are problems, solvers, estimators, and the example functions in a problem's own module; all else is
    ``module:qualified.name``.
    """
    module, name = value.__module__, value.__qualname__
    if isinstance(value, type):
        own = module.startswith(tuple(f"{package}." for package, _ in _ROOMS))
    else:
        own = module in sys.modules and name in _examples(module)
    return name if own and name.isidentifier() else f"{module}:{name}"


def _examples(module: str) -> dict[str, Callable[..., Any]]:
    """Public functions of a module of zoviz's that defines a problem, by name."""
    values = [one for one in vars(sys.modules[module]).values() if getattr(one, "__module__", None) == module]
    if not module.startswith("zoviz.problems.") or not any(isinstance(one, type(Problem)) for one in values):
        return {}
    return {one.__name__: one for one in values if inspect.isfunction(one) and not one.__name__.startswith("_")}


def names(description: Any) -> set[str]:
    """Return all that a description names beyond zoviz, to decide on trust: classes, functions and programs."""
    tagged = (
        (tag, part[tag]) for part in _parts(description) for tag in ("class", "function", "program") if tag in part
    )
    return {name for tag, name in tagged if isinstance(name, str) and (tag == "program" or ":" in name)}


class _Names:
    """A table of zoviz's own classes and functions by name, filled when the first is asked for."""

    @cached_property
    def classes(self) -> dict[str, type]:
        """The problems, solvers and estimators: zoviz's by name, a user's by path."""
        return {name_of(cls): cls for package, base in _ROOMS for cls in every(package, base)}

    @cached_property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """The example functions in the problems' own modules."""
        modules = {cls.__module__ for name, cls in self.classes.items() if ":" not in name}
        return {name: function for module in modules for name, function in _examples(module).items()}


def unnamed(description: Any) -> list[str]:
    """Return what a description could not name, which ``rebuild`` therefore refuses."""
    return [part["unnamed"] for part in _parts(description) if "unnamed" in part]


def _parts(description: Any) -> Iterator[dict[str, Any]]:
    """Every dict within."""
    if isinstance(description, dict):
        yield description
    inner = description.values() if isinstance(description, dict) else description
    for item in inner if isinstance(description, (dict, list)) else ():
        yield from _parts(item)


def rebuild(description: Any, *, trusted: Iterable[str] = ()) -> Any:
    """Make the object that a description stands for.

    Nothing is imported because a description says so: a class must be one that the registry finds, and anything else
    must be in ``trusted``.

    Parameters
    ----------
    description : object
        What ``describe`` returned.
    trusted : iterable of str
        Names ``module:object`` that may be imported, or ``module`` for all that is defined in it, and programs that
        may be launched, as ``names`` tells them: what the person who started this process named.

    Raises
    ------
    Untrusted
        For a name that is neither known nor trusted.
    ZovizError
        For what could not be named.
    """
    return _Builder(frozenset(trusted)).build(description)


class _Builder:
    """A maker of objects from descriptions."""

    def __init__(self, trusted: frozenset[str]) -> None:
        self._trusted, self._names = trusted, _Names()
        self._makers: dict[str, Callable[[Any], Any]] = {
            "class": self._object,
            "function": self._function,
            "program": self._program,
            "unnamed": self._unnamed,
            "omitted": lambda one: None,
            "array": lambda one: np.array(self.build(one["array"]), dtype=one["dtype"]).reshape(one["shape"]),
            "tuple": lambda one: tuple(self.build(item) for item in one["tuple"]),
            "float": lambda one: float(one["float"]),
            "dict": lambda one: {self.build(key): self.build(item) for key, item in one["dict"]},
        }

    def build(self, one: Any) -> Any:
        if isinstance(one, list):
            return [self.build(item) for item in one]
        if not isinstance(one, dict):
            return one
        tag = next((tag for tag in TAGS if tag in one), None)
        if tag is None:
            raise ZovizError(f"Expected a description with one of {', '.join(TAGS)}, got {sorted(one)}.")
        return self._makers[tag](one)

    def _object(self, one: dict[str, Any]) -> Any:
        cls = self._find_class(one["class"])
        values = {name: held for name, held in one["values"].items() if "omitted" not in _mapping(held)}
        missing = [name for name in values if name not in cls.param]
        if missing:
            raise ZovizError(
                f"Expected parameters of {cls.__name__}, got {missing[0]!r}: it was stored by another version of zoviz "
                "or of your code."
            )
        programs = getattr(cls, "programs", ())
        return cls(**{name: (self._program if name in programs else self.build)(held) for name, held in values.items()})

    def _find_class(self, name: str) -> Any:
        if name in self._names.classes:
            return self._names.classes[name]
        cls = self._import(name)
        if not (isinstance(cls, type) and issubclass(cls, tuple(base for _, base in _ROOMS))):
            raise ZovizError(f"Expected a problem, a solver or an estimator, got {name}.")
        return cls

    def _function(self, one: dict[str, Any]) -> Any:
        name = one["function"]
        return self._names.functions[name] if name in self._names.functions else self._import(name)

    def _program(self, one: Any) -> tuple[str, ...]:
        """What a problem launches: whatever a row has in its place must be trusted, marked as a program or not."""
        program = str(_mapping(one).get("program", one))
        if program not in self._trusted:
            sentence = (
                f"Expected a program that you trust, got {program!r} from a stored run: nothing is launched because a "
                "store says so. Name it yourself: trusted=[...], or pass problem=Executable(...)."
            )
            raise Untrusted(sentence, program)
        return tuple(shlex.split(program))

    def _import(self, path: str) -> Any:
        """Of another package, where it is trusted; the sentences tell three cases apart."""
        module = path.partition(":")[0]
        if path in self._trusted or module in self._trusted:
            return self._defined(path)
        if ":" not in path or module.partition(".")[0] == "zoviz":
            raise ZovizError(
                f"Expected a class or function that this version of zoviz has, got {path!r}, which it does not know: "
                "the run was stored by another version; use that one."
            )
        if not _is_there(module.partition(".")[0]):
            raise Untrusted(
                f"Expected to find the module of {path!r}, which a stored run needs, got none: put its folder on "
                "Python's path (PYTHONPATH), and trust it by name where it is yours.",
                path,
            )
        raise Untrusted(
            f"Expected a class or function that you trust, got {path!r}: nothing is imported because a stored run "
            f"names it. If it is yours, import it yourself, or trust it by name: trusted=[{path!r}].",
            path,
        )

    def _defined(self, path: str) -> Any:
        """Return an object defined in the module itself; what a module only imported is not reached through it."""
        module, _, qualname = path.partition(":")
        try:
            value: Any = importlib.import_module(module)
        except (ImportError, ValueError) as error:
            raise ZovizError(f"Expected the module of {path}, got none ({error}): put it on Python's path.") from error
        try:
            for part in qualname.split("."):
                value = getattr(value, part)
        except AttributeError as error:
            raise ZovizError(f"Expected {path}, got a module without it ({error}): was it renamed?") from error
        if getattr(value, "__module__", None) != module or getattr(value, "__qualname__", None) != qualname:
            raise ZovizError(f"Expected {path} to be defined in {module}, got something from elsewhere.")
        return value

    def _unnamed(self, one: dict[str, Any]) -> Any:
        raise ZovizError(
            f"Expected a function that can be imported, got {one['unnamed']}: it lived in a script, a notebook or a "
            "closure. Pass the problem or the solver itself: problem=..., solver=..."
        )


def _is_there(package: str) -> bool:
    """Whether Python would find a top-level module of this name; nothing of it is imported or run."""
    if package in sys.modules or package in sys.builtin_module_names:
        return True
    return package.isidentifier() and PathFinder.find_spec(package) is not None


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def check_same(stored: Any, substitute: Any, place: str) -> None:
    """Raise if ``substitute`` differs from the stored description; unnamed functions and executors are not compared.

    What could not be named may be anything; executors do not count.

    Raises
    ------
    ZovizError
        With the first difference.
    """
    if any(isinstance(one, dict) and {"unnamed", "omitted"} & one.keys() for one in (stored, substitute)):
        return
    if isinstance(stored, dict) and isinstance(substitute, dict) and stored.keys() == substitute.keys():
        for name, value in stored.items():
            check_same(value, substitute[name], place if name in (*TAGS, "values") else f"{place}.{name}")
    elif isinstance(stored, list) and isinstance(substitute, list) and len(stored) == len(substitute):
        for i, (one, other) in enumerate(zip(stored, substitute, strict=True)):
            check_same(one, other, f"{place}[{i}]")
    elif stored != substitute:
        raise ZovizError(f"Expected {place} as it was stored, {stored!r:.80}, got {substitute!r:.80}.")
