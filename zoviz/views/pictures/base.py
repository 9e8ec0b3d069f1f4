"""The base class of pictures of a problem or a solver, and the card on the page that shows the one that fits."""

from __future__ import annotations

from collections.abc import Hashable
from concurrent.futures import Future
from typing import Any, ClassVar, Literal

import panel as pn
import param
from bokeh.plotting import figure

from zoviz.core.registry import discover
from zoviz.core.threads.background_work import in_background
from zoviz.core.types import Array
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import ITERATION
from zoviz.runs.run import Run
from zoviz.runs.run_view import RunView
from zoviz.solvers.base import Solver
from zoviz.views.common.figure_frame import EVERY, HEIGHT, empty_figure, subtitle
from zoviz.views.common.style import WIDE, batched_changes, update_changed
from zoviz.views.pictures.scrubber import PathScrubber


class Picture(param.Parameterized):
    """A picture of a problem or of a solver at an iterate, as a figure of its own.

    Notes
    -----
    A picture shows the first replica. A problem's follows the path of the run, which ``data`` hands to ``update``; a
    solver's overrides ``data``. It may evaluate an analytic problem off the books; it calls no oracle.
    """

    __abstract = True

    title: ClassVar[str] = ""
    kind: ClassVar[type[Problem] | type[Solver]]
    """What it is a picture of."""
    height: ClassVar[int] = HEIGHT
    follows: ClassVar[str] = "x"
    """Whose course it draws: "x" the iterate's, or "inner" a follower's."""
    slow: ClassVar[bool] = False
    """Whether ``prepare`` takes longer than a page should wait: a thread then does it, and a later refresh draws."""

    general: ClassVar[bool] = False
    """Whether it stands back where another picture draws the same."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.figure = self.build()
        self._whose = subtitle(self.figure)  # above a legend, if there is one

    @classmethod
    def draws(cls, subject: Problem | Solver) -> bool:
        """Return whether this picture can draw the problem, or the solver: by default one of its ``kind``."""
        return isinstance(subject, cls.kind)

    @staticmethod
    def of(subject: Problem | Solver) -> type[Picture] | None:
        """Return the class of picture that draws the problem, or the solver; None where none does."""
        kinds = sorted(discover("zoviz.views.pictures", Picture).values(), key=lambda kind: kind.general)
        return next((kind for kind in kinds if kind.draws(subject)), None)

    def build(self) -> figure:
        """Return the figure, still empty: problems and iterates only change its data, which shows it."""
        raise NotImplementedError(f"{type(self).__name__} must define build().")

    def controls(self) -> pn.viewable.Viewable | None:
        """Return widgets to stand above the figure; None where there are none."""
        return None

    @classmethod
    def follows_path(cls) -> bool:
        """Return whether it draws the path of iterates, and hence can draw an earlier part of it."""
        return cls.data is Picture.data

    def data(self, run: Run) -> tuple[Hashable, Any] | None:
        """Return a key that changes with the drawing, and the data that ``update`` draws of a run; None for nothing.

        Here the path, the newest iterate last.
        """
        found = self.iterates(run)
        return None if found is None else (float(found[0][-1]), found[1])

    def iterates(self, run: RunView) -> tuple[Array, Array] | None:
        """Return iterations (rows,) and what ``follows`` names of the first replica (rows, n), in the problem's units.

        None without any.
        """
        columns = run.path.snapshot().columns
        if self.follows not in columns or not len(columns[self.follows]):
            return None
        path = columns[self.follows]
        if run.units is not None and self.follows == "x":  # a run keeps it as its solver sees it
            path = run.units.point(path)
        return columns[ITERATION], path

    def prepare(self, subject: Any, data: Any) -> Any:
        """Return what ``update`` draws of what ``data`` gave; by default the same. The picture stays as it is."""
        return data

    def update(self, subject: Any, data: Any) -> None:
        """Draw what ``prepare`` gave; needs the document's lock.

        Parameters
        ----------
        subject : Problem or Solver
            A clone of the one that runs, as it was at the start, which nobody changes.
        data : Array, shape (rows, n), or object
        """
        raise NotImplementedError(f"{type(self).__name__} must define update(subject, data).")

    @property
    def drawn(self) -> bool:
        """Whether anything is drawn: an empty figure is no picture, and a browser finds no ranges for it."""
        renderers: list[Any] = self.figure.renderers
        return any(len(column) for one in renderers for column in one.data_source.data.values())

    def frame(self, x_label: str, y_label: str, **options: Any) -> Any:
        """Return an empty figure in the page's style."""
        return empty_figure(self.title, f"picture-{type(self).__name__}", x_label, y_label, self.height, **options)

    def label_run(self, text: str) -> None:
        """Say below the title of which run the picture is."""
        if self._whose.text != text:
            self._whose.text = text


class PictureCard(pn.viewable.Viewer):
    """A card with the picture of the run's problem, or of its solver, where one can draw it.

    Parameters
    ----------
    part : "problem" or "solver"
        The part of the run that the card shows a picture of.

    Notes
    -----
    A picture is made and drawn before it first comes to the page, and is hidden afterwards where another is shown: the
    page opens sooner without those that nobody needs.
    """

    def __init__(self, part: Literal["problem", "solver"] = "problem", **params: Any) -> None:
        super().__init__(**params)
        self._part = part
        self._pictures: dict[type[Picture], Picture] = {}
        self._scrubbers: dict[type[Picture], PathScrubber] = {}
        self._column = pn.Column(visible=False, **WIDE)
        self._run: Run | None = None
        self._subject: Problem | Solver | None = None
        self._kind: type[Picture] | None = None  # of the picture on the page
        self._needed: type[Picture] | None = None  # of that of ``_run``
        self._begun: set[type[Picture]] = set()  # those that have drawn something
        self._panes: dict[type[Picture], pn.Column] = {}  # in the order in which they are in the column
        self._refreshes = 0
        self._mark: Hashable = None
        self._work: Future[Any] | None = None

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    @property
    def visible(self) -> bool:
        """Whether the picture's card is on the page."""
        return bool(self._column.visible)

    @property
    def picture(self) -> Picture | None:
        """The picture that is on the page; None where there is none."""
        return None if self._kind is None else self._pictures[self._kind]

    @property
    def scrubber(self) -> PathScrubber | None:
        """The slider through the path below the picture; None where it draws no path."""
        return None if self._kind is None else self._scrubbers.get(self._kind)

    def prepare(self, run: Run | None, name: str = "") -> None:
        """Make the picture that another run needs, which ``update`` then puts on the page.

        A refresh for each: one that does both holds up the server's other pages.
        """
        if run is not self._run:
            self._change(run)

    def update(self, run: Run | None, name: str = "") -> None:
        """Draw the newest iterate of a run by its name; called with the document's lock at every refresh."""
        self.prepare(run)
        self._kind = self._needed
        self._refreshes += 1
        if self._work is not None:
            self._take_up(self._work)
        if self.picture is not None and run is not None:
            self.picture.label_run(f"{name}, replica 1" if name else "")
            moved = self.scrubber is not None and self.scrubber.moved
            if moved or self._kind not in self._panes or not run.active or self._refreshes % EVERY == 0:
                self._draw(run, self.picture)
        self._show()

    def _draw(self, run: Run, picture: Picture) -> None:
        if self._work is not None:
            return
        newest = picture.data(run)
        if newest is None:
            return
        mark, data = newest if self.scrubber is None else self.scrubber.cut(run, *newest)
        if mark == self._mark:
            return
        self._mark, subject = mark, self._subject
        if picture.slow:
            self._work = in_background(lambda: picture.prepare(subject, data))
        else:
            self._put(picture, picture.prepare(subject, data))

    def _take_up(self, work: Future[Any]) -> None:
        """Draw what a thread has prepared, once it is there."""
        if work.done() and self.picture is not None:
            self._work = None
            self._put(self.picture, work.result())

    def _put(self, picture: Picture, data: Any) -> None:
        picture.update(self._subject, data)
        self._begun.add(type(picture))

    def _change(self, run: Run | None) -> None:
        """Replace the picture by the one that fits another run's problem or solver, or by none."""
        self._run, self._mark, self._refreshes, self._work = run, None, 0, None
        for scrubber in self._scrubbers.values():
            scrubber.reset()
        self._needed = None
        if run is None or run.initial is None:
            return
        self._subject = getattr(run.initial, self._part).clone()
        kind = self._needed = Picture.of(self._subject)
        if kind is not None and kind not in self._pictures:
            self._pictures[kind] = kind()
            if kind.follows_path():
                self._scrubbers[kind] = PathScrubber()

    def _show(self) -> None:
        """Show the picture that is needed in place of others, once it is drawn."""
        drawn = self.picture is not None and self._kind in self._begun and self.picture.drawn
        kind = self._kind if drawn else None
        if kind is not None and kind not in self._panes:
            # In a column of its own: a figure shows itself whatever its pane says.
            picture = self._pictures[kind]
            views = (picture.controls(), pn.pane.Bokeh(picture.figure, **WIDE), self._scrubbers.get(kind))
            parts = [view for view in views if view is not None]
            self._panes[kind] = pn.Column(*parts, **WIDE)
            # At once: else a change of the new widgets may reach the browser before the message that they come with.
            with batched_changes(pn.state.curdoc):
                self._column.append(self._panes[kind])
        for other, pane in self._panes.items():
            update_changed(pane, visible=other is kind)
        update_changed(self._column, visible=kind is not None)
