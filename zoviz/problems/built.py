"""Problems whose instance holds all that is asked of them, and a start around the origin."""

from __future__ import annotations

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Optimum
from zoviz.problems.base import Problem


class Built(Problem):
    """A problem whose ``build`` returns an instance with a ``domain``, and ``constants`` and ``optimum`` if known."""

    __abstract = True

    @property
    def domain(self) -> Box:
        """The box X of the instance."""
        return self.data.domain

    @property
    def constants(self) -> Constants | None:
        """Those of the instance; None where it has none."""
        return getattr(self.data, "constants", None)

    @property
    def known_optimum(self) -> Optimum | None:
        """That of the instance; None where it has none."""
        return getattr(self.data, "optimum", None)


class StartsAround(Problem):
    """A problem that starts uniformly in a cube around the origin, whose half-width is its parameter."""

    __abstract = True

    start_radius: float

    def initial(self, streams: Streams) -> Array:
        """Uniform in [-start_radius, start_radius]^n, projected on X, shape (R, n)."""
        return self.domain.project(self.start_radius * (2.0 * streams.uniform("x0", self.domain.n) - 1.0))
