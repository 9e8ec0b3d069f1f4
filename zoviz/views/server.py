"""Settings of the process that serves pages."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

import panel as pn


def prepare() -> None:
    """Load the extension, show errors where the user is looking, and give the pages their share of the processor.

    A solver's thread gives way every half millisecond instead of every five: a page's update waits for it at each of
    its messages.
    """
    sys.setswitchinterval(5e-4)
    pn.extension(notifications=True, exception_handler=_show)


def _show(error: BaseException) -> None:
    if isinstance(error, (ValueError, TypeError)) and pn.state.notifications is not None:
        pn.state.notifications.error(str(error), duration=8000)
    else:
        logging.getLogger("zoviz").exception("An action on the page failed.", exc_info=error)
        if pn.state.notifications is not None:
            pn.state.notifications.error(f"{type(error).__name__}: {error}", duration=8000)


def embed(make: Callable[[], Any], height: int = 900) -> Any:
    """Serve pages from this process, in a thread, and show them in a frame in a notebook's cell.

    Nothing is loaded from the internet, the output stays small, and the page is alive while a cell is busy. The frame
    needs a browser on the same machine; elsewhere, ``panel serve``.

    Parameters
    ----------
    make : callable
        Makes what a page shows, anew for each page: a ``Dashboard``, a ``Board``.
    height : int
        Of the frame, in pixels.

    Returns
    -------
    IPython.display.IFrame
    """
    from IPython.display import IFrame

    sys.setswitchinterval(5e-4)
    pn.config.notifications, pn.config.exception_handler = True, _show
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = {"port": port, "address": "127.0.0.1", "show": False, "threaded": True, "verbose": False}
    # A thread that a daemon starts is one too: the server must not hold up the end of the process.
    starter = threading.Thread(target=pn.serve, args=(make,), kwargs=options, daemon=True)
    starter.start()
    starter.join()
    return IFrame(f"http://127.0.0.1:{port}/", "100%", height)
