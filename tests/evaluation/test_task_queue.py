"""The queue of calls: a batch's before those ahead, whose outcomes wait for the batch that asks for them."""

from __future__ import annotations

from zoviz.evaluation.task_queue import TaskQueue


def tasks(*names: str) -> list[list[str]]:
    """Tasks that are objects of their own."""
    return [[name] for name in names]


def order(queue: TaskQueue) -> list[str]:
    """The names of all that waits, in the order in which workers begin."""
    return [queue.task(queue.next())[0] for _ in range(queue.waiting)]


def test_a_batch_comes_before_all_that_is_ahead() -> None:
    queue, first, ahead, second = TaskQueue(), tasks("a", "b"), tasks("x", "y"), tasks("c")
    assert queue.begin(first, ahead) == []
    started = [queue.next() for _ in range(2)]
    assert [queue.task(number) for number in started] == first
    assert [queue.finish(number, number) for number in started] == [[(0, started[0])], [(1, started[1])]]
    assert not queue.unanswered
    queue.begin(second, tasks("z"))
    assert order(queue) == ["c", "x", "y", "z"]


def test_an_outcome_ahead_waits_for_its_batch_whether_it_is_there_by_then_or_not() -> None:
    queue, (early, late) = TaskQueue(), tasks("early", "late")
    queue.begin(tasks("a"), [early, late])
    numbers = [queue.next() for _ in range(3)]
    assert queue.finish(numbers[1], "found") == [] and queue.finish(numbers[0], 0.0) == [(0, 0.0)]
    assert queue.begin([late, early], []) == [(1, "found")] and queue.unanswered
    assert queue.waiting == 0, "it is under way"
    assert queue.finish(numbers[2], "at last") == [(0, "at last")] and not queue.unanswered


def test_equal_tasks_are_calls_of_their_own_and_what_was_lost_is_begun_first() -> None:
    queue, (one, other) = TaskQueue(), tasks("x", "x")
    queue.begin([], [one, other])
    numbers = [queue.next() for _ in range(2)]
    queue.put_back(numbers)
    assert [queue.next(), queue.next()] == numbers
    assert queue.finish(numbers[0], 1.0) == queue.finish(numbers[1], 2.0) == []
    assert queue.begin([other], []) == [(0, 2.0)]
