"""The session behind ``minimize``: one black box, one budget, one answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from zoviz.core import defaults
from zoviz.core.errors import OracleError
from zoviz.core.sets import Box
from zoviz.minimize.callbacks import adapted
from zoviz.minimize.scipy_arguments import set_options
from zoviz.problems.base import Problem
from zoviz.problems.past_points import past_points
from zoviz.runs.engine.answer import Answer
from zoviz.runs.engine.answering import Answering, leader_of
from zoviz.runs.engine.observer import StepCallback
from zoviz.runs.engine.result import OptimizeResult, ending_of
from zoviz.runs.engine.spec import SETTINGS, RunSettings, RunSpec
from zoviz.runs.engine.stopping import Ending, build
from zoviz.runs.engine.trace import Trace
from zoviz.runs.run import Run
from zoviz.solvers.base import Solver
from zoviz.solvers.portfolio.choice import AUTO, is_auto, matched

_OWN_NAMES = {"accuracy": "tol", "stop_when": "stop"}
"""Settings of a run that ``minimize`` has by another name."""


class Session:
    """Turns a problem into an ``OptimizeResult``, keeping the best of all evaluated points.

    Parameters
    ----------
    problem : Problem
        Nobody else's: its noise may be set.
    max_calls : int, optional
        Calls in all; default 1000 (n + 1).
    noise_is_known : bool
        Whether the problem's noise was said, and need not be found out.
    settings : dict
        Settings of the run, by name.
    """

    def __init__(
        self, problem: Problem, max_calls: int | None, noise_is_known: bool, settings: Mapping[str, Any]
    ) -> None:
        self._problem, self._settings = problem, dict(settings)
        self._settings["past"] = past_points(self._settings.get("past"), problem)
        domain = problem.domain
        self._max_calls = defaults.calls_for(domain.n) if max_calls is None else _whole(max_calls, "max_calls", 1)
        seed = _whole(self._settings["seed"], "seed", 0)
        self._replicas = _whole(self._settings["replicas"], "replicas", 1)
        if self._max_calls < self._replicas:
            raise ValueError(
                f"Expected max_calls to leave a call for each of {self._replicas} replicas, got {self._max_calls}: "
                "raise it."
            )
        self._all_fixed = isinstance(domain, Box) and bool((domain.lower == domain.upper).all())
        seconds = self._settings["seconds"]
        self._answering = Answering(
            problem,
            self._max_calls,
            seed=seed,
            replicas=self._replicas,
            # What is no number is refused with the run's settings.
            seconds=float(seconds) if isinstance(seconds, Real) else None,
            tolerance=self._settings["tolerance"],
            noise_is_known=noise_is_known or self._all_fixed,
            always=True,
            past=self._settings["past"],
        )
        self._best = self._answering.best

    def solve(
        self,
        method: str | Solver | type[Solver],
        options: Mapping[str, Any],
        callback: Callable[..., object] | None,
    ) -> OptimizeResult:
        """Examine the black box, run a solver and choose the answer; where bounds fix every variable, it is the start.

        Parameters
        ----------
        method : str, Solver or its class
        options : mapping
            Parameters of the solver, by name.
        callback : callable, optional
        """
        # What is asked for comes first: where it is refused no call is paid.
        call = None if callback is None else adapted(callback)
        self._check_settings()
        calls = max(1, self._max_calls // self._replicas)
        named = None if is_auto(method) else self._solver(method, options, calls)
        answering = self._answering
        value = answering.examine()
        if self._all_fixed:
            self._best.enter(*value)
            solver, reason = named or self._solver(AUTO, options, 1)
            note = "The bounds leave no variable free, so one call is enough."
            return self._folded(answering.best_answer(), type(solver).__name__, None, [reason, note])
        if answering.facts is not None and answering.facts.noisy and self._problem.contract == "deterministic":
            self._problem.param.update(noise="independent", noise_scale=0.0)  # its own, and none is added
        solver, reason = named or self._solver(AUTO, options, max(1, answering.share()))
        calls = answering.share(solver)
        run = Run.of(RunSpec(self._problem, solver, **self._settings | {"calls": calls})) if calls >= 1 else None
        spent = answering.time_spent
        if run is None or spent is not None:
            self._best.enter(*value)
            sentence = spent or f"The budget of {self._max_calls} calls covers the start alone."
            return self._folded(answering.best_answer(), type(solver).__name__, None, [reason, sentence])
        answering.reason = reason
        self._finish(run, None if call is None else self._observer(call, run))
        notes = [reason, run.message, "" if run.state is None else run.solver.closing_note(run.state)]
        return self._folded(run.answer or answering.best_answer(), type(run.solver).__name__, run, notes)

    def _check_settings(self) -> None:
        """Raise ValueError for a setting that no run takes, by the name that it has here."""
        try:
            build(RunSettings(**self._settings | {"calls": self._max_calls}).targets, 1)
        except ValueError as error:
            words = str(error)
            for name in SETTINGS:
                words = words.replace(f"'SharedSettings.{name}'", f"'{_OWN_NAMES.get(name, name)}'")
            raise ValueError(words) from None

    def _finish(self, run: Run, observer: Callable[[], None] | None) -> None:
        """Carry out a run, and have its answer chosen and judged."""
        run.prepare(*([] if observer is None else [StepCallback(observer)]), answering=self._answering).work()
        try:
            run.wait()
        except OracleError:
            if run.frozen < self._replicas:  # else the points queried so far are an answer
                raise

    def _solver(
        self, method: str | Solver | type[Solver], options: Mapping[str, Any], calls: int
    ) -> tuple[Solver, str]:
        """Return a clone of the solver that was named or is chosen, with its options set, and why it was chosen."""
        _, solver, reason = matched(self._problem, method, calls)
        solver = solver.clone()
        set_options(solver, options)
        return solver, reason

    def _observer(self, call: Callable[[OptimizeResult], bool], run: Run) -> Callable[[], None]:
        """Return what calls an ``adapted`` callback, to be called after each iteration."""

        def observe() -> None:
            best, progress = self._best, run.progress
            calls = self._apart + progress.calls * self._replicas
            so_far = {"x": best.x.copy(), "fun": best.f, "maxcv": best.violation, "h": best.h.copy()}
            if call(OptimizeResult(**so_far, nit=progress.iteration, calls=calls)):
                run.stop()

        return observe

    @property
    def _apart(self) -> int:
        """The calls that told noise apart, which no run counts."""
        return 0 if self._answering.facts is None else self._answering.facts.calls

    def _folded(self, answer: Answer, method: str, run: Run | None, notes: list[str]) -> OptimizeResult:
        """Return the answer with all that is to be said about it, and about the run, where there was one."""
        result, facts = None if run is None else run.result, self._answering.facts
        notes = [*notes, answer.note if run is None else ""]
        failures = answer.failures + (0 if result is None else int(result.failures.sum()))
        if failures:
            worker = None if run is None else run.worker
            reason = self._problem.failure_message if worker is None else worker.problem.failure_message
            notes.append(f"The black box returned {failures} non-finite values. {reason}".rstrip())
        positive = np.maximum(answer.h, 0.0)
        maxcv = float(positive.max(initial=0.0))
        started = 0 if facts is None else facts.starts
        calls = self._apart + answer.calls + (started if result is None else int(result.calls.sum()))
        diverged = run is not None and len(run.divergences) == self._replicas
        ending = Ending.NOTHING_TO_DO if self._all_fixed else Ending.BUDGET
        status = ending_of(ending if run is None else run.ending, answer.feasible)
        return OptimizeResult(
            message=" ".join(filter(None, notes)),
            x=answer.x,
            fun=answer.fun,
            success=status.success and answer.feasible and not diverged,
            feasible=answer.feasible,
            violation=math.hypot(*positive),
            maxcv=maxcv,
            constr_violation=maxcv,
            h=answer.h,
            status=status,
            nit=0 if result is None else result.nit,
            calls=calls,
            nfev=calls,
            failures=failures,
            multipliers=np.full(self._problem.m, np.nan) if result is None else result.multipliers[leader_of(result)],
            best_x=answer.x.copy() if answer.feasible else np.full_like(answer.x, np.nan),
            best_fun=answer.fun if answer.feasible else np.nan,
            tolerance=np.full(len(answer.h), self._best.tolerance),
            certainty=answer.certainty or self._answering.estimate,
            seed=self._settings["seed"],
            method=method,
            parameters={} if run is None else dict(run.parameters),
            trace=Trace() if result is None else result.trace,
        )

    def result_so_far(self) -> OptimizeResult | None:
        """Return the best evaluated point, to accompany an exception; None if there is none."""
        best = self._best
        if not len(best.x):
            return None
        positive = np.maximum(best.h, 0.0)
        kind = "best feasible" if best.feasible else "least violating"
        return OptimizeResult(
            message=f"Ended by an exception: x is the {kind} of {best.points} points.",
            x=best.x.copy(),
            fun=best.f,
            success=False,
            violation=math.hypot(*positive),
            maxcv=float(positive.max(initial=0.0)),
            h=best.h.copy(),
            status=Ending.FAILED,
            feasible=best.feasible,
            calls=best.points,
            best_x=best.x.copy() if best.feasible else np.full_like(best.x, np.nan),
            best_fun=best.f if best.feasible else np.nan,
            seed=self._settings["seed"],
        )


def _whole(value: Any, name: str, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"Expected {name} a whole number from {least}, got {value!r:.80}.")
    return int(value)
