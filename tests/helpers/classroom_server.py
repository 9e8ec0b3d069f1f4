"""``python -m helpers.classroom_server FILE serve ...``: the command, and how late its event loop is, in a file."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from tornado.ioloop import IOLoop

from zoviz.cli.main import main


async def probe(path: Path) -> None:
    """Note how late a sleep of 10 ms ends, again and again, and write all of it down once a second."""
    lags: list[float] = []
    written = time.perf_counter()
    while True:
        started = time.perf_counter()
        await asyncio.sleep(0.01)
        now = time.perf_counter()
        lags.append(round(now - started - 0.01, 5))
        if now - written > 1:
            part = path.with_suffix(".part")
            part.write_text(json.dumps(lags), encoding="utf-8")
            os.replace(part, path)
            written = now


if __name__ == "__main__":
    IOLoop.current().add_callback(probe, Path(sys.argv[1]))
    sys.exit(main(sys.argv[2:]))
