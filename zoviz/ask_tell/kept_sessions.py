"""Ask-tell sessions kept in a store: a value is stored before its caller gets an answer."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, insert, select, update

from zoviz.ask_tell.session import AskTell, Batch
from zoviz.certainty.calls import Calls
from zoviz.certainty.certainty import Certainty, unknown
from zoviz.certainty.own_calls import nearby, repeating
from zoviz.core.encoding.binary import pack, unpack
from zoviz.core.errors import ZovizError
from zoviz.core.types import Array
from zoviz.core.units import as_box
from zoviz.runs.engine.answering import leader_of
from zoviz.runs.storage.schema import SESSIONS, TELLS, sealed
from zoviz.runs.store import Store
from zoviz.solvers.portfolio.choice import AUTO, named

SETTINGS = ("bounds", "x0", "m", "noise", "seeds", "replicas", "seed", "iterations", "calls", "tolerance", "past")
"""What a session is made of, beside its solver and that solver's parameters: those of ``AskTell``."""
_LIVE = 64
"""Sessions that are held in memory; others are made again from what was told."""


class UnknownSession(ZovizError):
    """Raised for an id that belongs to no session."""


class Conflict(ZovizError):
    """Raised for values that contradict earlier ones, or that come after the session was cancelled."""


class KeptSession:
    """A session, the values it has received, and whether it was cancelled.

    Attributes
    ----------
    id : str
    session : AskTell
    x, values : list of Array
        The points that were told, and f and h there.
    ended : str
        Why there is nothing left to ask, where it is not the budget.
    """

    def __init__(self, id: str, settings: Mapping[str, Any], cancelled: bool) -> None:
        self.id, self.settings, self.cancelled, self.lock = id, settings, cancelled, threading.RLock()
        self.session = _made(settings)
        self.told: dict[int, tuple[Array, Array]] = {}
        self.ended = ""

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask."""
        return self.cancelled or bool(self.ended) or self.session.done

    def open(self, most: int | None = None) -> Batch:
        """Return the points to evaluate, at most ``most``."""
        batch = self.session.ask()
        return batch if most is None else batch.take(np.arange(min(most, len(batch.ids))))

    def tell(self, batch: Batch, values: Array) -> None:
        """Tell values (q, 1 + m) at a batch."""
        try:
            self.session.tell(batch, values[:, 0], values[:, 1:])
        except ZovizError as error:  # the run has failed: what was told is kept all the same
            if self.session.worker.error is None:
                raise
            self.ended = str(error)
        self.told |= dict(zip(batch.ids.tolist(), zip(batch.x, values, strict=True), strict=True))

    def certainty(self) -> Certainty:
        """Return how certain the best point so far is, by the values received.

        Raises
        ------
        ZovizError
            Before the solver has begun.
        """
        result, problem = self.session.result, self.session.worker.problem
        r, oracle = leader_of(result), self.session.worker.oracle
        x = result.best_x[r] if np.isfinite(result.best_fun[r]) else result.x[r]
        outputs = next((v for at, v in reversed(self.told.values()) if np.array_equal(at, x)), None)
        box = as_box(problem.domain)
        if outputs is None or oracle.may_differ or box is None:
            values = np.full(1 + problem.m, np.nan) if outputs is None else outputs
            return unknown(x, values[0], values[1:], "values are noisy, so further calls are needed")
        points, values = (np.array(column) for column in zip(*self.told.values(), strict=True))
        near = nearby(Calls(points, values), x, box)
        return repeating([] if near is None else [near], x, outputs, result.multipliers[r], box, oracle.best.tolerance)


class KeptSessions:
    """The sessions of a store.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._database, self._owner = store.database, store.owner or ""
        self._live: OrderedDict[str, KeptSession] = OrderedDict()
        self._lock = threading.Lock()
        with self._database.writing() as connection:
            for table in (SESSIONS, TELLS):
                table.create(connection, checkfirst=True)

    def create(self, settings: Mapping[str, Any]) -> KeptSession:
        """Begin a session.

        Raises
        ------
        ValueError
            For a setting that it does not have, or that makes no sense.
        """
        kept = KeptSession(secrets.token_hex(16), dict(settings), cancelled=False)
        row = {"id": kept.id, "owner": self._owner, "created": time.time(), "settings": json.dumps(kept.settings)}
        with self._database.writing() as connection:
            connection.execute(insert(SESSIONS).values(**row, cancelled=0.0))
        self._hold(kept)
        return kept

    def ids(self) -> list[str]:
        """Return the ids of all sessions, the latest first."""
        query = select(SESSIONS.c.id).where(SESSIONS.c.owner == self._owner).order_by(SESSIONS.c.created.desc())
        with self._database.reading() as connection:
            return list(connection.execute(query).scalars())

    def get(self, id: str) -> KeptSession:
        """Return a session, rebuilt from its stored values if this process does not hold it.

        Raises
        ------
        UnknownSession
            For an id that no session has.
        """
        with self._lock:
            if id in self._live:
                self._live.move_to_end(id)
                return self._live[id]
        with self._database.reading() as connection:
            query = select(SESSIONS.c.settings, SESSIONS.c.cancelled)
            row = connection.execute(query.where(SESSIONS.c.id == id, SESSIONS.c.owner == self._owner)).one_or_none()
            if row is None:
                raise UnknownSession(f"Expected the id of a session, got {id!r:.40}, which none has.")
            tells = _tells(connection, id)
        kept = KeptSession(id, json.loads(row.settings), bool(row.cancelled))
        for told in tells:
            batch = Batch(told["x"], told["ids"], told["replicas"], told["seeds"])
            kept.tell(batch, told["values"])
        return self._hold(kept)

    def _hold(self, kept: KeptSession) -> KeptSession:
        with self._lock:
            kept = self._live.setdefault(kept.id, kept)  # another thread may have been faster
            while len(self._live) > _LIVE:
                self._live.popitem(last=False)
        return kept

    def tell(self, id: str, points: Sequence[Mapping[str, Any]]) -> KeptSession:
        """Take in values at points, each a mapping of ``id``, ``f`` (None where the call failed) and ``h``.

        What was told before is passed over where it is the same, so that who got no answer may tell again.

        Raises
        ------
        Conflict
            For other values than were told before, and where the session was cancelled.
        ValueError
            For points that are not open, and what is no value.
        """
        kept = self.get(id)
        with kept.lock:
            width = 1 + kept.session.worker.problem.m
            values = {int(one["id"]): _values(one, width) for one in points}
            for number in values.keys() & kept.told.keys():
                if not np.array_equal(values.pop(number), kept.told[number][1], equal_nan=True):
                    raise Conflict(f"Expected the same values for point {number} as before, got others.")
            if kept.done and values:
                raise Conflict("Expected a session that goes on, got one that has ended: its answer is in result.")
            if values:
                batch = kept.open()
                place = {int(number): i for i, number in enumerate(batch.ids)}
                if closed := sorted(values.keys() - place.keys()):
                    raise ValueError(f"Expected ids that are open, got {closed[:5]}: ask for the points first.")
                batch = batch.take([place[number] for number in values])
                kept.tell(batch, np.array(list(values.values())))
                try:
                    self._write(id, {**batch._asdict(), "values": np.array(list(values.values()))})
                except BaseException:  # the next request begins with what the store has, and they are told again
                    self._live.pop(id, None)
                    raise
        return kept

    def _write(self, id: str, told: Mapping[str, Any]) -> None:
        with self._database.writing() as connection:
            last = connection.execute(select(func.max(TELLS.c.number)).where(TELLS.c.session == id)).scalar()
            row = {"session": id, "number": 0 if last is None else last + 1, "time": time.time()}
            connection.execute(insert(TELLS).values(**row, **sealed(pack(told))))

    def cancel(self, id: str) -> None:
        """End a session; its values are kept."""
        kept = self.get(id)
        with kept.lock, self._database.writing() as connection:
            kept.cancelled = True
            connection.execute(update(SESSIONS).where(SESSIONS.c.id == id).values(cancelled=time.time()))

    def events(self, id: str, after: int = -1) -> list[dict[str, Any]]:
        """Return the events of a session after a given event's number: values received and, finally, its end."""
        kept = self.get(id)
        with self._database.reading() as connection:
            told = _tells(connection, id)
            cancelled = connection.execute(select(SESSIONS.c.cancelled).where(SESSIONS.c.id == id)).scalar()
        events: list[dict[str, Any]] = [{"time": one["time"], "values": one["ids"]} for one in told]
        if kept.done:
            why = "cancelled" if cancelled else kept.ended or kept.session.worker.message
            events.append({"time": cancelled or (told[-1]["time"] if told else 0.0), "ended": why})
        return [one | {"number": number} for number, one in enumerate(events) if number > after]


def _made(settings: Mapping[str, Any]) -> AskTell:
    """Return a session with settings as JSON has them."""
    settings = dict(settings)
    solver, parameters = settings.pop("solver", AUTO), settings.pop("parameters", {})
    if other := sorted(settings.keys() - set(SETTINGS)):
        raise ValueError(f"Expected settings among solver, parameters, {', '.join(SETTINGS)}, got {other[0]}.")
    if not isinstance(past := settings.get("past") or {}, Mapping):  # no file: it would be one of the server's
        raise ValueError(f"Expected past as an object with x and values, got {past!r:.40}.")
    if parameters:
        solver = named(solver)
        for name, value in parameters.items():
            solver.set(name, value)
    return AskTell(solver=solver, **settings)


def _values(one: Mapping[str, Any], width: int) -> Array:
    """Return f and h of a point as told, (1 + m,); all NaN where the call failed."""
    if one.get("f") is None:
        return np.full(width, np.nan)
    try:
        values = np.array([one["f"], *np.ravel(one.get("h") or [])], dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"Expected numbers as f and h, got {dict(one)!r:.80}.") from None
    if len(values) != width:
        raise ValueError(f"Expected f and {width - 1} values of h, got {len(values) - 1} of h.")
    return values


def _tells(connection: Connection, session: str) -> list[dict[str, Any]]:
    query = select(TELLS).where(TELLS.c.session == session).order_by(TELLS.c.number)
    return [{**unpack(row.data), "time": row.time} for row in connection.execute(query)]
