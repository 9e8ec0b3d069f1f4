"""A first look at a person's own problem: whether its start works, what its values are like, and what a run costs."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np

from zoviz.core import defaults
from zoviz.core.durations import duration
from zoviz.core.errors import described
from zoviz.core.ranking import is_feasible
from zoviz.core.sets import Box
from zoviz.core.types import Array, Evaluation
from zoviz.core.units import as_box
from zoviz.evaluation.function_call import Failure
from zoviz.oracle.quantum import digits, quantum
from zoviz.problems.user.base import Simulation

REPEATS, NEARBY = 4, 3
"""Calls at the start besides the first, and at points beside it."""
CALLS = 1 + REPEATS + NEARBY
"""Calls of a first look, all in all."""
_BESIDE = 0.01
"""Share of an interval's width by which the other points lie beside the start, at most."""


class FirstLook(NamedTuple):
    """The findings of a few calls at the start of a problem.

    Attributes
    ----------
    n, m : int
        Variables, and constraints; m is -1 where it is not known.
    bounded : int
        Variables with two bounds.
    values : Array, shape (k, 1 + m)
        f and h at the start, k times; k is 0 where the start has no value.
    failure : str
        Why it has none.
    digits : ndarray of int, shape (1 + m,)
        About how many digits the values of each output have, f first; 0 where they have all.
    seconds : float
        Of a call, in the mean.
    calls : int
    """

    n: int
    m: int
    bounded: int
    values: Array
    failure: str
    digits: np.ndarray
    seconds: float
    calls: int

    @property
    def noisy(self) -> bool:
        """Whether calls at one point gave different values."""
        return len(self.values) > 0 and bool((np.ptp(self.values, axis=0) > 0.0).any())

    @property
    def feasible(self) -> bool:
        """Whether the start is feasible, by the first call there."""
        return len(self.values) > 0 and bool(is_feasible(self.values[0, 1:], defaults.FEASIBILITY_TOLERANCE))

    def sentences(self, budget: int | None) -> str:
        """Return two sentences: on the problem and its start, and on values and what a budget of calls costs."""
        ends = "all bounded" if self.bounded == self.n else f"{self.bounded} of them bounded on both sides"
        size = f"{self.n} variable{'s' * (self.n != 1)}, {ends}"
        size += f"; {self.m} constraint{'s' * (self.m != 1)}" if self.m >= 0 else ""
        if not len(self.values):
            return f"{size}; the start has no value: {self.failure}."
        f, *h = self.values[0]
        start = f"the start is feasible, f = {f:.6g}"
        if not self.feasible:
            start = f"the start is not feasible, its largest h is {max(h):.3g}"
        spread = self.values.std(axis=0, ddof=1) if len(self.values) > 1 else np.zeros(1 + self.m)
        values = "Values repeat"
        if self.noisy:
            sizes = {"f": spread[0], "h": spread[1:].max(initial=0.0)}
            words = [f"{size:.2g} of {name}" for name, size in sizes.items() if size > 0.0]
            values = f"Values are noisy, with a standard deviation of about {' and '.join(words)}"
        elif self.digits.any():
            values += f", with about {int(self.digits[self.digits > 0].min())} digits"
        cost = f"a call takes about {duration(self.seconds)}"
        if budget is not None:
            cost += f", so {budget:,} calls take about {duration(budget * self.seconds)}"
        return f"{size}; {start}. {values}; {cost}."


def first_look(problem: Simulation) -> FirstLook:
    """Call a problem at its start, again there, and beside it: ``CALLS`` in all, or one where that has no value.

    Parameters
    ----------
    problem : Simulation
        A function's or a program's; it is left as it is.

    Returns
    -------
    FirstLook
    """
    own = problem.clone()
    with ExitStack() as stack:
        stack.callback(own.release)
        box, start = as_box(own.domain), own.start
        n, bounded = own.n, 0 if box is None else int((np.isfinite(box.lower) & np.isfinite(box.upper)).sum())
        begun, first = time.perf_counter(), own.probe(start)
        if isinstance(first, Failure) or not first.finite:
            why = described(first.error) if isinstance(first, Failure) else f"f = {first.f:g} and h = {first.h}"
            seconds, m = time.perf_counter() - begun, -1 if isinstance(first, Failure) else len(first.h)
            return FirstLook(n, m, bounded, np.empty((0, 1)), why, np.zeros(1, int), seconds, 1)
        again = [own.probe(start, np.array([1 + i])) for i in range(REPEATS)]
        others = [own.probe(x) for x in _beside(box, start)]
        seconds = (time.perf_counter() - begun) / CALLS
        values = np.array([one.stacked for one in (first, *again) if isinstance(one, Evaluation)])
        known = np.array([first.stacked, *(one.stacked for one in others if isinstance(one, Evaluation))])
        return FirstLook(n, len(first.h), bounded, values, "", digits(known, quantum(known, 0.0, True)), seconds, CALLS)


def _beside(box: Box | None, start: Array) -> Array:
    """Return points (k, n) near the start."""
    generator = np.random.default_rng(0)
    width = np.maximum(np.abs(start), 1.0)
    if box is not None:
        width = np.where(np.isfinite(box.upper - box.lower), box.upper - box.lower, width)
    points = start + _BESIDE * width * generator.uniform(-1.0, 1.0, (NEARBY, len(start)))
    return points if box is None else box.project(points)
