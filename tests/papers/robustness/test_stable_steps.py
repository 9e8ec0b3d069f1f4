"""Steps within the stable end do not diverge, and far beyond it they do: a few instances of the study's hundred."""

from __future__ import annotations

import pytest

from zoviz.papers.robustness.stable_steps import EXACT, KINDS, StableSteps, diverges, instance


@pytest.mark.parametrize("name", EXACT)
def test_within_the_stable_end_nothing_diverges_and_far_beyond_it_all_does(name: str) -> None:
    chosen = [one for kind in KINDS if (one := instance(kind, 0, name)) is not None]
    assert chosen and not any(diverges(problem, 0.9, name) for problem in chosen)
    assert all(diverges(problem, 4.0, name) for problem in chosen)


def test_the_table_has_shares_by_step_and_leaves_out_what_a_method_refuses() -> None:
    study = StableSteps(only={"solver": ("ZOSPLM",), "factor": (0.9, 4.0), "problem": ("ConexQCQP",), "seed": (0, 1)})
    measured = {part: {"diverges": "4.0" in part} for part in study.parts()} | {study.parts()[0]: {"diverges": None}}
    (table,) = study.tables(measured)
    assert table.rows == [("ZOSPLM", "0", "100")]
