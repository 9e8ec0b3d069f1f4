"""The bar of the page's rooms, of which one is shown below it; each is made when it is first opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import panel as pn
import panel_material_ui as pmui
import param

from zoviz.views.common.run_controller import RunController
from zoviz.views.common.style import COPY, HEADER, NARROW, UNSEEN_LABEL, update_changed

_INK = "var(--panel-on-background-color, inherit) !important"
_TAB: dict[str, Any] = {
    "height": f"{HEADER}px",
    "padding": "0 12px",
    "border": "0 !important",
    "border-radius": "0",
    "border-bottom": "2px solid transparent !important",
    "color": _INK,
    "text-transform": "none",
    "white-space": "nowrap",
    "&.Mui-selected": {
        "background": "none !important",
        "color": "var(--panel-primary-color, currentColor)",
        "border-bottom-color": "var(--panel-primary-color, currentColor) !important",
        "font-weight": "700",
    },
}
"""How a room's button looks: a tab of the page's header."""


class Room(NamedTuple):
    """A part of the page: its name in addresses, its title, and how its content is made and brought up to date."""

    name: str
    title: str
    make: Callable[[], pn.viewable.Viewable | pn.viewable.Viewer]
    renew: Callable[[], object] = lambda: None


def copy_link() -> pmui.Button:
    """Return a button that puts the page's address into the clipboard."""
    button = pmui.Button(label="Copy link", variant="text", size="small", margin=(6, 4), sx={"color": _INK})
    button.js_on_click(code=f"const text = location.href; {COPY}")
    return button


class RunChip(pn.viewable.Viewer):
    """In every room but the run's: the run that goes on, a way to it, and Stop.

    Parameters
    ----------
    controller : RunController
    rooms : Rooms
    room : str
        The name of the room of the run.
    """

    def __init__(self, controller: RunController, rooms: Rooms, room: str, **params: object) -> None:
        super().__init__(**params)
        self._controller, self._rooms, self._room = controller, rooms, room
        look: dict[str, Any] = {"size": "small", "margin": (6, 2)}
        self.shown = pmui.Button(label="", variant="outlined", on_click=lambda _: self._open(), **look)
        self.stop = pmui.Button(label="Stop the run", variant="text", on_click=lambda _: controller.stop(), **look)
        self._row = pn.Row(self.shown, self.stop, margin=0, visible=False, css_classes=["zoviz-run-chip"])
        controller.param.watch(lambda *_: self._update(), ["active", "status", "run"])
        rooms.param.watch(lambda _: self._update(), "open")
        self._update()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._row

    def _open(self) -> None:
        self._rooms.open = self._room

    def _update(self) -> None:
        controller, run = self._controller, self._controller.run
        name = "" if run is None else type(run.solver).title or type(run.solver).__name__
        update_changed(self.shown, label=f"{name}: {controller.status}")
        update_changed(self._row, visible=controller.active and self._rooms.open != self._room)


class Rooms(pn.viewable.Viewer):
    """The rooms of a page, one of which is shown, and the bar to choose it by; nothing is lost by moving about.

    Parameters
    ----------
    rooms : sequence of Room
        The first is open at the beginning.

    Attributes
    ----------
    open : str
        The name of the room that is shown.
    """

    open: param.Selector[str] = param.Selector(default=None, objects=[None], label="Room", doc="What is shown below.")

    def __init__(self, rooms: Sequence[Room], **params: object) -> None:
        super().__init__(**params)
        self._rooms = {room.name: room for room in rooms}
        self.param.open.objects = {room.title: room.name for room in rooms}
        self._columns = {name: pn.Column(visible=False, sizing_mode="stretch_width", margin=0) for name in self._rooms}
        self._bar = pmui.RadioButtonGroup.from_param(
            self.param.open,
            label="Room",
            size="small",
            margin=(0, 8),
            stylesheets=[UNSEEN_LABEL],
            css_classes=["zoviz-rooms"],
            description="",
            sx={"& button": _TAB, NARROW: {"& button": {"padding": "0 5px", "font-size": ".75rem"}}},
        )
        self.param.watch(self._show, "open")
        self.open = rooms[0].name

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(*self._columns.values(), sizing_mode="stretch_width", margin=0)

    @property
    def bar(self) -> pn.viewable.Viewable:
        """The row of buttons, one for each room."""
        return self._bar

    @property
    def names(self) -> list[str]:
        """The names of the rooms."""
        return list(self._rooms)

    def fill(self, name: str) -> None:
        """Make the content of a room, unless it is there."""
        if not len(self._columns[name]):
            self._columns[name].append(self._rooms[name].make())

    def _show(self, event: param.parameterized.Event) -> None:
        """Show the room that is open now; where it cannot be made, stay in the one before."""
        name, column = event.new, self._columns[event.new]
        for other in self._columns.values():  # the new one first: a table that is made in a hidden place may stay empty
            update_changed(other, visible=other is column)
        try:
            if len(column):
                self._rooms[name].renew()
            else:
                self.fill(name)
        except Exception:  # raised again
            self.open = event.old or self.names[0]
            raise
