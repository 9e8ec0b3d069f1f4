"""The main loop of a worker process: receive a point, evaluate, send the outcome."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from multiprocessing.connection import Connection
from typing import Any

from zoviz.core.errors import OracleError, described
from zoviz.evaluation.fork_server import use_own_fork_server
from zoviz.evaluation.function_call import Failure
from zoviz.evaluation.surroundings import Surroundings

PATIENCE = 2.0
"""Seconds after which a process looks whether its parent is still there."""


def serve(connection: Connection, cargo: Any, surroundings: Surroundings, inherited: list[Connection]) -> None:
    """Evaluate the points that come over a connection until its other end is closed."""
    for one in inherited:  # else the other ends would seem open when the parent has gone
        one.close()
    if hasattr(os, "setsid"):
        os.setsid()  # a group of its own: what the functions start is ended with it, and Ctrl-C is the parent's
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A fork has its parent's handlers: an event loop's would leave it alive, and wake the parent's loop in its place.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    # It shares nothing with this thread: it only ends the process.
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # The functions may have processes of their own, as a daemonic one may not: they are of its group, and end with it.
    multiprocessing.current_process().daemon = False
    use_own_fork_server()
    surroundings.enter()
    try:
        call = pickle.loads(cargo) if isinstance(cargo, bytes) else cargo
    except Exception as error:  # importing a user's modules may raise anything
        connection.send(described(error))
        return
    connection.send(True)
    with surroundings.computing():
        while True:
            try:
                point = connection.recv()
            except (EOFError, OSError):
                return
            connection.send(_portable(call(point)))


def _end_with_parent() -> None:
    """End this process when its parent is gone: a call that hangs must not outlive a parent that was killed."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    # Its end closes a pipe, but of a fork of the parent that outlives it this pipe's end is open too.
    while parent.is_alive() and _exists(parent.pid):
        parent.join(PATIENCE)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _exists(process: int | None) -> bool:
    if os.name != "posix" or process is None:
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _portable(outcome: Any) -> Any:
    """Return the outcome; an error that cannot be pickled is replaced by its text."""
    if not isinstance(outcome, Failure):
        return outcome
    error = outcome.error
    error.add_note("In a process of its own:\n" + "".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # pickling a user's class of error may raise anything
        return Failure(OracleError(described(error)))
    return outcome
