"""The lists of problems and solvers: in groups, in which everything stands somewhere."""

from __future__ import annotations

from zoviz.problems import NonconvexQCQP
from zoviz.problems.families import FAMILIES, problem_group
from zoviz.solvers import ZOSPLM
from zoviz.views.common.search_list import SearchList, grouped
from zoviz.views.controls.picker import Picker
from zoviz.views.controls.solver_groups import METHODS, solver_group


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
    problem, solver = (one for one in picker.__panel__() if isinstance(one, SearchList))
    assert (problem.shown, solver.shown) == ("Nonconvex QCQP", "ZO-SPLM")
    problem.receive({"seq": 1, "title": "Quadratic online bilevel"})
    picker.suggest()
    assert picker.problem_name == "Quadratic online bilevel" and solver.shown == picker.solver_name == "ZO-SOGD"
    groups = dict(solver.spec["groups"])
    assert "Online bilevel" in groups and "Linear constraints" not in groups
    picker.pick("Nonconvex QCQP", "ZOSQP")
    assert (problem.spec["value"], solver.spec["value"]) == ("Nonconvex QCQP", "ZOSQP")
    picker.lock(True)
    assert problem.spec["locked"] and solver.spec["locked"]
    solver.receive({"seq": 1, "title": "ZO-SPLM"})
    assert picker.solver_name == "ZOSQP" and solver.spec["ack"] == 1, "a list that is locked changes nothing"
