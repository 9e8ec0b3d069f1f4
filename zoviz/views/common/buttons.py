"""Buttons of the rooms: words, and what a click does, or the file that it makes."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any, ClassVar

import panel as pn
import param

from zoviz.core.errors import ZovizError
from zoviz.views.common.form_widget import FormWidget

Maker = Callable[[], "bytes | Future[bytes]"]


def text_button(label: str, command: Callable[[], None], *, first: bool = False, **look: Any) -> pn.widgets.Button:
    """Return a button that does something; ``first`` is the one that a person most likely wants."""
    button = pn.widgets.Button(label=label, **{"color": "primary" if first else "default", "margin": (4, 4), **look})
    button.on_click(lambda _: command())
    return button


class DownloadButton(FormWidget):
    """A button that has a file made and sends it to the browser that asked, which saves it.

    Panel's own makes nothing when it is pressed by Enter or Space.

    Parameters
    ----------
    make : callable
        Returns the file's bytes, or their future where a thread makes them. Why it cannot, stands below the button.
    """

    filename = param.String(default="", doc="The file's name.")
    value = param.Parameter(default=None, precedence=-1)

    _rename: ClassVar[dict[str, str | None]] = {**FormWidget._rename, "filename": None}

    def __init__(self, make: Maker, **params: Any) -> None:
        self._make, self._busy = make, False
        super().__init__(**{"sizing_mode": None, "margin": (4, 4), **params})

    def describe(self) -> dict[str, Any]:
        return {"kind": "download", "busy": self._busy}

    def take(self, message: dict[str, Any]) -> None:
        if message.get("do") != "make" or self._busy:
            return
        try:
            content = self._make()
        except ZovizError as error:  # a package that is missing, or no run yet
            raise ValueError(str(error)) from error
        if isinstance(content, Future):
            self._busy = True
            pn.state.execute(partial(self._wait, content))
        else:
            self.deliver(content)

    async def _wait(self, content: Future[bytes]) -> None:
        try:
            self.deliver(await asyncio.wrap_future(content))
        except (ZovizError, ValueError) as error:
            self.complaint = str(error)
        finally:
            self._busy = False
            self.draw()

    def deliver(self, content: bytes) -> None:
        """Have the browser save a file."""
        self._send_msg({"name": self.filename, "bytes": base64.b64encode(content).decode()})


def download_row(files: Mapping[str, tuple[str, Maker]]) -> pn.Row:
    """Return a row of buttons.

    Parameters
    ----------
    files : mapping of str to (str, callable)
        By the words on the button the file's name, and what returns its bytes.
    """
    buttons = (DownloadButton(make, label=label, filename=name) for label, (name, make) in files.items())
    return pn.Row(*buttons, margin=0)
