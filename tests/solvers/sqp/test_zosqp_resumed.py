"""A resumed run of ZOSQP: its state has views with strides, and products with them must stay what they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz import Run, Store
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.solvers import ZOSQP


def box(keep: str = "") -> BlackBox:
    generator = np.random.default_rng(6)
    a, c = generator.standard_normal((6, 6)), generator.standard_normal(6)

    def both(x: Array) -> tuple[float, list[float]]:
        f = np.log1p(np.exp(a @ x)).sum() + 0.1 * (x**4).sum() + c @ x
        return float(f), [(1.0 - float(x @ x)) * (-1.0 if keep else 1.0), float(np.sin(x).sum()) - 0.3]

    return BlackBox(
        both, bounds=[(-3.0, 3.0)] * 6, x0=np.full(6, 0.5 if not keep else -0.3), joint=True, m=2, keep=keep
    )


@pytest.mark.parametrize("keep", ["", "while searching"])
def test_a_run_that_is_stopped_and_resumed_anywhere_ends_as_one_that_is_not(tmp_path: Path, keep: str) -> None:
    whole = Run(box(keep), ZOSQP(), replicas=1, calls=160, seed=0)
    whole.run()
    with Store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        for calls in (15, 20, 60):
            part = Run(box(keep), ZOSQP(), replicas=1, calls=160, seed=0, store=store)
            part.run(lambda part=part, calls=calls: part.stop() if part.progress.calls >= calls else None)
            assert part.status == "stopped"
            rest = store.load(part.id).resume(problem=box(keep))
            rest.run()
            np.testing.assert_array_equal(rest.trace["objective"], whole.trace["objective"], err_msg=f"{calls} calls")
