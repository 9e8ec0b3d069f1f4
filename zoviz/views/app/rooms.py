"""The rooms of a page, of which one is shown; each is made when it is first opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import panel as pn
import param

from zoviz.views.common.style import WIDE, update_changed


class Room(NamedTuple):
    """A part of the page: its name in addresses, its title, and what makes its content.

    Where the content has ``read``, it is called when the room is opened again, and ``update`` at every refresh.
    """

    name: str
    title: str
    make: Callable[[], pn.viewable.Viewable | pn.viewable.Viewer]


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
        self._contents: dict[str, pn.Column] = {}
        self._made: dict[str, Any] = {}
        self._column = pn.Column(**WIDE)
        self._begun = False
        self.open = rooms[0].name
        self.param.watch(self._show, "open")

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    @property
    def names(self) -> list[str]:
        """The names of the rooms."""
        return list(self._rooms)

    def begin(self, *others: str) -> None:
        """Make the room that is open, then others: once the page stands, so that a person sees it sooner.

        While its widgets are laid out, each would measure every figure again.
        """
        self._begun = True
        for name in (self.open, *others):
            self.fill(name)

    def update(self) -> None:
        """Show what is new in the room that is open; needs the document's lock."""
        self._have(self.open, "update")

    def _have(self, name: str, do: str) -> None:
        """Have the content of a room do something, if it can."""
        getattr(self._made.get(name), do, lambda: None)()

    def fill(self, name: str) -> None:
        """Make the content of a room, unless it is there."""
        if name not in self._contents:
            content = pn.Column(visible=name == self.open, **WIDE)
            self._contents[name] = content
            self._column.append(content)  # before its parts: a table that is made in a hidden place may stay empty
            try:
                self._made[name] = self._rooms[name].make()
                content.append(self._made[name])
            except Exception:  # raised again
                del self._contents[name]
                self._column.remove(content)
                raise

    def _show(self, event: param.parameterized.Event) -> None:
        """Show the room that is open now; where it cannot be made, stay in the one before."""
        if not self._begun and pn.state.curdoc is not None:
            return
        known = event.new in self._contents
        try:
            self.fill(event.new)
            for name, content in self._contents.items():
                update_changed(content, visible=name == self.open)
            if known:  # runs and studies may have come since it was last shown
                self._have(event.new, "read")
        except Exception:  # raised again
            self.open = event.old
            raise
