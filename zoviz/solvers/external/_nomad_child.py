"""The process of one replica's NOMAD: reads an order and then values, writes the points it wants, a line each.

It is started as a script, not imported: it needs nothing of this package, so that it begins at once. It ends when its
input does.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from typing import Any, TextIO


def _end_with_parent() -> None:
    """On Linux, be killed when the parent dies: NOMAD's models may think for minutes before they ask again."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def main() -> None:
    """Optimise by NOMAD until it ends by itself or the parent process closes the input."""
    _end_with_parent()
    # NOMAD prints: what it prints must not come between the lines.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    order = json.loads(sys.stdin.readline())
    import PyNomad

    def evaluate(point: Any) -> int:
        x = [point.get_coord(i).hex() for i in range(point.size())]
        values = _exchange(out, {"x": x})["values"]
        if values is None:
            return 0
        point.setBBO(" ".join(values).encode())
        return 1

    result = PyNomad.optimize(evaluate, order["start"], [], [], order["parameters"])
    _exchange(out, {"ended": str(result.get("stop_reason", "")).strip() or "NOMAD ended"})


def _exchange(out: TextIO, message: dict[str, Any]) -> dict[str, Any]:
    out.write(json.dumps(message) + "\n")
    out.flush()
    line = sys.stdin.readline()
    if not line:
        os._exit(0)  # nobody is there: NOMAD's own stack is not worth unwinding
    return json.loads(line)


if __name__ == "__main__":
    main()
