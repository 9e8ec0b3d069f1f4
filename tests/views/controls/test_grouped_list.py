"""The lists of problems and solvers: in groups, in which everything stands somewhere."""

from __future__ import annotations

import pytest

from zoviz.problems import NonconvexQCQP
from zoviz.problems.families import FAMILIES, problem_group
from zoviz.solvers import ZOSPLM
from zoviz.views.controls.grouped_list import METHODS, grouped, solver_group
from zoviz.views.controls.picker import Picker

# Panel's Material widgets of Panel's
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


class Mine(NonconvexQCQP):
    """A problem of a user's."""

    __abstract = True


def test_every_problem_and_solver_stands_in_a_group_of_its_kind() -> None:
    picker = Picker()
    problems = grouped(picker.problems, lambda title: problem_group(picker.problems[title]))
    solvers = grouped(picker.solvers, lambda title: solver_group(picker.solvers[title]))
    assert set(problems) <= {*FAMILIES.values(), "Online bilevel"} and set(solvers) == set(METHODS.values())
    assert len(problems["Online bilevel"]) == 5 and "Welded beam design" in problems["Engineering design"]
    assert {"ZOSQP", "AL-SPG", "Portfolio"} == set(solvers["General black boxes"])
    assert problem_group(Mine()) == "Quadratic" and solver_group(ZOSPLM()) == "Zeroth-order, constrained"


def test_the_lists_follow_the_picker_and_the_picker_the_lists() -> None:
    picker = Picker()
    problem, _, solver = picker.__panel__()[:3]
    assert (problem.value, solver.value) == ("Nonconvex QCQP", "ZO-SPLM") and problem.searchable
    problem.value = "Quadratic online bilevel"
    picker.suggest()
    assert picker.problem_name == "Quadratic online bilevel" and solver.value == picker.solver_name == "ZO-SOGD"
    assert "Online bilevel" in solver.groups and "Linear constraints" not in solver.groups
    picker.pick("Nonconvex QCQP", "ZOSQP")
    assert (problem.value, solver.value) == ("Nonconvex QCQP", "ZOSQP")
    picker.lock(True)
    assert problem.disabled and solver.disabled
