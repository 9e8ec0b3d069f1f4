"""Calls of a user's functions at one point or many: numbers, or a failure with its reason, made of what they return."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from zoviz.core.errors import RAISED, OracleError
from zoviz.core.threads.arithmetic import callers_arithmetic
from zoviz.core.types import Array, Evaluation
from zoviz.evaluation.real_numbers import real_numbers


@dataclass(frozen=True)
class Failure:
    """An evaluation that gave no value.

    Attributes
    ----------
    error : Exception
        What the function raised, or what is wrong with what it returned.
    counted : bool
        True where it counts as a failed evaluation whatever ``on_error`` says: a call that took too long.
    """

    error: Exception
    counted: bool = False


Task: TypeAlias = Array | tuple[Array, Any]
"""What a function is called with: a point, or a point and its seed."""


def parted(task: Task) -> tuple[Array, tuple[Any, ...]]:
    """Return the point (..., n) of a task, and its seed, if it has one."""
    return (task[0], task[1:]) if isinstance(task, tuple) else (task, ())


def at(task: Task) -> str:
    """Describe a point, with its seed, or the shape of many, for a sentence."""
    x, seed = parted(task)
    if seed and x.ndim == 1:
        return f"{at(x)} with seed {seed[0]}"
    return f"x = {np.array2string(x, threshold=8)}" if x.ndim == 1 else f"points of shape {x.shape}"


class FunctionCall:
    """A joint call of a user's objective and constraints; it can be pickled where they can.

    Parameters
    ----------
    objective : callable
    constraints : callable, sequence of callables or None
    joint : bool
        Whether the objective returns (f, h).
    m : int, optional
        Number of constraints; None: as many as come.
    """

    def __init__(
        self,
        objective: Callable[[Array], Any],
        constraints: Callable[[Array], Any] | Sequence[Callable[[Array], Any]] | None,
        joint: bool,
        m: int | None,
    ) -> None:
        self.objective, self.constraints, self.joint, self.m = objective, constraints, joint, m

    def __call__(self, task: Task) -> Evaluation | Failure:
        """Return the value at one point (n,), perhaps with a seed, or the failure that took its place."""
        try:
            return self.value(task)
        except Exception as error:  # a user's function may raise anything: ``on_error`` says what becomes of it
            return Failure(error)

    def value(self, task: Task) -> Evaluation:
        """Return the values at a point (n,), or at points (..., n) for functions that take several at once.

        Seeds come with them, where the functions take one: a whole number, or an array (...).

        Raises
        ------
        OracleError
            For a wrong shape, None, text: with a sentence.
        Exception
            What the functions raise, with the point noted.
        """
        x, seed = parted(task)
        shape = x.shape[:-1]
        try:
            with callers_arithmetic():
                f, h = self._pair(x, seed, shape)
            return Evaluation(_objective(f, shape), _constraints(h, shape, self.m))
        except SystemExit as error:
            raise OracleError(
                f"Expected a value, got {error!r} at {at(task)}: a function must not end its program."
            ) from None
        except Exception as error:  # raised again
            remedy = "" if isinstance(error, OracleError) else ' With on_error="fail" such a point counts as failed.'
            error.add_note(f"{RAISED} {at(task)}.{remedy}")
            raise

    def _pair(self, x: Array, seed: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, Any]:
        # Copies, for functions that write into their argument.
        value = self.objective(x.copy(), *seed)
        if not self.joint:
            return value, self._constrain(x, seed, shape)
        listed = hasattr(value, "__len__") and not isinstance(value, (str, bytes, Mapping))
        length = len(value) if listed and getattr(value, "shape", None) != () else 0
        if length != 2:
            kind = f"{type(value).__name__}{f' of length {length}' if length else ''}"
            raise OracleError(f"Expected (f, h) from a joint function, got {kind}: return a pair, the h in one list.")
        return value[0], np.empty((*shape, 0)) if not self.m and value[1] is None else value[1]

    def _constrain(self, x: Array, seed: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
        """Return what the constraints return, a list of them stacked to (..., m); (..., 0) where there are none."""
        if self.constraints is None:
            return np.empty((*shape, 0))
        if not isinstance(self.constraints, Sequence):
            return self.constraints(x.copy(), *seed)
        columns = [real_numbers(one(x.copy(), *seed), f"constraint {i + 1}") for i, one in enumerate(self.constraints)]
        for i, column in enumerate(columns):
            if column.size != math.prod(shape):
                raise OracleError(f"Expected one number per point from constraint {i + 1}, got {column.shape}.")
        return np.stack([column.reshape(shape) for column in columns], axis=-1) if columns else np.empty((*shape, 0))


def zero(x: Array, *seed: int) -> float:
    """Return 0 at any x (n,): an objective where the constraints alone are wanted."""
    return 0.0


def _objective(value: Any, shape: tuple[int, ...]) -> Array:
    if not shape and isinstance(value, tuple) and len(value) == 2:
        raise OracleError(
            "Expected one number from the objective, got a pair: say joint=True where it returns the constraints, too."
        )
    f = real_numbers(value, "the objective")
    if f.size == 1 and not shape:
        return f.reshape(())
    if f.shape != shape:
        raise OracleError(f"Expected f of shape {shape}, got {f.shape}: return one number per point.")
    return f


def _constraints(value: Any, shape: tuple[int, ...], m: int | None) -> Array:
    h = real_numbers(value, "the constraints")
    if m is None:
        m = np.atleast_1d(h).shape[-1]
    if h.shape == shape and m == 1:
        return h[..., None]
    if h.shape != (*shape, m):
        raise OracleError(f"Expected h of shape {(*shape, m)}, got {h.shape}: return one column per constraint.")
    return h
