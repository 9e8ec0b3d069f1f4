"""What a problem, a solver or an estimator is made of, as JSON: class path and values, never code, never a pickle."""

from __future__ import annotations

import importlib
import inspect
import math
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import param

from zoviz.core.errors import Untrusted, ZovizError
from zoviz.core.registry import discover
from zoviz.estimators import GradientEstimator
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver

_ROOMS = (("zoviz.problems", Problem), ("zoviz.solvers", Solver), ("zoviz.estimators", GradientEstimator))
TAGS = ("class", "function", "program", "unnamed", "omitted", "array", "tuple", "float", "dict")
"""Keys that mark a description; a plain dict is wrapped, so that none of its own keys is taken for one."""


def describe(value: Any) -> Any:
    """The JSON value from which ``rebuild`` makes an equal object.

    Numbers keep every bit (arrays are nested lists of shortest decimals). A function is named by module and qualified
    name; what has no such name (a lambda, a closure, what lives in ``__main__``) is noted as unnamed. What a problem
    launches is marked as a program. Executors are left out: they say who evaluates, not what.

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
        return {"class": path_of(type(value)), "values": values}
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
    path = path_of(value) if callable(value) and hasattr(value, "__qualname__") else ""
    if not path or "<" in path or path.startswith("__main__:"):
        return {"unnamed": path or f"{type(value).__module__}:{type(value).__qualname__}"}
    return {"function": path}


def path_of(value: Any) -> str:
    """``module:qualified.name`` of a class or function."""
    return f"{value.__module__}:{value.__qualname__}"


def names(description: Any) -> set[str]:
    """All that a description names, for who decides what to trust: paths of classes and functions, and programs."""
    return {part[tag] for part in _parts(description) for tag in ("class", "function", "program") if tag in part}


def unnamed(description: Any) -> list[str]:
    """What a description could not name, and ``rebuild`` therefore refuses."""
    return [part["unnamed"] for part in _parts(description) if "unnamed" in part]


def _parts(description: Any) -> Iterator[dict[str, Any]]:
    """Every dict within."""
    if isinstance(description, dict):
        yield description
    inner = description.values() if isinstance(description, dict) else description
    for item in inner if isinstance(description, (dict, list)) else ():
        yield from _parts(item)


def rebuild(description: Any, *, trusted: Iterable[str] = ()) -> Any:
    """The object that ``describe`` described.

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
    """Makes objects from descriptions; the registry's classes are looked up once."""

    def __init__(self, trusted: frozenset[str]) -> None:
        self._trusted = trusted
        self._known: dict[str, type] | None = None

    def build(self, one: Any) -> Any:
        if isinstance(one, list):
            return [self.build(item) for item in one]
        if not isinstance(one, dict):
            return one
        tag = next((tag for tag in TAGS if tag in one), None)
        if tag is None:
            raise ZovizError(f"Expected a description with one of {', '.join(TAGS)}, got {sorted(one)}.")
        return getattr(self, f"_{tag}")(one)

    def _class(self, one: dict[str, Any]) -> Any:
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

    def _find_class(self, path: str) -> Any:
        if self._known is None:
            found = (cls for package, base in _ROOMS for cls in discover(package, base).values())
            self._known = {path_of(cls): cls for cls in found}
        if path in self._known:
            return self._known[path]
        cls = self._import(path)
        if not (isinstance(cls, type) and issubclass(cls, tuple(base for _, base in _ROOMS))):
            raise ZovizError(f"Expected a problem, a solver or an estimator, got {path}.")
        return cls

    def _function(self, one: dict[str, Any]) -> Any:
        path = one["function"]
        classes = discover("zoviz.problems", Problem).values()
        modules = {cls.__module__ for cls in classes if cls.__module__.startswith("zoviz.problems.")}
        if path.partition(":")[0] in modules:  # an example of a problem's own module, which is loaded
            found = self._defined(path)
            if inspect.isfunction(found):
                return found
        return self._import(path)

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
        if path not in self._trusted and path.partition(":")[0] not in self._trusted:
            raise Untrusted(
                f"Expected a class or function that zoviz knows, got {path!r}: nothing is imported because a stored "
                f"run names it. If it is yours, import it yourself, or trust it by name: trusted=[{path!r}].",
                path,
            )
        return self._defined(path)

    def _defined(self, path: str) -> Any:
        """An object defined in the module itself; what a module only imported is not reached through it."""
        module, _, qualname = path.partition(":")
        try:
            found: Any = importlib.import_module(module)
            for part in qualname.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError, ValueError) as error:
            raise ZovizError(f"Expected to find {path}, got none ({error}): put its module on the path.") from error
        if getattr(found, "__module__", None) != module or getattr(found, "__qualname__", None) != qualname:
            raise ZovizError(f"Expected {path} to be defined in {module}, got something from elsewhere.")
        return found

    def _unnamed(self, one: dict[str, Any]) -> Any:
        raise ZovizError(
            f"Expected a function that can be imported, got {one['unnamed']}: it lived in a script, a notebook or a "
            "closure. Pass the problem or the solver itself: problem=..., solver=..."
        )

    def _omitted(self, one: dict[str, Any]) -> None:
        return None

    def _array(self, one: dict[str, Any]) -> np.ndarray:
        return np.array(self.build(one["array"]), dtype=one["dtype"]).reshape(one["shape"])

    def _tuple(self, one: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(self.build(item) for item in one["tuple"])

    def _float(self, one: dict[str, Any]) -> float:
        return float(one["float"])

    def _dict(self, one: dict[str, Any]) -> dict[Any, Any]:
        return {self.build(key): self.build(item) for key, item in one["dict"]}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def check_same(stored: Any, given: Any, place: str) -> None:
    """Check that an object that is ``given`` in the place of a stored one is described as that was.

    What could not be named may be anything; executors do not count.

    Raises
    ------
    ZovizError
        With the first difference.
    """
    if any(isinstance(one, dict) and {"unnamed", "omitted"} & one.keys() for one in (stored, given)):
        return
    if isinstance(stored, dict) and isinstance(given, dict) and stored.keys() == given.keys():
        for name, value in stored.items():
            check_same(value, given[name], place if name in (*TAGS, "values") else f"{place}.{name}")
    elif isinstance(stored, list) and isinstance(given, list) and len(stored) == len(given):
        for i, (one, other) in enumerate(zip(stored, given, strict=True)):
            check_same(one, other, f"{place}[{i}]")
    elif stored != given:
        raise ZovizError(f"Expected {place} as it was stored, {stored!r:.80}, got {given!r:.80}.")
