"""UM-Bridge in both directions: a served model becomes a problem, and a problem is served as a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zoviz.core.optional import base, require
from zoviz.core.types import Array
from zoviz.problems.base import Problem

Base: Any = base("umbridge", "Model", "umbridge", "ServedProblem")


class RemoteModel:
    """A function for a ``BlackBox`` with ``joint=True``, which a model on a server evaluates: f is its first output.

    Parameters
    ----------
    url, name : str
        Of the server, and of the model there.
    config : mapping, optional
        The model's configuration.

    Attributes
    ----------
    n, m : int
        Numbers of variables, and of outputs beside f.
    """

    def __init__(self, url: str, name: str, config: Mapping[str, Any] | None = None) -> None:
        self._url, self._name, self._config = url, name, dict(config or {})
        model = self._connect()
        self._inputs: list[int] = model.get_input_sizes(self._config)
        self.n, self.m = sum(self._inputs), sum(model.get_output_sizes(self._config)) - 1

    def _connect(self) -> Any:
        self._model = require("umbridge", "umbridge", "a model of UM-Bridge").HTTPModel(self._url, self._name)
        return self._model

    def __call__(self, x: Array) -> tuple[float, list[float]]:
        """Return f and h at x (n,)."""
        parts = np.split(x, np.cumsum(self._inputs)[:-1])
        blocks = self._model([part.tolist() for part in parts], self._config)
        f, *h = [float(value) for block in blocks for value in block]
        return f, h

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_model"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._connect()


class ServedProblem(Base):
    """A problem as a model for ``umbridge.serve_models``: one input x, and two outputs, f and h.

    Parameters
    ----------
    problem : Problem
    name : str
    """

    def __init__(self, problem: Problem, name: str = "problem") -> None:
        super().__init__(name)
        self._problem = problem

    def get_input_sizes(self, config: Mapping[str, Any]) -> list[int]:
        """Return the size of the only input, x."""
        return [self._problem.domain.n]

    def get_output_sizes(self, config: Mapping[str, Any]) -> list[int]:
        """Return the sizes of f and h; of f alone where there are no constraints."""
        return [1, self._problem.m] if self._problem.m else [1]

    def supports_evaluate(self) -> bool:
        """Return True: the model provides values, no derivatives."""
        return True

    def __call__(self, parameters: list[list[float]], config: Mapping[str, Any]) -> list[list[float]]:
        """Evaluate the problem at a point.

        Raises
        ------
        ValueError
            Where the call fails, which the client then learns.
        """
        value = self._problem.evaluate(np.array(parameters))
        if not value.finite.all():
            raise ValueError(f"Expected finite values at {parameters[0]}, got none. {self._problem.failure_message}")
        outputs: list[list[float]] = [value.f.tolist(), *value.h.tolist()]
        return outputs[: 1 + bool(self._problem.m)]
