"""The rooms of a page: each is made when it is first opened, and kept."""

from __future__ import annotations

import panel as pn
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from zoviz.views.app.rooms import Room, Rooms


def refuse() -> pn.viewable.Viewable:
    raise ValueError("no key")


def shown(rooms: Rooms) -> list[bool]:
    return [one.visible for one in rooms.__panel__()]


def test_a_room_is_made_once_and_brought_up_to_date_when_it_is_opened_again() -> None:
    calls: list[str] = []

    class Attic(pn.Column):
        def read(self) -> None:
            calls.append("read")

        def update(self) -> None:
            calls.append("update")

    def make() -> Attic:
        calls.append("make")
        return Attic()

    rooms = Rooms([Room("hall", "Hall", pn.Column), Room("attic", "Attic", make)])
    rooms.update()
    assert (rooms.open, rooms.names, calls, shown(rooms)) == ("hall", ["hall", "attic"], [], [])
    rooms.begin()
    for name in ("attic", "hall", "attic"):
        rooms.open = name
        assert shown(rooms) == [name == "hall", name == "attic"]
    assert calls == ["make", "read"]
    rooms.update()
    assert calls == ["make", "read", "update"]
    rooms.open = "hall"
    rooms.update()
    assert calls == ["make", "read", "update"], "only what is in sight"


def test_a_room_that_cannot_be_made_leaves_the_one_before_open() -> None:
    rooms = Rooms([Room("hall", "Hall", pn.Column), Room("vault", "Vault", refuse)])
    rooms.begin()
    with pytest.raises(ValueError, match="no key"):
        rooms.open = "vault"
    assert rooms.open == "hall" and shown(rooms) == [True]


def test_a_page_stands_before_its_rooms_are_made() -> None:
    with set_curdoc(Document()):
        rooms = Rooms([Room("hall", "Hall", pn.Column), Room("attic", "Attic", pn.Column)])
        rooms.open = "attic"
        assert shown(rooms) == []
        rooms.begin("hall")
        assert shown(rooms) == [True, False] and rooms.open == "attic"
        rooms.open = "hall"
    assert shown(rooms) == [False, True]
