"""Data tables of people or tumours with a label and a sensitive attribute, for fair classification."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zoviz.core.optional import folder, require
from zoviz.core.types import Array
from zoviz.problems.learning.openml import datasets, fetched


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

    def people(self, rows: np.ndarray) -> Table:
        """Return the table of some people, indices (M,), in the units of all."""
        return self._replace(features=self.features[rows], labels=self.labels[rows], sensitive=self.sensitive[rows])


SOURCES = ("breast cancer", "arrests", "adult", "german credit")
_OPENML = {
    # name and version; as for ``_ARRESTS``
    "adult": ("adult", 2, ("class", ">50K", "sex", "Female", "is a woman")),
    "german credit": ("credit-g", 1, ("class", "good", "personal_status", "female", "is a woman")),
}
_ARRESTS = ("released", "Yes", "colour", "Black", "is black")
"""Label and the value that counts as +1, sensitive column, what its values with 1 contain, words."""


def table(source: str) -> Table:
    """Load a data set by name, one of ``SOURCES``.

    "breast cancer" comes inside scikit-learn, 569 tumours, +1 for benign ones. It has no sensitive attribute; the one
    derived here is whether a tumour's mean texture exceeds the median, and the three columns on texture are left out of
    the features. "arrests" are 5226 people arrested in Toronto for simple possession of marijuana, +1 where released
    with a summons, with colour as the attribute: a file within the package scikit-lego, which is not imported. "adult"
    and "german credit" are fetched from OpenML, with sex as the attribute. Columns of categories become one column for
    each category, without the sensitive one.

    Raises
    ------
    MissingExtra
        Without scikit-learn; for "arrests", without scikit-lego, the extra ``people``.
    ZovizError
        Where OpenML cannot be reached.
    """
    if source == "breast cancer":
        return _breast_cancer()
    if source == "arrests":
        file = folder("sklego", "people", "scikit-lego") / "data" / "arrests.zip"
        return _of_frame(require("pandas", "people").read_csv(file), *_ARRESTS)
    name, version, columns = _OPENML[source]
    bunch = fetched(source, "breast cancer", name, version, as_frame=True, parser="auto")
    return _of_frame(bunch.frame.dropna(), *columns)


def _breast_cancer() -> Table:
    bunch = datasets().load_breast_cancer()
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


def _of_frame(frame: Any, label: str, positive: str, column: str, mark: str, words: str) -> Table:
    """Return the table of a data frame of people."""
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


def _standardised(columns: Array) -> Array:
    """Scale columns to mean 0 and variance 1, and add a column of ones."""
    scaled = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    return np.concatenate([scaled, np.ones((len(columns), 1))], axis=1)
