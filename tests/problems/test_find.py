"""A person's own module: what is wrong with it is one sentence, in a call as on the page."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from zoviz.problems.find import find_problem
from zoviz.views.app.dashboard import RUN, dashboard

WHOLE = """
from zoviz import BlackBox

def fun(x):
    return float(x @ x)

def shorter(x):
    return undefined

problem = BlackBox(fun, bounds=[(-1, 1)] * 2)
number = 3
"""

WRONG = {
    "no_such_module:problem": "Expected the module no_such_module in .* got none: check its name",
    "own_module:problm": "got 'problm', which is not there: did you mean problem",
    "own_module:number": "Expected a zoviz problem .* got int: wrap it in BlackBox",
    "lacks_a_package:problem": "in lacks_a_package.py, line 1; correct .*: ModuleNotFoundError: .*no_such",
    "misspelt:problem": r"correct it and try again: SyntaxError: .*misspelt.py, line 2\)",
    "wrong_name:problem": "in wrong_name.py, line 3; correct .* got 'names': did you mean .*variable_names",
    "calls:problem": "in calls.py, line 3; correct it and try again: NameError: name 'undefined' is not defined",
    "empty:problem": "which is not there: assign one there",
    "LoadTrackin": "did you mean LoadTracking",
}
MODULES = {
    "own_module": WHOLE,
    "lacks_a_package": "import no_such_package\n",
    "misspelt": "x = 1\nproblem = = 2\n",
    "wrong_name": "from zoviz import BlackBox\n\nproblem = BlackBox(sum, bounds=[(0, 1)] * 2, names=['a', 'b'])\n",
    "calls": "from own_module import shorter\n\nproblem = shorter(1)\n",
    "empty": "",
}


@pytest.fixture
def _own_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Modules of a person's in the working folder."""
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("_own_modules")
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_sentence_with_the_line(name: str) -> None:
    with pytest.raises(ValueError, match="(?s)^Expected ") as refusal:
        find_problem(name)
    assert re.search(WRONG[name], str(refusal.value)), str(refusal.value)
    assert str(Path.cwd()) not in str(refusal.value), "visitors of a page read it, too"


@pytest.mark.usefixtures("_own_modules")
def test_a_page_without_its_problem_opens_and_says_why_and_the_next_has_it(tmp_path: Path) -> None:
    page = dashboard("wrong_name:problem")
    assert "wrong_name.py, line 3" in page.controller.message and page.rooms.open == RUN
    (tmp_path / "wrong_name.py").write_text(MODULES["wrong_name"].replace("names", "variable_names"), encoding="utf-8")
    mended = dashboard("wrong_name:problem")
    assert mended.controller.message == "" and list(mended.form.picker.problem.variable_names) == ["a", "b"]
