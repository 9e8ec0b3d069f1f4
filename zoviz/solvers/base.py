"""The base class of solvers: init, step, parameters that may change in between, and the rules for their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.configurable import Configurable
from zoviz.core.parameters import Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, ExactValues, Iterate, Sketch
from zoviz.estimators import GradientEstimator
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.measured_constants import constants_of
from zoviz.solvers.step_limits import StepLimits


class Info(NamedTuple):
    """The facts about the gradient estimate of one step: its measured variance, its point, multipliers and radius.

    Attributes
    ----------
    variance : Array, shape (R,)
        Measured variance of the step's (first) gradient estimate.
    point, dual : Array, shapes (R, n) and (R, m)
        Where that gradient was estimated.
    radius : float
        The smoothing radius in use.
    added : Array, shape (R, n), or None
        Gradient of what is estimated with the Lagrangian, e.g. of a proximal term; None where it is that alone.
    """

    variance: Array
    point: Array
    dual: Array
    radius: float
    added: Array | None = None


class Target(NamedTuple):
    """The exact magnitudes of the scalar phi whose gradient is estimated, from which theory predicts a variance.

    Attributes
    ----------
    square : Array, shape (R,)
        ||grad phi||^2 where the estimate was taken.
    n : int
        Dimension of the estimate.
    slope, curvature : Array, shape (R,)
        Bounds G on ||grad phi|| over the domain and L on its Lipschitz constant.
    """

    square: Array
    n: int
    slope: Array
    curvature: Array


class Solver(Configurable):
    """An iterative method that sees a problem only through an ``Oracle``.

    ``init`` and ``step`` know neither threads nor time. Names in ``live`` (dotted for those of a nested part: an
    estimator, an inner solver) may change between two steps; all others are fixed while a run is in progress. A
    parameter left at None is chosen by ``suggest`` when the run starts.
    """

    __abstract = True

    title: ClassVar[str] = ""
    """The method's name on pages and in sentences."""
    live: ClassVar[tuple[str, ...]] = ()
    forms: ClassVar[tuple[str, ...]] = ("constrained",)
    """The kinds of task that the method solves, as ``Problem.form`` or ``Problem.kinds`` names them."""
    checkpointable: ClassVar[bool] = True
    """Whether the state holds all that the next step needs. A method that keeps more elsewhere starts again after an
    interruption and is given the values that were already paid for."""
    external: ClassVar[bool] = False
    """Whether the method is another library's, which may not be installed."""
    has_sketch: ClassVar[bool] = False
    """Whether there is a region around the iterate to be drawn, which ``sketch`` tells."""
    planned: ClassVar[tuple[str, ...]] = ()
    """Parameters that, left open, are chosen by the run's budgets (``plan``)."""
    reports_best: ClassVar[bool] = False
    """Whether, without noise, the point that the method reports is the best that it has queried."""
    noise_rank: ClassVar[int] = 0
    """How well it suits values that are found to be noisy: 0 where it has no way of its own and goes on as it is."""
    caps: ClassVar[frozenset[str]] = frozenset({"dual_cap"})
    """Parameters that only bound something: where they alone are left open, no call is paid and nothing is bounded."""
    families: ClassVar[tuple[type[GradientEstimator], ...]] = ()
    """Estimators that the method works with; the first is the paper's; none for a method without gradients."""

    estimator: Any = None
    """A ``GradientEstimator``; None for a method that estimates no gradient."""

    def made_for(self, problem: Problem) -> bool:
        """Return whether the problem is of a kind that the method solves, whatever else it needs."""
        return not {problem.form, *problem.kinds}.isdisjoint(self.forms)

    def accepts(self, problem: Problem) -> str | None:
        """Return None where the solver can run on the problem, else the reason why not, as a sentence."""
        if not self.made_for(problem):
            name = self.title or type(self).__name__
            return (
                f"{name[0].upper()}{name[1:]} solves {' and '.join(self.forms)} problems, and "
                f"{problem.title or type(problem).__name__} is {problem.form}: choose another solver."
            )
        return self.missing_package or self._no_saddle_reason(problem) or self.unsupported_reason(problem)

    def _no_saddle_reason(self, problem: Problem) -> str | None:
        """Return the sentence of a method that seeks a saddle point for a problem whose Lagrangian may have none."""
        if not self.needs_saddle_point or not problem.saddle_point_doubt:
            return None
        return (
            f"{self.title or type(self).__name__} seeks a saddle point of the Lagrangian, and "
            f"{problem.title or type(problem).__name__} may have none, as {problem.saddle_point_doubt}: choose "
            "ZO-SPLM, which adds a penalty there."
        )

    @property
    def needs_saddle_point(self) -> bool:
        """Whether the method, as its rule sets it, comes to no solution where the Lagrangian has no saddle point."""
        return False

    @property
    def asks_derivatives(self) -> bool:
        """Return whether a step asks the oracle for gradients or products, which no values can give."""
        return False

    @property
    def missing_package(self) -> str:
        """The sentence on a package that the solver needs and lacks, with the command that installs it; else empty."""
        return ""

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return the sentence why the solver cannot run on a problem of its form, or None; to be overridden."""
        return None

    def box_needed(self, problem: Problem) -> str:
        """Return the sentence of a method that refuses a domain which is no box."""
        return f"{self.title} needs a box as domain, got a {type(problem.domain).__name__}: choose ZO-SPLM."

    def plan(self, problem: Problem, budgets: Mapping[str, Any]) -> dict[str, Any]:
        """Return values for the parameters in ``planned`` that are open, by a run's budgets; before ``suggest``.

        Parameters
        ----------
        problem : Problem
        budgets : mapping
            "iterations", "calls", "seconds", "samples" and "zeta_samples"; None is unlimited.
        """
        return {}

    def suggest(self, problem: Problem, constants: Any) -> dict[str, Any]:
        """Return values for the parameters that are None, from the problem's constants; dotted names allowed."""
        return {}

    def known_constants(self, problem: Problem) -> Any:
        """Return the constants that the problem knows without a call; None where they have to be measured."""
        return problem.noisy_constants

    def learn(self, problem: Problem, oracle: Oracle, x0: Array, streams: Streams) -> Constants:
        """Return the constants that ``suggest`` takes: the problem's own, or measured at x0 (R, n) by charged calls."""
        return constants_of(problem, oracle, x0, streams)

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> Any:
        """Return the state at ``x0`` (R, n): a NamedTuple, replica axis first, of all that the next step needs."""
        raise NotImplementedError(f"{type(self).__name__} must define init(x0, oracle, streams).")

    def step(self, state: Any, oracle: Oracle, streams: Streams) -> tuple[Any, Info]:
        """Take one iteration, and return the new state with an account of its estimate."""
        raise NotImplementedError(f"{type(self).__name__} must define step(state, oracle, streams).")

    def done(self, state: Any, active: np.ndarray) -> str | None:
        """Return why no further step would change an active replica, as a sentence; None while one would.

        Parameters
        ----------
        state : NamedTuple
        active : ndarray of bool, shape (R,)
            Replicas that are not frozen.
        """
        return None

    def polish(self, state: Any, oracle: Oracle, streams: Streams) -> Iterate | None:
        """Return a better answer, made once by charged calls when the run ends; None where there is none."""
        return None

    @property
    def polishes(self) -> bool:
        """Whether the method makes such an answer."""
        return type(self).polish is not Solver.polish

    def descends(self, state: Any) -> bool:
        """Return whether steps follow estimated gradients now, so that no good course leads far uphill for long."""
        return self.estimator is not None

    def recover(self, state: Any, diverged: np.ndarray, oracle: Oracle) -> tuple[Any, np.ndarray]:
        """Return the state with which replicas that diverge go on, and which of them do; here none: a run stops them.

        Parameters
        ----------
        state : NamedTuple
        diverged : ndarray of bool, shape (R,)
            Replicas whose course the run judges to diverge.
        oracle : Oracle
            Not to be asked: for its tolerance.

        Returns
        -------
        NamedTuple, and ndarray of bool, shape (R,)
        """
        return state, np.zeros(len(diverged), dtype=bool)

    @property
    def scaling_estimator(self) -> GradientEstimator | None:
        """The estimator whose steps a run evens the coordinates' curvatures for; None: there is none."""
        estimator: GradientEstimator | None = self.estimator
        return estimator

    def begin_again(self, state: Any, x: Array, oracle: Oracle, streams: Streams) -> Any:
        """Return the state of a new beginning at x (R, n), after values there were found to be other than they seemed.

        That is where noise was found, which ``oracle.contract`` then has, or where the best values were outliers. None,
        as here: the method has no way of its own for noisy values, and goes on as it is.
        """
        return None

    def verifies(self, state: Any) -> bool:
        """Return whether, under noise, the point that is reported was chosen by repeated calls of the solver's own."""
        return False

    def is_blind(self, state: Any) -> np.ndarray:
        """Return the replicas, (R,) of bool, whose values have too few digits for the method; another may go on."""
        return np.zeros(len(self.output(state)), dtype=bool)

    def closing_note(self, state: Any) -> str:
        """Return a sentence on the outcome for the result's message; empty where there is nothing to say."""
        return ""

    def figures(self, state: Any) -> dict[str, Array]:
        """Return the columns that the method adds to the trace by name, (R,) each, e.g. its trust radius."""
        return {}

    def limits(self, constants: Constants, iterate: Iterate) -> dict[str, StepLimits]:
        """Return how far live parameters may be moved at an iterate, by (dotted) name, where that is known."""
        return {}

    def stage(self, state: Any) -> int | None:
        """Return the number of the present stage, from 0, for a method that works in stages to be marked on plots."""
        return None

    def stage_title(self, number: int) -> str:
        """Return the title of stage ``number``, from 0, for its mark on the plots."""
        return f"stage {number + 1}"

    def close(self) -> None:
        """Release processes and libraries; a run calls this at its end, in the thread that took the steps."""

    def iterate(self, state: Any) -> Iterate:
        """Return the state's iterate by its roles (point, multipliers, slack ...), from which a run measures it.

        Parameters
        ----------
        state : NamedTuple
            Here of fields ``x``, ``y`` and ``value``, the oracle's value at ``x`` under its present sample, paid for at
            the end of the step before; a method whose state has others overrides this.
        """
        return Iterate(state.x, dual=state.y, value=state.value)

    def output(self, state: Any) -> Array:
        """Return the iterate that is measured and reported, (R, n)."""
        return state.x

    def sketch(self, state: Any) -> Sketch | None:
        """Return the first replica's region and last points, in the solver's units; None where there is none.

        Any thread may ask: nothing but the state and live parameters may be read, and nothing written to.
        """
        return None

    def parts(self) -> dict[str, param.Parameterized]:
        """Return the solver itself ("") and all objects nested in it, by prefix: "inner.", "inner.estimator."."""
        parts: dict[str, param.Parameterized] = {"": self}
        for name, value in self.param.values().items():
            if isinstance(value, Solver):
                parts |= {f"{name}.{prefix}": part for prefix, part in value.parts().items()}
            elif isinstance(value, GradientEstimator):
                parts[f"{name}."] = value
        return parts

    def kinds(self, name: str) -> tuple[type[param.Parameterized], ...]:
        """Return the classes that a (dotted) nested part may be of."""
        holder, own = self.owner(name)
        if isinstance(holder, Solver) and isinstance(getattr(holder, own), GradientEstimator):
            return holder.families
        classes = holder.param[own].class_
        return classes if isinstance(classes, tuple) else (classes,)

    def owner(self, name: str) -> tuple[param.Parameterized, str]:
        """Return the object that holds a (dotted) parameter, and the parameter's own name there."""
        target: Any = self
        *path, last = name.split(".")
        for part in path:
            target = getattr(target, part)
        if last not in target.param:
            raise ValueError(f"Expected a parameter of {type(self).__name__}, got {name!r}: see {sorted(self.live)}.")
        return target, last

    def get(self, name: str) -> Any:
        """Return the value of a (dotted) parameter."""
        target, last = self.owner(name)
        return getattr(target, last)

    def set(self, name: str, value: Any) -> None:
        """Set a (dotted) parameter; Param's own checks apply."""
        target, last = self.owner(name)
        setattr(target, last, value)

    def suggestible(self) -> list[str]:
        """Return the names of parameters that are None, to be chosen by the rule; those of nested parts too."""
        return [
            f"{prefix}{name}"
            for prefix, part in self.parts().items()
            for name, parameter in part.param.objects().items()
            if isinstance(parameter, Scale) and getattr(part, name) is None
        ]

    def relative_variance(self, n: int) -> float:
        """Return the noise-free variance of the estimate of a gradient of norm 1 in n variables."""
        return float(self.estimator.predicted_variance(np.ones(1), n, 0.0, 1.0)[0])

    def noise_factor(self, constants: Constants, n: int, radius: float) -> float:
        """Return by how much independent noise raises an estimate's mean square at the start: 1 + N / [G^2 (1 + v)].

        N is the noise's part of the variance, v the rest relative to G^2, and G = max(G_f0, L_f r) the gradient's size,
        with G_f0 that at the starts: a bound over the whole domain may be ten times as large, and would call noise
        small that is not. The noise is the Lagrangian's (``Constants.lagrangian_noise``). A step is to be divided by
        it, as by 1 + v: what an estimate adds to ||x - x*||^2 then falls short of what its mean takes away.
        """
        sigma = constants.lagrangian_noise
        if not sigma:
            return 1.0
        noise = float(self.estimator.predicted_variance(np.zeros(1), n, sigma**2, radius)[0])
        size = constants.gradient_size(radius) ** 2
        return 1.0 + noise / (size * (1.0 + self.relative_variance(n)))

    def theory(self, problem: Problem, info: Info, exact: ExactValues | None = None) -> dict[str, Array]:
        """Return the variance that theory predicts for a step's estimate, and the papers' bounds on it, at no call.

        Parameters
        ----------
        problem : Problem
        info : Info
        exact : ExactValues, optional
            Values and gradients at ``info.point``, where the caller has them already; computed otherwise.

        Returns
        -------
        dict of str to Array, shape (R,)
            ``variance_predicted``, and ``bound: <source>`` for each published bound; empty where the problem has no
            exact gradients, or the method no estimator.
        """
        estimator = self.estimator
        target = None if estimator is None else self.target(problem, info, exact)
        if target is None:
            return {}
        noise = problem.lagrangian_noise(info.dual)
        prediction = estimator.predicted_variance(target.square, target.n, noise, info.radius)
        bounds = estimator.published_bounds(target.slope, target.curvature, target.n, info.radius)
        return {"variance_predicted": prediction} | {f"bound: {source}": bound for source, bound in bounds.items()}

    def target(self, problem: Problem, info: Info, exact: ExactValues | None = None) -> Target | None:
        """Return exact magnitudes of the scalar that the estimator works on: the Lagrangian in x and what is added."""
        constants = problem.constants
        gradients = problem.gradient(info.point) if exact is None else exact.gradients
        if gradients is None or constants is None:
            return None
        lagrangian = gradients[0] + np.matmul(info.dual[:, None, :], gradients[1])[:, 0, :]
        size = np.sqrt(np.square(info.dual).sum(axis=-1))
        slope = constants.slope + size * constants.constraint_slope
        if info.added is not None:
            lagrangian, slope = lagrangian + info.added, slope + np.linalg.norm(info.added, axis=-1)
        return Target(
            square=np.square(lagrangian).sum(axis=-1),
            n=lagrangian.shape[-1],
            slope=slope,
            curvature=constants.curvature + size * constants.constraint_curvature,
        )
