"""Servers of the dashboard: in a process of its own, or beside a notebook; and the store that their pages share."""

from __future__ import annotations

import logging
import secrets
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any

import panel as pn
import panel_material_ui as pmui

from zoviz.core import defaults
from zoviz.core.errors import ZovizError
from zoviz.problems.base import Problem
from zoviz.runs.store import Store
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.app.process import configure_process, prepare, show_error
from zoviz.views.common.run_controller import LiveRuns


def shared_store(url: str | None) -> Store | None:
    """Open the process's store at a URL, once; None, with a sentence in the log, where that fails.

    Parameters
    ----------
    url : str, optional
        Default: what the environment variable ZOVIZ_STORE names, else ``sqlite:///zoviz.db``; "none" keeps nothing.
    """
    url = url or defaults.store_url()
    if url == "none":
        return None
    try:
        return pn.state.as_cached(f"zoviz store {url}", lambda: Store(url))
    except ZovizError as error:
        logging.getLogger("zoviz").error("Runs are not kept: %s", error)
        return None


def serve(
    problem: Problem | None,
    store: Store | None,
    *,
    port: int = 5006,
    address: str = "127.0.0.1",
    origins: Sequence[str] = (),
    basic_auth: str | None = None,
    cookie_secret: str | None = None,
    show: bool = True,
) -> None:
    """Serve the dashboard until the process is interrupted.

    Parameters
    ----------
    problem, store : optional
    port, address : int, str
        To listen on; port 0 is one that is free. By default no other machine can reach it.
    origins : sequence of str
        ``host:port`` under which browsers may know the pages, besides the address.
    basic_auth, cookie_secret : str, optional
        A password, or a JSON file of user: password; the secret is made anew at each start where it is not given.
    show : bool
    """
    prepare()
    port, secret = port or _free_port(), cookie_secret or secrets.token_hex(32)
    auth = {} if basic_auth is None else {"basic_auth": basic_auth, "cookie_secret": secret}
    logging.getLogger("zoviz").warning("The dashboard is at http://%s:%d/", address, port)
    live_runs = LiveRuns()

    def page() -> pmui.Page:
        own = None if problem is None else problem.clone()
        return Dashboard(own, store=store, live_runs=live_runs).page()

    pn.serve(
        {"/": page},
        title="zoviz",
        port=port,
        address=address,
        websocket_origin=[f"{address}:{port}", f"localhost:{port}", *origins],
        show=show,
        **auth,
    )


def _free_port() -> int:
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

    configure_process()
    pn.config.notifications, pn.config.exception_handler = True, show_error
    port = _free_port()
    options = {"port": port, "address": "127.0.0.1", "show": False, "threaded": True, "verbose": False}
    # A thread that a daemon starts is one too: the server must not hold up the end of the process.
    starter = threading.Thread(target=pn.serve, args=(make,), kwargs=options, daemon=True)
    starter.start()
    starter.join()
    return IFrame(f"http://127.0.0.1:{port}/", "100%", height)
