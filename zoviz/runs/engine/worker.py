"""The worker: the one loop that advances a solver, with budgets, steering, targets, trace and failures."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, cast

import numpy as np

from zoviz.core.errors import BudgetSpent, OracleError, TimeSpent, described
from zoviz.core.replica_rows import choose_rows
from zoviz.core.streams import Streams
from zoviz.core.threads.arithmetic import silent_arithmetic
from zoviz.core.threads.blas import SingleBlasThread
from zoviz.core.threads.rests import RESTS
from zoviz.core.threads.stopwatch import Stopwatch
from zoviz.core.types import Array
from zoviz.core.units import as_box
from zoviz.oracle import Oracle, Purpose, ValueSource
from zoviz.oracle.best_point import FirstBest
from zoviz.oracle.noise_watch import LEAST_SWEEPS, NoiseWatch
from zoviz.problems.noise import UNKNOWN
from zoviz.runs.engine import measures, start
from zoviz.runs.engine.answering import Answering
from zoviz.runs.engine.confidence import BUDGET, Confidence
from zoviz.runs.engine.guard import EVERY, FEWEST_ITERATIONS, Divergence, Guard, infeasible_end, infeasible_start
from zoviz.runs.engine.history import PATH_POINTS, Marks, Recording, RunHistory
from zoviz.runs.engine.measures import Now
from zoviz.runs.engine.observer import RunObserver
from zoviz.runs.engine.result import Result, summarise
from zoviz.runs.engine.spec import RunSpec
from zoviz.runs.engine.startup import early, present, present_again, resolve
from zoviz.runs.engine.steering import Change, Inbox, Journal
from zoviz.runs.engine.stopping import BUDGETS, Ending, Progress, RunStatus, build
from zoviz.runs.engine.trace import Trace
from zoviz.solvers.base import Solver


class Worker(RunHistory):
    """The owner of private clones of problem and solver, and of everything that changes while a run is going on.

    Parameters
    ----------
    spec : RunSpec
        What the run is made of; its problem and solver are clones that nobody else may touch.
    source : ValueSource, optional
        Who answers the oracle in the problem's place, e.g. a log of paid evaluations.
    observers : iterable of RunObserver
        Told in this order; an ``Answering`` among them chooses and judges the answer.
    """

    oracle: Oracle  # made when the run begins, and not there before

    def __init__(self, spec: RunSpec, source: ValueSource | None = None, observers: Iterable[RunObserver] = ()) -> None:
        self.source, self.observers = source, tuple(observers)
        self.answering = next((one for one in self.observers if isinstance(one, Answering)), None)
        self.problem, self.solver, self.limits = spec.problem, spec.solver, spec.limits
        self.streams = Streams(spec.seed, spec.replicas)
        self.targets, self.stop_at_targets = build(spec.targets, spec.replicas), spec.stop_at_targets
        self.tolerance, self.schedule = spec.tolerance, list(spec.schedule)
        self.inbox, self.journal, self.trace, self.path = Inbox(), Journal(), Trace(), Trace(PATH_POINTS)
        self.status, self.message, self.notes = RunStatus.READY, "", list[str]()
        self.opening = list[str]()  # sentences on the start, which the final message has too
        self._outcome = (RunStatus.FAILED, "The worker ended for no known reason.")
        self._infeasible, self._said, self._solver_ended = "", "", False
        self.given, self.resolved = dict(spec.resolved), dict[str, Any]()
        self.unit_sizes, self.curvature_scaling, self.past = spec.unit_sizes, spec.curvature_scaling, spec.past
        self.iteration, self._asked, self.kept_seconds = 0, False, 0.0  # of the budget, for who goes on at its end
        self.clock = Stopwatch() if self.answering is None else self.answering.clock
        self.state, self.info, self.polished, self.constants = cast("Any", (None,) * 4)  # by which the rule chose
        self.spent_calls = self.spent_time = False
        self.recording = Recording(self, self.problem.tally(spec.replicas))
        # Asked for once: a step of a method without searches is to cost no more for it.
        self._searches = spec.stop_when != BUDGET or type(spec.solver).searches is not Solver.searches
        self.ending, self.confidence = Ending.FAILED, Confidence(spec.replicas, spec.stop_when, spec.accuracy)
        self.allow(spec.calls)
        self.guard, self.marks = Guard(spec.replicas), Marks()
        self.scaled_problem = self.problem  # as the solver sees it: in its units

    def allow(self, calls: int | None) -> None:
        """Take a budget of calls for each replica, by which the run also watches for noise that is not known."""
        self.limits["calls"], box = calls, as_box(self.problem.domain)
        unknown = self.problem.noise == UNKNOWN and (box is None or bool(box.variable.any()))  # else one point is all
        self.noise = NoiseWatch(unknown, self.problem.domain.n, calls, self.streams.replicas)

    def begin(self) -> None:
        """Tell the observers that work is about to begin; what they raise reaches the thread that starts the run."""
        self.status = RunStatus.RUNNING
        for observer in self.observers:
            observer.started(self)

    def work(self) -> None:
        """Run to the end; an exception ends the run as failed and is left in ``error``."""
        try:
            with SingleBlasThread(), silent_arithmetic():
                for observer in self.observers:
                    observer.began()
                if self.state is None:
                    self._prepare()
                self._take_steps()
                if not self.spent_calls and self.oracle.active.any() and not self.inbox.interrupted:
                    self._polish()
        except BudgetSpent as budget:
            self.spent_calls = True
            self._end(RunStatus.FINISHED, self.limits.calls_spent(budget), Ending.BUDGET)
        except TimeSpent as spent:
            self.spent_time = True
            self._end(RunStatus.FINISHED, str(spent), Ending.TIME)
        except KeyboardInterrupt as interrupt:
            self.error = interrupt
            self._end(RunStatus.STOPPED, f"Interrupted after {self.iteration:,} iterations.", Ending.STOPPED)
        except Exception as error:  # a black box may raise anything: the run has failed, and wait() raises it again
            self.error = error
            self._end(RunStatus.FAILED, described(error), Ending.FAILED)
        finally:
            self._close()

    def _take_steps(self) -> None:
        """Take steps until the run is over, and go on where the last check for noise has the solver begin again."""
        noise, going_on = self.noise, True
        while going_on:
            try:
                while self._may_go_on() and (not noise.on or not noise.is_due(self.oracle) or self._check_noise()):
                    self.marks.step(self.oracle, self.seconds, self.kept_seconds, self.limits["seconds"])
                    self._advance()
                if not self.broken_off:
                    self.marks.end()
            except BudgetSpent as budget:
                self.spent_calls = True
                self._end(RunStatus.FINISHED, self.limits.calls_spent(budget), Ending.BUDGET)
            going_on = self._check_end()

    def _check_end(self) -> bool:
        """Check for noise once more before the run ends, and return whether it goes on after that."""
        if not self.noise.watching or self._outcome[0] is not RunStatus.FINISHED or not self.oracle.active.any():
            return False
        if self.limits.time_spent(self.seconds + self.kept_seconds) is not None:
            return False
        self.oracle.account.keep(0)
        if not self.oracle.affords(self.oracle.active.astype(int)).all():
            return False
        over = self.limits.spent(self.iteration, self.seconds + self.kept_seconds) is not None
        over |= self.stop_at_targets and bool(self.targets) and not self.recording.open
        before = self.state
        goes_on = self._check_noise(not over, self._solver_ended) and self.state is not before
        if goes_on:
            self.spent_calls = self._solver_ended = False
        return goes_on

    def _check_noise(self, may_begin: bool = True, kept: bool = True) -> bool:
        """Call the best points again, have the solver begin again where that finds something; return whether to go on.

        Parameters
        ----------
        may_begin : bool
            Whether the budgets let the solver begin again.
        kept : bool
            As for ``Oracle.again``: not where a budget has brought the run to its end.
        """
        oracle, noise, goes_on = self.oracle, self.noise, True
        with self.clock:
            iterates = oracle.place(self.solver.output(self.state))
            with oracle.purpose(Purpose.NOISE):
                findings = noise.check(oracle, iterates, kept)
            if findings.noisy.any():
                oracle.expect_noise()
                oracle.account.keep(noise.kept)
            oracle.best.replace(findings.lucky, noise.confirmed_x, noise.confirmed)
            if findings.noisy.any() or findings.lucky.any():
                enough = oracle.remaining[oracle.active].min() >= LEAST_SWEEPS * (oracle.n + 1)
                if may_begin and enough:
                    self._begin_again(np.where(np.isfinite(oracle.best.f)[:, None], oracle.best.x, iterates))
                else:
                    noise.unsure = noise.unsure | findings.rows_differ | findings.lucky
                    few = "Too few calls are left to begin again."
                    goes_on = may_begin and self._end(RunStatus.FINISHED, few, Ending.BUDGET)
            if noise.found:
                self.believe_noise()
        return goes_on

    def believe_noise(self) -> None:
        """Have the problem say of itself that its values are noisy."""
        for problem in (self.problem, self.scaled_problem):
            problem.param.update(noise="independent", noise_scale=0.0)  # its own, and none is added

    def _begin_again(self, x: Array) -> None:
        """Have the solver begin again at x (R, n), in the user's units, as far as it has a way to do so."""
        oracle = self.oracle
        x = oracle.domain.project(x if oracle.units is None else oracle.units.inverse(x))
        with oracle.purpose(Purpose.START):
            state = self.solver.begin_again(self.state, x, oracle, self.streams)
        if oracle.any_failed:
            oracle.freeze(oracle.failed.copy())
        if state is not None:
            self.state = state if oracle.all_active else choose_rows(oracle.active, state, self.state)

    def _close(self) -> None:
        """Write the last row, release what the problem holds open, and only then publish the final status."""
        ends = (self._judge_end, self.solver.close, self._add_last_row, self._conclude, self._judge_feasibility)
        for end in (*ends, self.problem.release):
            try:
                with silent_arithmetic():
                    end()
            except Exception as error:  # likewise
                # The first error stays the run's: what raised in a step may well raise again here. Without this a
                # run whose measures raise would never be seen to end.
                if self.error is None:
                    self.error = error
                    self._end(RunStatus.FAILED, described(error), Ending.FAILED)
        outcome, message = self._outcome
        if outcome is RunStatus.FINISHED and self.guard.divergences:
            outcome, self.ending = RunStatus.DIVERGED, Ending.NO_PROGRESS
        on_past = "" if self.oracle is None or self.oracle.past is None else self.oracle.past.sentence
        remarks = self.guard.sentence, self._infeasible, self.noise.sentence, on_past, self._said
        self.message = " ".join(filter(None, [message, *self.opening, *remarks]))
        for observer in self.observers:
            self.message = f"{self.message} {observer.ended(outcome, self.message)}".rstrip()
        self.status = outcome

    def _judge_end(self) -> None:
        """Have the guard judge the answer of a run that came to its end; one that stands by then is solved."""
        if self._outcome[0] is RunStatus.FINISHED and self.state is not None:
            self.guard.conclude(self.solver.iterate(self.state), self.iteration, self.oracle)
        if self.ending in (Ending.BUDGET, Ending.TIME) and self._holds(self.confidence.solved):
            self.ending = Ending.SOLVED

    def _conclude(self) -> None:
        """Have the answer chosen and judged."""
        if self.answering is not None:
            self._said = self.answering.conclude(self._outcome[0])

    def _add_last_row(self) -> None:
        if self.has_result:
            self.trace.append(self.recording.row(self.now))

    def _judge_feasibility(self) -> None:
        """Have the last row judged for replicas that end far from feasible; a run too short to tell is not judged."""
        long = self._solver_ended or self.iteration >= FEWEST_ITERATIONS
        if self.state is not None and long and self._outcome[0] in (RunStatus.FINISHED, RunStatus.STOPPED):
            self._infeasible = infeasible_end(self.guard, self.trace, self.problem, self.oracle, self.answer)

    @property
    def remarks(self) -> str:
        """The sentences on what to know while the run is at work."""
        start = infeasible_start(self.trace, self.problem, self.oracle) if len(self.trace) else ""
        return " ".join(filter(None, [*self.opening, *self.notes, start, self.guard.sentence, self.noise.sentence]))

    def make_oracle(self) -> Oracle:
        """Return a fresh oracle of the worker's problem, with nothing charged yet."""
        return Oracle(
            *(self.problem, self.streams, self.limits, self.tolerance, self.source),
            [observer.listener for observer in self.observers if observer.listener is not None],
            remembers=self.problem.noise == "deterministic",  # declared: what is unknown may turn out to be noise
            proceed=None if self.limits["seconds"] is None else self._check_time,
            past=self.past,
        )

    @property
    def seconds(self) -> float:
        """The computing time of the start, of the steps and of polishing so far; pauses are not in it."""
        return self.clock.seconds

    @property
    def progress(self) -> Progress:
        counts: dict[str, Any] = dict.fromkeys(BUDGETS, 0)
        if self.oracle is not None:
            counts |= {name: int(count.max()) for name, count in self.oracle.account.counted.items()}
            counts["calls"] = self.oracle.account.spent
        counts |= {"iterations": self.iteration, "seconds": self.seconds}
        return Progress(counts, self.limits.fraction(counts))

    @property
    def divergences(self) -> tuple[Divergence, ...]:
        return self.guard.divergences

    @property
    def broken_off(self) -> bool:
        """Whether a step did not end: by an error, or since a budget of calls or seconds did not cover it."""
        return self.error is not None or self.spent_calls or self.spent_time

    def _check_time(self) -> None:
        """Raise ``TimeSpent`` where the budget of seconds is spent, in mid-step too; a first request is always made."""
        asked, self._asked = self._asked, True
        if asked and (sentence := self.limits.time_spent(self.clock.now + self.kept_seconds)) is not None:
            raise TimeSpent(sentence)

    def _end(self, status: RunStatus, message: str, ending: Ending) -> bool:
        """Set how the run ends; published once the last row is written."""
        if ending in (Ending.BUDGET, Ending.TIME) and self.state is None:
            message += " It does not cover the choice of the method's steps: x is the best point evaluated so far."
        if ending is Ending.BUDGET and self.confidence.last_call is not None:
            message, ending = self.confidence.sentence, Ending.NOISE_FLOOR
        self._outcome, self.ending = (status, message), ending
        return False

    def _prepare(self) -> None:
        """Check the problem, resolve open parameters, evaluate the start and record it."""
        self.status = RunStatus.RUNNING
        with self.clock:
            calls = self.limits["calls"]
            start.count_constraints(self.problem, self.streams.seed, self.streams.replicas, calls)
            self.oracle = oracle = self.make_oracle()
            oracle.first_best = FirstBest(self.streams.replicas, oracle.n, oracle.m)
            self.oracle.account.keep(int(self.noise.watching))  # for the check before the end
            try:
                first = partial(early, self.problem, self.solver, oracle)
                x0, moved = start.defined(self.problem, oracle, self.streams, calls, first)
                self.opening += [moved] if moved else []
                self.oracle.begin_at(x0)
                if self.problem.scaled:
                    with self.oracle.purpose(Purpose.SCALING):
                        estimator = self.solver.scaling_estimator
                        self.scaled_problem = present(
                            self.problem, self.oracle, x0, self.streams, estimator, self.curvature_scaling
                        )
                    if self.unit_sizes is not None:  # of another run, whose rule may have been another version's
                        self.scaled_problem = present_again(self.problem, self.oracle, **self.unit_sizes)
                for observer in self.observers:
                    observer.sized(self.oracle.best.tolerance)
                x0 = x0 if self.oracle.units is None else self.oracle.units.inverse(x0)
                plan = self._plan()
                rule = resolve(self.solver, self.scaled_problem, self.oracle, x0, self.streams, self.given)
                self.resolved, self.constants = plan | rule.values, rule.constants
                self.notes += [rule.note] if rule.note else []
                with self.oracle.purpose(Purpose.START):
                    self.state = self.solver.init(x0, self.oracle, self.streams)
            except TimeSpent:
                self._judge_unsized()
                raise
            except BudgetSpent:
                if oracle.account.spent:
                    self._judge_unsized()
                    raise  # what was paid for is an answer
                raise ValueError(
                    "Expected a budget that covers choosing the steps and evaluating the start, got "
                    f"{self.limits.oracle_budget}: raise it, or set the steps yourself."
                ) from None
        oracle.has_begun()
        self._record_start()

    def _record_start(self) -> None:
        """Take the first measures, which the guard, the targets and the trace begin with."""
        if self.oracle.any_failed:
            self.oracle.freeze(self.oracle.failed.copy())
        self.guard.begin(self.solver.iterate(self.state), self.oracle)
        self.recording.begin(self.now, type(self.problem).__name__)
        self.marks.begin()

    def _judge_unsized(self) -> None:
        """Judge the points of a start that its budget cut by the usual tolerance, if no sizes of rows were measured."""
        if self.oracle.best.waits:
            self.oracle.best.judge_by(np.ones(self.oracle.m))
            for observer in self.observers:
                observer.sized(self.oracle.best.tolerance)

    def _plan(self) -> dict[str, Any]:
        """Set what the solver chooses by the run's budgets, or what the run was given for it, and return it."""
        resolved = {name: self.given[name] for name in self.solver.planned if name in self.given}
        plan = self.solver.from_budget(self.scaled_problem, self.limits)
        plan |= {name: value for name, value in resolved.items() if self.solver.get(name) is None}
        for name, value in plan.items():
            self.solver.set(name, value)
        return plan

    def _may_go_on(self) -> bool:
        if RESTS.due:
            RESTS.wait()  # first: what a person asks for meanwhile is heeded before the next step
        # The schedule first: who pauses here sees what it has set, and may set something else.
        while self.schedule and self.schedule[0].iteration <= self.iteration:
            self._apply(self.schedule[0].name, self.schedule.pop(0).new)
        if self.inbox.waiting and not self._attend():
            how = RunStatus.INTERRUPTED if self.inbox.interrupted else RunStatus.STOPPED
            return self._end(how, f"{how.capitalize()} after {self.iteration:,} iterations.", Ending.STOPPED)
        seconds = self.clock.seconds + self.kept_seconds
        if (spent := self.limits.spent(self.iteration, seconds)) is not None:
            ending = Ending.BUDGET if self.limits.time_spent(seconds) is None else Ending.TIME
            return self._end(RunStatus.FINISHED, spent, ending)
        if not self.oracle.all_active and not self.oracle.active.any():
            if self.guard.divergences:
                return self._end(RunStatus.DIVERGED, "", Ending.NO_PROGRESS)
            raise OracleError(
                f"Expected finite values from the black box, got NaN or Inf at the iterate of every replica (frozen at "
                f"iteration {self.iteration} the last): smaller steps or tighter bounds may keep it inside. "
                f"{self.problem.failure_message}".rstrip()
            )
        if self.oracle.stands_still:
            known = "The method requests only points whose values are known."
            return self._end(RunStatus.FINISHED, known, Ending.NO_PROGRESS)
        if self.stop_at_targets and self.targets and not self.recording.open:
            return self._end(RunStatus.FINISHED, "Every replica hit every target.", Ending.BUDGET)
        over = self.solver.done(self.state, self.oracle.active)
        if over is not None:
            self._solver_ended = True
            fixed = (box := as_box(self.problem.domain)) is not None and not box.variable.any()
            return self._end(RunStatus.FINISHED, over, Ending.NOTHING_TO_DO if fixed else Ending.SOLVED)
        if self._searches and self._answer_stands():
            self._solver_ended = True
            return self._end(RunStatus.FINISHED, self.confidence.sentence, Ending.SOLVED)
        return True

    def _answer_stands(self) -> bool:
        """Return whether the answers of all replicas stand, by their searches; at the noise floor, begin to end."""
        searches = self.solver.searches(self.state)
        self.confidence.settle(searches, self.oracle.account, self.oracle.active)
        stands = self.confidence.stands(searches, self.oracle.calls, self.oracle.best.f)
        return self.confidence.on and self._holds(stands)

    def _holds(self, judged: np.ndarray) -> bool:
        """Return whether what was judged of answers, (R,) of bool, holds of all replicas; without noise alone."""
        value = None if self.state is None else self.solver.iterate(self.state).value
        return value is not None and self.confidence.holds(judged, value, self.oracle)

    def _attend(self) -> bool:
        """Make the requested changes, wait while paused, and return whether to go on."""
        while True:
            for name, value in self.inbox.take():
                self._apply(name, value)
            if self.inbox.may_step():
                self.status = RunStatus.RUNNING
                return True
            if self.inbox.stopping:
                return False
            self.trace.show_tail(self.recording.row(self.now))
            self.marks.end()
            self.status = RunStatus.PAUSED
            for observer in self.observers:
                observer.paused()
            self.inbox.wait()

    def _apply(self, name: str, value: Any) -> None:
        old = self.solver.get(name)
        new = self.resolved.get(name, old) if value is None and name in self.resolved else value
        if new == old:
            return
        self.marks.begin()
        self.solver.set(name, new)
        self.journal.append(Change(self.iteration, self.oracle.account.spent, self.seconds, name, old, new))
        for observer in self.observers:
            observer.changed()

    def _advance(self) -> None:
        with self.clock:
            state, self.info = self.solver.step(self.state, self.oracle, self.streams)
        if self.oracle.any_failed:
            iterates = self.solver.iterate(self.state), self.solver.iterate(state)
            self.guard.explain(self.oracle.failed, iterates, self.iteration + 1, self.oracle)
            self.oracle.freeze(self.oracle.failed.copy())
        if not self.oracle.all_active:
            state = choose_rows(self.oracle.active, state, self.state)
        self.recording.add(self.solver, self.state, state, self.oracle.sample)
        self.state = state
        self.iteration += 1
        if self.iteration % EVERY == 0:
            self._check_course()
        if self.recording.is_due(self.iteration):
            self.recording.step(self.now, self.iteration == self.limits["iterations"] and self.solver.polishes)
        for observer in self.observers:
            observer.stepped()

    def _check_course(self) -> None:
        """Have the guard check the iterate, and freeze the replicas that it stops."""

        def recover(diverged: np.ndarray) -> np.ndarray:
            self.state, recovered = self.solver.recover(self.state, diverged, self.oracle)
            return recovered

        iterate, descends = self.solver.iterate(self.state), self.solver.descends(self.state)
        stopped = self.guard.check(iterate, self.iteration, self.oracle, descends, recover)
        if stopped.any():
            self.oracle.freeze(stopped)

    @property
    def has_result(self) -> bool:
        # The method has begun, or the budget was spent before that.
        return self.state is not None or ((self.spent_calls or self.spent_time) and self.error is None)

    @property
    def result(self) -> Result:
        return summarise(self)

    def _polish(self) -> None:
        """Let the solver polish its answer, as far as the budget covers it, and write the last row, which tells of it.

        The row is that of the last iterate, with the counts of then; what the answer cost stands beside its measures.
        """
        if not self.solver.polishes:
            return
        row = self.recording.row(self.now)
        with self.clock:
            self.polished = measures.polished(self.solver, self.state, self.oracle, self.streams)
        self.trace.append(row | measures.polished_columns(self.now, self.polished))

    @property
    def now(self) -> Now:
        """What a row is of."""
        hidden = None if self.oracle.all_active else ~(self.oracle.active | self.guard.diverged)
        own = self.scaled_problem, self.solver, self.state, self.info, self.oracle
        return Now(*own, self.iteration, self.seconds, hidden)
