"""The exceptions of zoviz: each carries one sentence for the person at the screen."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any


class ZovizError(Exception):
    """A sentence for the person at the screen: what was expected, what came, what to do."""


class MissingExtra(ZovizError, ValueError):
    """An optional package is not installed; the sentence has the command that installs it."""


class Untrusted(ZovizError):
    """A stored run names what nobody has said may be imported or launched; ``name`` is what to trust."""

    def __init__(self, sentence: str, name: str) -> None:
        super().__init__(sentence)
        self.name = name


class OracleError(ZovizError):
    """The black box returned something of the wrong shape, or raised."""


class TimeSpent(Exception):
    """No time is left for the next evaluation, as the sentence says; control flow, and no method may go on after it."""


class BudgetSpent(Exception):
    """The next evaluation would exceed a budget of the oracle's, which the sentence names; control flow, no error."""


RAISED = "Raised by the black box at"
"""How the first note of what a person's function raised begins."""


def leave_result(error: BaseException, result: Callable[[], Any]) -> None:
    """Leave what was found so far on an error that is about to be raised, as its attribute ``result``, with a note.

    Parameters
    ----------
    error : BaseException
    result : callable
        Returns the result so far, None where there is none.
    """
    found, first = result(), not hasattr(error, "result")
    if found is not None:
        with suppress(AttributeError):  # of a class with slots
            error.result = found  # type: ignore[attr-defined]
            if first:
                error.add_note("What was found so far is this exception's attribute result, with x and fun.")


def key(name: object) -> str:
    """Return a name without case, blanks and hyphens."""
    return "".join(letter for letter in str(name).casefold() if letter.isalnum())


def suggestion(name: str, names: Iterable[str], otherwise: str) -> str:
    """Return the end of a sentence about an unknown name: the known ones that are near it or contain it.

    Parameters
    ----------
    name : str
        Case, blanks and hyphens do not count.
    names : iterable of str
        Those that are known.
    otherwise : str
        The end where none is near.
    """
    known, own = {key(one): one for one in names}, key(name)
    inside = [one for one in known if len(own) > 2 and own in one]
    near = list(dict.fromkeys([*difflib.get_close_matches(own, known, n=4, cutoff=0.6), *inside]))[:4]
    return f"did you mean {' or '.join(known[one] for one in near)}?" if near else otherwise


def described(error: BaseException) -> str:
    """Return an error in a sentence: zoviz's own, and an end by time, as they are; any other with its type.

    What a black box raises has a first note, with the point and what to do, which follows.
    """
    text, kind = str(error), type(error).__name__
    if text and isinstance(error, (ZovizError, TimeoutError)):
        return text
    said, notes = f"{kind}: {text}" if text else kind, getattr(error, "__notes__", ())
    return f"{said.rstrip('.')}. {notes[0]}" if notes and notes[0].startswith(RAISED) else said
