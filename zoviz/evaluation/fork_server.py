"""The server from which multiprocessing forks fresh processes: one of this process's own."""

from __future__ import annotations

import multiprocessing

_FUNCTIONS = ("ensure_running", "get_inherited_fds", "connect_to_new_process", "set_forkserver_preload")


def use_own_fork_server() -> None:
    """Have this process start a fork server when it next needs one, instead of using its parent's.

    That of the parent is in another process group, which is not ended with this process; and in a fork of the parent
    multiprocessing waits for it as for a child, which it is not (``ChildProcessError``).
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return
    from multiprocessing import forkserver

    server = forkserver.ForkServer()
    for name in _FUNCTIONS:
        setattr(forkserver, name, getattr(server, name))
