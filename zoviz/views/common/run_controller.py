"""The state of one page: its run, the run's status, the page's message, and the commands that change them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial, wraps
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import panel as pn
import param

from zoviz.core.errors import ZovizError
from zoviz.core.threads.background_work import in_background
from zoviz.diagnosis.remedies import Remedy, remedies
from zoviz.diagnosis.verdict import Verdict, verdict_of
from zoviz.problems.base import Problem
from zoviz.runs import repeat
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.live_runs import LiveRuns
from zoviz.runs.references import Reference
from zoviz.runs.run import Run
from zoviz.runs.run_view import RunView
from zoviz.runs.store import Store
from zoviz.solvers.base import Solver
from zoviz.views.common.drags import last_standing
from zoviz.views.common.shown_runs import ShownRun, ShownRuns

JUDGED_EVERY = 2
"""Refreshes from one verdict to the next of a run that goes on: a verdict costs about as much as all lines."""


class _Judgement(NamedTuple):
    """A verdict, and when it was made."""

    look: int
    iteration: int
    status: RunStatus
    verdict: Verdict


_Method = TypeVar("_Method", bound=Callable[..., None])


def say_errors(prefix: str = "") -> Callable[[_Method], _Method]:
    """Decorate a method so that its errors are told, after ``prefix``, to the ``say`` of its object, and not raised.

    What is not one of zoviz's own refusals goes to the log as well, with its traceback.
    """

    def decorate(method: _Method) -> _Method:
        @wraps(method)
        def speaking(self: Any, *args: Any, **kwargs: Any) -> None:
            try:
                method(self, *args, **kwargs)
            except Exception as error:  # whatever it is, the page says it; else a button would do nothing
                if not isinstance(error, (ZovizError, ValueError, TypeError, OSError)):
                    logging.getLogger("zoviz").exception("An action on the page failed.")
                self.say(f"{prefix}{error}")

        return cast(_Method, speaking)

    return decorate


def store_of(controller: RunController) -> Store:
    """Return the store of a page that has one; raise for a page without."""
    if controller.store is None:
        raise ValueError("Expected a page with a store, got one that keeps no runs: give Dashboard(store=...).")
    return controller.store


class RunSource(Protocol):
    """The forms of a page, from which Start makes a run."""

    @property
    def complaint(self) -> str:
        """The reason why no run can be made, as of the last check; empty where one can."""

    @property
    def solver(self) -> Solver:
        """The solver that is chosen in the forms."""

    @property
    def loading(self) -> bool:
        """Whether ``complaint`` only says that data are awaited."""

    def check(self) -> str:
        """Update ``complaint``: find out why no run can be made now."""

    def make(self) -> Run:
        """Make a run with what the forms say, not started."""

    def load(self, problem: Problem, solver: Solver) -> None:
        """Show in the forms the problem and the solver of a run that was made elsewhere."""


class RunController(param.Parameterized):
    """The one run of a page, which the page's cards watch and command.

    Parameters
    ----------
    source : RunSource
        Makes the runs that Start begins.
    store : Store, optional
        Where runs are kept.
    live_runs : LiveRuns, optional
        Those of the server; by default this page's alone.
    person : str
        Whose page it is, for the server's limits.

    Attributes
    ----------
    runs_shown : ShownRuns
        The runs on the page's plots.
    """

    run: param.ClassSelector[Run | None] = param.ClassSelector(
        default=None, class_=Run, allow_None=True, doc="The one that buttons and forms speak to; None before the first."
    )
    status: param.Selector[RunStatus] = param.Selector(
        default=RunStatus.READY, objects=list(RunStatus), doc="The run's status; ready without a run."
    )
    active = param.Boolean(default=False, doc="Whether the run is going on.")
    waiting = param.Boolean(default=False, doc="Whether a run begins as soon as its problem's data are there.")
    undoable = param.Boolean(default=False, doc="Whether a change of a parameter stands that can be put back.")
    error = param.String(default="", doc="What could not be done last; empty once it is of no interest.")
    keep = param.Boolean(default=True, label="Keep finished runs", doc="Keep them on the plots at the next Start.")
    outlive = param.Boolean(
        default=False,
        label="Keep running when the page is closed",
        doc="Find it again under Stored runs, and continue it with Resume run.",
    )

    def __init__(
        self,
        source: RunSource,
        store: Store | None = None,
        live_runs: LiveRuns | None = None,
        person: str = "",
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self.store, self.runs_shown = store, ShownRuns()
        self._source, self._live_runs, self._person = source, LiveRuns() if live_runs is None else live_runs, person
        self._key = ""  # of the page's run among those shown
        self._fork_at: int | None = None
        self._awaited: tuple[int | None, tuple[Reference, ...]] = (None, ())  # of ``start``, while data are awaited
        self._next: Callable[[], None] | None = None  # begins the fork that waits for the end of the page's run
        self._verdicts: dict[str, _Judgement] = {}
        self._remedies: tuple[str, Verdict, list[Remedy]] | None = None  # of which run and verdict
        self._refreshes = 0
        self._interrupted: Future[int] | None = None  # how many runs of the store are
        self.runs_shown.param.watch(lambda event: self._keep_names(event.old, event.new), "runs")

    @say_errors("The name is not stored: ")
    def _keep_names(self, before: Mapping[str, ShownRun], now: Mapping[str, ShownRun]) -> None:
        """Write the names that stored runs have been given on this page into the store, which lists them."""
        for key, one in now.items():
            kept = one.run.store is not None
            if self.store is not None and kept and key in before and before[key].name != one.name:
                self.store.annotate(one.run.id, label=one.name)

    def start(self, steps: int | None = None, references: tuple[Reference, ...] = ()) -> None:
        """Start a run with what the forms say, unless one is at work.

        Parameters
        ----------
        steps : int, optional
            Pause after this number of iterations.
        references : tuple of Reference
            A paper's numbers that stand beside it on the plots.
        """
        if self.run is not None and self.run.active:
            self.say("A run is still in progress: stop it first.")
            return
        reason = self._source.check()
        self._awaited, self.waiting = (steps, references), bool(reason) and self._source.loading
        if self.waiting:
            return  # the message line says so
        if reason == self._source.complaint and reason:
            self._notify(reason)  # the message line shows it already
        elif reason:
            self.say(reason)
        else:
            self._start_new(steps, references)

    @say_errors()
    def _start_new(self, steps: int | None, references: tuple[Reference, ...]) -> None:
        run = self._source.make()
        run.store = self.store
        self._live_runs.start(run, self._person, steps)
        self.watch_run(run, references)

    def begin(self, run: Run, fork_at: int | None = None, references: tuple[Reference, ...] = ()) -> None:
        """Start a run that was made elsewhere (resumed, forked, replayed), and steer it from this page.

        Parameters
        ----------
        run : Run
        fork_at : int, optional
            The iteration at which a fork leaves the run that it repeats: it waits there for changes of parameters.
        references : tuple of Reference
            A paper's numbers that stand beside it on the plots.
        """
        if not self._refuse_second():
            self._live_runs.start(run, self._person, fork_at)
            self.take_up(run, references)
            self._fork_at = fork_at

    def take_up(self, run: Run, references: tuple[Reference, ...] = ()) -> None:
        """Show a run that is at work, with its parameters in the forms."""
        if run is not self.run and not self._refuse_second():
            self._source.load(run.problem, run.solver)
            self.watch_run(run, references)

    def join(self, id: str) -> bool:
        """Show a run of this server by its id; return False where no such run is at work."""
        run = self._live_runs.get(id)
        if run is not None:
            self.take_up(run)
        return run is not None

    def _refuse_second(self) -> bool:
        """Return whether the page's run is still at work, and say so."""
        active = self.run is not None and self.run.active
        if active:
            self.say("This page's run is still in progress: stop it first.")
        return active

    def watch_run(self, run: Run, references: tuple[Reference, ...] = ()) -> None:
        """Make a started run this page's run, and put it on the plots with a paper's numbers beside it."""
        if not self.keep and self._key:
            self.runs_shown.take_off(self._key)
        self._live_runs.add(run, self._person)
        self._fork_at, self.waiting = None, False
        self._key = self.runs_shown.put(run, references=references).key
        self.param.update(run=run, error="")
        self.refresh()  # the buttons answer first; counters, lines, list and picture come with the next looks

    def step(self) -> None:
        """Do one iteration, then pause; start a run if there is none."""
        if self.run is not None and self.run.active:
            self.run.step()
        else:
            self.start(steps=1)

    def start_or_pause(self) -> None:
        """Start a run, pause the one that goes on, or let a paused one go on."""
        if self.status is RunStatus.RUNNING:
            self.pause()
        elif self.active:
            self.unpause()
        else:
            self.start()

    def pause(self) -> None:
        """Pause the run after its present iteration."""
        if self.run is not None and self.run.active:
            self.run.pause()
            self.refresh()

    def unpause(self) -> None:
        """Let the run go on; a fork that was paused while it repeats goes on to where it waits for changes."""
        if self.run is None or not self.run.active:
            return
        if self._iterations_to_fork > 0:
            self.run.step(self._iterations_to_fork)
        else:
            self.run.unpause()
        self.refresh()

    @say_errors()
    def steer(self, values: Mapping[str, Any]) -> None:
        """Set live parameters of the page's run by (dotted) name, as the form does; of an ended one in the form."""
        if self.run is not None:
            self.run.set(values)

    @say_errors()
    def undo(self) -> None:
        """Put the parameter that was changed last back to where it was; again, the one before."""
        change = None if self.run is None or not self.run.active else last_standing(list(self.run.journal))
        if self.run is not None and change is not None:
            self.steer({change.name: self.run.as_set(change.name, change.old)})

    def go_back(self, at: int) -> None:
        """End the run, and fork it at an iteration that it has come to: all up to there is repeated, then it waits."""
        self.stop()
        if self.run is not None:
            self._next = partial(self._fork, self.run, at, at)
            self.refresh()

    def go_on_with(self, tried: Run) -> None:
        """End the run, and go on with a fork of one that tried a remedy: all that this did is repeated."""
        self.stop()
        self._next = partial(self._fork, tried, tried.progress.iteration)
        self.refresh()

    @say_errors()
    def _fork(self, source: Run, at: int, wait_at: int | None = None) -> None:
        own = self.runs_shown.runs.get(self._key)  # the fork is of the same task
        references = () if own is None else own.references
        self.begin(source.fork(at, **repeat.onward(source, at)), wait_at, references)

    def stop(self) -> None:
        """End the run; its lines stay on the plots. One that waits for its data, or to go back, does not begin."""
        self.waiting, self._next = False, None
        if self.run is not None and self.run.active:
            self.run.stop()
            self.refresh()

    def forget(self, key: str) -> None:
        """Remove a run from the plots; the page's own is ended first."""
        if key and key == self._key:
            self.stop()
            self._key, self.run = "", None
            self.refresh()
        self.runs_shown.take_off(key)

    def close(self) -> None:
        """Interrupt the run at the end of the page's session, unless it is to outlive it: nobody has stopped it."""
        self.waiting, self._next = False, None
        if self.run is not None and not self.outlive:
            self.run.interrupt()

    def refresh(self) -> None:
        """Update the run's status; called after every command and a few times a second."""
        self._refreshes += 1
        if self.waiting and not (self._source.check() and self._source.loading):
            self.start(*self._awaited)
        run = self.run
        status = RunStatus.READY if run is None else run.status
        ended = self.active and not status.active
        # A refused second Start has nothing more to say once the run has ended.
        undoable = run is not None and status.active and last_standing(list(run.journal)) is not None
        self.param.update(status=status, active=status.active, undoable=undoable, error="" if ended else self.error)
        if ended and run is not None:
            run.release()
            self._live_runs.remove(run)
        if self._next is not None and not status.active:
            begin, self._next = self._next, None
            begin()

    def verdict(self, run: RunView) -> Verdict | None:
        """Return the verdict on a run, at most two looks old; None before its first step."""
        if len(run.trace) < 2:
            return None
        last, iteration, status = self._verdicts.get(run.id), run.progress.iteration, run.status
        if last is not None and (last.iteration, last.status) == (iteration, status):
            return last.verdict
        if last is None or last.status is not status or self._refreshes >= last.look + JUDGED_EVERY:
            # Of a stored run it is not asked: its problem would have to be made, which may call a person's functions.
            constrained = run.problem.m > 0 if isinstance(run, Run) else None
            judged = verdict_of(run, constrained)
            last = self._verdicts[run.id] = _Judgement(self._refreshes, iteration, status, judged)
        return last.verdict

    def remedies(self, run: Run) -> list[Remedy]:
        """Return the remedies for a run that is paused or has ended; none while it goes on."""
        judged = None if run.status is RunStatus.RUNNING else self.verdict(run)
        if judged is None:
            return []
        if self._remedies is None or self._remedies[:2] != (run.id, judged):
            self._remedies = run.id, judged, remedies(run, judged)
        return self._remedies[2]

    @property
    def message(self) -> str:
        """The sentence above the plots: an error, why no run can be made, a fork's advice, or the run's message."""
        run_message = "" if self.run is None else self.run.message
        if self.waiting:
            return f"{self._source.complaint} The run starts once they are loaded; Stop cancels it."
        advice = self._fork_advice if self.run is not None else self._advice_to_resume
        return self.error or self._source.complaint or advice or run_message

    def count_interrupted(self) -> None:
        """Have a thread count the store's interrupted runs, so that the page can offer to go on with them."""
        if self.store is not None:
            store = self.store
            self._interrupted = in_background(lambda: store.count(status=RunStatus.INTERRUPTED))

    @property
    def _advice_to_resume(self) -> str:
        """The sentence on runs that were interrupted; empty where none is, or it is not known."""
        counting = self._interrupted
        count = counting.result() if counting is not None and counting.done() and not counting.exception() else 0
        runs = "1 run was" if count == 1 else f"{count:,} runs were"
        return f"{runs} interrupted. To continue, select one under Stored runs and press Resume run." if count else ""

    @property
    def _iterations_to_fork(self) -> int:
        """The iterations until a fork waits for changes; negative after that, and without a fork."""
        return -1 if self.run is None or self._fork_at is None else self._fork_at - self.run.progress.iteration

    @property
    def _fork_advice(self) -> str:
        """The sentence on what a fork does and what a person can do now; empty where the run is none."""
        run, ahead = self.run, self._iterations_to_fork
        if run is None or ahead < 0 or not run.active:
            return ""
        if ahead > 0:
            return f"Replaying {self._fork_at:,} iterations; it will then pause. {run.message}"
        changes = "change parameters, then press Start." if self._source.solver.live else "press Start."
        return (
            f"Forked at iteration {self._fork_at:,}: {changes} {run.message}" if run.status is RunStatus.PAUSED else ""
        )

    def say(self, sentence: str) -> None:
        """Show a sentence above the plots, and as a notification."""
        self.error = sentence
        self._notify(sentence)
        self.refresh()

    def _notify(self, sentence: str) -> None:
        if pn.state.notifications is not None:
            pn.state.notifications.error(sentence, duration=8000)
