"""The settings of a server of the dashboard, by options of ``zoviz serve`` or by environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import param

from zoviz.runs.live_runs import Limits

_PREFIX = "ZOVIZ_"
_HERE = ("127.0.0.1", "localhost", "::1")
_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


class ServerSettings(param.Parameterized):
    """The settings of a server; ``runs_per_person``, say, is ``--runs-per-person`` and ``ZOVIZ_RUNS_PER_PERSON``.

    Examples
    --------
    >>> from zoviz.views.server.settings import ServerSettings
    >>> ServerSettings.read({"port": "5010"}, {"ZOVIZ_RUNS": "40", "ZOVIZ_PORT": "80"}).limits.runs
    40
    """

    port = param.Integer(default=5006, bounds=(0, 65535), doc="port of the server; 0: any free port")
    address = param.String(default="127.0.0.1", doc="network address of the server")
    allow_origin = param.List(
        default=[], item_type=str, doc="HOST:PORT by which browsers reach the pages; may be repeated", label="HOST:PORT"
    )
    basic_auth = param.String(
        default=None,
        allow_None=True,
        doc="one password for all, or a JSON file of users and passwords",
        label="PASSWORD|FILE",
    )
    cookie_secret = param.String(
        default=None, allow_None=True, doc="secret that keeps people signed in after a restart", label="SECRET"
    )
    user_header = param.String(
        default=None, allow_None=True, doc="header in which the reverse proxy names the user", label="HEADER"
    )
    behind_proxy = param.Boolean(default=False, doc="trust the reverse proxy's X-headers for address and protocol")
    owners = param.Boolean(default=False, doc="let people see and steer their own runs only; needs users")
    runs_per_person = param.Integer(
        default=None, allow_None=True, bounds=(1, None), doc="most runs of one person at once, paused ones too"
    )
    runs = param.Integer(default=None, allow_None=True, bounds=(1, None), doc="most runs at once in all")
    turns = param.Integer(
        default=None, allow_None=True, bounds=(1, None), doc="runs that compute at the same time; people take turns"
    )
    variables = param.Integer(default=None, allow_None=True, bounds=(1, None), doc="most variables of a problem")
    replicas = param.Integer(default=None, allow_None=True, bounds=(1, None), doc="most replicas of a run")
    memory = param.Number(
        default=None,
        allow_None=True,
        bounds=(0, None),
        doc="memory in use, in GiB, above which no run starts",
        label="GIB",
    )
    api = param.Boolean(default=False, doc="offer ask and tell over HTTP under /api; needs a store")
    api_token = param.String(
        default=None, allow_None=True, doc="token that callers of /api need; by default a new one", label="TOKEN"
    )
    grace = param.Number(
        default=10.0,
        bounds=(0, None),
        doc="seconds that runs have to end their step when the server stops",
        label="S",
    )

    @classmethod
    def read(cls, options: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> ServerSettings:
        """Return the settings that options give, else the environment, else the defaults.

        Parameters
        ----------
        options : mapping of str to object
            Texts, or values, by name; what is None is not given.
        environment : mapping of str to str

        Raises
        ------
        ValueError
            For a text that is no value, with the name of the option or variable.
        """
        values: dict[str, Any] = {}
        for name in cls.names():
            variable = environment.get(variable_of(name))
            if options.get(name) is not None:
                values[name] = cls._value(name, options[name], option_of(name))
            elif variable:
                values[name] = cls._value(name, variable, variable_of(name))
        settings = cls(**values)
        settings.check()
        return settings

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the settings, in their order."""
        return [name for name in cls.param if name != "name"]

    @classmethod
    def _value(cls, name: str, given: Any, where: str) -> Any:
        """Return the value that a text means for a setting."""
        parameter, value = cls.param[name], given
        try:
            if isinstance(given, str) and isinstance(parameter, param.List):
                value = given.replace(",", " ").split()
            elif isinstance(given, str) and isinstance(parameter, param.Boolean):
                value = _WORDS[given.strip().casefold()]
            elif isinstance(given, str) and isinstance(parameter, param.Number):
                value = int(given) if isinstance(parameter, param.Integer) else float(given)
            cls(**{name: value})
        except (KeyError, ValueError, TypeError):
            raise ValueError(f"Expected {_kind(parameter)} for {where}, got {given!r}: {parameter.doc}.") from None
        return value

    @property
    def here(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.address in _HERE

    @property
    def limits(self) -> Limits:
        """The limits of runs."""
        return Limits(**{name: getattr(self, name) for name in Limits._fields})

    def check(self) -> None:
        """Raise where settings do not go together.

        Raises
        ------
        ValueError
            Where anybody could use the machine, or be somebody else.
        """
        if self.basic_auth is not None and self.user_header is not None:
            raise ValueError("Expected --basic-auth or --user-header, got both: one of them says who a person is.")
        if not self.here and self.basic_auth is None and self.user_header is None:
            raise ValueError(
                f"Expected --basic-auth or --user-header with --address {self.address}, got none: anybody could use "
                "this machine."
            )
        named = self.user_header is not None or (self.basic_auth is not None and os.path.isfile(self.basic_auth))
        if self.owners and not named:
            raise ValueError(
                "Expected --user-header, or --basic-auth with a file of users, with --owners, got neither: with one "
                "password for all, or none, anybody could sign in as somebody else."
            )


def option_of(name: str) -> str:
    """Return the option of a setting."""
    return f"--{name.replace('_', '-')}"


def variable_of(name: str) -> str:
    """Return the environment variable of a setting."""
    return f"{_PREFIX}{name.upper()}"


def _kind(parameter: param.Parameter) -> str:
    if isinstance(parameter, param.Boolean):
        return "yes or no"
    if isinstance(parameter, param.Number):
        low, high = parameter.bounds or (None, None)
        kind = "a whole number" if isinstance(parameter, param.Integer) else "a number"
        return kind + (f" from {low} on" if high is None else f" from {low} to {high}") * (low is not None)
    return "words"
