"""How long a step takes, for comparisons of methods on a machine that has other things to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from zoviz.runs.run import Run


def paces(makers: Mapping[str, Callable[[], Run]], repeats: int = 5) -> dict[str, float]:
    """Seconds of one step of each method: the least of several short runs, one method after the other in each turn.

    What else the machine does makes a run longer, never shorter, and comes over all methods alike.

    Parameters
    ----------
    makers : mapping of str to callable
        Each makes a new run of a few iterations.
    repeats : int
        Turns.
    """
    found = dict.fromkeys(makers, float("inf"))
    for _ in range(repeats):
        for name, make in makers.items():
            run = make()
            run.run()
            # From the first row on: what a start costs is no step.
            seconds, steps = run.trace["seconds"], run.trace["iteration"]
            found[name] = min(found[name], float((seconds[-1] - seconds[0]) / (steps[-1] - steps[0])))
    return found
