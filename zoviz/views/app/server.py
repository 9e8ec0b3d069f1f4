"""Settings of the process that serves pages."""

from __future__ import annotations

import logging
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import panel as pn

from zoviz.core import defaults
from zoviz.core.errors import ZovizError
from zoviz.problems.base import Problem
from zoviz.runs.store import Store
from zoviz.views.common.bokeh_internals import ignore_known_references, read_no_named_files
from zoviz.views.common.panel_internals import import_no_addressed_modules


def prepare() -> None:
    """Load the extension, show errors where the user is looking, and give the pages their share of the processor.

    From then on no address that a browser asks for has a module imported. ``zoviz serve`` calls this before it
    listens; ``panel serve`` runs the file of a page only for the first page, and at start with ``--warm``: without it,
    whoever reaches the server before the first page is made can have any module on the path imported.

    A solver's thread gives way every half millisecond instead of every five: a page's update waits for it at each of
    its messages.
    """
    _settle()
    pn.extension("tabulator", notifications=True, exception_handler=_show)


def _settle() -> None:
    """What every process that serves pages needs, whoever starts the server."""
    sys.setswitchinterval(5e-4)
    ignore_known_references()
    import_no_addressed_modules()
    read_no_named_files()


def _show(error: BaseException) -> None:
    if isinstance(error, (ValueError, TypeError)) and pn.state.notifications is not None:
        pn.state.notifications.error(str(error), duration=8000)
    else:
        logging.getLogger("zoviz").exception("An action on the page failed.", exc_info=error)
        if pn.state.notifications is not None:
            pn.state.notifications.error(f"{type(error).__name__}: {error}", duration=8000)


def shared_store(url: str | None) -> Store | None:
    """The process's store at a URL; None, with a sentence in the log, where there is none to be had.

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
    from zoviz.views.app.dashboard import Dashboard

    prepare()
    port, secret = port or _free_port(), cookie_secret or secrets.token_hex(32)
    auth = {} if basic_auth is None else {"basic_auth": basic_auth, "cookie_secret": secret}
    logging.getLogger("zoviz").warning("The dashboard is at http://%s:%d/", address, port)
    pn.serve(
        {"/": lambda: Dashboard(problem=None if problem is None else problem.clone(), store=store).page()},
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

    _settle()
    pn.config.notifications, pn.config.exception_handler = True, _show
    port = _free_port()
    options = {"port": port, "address": "127.0.0.1", "show": False, "threaded": True, "verbose": False}
    # A thread that a daemon starts is one too: the server must not hold up the end of the process.
    starter = threading.Thread(target=pn.serve, args=(make,), kwargs=options, daemon=True)
    starter.start()
    starter.join()
    return IFrame(f"http://127.0.0.1:{port}/", "100%", height)
