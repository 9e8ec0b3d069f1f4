"""Changes as a person made them: one for each drag of a handle, and undone from the last to the first."""

from __future__ import annotations

from zoviz.runs.engine.steering import Change
from zoviz.views.common.drags import drags, last_standing


def change(seconds: float, name: str, old: float | None, new: float | None) -> Change:
    return Change(int(10 * seconds), 100, seconds, name, old, new)


def test_the_values_that_a_handle_sends_on_its_way_are_one_change() -> None:
    one, other = "primal_step", "dual_step"
    course = [change(1.0, one, None, 2e-3), change(1.4, one, 2e-3, 3e-3), change(2.2, one, 3e-3, 4e-3)]
    later = change(4.0, one, 4e-3, None)
    between = change(4.1, other, 1e-3, 2e-3)
    assert drags([*course, later, between]) == [change(1.0, one, None, 4e-3), later, between]
    assert drags([]) == []


def test_what_was_put_back_no_longer_stands() -> None:
    first, second = change(1.0, "primal_step", 1e-3, 2e-3), change(3.0, "dual_step", 1.0, 2.0)
    back = change(5.0, "dual_step", 2.0, 1.0)
    assert last_standing([]) is None and last_standing([first, second]) == second
    assert last_standing([first, second, back]) == first
    assert last_standing([first, second, back, change(7.0, "primal_step", 2e-3, 1e-3)]) is None
    there_and_back = [change(1.0, "primal_step", 1e-3, 2e-3), change(1.5, "primal_step", 2e-3, 1e-3)]
    assert drags(there_and_back) == [], "a handle that is left where it was has changed nothing"
