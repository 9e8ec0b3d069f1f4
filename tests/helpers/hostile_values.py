"""What a hostile browser sends in the place of honest values, and where it asks for files."""

from __future__ import annotations

import base64
import gzip
import json
import pickle
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bokeh.core.serialization import Deserializer
from bokeh.events import _CONCRETE_EVENT_CLASSES

MODULES = ("foreign_module", "antigravity", "this", "turtledemo.clock", "idlelib.idle", "lib2to3")
"""Modules that no honest page imports; the first leaves the canary."""


class Bomb:
    """A pickle that makes a file."""

    def __init__(self, canary: str | Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path(self.canary),)


def texts(canary: Path) -> list[str]:
    """Text that is code, a path, a URL, a program or a name to some reader or other."""
    folder = canary.parent
    return [
        "os:system",
        "foreign_module:Thing",
        "foreign_module",
        "zoviz.problems.user.executable:Executable",
        f"__import__('os').system('touch {canary}')",
        f"$(touch {canary})",
        f"`touch {canary}`",
        f"; touch {canary} #",
        f'!!python/object/apply:os.system ["touch {canary}"]',
        f"{{{{ cycler.__init__.__globals__.os.popen('touch {canary}').read() }}}}",
        "${__import__('os')}",
        "{0.__class__.__init__.__globals__}",
        "/etc/passwd",
        "../../../../../../etc/passwd",
        "file:///etc/passwd",
        str(folder / "picture.png"),
        "picture.png",
        str(folder / "foreign_module.py"),
        "foreign_module.css",
        f"sqlite:///{canary}",
        f"%s%n\0{canary}",
        "http://127.0.0.1:9/evil.css",
        "<script>alert(1)</script>",
        "",
        "nan",
        "1e309",
        "9" * 400,
        "x" * 200_000,
    ]


def values(canary: Path) -> list[Any]:
    """The texts, and all else that Bokeh's protocol can spell."""
    bomb = base64.b64encode(gzip.compress(pickle.dumps(Bomb(str(canary))))).decode()
    array = {"type": "ndarray", "array": {"type": "bytes", "data": bomb}, "shape": [1], "order": "little"}
    numbers = [{"type": "number", "value": name} for name in ("nan", "+inf", "-inf")]
    command = [["command", f"touch {canary}"], ["file", "/etc/passwd"], ["value", 1e308], ["class", "os:system"]]
    others = [
        *(None, True, False, 0, -1, 1, 3, 0.5, 1e308, -1e308, 5e-324, 2**31, 2**53, -(2**70)),
        *([], ["os:system", "/etc/passwd"], [-1, 10**9], [[1, [2, [None]]]], ["built in", None, 1e308]),
        {"type": "map", "entries": []},
        {"type": "map", "entries": command},
        {"type": "map", "entries": [["a", {"type": "map", "entries": command}]]},
        {"type": "set", "entries": [1, 2]},
        {"type": "bytes", "data": bomb},
        {"type": "slice", "start": -(2**40), "stop": None, "step": None},
        {"type": "symbol", "name": "os.system"},
        {"type": "typed_array", "array": {"type": "bytes", "data": bomb}, "dtype": "float64", "order": "little"},
        {"type": "value", "value": "/etc/passwd"},
        {"type": "field", "field": "/etc/passwd"},
        *(array | {"dtype": dtype} for dtype in ("uint8", "float64", "object", "O", "os:system")),
        {"type": "os.system", "name": f"touch {canary}"},
        {"type": "object", "name": "os.system", "attributes": {"command": f"touch {canary}"}},
        {"type": "object", "name": "foreign_module.Thing", "id": "h1", "attributes": {}},
        {"type": "object", "name": "CustomJS", "id": "h2", "attributes": {"code": "fetch('//evil.example')"}},
    ]
    return [*texts(canary), *numbers, *others]


def readable(parts: list[Any]) -> list[tuple[Any, Any]]:
    """Those from which a server can make a Python object at all, with that object."""
    pairs = []
    for one in parts:
        try:
            pairs.append((one, Deserializer().deserialize(one)))
        except Exception:
            continue
    return pairs


def requests(canary: Path) -> Iterator[str]:
    """Addresses that name a module, a class, a file, a session or an argument."""
    attributes = ("__css__", "_resources/css", "_bundle_path", "_stylesheets", "__init__", "__globals__")
    for module in MODULES:
        for attribute in attributes:
            yield f"/components/{module}/Thing/{attribute}/foreign_module.css"
    for way in ("../" * 12, "..%2f" * 12, "%2e%2e/" * 12, "....//" * 12, "/", "//", "\\..\\" * 6):
        for root in (
            "static/",
            "static/extensions/panel/",
            "components/zoviz.views.common.search_list/SearchList/_esm/",
            "",
            "doc/",
        ):
            yield f"/{root}{way}etc/passwd"
    named = quote(f"__import__('os').system('touch {canary}')")
    names = ("problem", "store", "exe", "args", "trust", "module", "file", "theme", "bokeh-session-id", "next")
    for value in ("os:system", "/etc/passwd", f"sqlite:///{canary}", named):
        query = "&".join(f"{name}={value}" for name in names)  # one page each: a page costs more than all the rest
        yield f"/?{query}"
        yield f"/autoload.js?bokeh-autoload-element=x&{query}"
    for path in ("rest", "metadata", "admin", "liveness", "login", "logout", "panel_dist", "shutdown", "ws", "apps"):
        yield f"/{path}"
        yield f"/{path}/foreign_module"


def admitted(kind: str, name: str, pairs: list[Any]) -> tuple[list[Any], list[Any]]:
    """The values that a property's type takes, and those that Bokeh refuses before Panel or zoviz hear of them."""
    descriptor = Deserializer()._resolve_type(kind).lookup(name).property
    good: list[Any] = []
    bad: list[Any] = []
    for wire, value in pairs:
        try:
            valid = descriptor.is_valid(value)
        except Exception:
            valid = True
        (good if valid else bad).append(wire)
    return good, bad


def aimed(parts: Iterable[Any], pairs: list[Any], few: bool) -> Iterator[list[tuple[str, str, Any]]]:
    """Rounds of (model, property, value), at most one of a model in a round, so that none is lost in Panel's merging.

    Every model and every property. All values, those too that its type does not admit, for the first model of a kind;
    for its others one that it admits, and all of what a widget's user sets.
    ``few``: for the first model of a kind, one value for each property of a kind that Panel listens to, for one in
    five of the others, and all for what a widget's user sets, of which its other models have two; one in ten is a
    value that the type does not admit. The draw is seeded.
    """
    dice, values, queues = random.Random(0), {}, []
    for part in parts:
        plain = Deserializer()._resolve_type(part.kind).__module__.startswith("bokeh.models.")
        changes = []
        for name in sorted(Deserializer()._resolve_type(part.kind).properties()):
            new, in_full = (part.kind, name) not in values, name in ("value", "value_input") and not plain
            if few and not in_full and (not new or (plain and dice.random() > 0.2)):
                values[part.kind, name] = ([], [])
                continue
            if new:
                some = pairs if in_full or not few else dice.sample(pairs, 12)
                values[part.kind, name] = admitted(part.kind, name, some)
            good, bad = values[part.kind, name]
            if few:
                good = good if in_full and new else dice.sample(good, min(len(good), 2 if in_full else 1))
                bad = bad[: dice.random() < 0.1]
            elif not (new or in_full):
                good = dice.sample(good, min(len(good), 1))
            changes += [(part.id, name, wire) for wire in (*good, *(bad if new else ()))]
        dice.shuffle(changes)
        queues.append(changes)
    while queues := [queue for queue in queues if queue]:
        yield [queue.pop() for queue in queues]


def events(canary: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every kind of event that Bokeh and Panel know, with names of methods, modules and files in it."""
    code = f"__import__('os').system('touch {canary}')"
    click = {"type": "map", "entries": [["type", "click"], ["value", code], ["file", "/etc/passwd"]]}
    for name in _CONCRETE_EVENT_CLASSES:
        yield name, {}
        yield name, {"data": click}
    for node in ("click", "msg", "__init__", "os.system", code, "../../etc/passwd", None, 3):
        for data in (click, code, None):
            yield "dom_event", {"node": node, "data": data}
    what: dict[str, list[Any]] = {
        "do": ["make", "agree", code],
        "text": [code, "1e309", "9" * 400],
        "title": [code, ["auto"]],
        "on": [code, 3],
        "open": [code, "../x", None],
        "value": [code, 1e308, -(2**40), None, [1]],
    }
    for number, (name, value) in enumerate((name, one) for name, own in what.items() for one in own):
        yield "data_event", {"data": {"type": "map", "entries": [["seq", number], [name, value]]}}
    for column, row in (("label", 0), ("label", -1), ("notes", 10**9), ("os:system", 0), (None, None), (code, "0")):
        yield "table-edit", {"column": column, "row": row, "value": code, "old": None, "pre": False}
        yield "cell-click", {"column": column, "row": row, "value": code}
    yield "selection-change", {"indices": [-1, 10**9, code], "selected": True, "flush": False}
    yield "doubletap", {"x": 1e308, "y": code, "sx": None, "sy": None}


def messages(canary: Path, document: Any, root: str, source: str) -> Iterator[tuple[str, Any]]:
    """Whole messages: other kinds of change, of the models with the ids, another document, kinds that are none."""
    one = {"id": source}
    code = f"__import__('os').system('touch {canary}')"
    column = {"model": one, "attr": "data"}
    for value in (code, {"id": root}, None, {"x": [[0, code]]}, {"type": "object", "name": "Div", "id": "h3"}):
        for message in (
            {"kind": "ColumnDataChanged", "model": one, "attr": "tags", "data": value},
            {"kind": "ColumnDataChanged", **column, "data": value, "cols": None},
            {"kind": "ColumnsStreamed", **column, "data": value},
            {"kind": "ColumnsPatched", **column, "patches": value},
            *({"kind": kind, "model": value} for kind in ("RootAdded", "RootRemoved")),
            {"kind": "TitleChanged", "title": value},
            *({"kind": "MessageSent", "msg_type": kind, "msg_data": value} for kind in (code, "bokeh_event")),
            *({"kind": kind, "model": one} for kind in ("os.system", None)),
        ):
            yield "PATCH-DOC", {"events": [message]}
    for content in ({}, {"events": code}, {"events": [code]}, {"events": None, "references": [one]}, [], code):
        yield "PATCH-DOC", content
    for kind in ("SERVER-INFO-REQ", "PULL-DOC-REPLY", "ACK", "ERROR", "OK", "os:system", "PICKLE"):
        yield kind, {"doc": code, "text": code}
    thing = {"type": "model", "name": "foreign_module.Thing", "extends": None, "properties": [], "overrides": []}
    yield "PUSH-DOC", {"doc": {"version": "3.9.2", "title": code, "roots": [], "defs": [thing]}}
    yield "PUSH-DOC", {"doc": document | {"title": code}}
    yield "PUSH-DOC", {"doc": code}


def garbage(canary: Path) -> Iterator[list[str | bytes]]:
    """Frames that are no messages; for some of them Bokeh waits for more of the message, and answers nothing."""
    bomb = pickle.dumps(Bomb(str(canary)))
    header = json.dumps({"msgid": "1", "msgtype": "PATCH-DOC", "num_buffers": 10**9})
    yield [bomb]
    yield ["", "", ""]
    yield ["{", "}", "["]
    yield ['{"msgid": "1", "msgtype": "PATCH-DOC"}', "{}", "null"]
    yield [header, "{}", "{}", json.dumps({"id": "os:system"}), bomb]
    yield [header, "{}", '{"events": []}', bomb, "{}"]
    yield ['{"msgid": null, "msgtype": ["os:system"]}', "{}", "{}"]
    yield ["[" * 100_000, "{}", "{}"]
