"""Every solver and every peer with default parameters on load tracking, without and with noise.

Oracle calls until the reported point has a relative error |f - f*| / f* of at most 5 % or 1 % and violates the
constraint by at most 1 kW, both in the same iteration and both without noise, off the books; then what is reported at
the end. The noise is independent from call to call: normal, with 0.1 % of f* on f and 1 kW on h.

What decides is the error of the reported point, infinite where it violates the constraint by more than 1 kW: a point
that lies v kW outside is cheaper by about lambda* v (31 per kW, 0.13 % of f*), so that the error alone would reward a
violation. The same without a threshold is the loss, (f - f* + lambda* v) / f*: never negative, and 0 at the solution
only. Every method is taken at what it reports: the last iterate, an average, or a peer's best point so far by its own
noisy values. Beside it stands the best feasible point among all that were queried, which under noise nobody can tell
from the others.

    python -m zoviz.papers.load_tracking                          # both tables, hours: COBYLA and NOMAD think long
    python -m zoviz.papers.load_tracking --methods ZOBCEG CMAES   # some of the methods, minutes
    python -m zoviz.papers.load_tracking --case noisy --seconds 600 --slow-replicas 2
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np

from zoviz.problems import LoadTracking
from zoviz.registry import discover
from zoviz.runs.run import Run
from zoviz.solvers import Solver
from zoviz.solvers.peers.base import Peer
from zoviz.types import Array

LEVELS = (0.05, 0.01)
FEASIBLE = 1.0
"""Violation in kW up to which a point counts."""
NOISE_SHARE, NOISE_KILOWATTS = 1e-3, 1.0
"""Standard deviations of the noise: of f as a share of f*, and of h."""
SLOW = ("COBYLA", "COBYQA", "NOMAD")
"""Peers that need 10 ms or more for a call of one replica."""


class Judged(LoadTracking):
    """Load tracking that also measures both requirements at once: at most 1 where both hold."""

    __abstract = True

    def metrics(self, x: Array, y: Array | None, value: object) -> dict[str, Array]:
        """The problem's, and for every level the larger of error / level and violation / 1 kW."""
        measured = super().metrics(x, y, value)
        error, violation = measured["relative_gap"], measured["violation"]
        return measured | {f"joint {level:g}": np.maximum(error / level, violation / FEASIBLE) for level in LEVELS}


def instance(seed: int, n: int, noisy: bool) -> Judged:
    """The problem, noisy or not."""
    problem = Judged(n=n, seed=seed)
    if not noisy:
        return problem
    scale = NOISE_SHARE * abs(problem.known_optimum.value)
    return Judged(n=n, seed=seed, noise="independent", noise_scale=scale, noise_constraint_scale=NOISE_KILOWATTS)


class Outcome(NamedTuple):
    """One method's figures, every array of shape (R,).

    Attributes
    ----------
    hits : tuple of Array
        Calls until each level was met, infinite where it never was.
    error, violation, loss : Array
        Of the reported point at the end; the loss is (f - f* + lambda* violation) / f*.
    best : Array
        Error of the best feasible point that was queried, infinite where there is none.
    calls : Array
    message : str
        How the run ended.
    seconds : float
    """

    hits: tuple[Array, ...]
    error: Array
    violation: Array
    loss: Array
    best: Array
    calls: Array
    message: str
    seconds: float

    @property
    def joint(self) -> Array:
        """The error of the reported point, infinite where it violates by more than 1 kW."""
        return np.where(self.violation <= FEASIBLE, self.error, np.inf)


def solve(method: type[Solver], problem: Judged, replicas: int, calls: int, seconds: float | None = None) -> Outcome:
    """One method with default parameters; seed 0, so that all methods share their starts."""
    targets = {f"joint {level:g}": 1.0 for level in LEVELS}
    run = Run(problem=problem, solver=method(), replicas=replicas, calls=calls, seconds=seconds, targets=targets)
    started = time.perf_counter()
    result = run.run()
    optimum, price = problem.known_optimum.value, problem.known_optimum.multipliers[0]
    return Outcome(
        hits=tuple(np.where(np.isnan(hit.calls), np.inf, hit.calls) for hit in run.hits),
        error=np.abs(result.fun - optimum) / abs(optimum),
        violation=result.maxcv,
        loss=(result.fun - optimum + price * result.maxcv) / abs(optimum),
        best=np.nan_to_num(np.abs(result.best_value - optimum) / abs(optimum), nan=np.inf),
        calls=result.calls,
        message=result.message,
        seconds=time.perf_counter() - started,
    )


def count(hits: Array) -> str:
    """Median of first hits and how many replicas have one."""
    middle, there = np.median(hits), int(np.isfinite(hits).sum())
    return f"{f'{middle:.0f}' if np.isfinite(middle) else '-':>6} ({there}/{hits.size})"


def share(values: Array) -> str:
    """Median in percent; a dash where it is infinite."""
    middle = np.median(values)
    return f"{100.0 * middle:.3g} %" if np.isfinite(middle) else "-"


COLUMNS = {
    "calls to 5 %": 14,
    "calls to 1 %": 14,
    "error": 9,
    "violation": 10,
    "within 1 kW": 11,
    "error within": 12,
    "loss": 9,
    "best queried": 12,
    "calls": 6,
}
"""Heads and widths."""


def line(name: str, found: Outcome) -> str:
    """One row of the table."""
    inside = int((found.violation <= FEASIBLE).sum())
    cells = (
        *(count(hits) for hits in found.hits),
        share(found.error),
        f"{np.median(found.violation):.2f} kW",
        f"{inside}/{found.error.size}",
        share(found.joint),
        share(found.loss),
        share(found.best),
        f"{np.median(found.calls):.0f}",
    )
    return f"{name:>13} " + " ".join(f"{cell:>{width}}" for cell, width in zip(cells, COLUMNS.values(), strict=True))


def table(
    methods: dict[str, type[Solver]], problem: Judged, replicas: tuple[int, int], calls: int, seconds: float | None
) -> dict[str, Outcome]:
    """Run and print the methods one after the other; ``replicas`` are those of fast and of slow ones."""
    print(f"{'method':>13} " + " ".join(f"{head:>{width}}" for head, width in COLUMNS.items()))
    outcomes = {}
    for name, method in methods.items():
        reason = method().accepts(problem)
        if reason is not None:
            print(f"{name:>13} left out: {reason}", flush=True)
            continue
        found = outcomes[name] = solve(method, problem, replicas[name in SLOW], calls, seconds)
        early = "" if np.median(found.calls) > 0.9 * calls else f"  {found.message}"
        print(f"{line(name, found)}  {found.seconds:.0f} s{early}", flush=True)
    return outcomes


def compare(mine: Array, its: Array) -> str:
    """Medians of two methods, and in how many of their common replicas the first is smaller and larger."""
    common = min(mine.size, its.size)
    a, b = mine[:common], its[:common]
    return f"{share(mine)} against {share(its)}, smaller in {(a < b).sum()} and larger in {(a > b).sum()} of {common}"


MEASURES = {"joint": "error within 1 kW", "loss": "loss", "best": "best feasible point queried"}


def verdicts(outcomes: dict[str, Outcome], peers: set[str]) -> dict[str, list[str]]:
    """Print, for every measure, our best default beside every peer; returns the peers that it does not beat.

    A peer is beaten where our median is the smaller one.
    """
    ours, lost = [name for name in outcomes if name not in peers], {}
    for measure, words in MEASURES.items():
        values = {name: getattr(found, measure) for name, found in outcomes.items()}
        if not ours:
            continue
        best = min(ours, key=lambda name: np.median(values[name]))
        print(f"{words}: our best default is {best} with {share(values[best])}")
        lost[measure] = []
        for name in outcomes:
            if name in peers:
                beaten = bool(np.median(values[best]) < np.median(values[name]))
                lost[measure] += [] if beaten else [name]
                print(f"  {name:>11} {'beaten' if beaten else 'NOT beaten'}: {compare(values[best], values[name])}")
    return lost


def main() -> None:
    """Print the tables and the verdicts."""
    everything = discover("zoviz.solvers", Solver)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=list(everything), choices=list(everything), metavar="CLASS")
    parser.add_argument("--case", nargs="+", default=["noiseless", "noisy"], choices=["noiseless", "noisy"])
    parser.add_argument("--instance", type=int, default=0, help="seed of a, b, u and gamma")
    parser.add_argument("--n", type=int, default=100, help="users")
    parser.add_argument("--calls", type=int, default=20_000, help="budget of oracle calls per replica")
    parser.add_argument("--replicas", type=int, default=20)
    parser.add_argument("--slow-replicas", type=int, default=20, help=f"replicas of {', '.join(SLOW)}")
    parser.add_argument("--seconds", type=float, help="computing time per method; what it cuts short says so")
    options = parser.parse_args()
    methods = {name: everything[name] for name in options.methods}
    methods = dict(sorted(methods.items(), key=lambda item: issubclass(item[1], Peer)))
    peers = {name for name, method in methods.items() if issubclass(method, Peer)}
    for case in options.case:
        problem = instance(options.instance, options.n, case == "noisy")
        print(f"\n{case}: f* = {problem.known_optimum.value:.6g}, instance {options.instance}")
        replicas = options.replicas, options.slow_replicas
        verdicts(table(methods, problem, replicas, options.calls, options.seconds), peers)


if __name__ == "__main__":
    main()
