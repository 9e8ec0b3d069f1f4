"""What a program prints reaches the page as text, bounded, at a modest rate, and only where there is something."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from zoviz import Run
from zoviz.core.types import Printed
from zoviz.problems import Executable, LoadTracking
from zoviz.solvers import ZOCEG
from zoviz.views.controls.program_output import CALLS, EVERY, LENGTH, ProgramOutput, output_html

NASTY = [
    "<script>document.title = 'taken'</script>",
    "<img src=x onerror=\"document.title='taken'\">",
    "</pre></div><svg onload='alert(1)'>",
    "&lt;img src=x onerror=alert(1)&gt; &amp;amp;",
    "' onmouseover='alert(1)' \"",
    "<!-- <style>* {display: none}</style>",
]


class Seen(HTMLParser):
    """Tags and words of some HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def one(call: int = 1, output: str = "", errors: str = "", status: str = "exit status 0", attempt: int = 1) -> Printed:
    return Printed(call, attempt, status, 0.25, output, errors)


@pytest.mark.parametrize("words", NASTY)
def test_what_is_printed_is_text(words: str) -> None:
    view = Seen(output_html([one(output=words, errors=words, status=words)]))
    assert view.words.count(words) == 3
    assert set(view.tags) == {("div", ("class",)), ("span", ()), ("pre", ())}


def test_each_call_tells_its_number_its_end_and_its_seconds_the_newest_first() -> None:
    calls = [one(7, "first\n"), one(8, "", "no licence\n", "exit status 3", 2), one(9, status="given up")]
    words = Seen(output_html(calls)).words
    assert words == (
        "call 9 · given up · 0.25 s · printed nothing"
        "call 8, attempt 2 · exit status 3 · 0.25 sstderrno licence"
        "call 7 · exit status 0 · 0.25 sstdoutfirst"
    )


def test_it_is_bounded_and_has_the_end_of_what_is_long() -> None:
    calls = [one(i, "<" * 10_000 + "the end", "e" * 10_000) for i in range(1, 21)]
    text = output_html(calls)
    view = Seen(text)
    assert view.words.count("the end") == CALLS and "call 20 " in view.words and "call 8 " not in view.words
    assert f"({10_007 - LENGTH:,} characters before)" in view.words
    assert len(view.words) < CALLS * (2 * LENGTH + 200) and len(text) < 5 * CALLS * 2 * LENGTH


def test_colours_and_progress_bars_of_terminals_are_no_rubbish() -> None:
    printed = one(output="\x1b[1;31mred\x1b[0m 10%\r20%\r\nend\x07\x00")
    assert "stdoutred 10%\n20%\n" in Seen(output_html([printed])).words


def program(source: str) -> Executable:
    return Executable(["/bin/sh", "-c", source], bounds=[(-1.0, 1.0)] * 2, m=0)


def test_the_card_is_there_for_what_prints_and_for_nothing_else() -> None:
    card = ProgramOutput()
    silent = Run(problem=LoadTracking(n=3), solver=ZOCEG(), replicas=1, iterations=2)
    for run in (None, silent):
        card.update(run)
        assert not card.visible
    silent.run()
    card.update(silent)
    assert not card.visible
    loud = Run(problem=program("echo 1; echo '<b>' >&2"), solver=ZOCEG(primal_step=1e-3), replicas=1, iterations=1)
    loud.run()
    card.update(loud)
    assert card.visible and "&lt;b&gt;" in card.pane.object and "<b>" not in card.pane.object
    card.update(silent)
    assert not card.visible and card.pane.object == ""


class Slow:
    """A run that goes on, and prints when it is told to."""

    active = True

    def __init__(self) -> None:
        self.printed: tuple[Printed, ...] = (one(1, "a"),)
        self.reads = 0

    def print(self) -> None:
        self.printed += (one(len(self.printed) + 1, "more"),)


def test_it_is_sent_at_a_modest_rate_and_only_where_it_is_seen() -> None:
    card, run = ProgramOutput(), Slow()
    sent: list[str] = []
    card.pane.param.watch(lambda event: sent.append(event.new), "object")
    card.update(run)
    for _ in range(5 * EVERY):
        run.print()
        card.update(run)
    assert len(sent) == 6
    for _ in range(3 * EVERY):
        card.update(run)
    assert len(sent) == 6, "nothing new, nothing sent"
    for visible, follow in ((False, True), (True, False)):
        card.follow = follow
        run.print()
        for _ in range(2 * EVERY):
            card.update(run, visible)
        assert len(sent) == 6
    card.follow, run.active = True, False
    card.update(run)
    assert len(sent) == 7 and f"call {len(run.printed)} " in sent[-1], "the end is shown at once"
