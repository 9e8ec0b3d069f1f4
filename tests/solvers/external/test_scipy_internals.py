"""What zoviz knows of SciPy's inside still holds."""

from __future__ import annotations

import importlib.metadata
import inspect
import sys

import pytest
from packaging.specifiers import SpecifierSet

from zoviz.problems import LoadTracking
from zoviz.solvers import COBYQA
from zoviz.solvers.external.scipy_internals import VERSIONS, cobyqa_minimize

pytest.importorskip("scipy", reason='python -m pip install "zoviz[peers]"')


def test_this_scipy_was_checked() -> None:
    assert importlib.metadata.version("scipy") in SpecifierSet(VERSIONS), (
        "check this file's claims, then widen VERSIONS"
    )


def test_cobyqa_stands_where_it_is_looked_for() -> None:
    minimize = cobyqa_minimize()
    assert minimize.__module__ in ("scipy._lib.cobyqa.main", "scipy._external.cobyqa.main")
    names = ["fun", "x0", "args", "bounds", "constraints", "callback", "options"]
    assert list(inspect.signature(minimize).parameters)[:7] == names


def test_the_public_door_to_cobyqa_still_holds_a_lock() -> None:
    """From SciPy 1.18 on it holds none: with that as the lower bound the private name is not needed."""
    from scipy.optimize import _cobyqa_py, minimize

    if not hasattr(_cobyqa_py, "COBYQA_LOCK"):
        pytest.skip("this SciPy holds no lock")
    COBYQA_LOCK = _cobyqa_py.COBYQA_LOCK
    states = []
    minimize(
        lambda x: states.append(COBYQA_LOCK.locked()) or float(x @ x), [1.0], method="COBYQA", options={"maxfev": 5}
    )
    assert states and all(states)


def test_without_either_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert COBYQA().missing_package == ""
    for name in ("scipy._lib.cobyqa", "scipy._external.cobyqa", "cobyqa"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install cobyqa"):
        cobyqa_minimize()
    assert "pip install cobyqa" in (COBYQA().accepts(LoadTracking(n=4)) or ""), "it is not offered"
