"""Turns SciPy's forms of bounds and constraints into a box and one function h <= 0, without SciPy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from zoviz.core.errors import OracleError
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.evaluation.real_numbers import real_numbers


class TwoEnds(Protocol):
    """A protocol for bounds as two arrays, like SciPy's ``Bounds``."""

    @property
    def lb(self) -> ArrayLike:
        """The lower ends, (n,) or one number for all."""

    @property
    def ub(self) -> ArrayLike:
        """The upper ends, (n,) or one number for all."""


Bounds: TypeAlias = Sequence[Sequence[float | None]] | Array | TwoEnds
"""A box as a user gives it: n pairs (lower, upper), None for an end that is open; or an object with two ends."""

FORMS = (
    "a LinearConstraint, a NonlinearConstraint, a dict with 'type' ('ineq': fun >= 0, 'eq': fun = 0) and 'fun', or a "
    "function h with h(x) <= 0"
)


class WithArguments:
    """A function x -> function(x, *arguments) that can be pickled, unlike a closure; a seed comes after x.

    Parameters
    ----------
    function : callable
    arguments : object
        A tuple of arguments; anything else is one argument, as SciPy's ``minimize`` takes it.
    """

    def __init__(self, function: Callable[..., Any], arguments: Any) -> None:
        self._function = function
        self._arguments = arguments if isinstance(arguments, tuple) else (arguments,)

    def __call__(self, x: Array, *seed: int) -> Any:
        """Call the function at x with the further arguments."""
        return self._function(x, *seed, *self._arguments)


class Between:
    """A two-sided constraint as rows h <= 0: lower - c(x), then c(x) - upper, without rows of infinite bounds.

    Parameters
    ----------
    function : callable
        x (n,) to c, a number or k numbers.
    lower, upper : array_like
        Numbers, or k of them.
    name : str
        For sentences.
    keep : bool or array_like of bool
        Which of them are to hold for every call.
    """

    def __init__(
        self, function: Callable[..., Any], lower: Any, upper: Any, name: str, keep: ArrayLike = False
    ) -> None:
        self._function, self._name, self._keep = function, name, np.asarray(keep, dtype=bool)
        self._lower, self._upper = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
        try:
            fits = bool((self._lower <= self._upper).all())
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"Expected lb <= ub in {name}, got lb = {lower!r:.60} and ub = {upper!r:.60}.")

    def __call__(self, x: Array, *seed: int) -> Array:
        """Return the rows at x (n,), shape (m,)."""
        c = np.atleast_1d(real_numbers(self._function(x, *seed), self._name))
        try:
            lower, upper = np.broadcast_to(self._lower, c.shape), np.broadcast_to(self._upper, c.shape)
        except ValueError:
            sizes = max(self._lower.size, self._upper.size)
            raise OracleError(f"Expected {sizes} values from {self._name}, as it has bounds, got {c.shape}.") from None
        below, above = np.isfinite(lower), np.isfinite(upper)
        return np.concatenate([lower[below] - c[below], c[above] - upper[above]])

    @property
    def keeps(self) -> bool:
        """Whether some of its rows are to hold for every call."""
        return bool(self._keep.any())

    @property
    def all_alike(self) -> bool:
        """Whether all are, or none."""
        return bool(self._keep.all()) == self.keeps

    @property
    def rows(self) -> int | None:
        """The number of its rows; None where a call alone tells it."""
        sized = isinstance(self._function, Linear) or max(self._lower.ndim, self._upper.ndim, self._keep.ndim) > 0
        return len(self.kept()) if sized else None

    def kept(self) -> np.ndarray:
        """Return which of its rows are to hold for every call, as far as the sizes of bounds and A tell how many."""
        own = (self._function.rows,) if isinstance(self._function, Linear) else ()
        shape = np.broadcast_shapes(self._lower.shape, self._upper.shape, self._keep.shape, own)
        lower, upper, keep = (np.atleast_1d(np.broadcast_to(x, shape)) for x in (self._lower, self._upper, self._keep))
        return np.concatenate([keep[np.isfinite(lower)], keep[np.isfinite(upper)]])


class Linear:
    """The function x -> A x for A of shape (k, n)."""

    def __init__(self, matrix: Any) -> None:
        dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
        self._matrix = np.atleast_2d(np.asarray(dense, dtype=float))
        self.rows = len(self._matrix)

    def __call__(self, x: Array, *seed: int) -> Array:
        """Return A x, shape (k,), whatever the seed."""
        if self._matrix.shape[1] != x.size:
            raise OracleError(f"Expected A of a LinearConstraint with {x.size} columns, got {self._matrix.shape}.")
        return self._matrix @ x


class Stacked:
    """A function that stacks the rows of several constraints."""

    def __init__(self, parts: Sequence[Between]) -> None:
        self._parts = tuple(parts)

    def __call__(self, x: Array, *seed: int) -> Array:
        """Return h(x), shape (m,)."""
        return np.concatenate([np.atleast_1d(part(x.copy(), *seed)) for part in self._parts])

    @property
    def keeps(self) -> bool:
        """Whether some rows are to hold for every call (SciPy's ``keep_feasible``)."""
        return any(part.keeps for part in self._parts)

    def kept(self, m: int) -> np.ndarray:
        """Return which of the m rows are, (m,) of bool.

        Raises
        ------
        ValueError
            Where the numbers of rows of several constraints are not known, and not all of them are kept or none.
        """
        if len({part.keeps for part in self._parts}) == 1 and all(part.all_alike for part in self._parts):
            return np.full(m, self.keeps)
        unsized = [i for i, part in enumerate(self._parts) if part.rows is None]
        if len(unsized) > 1:
            raise ValueError(
                f"Expected lb or ub as an array in constraint {unsized[0] + 1}, got numbers, which do not tell how "
                "many rows come before those with keep_feasible=True: give as many bounds as it has values."
            )
        rest = m - sum(part.rows or 0 for part in self._parts)
        return np.concatenate([np.full(rest, part.keeps) if part.rows is None else part.kept() for part in self._parts])


def stacked(constraints: Any) -> Stacked | None:
    """Return one function h(x) <= 0 of all constraints; None where there are none.

    Parameters
    ----------
    constraints : constraint or sequence of constraints
        Each in one of these forms, told apart by their attributes: SciPy's ``LinearConstraint`` (A, lb, ub) and
        ``NonlinearConstraint`` (fun, lb, ub), a dict with ``type``, ``fun`` and perhaps ``args``, or a function whose
        values are to be <= 0. An equality becomes two rows. Derivatives that they carry are not used. With
        ``keep_feasible`` they are to hold for every call.

    Raises
    ------
    ValueError
        For anything else, with the number of the constraint.
    """
    single = isinstance(constraints, Mapping) or callable(constraints) or hasattr(constraints, "lb")
    try:
        each = [constraints] if single else list(() if constraints is None else constraints)
    except TypeError:
        raise ValueError(f"Expected constraints as {FORMS}, or a list of such, got {constraints!r:.80}.") from None
    return Stacked([_part(one, f"constraint {i}") for i, one in enumerate(each, start=1)]) if each else None


def functions(constraints: Any) -> Any:
    """Return None, a function or a sequence of functions as they are, and SciPy's forms as one function of all rows.

    Raises
    ------
    ValueError
        For anything else, as ``stacked`` does.
    """
    constraints = listed(constraints)
    plain = constraints is None or callable(constraints)
    plain = plain or (isinstance(constraints, Sequence) and all(callable(one) for one in constraints))
    return constraints if plain else stacked(constraints)


def _part(one: Any, name: str) -> Between:
    if isinstance(one, Mapping):
        return _from_dict(one, name)
    if hasattr(one, "lb") and hasattr(one, "ub"):
        keep = getattr(one, "keep_feasible", False)
        if hasattr(one, "A"):
            return Between(Linear(one.A), one.lb, one.ub, name, keep)
        if callable(getattr(one, "fun", None)):
            return Between(one.fun, one.lb, one.ub, name, keep)
    elif callable(one):
        return Between(one, -np.inf, 0.0, name)
    raise ValueError(f"Expected {name} as {FORMS}, got {one!r:.80}.")


def _from_dict(one: Mapping[str, Any], name: str) -> Between:
    kind, function = str(one.get("type", "")).lower(), one.get("fun")
    if kind not in ("ineq", "eq") or not callable(function):
        raise ValueError(f"Expected {name} with 'type' 'ineq' or 'eq' and a callable 'fun', got {dict(one)!r:.80}.")
    function = WithArguments(function, _several(one.get("args", ())))
    return Between(function, 0.0, np.inf if kind == "ineq" else 0.0, name)


def _several(arguments: Any) -> Any:
    """Return the arguments of a dict as a tuple where SciPy would unpack them: any iterable, but for text."""
    try:
        return arguments if isinstance(arguments, (str, bytes)) else tuple(arguments)
    except TypeError:  # no iterable: one argument
        return arguments


def listed(values: Any) -> Any:
    """Return what can be read only once, or has no order of its own, as a list: iterators, views of dicts."""
    once = isinstance(values, Iterable) and not isinstance(values, (Sequence, Mapping)) and not callable(values)
    return list(values) if once and not hasattr(values, "__array__") else values


def box(bounds: Bounds | None, x0: ArrayLike | None) -> Box:
    """Return the box of n pairs (None: no bound) or of an object with ``lb`` and ``ub``; without either, all of R^n.

    Bounds hold for every call, whatever ``keep_feasible`` of SciPy's ``Bounds`` says.

    Raises
    ------
    ValueError
        For anything else, bounds that are reversed, or no way to tell n.
    """
    if bounds is None:
        if x0 is None:
            raise ValueError("Expected bounds or x0 to tell the number of variables, got neither.")
        return Box.free(np.atleast_1d(np.asarray(x0, dtype=float)).size)
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        n = () if x0 is None else np.shape(x0)  # SciPy's Bounds(0, 1) stands for as many variables as x0 has
        try:
            lower, upper, _ = np.broadcast_arrays(
                np.asarray(bounds.lb, float), np.asarray(bounds.ub, float), np.empty(n)
            )
        except (TypeError, ValueError):
            raise ValueError(
                f"Expected bounds whose lb and ub are numbers, one or as many as x0 has, got {bounds!r:.100} and x0 of "
                f"shape {n}."
            ) from None
        return _with_fixed(lower, upper)
    try:
        # By its rows, also where iterating means something else, as over the columns of a table.
        rows = np.asarray(bounds).tolist() if hasattr(bounds, "__array__") else bounds
        pairs = [(-np.inf if low is None else low, np.inf if high is None else high) for low, high in rows]
    except (TypeError, ValueError) as error:
        raise ValueError(f"Expected bounds as n pairs (lower, upper), got {bounds!r}.") from error
    return _with_fixed([low for low, _ in pairs], [high for _, high in pairs])


def _with_fixed(lower: ArrayLike, upper: ArrayLike) -> Box:
    """Return a box whose variables are fixed at the lower bound where round-off alone tells the bounds apart."""
    lower, upper = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    both = Box(np.fmin(lower, upper), np.fmax(lower, upper))  # a NaN in one of them is found below
    with np.errstate(invalid="ignore"):  # of two infinite ends on one side
        fixed = both.upper - both.lower <= both.rounding
    return Box(lower, np.where(fixed, lower, upper))
