"""The page's header: the rooms, the run that goes on, the link to the page, and light or dark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import panel as pn
import param
from panel.custom import JSComponent

from zoviz.core.registry import title_of
from zoviz.views.app.rooms import Rooms
from zoviz.views.common.design import DARK, LIGHT
from zoviz.views.common.run_controller import RunController
from zoviz.views.common.style import COPY, WIDE, batched_changes, update_changed

THEME_COOKIE = "zoviz_theme"
"""What the next page of a browser begins with: a person's choice, or ``system-`` and what the system had last."""


_CODE = (Path(__file__).parent / "header.js").read_text(encoding="utf-8")


def begins_dark(cookies: Mapping[str, str]) -> bool:
    """Return whether a page begins dark for a browser with these cookies; without one it begins light."""
    return cookies.get(THEME_COOKIE, "") in ("dark", "system-dark")


class Header(JSComponent):
    """The bar at the top of a page: a tab for each room, and what is of use in all of them.

    In every room but the run's it names the run that goes on, with a way to it, and Stop.

    Parameters
    ----------
    controller : RunController
    rooms : Rooms
    room : str
        The name of the room of the run.
    """

    rooms = param.List(default=[], doc="Name and title of each room.")
    open = param.String(default="", doc="The name of the room that is shown.")
    chip = param.String(default="", doc="The run that goes on elsewhere; empty for none.")

    _esm = _CODE.replace("{COPY}", f"{{{COPY}}}")
    _stylesheets: ClassVar[list[str]] = ["header.css"]

    def __init__(self, controller: RunController, rooms: Rooms, room: str) -> None:
        titles = [[name, title] for title, name in rooms.param.open.names.items()]
        super().__init__(rooms=titles, open=rooms.open, **WIDE)
        self._controller, self._rooms, self._room = controller, rooms, room
        controller.param.watch(lambda *_: self._update(), ["active", "status", "run"])
        rooms.param.watch(lambda _: self._update(), "open")

    def _update(self) -> None:
        controller, run = self._controller, self._controller.run
        name = "" if run is None else title_of(run.solver)
        elsewhere = controller.active and self._rooms.open != self._room
        update_changed(self, open=self._rooms.open, chip=f"{name}: {controller.status}" if elsewhere else "")

    def take(self, data: object) -> None:
        """Do what a message of the browser says: open a room, stop the run, draw figures light or dark."""
        if not isinstance(data, dict):
            return
        if data.get("open") in self._rooms.names:
            self._rooms.open = data["open"]
        elif data.get("stop") is True:
            self._controller.stop()
        elif (word := data.get("theme")) in ("dark", "light") and (document := pn.state.curdoc) is not None:
            theme = DARK if word == "dark" else LIGHT
            if document.theme is not theme:
                with batched_changes(document):
                    document.theme = theme

    _handle_msg = take
