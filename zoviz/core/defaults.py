"""The defaults that several rooms share, each in one place."""

from __future__ import annotations

import os
import sys

FEASIBILITY_TOLERANCE = 1e-6
"""Largest component of h that counts as feasible, SciPy's usual figure: in units of each row's size where nobody gives
a tolerance and a run measures sizes, else in the functions' own units."""

ACCURACY = 1e-6
"""Relative fall of f, over 1 + |f|, that is no gain: where further searches bring no more, the answer stands."""

REPLICAS = 8
"""Replicas of a run: enough for a band, few enough to be quick."""

CHECKPOINT_SECONDS = 1.0
"""Seconds between two checkpoints of a stored run."""

STORE_URL = "sqlite:///zoviz.db"
"""The store in the working folder."""

STORE_VARIABLE = "ZOVIZ_STORE"
"""The environment variable that names another store."""

CALLS_PER_DIMENSION = 1000
"""Calls per variable, and once more for the constant, that a budget has where nobody gives one."""


def calls_for(n: int) -> int:
    """Return the default budget of oracle calls for ``n`` variables, 1000 (n + 1)."""
    return CALLS_PER_DIMENSION * (n + 1)


def store_url() -> str:
    """Return the URL of the store that ``ZOVIZ_STORE`` names, else of the one in the working folder."""
    return os.environ.get(STORE_VARIABLE, STORE_URL)


LARGEST_GROWTH = sys.float_info.epsilon**-0.5
"""How much larger than the scale of the start an iterate or a value may become, 6.7e7: where values are larger by more
than the root of the machine's precision, a difference of what was of order 1 has no correct digit left."""

SWITCH_INTERVAL = 5e-4
"""Seconds until a solver's thread gives way, of Python's 5 ms: a page's update waits for it at each of its messages."""
