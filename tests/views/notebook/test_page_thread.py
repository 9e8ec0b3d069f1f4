"""The thread of views in cells: one task after the other, whoever asks, and no way to wait for itself."""

from __future__ import annotations

import threading
import time

import pytest

from helpers.waiting import until
from zoviz.views.notebook.page_thread import PageThread


@pytest.fixture(scope="module")
def thread() -> PageThread:
    return PageThread()


def test_tasks_are_done_in_turn_and_elsewhere(thread: PageThread) -> None:
    at_work, most, order = [0], [0], []

    def task(number: int) -> None:
        at_work[0] += 1
        most[0] = max(most[0], at_work[0])
        time.sleep(0.002)
        order.append(number)
        at_work[0] -= 1

    askers = [threading.Thread(target=lambda n=n: thread.do(lambda: task(n))) for n in range(8)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert most == [1] and sorted(order) == list(range(8))
    assert thread.do(threading.current_thread) is not threading.current_thread()


def test_who_waits_is_told_of_an_error_and_a_task_may_ask_for_another(thread: PageThread) -> None:
    with pytest.raises(ZeroDivisionError):
        thread.do(lambda: 1 / 0)
    assert thread.do(lambda: thread.do(lambda: 7)) == 7


def test_a_task_is_repeated_until_it_says_no(thread: PageThread) -> None:
    counts: list[int] = []

    def look() -> bool:
        counts.append(len(counts))
        return len(counts) < 3

    thread.every(0.001, look)
    until(lambda: len(counts) == 3)
    more: list[int] = []
    thread.every(0.001, lambda: more.append(0) or len(more) < 20)
    until(lambda: len(more) == 20)
    assert len(counts) == 3
