"""Tables in cells: numbers in four digits, text as text, and no more lines than a cell has room for."""

from __future__ import annotations

import numpy as np

from zoviz import Run
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOSPLM
from zoviz.views.notebook.tables import MOST_LINES, result_html, table_html, trial_html


def test_cells_are_text_numbers_short_and_what_is_missing_empty() -> None:
    text = table_html([{"a<b": 0.123456, "name": "<i>"}, {"name": "x", "n": 12345, "gap": float("nan")}], "R & D")
    assert "<div>R &amp; D</div>" in text and "<th>a&lt;b</th><th>name</th><th>n</th><th>gap</th>" in text
    assert "<td>0.1235</td><td>&lt;i&gt;</td><td></td><td></td>" in text
    assert "<td></td><td>x</td><td>12,345</td><td></td>" in text


def test_a_long_table_is_cut_and_says_so() -> None:
    text = table_html([{"row": i} for i in range(MOST_LINES + 3)])
    assert text.count("<tr>") == MOST_LINES + 1 and "… and 3 more lines." in text


def test_a_result_has_a_line_for_each_replica() -> None:
    result = Run(NonconvexQCQP(n=3), ZOSPLM(), replicas=2, iterations=3).run()
    text = result_html(result)
    assert text.count("<tr>") == 3 and "Finished after 3 iterations." in text
    assert f"<td>{np.float64(result.fun[1]):.4g}</td>" in text


def test_a_trial_has_a_line_for_each_remedy_and_says_which_is_best() -> None:
    run = Run(NonconvexQCQP(n=3), ZOSPLM(primal_step=1e-9, dual_step=1e-9), replicas=1, iterations=10)
    run.run()
    trial = run.try_remedies(40)
    text = trial_html(trial)
    assert text.count("<tr>") == 1 + len(trial.outcomes) and trial.price in text
    assert "<td>one replica cannot tell</td>" in text and "inf" not in text and "No remedy is clearly better" in text
