"""A line between a browser and a server that a test can cut: the network that fails."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

from helpers.ports import free_port


class Line:
    """A forwarder of TCP connections to a port of this machine.

    Parameters
    ----------
    target : int
        The server's port.
    port : int
        Its own, which browsers are given.
    """

    def __init__(self, target: int, port: int) -> None:
        self.target, self.port, self.down = target, port, False
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, down: bool = False) -> None:
        """Drop all connections; ``down`` leaves the line cut, until it is mended."""
        self.down = down
        for one in list(self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Let connections through again."""
        self.down = False

    def close(self) -> None:
        """End."""
        self._listener.close()
        self.cut(down=True)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # once the listener is closed
            while True:
                near, _ = self._listener.accept()
                if self.down:
                    near.close()
                else:
                    self._join(near)

    def _join(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(("127.0.0.1", self.target))
        except OSError:  # the server is not there
            near.close()
            return
        self._open |= {near, far}
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=self._forward, args=(source, sink), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._open.discard(source)
        source.close()


@contextlib.contextmanager
def line_to(target: int, port: int | None = None) -> Iterator[Line]:
    """Forward connections to a server while the block runs."""
    line = Line(target, port or free_port())
    try:
        yield line
    finally:
        line.close()
