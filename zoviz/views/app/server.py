"""A server of the dashboard beside a notebook, and the store that a server's pages share."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from typing import Any

import panel as pn

from zoviz.core import defaults
from zoviz.core.errors import ZovizError
from zoviz.runs.store import Store
from zoviz.views.app.process import configure_process, show_error
from zoviz.views.upstream.panel import drop_views_with_session


def shared_store() -> Store | None:
    """Open the process's store, once; None, with a sentence in the log, where that fails.

    It is that which the environment variable ZOVIZ_STORE names, else ``sqlite:///zoviz.db``; "none" keeps nothing.
    """
    url = defaults.store_url()
    if url == "none":
        return None
    try:
        return pn.state.as_cached(f"zoviz store {url}", lambda: Store(url))
    except ZovizError as error:
        logging.getLogger("zoviz").error("Runs are not kept: %s", error)
        return None


def free_port() -> int:
    """Return a TCP port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def embed(make: Callable[[], Any], height: int = 900) -> Any:
    """Serve pages from this process, in a thread, and show them in a frame in a notebook's cell.

    For front ends without a channel to the kernel; elsewhere a dashboard or a run as a cell's last line shows itself.
    Nothing is loaded from the internet, and the output stays small. The frame needs a browser on the same machine.

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

    def page() -> Any:
        drop_views_with_session()
        return make()

    configure_process()
    pn.config.notifications, pn.config.exception_handler = True, show_error
    port = free_port()
    options = {"port": port, "address": "127.0.0.1", "show": False, "threaded": True, "verbose": False}
    # A thread that a daemon starts is one too: the server must not hold up the end of the process.
    starter = threading.Thread(target=pn.serve, args=(page,), kwargs=options, daemon=True)
    starter.start()
    starter.join()
    return IFrame(f"http://127.0.0.1:{port}/", "100%", height)
