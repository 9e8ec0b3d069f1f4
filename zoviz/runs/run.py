"""A run: a solver on a problem, in this thread or a worker's, steerable, replayable."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, Unpack

import param

from zoviz.core import defaults
from zoviz.core.encoding.binary import unpack
from zoviz.core.errors import ZovizError, leave_result
from zoviz.core.parameters import Part
from zoviz.core.threads.arithmetic import in_this_arithmetic
from zoviz.core.types import Printed, Sketch
from zoviz.evaluation.worker_log import WorkerTable
from zoviz.problems.base import Problem
from zoviz.problems.past_points import past_points
from zoviz.runs import repeat
from zoviz.runs.engine.answering import Answering
from zoviz.runs.engine.checkpoint import ResumeData, copied_state, packed, points, restore
from zoviz.runs.engine.evaluation_log import Entry, Log, LoggedValues
from zoviz.runs.engine.history import RunHistory
from zoviz.runs.engine.measures import Points, points_so_far
from zoviz.runs.engine.observer import RunObserver, StepCallback
from zoviz.runs.engine.result import Result
from zoviz.runs.engine.spec import ABOUT, EVERY_CALL, FREE, RunSpec
from zoviz.runs.engine.start import count_constraints
from zoviz.runs.engine.steering import Change, Journal, Steering
from zoviz.runs.engine.worker import Worker
from zoviz.runs.run_view import RunView
from zoviz.solvers.base import Solver
from zoviz.solvers.portfolio.choice import AUTO, matched

if TYPE_CHECKING:
    from zoviz.runs.engine.keywords import RunKeywords
    from zoviz.runs.storage.database import Database
    from zoviz.runs.storage.recorder import Recorder


class RunStore(Protocol):
    """The part of ``Store`` that runs use; a protocol, because ``Store`` itself imports runs."""

    @property
    def database(self) -> Database:
        """The database that runs are written to."""

    @property
    def trusted(self) -> tuple[str, ...]:
        """The names of functions, classes and programs from which stored runs may be rebuilt."""

    @property
    def own(self) -> bool:
        """Whether this user's own runs are trusted without being named."""

    @property
    def owner(self) -> str | None:
        """The user who owns new runs; None if the store has no owners."""


class Run(RunView):
    """A solver applied to a problem by R replicas in lock-step.

    The worker owns private clones of ``problem`` and ``solver``. While the run is going on, setting a live parameter of
    the public ``solver`` (or of its estimator) reaches the clone between two steps and is written to ``journal``; a
    structural parameter cannot be set. Times count computing only: neither pauses nor measures off the books.

    With a ``store`` everything is kept there while it happens, under ``id``. An error of the store never ends a run:
    ``message`` tells.

    Parameters
    ----------
    problem : Problem or its class
        What is minimised: a problem of the collection, your functions (``BlackBox``), your program (``Executable``).
    solver : Solver, its class or name
        The method; ``"auto"`` chooses by dimension, noise and budget as ``minimize`` does, and ``reason`` says why.
    replicas : int
        Independent runs in lock-step.
    seed : int
        Same seed and steering, same iterates.
    iterations, calls, seconds, samples, zeta_samples : int, int, float, int and int, optional
        Budgets: iterations, oracle calls of each replica (never exceeded), computing time (without pauses; exceeded by
        the call in progress at most, or by a batch of a vectorised function), samples of each replica (never exceeded,
        mini-batches in full); None is unlimited. The first that is spent ends the run.
    targets : mapping of str to float, or several, optional
        First hits to record, e.g. ``{"gap": 1e-2}``.
    stop_at_targets : bool
        Whether to finish when every replica has hit every target.
    tolerance : float, optional
        Largest h that counts as feasible, in the functions' units. None: of black boxes 1e-6 of each row's size, which
        scaling measures at the start, and 1e-6 where nothing is scaled, and of the collection's problems.
    schedule : iterable of Change
        Changes of live parameters planned ahead, each made before the step of its iteration:
        ``Change(iteration, calls, seconds, name, old, new)``, of which iteration, name and new count.
    resolved : mapping, optional
        Values for parameters left open, by (dotted) name, to take in place of those that the solver's rule would
        choose: another run's ``resolved``. The rule's calls are charged all the same, so that counts agree.
    store : Store or str, optional
        A store, or its URL, where the run is kept.
    checkpoint : float or "every call"
        Seconds between two checkpoints in the store; with "every call" no evaluation that was paid for is ever lost.
    unit_sizes : mapping, optional
        Sizes of a scaled problem's units, to take in place of those that would be measured: another run's
        ``measured_units``. Measuring is charged all the same.
    curvature_scaling : {"always", "under noise", "never"}
        When a scaled problem's coordinates are stretched until the functions bend alike along them, so that one step
        serves all, by charged calls.
    past : file, table, arrays, study or run, optional
        Points whose values are known from before, as ``zoviz.problems.past_points`` reads them: ZOSQP's models rest
        on them, and none is paid again. The run begins at the best of them if a search has ended there and it is better
        than its own start. Elsewhere a fresh call that contradicts them is all that they cost.
    judged : bool
        Whether the answer is chosen and judged as ``minimize`` does: the start is called again to see noise, and calls
        of the budget are kept in which the answer is chosen under noise, and how sure it is; see ``answer``.
    label : str
        Name for people.
    study, parent : str
        Name of the study that the run belongs to; id of the run that it repeats.

    Raises
    ------
    ValueError
        For a value that makes no sense; and when it is started, if the solver does not accept the problem or a target
        is unknown.

    Examples
    --------
    >>> from zoviz import Run
    >>> from zoviz.problems import LoadTracking
    >>> from zoviz.solvers import ZOCEG
    >>> run = Run(LoadTracking(), ZOCEG(), replicas=4, iterations=50)
    >>> run.run().status
    'finished'
    """

    problem = Part(Problem, label="Problem", doc="Problem that the run solves.")
    solver = Part(Solver, label="Solver", doc="The method.")
    store = param.Parameter(
        default=None, precedence=-1, label="Store", doc="Store or URL where the run is kept; or None."
    )

    _recorder: Recorder | None = None

    def __init__(
        self,
        problem: Problem | type[Problem],
        solver: Solver | type[Solver] | str = AUTO,
        *,
        schedule: Iterable[Change] = (),
        resolved: Mapping[str, Any] | None = None,
        store: RunStore | str | None = None,
        **settings: Unpack[RunKeywords],
    ) -> None:
        calls = settings.get("calls")
        # The choice of a method needs m: by the call that comes first anyway.
        if isinstance(solver, str) and solver.casefold() == AUTO and isinstance(problem, Problem):
            count_constraints(problem, settings.get("seed", 0), settings.get("replicas", defaults.REPLICAS), calls)
        problem, solver, self._reason = matched(problem, solver, calls)
        settings["past"] = past_points(settings.get("past"), problem)
        super().__init__(problem=problem, solver=solver, store=store, **settings)
        self._id, self.schedule = uuid.uuid4().hex, Journal(schedule)
        self._history = RunHistory(resolved or {})
        self._resume_data: ResumeData | None = None
        self._thread: threading.Thread | None = None
        self._steering: Steering | None = None
        self._initial: RunSpec | None = None

    @classmethod
    def of(
        cls,
        spec: RunSpec,
        *,
        store: RunStore | str | None = None,
        id: str | None = None,
        resume_data: ResumeData | None = None,
    ) -> Run:
        """Make a run of a description.

        Parameters
        ----------
        spec : RunSpec
        store : Store or str, optional
        id : str, optional
            Its id; default: a new one.
        resume_data : ResumeData, optional
            What is kept of the run that this one goes on with, under the same id, or forks.
        """
        run = cls(**spec.arguments, store=store)
        run._id, run._resume_data = id or run._id, resume_data
        return run

    @property
    def id(self) -> str:
        return self._id

    @property
    def initial(self) -> RunSpec | None:
        return self._initial

    @property
    def reason(self) -> str:
        """Why this solver was chosen, in a sentence; empty if the caller named it."""
        return self._reason

    @property
    def spec(self) -> RunSpec:
        """The run's present description; ``initial`` is the one it started with."""
        return RunSpec(self.problem, self.solver, schedule=self.schedule, resolved=self.resolved, **self.settings)

    def start(
        self, steps: int | None = None, *, pause_at: int | None = None, observers: Iterable[RunObserver] = ()
    ) -> Run:
        """Begin in a worker thread; refused while or after this run has run (fork or make another).

        Parameters
        ----------
        steps : int, optional
            Take this number of steps, then pause.
        pause_at : int, optional
            Pause at this iteration; a fork may begin there.
        observers : iterable of RunObserver
            Told of the run's course by its worker.
        """
        begun = self.prepare(*observers).iteration
        if pause_at is not None:
            steps = max(pause_at - begun, 0)
        if steps is not None:
            self._command("step", steps)
        # From here on the worker is its thread's: others post to its inbox, and read its trace, counters and status.
        work = in_this_arithmetic(self._work)
        self._thread = threading.Thread(target=work, name="zoviz-run", daemon=True)
        self._thread.start()
        return self

    def _work(self) -> None:
        """Do the work, in the run's thread, which holds the run until it has ended."""
        if self.worker is not None:
            self.worker.work()

    def run(self, observer: Callable[[], object] | None = None, *, observers: Iterable[RunObserver] = ()) -> Result:
        """Run in this thread, to the end of a budget.

        Parameters
        ----------
        observer : callable, optional
            Called after every iteration, without arguments; it may look at the run and may ``stop`` it.
        observers : iterable of RunObserver
            As for ``start``.

        Raises
        ------
        ValueError
            Without any budget.
        Exception
            What the black box raised.
        """
        if not self.spec.ends:
            raise ValueError("Expected a budget, got none: give iterations, calls, seconds or samples, or use start().")
        self.prepare(*observers, *([] if observer is None else [StepCallback(observer)])).work()
        return self.wait()

    def pause(self) -> None:
        """Pause the run after the step in progress."""
        self._command("pause")

    def unpause(self) -> None:
        """Go on after a pause."""
        self._command("unpause")

    def step(self, count: int = 1) -> None:
        """Take ``count`` steps, then pause."""
        self._command("step", count)

    def stop(self) -> None:
        """End after the step in progress; what was computed stays."""
        self._command("stop")

    def interrupt(self) -> None:
        """End after the step in progress, to be resumed from the store later; a server does this when it stops."""
        self._command("interrupt")

    def wait(self, timeout: float | None = None) -> Result:
        """Wait for the end and return the result.

        Raises
        ------
        TimeoutError
            If the run is still going on after ``timeout`` seconds.
        Exception
            What the black box raised, with the trace kept, and the result so far as its attribute ``result``.
        """
        if self._thread is not None:
            self._thread.join(timeout)
            if self._thread.is_alive():
                raise TimeoutError(f"The run is still {self.status} after {timeout:g} s.")
        self.release()
        if self.error is not None:
            leave_result(self.error, lambda: None if self.state is None else self.result)
            raise self.error
        return self.result

    def release(self) -> None:
        """Stop watching the public objects; ``wait`` does this, and callers that poll must do it after the end."""
        if self._steering is not None:
            self._steering.release()

    def set(self, values: Mapping[str, Any]) -> None:
        """Set live parameters of the public solver by name; while the run goes on they reach it between two steps.

        Parameters
        ----------
        values : mapping of str to object
            By name, dotted names allowed: ``{"estimator.batch_size": 100}``.
        """
        for name, value in values.items():
            holder, own = self.solver.owner(name)
            if self._steering is not None and getattr(holder, own) == value:
                self._steering.request(name, value)  # nobody who watches the solver sees what stays as it is
            else:
                setattr(holder, own, value)

    @property
    def awaited(self) -> dict[str, Any]:
        """Requested values of live parameters, by name, that the run has not applied yet."""
        return {} if self.worker is None else self.worker.inbox.awaited

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The live parameters in force: those chosen at the start, and changed since."""
        solver = self.solver if self.worker is None else self.worker.solver
        return MappingProxyType({name: solver.get(name) for name in (*solver.live, *self.resolved)})

    def fork(self, at: int | None = None, changes: Mapping[str, Any] | None = None, **settings: Any) -> Run:
        """Make a run equal to this one up to iteration ``at``, continued with ``changes`` and the same random numbers.

        Of a user's function it takes over what was computed before the last change, pause or end; what it has to
        compute again is charged again.

        Parameters
        ----------
        at : int, optional
            Default: the present iteration.
        changes : mapping, optional
            Live parameters to set at ``at``.
        settings
            Settings of the new ``Run``, e.g. budgets, or a ``store``.
        """
        return Run.forked(self, at, changes, **{"store": self.store} | settings)

    @classmethod
    def forked(
        cls,
        source: RunView,
        at: int | None = None,
        changes: Mapping[str, Any] | None = None,
        *,
        store: RunStore | str | None = None,
        **settings: Any,
    ) -> Run:
        """Make a fork of a run, of this process or a stored one; see ``fork``."""
        spec = repeat.forked(source, at, changes, **settings)
        same = not settings.keys() - {*FREE, *ABOUT}  # else what the source did is not what this one does
        place = source.progress.iteration if at is None else at
        return cls.of(spec, store=store, resume_data=source.resume_data(place) if same else None)

    def resume_data(self, at: int) -> ResumeData:
        mark = None if self.worker is None else self.worker.marks.until(at)
        data = None if mark is None else packed(mark)
        return ResumeData(data, self.trace, self.path, Journal(), {}, points(data), forked=True)

    def replay(self) -> Run:
        """Make a run that repeats this one bit for bit, its steering included, and ends where it ended."""
        return Run.of(repeat.replayed(self), store=self.store)

    @property
    def worker(self) -> Worker | None:
        """The worker that executes the run, None before its start; only its own thread may change it."""
        return self._history if isinstance(self._history, Worker) else None

    def prepare(self, *observers: RunObserver, answering: Answering | None = None) -> Worker:
        """Make the worker of a run that begins, without its first step; ``start`` and ``run`` set it to work.

        Parameters
        ----------
        *observers : RunObserver
        answering : Answering, optional
            What chooses and judges the answer; default: made for a run that is to be ``judged``.

        Raises
        ------
        ZovizError
            If the run has started before.
        ValueError
            If the solver does not take the problem.
        """
        if self.worker is not None:
            raise ZovizError(f"Expected a run that has not started, got one that is {self.status}: make a new Run.")
        reason = self.solver.accepts(self.problem)
        if reason is not None:
            raise ValueError(reason)
        self._initial = initial = self.spec.clone()
        spec, data, source = initial.clone(), self._resume_data, None
        forked = data is not None and data.forked
        recorder = None if self.store is None else self._make_recorder(self.store, initial)
        # Evaluations are logged where the run says so, and where a paid one could not be spared otherwise: a solver
        # without checkpoints begins again from its start.
        begins_anew = not (spec.solver.checkpointable or spec.problem.analytic)
        logs = spec.checkpoint == EVERY_CALL or begins_anew or (data is not None and bool(data.entries))
        if logs and (recorder is not None or (data is not None and data.entries)):
            write = _forget if recorder is None else recorder.keep
            source = LoggedValues(spec.problem, Log(None if data is None else data.entries, write, forked))
        lost = answering is not None and recorder is None  # nobody can fork a run of minimize that is not stored
        if answering is None and spec.judged:
            answering = _answering(spec)
        worker = Worker(spec, source, tuple(filter(None, (answering, *observers, recorder))))
        # Calls of a user's function or program cost something: what forks of the run need is kept for them.
        if spec.solver.checkpointable and not spec.problem.analytic and not lost:
            worker.marks.copy = partial(copied_state, worker)
        if data is not None:
            if answering is not None and data.examination is not None:
                answering.restore(unpack(data.examination), worker)
            restore(worker, data.checkpoint, data.trace, data.path, data.journal, forked)
            worker.problem.restore({"evaluation_count": data.evaluation_count})
        self._history, self._recorder = worker, recorder
        worker.begin()
        self._steering = Steering(self.solver, (self.problem, self), worker)
        return worker

    def _make_recorder(self, store: RunStore | str, spec: RunSpec) -> Recorder:
        """Make the recorder that writes the run into its store.

        Raises
        ------
        StoreError
            Where there is no store to be opened at the URL.
        """
        # Here, since a run without a store can do without SQLAlchemy, whose import takes longer than zoviz's own.
        from zoviz.runs.storage.database import Database
        from zoviz.runs.storage.recorder import Recorder

        own, each = isinstance(store, str), spec.checkpoint == EVERY_CALL
        database, owner = (Database(store), None) if isinstance(store, str) else (store.database, store.owner)
        interval = defaults.CHECKPOINT_SECONDS if each else float(spec.checkpoint)
        data = self._resume_data
        count = None if data is None or data.forked else data.evaluation_count
        return Recorder(database, self.id, spec, count, interval, each, own, owner or "")

    def _command(self, name: str, steps: int = 1) -> None:
        if self.worker is not None and self.active:
            self.worker.inbox.command(name, steps)

    @property
    def message(self) -> str:
        worker = self.worker
        if worker is None or worker.message:
            return self._history.message
        return " ".join(filter(None, [worker.remarks, self.storage_message]))

    @property
    def storage_message(self) -> str:
        """What is wrong with the run's store, in a sentence; empty if nothing is, or there is no store."""
        return "" if self._recorder is None else self._recorder.storage_message

    @property
    def printed(self) -> tuple[Printed, ...]:
        """The outputs of the run's last evaluations, oldest first; empty for most problems."""
        return () if self.worker is None else self.worker.problem.printed

    @property
    def workers(self) -> WorkerTable:
        return WorkerTable() if self.worker is None else self.worker.problem.worker_table

    @property
    def state(self) -> Any:
        """The solver's state after the last step, in its units: a NamedTuple of arrays, not to be written to."""
        return None if self.worker is None else self.worker.state

    @property
    def sketch(self) -> Sketch | None:
        """The first replica's region and last points, in the user's units; None where the solver has none."""
        # A state that the worker has published is never written to again, so that another thread may read it.
        if self.worker is None or self.worker.state is None:
            return None
        sketch = self.worker.solver.sketch(self.worker.state)
        return sketch if sketch is None or self.units is None else self.units.sketch(sketch)

    @property
    def _named_problem(self) -> Problem:
        return self.problem if self.worker is None else self.worker.problem

    def _points(self) -> Points:
        worker = self.worker
        return super()._points() if worker is None else points_so_far(worker.solver, worker.state, worker.oracle)


def _forget(ordinal: int, entry: Entry) -> None:
    """Keep no evaluation of a run without a store."""


def _answering(spec: RunSpec) -> Answering:
    """Return what chooses and judges the answer of a run.

    Raises
    ------
    ValueError
        For a problem whose points have no values to compare.
    """
    problem = spec.problem
    if problem.stochastic or problem.online or problem.form != "constrained":
        raise ValueError(f"Expected a problem with values f and h for judged=True, got {type(problem).__name__}.")
    calls = None if spec.calls is None else spec.calls * spec.replicas
    own = {name: getattr(spec, name) for name in ("seed", "replicas", "seconds", "tolerance", "past")}
    return Answering(problem, calls, **own)
