"""A few steps of SZO-ConEX."""

from __future__ import annotations

from functools import partial

from helpers import steps

SEED, REPLICAS = 5, 3
STEPS = {"primal_step": 0.03, "dual_step": 0.05, "dual_cap": 1e9}
course = partial(steps.course, replicas=REPLICAS, seed=SEED)
