"""The table of paper splm: what is printed where replicas did not get there."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.splm.table_2 import report


def test_a_mean_over_replicas_of_which_one_had_no_hit_is_infinite(capsys: pytest.CaptureFixture[str]) -> None:
    report(50, "0", np.array([40.0, 50.0, np.nan]), "")
    line = capsys.readouterr().out
    assert line.split()[2] == "inf" and "1 of 3 replicas did not get there" in line
    report(50, "0", np.array([40.0, 50.0, 60.0]), "")
    assert capsys.readouterr().out.split()[2:4] == ["50.0", "5.77"]
