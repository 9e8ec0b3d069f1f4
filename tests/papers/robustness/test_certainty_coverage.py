"""The certainty's coverage: what a trial measures, what its table says, and that noise is as its law has it."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.trials import lines_of
from zoviz.papers.robustness.certainty_coverage import CertaintyCoverage, NoisyBox
from zoviz.papers.robustness.certainty_problems import PROBLEMS


def test_a_trial_covers_the_truth_and_the_run_s_own_calls_are_told_apart() -> None:
    line, *_, last = lines_of(CertaintyCoverage(size="quick"))
    assert (line["kind"], line["problem"], line["trials"], line["wrong"]) == ("judged", "single", "2", "0")
    assert float(line["f(x)"]) >= 50.0 and 0.3 < float(line["width f"]) < 3.0 and "alone f*" in line
    assert float(line["few width f"]) > float(line["width f"]) and float(line["few y"]) >= 50.0
    assert 0.0 < float(line["width y"]) < 1.0
    assert last["problem"] == "all judged"


@pytest.mark.parametrize("law", ["normal", "heteroscedastic", "student"])
def test_noise_has_its_law_s_size(law: str) -> None:
    posed = PROBLEMS["tilted"]
    x = np.repeat(posed.start[None], 4000, axis=0)
    noisy = NoisyBox(posed, law, 0.1, posed.start, np.random.default_rng(0))
    spread = (noisy.called(x).y - posed.values(posed.start)).std(axis=0)
    sizes = np.append(1.0, np.linspace(0.5, 2.0, 3)) if law == "heteroscedastic" else np.ones(4)
    assert spread == pytest.approx(0.1 * sizes, rel=0.2)
