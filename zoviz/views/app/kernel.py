"""Whether this process is a notebook's kernel."""

from __future__ import annotations

import sys
from typing import Any


def kernel_shell() -> Any:
    """Return the IPython shell of the kernel that this process is; None elsewhere, in a terminal's IPython, too."""
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return None if getattr(shell, "kernel", None) is None else shell
