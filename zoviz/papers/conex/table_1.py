"""Paper conex, Table 1: effective sample sizes of Hamiltonian Monte Carlo as methods tune it, at equal calls.

Generated data of German credit's shape, 2000 gradients a chain in place of the paper's five minutes of a machine:
sizes cannot be compared with the printed ones, their order can. ``zoviz.papers.conex.tuning`` says how methods are
tuned, what their answers are and how they are judged; the loss is the mean of -ln(ESS / 100), of which 0.05 matters,
5 % of the size.

    python -m zoviz.papers.conex.table_1                                        # hours, most of it Bayesian models
    python -m zoviz.papers.conex.table_1 --trials 3 --search 0 --calls 40       # a minute or two
    python -m zoviz.papers.conex.table_1 --only "SZO-ConEX" "SZO-ConEX, θ = 0"  # some minutes
"""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array
from zoviz.papers.conex.methods import OURS
from zoviz.papers.conex.tuning import Measured, Task, run
from zoviz.problems.learning.hmc_tuning import LEAST_SIZE, UNIT_SIZE, HMCTuning

PUBLISHED = {
    "ALBO": "94 000 ± 924",
    "Slack-AL": "93 000 ± 982",
    "ADMMBO": "94 000 ± 884",
    "PESC-lite": "99 000 ± 998 (PESC)",
    OURS: "108 000 ± 992",
}


def measured(problem: HMCTuning, x: Array, fresh: int) -> Measured:
    """Return the effective sample sizes of fresh trials at x (4,), with objectives and constraints."""
    outcomes = problem.trials(x, fresh, seed=1)
    limits = np.array([problem.score_limit, problem.reduction_limit])
    h = np.log(np.maximum(np.stack([outcomes.score, outcomes.reduction], axis=1), 1e-3) / limits)
    return Measured(outcomes.size, -np.log(np.maximum(outcomes.size, LEAST_SIZE) / UNIT_SIZE), h)


TASK = Task(
    title="Table 1",
    merit="ESS",
    problem=lambda instance: HMCTuning(seed=instance),
    measure=measured,
    radius=0.05,
    steps=((7e-4, 3.5e-3), (0.02, 0.1)),
    least=0.05,
    unit="",
    published=PUBLISHED,
)


if __name__ == "__main__":
    run(TASK, __doc__)
