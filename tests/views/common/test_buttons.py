"""Buttons that download: a file is made for a click alone, and why it cannot be stands below the button."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any

import pytest

from helpers.event_loop import result_of
from zoviz.core.errors import ZovizError
from zoviz.views.common.buttons import DownloadButton, download_row


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bytes]]:
    """The files that a browser is sent, by name."""
    files: list[tuple[str, bytes]] = []
    monkeypatch.setattr(DownloadButton, "deliver", lambda button, content: files.append((button.filename, content)))
    return files


async def ready(button: DownloadButton) -> None:
    """Wait until its file is made, or cannot be."""
    while button.spec["busy"]:
        await asyncio.sleep(0)


def test_a_click_makes_a_file_and_nothing_else_does(sent: list[tuple[str, bytes]]) -> None:
    made: list[bytes] = []

    def make() -> bytes:
        made.append(b"1,2")
        return made[-1]

    (button,) = download_row({"Table, CSV": ("t.csv", make)})
    for number, message in enumerate(({}, {"do": "other"}, {"do": ["make"]}, {"name": "/etc/passwd"})):
        button.receive({"seq": number, **message})
    assert not made and not sent and button.spec["label"] == "Table, CSV"
    button.receive({"seq": 9, "do": "make", "name": "/etc/passwd"})
    assert sent == [("t.csv", b"1,2")] and button.spec["ack"] == 9
    button.disabled = True
    button.receive({"seq": 10, "do": "make"})
    assert len(made) == 1


@pytest.mark.parametrize("error", [ZovizError("No matplotlib."), ValueError("No matplotlib.")])
@pytest.mark.parametrize("later", [False, True])
def test_why_there_is_no_file_stands_below(sent: list[tuple[str, bytes]], error: Exception, later: bool) -> None:
    answer: Future[bytes] = Future()

    def make() -> Any:
        if later:
            return answer
        raise error

    button = DownloadButton(make, label="Figure")

    async def page() -> None:
        button.receive({"seq": 1, "do": "make"})
        assert button.spec["busy"] == later
        answer.set_exception(error)
        await ready(button)

    result_of(page())
    assert button.spec["error"] == "No matplotlib." and not button.spec["busy"] and not sent


def test_a_second_click_waits_for_the_file_of_the_first(sent: list[tuple[str, bytes]]) -> None:
    answers: list[Future[bytes]] = []

    def make() -> Future[bytes]:
        answers.append(Future())
        return answers[-1]

    button = DownloadButton(make, label="Figure", filename="f.zip")

    async def page() -> None:
        for number in (1, 2, 3):
            button.receive({"seq": number, "do": "make"})
            await asyncio.sleep(0)
        answers[0].set_result(b"drawn")
        await ready(button)

    result_of(page())
    assert len(answers) == 1 and sent == [("f.zip", b"drawn")] and not button.spec["busy"]
