"""What a solver or a run works with is there, and what is none of it is refused with a sentence."""

from __future__ import annotations

from typing import Any

import param
import pytest

from zoviz import Run
from zoviz.core.parameters import Part
from zoviz.estimators import Gaussian, Sphere
from zoviz.problems import LoadTracking
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG


class Holder(param.Parameterized):
    """One part, of which every holder has a copy."""

    part = Part(Sphere, default=Sphere(batch_size=3), label="Part", doc="What it works with.")


class Heir(Holder):
    """Says more of the same part."""

    part = Part(Sphere, label="Part", doc="Another sentence.")


@pytest.mark.parametrize("cls", [Holder, Heir])
@pytest.mark.parametrize("value", [None, 3, "Sphere", Sphere, Gaussian()], ids=lambda value: str(value)[:8])
def test_what_is_no_such_part_is_refused_with_a_sentence(cls: type[Holder], value: Any) -> None:
    sentence = f"Expected part an object of Sphere, got {value!r}."
    with pytest.raises(ValueError) as caught:
        cls(part=value)
    assert str(caught.value) == sentence
    holder = cls()
    before = holder.part
    with pytest.raises(ValueError) as caught:
        holder.part = value
    assert str(caught.value) == sentence
    assert holder.part is before


def test_a_part_is_a_copy_of_its_own_and_keeps_its_words() -> None:
    assert Holder().part is not Holder().part
    assert (Heir.param.part.label, Heir.param.part.doc) == ("Part", "Another sentence.")


@pytest.mark.parametrize("cls", [ZOEG, ZOCEG, ZOBCEG])
def test_a_solver_without_its_estimator_is_refused_when_it_is_made(cls: Any) -> None:
    with pytest.raises(ValueError, match="Expected estimator an object of"):
        cls(estimator=None)


@pytest.mark.parametrize("name, kind", [("problem", "Problem"), ("solver", "Solver")])
def test_a_run_keeps_its_problem_and_its_solver(name: str, kind: str) -> None:
    run = Run(problem=LoadTracking(n=4), solver=ZOCEG(), replicas=1, iterations=1)
    with pytest.raises(ValueError, match=f"Expected {name} an object of {kind}, got None"):
        setattr(run, name, None)
    assert getattr(run, name) is not None


@pytest.mark.parametrize("at", [2.5, -1, float("nan"), float("inf")])
def test_a_fork_begins_at_a_whole_iteration(at: float) -> None:
    run = Run(problem=LoadTracking(n=4), solver=ZOCEG(), replicas=1, iterations=4)
    run.run()
    with pytest.raises(ValueError, match=r"Expected at a whole number of iterations, 0 or more, got "):
        run.fork(at=at)  # type: ignore[arg-type]


def test_a_whole_number_from_a_field_is_as_good_as_an_integer() -> None:
    run = Run(problem=LoadTracking(n=4), solver=ZOCEG(), replicas=1, iterations=4)
    run.run()
    name = ZOCEG.live[0]
    change = {name: 0.5 * run.resolved[name]}
    forks = [run.fork(at=at, changes=change) for at in (2, 2.0)]  # type: ignore[list-item]
    assert [[type(one.iteration) for one in fork.schedule] for fork in forks] == [[int], [int]]
    assert (forks[0].run().x == forks[1].run().x).all()
