"""What the tests of the page take for an error of the server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from helpers.serving import Server

CLOSED_EARLY = """\
2026-01-01 00:00:00,222 WARNING bokeh.server.views.ws: Failed sending message as connection was closed
2026-01-01 00:00:00,225 ERROR tornado.application: Uncaught exception GET /dashboard/ws (127.0.0.1)
HTTPServerRequest(protocol='http', host='localhost:53693', method='GET', uri='/dashboard/ws', version='HTTP/1.1')
Traceback (most recent call last):
  File "tornado/websocket.py", line 605, in on_connection_close
    self.on_close()
  File "bokeh/server/views/ws.py", line 310, in on_close
    self.connection.session.notify_connection_lost()
    ^^^^^^^^^^^^^^^^^^^^^^^
  File "bokeh/server/connection.py", line 65, in session
    assert self._session is not None
           ^^^^^^^^^^^^^^^^^^^^^^^^^
AssertionError
2026-01-01 00:00:00,921 INFO bokeh.server.views.ws: WebSocket connection opened
"""


def server_that_wrote(text: str, folder: Path) -> Server:
    log = folder / "server.log"
    log.write_text(text, encoding="utf-8")
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        return Server("http://localhost:1/app", 1, process, log)


def test_a_page_closed_while_it_opens_is_no_error_of_ours(tmp_path: Path) -> None:
    assert server_that_wrote(CLOSED_EARLY, tmp_path).errors() == ""


def test_an_error_beside_it_is_seen(tmp_path: Path) -> None:
    ours = CLOSED_EARLY + "Traceback (most recent call last):\n  File 'ours.py', line 1\nAssertionError\n"
    assert "ours.py" in server_that_wrote(ours, tmp_path).errors()
    before = "2026-01-01 00:00:00,000 ERROR panel: of ours\n" + CLOSED_EARLY
    assert "of ours" in server_that_wrote(before, tmp_path).errors()
    other = CLOSED_EARLY.replace("assert self._session is not None", "assert self.ours is not None")
    assert "self.ours" in server_that_wrote(other, tmp_path).errors()
