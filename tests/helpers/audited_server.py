"""``zoviz serve`` under audit, on a store that is not to be trusted, and what must not have happened to it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import psutil

from helpers.ports import free_port, until_listening

HERE = Path(__file__).parent
PROCESSES = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn")
NEVER = (*PROCESSES, "pty.spawn", "pickle.find_class", "socket.connect", "urllib.Request", "webbrowser.open", "compile")
UNHANDLED = re.compile(
    r"^(?!ERROR:bokeh\.server\.views\.ws:|\s).*"
    r"(?:Uncaught exception|Exception in callback|never retrieved|threw an exception|Unhandled|Fatal Python).*$",
    re.M,
)
"""What asyncio, tornado and Bokeh write of an exception that nobody expected.

Without source lines, and without Bokeh's websocket handler, which closes the connection that such a message came on.
"""


class AuditedServer:
    """A server in a folder of its own.

    Parameters
    ----------
    folder : Path
        With ``kept.db`` and ``own_module.py`` in it.
    arguments : iterable of str
        More of the command line.
    """

    def __init__(self, folder: Path, root: Path, arguments: Iterable[str] = ()) -> None:
        self.folder, self.canary, self.port = folder, folder / "zoviz_canary", free_port()
        self.audit, self.log, self.temporary = folder / "audit.log", folder / "server.log", folder / "temporary"
        self.temporary.mkdir(exist_ok=True)
        self._root, self._looked, self._imports = root, 0, set()
        command = [sys.executable, str(HERE / "audit.py"), str(self.audit), "serve", "--no-show"]
        command += ["--port", str(self.port), "--store", "sqlite:///kept.db", *arguments]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("ZOVIZ", "BOKEH"))}
        environment |= {"PYTHONPATH": str(root), "TMPDIR": str(self.temporary), "PYTHONDONTWRITEBYTECODE": "1"}
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=out)
        until_listening(self.port, self.process, self.log)

    def stop(self) -> None:
        """End the server as Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60)
        finally:
            self.process.kill()

    def arm(self) -> None:
        """From here on all that happens is what the attacker has done."""
        self._looked = self.audit.stat().st_size
        self._files = self._tree()

    def _tree(self) -> dict[str, str]:
        """Every file of the folder with its checksum, but the store, the logs, and temporary files."""
        own = ("kept.db", "audit.log", "server.log")
        files = [path for path in sorted(self.folder.rglob("*")) if path.is_file() and not path.name.startswith(own)]
        return {str(path): hashlib.blake2b(path.read_bytes()).hexdigest() for path in files}

    def misdeeds(self) -> list[str]:
        """What has happened since ``arm`` and must not have."""
        lines = self.audit.read_bytes()[self._looked :].splitlines()
        findings = [text for line in lines if (text := self._misdeed(*json.loads(line)))]
        findings += ["a canary"] * self.canary.exists()
        tree = self._tree()
        findings += [
            f"changed: {path}" for path in self._files.keys() | tree if self._files.get(path) != tree.get(path)
        ]
        if self.process.poll() is not None:
            return [*findings, f"the server has ended: {self.log.read_text()[-2000:]}"]
        findings += [f"a process: {one}" for one in psutil.Process(self.process.pid).children(recursive=True)]
        findings += [f"unhandled: {line[:300]}" for line in UNHANDLED.findall(self.log.read_text(errors="replace"))]
        return list(dict.fromkeys(findings))

    def _misdeed(self, event: str, first: object, *rest: object) -> str:
        """One audited event as text, where it is none of an honest server's."""
        if event in NEVER:
            return f"{event}: {str(first)[:200]}"
        if event == "import":
            return f"imported: {first}" if str(first) in self.forbidden else ""
        if not isinstance(first, str):
            return ""  # a descriptor that is open already
        path = os.path.realpath(os.path.join(self.folder, first.removeprefix("file:").partition("?")[0]))
        store = path.startswith(str(self.folder / "kept.db"))
        if store or first == ":memory:" or path.startswith((str(self.temporary), "/dev/null")):
            return ""
        mode, flags = (*rest, None, None)[:2]
        reads = event == "open" and (
            set(mode) <= set("rbtU") if isinstance(mode, str) else not int(flags or 0) & (os.O_WRONLY | os.O_RDWR)
        )
        if reads and path.endswith("zoviz/signing.key"):  # whether a run is this user's own
            return ""
        if reads and path.startswith((sys.prefix, sys.base_prefix, str(self._root), "/proc", "/usr", "/sys")):
            return ""
        return f"{event} {mode}: {path}"

    forbidden: frozenset[str] = frozenset()
