"""Who a page's person is: the user that Panel has signed in, or that a reverse proxy names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn
from bokeh.server.auth_provider import AuthProvider
from tornado.web import RequestHandler

_NOBODY = "/nobody"
"""The address that says why a request without a user is not answered."""


class _NobodyHandler(RequestHandler):
    """The answer to a request without a user's name."""

    def get(self) -> None:
        self.set_status(401)
        self.finish("Expected the name of a user from the reverse proxy, got none: open the page through the proxy.")


class ProxyUsers(AuthProvider):
    """Users whom a reverse proxy has signed in, and names in a header of each request.

    Parameters
    ----------
    header : str
        Its name. The proxy must set it anew on every request, and nobody may reach the server but through it.
    """

    def __init__(self, header: str) -> None:
        self._header = header
        super().__init__()

    @property
    def get_user(self) -> Callable[[Any], Any]:
        """The function that tells a request's user."""
        return lambda handler: handler.request.headers.get(self._header, "").strip() or None

    @property
    def login_url(self) -> str:
        """The address to which a request without a user is sent."""
        return _NOBODY

    @property
    def login_handler(self) -> type[RequestHandler]:
        """The handler that says what is wrong there."""
        return _NobodyHandler


def present_user(header: str | None) -> str | None:
    """Return the user of the page that is being made; None where nobody has to sign in.

    Parameters
    ----------
    header : str, optional
        In which a reverse proxy names the user; else it is the one that Panel has signed in.

    Notes
    -----
    A page has headers and cookies from its session's token, which a browser could write itself where sessions are not
    signed: ``serve`` signs them.
    """
    if header is None:
        return pn.state.user
    named = {name.casefold(): value for name, value in pn.state.headers.items()}
    return str(named.get(header.casefold(), "")).strip() or None
