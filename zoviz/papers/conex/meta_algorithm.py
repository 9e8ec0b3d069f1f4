"""Paper conex, Proposition 3.1: SZO-ConEX inside of proximal-point stages on nonconvex problems.

The claim is a KKT point after calls of order n / eps^3: residuals of order T^(-1/3) of the steps. Beside it stands
SZO-ConEX alone. Estimates are of ten directions, shared by the functions, else noise hides both.
"""

from __future__ import annotations

from zoviz.papers.conex.methods import OURS, conex
from zoviz.papers.proximal_stages import BENT, CONCAVE, StagesExperiment
from zoviz.solvers.saddle.szo_conex import SZOConEX

RADIUS, DIRECTIONS = 1e-6, 10


def _published() -> SZOConEX:
    return conex(RADIUS, DIRECTIONS, directions="shared")


class MetaAlgorithm(StagesExperiment):
    """Proposition 3.1: residuals with stages and without."""

    title = "conex Proposition 3.1"
    subject = "Residuals of SZO-ConEX against steps T, inside of proximal-point stages and alone"
    printed = "Calls of order (m + 1) n / eps^3 to an eps-KKT point; no figures."
    protocol = (
        "Residual of stationarity at the end over the start's, n = 10, drawn instances and starts, stages of 20 steps, "
        "ten shared directions; every step by the method's rule."
    )
    sizes = {
        "quick": {"cases": [CONCAVE], "horizons": [100, 400], "instances": 3},
        "full": {"cases": [CONCAVE, BENT], "horizons": [100, 180, 300, 520, 920, 1600], "instances": 8},
    }
    place = "Proposition 3.1"
    inner = {OURS: (-1.0 / 3.0, _published)}
