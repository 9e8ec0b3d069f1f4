"""Data tables of people or tumours with a label and a sensitive attribute, for fair classification."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.optional import require
from zoviz.core.types import Array


class Table(NamedTuple):
    """The features, labels and sensitive attribute on which a fair classifier is trained.

    Attributes
    ----------
    features : Array, shape (N, d)
        Standardised, mean 0 and variance 1 each; the last column is 1, for the intercept.
    labels : Array, shape (N,)
        -1 or +1.
    sensitive : Array, shape (N,)
        0 or 1.
    names : tuple of str
        Of the features.
    attribute : str
        What the sensitive attribute says, in words.
    """

    features: Array
    labels: Array
    sensitive: Array
    names: tuple[str, ...]
    attribute: str


SOURCES = ("breast cancer", "adult", "german credit")
_OPENML = {
    # name, version, label and the value that counts as +1, sensitive column, what its values with 1 contain, words
    "adult": ("adult", 2, "class", ">50K", "sex", "Female", "is a woman"),
    "german credit": ("credit-g", 1, "class", "good", "personal_status", "female", "is a woman"),
}


def table(source: str) -> Table:
    """Load a data set by name, one of ``SOURCES``.

    "breast cancer" comes inside scikit-learn, 569 tumours, +1 for benign ones. It has no sensitive attribute; the one
    derived here is whether a tumour's mean texture exceeds the median, and the three columns on texture are left out of
    the features. "adult" and "german credit" are fetched from OpenML, with sex as the attribute; columns of categories
    become one column for each category, without the sensitive one.

    Raises
    ------
    MissingExtra
        Without scikit-learn.
    ZovizError
        Where OpenML cannot be reached.
    """
    return _breast_cancer() if source == "breast cancer" else _from_openml(source)


def _datasets() -> ModuleType:
    """Import scikit-learn's module of data sets."""
    require("sklearn", "data")
    return require("sklearn.datasets", "data")


def _breast_cancer() -> Table:
    bunch = _datasets().load_breast_cancer()
    names = [str(name) for name in bunch.feature_names]
    texture = bunch.data[:, names.index("mean texture")]
    columns = [i for i, name in enumerate(names) if "texture" not in name]
    return Table(
        _standardised(bunch.data[:, columns]),
        np.where(bunch.target == 1, 1.0, -1.0),
        (texture > np.median(texture)).astype(float),
        (*(names[i] for i in columns), "intercept"),
        "has a mean texture above the median",
    )


def _from_openml(source: str) -> Table:
    name, version, label, positive, column, mark, words = _OPENML[source]
    frame = _fetched(source, name, version).dropna()
    parts, names = [], []
    for other in frame.columns.drop([label, column]):
        values = frame[other].to_numpy()
        try:
            parts.append(values.astype(float)[:, None])
            names.append(str(other))
        except ValueError:
            kinds = sorted({str(value) for value in values})
            parts.append((values.astype(str)[:, None] == np.array(kinds)).astype(float))
            names += [f"{other} = {kind}" for kind in kinds]
    features = np.concatenate(parts, axis=1)
    varies = features.std(axis=0) > 0
    return Table(
        _standardised(features[:, varies]),
        np.where(frame[label].astype(str).to_numpy() == positive, 1.0, -1.0),
        np.array([mark in str(value) for value in frame[column]], dtype=float),
        (*np.array(names)[varies].tolist(), "intercept"),
        words,
    )


def _fetched(source: str, name: str, version: int) -> Any:
    """Load a data frame from OpenML, or from scikit-learn's cache of it."""
    datasets = _datasets()
    try:
        return datasets.fetch_openml(name=name, version=version, as_frame=True, parser="auto").frame
    except OSError as error:  # URLError and timeouts are OSErrors
        raise ZovizError(
            f"Expected to fetch the data set {source!r} from openml.org, got no answer ({error}): connect to a "
            'network, or choose the data "breast cancer", which needs none.'
        ) from error


def _standardised(columns: Array) -> Array:
    """Scale columns to mean 0 and variance 1, and add a column of ones."""
    scaled = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    return np.concatenate([scaled, np.ones((len(columns), 1))], axis=1)
