"""Data sets that scikit-learn fetches from openml.org, or from its cache of them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from zoviz.core.errors import ZovizError
from zoviz.core.optional import require


def datasets() -> ModuleType:
    """Import scikit-learn's module of data sets.

    Raises
    ------
    MissingExtra
        Where it is not installed.
    """
    require("sklearn", "data")
    return require("sklearn.datasets", "data")


def fetched(source: str, instead: str, name: str, version: int, **options: Any) -> Any:
    """Return what ``fetch_openml`` does for a data set.

    Parameters
    ----------
    source : str
        What zoviz calls the data.
    instead : str
        The data that need no network.
    name, version
        At OpenML.
    options
        Of ``fetch_openml``: which form the data have.

    Raises
    ------
    ZovizError
        Where OpenML cannot be reached.
    """
    try:
        return datasets().fetch_openml(name=name, version=version, **options)
    except OSError as error:  # URLError and timeouts are OSErrors
        raise ZovizError(
            f"Expected to fetch the data set {source!r} from openml.org, got no answer ({error}): connect to a "
            f'network, or choose the data "{instead}", which needs none.'
        ) from error
