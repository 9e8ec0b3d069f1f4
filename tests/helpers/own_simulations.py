"""A person's module with a simulation, noisy and not, and the answers of ``minimize`` to compare others with."""

from __future__ import annotations

from zoviz import BlackBox, minimize
from zoviz.runs.engine.result import OptimizeResult

SEED, CALLS = 5, 1500
MODULE = """
from zoviz import BlackBox


def simulate(x):
    return (x[0] - 1.0) ** 2 + (x[1] - 0.8) ** 2, [x[0] + x[1] - 1.0, x[0] - 0.9]


def problem(**noise):
    return BlackBox(simulate, joint=True, m=2, bounds=[(-2.0, 2.0)] * 2, x0=[0.0, 0.0], **noise)


noisy = problem(noise="independent", noise_scale=1e-2)
exact = problem()
"""
NAMES = ("noisy", "exact")


def own(name: str) -> BlackBox:
    """The problem of this name in the module."""
    names: dict[str, BlackBox] = {}
    exec(MODULE, names)  # noqa: S102
    return names[name]


def solved(name: str) -> OptimizeResult:
    """What ``minimize`` answers to it, by ZOSQP."""
    return minimize(own(name), method="ZOSQP", max_calls=CALLS, seed=SEED)
