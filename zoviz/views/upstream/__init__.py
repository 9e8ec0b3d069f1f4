"""All that zoviz replaces inside Panel and Bokeh: one file for each, with the reason and the figure of each part.

A part that is for speed or for order is applied to the versions for which it was checked, and to no others: a line in
the log says so. What is for security is applied to all.
"""

from __future__ import annotations

import importlib.metadata
import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from packaging.specifiers import SpecifierSet

VERSIONS = {"bokeh": ">=3.9,<3.10", "panel": ">=1.9.4,<1.10"}
"""Versions of the libraries for which their files here were checked."""

_Replace = TypeVar("_Replace", bound=Callable[..., None])


def suits(library: str) -> bool:
    """Return whether a library's installed version is one for which its file was checked."""
    return SpecifierSet(VERSIONS[library]).contains(importlib.metadata.version(library), prereleases=True)


def checked(library: str) -> Callable[[_Replace], _Replace]:
    """Return a decorator of a function that replaces something inside a library: elsewhere it does nothing.

    Parameters
    ----------
    library : str
        "bokeh" or "panel".
    """

    def decorate(replace: _Replace) -> _Replace:
        @wraps(replace)
        def apply(*args: Any) -> None:
            if suits(library):
                replace(*args)
            else:
                logging.getLogger("zoviz").warning(
                    "%s was checked for %s %s, and is not applied to version %s.",
                    replace.__name__,
                    library,
                    VERSIONS[library],
                    importlib.metadata.version(library),
                )

        return cast(_Replace, apply)

    return decorate
