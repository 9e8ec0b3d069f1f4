"""One black box, one budget, one answer: what lies between ``minimize`` and a run."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from zoviz.core import defaults
from zoviz.core.errors import OracleError
from zoviz.core.types import Array, Evaluation
from zoviz.evaluation.function_call import Failure
from zoviz.problems.user.best_point import Recorded
from zoviz.runs.engine.result import OptimizeResult, Result
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.engine.trace import Trace
from zoviz.runs.run import Run
from zoviz.solvers.base import Solver
from zoviz.solvers.choice import choose, named

REPEATS = 2
"""Further calls at the start that tell whether values are noisy."""

WORTH_REPEATING = 30
"""Below this budget they are not made, and values are taken to be deterministic."""

MEANS = 16
"""Under noise, calls that decide between the best point queried and the last iterate; at most a tenth of the budget."""

RETREATS = 20
"""Without noise, calls between the best feasible point and the last iterate; at most a twentieth of the budget."""

OF_RUN = ("tolerance", "replicas", "seconds", "stop_at_targets", "targets")


class Task:
    """A recorded black box on its way to an ``OptimizeResult``.

    Parameters
    ----------
    problem : Recorded
    maxfev : int, optional
        Calls in all; default 1000 (n + 1).
    seed : int, optional
        Default 0.
    settings : dict
        Options of the run and of the solver.
    """

    def __init__(self, problem: Recorded, maxfev: int | None, seed: int | None, settings: dict[str, Any]) -> None:
        self._problem, self._ledger, self._settings = problem, problem.ledger, settings
        self._maxfev = defaults.calls_for(problem.n) if maxfev is None else _whole(maxfev, "maxfev", 1)
        self._seed = 0 if seed is None else _whole(seed, "seed", 0)
        self._replicas = _whole(settings.get("replicas", 1), "replicas", 1)
        self._spent, self._failures = 0, 0
        self._notes: list[str] = []
        self._all_fixed = bool((problem.domain.lower == problem.domain.upper).all())

    def examine(self, noise_is_known: bool) -> None:
        """Count the constraints, and see whether values are noisy; charged.

        Raises
        ------
        OracleError
            Where there is no value at the start.
        """
        problem = self._problem
        value, self._spent = problem.probe(), 1
        if isinstance(value, Failure):
            if problem.on_error == "raise" and not value.counted:
                raise value.error
            raise OracleError(f"Expected a value at the start, got none: {value.error}") from value.error
        if not (np.isfinite(value.f) and np.isfinite(value.h).all()):
            raise OracleError(
                f"Expected finite values at the start, got f = {value.f:g} and h = {value.h}: begin where the "
                "functions are defined."
            )
        self._ledger.enter(problem.start[None], Evaluation(value.f[None], value.h[None]))
        if noise_is_known or self._all_fixed or self._maxfev < WORTH_REPEATING:
            return
        again = problem.evaluate(np.repeat(problem.start[None], REPEATS, axis=0))
        self._spent += REPEATS
        if (again.f != value.f).any() or (again.h != value.h).any():
            problem.noise = "independent"

    def solve(self, method: str | Solver | type[Solver], callback: Callable[..., object] | None) -> OptimizeResult:
        """Run a solver and choose the answer; where bounds fix every variable, the start is the answer."""
        if self._all_fixed:
            solver = self._solver(method, 1)
            self._notes.append("The bounds leave no variable free, so that one call tells everything.")
            return self._told(self._answer(), solver, None)
        noisy = self._problem.noise == "independent"
        kept = min(MEANS, self._maxfev // 10) if noisy else min(RETREATS, self._maxfev // 20) * (self._problem.m > 0)
        calls = (self._maxfev - self._spent - kept) // self._replicas
        if calls < 1:
            raise ValueError(
                f"Expected maxfev to leave a call for each of {self._replicas} replicas, got {self._maxfev}, of which "
                f"{self._spent + kept} are spent otherwise: raise it."
            )
        solver = self._solver(method, calls)
        settings = {name: self._settings[name] for name in OF_RUN if name in self._settings}
        limits = {"calls": calls, "iterations": self._settings.get("maxiter"), "seed": self._seed}
        run = Run(problem=self._problem, solver=solver, **({"replicas": 1} | settings | limits))
        try:
            run.run(None if callback is None else self._observer(callback, run))
        except OracleError:
            if run.frozen < self._replicas:  # else the points queried so far are an answer
                raise
        self._notes.append(run.message)
        result = run.result
        if noisy and kept >= 4:
            return self._told(self._mean_answer(result.x[_leader(result)], kept), run.solver, run)
        if run.status is RunStatus.FINISHED and not noisy and "seconds" not in settings:
            self._retreat(result, kept)
        return self._told(self._answer(), run.solver, run)

    def _solver(self, method: str | Solver | type[Solver], calls: int) -> Solver:
        """A twin of the solver that was named or is chosen, with its options set."""
        if isinstance(method, str) and method.casefold() == "auto":
            solver, reason = choose(self._problem, calls)
            self._notes.append(reason)
        else:
            solver = named(method).clone()
        known = {*OF_RUN, "maxiter", "disp"}
        for name, value in self._settings.items():
            if name not in known:
                _set(solver, name, value, known)
        return solver

    def _observer(self, callback: Callable[..., object], run: Run) -> Callable[[], None]:
        """The callback in SciPy's manner, to be called after each iteration."""
        if not callable(callback):
            raise ValueError(f"Expected a function as callback, got {callback!r:.80}.")
        try:
            wants_result = set(inspect.signature(callback).parameters) == {"intermediate_result"}
        except ValueError:  # a builtin without a signature
            wants_result = False

        def observe() -> None:
            best, progress = self._ledger, run.progress
            calls = self._spent + progress.calls * self._replicas
            so_far = {"x": best.x.copy(), "fun": best.f, "maxcv": best.violation, "h": best.h.copy()}
            try:
                if wants_result:
                    callback(intermediate_result=OptimizeResult(**so_far, nit=progress.iteration, nfev=calls))
                else:
                    callback(so_far["x"])
            except StopIteration:
                run.stop()

        return observe

    def _retreat(self, result: Result, calls: int) -> None:
        """Bisect for the boundary between the best feasible point and a last iterate that is better but violates.

        Methods with multipliers approach a constraint from outside as often as from inside: the best feasible point
        is then an early one, while the last iterate violates by a hair.
        """
        best, tolerance = self._ledger, self._ledger.tolerance
        violation = np.where(np.isfinite(result.maxcv), result.maxcv, np.inf)
        r = int(violation.argmin())
        if not (best.feasible and result.fun[r] < best.f and tolerance < violation[r] < np.inf):
            return
        inside, outside = best.x, self._problem.domain.project(result.x[r])
        for _ in range(calls):
            middle = 0.5 * (inside + outside)
            value = self._problem.evaluate(middle[None])
            self._spent += 1
            finite = bool(np.isfinite(value.f).all() and np.isfinite(value.h).all())
            self._failures += not finite
            if finite and (value.h <= tolerance).all():
                inside = middle
            else:
                outside = middle

    def _answer(self) -> dict[str, Any]:
        """The best point queried."""
        best = self._ledger
        if not best.feasible:
            self._notes.append(
                f"No feasible point was found among {best.points} queried: x is the least violating, by "
                f"{best.violation:.3g}."
            )
        return {"x": best.x, "fun": best.f, "success": best.feasible, "maxcv": best.violation, "h": best.h}

    def _mean_answer(self, last: Array, calls: int) -> dict[str, Any]:
        """The better of the best point queried and the last iterate, by means of repeated calls."""
        last = self._problem.domain.project(np.where(np.isfinite(last), last, self._ledger.x))
        points, repeats = np.stack([self._ledger.x, last]), calls // 2
        value = self._problem.evaluate(np.repeat(points[:, None], repeats, axis=1))
        self._spent += 2 * repeats
        good = np.isfinite(value.f) & np.isfinite(value.h).all(axis=-1)
        self._failures += int((~good).sum())
        if not good.any():
            return self._answer()
        (f, _), (h, error) = _mean(value.f[..., None], good), _mean(value.h, good)
        f = f[:, 0]
        feasible = np.all(h <= self._ledger.tolerance + 2.0 * error, axis=-1)
        violation = h.max(axis=-1, initial=0.0)
        rank = np.where(feasible, 0.0, violation)
        i = int(np.lexsort((f, rank))[0])  # NaN sorts last
        which = ("the best point queried", "the last iterate")[i]
        self._notes.append(f"Values are noisy: x is {which}, fun and h are means of {good[i].sum()} calls there.")
        if not feasible[i]:
            self._notes.append(f"No feasible point was found: in the mean x violates by {violation[i]:.3g}.")
        return {"x": points[i], "fun": f[i], "success": bool(feasible[i]), "maxcv": violation[i], "h": h[i]}

    def _told(self, answer: dict[str, Any], solver: Solver, run: Run | None) -> OptimizeResult:
        """The answer with all that is to be said about it and about the run, where there was one."""
        course = self._without_run() if run is None else self._of_run(run)
        if self._failures:
            self._notes.append(
                f"The black box returned {self._failures} non-finite values. {self._ledger.mishap}".rstrip()
            )
        x = answer["x"]
        out = OptimizeResult(
            message=" ".join(self._notes),
            **answer,
            **course,
            nfev=self._spent,
            calls=self._spent,
            failures=self._failures,
            best_feasible=x.copy() if answer["success"] else np.full_like(x, np.nan),
            seed=self._seed,
            method=type(solver).__name__,
        )
        if self._settings.get("disp"):
            print(out.message)
        return out

    def _of_run(self, run: Run) -> dict[str, Any]:
        """What a run tells of itself; its calls and failures are added to those made otherwise."""
        result = run.result
        self._spent += int(result.calls.sum())
        self._failures += int(result.failures.sum())
        return {
            "status": run.status,
            "nit": result.nit,
            "multipliers": result.multipliers[_leader(result)],
            "parameters": {name: run.solver.get(name) for name in run.solver.live} | dict(run.resolved),
            "trace": result.trace,
        }

    def _without_run(self) -> dict[str, Any]:
        """The same where nothing had to be run."""
        return {
            "status": RunStatus.FINISHED,
            "nit": 0,
            "multipliers": np.full(self._problem.m, np.nan),
            "parameters": {},
            "trace": Trace(),
        }


def _mean(values: Array, good: np.ndarray) -> tuple[Array, Array]:
    """Mean and its standard error over the calls that are good, (points, calls, k) to (points, k); NaN where none is.

    Of one call alone the error is not known, and 0 here.
    """
    each, number = good[..., None], good.sum(axis=1)[:, None]
    mean = np.where(each, values, 0.0).sum(axis=1) / np.where(number, number, np.nan)
    square = np.where(each, np.square(values - mean[:, None]), 0.0).sum(axis=1)
    return mean, np.sqrt(square / np.maximum(number - 1, 1) / np.maximum(number, 1))


def _leader(result: Result) -> int:
    """The replica with the best feasible point, else the one that violates least now."""
    if np.isfinite(result.best_fun).any():
        return int(np.nanargmin(result.best_fun))
    return int(np.argmin(np.where(np.isfinite(result.maxcv), result.maxcv, np.inf)))


def _whole(value: Any, name: str, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"Expected {name} a whole number from {least}, got {value!r:.80}.")
    return int(value)


def _set(solver: Solver, name: str, value: Any, known: set[str]) -> None:
    """Set a parameter of the solver, dotted names allowed; others get a sentence."""
    try:
        solver.owner(name)
    except (AttributeError, ValueError):
        own = [key for key in solver.param if key != "name"]
        own += [f"estimator.{key}" for key in getattr(solver.estimator, "param", ()) if key != "name"]
        near = difflib.get_close_matches(name, [*own, *sorted(known)], n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"{type(solver).__name__} has {', '.join(own)}."
        raise ValueError(f"Expected an option of the run or of {type(solver).__name__}, got {name!r}: {hint}") from None
    solver.set(name, value)
