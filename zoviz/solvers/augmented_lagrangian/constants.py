"""The constants of AL-SPG: a name, a value, and what it is or where it is from; ours where no source is named."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ALConstants:
    """Every choice of the method that no parameter makes; ``ALSPG(constants={"inner": 20})`` makes another one."""

    # Line search
    decrease: float = 1e-4  # share of the slope that a step must gain (Armijo)
    shortest: float = 1e-12  # fraction of a direction below which the search has failed
    first_move: float = 0.1  # length of the first step, relative to max(1, |x|)
    wider: float = 10.0  # how much longer than the one before a step may be
    unbounded: float = 1e10  # an augmented Lagrangian below minus this number of first lengths has no minimum

    # Multipliers and penalty, in equilibrated units
    penalty_share: float = 10.0  # the first penalty: times the objective's slope at the violation, or slack, at first
    largest_penalty: float = 1e12  # the safeguards of Andreani, Birgin, Martínez and Schuverdt (2007)
    largest_multiplier: float = 1e8
    first_tolerance: float = 1e-2  # Newton decrement, in first lengths, at which an inner problem counts as solved,
    last_tolerance: float = 1e-14  # in the end,
    tighter: float = 0.1  # and the ratio of one to the one before
    inner: int = 50  # steps after which the multipliers move although the inner problem is not solved

    # Noise
    repeats: int = 7  # further calls at the start that tell it
    shortest_difference: float = 1e-3  # first lengths of differences, relative to max(1, |x|), whatever the noise
    longest_difference: float = 0.25
    change: float = 3.0  # most that one sweep changes a length by
    signal: float = 2.0  # length in units of sqrt(sigma / curvature): forward ones bear 1.7 (Moré and Wild 2012)
    share: float = 0.5  # variance over square of the gradient from which batches grow, theta^2 of Byrd, Chin, ... 2012
    growth: float = 1.6  # ratio by which they grow,
    rounds: float = 8.0  # and sweeps that the rest of the budget must cover with the larger ones


STANDARD = ALConstants()
