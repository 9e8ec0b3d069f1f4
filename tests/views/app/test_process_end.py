"""A process that has served pages ends without looking for garbage, which took seconds for each dozen of pages."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import atexit, gc
atexit.register(lambda: print(gc.get_freeze_count()))  # what is registered first comes last
from zoviz.views.app.process import configure_process
configure_process()
"""


def test_garbage_is_not_looked_for_at_the_end() -> None:
    written = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout
    assert int(written) > 100_000, "all that a page is made of is left to the operating system"
