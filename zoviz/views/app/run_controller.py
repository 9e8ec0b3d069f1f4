"""What a page does with its run: begin it, command it, take up another's."""

from __future__ import annotations

import panel as pn
import param

from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.run import Run
from zoviz.runs.store import Store
from zoviz.views.app.stored_runs_toggle import LibraryDoor, live_runs
from zoviz.views.controls.picker import Choice
from zoviz.views.controls.run_settings import Settings
from zoviz.views.plots.board import Board
from zoviz.views.plots.run_list import Shelf


class Pilot(pn.viewable.Viewer):
    """One page's run; ``Dashboard`` adds what is seen of it.

    Attributes
    ----------
    run : Run or None
        The one that the buttons and the forms speak to.
    store : Store or None
        Where runs are kept.
    """

    __abstract = True

    keep = param.Boolean(default=True, label="Keep finished runs", doc="Leave a run on the plots when the next starts.")

    outlive = param.Boolean(
        default=False,
        label="Run on when the page is closed",
        doc="Another page then finds the run under Stored runs, and Resume run there takes it up.",
    )

    run: Run | None
    store: Store | None
    choice: Choice
    settings: Settings
    board: Board
    shelf: Shelf
    library: LibraryDoor
    _key: str
    _error: str
    _fork: int | None = None

    def _show(self) -> None:
        """Enable what makes sense now."""
        raise NotImplementedError

    def start(self, steps: int | None = None) -> None:
        """Begin a new run with what is chosen, unless one is going on."""
        if self.run is not None and self.run.active:
            return self.say("Expected Start after the run has ended; it is still going on: Stop it first, or Pause.")
        self.choice.suggest()
        if self.choice.doubt:
            return self._notify(self.choice.doubt)  # the message line says it already
        try:
            run = self.settings.make(self.choice.problem, self.choice.solver)
            run.store = self.store
            run.start(steps)
        except Exception as error:
            return self.say(str(error))
        return self._follow(run)

    def begin(self, run: Run, at: int | None = None) -> None:
        """Start a run that was made elsewhere (resumed, forked, replayed), and steer it from here.

        Parameters
        ----------
        run : Run
        at : int, optional
            Where a fork leaves the run that it repeats: it waits there, so that its parameters may be changed.
        """
        if not self._busy():
            run.start(at)
            self.take_up(run)
            self._fork = at

    def take_up(self, run: Run) -> None:
        """Show a run that is going on, with its parameters in the forms."""
        if run is not self.run and not self._busy():
            self.choice.adopt(run.problem, run.solver)
            self._follow(run)

    def _busy(self) -> bool:
        """Whether this page's run is going on; says so."""
        active = self.run is not None and self.run.active
        if active:
            self.say("Expected this page's run to have ended; it is still going on: Stop it first.")
        return active

    def _follow(self, run: Run) -> None:
        if not self.keep and self._key:
            self.board.take_off(self._key)
        self._error, self.run, self._fork = "", run, None
        live_runs()[run.id] = run
        self._key = self.board.put(run).key
        self.library.close()
        self._show()  # first of all; counters, lines, list and picture come with the next looks

    def step(self) -> None:
        """One iteration, then pause; begins a run if there is none."""
        if self.run is not None and self.run.active:
            self.run.step()
        else:
            self.start(steps=1)

    def pause(self) -> None:
        """Hold the run."""
        self._command("pause")

    def resume(self) -> None:
        """Let the run go on: a fork that was held while it repeats goes on to where it waits for changes."""
        if self.run is not None and self._ahead > 0:
            self.run.step(self._ahead)
        else:
            self._command("resume")

    @property
    def _ahead(self) -> int:
        """Iterations until a fork waits for changes; negative after that."""
        return -1 if self.run is None or self._fork is None else self._fork - self.run.progress.iteration

    @property
    def advice(self) -> str:
        """What a fork does, what its person can do now, and what the run says; empty where there is no advice."""
        run, ahead = self.run, self._ahead
        if run is None or ahead < 0 or not run.active:
            return ""
        if ahead > 0:
            return f"Repeating the first {self._fork:,} iterations; the fork then waits for changes. {run.message}"
        changes = "change parameters, then press Resume." if self.choice.solver.live else "press Resume."
        return f"Forked at iteration {self._fork:,}: {changes} {run.message}" if run.status is RunStatus.PAUSED else ""

    def stop(self) -> None:
        """End the run; its lines stay."""
        self._command("stop")

    def reset(self) -> None:
        """End the run and take it off the plots; parameters and other runs stay."""
        self._command("stop")
        if self._key:
            self.board.take_off(self._key)
        self.run, self._key, self._error = None, "", ""
        self.shelf.update()
        self._show()

    def close(self) -> None:
        """The session is over: end the run's thread, unless it is to go on."""
        if not self.outlive:
            self._command("stop")

    def _command(self, name: str) -> None:
        if self.run is not None and self.run.active:
            getattr(self.run, name)()
            self._show()

    def _forget(self, key: str) -> None:
        if key == self._key:
            self._command("stop")
            self.run, self._key = None, ""

    def say(self, sentence: str) -> None:
        """Show a sentence above the plots, and as a notification."""
        self._error = sentence
        self._notify(sentence)
        self._show()

    def _notify(self, sentence: str) -> None:
        if pn.state.notifications is not None:
            pn.state.notifications.error(sentence, duration=8000)
