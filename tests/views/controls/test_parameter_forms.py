"""Forms of solvers: the fields of two parts with the same labels have their part's name above them."""

from __future__ import annotations

import panel as pn
import pytest

from zoviz.solvers import ZOSOGD, ZOSPLM
from zoviz.solvers.base import Solver
from zoviz.views.controls.parameter_forms import SolverForm

# Panel's Material widgets of Panel's
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


@pytest.mark.parametrize(
    ("solver", "headings"),
    [(ZOSPLM(), ["Structure"]), (ZOSOGD(), ["Estimator in y", "Estimator in x", "Structure"])],
)
def test_fields_of_the_same_name_stand_below_the_name_of_their_part(solver: Solver, headings: list[str]) -> None:
    texts = [str(pane.object) for pane in SolverForm(solver).__panel__().select(pn.pane.HTML)]
    shown = [text.partition(">")[2].partition("<")[0] for text in texts if "uppercase" in text]
    assert shown[: len(headings)] == headings
