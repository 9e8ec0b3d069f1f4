"""A browser without a browser: Bokeh's protocol over a websocket, with whatever one likes in it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.websocket import WebSocketClientConnection, websocket_connect

TOKEN = re.compile(r'"token"\s*:\s*"([^"]+)"')
WINDOW = 64
"""Messages that may be on their way at once."""


async def get(
    port: int, path: str, cookie: str = "", headers: Mapping[str, str] | None = None, tls: bool = False, **options: Any
) -> HTTPResponse:
    """The answer to a request, whatever its status; whoever signs the certificate under ``tls``."""
    sent = {**(headers or {}), **({"Cookie": cookie} if cookie else {})}
    options.setdefault("request_timeout", 60)
    address = f"{'https' if tls else 'http'}://127.0.0.1:{port}{path}"
    request = HTTPRequest(address, headers=sent, validate_cert=False, **options)
    return await AsyncHTTPClient(force_instance=True).fetch(request, raise_error=False)


class Part(NamedTuple):
    """A model of a document: its id, its type, the attributes that are not at their defaults."""

    id: str
    kind: str
    attributes: Mapping[str, Any]


def parts(tree: Any) -> Iterator[Part]:
    """Every model in the JSON of a document."""
    if isinstance(tree, dict):
        if tree.get("type") == "object" and "id" in tree:
            yield Part(tree["id"], tree["name"], tree.get("attributes", {}))
        for value in tree.values():
            yield from parts(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from parts(value)


class Wire:
    """One page's connection.

    Attributes
    ----------
    refused : list of str
        What the server said to messages that it did not take.
    heard : list of str
        All else that it sent.
    closed : bool
    """

    def __init__(self, link: WebSocketClientConnection) -> None:
        self._link, self._numbers = link, itertools.count()
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._window = asyncio.Semaphore(WINDOW)
        self.refused: list[str] = []
        self.heard: list[str] = []
        self.closed = False
        self._greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def open(
        cls,
        port: int,
        path: str = "/",
        cookie: str = "",
        origin: str = "",
        headers: Mapping[str, str] | None = None,
        tls: bool = False,
        **options: Any,
    ) -> Wire:
        """Load the page and connect as its script would; ``options`` are those of the request."""
        page = await get(port, path, cookie, headers, tls, **options)
        match = TOKEN.search(page.body.decode())
        assert match, f"No page at {path}: {page.code}"
        return await cls.connect(port, match[1], cookie, origin, headers, tls)

    @classmethod
    async def connect(
        cls,
        port: int,
        token: str,
        cookie: str = "",
        origin: str = "",
        headers: Mapping[str, str] | None = None,
        tls: bool = False,
    ) -> Wire:
        """Connect with a token."""
        secure = "s" if tls else ""
        sent = {"Origin": origin or f"http{secure}://127.0.0.1:{port}", **(headers or {})}
        sent |= {"Cookie": cookie} if cookie else {}
        address = f"ws{secure}://127.0.0.1:{port}/ws"
        request = HTTPRequest(address, headers=sent, request_timeout=60, validate_cert=False)
        wire = cls(await websocket_connect(request, subprotocols=["bokeh", token]))
        try:
            await asyncio.wait_for(wire._greeted, 60)
        except BaseException:
            await wire.close()
            raise
        return wire

    async def close(self) -> None:
        """Leave the page; the socket stays open until the server has answered."""
        self._link.close()
        await asyncio.wait({self._reader}, timeout=60)
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader

    async def _read(self) -> None:
        while True:
            frames: list[str] = []
            while len(frames) < 3 + (2 * json.loads(frames[0]).get("num_buffers", 0) if frames else 0):
                frame = await self._link.read_message()
                if frame is None:  # the end, told once
                    return self._end()
                frames.append(frame)
            header, content = json.loads(frames[0]), json.loads(frames[2])
            if header["msgtype"] == "ACK":
                self._greeted.set_result(None)
            if header["msgtype"] == "ERROR":
                self.refused.append(content["text"])
            elif "reqid" not in header:
                self.heard.append(frames[2])
            answered = self._waiting.pop(header.get("reqid", ""), None)
            if answered is not None and not answered.done():
                answered.set_result({"type": header["msgtype"], **content})

    def _end(self) -> None:
        self.closed = True
        for future in self._waiting.values():
            if not future.done():
                future.set_result({"type": "CLOSED"})
        if not self._greeted.done():
            self._greeted.set_exception(ConnectionError("The server closed the connection."))

    async def ask(self, kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a message."""
        return await asyncio.wait_for(await self.post(kind, content), 120)

    async def post(self, kind: str, content: Mapping[str, Any]) -> asyncio.Future[dict[str, Any]]:
        """Send a message; its answer comes in the future."""
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        if self.closed:
            future.set_result({"type": "CLOSED"})
            return future
        await asyncio.wait_for(self._window.acquire(), 120)
        future.add_done_callback(lambda _: self._window.release())
        number = f"m{next(self._numbers)}"
        self._waiting[number] = future
        for frame in ({"msgid": number, "msgtype": kind}, {}, content):
            self._link.write_message(json.dumps(frame))
        return future

    def write(self, frame: str | bytes) -> None:
        """Send a bare frame."""
        self._link.write_message(frame, binary=isinstance(frame, bytes))

    async def document(self) -> dict[str, Any]:
        """The whole document as JSON."""
        return (await self.ask("PULL-DOC-REQ", {}))["doc"]

    async def patch(self, *events: Mapping[str, Any]) -> asyncio.Future[dict[str, Any]]:
        """Send changes."""
        return await self.post("PATCH-DOC", {"events": list(events)})


def changed(id: str, name: str, value: Any) -> dict[str, Any]:
    """A property of a model is to have another value."""
    return {"kind": "ModelChanged", "model": {"id": id}, "attr": name, "new": value}


def event(id: str, name: str, **values: Any) -> dict[str, Any]:
    """Something happened to a model."""
    entries = [["model", {"id": id}], *([key, value] for key, value in values.items())]
    message = {"type": "event", "name": name, "values": {"type": "map", "entries": entries}}
    return {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": message}


def ready() -> dict[str, Any]:
    """The page is drawn: what waits for that begins."""
    message = {"type": "event", "name": "document_ready", "values": {"type": "map", "entries": []}}
    return {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": message}


def mapped(values: Mapping[str, Any]) -> dict[str, Any]:
    """A dict as Bokeh writes it."""
    return {"type": "map", "entries": [[key, value] for key, value in values.items()]}


def labelled(document: Any) -> dict[str, str]:
    """The id of each widget by its label, and of each component without one by the name of its class."""
    labels: dict[str, str] = {}
    for part in parts(document["roots"]):
        names = [_spec(part).get("label"), *(part.attributes.get(name) for name in ("label", "title", "class_name"))]
        label = next((one for one in names if isinstance(one, str) and one), None)
        if label is not None:
            labels.setdefault(label, part.id)
    return labels


def _spec(part: Part) -> dict[str, Any]:
    """What a form's own widget draws; empty for all others."""
    data = part.attributes.get("data")
    shown = data.get("attributes", {}) if isinstance(data, dict) else {}
    return dict(shown.get("spec", {}).get("entries", ()))


async def say(wire: Any, id: str, message: Mapping[str, Any]) -> None:
    """Send a component's own message."""
    said = event(id, "data_event", data=mapped(message))
    assert (await asyncio.wait_for(await wire.patch(said), 120))["type"] == "OK"


async def press(wire: Any, id: str) -> None:
    """Press a button."""
    assert (await asyncio.wait_for(await wire.patch(event(id, "button_click")), 120))["type"] == "OK"


async def send(wire: Any, events: list[Any]) -> None:
    """Send changes together; where one of them is refused, each by itself."""
    answers = [(chunk, await wire.patch(*chunk)) for chunk in (events[i : i + 40] for i in range(0, len(events), 40))]
    again = []
    for chunk, answer in answers:
        if (await asyncio.wait_for(answer, 120))["type"] != "OK" and len(chunk) > 1:
            again += [await wire.patch(one) for one in chunk]
    for answer in again:
        await asyncio.wait_for(answer, 120)


async def log_in(port: int, password: str, user: str = "user") -> str:
    """The cookies that the form of the login page gives."""
    form = (await get(port, "/login")).headers.get_list("Set-Cookie")
    cookies = [cookie.partition(";")[0] for cookie in form]
    fields = {"username": user, "password": password}
    fields |= {name: value for name, _, value in (cookie.partition("=") for cookie in cookies) if name == "_xsrf"}
    body = urlencode(fields)
    answer = await get(port, "/login", "; ".join(cookies), method="POST", body=body, follow_redirects=False)
    new_cookies = [cookie.partition(";")[0] for cookie in answer.headers.get_list("Set-Cookie")]
    return "; ".join([*cookies, *new_cookies])


async def unfolded(wire: Wire) -> Any:
    """The document with all fields of its form: what is folded away is made when it is first shown."""
    assert (await asyncio.wait_for(await wire.patch(ready()), 120))["type"] == "OK"
    folds: list[str] = []
    while not folds:
        await asyncio.sleep(0.2)
        document = await wire.document()
        folds = [part.id for part in parts(document["roots"]) if _spec(part).get("kind") == "more"]
    for fold in folds:
        await say(wire, fold, {"seq": 1, "on": True})
    return await wire.document()
