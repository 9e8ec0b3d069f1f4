"""The settings of a process that serves pages, whoever starts its server."""

from __future__ import annotations

import atexit
import gc
import logging
import sys

import panel as pn
from bokeh.settings import settings

from zoviz.core import defaults
from zoviz.views.app.kernel import kernel_shell
from zoviz.views.upstream.bokeh import (
    ignore_known_references,
    read_no_named_files,
)
from zoviz.views.upstream.panel import (
    collect_seldom,
    import_no_addressed_modules,
    send_in_order,
)


def prepare() -> None:
    """Load Panel's extension, show errors where the user is looking, and give the pages their share of the processor.

    From then on no address that a browser asks for has a module imported. ``zoviz serve`` calls this before it
    listens; ``panel serve`` runs the file of a page only for the first page, and at start with ``--warm``: without it,
    whoever reaches the server before the first page is made can have any module on the path imported.
    """
    configure_process()
    # A server sends its own files; a notebook's cell is given them.
    inline = {} if kernel_shell() is None else {"inline": True}
    pn.extension("tabulator", notifications=True, exception_handler=show_error, **inline)


def configure_process() -> None:
    """Configure the server's process: its threads, its files for browsers, the order of messages, and its end.

    Once for a process: each page asks for it, and what was worked out for the pages before would be worked out again.
    """
    pn.state.as_cached("zoviz configured", _configure)


def _configure() -> None:
    sys.setswitchinterval(defaults.SWITCH_INTERVAL)
    settings.perform_error_diagnostics = False  # Bokeh would read the signature of each callback of each page
    atexit.register(gc.freeze)  # a process that ends need not look for garbage: seconds, where many pages are open
    if kernel_shell() is None:  # a notebook's process is a person's own
        collect_seldom()
        ignore_known_references()
        import_no_addressed_modules()
        read_no_named_files()
        send_in_order()


def show_error(error: BaseException) -> None:
    """Show an error that a widget's handler raised as a notification; log it where it is not a refusal."""
    if isinstance(error, (ValueError, TypeError)) and pn.state.notifications is not None:
        pn.state.notifications.error(str(error), duration=8000)
    else:
        logging.getLogger("zoviz").exception("An action on the page failed.", exc_info=error)
        if pn.state.notifications is not None:
            pn.state.notifications.error(f"{type(error).__name__}: {error}", duration=8000)
