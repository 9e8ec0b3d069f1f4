"""How fast this machine is at the moment: the seconds of a short piece of work that never changes."""

from __future__ import annotations

import time

import numpy as np

from zoviz.core.threads.blas import SingleBlasThread

_DESCENTS = ((20, 10, 1000), (50, 1000, 25))
"""Variables, directions and iterations: the first costs overhead alone, as small runs do, the second arithmetic."""


def reference_seconds() -> float:
    """Return the processor seconds that this thread needs for two random-direction descents.

    Seconds of other work over these are the same on a faster machine, or while others share the caches and the clock.
    """
    rng, started = np.random.default_rng(0), time.thread_time()
    with SingleBlasThread():
        for n, directions, iterations in _DESCENTS:
            root = rng.standard_normal((n, n))
            curvature, x = root @ root.T / n, np.ones(n)
            for _ in range(iterations):
                probes = rng.standard_normal((directions, n))
                probes /= np.linalg.norm(probes, axis=1, keepdims=True)
                points = x + 1e-3 * probes
                values = 0.5 * ((points @ curvature) * points).sum(axis=1)
                slopes = (values - 0.5 * x @ curvature @ x) / 1e-3
                x = x - 1e-2 * n / directions * slopes @ probes
    return time.thread_time() - started
