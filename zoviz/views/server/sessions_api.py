"""Ask and tell over HTTP: JSON under ``/api``, for a caller in any language who has the server's token."""

from __future__ import annotations

import asyncio
import hmac
import json
import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from tornado.web import HTTPError, RequestHandler

from zoviz.ask_tell.kept_sessions import SETTINGS, Conflict, KeptSession, KeptSessions, UnknownSession
from zoviz.core.errors import ZovizError
from zoviz.core.optional import installed_version

PREFIX = "/api"
_LONGEST, _PAUSE = 60.0, 0.25
"""Seconds that a caller may wait for events at most, and between two looks for them."""
_BODY = 64 * 2**20
"""Bytes of a request's body at most."""
_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (UnknownSession, 404),
    (Conflict, 409),
    (ZovizError, 409),
    (ValueError, 400),
    (KeyError, 400),
    (TypeError, 400),
)


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it: arrays as lists, and None for what is no number."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


def _state(kept: KeptSession) -> dict[str, Any]:
    """Return how a session stands."""
    worker, batch = kept.session.worker, None if kept.done else kept.open()
    message = kept.ended or worker.message
    return {
        "id": kept.id,
        "done": kept.done,
        "cancelled": kept.cancelled,
        "values": len(kept.told),
        "open": 0 if batch is None else len(batch.ids),
        "solver": type(worker.solver).__name__,
        "reason": kept.session.reason,
        "message": message,
    }


def _points(kept: KeptSession, most: int | None) -> dict[str, Any]:
    """Return the points to evaluate; none where the session has ended."""
    if kept.done:
        return {"done": True, "points": []}
    batch = kept.open(most)
    seeds = batch.seeds if len(batch.seeds) else [None] * len(batch.ids)
    points = [
        {"id": number, "x": x, "replica": replica} | ({} if seed is None else {"seed": seed})
        for number, x, replica, seed in zip(batch.ids, batch.x, batch.replicas, seeds, strict=True)
    ]
    return {"done": False, "points": points}


def _result(kept: KeptSession) -> dict[str, Any]:
    """Return the outcome so far, one entry for each replica."""
    result = kept.session.result
    names = ("x", "fun", "success", "maxcv", "multipliers", "best_x", "best_fun", "calls", "failures", "nit")
    return {name: getattr(result, name) for name in names} | {"message": kept.ended or result.message}


def _certainty(kept: KeptSession) -> dict[str, Any]:
    """Return how sure the best point is, by its figures and as a sentence."""
    sure = kept.certainty()
    return {one.name: getattr(sure, one.name) for one in fields(sure)} | {"sentence": sure.sentence}


class _Handler(RequestHandler):
    """A handler that asks for the token, and answers with JSON."""

    def initialize(self, sessions: KeptSessions, token: str, threads: ThreadPoolExecutor) -> None:
        """Receive the sessions, the token that callers must have, and the threads in which solvers think."""
        self._sessions, self._token, self._threads = sessions, token, threads

    def check_xsrf_cookie(self) -> None:
        """Pass: no cookie lets anybody in here, only the token."""

    def prepare(self) -> None:
        """Refuse who has not the token."""
        given = self.request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            self.set_header("WWW-Authenticate", "Bearer")
            raise HTTPError(401, reason="Expected the server's token: Authorization: Bearer TOKEN")
        if len(self.request.body) > _BODY:
            raise HTTPError(413)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer with the sentence of what went wrong."""
        self.finish({"error": self._reason})

    async def answer(self, work: Callable[[], Any], status: int = 200) -> None:
        """Answer with what ``work``, done in a thread, returns; with its sentence where it raises."""
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except Exception as error:  # whatever it is, the caller learns the sentence
            status = next((code for kind, code in _STATUS if isinstance(error, kind)), 500)
            found = {"error": str(error)}
        self.set_status(status)
        self.set_header("Content-Type", "application/json")
        self.set_header("Cache-Control", "no-store")
        self.finish(json.dumps(_plain(found)))

    def body(self) -> dict[str, Any]:
        """Return the request's JSON object."""
        content = json.loads(self.request.body or b"{}")
        if not isinstance(content, dict):
            raise ValueError(f"Expected a JSON object, got {content!r:.40}.")
        return content

    def number(self, name: str, default: float | None) -> float | None:
        """Return a number of the query."""
        text = self.get_query_argument(name, None)
        return default if text is None else float(text)


class SessionsHandler(_Handler):
    """All sessions: their ids, and a new one."""

    async def get(self) -> None:
        """List the ids, the latest first."""
        await self.answer(lambda: {"sessions": self._sessions.ids()})

    async def post(self) -> None:
        """Begin a session."""
        await self.answer(lambda: _state(self._sessions.create(self.body())), 201)


class SessionHandler(_Handler):
    """One session."""

    PARTS: ClassVar[dict[str, Callable[[KeptSession], Any]]] = {
        "": _state,
        "result": _result,
        "certainty": _certainty,
    }

    async def get(self, id: str, part: str | None = None) -> None:
        """Answer with a part of a session."""

        def work() -> Any:
            kept = self._sessions.get(id)
            with kept.lock:
                if part == "ask":
                    most = self.number("most", None)
                    return _points(kept, None if most is None else int(most))
                return self.PARTS[part or ""](kept)

        if part == "events":
            await self._events(id)
        else:
            await self.answer(work)

    async def _events(self, id: str) -> None:
        """Answer with events after a number, as soon as there are some, or the time to wait is over."""
        after, until = int(self.number("after", -1) or 0), time.monotonic() + min(self.number("wait", 0) or 0, _LONGEST)

        def work() -> Any:
            return {"events": self._sessions.events(id, after)}

        loop = asyncio.get_running_loop()
        while time.monotonic() < until:
            try:
                if (await loop.run_in_executor(self._threads, work))["events"]:
                    break
            except ZovizError:
                break
            await asyncio.sleep(_PAUSE)
        await self.answer(work)

    async def post(self, id: str, part: str | None = None) -> None:
        """Take in values."""
        if part != "tell":
            raise HTTPError(405)
        await self.answer(lambda: _state(self._sessions.tell(id, self.body()["points"])))

    async def delete(self, id: str, part: str | None = None) -> None:
        """End a session; its values stay."""

        def work() -> Any:
            self._sessions.cancel(id)
            return _state(self._sessions.get(id))

        await self.answer(work)


class OpenAPIHandler(_Handler):
    """The description of all this."""

    async def get(self) -> None:
        """Answer with it."""
        await self.answer(openapi)


def openapi() -> dict[str, Any]:
    """Return the description of the interface in OpenAPI 3.1."""
    id_ = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    query = {name: {"name": name, "in": "query", "schema": {"type": "number"}} for name in ("most", "after", "wait")}
    number = {"type": ["number", "null"]}
    point = {"id": {"type": "integer"}, "f": number, "h": {"type": "array", "items": number}}
    settings: dict[str, Any] = {name: {} for name in ("solver", "parameters", *SETTINGS)}
    tell = _object({"points": {"type": "array", "items": _object(point)}})
    one = "/sessions/{id}"
    paths = {
        "/sessions": {
            "get": _operation("List the ids of all sessions"),
            "post": _operation("Begin a session", body=_object(settings), status="201"),
        },
        one: {
            "get": _operation("How a session stands", [id_]),
            "delete": _operation("End a session; its values stay", [id_]),
        },
        f"{one}/ask": {"get": _operation("Points to evaluate", [id_, query["most"]])},
        f"{one}/tell": {"post": _operation("Values at some of them; f is null where a call failed", [id_], tell)},
        f"{one}/result": {"get": _operation("The outcome so far", [id_])},
        f"{one}/certainty": {"get": _operation("How sure the best point is", [id_])},
        f"{one}/events": {"get": _operation("What has happened", [id_, query["after"], query["wait"]])},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "zoviz: ask and tell", "version": installed_version()},
        "servers": [{"url": PREFIX}],
        "security": [{"token": []}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": paths,
    }


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _operation(
    summary: str, parameters: list[dict[str, Any]] | None = None, body: Any = None, status: str = "200"
) -> dict[str, Any]:
    operation: dict[str, Any] = {"summary": summary, "parameters": parameters or []}
    if body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": body}}}
    json_answer = {"application/json": {"schema": {"type": "object"}}}
    return operation | {"responses": {status: {"description": summary, "content": json_answer}}}


def patterns(sessions: KeptSessions, token: str) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """Return the addresses and their handlers, for a Tornado server."""
    options = {"sessions": sessions, "token": token, "threads": ThreadPoolExecutor(thread_name_prefix="zoviz-api")}
    parts = "ask|tell|result|certainty|events"
    return [
        (rf"{PREFIX}/openapi\.json", OpenAPIHandler, options),
        (rf"{PREFIX}/sessions", SessionsHandler, options),
        (rf"{PREFIX}/sessions/([0-9a-f]+)(?:/({parts}))?", SessionHandler, options),
    ]
