"""``zoviz`` on the command line, with all that its process opens, imports, starts or removes written to a log.

``python audit.py LOG serve --no-show ...``: one line of JSON each, the name of CPython's audit event and its first
arguments. Nothing that goes on between two looks at the process is missed.
"""

from __future__ import annotations

import json
import os
import sys

CANARY = "zoviz_canary"
"""Part of the name of a file that a successful attack makes, and of every Python source that an attacker sends."""
WATCHED = (
    *("open", "import", "compile", "sqlite3.connect", "pickle.find_class", "socket.connect", "urllib.Request"),
    *("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "pty.spawn"),
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink", "os.chmod", "os.chown"),
    *("shutil.rmtree", "shutil.copyfile", "shutil.move", "webbrowser.open"),
)


def watch(log: str) -> None:
    """Begin; there is no way to end an audit."""
    to = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event not in WATCHED or (event == "compile" and CANARY not in repr(arguments[0])):
            return
        line = [event, *(os.fspath(a) if isinstance(a, os.PathLike) else a for a in arguments[:3])]
        if event == "import":
            line = line[:2]
        os.write(to, json.dumps(line, default=repr).encode() + b"\n")

    sys.addaudithook(note)


if __name__ == "__main__":
    watch(sys.argv[1])
    sys.argv[:2] = ["zoviz"]
    sys.path[0] = os.getcwd()  # as ``python -m zoviz`` has it
    from zoviz.cli.main import main

    raise SystemExit(main(sys.argv[1:]))
