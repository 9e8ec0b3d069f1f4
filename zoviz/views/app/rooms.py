"""The rooms of a page, of which one is shown; each is made when it is first opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import panel as pn
import param

from zoviz.views.common.style import update_changed


class Room(NamedTuple):
    """A part of the page: its name in addresses, its title, and how its content is made and brought up to date."""

    name: str
    title: str
    make: Callable[[], pn.viewable.Viewable | pn.viewable.Viewer]
    renew: Callable[[], object] = lambda: None


class Rooms(pn.viewable.Viewer):
    """The rooms of a page, one of which is shown; nothing is lost by moving about.

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
        self.param.watch(self._show, "open")
        self.open = rooms[0].name

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(*self._columns.values(), sizing_mode="stretch_width", margin=0)

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
