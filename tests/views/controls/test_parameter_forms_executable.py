"""Nothing that a browser sends names a program, a file or a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz.problems import Executable
from zoviz.solvers import ZOSPLM
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.controls.parameter_forms import ProblemForm
from zoviz.views.controls.picker import Picker

DANGEROUS = {
    "command",
    "format",
    "output_types",
    "folder",
    "log_folder",
    "workers",
    "bounds",
    "x0",
    "retries",
    "timeout",
}


def made(folder: Path) -> Executable:
    return Executable("echo 1 2", bounds=[(-1.0, 1.0)] * 2, m=1, folder=folder, log_folder=folder, timeout=5.0)


def test_no_widget_names_a_program_or_a_file(tmp_path: Path) -> None:
    problem = made(tmp_path)
    form = ProblemForm(problem)
    fields = form.fields
    assert not DANGEROUS & fields.keys() and {"optimal_value", "noise"} <= fields.keys()
    texts = {name for name, field in fields.items() if isinstance(field.value, (str, list, tuple))}
    assert texts <= {"noise", "noise_distribution", "keep"}, "choices from a list, and names of constraints"
    for name, value in {"command": "ls", "format": "json", "folder": ".", "log_folder": ".", "workers": 2}.items():
        with pytest.raises(TypeError, match="Constant parameter"):
            setattr(problem, name, value)


def test_the_list_offers_no_program_but_the_one_of_whoever_started_the_server(tmp_path: Path) -> None:
    assert not [problem for problem in Picker().problems.values() if isinstance(problem, Executable)]
    offered = Picker(own_problem=made(tmp_path))
    assert [title for title, one in offered.problems.items() if isinstance(one, Executable)] == ["Program (yours)"]
    assert "ZO-SPLM" in offered.solvers and offered.problem.title == "Program"


def test_the_dashboard_takes_it(tmp_path: Path) -> None:
    dashboard = Dashboard(problem=made(tmp_path), solver=ZOSPLM(primal_step=1e-3))
    problem = dashboard.form.picker.problem
    assert problem.evaluate(np.zeros((1, 2))).f[0] == 1.0 and problem.printed[0].output == "1 2\n"
