"""A button that takes a first look at an own problem, and the two sentences on what was seen."""

from __future__ import annotations

import html
from concurrent.futures import Future
from typing import Any

import panel as pn

from zoviz.core.threads.background_work import in_background
from zoviz.diagnosis.first_look import CALLS, FirstLook, first_look
from zoviz.problems.base import Problem
from zoviz.problems.user.base import Simulation
from zoviz.views.common.buttons import text_button
from zoviz.views.common.style import WIDE, muted_html, note, update_changed


class FirstLookCard(pn.viewable.Viewer):
    """A button that calls an own problem a few times, charged to no run, and says what it is like.

    Attributes
    ----------
    button : Button
    note : HTML
    """

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._problem: Problem | None = None
        self._work: Future[FirstLook] | None = None
        self.button = text_button(f"Try it: {CALLS} calls", self.begin, margin=(2, 10))
        self.note = note("", margin=(2, 10, 6, 10), sizing_mode="stretch_width")
        self._column = pn.Column(self.button, self.note, **WIDE)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    def begin(self) -> None:
        """Call the problem, in a thread of its own."""
        problem = self._problem
        if self._work is None and isinstance(problem, Simulation):
            self._work = in_background(lambda: first_look(problem))

    def update(self, problem: Problem, budget: int | None, active: bool) -> None:
        """Follow the problem that is picked, and show what was seen; called at every refresh, with the document's lock.

        Parameters
        ----------
        problem : Problem
        budget : int, optional
            Calls of the next run.
        active : bool
            Whether a run goes on, during which a problem may not be able to serve two.
        """
        if problem is not self._problem:
            self._problem, self._work = problem, None
            update_changed(self.note, object="")
        if self._work is None:
            update_changed(self.button, disabled=active)
        elif self._work.done():
            update_changed(self.note, object=muted_html(html.escape(self._sentence(self._work, budget))))
            self._work = None
        else:
            update_changed(self.button, disabled=True)
            update_changed(self.note, object=muted_html("Evaluating your function at the starting point and near it."))

    @staticmethod
    def _sentence(work: Future[FirstLook], budget: int | None) -> str:
        try:
            seen = work.result()
        except Exception as error:  # a person's function may raise anything
            return f"Your function could not be called: {error}"
        return f"{seen.sentences(budget)} {seen.calls} call{'s' * (seen.calls != 1)}, charged to no run."
