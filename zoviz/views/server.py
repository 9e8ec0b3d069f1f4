"""Settings of the process that serves pages."""

from __future__ import annotations

import logging
import sys

import panel as pn


def prepare(inline: bool = False) -> None:
    """Load the extension, show errors where the user is looking, and give the pages their share of the processor.

    A solver's thread gives way every half millisecond instead of every five: a page's update waits for it at each of
    its messages.

    Parameters
    ----------
    inline : bool
        In a notebook only: put the libraries into the outputs, which makes them large (a dashboard's 70 MB), instead
        of loading them from the internet. A server always serves them itself.
    """
    sys.setswitchinterval(5e-4)
    pn.extension(inline=inline, notifications=True, exception_handler=_show)


def _show(error: BaseException) -> None:
    if isinstance(error, (ValueError, TypeError)) and pn.state.notifications is not None:
        pn.state.notifications.error(str(error), duration=8000)
    else:
        logging.getLogger("zoviz").exception("An action on the page failed.", exc_info=error)
        if pn.state.notifications is not None:
            pn.state.notifications.error(f"{type(error).__name__}: {error}", duration=8000)
