"""Paper sogd, Examples B.9 to B.11: sums of variations that stay bounded as T grows.

V_T sums the largest changes of f_t over x in [-1, 1]^n from round to round, H_{2,T} the squared ones of y*_t. A sum is
called bounded where what the last tenfold of rounds adds is less than half of what the tenfold before it did: a
convergent sum of powers does so, and one that grows does not. Beside each stream stands the same whose coefficients go
to and fro instead of falling. The drift of QuadraticBilevel, which is ours, is judged the same way.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from zoviz.core.types import Array
from zoviz.papers.sogd.windows import variations
from zoviz.problems import QuadraticBilevel
from zoviz.studies.experiment import Claim, Experiment, Figures, Measured, Table, array, plain
from zoviz.studies.verdict import Evidence

FALLING, TO_AND_FRO = "as printed", "coefficients to and fro"
SLOW, RAPID = "slow drift", "rapid drift"
OURS = "QuadraticBilevel"
SHARE = 0.5
"""Of what the tenfold before added."""
GRID = np.linspace(-1.0, 1.0, 201)
"""Over which a largest change is looked for."""


def coefficients(rounds: int, power: float, falling: bool) -> Array:
    """Return t^-power for t = 1, ..., T, or 1 and 1/2 in turn, (T,)."""
    t = np.arange(1.0, rounds + 1.0)
    return t**-power if falling else np.where(t % 2.0 == 0.0, 0.5, 1.0)


def example_9(rounds: int, falling: bool) -> dict[str, float]:
    """Return V_T of f_t = ||A_t x - (1, 1)||^2 with A_t = diag(1, 1 + 1 / t), whose changes depend on x_2 only."""
    scale = 1.0 + coefficients(rounds, 1.0, falling)
    values = np.square(scale[:, None] * GRID - 1.0)
    return {"V_T": float(np.abs(np.diff(values, axis=0)).max(axis=1).sum())}


def example_10(rounds: int, falling: bool) -> dict[str, float]:
    """Return V_T of f_t linear along -e_1 / T and -e_2 / T in turn, on the unit ball; to and fro without 1 / T."""
    return {"V_T": (rounds - 1.0) * np.sqrt(2.0) / (rounds if falling else 1.0)}


def example_11(rounds: int, falling: bool) -> dict[str, float]:
    """Return V_T and H_{2,T} of F_t = (x + 2 a)^2 / 2 + (x - 2 b)^2 / 2 with a = 1 / t, b = t^(-1/2), y* = x - b."""
    a, b = (coefficients(rounds, power, falling)[:, None] for power in (1.0, 0.5))
    values = 0.5 * np.square(GRID + 2.0 * a) + 0.5 * np.square(GRID - 2.0 * b)
    changes = np.abs(np.diff(values, axis=0)).max(axis=1)
    return {"V_T": float(changes.sum()), "H_2,T": float(np.square(np.diff(b[:, 0])).sum())}


EXAMPLES = {"Example B.9": example_9, "Example B.10": example_10, "Example B.11": example_11}


class PathLengths(Experiment):
    """Examples B.9 to B.11: sums of variations against T."""

    title = "sogd Examples B.9 to B.11"
    subject = "Path lengths V_T and H_2,T of three streams, and of QuadraticBilevel's, against T"
    printed = "V_T and, in B.11, H_2,T of order 1; no figures."
    protocol = "Sums over rounds of the largest changes over a grid of 201 x; nothing is drawn in the examples."
    sizes = {
        "quick": {"rounds": [100, 1000, 10_000], "seeds": [0]},
        "full": {"rounds": [100, 1000, 10_000, 100_000], "seeds": [0, 1, 2]},
    }

    def parts(self) -> list[str]:
        own = [f"{OURS} {seed}" for seed in self.settings["seeds"]]
        pairs = [(case, (FALLING, TO_AND_FRO)) for case in EXAMPLES] + [(case, (SLOW, RAPID)) for case in own]
        return [f"{case} / {method}" for case, methods in pairs for method in methods]

    def measure(self, part: str) -> Figures:
        """Return the sums at every T, by their names."""
        case, method = part.split(" / ")
        sums = [self._sums(case, method, rounds) for rounds in self.settings["rounds"]]
        return {name: plain(np.array([row[name] for row in sums])) for name in sums[0]}

    def _sums(self, case: str, method: str, rounds: int) -> dict[str, float]:
        if case in EXAMPLES:
            return EXAMPLES[case](rounds, method == FALLING)
        drift: Any = method.split()[0]
        problem = QuadraticBilevel(n=3, d=3, seed=self.seed(int(case.split()[1])), drift=drift)
        return dict(zip(("H_2,T", "D_T", "G_T"), variations(problem, rounds), strict=True))

    def claims(self) -> list[Claim]:
        place = "Examples B.9 to B.11"
        out = [
            Claim(place, f"path lengths of {case} are bounded", partial(path_is_bounded, case), FALLING, TO_AND_FRO)
            for case in EXAMPLES
        ]
        return out + [
            Claim(
                place,
                f"(ours) path lengths of {OURS}, instance {seed}, are",
                partial(path_is_bounded, f"{OURS} {seed}"),
                SLOW,
                RAPID,
            )
            for seed in self.settings["seeds"]
        ]

    def tables(self, measured: Measured) -> list[Table]:
        rows = [
            (*part.split(" / "), name, ", ".join(f"{value:.4g}" for value in values))
            for part, one in measured.items()
            for name, values in one.items()
        ]
        heads = ("Stream", "Coefficients", "Sum", f"At T = {', '.join(map(str, self.settings['rounds']))}")
        return [Table("Path lengths", heads, rows)]


def path_is_bounded(case: str, measured: Measured, method: str) -> Evidence:
    """Test that what the last tenfold of rounds adds is less than half of what the one before did."""
    shares = {}
    for name, values in measured[f"{case} / {method}"].items():
        *_, before, last = np.diff(array(values))
        shares[name] = last / before
    text = ", ".join(f"{name}: {share:.2g} times" for name, share in shares.items())
    margins = SHARE - np.array([*shares.values()])[:, None]
    return Evidence(margins, f"the last tenfold adds {text}", {method: 1.0}, exact=True)
