"""A table of every solver and every peer with default parameters on load tracking, without and with noise.

Oracle calls until the reported point has a relative error |f - f*| / f* of at most 5 % or 1 % and violates the
constraint by at most 1 kW, both in the same iteration and both without noise, off the books; then what is reported at
the end. The noise is independent from call to call: normal, with 0.1 % of f* on f and 1 kW on h.

What decides is the error of the reported point, infinite where it violates the constraint by more than 1 kW: a point
that lies v kW outside is cheaper by about lambda* v (31 per kW, 0.13 % of f*), so that the error alone would reward a
violation. The same without a threshold is the loss, (f - f* + lambda* v) / f*: never negative, and 0 at the solution
only. Every method is taken at what it reports: the last iterate, an average, or a peer's best point so far by its own
noisy values. Beside it stands the best feasible point among all that were queried, which under noise nobody can tell
from the others.

``--shown`` says what the methods see: the problem with its constants (told), which our step sizes and the peers'
difference steps are made of; without (untold), as with a user's black box, so that they are measured by charged calls;
and also in units of its box and its first values (scaled), as ``minimize`` shows a user's. Its curvatures are alike in
kW (2a between 1 and 3) and far apart in units of the box (2a u^2).

With 20 replicas of instance 0 and 20,000 calls: under noise, told, ZOBCEG has the least loss, 0.165 %, against 0.298 %
of CMA-ES, the best peer (smaller by 0.145 % +- 0.037 % on average), and ends within 1 kW in 18 replicas against 1; by
the best point queried both are even, 0.242 % and 0.243 %. Untold, ours have
0.116 % (ZOCEG) against 0.316 %, and end within 1 kW in 18 replicas against 2; scaled, 0.094 % (ZOBCEG) against 0.342 %.
Those tables are one draw of what is measured at the start; ``zoviz.papers.robustness.noisy_load_tracking`` has many.
NOMAD ends at 36 % (told), the other peers at 1.7 % (trust-constr) and more.

Without noise peers win: to 1 %, COBYLA takes 230 calls, SLSQP 355, trust-constr 1111, and ours 3233 (ZOCEG); scaled,
COBYQA takes 217, and ours 5637 (ZO-SPLM).

    python -m zoviz.papers.zoeg.load_tracking --jobs 2                 # both tables, half an hour at most for a method
    python -m zoviz.papers.zoeg.load_tracking --methods ZOBCEG CMAES   # some of the methods, minutes
    python -m zoviz.papers.zoeg.load_tracking --case noisy --shown scaled --seconds 600

A method is cut short after ``--seconds``, all its replicas together, and the table says so. Without noise a slow peer
ends where all its replicas have met both levels.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from zoviz.core.registry import discover
from zoviz.core.types import Array, Evaluation, ExactValues
from zoviz.papers.zoeg.load_tracking_table import (
    AT_THE_END,
    COLUMNS,
    FEASIBLE,
    LEVELS,
    ON_THE_WAY,
    Outcome,
    line,
    share,
    verdicts,
)
from zoviz.problems import LoadTracking
from zoviz.runs.engine.columns import RELATIVE_GAP, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers import Solver

NOISE_SHARE, NOISE_KILOWATTS = 1e-3, 1.0
"""Standard deviations of the noise: of f as a share of f*, and of h."""
SLOW = ("CMAES", "COBYLA", "NOMAD", "COBYQA")
"""Peers that think for 1 ms or more about a call of one replica, the fastest first: what comes last in a table."""
SECONDS = 1800.0
"""Computing time that a method gets in a table, all its replicas together."""


class Judged(LoadTracking):
    """Load tracking with one more measure: error and violation over their levels, the larger of both."""

    __abstract = True

    def metrics(
        self, x: Array, y: Array | None, value: Evaluation | None, exact: ExactValues | None = None
    ) -> dict[str, Array]:
        """Return the problem's measures (R,), and for every level the larger of error / level and violation / 1 kW."""
        measured = super().metrics(x, y, value, exact)
        error, violation = measured[RELATIVE_GAP], measured[VIOLATION]
        return measured | {f"joint {level:g}": np.maximum(error / level, violation / FEASIBLE) for level in LEVELS}


class Untold(Judged):
    """Load tracking that hides its curvatures and slopes, as a user's black box does, so that they are measured."""

    __abstract = True

    @property
    def constants(self) -> None:
        """None, so that solvers measure the constants."""
        return None


VIEWS: dict[str, type[Judged]] = {"told": Judged, "untold": Untold, "scaled": Untold}
"""How methods see the problem: with its constants; without; and also in units of its box and its first values."""


def instance(seed: int, n: int, noisy: bool, view: str = "told") -> Judged:
    """Return load tracking of n users, with or without noise, in one of the views of ``VIEWS``."""
    problem = VIEWS[view](n=n, seed=seed, scaled=view == "scaled")
    if noisy:
        problem.noise, problem.noise_constraint_scale = "independent", NOISE_KILOWATTS
        problem.noise_scale = NOISE_SHARE * abs(problem.known_optimum.value)
    return problem


def losses(values: Array, violation: Array, problem: Judged) -> Array:
    """Return the losses (f - f* + lambda* v) / f*, of any shape, of values f and violations v in kW, without noise."""
    optimum = problem.known_optimum
    return (values - optimum.value + optimum.multipliers[0] * violation) / abs(optimum.value)


def solve(
    method: type[Solver],
    problem: Judged,
    replicas: int,
    calls: int,
    seconds: float | None = None,
    until_hit: bool = False,
) -> Outcome:
    """Run one method with default parameters; seed 0, so that all methods share their starts.

    ``until_hit``: end once every replica has met both levels.
    """
    targets = {f"joint {level:g}": 1.0 for level in LEVELS}
    run = Run(
        problem=problem,
        solver=method(),
        replicas=replicas,
        calls=calls,
        seconds=seconds,
        targets=targets,
        stop_at_targets=until_hit,
    )
    started = time.perf_counter()
    result = run.run()
    optimum = problem.known_optimum.value
    return Outcome(
        hits=tuple(np.where(np.isnan(hit.calls), np.inf, hit.calls) for hit in run.hits),
        error=np.abs(result.fun - optimum) / abs(optimum),
        violation=result.violation,
        loss=losses(result.fun, result.violation, problem),
        best=np.nan_to_num(np.abs(result.best_fun - optimum) / abs(optimum), nan=np.inf),
        calls=result.calls,
        message=result.message,
        seconds=time.perf_counter() - started,
    )


def table(
    methods: dict[str, type[Solver]],
    problem: Judged,
    replicas: tuple[int, int],
    calls: int,
    seconds: float | None,
    jobs: int = 1,
) -> dict[str, Outcome]:
    """Run the methods and print a row each; ``replicas`` is for fast and slow ones, ``jobs`` the number of processes.

    Without noise a slow one ends where all its replicas have met both levels.
    """
    print(f"{'method':>13} " + " ".join(f"{head:>{width}}" for head, width in COLUMNS.items()))
    reasons = {name: method().accepts(problem) for name, method in methods.items()}
    for name, reason in reasons.items():
        if reason is not None:
            print(f"{name:>13} left out: {reason}", flush=True)
    names = [name for name, reason in reasons.items() if reason is None]
    quiet = problem.noise == "deterministic"
    work = {name: (methods[name], replicas[name in SLOW], quiet and name in SLOW) for name in names}
    one = partial(_solve, problem, calls, seconds)
    if jobs == 1:
        return _printed(names, map(one, work.values()), calls)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        return _printed(names, pool.map(one, work.values()), calls)


def _solve(problem: Judged, calls: int, seconds: float | None, work: tuple[type[Solver], int, bool]) -> Outcome:
    method, replicas, until_hit = work
    return solve(method, problem, replicas, calls, seconds, until_hit)


def _printed(names: list[str], results: Iterable[Outcome], calls: int) -> dict[str, Outcome]:
    """Print every row as soon as its result is there; return the outcomes by name."""
    outcomes = {}
    for name, outcome in zip(names, results, strict=True):
        outcomes[name] = outcome
        early = "" if np.median(outcome.calls) > 0.9 * calls else f"  {outcome.message}"
        print(f"{line(name, outcome)}  {outcome.seconds:.0f} s{early}", flush=True)
    return outcomes


def main() -> None:
    """Print the table of methods on load tracking, and the comparison with other libraries."""
    everything = discover("zoviz.solvers", Solver)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=list(everything), choices=list(everything), metavar="CLASS")
    parser.add_argument("--case", nargs="+", default=["noiseless", "noisy"], choices=["noiseless", "noisy"])
    parser.add_argument("--shown", default="told", choices=list(VIEWS), help="what methods see of the problem")
    parser.add_argument("--instance", type=int, default=0, help="seed of a, b, u and gamma")
    parser.add_argument("--n", type=int, default=100, help="users")
    parser.add_argument("--calls", type=int, default=20_000, help="budget of oracle calls per replica")
    parser.add_argument("--replicas", type=int, default=20)
    parser.add_argument("--slow-replicas", type=int, default=20, help=f"replicas of {', '.join(SLOW)}")
    words = f"computing time of a method, all replicas together, default {SECONDS:g}; what it cuts short says so"
    parser.add_argument("--seconds", type=float, default=SECONDS, help=words)
    parser.add_argument("--jobs", type=int, default=1, help="methods to run at once, each in a process of its own")
    options = parser.parse_args()
    late = {name: 2 + i for i, name in enumerate(SLOW)}
    order = sorted(options.methods, key=lambda name: late.get(name, everything[name].external))
    methods = {name: everything[name] for name in order}
    peers = {name for name, method in methods.items() if method.external}
    for case in options.case:
        noisy = case == "noisy"
        problem = instance(options.instance, options.n, noisy, options.shown)
        noise = f", noise of {share(NOISE_SHARE)} of f* and {NOISE_KILOWATTS:g} kW" if noisy else ""
        print(f"\n{case}{noise}, {options.shown}: f* = {problem.known_optimum.value:.6g}, instance {options.instance}")
        replicas = options.replicas, options.slow_replicas
        outcomes = table(methods, problem, replicas, options.calls, options.seconds, options.jobs)
        verdicts(outcomes, peers, ON_THE_WAY | AT_THE_END if noisy else ON_THE_WAY)


if __name__ == "__main__":
    main()
