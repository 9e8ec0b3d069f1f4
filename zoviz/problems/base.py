"""The base class of problems: values, exact measures that are not charged, and additive noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import param

from zoviz.core.seeds import draw_seeds
from zoviz.core.sets import Set
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, ExactValues, Iterate, Optimum, Printed, Tally
from zoviz.evaluation.worker_log import WorkerTable
from zoviz.problems.noise import Noisy


class Problem(Noisy):
    """A problem to minimise: f(x) subject to h(x) <= 0 and x in X.

    A subclass provides ``n``, ``m``, ``domain`` and ``evaluate``, and whatever else it knows: ``gradient``,
    ``known_optimum``, ``constants``. Its data follow from its parameters alone (``build``), so that a problem can be
    rebuilt anywhere from its class path and parameter values. Data that have themselves a ``domain``, ``constants`` or
    an ``optimum`` give the problem its own.
    """

    __abstract = True

    title: ClassVar[str] = ""
    """Name for people."""
    order: ClassVar[int] = 50
    """Place in lists."""
    analytic: ClassVar[bool] = True
    """Whether values are exact and free, so that measures may be taken at any point off the books."""
    form: ClassVar[str] = "constrained"
    """Kind of task, which a solver names in ``Solver.forms``: "constrained" is min f(x) s.t. h(x) <= 0, x in X."""
    kinds: ClassVar[tuple[str, ...]] = ()
    """Narrower kinds within its form that it is of, which a solver may name in ``Solver.forms`` instead of the form."""
    stochastic: ClassVar[bool] = False
    """Whether values under a sample xi differ from the objective, so that no best point can be read off them."""
    online: ClassVar[bool] = False
    """Whether every iteration is a round with a task of its own, which its sample holds whatever the noise contract."""
    convex_constraints: ClassVar[bool | None] = None
    """Whether all constraints are convex functions on X; None where that is not known."""
    costly: ClassVar[bool] = False
    """Whether every value is a simulation, so that tests of full length are left to the slow ones."""
    keeps_bounds: bool = False
    """Whether X, a box, holds for every call, also those of differences; often a parameter. Otherwise for iterates."""
    seeds: bool = False
    """Whether a call takes a seed, which its sample is; of a person's own functions or program a parameter."""
    partial: ClassVar[bool] = False
    """Whether there may be points of X without a value, the start among them."""
    programs: ClassVar[tuple[str, ...]] = ()
    """Parameters that say what is launched: a stored problem is made again only where somebody trusts them."""

    scaled = param.Boolean(
        default=False,
        label="Scale to order 1",
        doc="Scale variables, objective and constraints to order 1 for the solver, by 5 calls and, in a box, "
        "some more for each variable. Results stay in your units.",
    )

    start_radius: float | None = None
    """Half-width of the cube around the origin in which starts are drawn, often a parameter; None: in all of X."""

    if TYPE_CHECKING:  # to be read only: a property, a parameter or an attribute of a subclass

        @property
        def n(self) -> int:
            """Number of variables."""

        @property
        def domain(self) -> Set:
            """The simple set X."""

    else:

        @property
        def domain(self) -> Set:
            """The simple set X: the one that was set, else that of ``data``."""
            domain = getattr(self.data, "domain", None) if self._domain is None else self._domain
            if domain is None:
                raise NotImplementedError(f"{type(self).__name__} must have a domain, or build() data that have one.")
            return domain

        @domain.setter
        def domain(self, domain: Set) -> None:
            self._domain = domain

    _domain: Set | None = None
    _data: Any = None

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        # What data depend on is only known of the class that is made, so that @param.depends cannot name it here.
        names = [name for name in self.param if name not in ("name", "scaled") and not name.startswith("noise")]
        if names:
            self.param.watch(self._forget, names)

    def _forget(self, *_: param.parameterized.Event) -> None:
        self._data = None

    @property
    def data(self) -> Any:
        """The problem's arrays, built from its parameters when they are first needed."""
        if self._data is None:
            self._data = self.build()
        return self._data

    @property
    def prepared(self) -> bool:
        """Whether ``data`` have been built."""
        return self._data is not None

    def take_data(self, clone: Problem) -> None:
        """Take over the ``data``, if they have been built, of a clone with the same parameters."""
        self._data = clone._data

    @property
    def constraint_kind(self) -> str:
        """Which constraints it has, in words, where its collection says so, else empty; statistics are cut by it."""
        return ""

    @property
    def saddle_point_doubt(self) -> str:
        """Why the Lagrangian may have no saddle point, as a clause; empty where nothing known speaks against one."""
        return "its constraints are not convex" if self.convex_constraints is False else ""

    @property
    def published_name(self) -> str:
        """Name in its published collection, where values and starts are those published, else empty."""
        return ""

    @property
    def keeps_rows(self) -> bool:
        """Whether there are constraints that no call may violate."""
        return False

    @property
    def kept_rows(self) -> np.ndarray:
        """Which constraints are, (m,) of bool."""
        return np.zeros(self.m, dtype=bool)

    def build(self) -> Any:
        """Compute from the parameters everything that ``evaluate`` needs, and return it; kept as ``data``."""
        return ()

    @property
    def sampled_rows(self) -> bool:
        """Whether constraints are seen through samples zeta of their own, which are counted apart."""
        return False

    def clone(self) -> Self:
        """Return a clone with the same parameters and data, and no watcher in common."""
        clone = super().clone()
        clone._data = self._data
        return clone

    def clone_apart(self) -> Self:
        """Return a clone that leaves no trace in this problem: what it prints and logs is its own."""
        return self.clone()

    def release(self) -> None:
        """Release what evaluating holds open, e.g. processes; a run calls it when it ends."""

    @property
    def failure_message(self) -> str:
        """The sentence why the first failed evaluation failed; empty where none failed or nothing is known."""
        return ""

    @property
    def printed(self) -> tuple[Printed, ...]:
        """The outputs of the last evaluations, oldest first; empty where nothing is printed. Any thread may read it."""
        return ()

    @property
    def worker_table(self) -> WorkerTable:
        """Who computes the values, where several workers do. Any thread may read it."""
        return WorkerTable()

    def snapshot(self) -> dict[str, Any]:
        """Return what evaluating has changed in the problem, numbers and text by name, for a run's checkpoint."""
        return {}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Take over another instance's ``snapshot``, or part of it.

        ``evaluation_count`` in it is the number of points that a run has asked for so far.
        """

    def count_constraints(self, place: Array, xi: Any = None) -> bool:
        """Find out the number of constraints where only a call shows it: at the first place (n,) of a run.

        Parameters
        ----------
        place : Array, shape (n,)
        xi : object, optional
            The first sample of that run.

        Returns
        -------
        bool
            Whether it is known now: if not, another place may tell it.
        """
        return True

    @property
    def parallel_calls(self) -> int:
        """How many calls are made at a time: a user's workers."""
        return 1

    @property
    def pointwise(self) -> bool:
        """Whether a batch is evaluated point by point, by ``collect``, so that parts of it may be too."""
        return False

    def collect(
        self,
        points: Array,
        each: Callable[[int, Evaluation], object] | None = None,
        xi: np.ndarray | None = None,
        ahead: Sequence[Array] = (),
    ) -> Evaluation:
        """Evaluate points (k, n) one by one, calling ``each`` with index and value as soon as a value is there.

        ``xi`` has their samples, where they have some, for each point or for as many points after the other. ``ahead``
        has points (n,) of later calls, with which workers may begin that have nothing else to do.
        """
        raise NotImplementedError(f"{type(self).__name__} does not evaluate point by point.")

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        """Return the values f (...) and h (..., m) at points x (..., n), without additive noise.

        Parameters
        ----------
        x : Array, shape (..., n)
        xi : object, optional
            The sample that ``draw`` returned.
        """
        raise NotImplementedError(f"{type(self).__name__} must define evaluate(x, xi).")

    def draw(
        self, iteration: int, streams: Streams, shape: tuple[int, ...] = (), size: int | tuple[int, ...] = 1
    ) -> Any:
        """Draw the sample xi of one iteration (``shape`` empty) or of each point of a batch; None where there is none.

        By default a seed of each, (R, *shape) of int, for a problem that takes ``seeds``.

        Parameters
        ----------
        iteration : int
        streams : Streams
        shape : tuple of int
            Points of a batch that draw each their own.
        size : int or tuple of int
            Of the mini-batch, as the solver asked for it.

        Returns
        -------
        object or None
            An array or ``Sample`` with the replica axis first.
        """
        return draw_seeds(streams, shape) if self.seeds else None

    def gradient(self, x: Array, xi: Any = None) -> tuple[Array, Array] | None:
        """Return the exact gradients (..., n) of f and (..., m, n) of h, at no call; None where they are unknown."""
        return None

    def value_and_gradient(self, x: Array) -> tuple[Evaluation, tuple[Array, Array] | None]:
        """Return ``evaluate`` and ``gradient`` at points x (..., n); overridden where both share their work."""
        return self.evaluate(x), self.gradient(x)

    def exact_values(self, x: Array) -> ExactValues | None:
        """Return values and gradients at x (R, n), at no call; None where ``metrics`` does not need them."""
        return ExactValues(x, *self.value_and_gradient(x)) if self.analytic else None

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the variables and of the constraints, n and m, by default x1, x2 ... and h1, h2 ...."""
        return tuple(f"x{i + 1}" for i in range(self.domain.n)), tuple(f"h{j + 1}" for j in range(self.m))

    @property
    def known_optimum(self) -> Optimum | None:
        """A solution, where one is known: that of ``data``, if they have one."""
        return getattr(self.data, "optimum", None)

    @property
    def constants(self) -> Constants | None:
        """Curvatures and slopes for step-size rules, where they are known without a call: those of ``data``, if any."""
        return getattr(self.data, "constants", None)

    def initial(self, streams: Streams) -> Array:
        """Return starting points (R, n): uniform in X, or in the cube of ``start_radius``, projected on X."""
        unit = streams.uniform("x0", self.domain.n)
        if self.start_radius is None:
            return self.domain.sample(unit)
        return self.domain.project(self.start_radius * (2.0 * unit - 1.0))

    def other_start(self, x0: Array, attempt: int, streams: Streams) -> Array:
        """Return other starts (R, n) than x0, which gave no values, at each attempt, from 1: drawn again."""
        return self.initial(streams)

    @property
    def noisy_constants(self) -> Constants | None:
        """The ``constants`` with the standard deviations of the additive noise; None where they are unknown."""
        constants, variances = self.constants, self.noise_variances
        if constants is None:
            return None
        return replace(constants, noise=float(variances[0] ** 0.5), constraint_noise=float(variances[1:].sum() ** 0.5))

    def tally(self, replicas: int) -> Tally | None:
        """Return what sums figures over every iteration, e.g. a regret; None where a trace's rows say everything."""
        return None

    def phases(self, iteration: int) -> list[tuple[int, str]]:
        """Return the iterations up to this one at which the task changed abruptly, each with the new phase's name."""
        return []

    def measures(self, iterate: Iterate, sample: Any, exact: ExactValues | None = None) -> dict[str, Array]:
        """Measure a solver's iterate, at no call: ``metrics``, unless a problem knows more.

        Parameters
        ----------
        iterate : Iterate
        sample : object
            The oracle's present sample.
        exact : ExactValues, optional
            ``exact_values(iterate.x)``, where they are there already.

        Returns
        -------
        dict of str to Array, shape (R,)
        """
        return self.metrics(iterate.x, iterate.dual, iterate.value, exact)

    def metrics(
        self, x: Array, y: Array | None, value: Evaluation | None, exact: ExactValues | None = None
    ) -> dict[str, Array]:
        """Measure R iterates, at no call, exactly where the problem is analytic.

        Parameters
        ----------
        x : Array, shape (R, n)
        y : Array, shape (R, m), optional
            Dual variables.
        value : Evaluation, optional
            The oracle's own values at ``x``: what is measured where the problem is not analytic.
        exact : ExactValues, optional
            ``exact_values(x)``, where they are there already; computed else.

        Returns
        -------
        dict of str to Array, shape (R,)
            ``objective``; ``violation`` ||[h]_+||; ``gap`` f - f* and ``relative_gap`` |f - f*|/|f*| where f* is
            known; ``stationarity`` where gradients are known: the largest of ||x - P_X(x - grad L)||, ||[h]_+|| and
            |<y, h>|. The first, a projected step of length 1, is at most the distance of -grad L from the normal cone
            of X, and may be much less at a point from which the bounds are near.

        References
        ----------
        Paper splm, Definition 1, (6)-(8).
        """
        gradients = None
        if exact is not None:
            value, gradients = exact.value, exact.gradients
        elif self.analytic or value is None:
            value, gradients = self.value_and_gradient(x)
        violation = np.sqrt(np.square(np.maximum(value.h, 0.0)).sum(axis=-1))
        out = {"objective": value.f, "violation": violation}
        optimum = self.known_optimum
        if optimum is not None:
            out["gap"] = value.f - optimum.value
            if optimum.value:
                out["relative_gap"] = np.abs(out["gap"] / optimum.value)
        if y is not None and gradients is not None:
            slope = gradients[0] + np.matmul(y[:, None, :], gradients[1])[:, 0, :]
            residual = self.domain.project(x - slope) - x
            distance = np.sqrt(np.square(residual).sum(axis=-1))
            slack = np.abs((y * value.h).sum(axis=-1))
            out["stationarity"] = np.maximum(np.maximum(distance, violation), slack)
        return out
