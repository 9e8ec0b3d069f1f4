"""An Optuna sampler: a zoviz session chooses the parameters of a study's trials."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from zoviz.ask_tell.session import AskTell, Batch
from zoviz.core.errors import ZovizError
from zoviz.core.optional import base
from zoviz.problems.noise import UNKNOWN
from zoviz.runs.engine.result import Result
from zoviz.solvers.base import Solver
from zoviz.solvers.portfolio.choice import AUTO

Base: Any = base("optuna.samplers", "BaseSampler", "optuna", "ZovizSampler")
COMPLETE = "COMPLETE"
"""Name of the state of a trial that has a value."""
ROUNDING = 1e-13
"""How far the logarithm of a stored parameter may be from the one that was chosen."""


class Variable(NamedTuple):
    """A trial's parameter as a variable of the solver; its logarithm if it is suggested with ``log=True``.

    Attributes
    ----------
    name : str
    low, high : float
        Its range.
    log : bool
    """

    name: str
    low: float
    high: float
    log: bool

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of the variable."""
        return self.variable(self.low), self.variable(self.high)

    def variable(self, parameter: float) -> float:
        """Return the variable for a parameter."""
        return math.log(parameter) if self.log else float(parameter)

    def parameter(self, variable: float) -> float:
        """Return the parameter for a variable; rounding may not lead out of its range."""
        return min(max(math.exp(variable) if self.log else float(variable), self.low), self.high)


class Claim(NamedTuple):
    """The point that a trial evaluates, by its id (None for a first trial), and the thread that requested it."""

    id: int | None
    thread: int


class ZovizSampler(Base):
    """An Optuna sampler whose trials are a solver's calls, with Optuna's constraints.

    Parameters are floats, without a step. The first trial shows which ones there are, and how many constraints
    (``trial.set_constraint``, feasible where <= 0); the solver starts there. A trial that is pruned, fails, or leaves
    out a constraint is a failed call. Trials in parallel (``n_jobs``) share the points that a step of the solver needs;
    one that finds none left waits for the others.

    Parameters
    ----------
    solver : Solver, its class or name
        ``"auto"`` chooses by dimension, noise and budget as ``minimize`` does.
    x0 : mapping of str to float, optional
        Start by names of parameters; the others start in the middle of their ranges.
    noise : str
        As for ``AskTell``.
    seed : int
    calls : int, optional
        Budget, after which the study is stopped; without it the study ends as ``optimize`` says.

    Raises
    ------
    ValueError
        In a trial: for integer, stepped and categorical parameters, those that the first trial had not, and studies
        of several objectives.

    Notes
    -----
    A study that is loaded from its storage goes on with a sampler of the same settings as if it had not been
    interrupted: trials that have ended are entered again at no call. One process at a time may sample for a study.

    Examples
    --------
    >>> import optuna
    >>> from zoviz.adapters.optuna import ZovizSampler
    >>> def objective(trial):
    ...     x, y = trial.suggest_float("x", -2, 2), trial.suggest_float("y", -2, 2)
    ...     trial.set_constraint("right", 1 - x)
    ...     return x**2 + y**2
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=ZovizSampler(x0={"x": 1.5, "y": 1.0}))
    >>> study.optimize(objective, n_trials=60)
    >>> round(study.best_value, 3)
    1.0
    """

    def __init__(
        self,
        solver: Solver | type[Solver] | str = AUTO,
        *,
        x0: Mapping[str, float] | None = None,
        noise: str = UNKNOWN,
        seed: int = 0,
        calls: int | None = None,
    ) -> None:
        self._x0 = dict(x0 or {})
        self._settings: dict[str, Any] = {"solver": solver, "noise": noise, "seed": seed, "calls": calls}
        self._session: AskTell | None = None
        self._variables: tuple[Variable, ...] = ()
        self._constraints: tuple[str, ...] = ()
        self._claims: dict[int, Claim] = {}
        self._turn = threading.Condition()

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._settings | {"x0": self._x0},)  # the rest is in the study

    @property
    def result(self) -> Result:
        """The result so far; for a study that maximises, that of the negated objective.

        Raises
        ------
        ZovizError
            Before the solver has begun.
        """
        if self._session is None:
            raise ZovizError("Expected a study with a complete trial, got none: its first trial is the solver's start.")
        return self._session.result

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
        from optuna.distributions import FloatDistribution

        with self._turn:
            while self._session is None and not self._begin(study, _stored(study)):
                if not self._claims:
                    self._claims[trial.number] = Claim(None, threading.get_ident())
                    return {}
                self._wait()
        return {one.name: FloatDistribution(*one[1:]) for one in self._variables}

    def sample_relative(self, study: Any, trial: Any, search_space: Mapping[str, Any]) -> dict[str, float]:
        from optuna import TrialPruned

        if not search_space:
            return {}
        with self._turn:
            while True:
                session = self._session
                if session is None or session.done:
                    raise TrialPruned("The solver has ended, and needs no further trial.")
                batch, claimed = session.ask(), [claim.id for claim in self._claims.values()]
                free = np.flatnonzero([number not in claimed for number in batch.ids])
                if free.size:
                    break
                self._wait()
            self._claims[trial.number] = Claim(int(batch.ids[free[0]]), threading.get_ident())
            point = batch.x[free[0]]
        return {one.name: one.parameter(x) for one, x in zip(self._variables, point, strict=True)}

    def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> float:
        """Return the start for a study's first trial, or a random value if earlier trials have failed."""
        if self._session is not None:
            names = ", ".join(one.name for one in self._variables)
            raise ValueError(
                f"Expected the parameters and ranges of the first trial ({names}), got {param_name} of "
                f"{param_distribution}: have the same ones in every trial."
            )
        one = _variable(param_name, param_distribution)
        if not len(_stored(study)):
            return one.parameter(self._start(one))
        random = np.random.default_rng([self._settings["seed"], trial.number, len(trial.params)])
        return one.parameter(random.uniform(*one.bounds))

    def after_trial(self, study: Any, trial: Any, state: Any, values: Sequence[float] | None) -> None:
        with self._turn:
            try:
                if self._session is None:
                    self._begin(study, [*_stored(study), (trial, state, values)])
                else:
                    self._tell(study, trial, state, values)
            finally:
                self._claims.pop(trial.number, None)
                self._turn.notify_all()
            if self._session is not None and self._session.done:
                with contextlib.suppress(RuntimeError):  # outside of optimize there is nothing to stop
                    study.stop()

    def _begin(self, study: Any, trials: Sequence[tuple[Any, Any, Any]]) -> bool:
        """Begin a session at the first trial that is complete, and enter all of them; False where there is none."""
        first = next((trial for trial, end, _ in trials if end.name == COMPLETE and trial.params), None)
        if first is None:
            return False
        if len(study.directions) > 1:
            raise ValueError(
                f"Expected a study of one objective, got {len(study.directions)}: make all but one constraints."
            )
        free = {name: one for name, one in first.distributions.items() if not one.single()}
        self._variables = tuple(_variable(name, one) for name, one in free.items())
        # A storage keeps no order; c2 comes before c10.
        self._constraints = tuple(sorted(first.constraints, key=lambda name: (len(name), name)))
        start = [self._start_at(one, first.params[one.name]) for one in self._variables]
        bounds = [one.bounds for one in self._variables]
        self._session = AskTell(bounds=bounds, x0=start, m=len(self._constraints), **self._settings)
        waiting, before = list(trials), len(trials) + 1
        while len(waiting) < before:  # again: of trials in parallel a later one may have had an earlier point
            before = len(waiting)
            waiting = [one for one in waiting if not self._tell(study, *one)]
        return True

    def _tell(self, study: Any, trial: Any, end: Any, values: Sequence[float] | None) -> bool:
        """Tell the outcome of a trial, and return whether it belongs to a point that is open."""
        session = self._session
        if session is None or session.done:
            return False
        batch = session.ask()
        row = self._row(batch, trial)
        if row is None:
            return False
        sign = -1.0 if study.direction.name == "MAXIMIZE" else 1.0
        f, limits = np.nan, {}
        if end.name == COMPLETE and values is not None:
            f, limits = sign * values[0], trial.constraints
        session.tell(batch.take([row]), [f], [[limits.get(name, np.nan) for name in self._constraints]])
        return True

    def _row(self, batch: Batch, trial: Any) -> int | None:
        """Return the place of a trial's point in a batch: its own, or else an open one with all of its parameters."""
        claims = self._claims.copy()
        own = claims.pop(trial.number, None)
        named = [(i, one) for i, one in enumerate(self._variables) if one.name in trial.params]
        x = np.array([one.variable(trial.params[one.name]) for _, one in named])
        rounding = np.array([ROUNDING if one.log else 0.0 for _, one in named])
        same = (np.abs(batch.x[:, [i for i, _ in named]] - x) <= rounding).all(axis=1)
        if own is not None and own.id is not None and len(rows := np.flatnonzero(same & (batch.ids == own.id))):
            return int(rows[0])
        taken = np.isin(batch.ids, [claim.id for claim in claims.values() if claim.id is not None])
        rows = np.flatnonzero(same & ~taken)
        return int(rows[0]) if len(rows) and len(named) == len(self._variables) else None

    def _wait(self) -> None:
        """Let other trials end; where they are all this thread's own, they never would."""
        if {claim.thread for claim in self._claims.values()} == {threading.get_ident()}:
            raise ZovizError(
                f"Expected values before the next point, got none of {len(self._claims)} trials that were asked for: "
                "tell one of them first; the solver's next step depends on them."
            )
        self._turn.wait()

    def _start(self, one: Variable) -> float:
        """Return where a variable starts."""
        return one.variable(self._x0[one.name]) if one.name in self._x0 else sum(one.bounds) / 2.0

    def _start_at(self, one: Variable, parameter: float) -> float:
        """Return the variable for a parameter of the first trial, unrounded where it is the start."""
        start = self._start(one)
        return start if one.parameter(start) == parameter else one.variable(parameter)


def _again(settings: Mapping[str, Any]) -> ZovizSampler:
    return ZovizSampler(**settings)


def _stored(study: Any) -> list[tuple[Any, Any, Any]]:
    """Return the trials of a study that have ended, with their states and values."""
    from optuna.trial import TrialState

    ends = TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL
    return [(one, one.state, one.values) for one in study.get_trials(deepcopy=False, states=ends)]


def _variable(name: str, distribution: Any) -> Variable:
    """Return a parameter as a variable.

    Raises
    ------
    ValueError
        For one that is not continuous.
    """
    from optuna.distributions import FloatDistribution

    if not isinstance(distribution, FloatDistribution) or distribution.step is not None:
        raise ValueError(
            f"Expected parameters from suggest_float without a step, got {name} of {distribution}: no method here "
            "keeps variables discrete. Fix it, or use another sampler."
        )
    return Variable(name, distribution.low, distribution.high, distribution.log)
