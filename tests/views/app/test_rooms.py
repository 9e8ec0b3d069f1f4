"""The bar of the page's rooms: each is made when it is first opened, and kept."""

from __future__ import annotations

import panel as pn
import pytest

from zoviz.views.app.rooms import Room, Rooms

# Panel's Material widgets of Panel's
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


def refuse() -> pn.viewable.Viewable:
    raise ValueError("no key")


def test_a_room_is_made_once_and_brought_up_to_date_when_it_is_opened_again() -> None:
    calls: list[str] = []

    def make() -> pn.viewable.Viewable:
        calls.append("make")
        return pn.Column()

    rooms = Rooms([Room("hall", "Hall", pn.Column), Room("attic", "Attic", make, lambda: calls.append("renew"))])
    assert (rooms.open, rooms.names, calls) == ("hall", ["hall", "attic"], [])
    hall, attic = rooms.__panel__()
    for name in ("attic", "hall", "attic"):
        rooms.open = name
        assert (hall.visible, attic.visible) == (name == "hall", name == "attic")
    assert calls == ["make", "renew"] and len(attic) == len(hall) == 1


def test_a_room_that_cannot_be_made_leaves_the_one_before_open() -> None:
    rooms = Rooms([Room("hall", "Hall", pn.Column), Room("vault", "Vault", refuse)])
    with pytest.raises(ValueError, match="no key"):
        rooms.open = "vault"
    hall, vault = rooms.__panel__()
    assert rooms.open == "hall" and hall.visible and not vault.visible
