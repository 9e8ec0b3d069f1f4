"""The base class of pictures of a problem, and the card on the page that shows the one that fits."""

from __future__ import annotations

from typing import Any, ClassVar

import panel as pn
import param
from bokeh.models import CustomJSTickFormatter
from bokeh.plotting import figure

from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import ITERATION
from zoviz.runs.run import Run
from zoviz.views.common.style import update_changed
from zoviz.views.common.theme_overrides import SHORT, override_theme

EVERY = 8
"""Looks at the run between two looks at its picture: a picture moves every other second."""


class Picture(param.Parameterized):
    """A picture of a problem at an iterate, as a figure of its own.

    Notes
    -----
    A picture shows the first replica. It may evaluate an analytic problem off the books; it calls no oracle.
    """

    __abstract = True

    title: ClassVar[str] = ""
    height: ClassVar[int] = 280
    follows: ClassVar[str] = "x"
    """Whose course it draws: "x" the iterate's, or "inner" a follower's."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.figure = self.build()

    @classmethod
    def draws(cls, problem: Problem) -> bool:
        """Return whether this picture can draw the problem."""
        raise NotImplementedError(f"{cls.__name__} must define draws(problem).")

    def build(self) -> figure:
        """Return the figure, still empty: problems and iterates only change its data."""
        raise NotImplementedError(f"{type(self).__name__} must define build().")

    def update(self, problem: Any, path: Array) -> None:
        """Draw the newest iterate of a path; needs the document's lock.

        Parameters
        ----------
        problem : Problem
            A clone of the one that runs, which nobody changes.
        path : Array, shape (rows, n)
            Iterates of the first replica (or what ``follows`` names), the newest last.
        """
        raise NotImplementedError(f"{type(self).__name__} must define update(path).")

    def frame(self, x_label: str, y_label: str, **options: Any) -> Any:
        """Return an empty figure in the page's style."""
        fig: Any = figure(
            title=self.title,
            height=self.height,
            sizing_mode="stretch_width",
            x_axis_label=x_label,
            y_axis_label=y_label,
            tools="pan,box_zoom,xwheel_zoom,reset,save",
            active_scroll=None,
            outline_line_color=None,
            border_fill_alpha=0,
            background_fill_alpha=0,
            name=f"picture-{type(self).__name__}",
            **options,
        )
        fig.toolbar.autohide, fig.toolbar.logo = True, None
        override_theme(fig.title, text_font_size="14px", text_font_style="bold", standoff=4)
        for axis in (fig.xaxis[0], fig.yaxis[0]):
            axis.formatter = CustomJSTickFormatter(code=SHORT)
            fonts: dict[str, Any] = {"axis_label_text_font_size": "12px", "major_label_text_font_size": "12px"}
            override_theme(axis, axis_label_standoff=2, **fonts)
        return fig


class PictureCard(pn.viewable.Viewer):
    """A card with the picture of the run's problem, where one can draw it.

    Notes
    -----
    A picture is made and drawn before it first comes to the page, and is hidden afterwards where another is shown: the
    page opens sooner without those that nobody needs.
    """

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._kinds = list(discover("zoviz.views.pictures", Picture).values())
        self._pictures: dict[type[Picture], Picture] = {}
        self._column = pn.Column(visible=False, sizing_mode="stretch_width", margin=0)
        self._run: Run | None = None
        self._problem: Problem | None = None
        self._kind: type[Picture] | None = None
        self._looks, self._last_iteration = 0, -1.0

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    @property
    def visible(self) -> bool:
        """Whether the card is on the page."""
        return bool(self._column.visible)

    @property
    def picture(self) -> Picture | None:
        """The picture that is on the page; None where there is none."""
        return None if self._kind is None else self._pictures[self._kind]

    def update(self, run: Run | None) -> None:
        """Draw the run's newest iterate; called with the document's lock at every look at the run."""
        if run is not self._run:
            self._change(run)
        self._looks += 1
        if self.picture is None or run is None or (run.active and self._looks % EVERY):
            return None
        return self._draw(run)

    def _draw(self, run: Run | None) -> None:
        picture = self.picture
        if run is None or picture is None:
            return
        columns, followed = run.path.snapshot().columns, picture.follows
        if followed not in columns or not len(columns[followed]) or columns[ITERATION][-1] == self._last_iteration:
            return
        self._last_iteration = float(columns[ITERATION][-1])
        picture.update(self._problem, columns[followed])

    def _change(self, run: Run | None) -> None:
        """Replace the picture by the one that fits another run's problem, or by none."""
        self._run, self._last_iteration, self._looks = run, -1.0, 0
        if run is None or run.initial is None:
            return self._show(None)
        self._problem = run.initial.problem.clone()
        return self._show(next((kind for kind in self._kinds if kind.draws(self._problem)), None))

    def _show(self, kind: type[Picture] | None) -> None:
        if kind is not None and kind not in self._pictures:
            self._pictures[kind], self._kind = kind(), kind
            self._draw(self._run)
            style = {"sizing_mode": "stretch_width", "margin": 0}
            # In a column of its own: a figure shows itself whatever its pane says.
            self._column.append(pn.Column(pn.pane.Bokeh(self._pictures[kind].figure, **style), **style))
        for pane, other in zip(self._column, self._pictures, strict=True):
            update_changed(pane, visible=other is kind)
        self._kind = kind
        update_changed(self._column, visible=kind is not None)
