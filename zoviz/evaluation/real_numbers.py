"""Real numbers out of whatever a black box returns: what is a number, what is missing, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.core.errors import OracleError
from zoviz.core.types import Array, Evaluation

RETURN = "return a float, and NaN where there is no value"
_MISSING = ("NAType", "NaTType")
"""Names of pandas's types for a missing value, which need not be installed."""


def real_numbers(value: Any, source: str) -> Array:
    """Return a value as an array of floats, of the shape it has; NaN wherever it says that there is no value.

    No value is NaN, NaT, None among others, pandas's NA, and what NumPy has masked. A number beyond the range of floats
    is infinite.

    Parameters
    ----------
    value : object
    source : str
        Who returned it, for sentences.

    Raises
    ------
    OracleError
        For None alone, text, objects, comparisons, dates and durations, complex or ragged numbers.
    """
    if value is None:
        raise OracleError(f"Expected a number from {source}, got None: does the function end with a return?")
    if isinstance(value, np.ma.MaskedArray):
        out = np.full(value.shape, np.nan)
        out[~np.ma.getmaskarray(value)] = real_numbers(value.compressed(), source)
        return out
    if isinstance(value, (list, tuple)) and any(isinstance(item, np.ma.MaskedArray) for item in value):
        value = [real_numbers(item, source) for item in value]
    try:
        array = np.asarray(value)
    except Exception as error:  # another library's object may raise anything when it is to become an array
        raise _refusal(value, source, f"{error}; {RETURN}") from None
    kind = array.dtype.kind
    if kind == "b":  # as a number it would say the opposite: True, 1, is a violation
        raise _comparison(value, source)
    if kind in "mM":
        if not np.isnat(array).all():
            raise _refusal(value, source, "a date or a duration is no number, divide it by a unit")
        return np.full(array.shape, np.nan)
    if kind == "O":
        items = [_real_number(item, value, source) for item in array.ravel()]
        return np.array(items, dtype=float).reshape(array.shape)
    if kind not in "fiu":  # text that looks like a number is a mistake too; no imaginary part is dropped
        raise _refusal(value, source, RETURN)
    with np.errstate(over="ignore"):  # of a longer float
        return array.astype(float)


def checked(value: Any, x: Array, m: int) -> Evaluation:
    """Return a black box's answer at points x (..., n) as an ``Evaluation``, after a check of its numbers and shapes.

    Raises
    ------
    OracleError
        Where they are not f (...,) and h (..., m), or no real numbers.
    """
    try:
        f, h = value
        if not (type(f) is type(h) is np.ndarray and f.dtype.char == h.dtype.char == "d"):
            f, h = value = Evaluation(real_numbers(f, "the objective"), real_numbers(h, "the constraints"))
        shapes = f.shape, h.shape
    except (TypeError, ValueError, AttributeError):
        raise OracleError(
            f"Expected an Evaluation of two arrays f and h, got {type(value).__name__}: return Evaluation(f, h)."
        ) from None
    if shapes[0] != x.shape[:-1]:
        raise OracleError(
            f"Expected f of shape {x.shape[:-1]} for x of shape {x.shape}, got {f.shape}: return one number per point."
        )
    if shapes[1] != (*x.shape[:-1], m):
        raise OracleError(
            f"Expected h of shape {(*x.shape[:-1], m)} for x of shape {x.shape}, got {h.shape}: return one "
            "column per constraint."
        )
    out: Evaluation = value
    return out


def _real_number(item: Any, value: Any, source: str) -> float:
    """Return one object as a float; ``value`` is what it is a part of."""
    if isinstance(item, (bool, np.bool)):
        raise _comparison(value, source)
    if isinstance(item, (str, bytes, np.datetime64, np.timedelta64)) and not _is_missing(item):
        raise _refusal(value, source, RETURN)
    if _is_missing(item):
        return np.nan
    try:
        return float(item)
    except OverflowError:
        return float("inf" if item > 0 else "-inf")
    except Exception:  # likewise
        raise _refusal(value, source, RETURN) from None


def _is_missing(item: Any) -> bool:
    """Return whether an object says that there is no value."""
    if item is None or item is np.ma.masked or type(item).__name__ in _MISSING:
        return True
    if isinstance(item, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(item))
    is_nan = getattr(item, "is_nan", None)  # of decimal.Decimal, whose signalling NaN is no float
    return callable(is_nan) and bool(is_nan())


def _refusal(value: Any, source: str, advice: str) -> OracleError:
    return OracleError(f"Expected numbers from {source}, got {value!r:.80} ({type(value).__name__}): {advice}.")


def _comparison(value: Any, source: str) -> OracleError:
    return OracleError(
        f"Expected numbers from {source}, got {value!r:.80}: a comparison is not a value; return a - b for a <= b."
    )
