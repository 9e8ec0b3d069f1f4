"""What zoviz knows of SciPy's inside still holds."""

from __future__ import annotations

import importlib.metadata
import inspect
import sys

import pytest
from packaging.specifiers import SpecifierSet

from zoviz.solvers.external.scipy_internals import VERSIONS, cobyqa_minimize

pytest.importorskip("scipy", reason='python -m pip install "zoviz[peers]"')


def test_this_scipy_was_checked() -> None:
    assert importlib.metadata.version("scipy") in SpecifierSet(VERSIONS), (
        "check this file's claims, then widen VERSIONS"
    )


def test_cobyqa_stands_where_it_is_looked_for() -> None:
    minimize = cobyqa_minimize()
    assert minimize.__module__ == "scipy._lib.cobyqa.main"
    names = ["fun", "x0", "args", "bounds", "constraints", "callback", "options"]
    assert list(inspect.signature(minimize).parameters)[:7] == names


def test_the_public_door_to_cobyqa_still_holds_a_lock() -> None:
    """Once it holds none, ``scipy.optimize.minimize`` can be called, and the private name is not needed."""
    from scipy.optimize import minimize
    from scipy.optimize._cobyqa_py import COBYQA_LOCK

    states = []
    minimize(
        lambda x: states.append(COBYQA_LOCK.locked()) or float(x @ x), [1.0], method="COBYQA", options={"maxfev": 5}
    )
    assert states and all(states)


def test_without_either_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("scipy._lib.cobyqa", "cobyqa"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install cobyqa"):
        cobyqa_minimize()
