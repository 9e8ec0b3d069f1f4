"""A server of the dashboard in a process of its own, until a signal ends it."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import threading
import time
from typing import Any

import panel as pn

from zoviz.ask_tell.kept_sessions import KeptSessions
from zoviz.problems.base import Problem
from zoviz.runs.live_runs import LiveRuns
from zoviz.runs.store import Store
from zoviz.runs.turns import Turns
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.app.process import prepare
from zoviz.views.app.server import free_port
from zoviz.views.server.document_thread import use_document_thread
from zoviz.views.server.health import HEALTH, HealthHandler, StoreProbe
from zoviz.views.server.settings import ServerSettings
from zoviz.views.server.users import ProxyUsers, present_user

_COMES_BACK = 7 * 24 * 3600
"""Seconds after its opening in which a page may come back on a new websocket: Bokeh refuses it after five minutes, and
the run would be gone with a page that had lost its connection for a moment."""
_LAST_WORDS = 3.0
"""Seconds that the event loop has to end in once the runs have."""


def serve(problem: Problem | None, store: Store | None, settings: ServerSettings, *, show: bool = True) -> None:
    """Serve the dashboard until the process is ended by SIGINT (Ctrl-C) or SIGTERM.

    Runs then end their step, are stored, and can be resumed; a second signal ends the process at once.

    Parameters
    ----------
    problem, store : optional
    settings : ServerSettings
    show : bool
        Whether to open a browser.
    """
    prepare()
    use_document_thread()
    live_runs = LiveRuns(settings.limits, None if settings.turns is None else Turns(settings.turns))
    port = settings.port or free_port()
    logging.getLogger("zoviz").warning("The dashboard is at http://%s:%d/", settings.address, port)

    def page() -> pn.Template:
        own = None if problem is None else problem.clone()
        user = present_user(settings.user_header)
        person = user or secrets.token_hex(8)  # where nobody signs in, a page is a person
        kept = store.of_owner(user) if store is not None and settings.owners and user is not None else store
        return Dashboard(own, store=kept, live_runs=live_runs, person=person).page()

    server = pn.serve(
        {"/": page},
        title="zoviz",
        port=port,
        address=settings.address,
        websocket_origin=[f"{settings.address}:{port}", f"localhost:{port}", *settings.allow_origin],
        extra_patterns=[
            (HEALTH, HealthHandler, {"live_runs": live_runs, "probe": StoreProbe(store)}),
            *(_api(store, settings, port) if settings.api else ()),
        ],
        use_xheaders=settings.behind_proxy,
        session_token_expiration=_COMES_BACK,
        show=show,
        start=False,
        **_secrets(settings),
    )
    _end_by_signal(server, live_runs, settings.grace)
    server.start()
    server.io_loop.start()


def _api(store: Store | None, settings: ServerSettings, port: int) -> list[Any]:
    """Return the addresses of ask and tell over HTTP, and say which token they take.

    Raises
    ------
    ValueError
        Without a store, where nothing could be kept.
    """
    from zoviz.views.server.sessions_api import PREFIX, patterns

    if store is None:
        raise ValueError("Expected a store with --api, where values are kept, got --no-store: leave it out.")
    token = settings.api_token or secrets.token_urlsafe(24)
    where = f"http://{settings.address}:{port}{PREFIX}"
    said = "the token that was given" if settings.api_token else f"the token {token}"
    logging.getLogger("zoviz").warning("Ask and tell is at %s with %s.", where, said)
    return patterns(KeptSessions(store), token)


def _secrets(settings: ServerSettings) -> dict[str, Any]:
    """Return what signs sessions, so that nobody writes the token of a page himself, and what signs people in."""
    secret = settings.cookie_secret or secrets.token_hex(32)
    options: dict[str, Any] = {"sign_sessions": True, "secret_key": secret.encode()}
    if settings.user_header is not None:
        return options | {"auth_provider": ProxyUsers(settings.user_header)}
    return (
        options
        if settings.basic_auth is None
        else options | {"basic_auth": settings.basic_auth, "cookie_secret": secret}
    )


def _end_by_signal(server: Any, live_runs: LiveRuns, grace: float) -> None:
    """Have the first signal interrupt all runs and then end the server, while its pages go on; a second ends it now."""

    def end() -> None:
        for run in live_runs.interrupt(grace):
            logging.getLogger("zoviz").warning(
                "Run %s is in a step that takes longer than %g s: it can be resumed from its last checkpoint.",
                run.id[:8],
                grace,
            )
        server.io_loop.add_callback(server.io_loop.stop)
        time.sleep(_LAST_WORDS)  # the loop may be in the midst of many pages; what is to be kept is in the store
        os._exit(0)

    def heed(number: int, frame: object) -> None:
        if live_runs.closing:
            server.io_loop.add_callback_from_signal(server.io_loop.stop)
        else:
            live_runs.closing = True
            threading.Thread(target=end, daemon=True).start()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, heed)
