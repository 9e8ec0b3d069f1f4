"""Odd black boxes, bounds, starts and budgets for ``minimize``, each drawn from a number, and what must hold."""

from __future__ import annotations

import linecache
import os
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

import zoviz
from zoviz import minimize
from zoviz.core.registry import discover
from zoviz.problems import BlackBox
from zoviz.solvers import Solver

SMOOTH = (
    "good",
    "good",
    "noisy",
    "mutating",
    "integer",
    "arrays",
    "unconstrained",
    "constant",
    "unbounded",
    "exploding",
)
ODD = (
    "nan sometimes", "nan always", "inf", "huge", "raising sometimes", "raising always", "wrong shape",
    "changing shape", "changing rows", "complex", "text", "none", "no pair", "infeasible",
)  # fmt: skip
KINDS = (*SMOOTH, *ODD)
BOUNDS = (
    *["both"] * 11, *["missing"] * 5, *["half"] * 4, *["some equal"] * 4, "all equal", "narrow", *["wide"] * 2,
    *["SciPy's"] * 2, "reversed", "nan", "wrong length",
)  # fmt: skip
STARTS = (*["inside"] * 18, *["missing"] * 4, *["corner"] * 3, *["far"] * 2, "outside", "nan", "wrong length")
FORMS = ("joint", "joint", "separate", "list", "SciPy's", "SciPy's equality")
WORKERS = (*["none"] * 57, "two", "timeout", "slow")
OPTIONS: tuple[dict[str, Any], ...] = (
    *[{}] * 12, {"noise": "independent"}, {"noise": "deterministic"}, {"replicas": 2}, {"iterations": 3},
    {"scaled": False}, {"replicas": 3, "noise": "independent"},
)  # fmt: skip
CALLBACKS = (*["none"] * 16, "counts", "stops", "raises")
SIZES = (1, 1, 2, 2, 3, 5, 8, 13, 30)
NOISE, TOLERANCE = 1e-2, 1e-6
PACKAGE = str(Path(zoviz.__file__).parent)


class OwnError(Exception):
    """What the black boxes raise."""


def methods() -> list[str]:
    """Every method that takes some general black box, and ``auto`` once for every third of them."""
    problem = BlackBox(lambda x: (x @ x, x[:1]), joint=True, m=1, bounds=[(-1, 1)] * 2)
    names = [name for name, cls in discover("zoviz.solvers", Solver).items() if cls().accepts(problem) is None]
    return [*names, *["auto"] * (len(names) // 3)]


def is_bayesian(method: str) -> bool:
    """Whether the method fits Gaussian processes."""
    return discover("zoviz.solvers", Solver).get(method, Solver).__module__.startswith("zoviz.solvers.bayesian")


@dataclass
class Case:
    """One call of ``minimize``, drawn from its number.

    NOMAD's models, which think for seconds between two calls where there are many variables, are left out there. A
    Bayesian method, a step of which takes as long as a hundred others, gets its first points and a few more.
    """

    number: int
    kind: str
    method: str
    n: int
    budget: int
    bounds: str
    start: str
    form: str
    on_error: str
    workers: str
    callback: str
    options: dict[str, Any]
    at_once: bool
    """Whether the first call is odd already."""

    @classmethod
    def draw(cls, number: int, names: Sequence[str]) -> Case:
        """The case of this number."""
        rng = np.random.default_rng([2026, number])

        def one(words: Sequence[Any]) -> Any:
            return words[int(rng.integers(len(words)))]

        kind = one(SMOOTH) if rng.random() < 0.4 else one(ODD)
        small, large = int(np.exp(rng.uniform(0.0, np.log(401.0)))), int(rng.integers(30, 401))
        budget = small if rng.random() < 0.4 else large
        workers, method, n, options = one(WORKERS), one(names), one(SIZES), one(OPTIONS)
        return cls(
            number=number,
            kind=kind,
            method=method,
            n=n,
            budget=min(budget, 12) if workers == "slow" or is_bayesian(method) else budget,
            bounds=one(BOUNDS),
            start=one(STARTS),
            form=one(FORMS),
            on_error=one(("raise", "fail")),
            workers=workers,
            callback=one(CALLBACKS),
            options=dict(options) | ({"options": {"models": False}} if method == "NOMAD" and n >= 5 else {}),
            at_once=bool(rng.random() < 0.15),
        )


class Box:
    """The black box of a case: counts its calls, and knows its values without noise. It can be pickled."""

    def __init__(self, case: Case, tally: str) -> None:
        rng = np.random.default_rng([7, case.number])
        self.case, self.own_calls, self.rng, self._tally = case, 0, rng, tally
        self.centre, self.weights = rng.normal(size=case.n), rng.uniform(0.5, 3.0, case.n)
        self.rows = 0 if case.kind == "unconstrained" else int(rng.integers(1, 4))
        self.slopes = rng.normal(size=(self.rows, case.n))

    @property
    def calls(self) -> int:
        """Calls in all processes."""
        return os.path.getsize(self._tally) if self._tally else self.own_calls

    def values(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """f and h without noise."""
        f = float(self.weights @ np.square(x - self.centre))
        h = self.slopes @ (x - 0.3 * self.centre) - 0.5
        if self.case.kind == "infeasible":
            h = 1.0 + np.square(self.slopes @ x)
        if self.case.kind == "constant":
            f, h = 3.0, 0.0 * h
        if self.case.kind == "unbounded":
            f = -float(self.weights @ x)
        if self.case.kind == "exploding":
            f = float(np.exp(np.minimum(self.weights @ x, 800.0)))
        if self.case.kind == "integer":
            return float(round(f)), np.ceil(h)
        return f * 1e200 if self.case.kind == "huge" else f, h

    def joint(self, x: np.ndarray) -> Any:
        """One call as a user's function answers it."""
        self.own_calls += 1
        if self._tally:
            with open(self._tally, "ab") as file:
                file.write(b".")
        case = self.case
        if not isinstance(x, np.ndarray) or x.shape != (case.n,):
            raise OwnError(f"x has the shape {np.shape(x)}")
        odd = self.own_calls % 4 == 0 or (case.at_once and self.own_calls == 1)
        if case.workers == "slow" and odd:
            time.sleep(30.0)
        with np.errstate(all="ignore"):
            f, h = self.values(x)
        if case.kind in SMOOTH:
            return self._smooth(x, f, h)
        return self._odd(f, h) if odd or case.kind.endswith("always") or case.kind == "wrong shape" else (f, h)

    def _smooth(self, x: np.ndarray, f: float, h: np.ndarray) -> Any:
        kind = self.case.kind
        if kind == "noisy":
            return f + NOISE * self.rng.normal(), h + NOISE * self.rng.normal(size=h.shape)
        if kind == "mutating":
            x[...] = -7.0
        if kind == "integer" and np.isfinite(f) and abs(f) < 1e15:
            return int(f), h
        if kind == "arrays":
            return np.array([f]), h.tolist()
        return f, h

    def _odd(self, f: float, h: np.ndarray) -> Any:
        kind = self.case.kind
        if kind.startswith("raising"):
            raise OwnError("the simulator has no licence")
        if kind.startswith("nan"):
            return (np.nan, h) if self.own_calls % 8 else (f, h * np.nan)
        return {
            "inf": (np.inf, h),
            "huge": (f, h),
            "infeasible": (f, h),
            "wrong shape": (np.array([f, f, f]), h),
            "changing shape": (np.array([f, f, f]), h),
            "changing rows": (f, np.append(h, 0.0)),
            "complex": (f + 1j, h),
            "text": ("1.0", h),
            "none": None,
            "no pair": f,
        }[kind]

    def objective(self, x: np.ndarray) -> Any:
        """f of a call, where the constraints are functions of their own."""
        value = self.joint(x)
        return value if not isinstance(value, tuple) else value[0]

    def constraint(self, x: np.ndarray) -> Any:
        """h without a call being counted: one joint call asks for both."""
        if not isinstance(x, np.ndarray) or x.shape != (self.case.n,):
            raise OwnError(f"x has the shape {np.shape(x)}")
        with np.errstate(all="ignore"):
            h = self.values(x)[1]
        return np.append(h, 0.0) if self.case.kind == "changing rows" and self.own_calls % 4 == 0 else h

    def opposite(self, x: np.ndarray) -> Any:
        """-h, as SciPy's dicts have it."""
        return -self.constraint(x)


class OneRow:
    """One constraint of a box."""

    def __init__(self, box: Box, i: int) -> None:
        self.box, self.i = box, i

    def __call__(self, x: np.ndarray) -> float:
        return float(self.box.constraint(x)[self.i])


def bounds_of(case: Case) -> Any:
    """The bounds as they are passed."""
    low, high = np.full(case.n, -2.0), np.full(case.n, 3.0)
    if case.bounds == "missing":
        return None
    if case.bounds == "half":
        return [(-2.0, None) if i % 2 else (None, 3.0) for i in range(case.n)]
    if case.bounds == "some equal":
        high[::2] = low[::2]
    if case.bounds == "all equal":
        high = low.copy()
    if case.bounds == "narrow":
        low, high = np.full(case.n, 0.5 - 1e-13), np.full(case.n, 0.5 + 1e-13)
    if case.bounds == "wide":
        low, high = 1e15 * low, 1e15 * high
    if case.bounds == "reversed":
        low, high = high, low
    if case.bounds == "nan":
        low[0] = np.nan
    if case.bounds == "SciPy's":
        from scipy.optimize import Bounds

        return Bounds(low, high)
    pairs = list(zip(low.tolist(), high.tolist(), strict=True))
    return pairs + pairs[:1] if case.bounds == "wrong length" else pairs


def ends_of(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The box, of valid bounds."""
    pairs = bounds_of(case)
    if pairs is None:
        return np.full(case.n, -np.inf), np.full(case.n, np.inf)
    if hasattr(pairs, "lb"):
        return pairs.lb, pairs.ub
    low, high = zip(*pairs, strict=True)
    return (
        np.array([-np.inf if end is None else end for end in low]),
        np.array([np.inf if end is None else end for end in high]),
    )


def start_of(case: Case) -> Any:
    """The start as it is passed."""
    if case.start == "missing":
        return None
    x0 = np.full(case.n + (case.start == "wrong length"), -2.0 if "equal" in case.bounds else 0.5)
    if case.start == "corner" and case.bounds not in ("missing", "half", "narrow"):
        x0[:] = -2.0
    if case.start == "far" and case.bounds in ("missing", "wide"):
        x0[:] = 1e8
    if case.start == "outside":
        x0[0] = 50.0
    if case.start == "nan":
        x0[-1] = np.nan
    return x0


def callback_of(case: Case) -> Any:
    """The callback as it is passed."""

    def stop(x: np.ndarray) -> None:
        raise StopIteration

    def fail(x: np.ndarray) -> None:
        raise OwnError("the callback")

    def count(*, intermediate_result: Any) -> None:
        assert intermediate_result.calls <= case.budget

    return {"none": None, "stops": stop, "raises": fail, "counts": count}[case.callback]


def solve(case: Case, box: Box) -> Any:
    """The call."""
    common = {"bounds": bounds_of(case), "method": case.method, "on_error": case.on_error, "seed": case.number % 5}
    common |= {"max_calls": case.budget, "callback": callback_of(case), **case.options}
    common |= {"none": {}, "two": {"workers": 2}, "timeout": {"timeout": 60.0}, "slow": {"timeout": 0.4}}[case.workers]
    if case.form == "joint":
        return minimize(box.joint, start_of(case), joint=True, **common)
    constraints: Any = box.constraint if box.rows else ()
    if case.form == "list":
        constraints = [OneRow(box, i) for i in range(box.rows)]
    if case.form.startswith("SciPy's") and box.rows:
        constraints = _as_scipy(case, box)
    return minimize(box.objective, start_of(case), constraints=constraints, **common)


def _as_scipy(case: Case, box: Box) -> Any:
    from scipy.optimize import LinearConstraint, NonlinearConstraint

    if case.form.endswith("equality"):
        return {"type": "eq", "fun": box.constraint}
    if case.kind not in ("infeasible", "constant", "integer", "changing rows"):
        return LinearConstraint(box.slopes, -np.inf, 0.5 + 0.3 * box.slopes @ box.centre)
    if case.number % 2:
        return NonlinearConstraint(box.constraint, -np.inf, 0.0)
    return [{"type": "ineq", "fun": box.opposite}]


def verdict(case: Case) -> tuple[str, str]:
    """What came of a case: ("answer" | "refused" | "own error", "") or ("bad", why)."""
    if case.workers == "none":
        return _verdict(case, Box(case, ""))
    file, tally = tempfile.mkstemp()
    os.close(file)
    try:
        return _verdict(case, Box(case, tally))
    finally:
        os.unlink(tally)


def _verdict(case: Case, box: Box) -> tuple[str, str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=".*torch.distributed.reduce_op")
            warnings.filterwarnings("ignore", category=UserWarning, module=r"scipy\.")
            result = solve(case, box)
    except OwnError as error:
        if box.calls > case.budget:
            return "bad", f"overspent: {box.calls} calls of {case.budget}"
        if "shape" in str(error) and "wrong length" not in (case.start, case.bounds):
            return "bad", f"the function was asked for a point with which {error}"
        raising = case.kind.startswith("raising") or "shape" in str(error)
        allowed = str(error) == "the callback" or (raising and case.on_error == "raise")
        return ("own error", "") if allowed else ("bad", "raised the function's error although on_error is fail")
    except Exception as error:
        if not is_sentence(error):
            return "bad", f"bare {type(error).__name__}: {error!s:.160} ({_innermost(error.__traceback__)})"
        if box.calls > case.budget:
            return "bad", f"overspent: {box.calls} calls of {case.budget}, then {error!s:.160}"
        return "refused", f"{error!s:.120}"
    if box.calls > case.budget:
        return "bad", f"overspent: {box.calls} calls of {case.budget}"
    reason = fault_of(case, box, result)
    return ("bad", reason) if reason else ("answer", "success" if result.feasible else "no success")


def is_sentence(error: BaseException) -> bool:
    """Whether zoviz itself raised the exception, with words that begin as one does."""
    file, _, line = _innermost(error.__traceback__).rpartition(":")
    raised = linecache.getline(file, int(line)).strip().startswith("raise ")
    return file.startswith(PACKAGE) and raised and str(error)[:1].isupper() and " " in str(error)


def _innermost(trace: TracebackType | None) -> str:
    assert trace is not None
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"


def fault_of(case: Case, box: Box, result: Any) -> str:
    """What is wrong with an answer; empty where nothing is."""
    x = np.asarray(result.x)
    if result.calls != box.calls:
        return f"{result.calls} calls said, {box.calls} made"
    if x.shape != (case.n,) or not np.isfinite(x).all():
        return "x is not n finite numbers"
    low, high = ends_of(case)
    if (x < low).any() or (x > high).any():
        return "x outside the bounds"
    with np.errstate(all="ignore"):
        f, h = box.values(x)
    largest = float((np.abs(h) if case.form.endswith("equality") else h).max(initial=0.0))
    noisy = case.kind == "noisy"
    slack = 5.0 * NOISE if noisy else float(result.tolerance.max(initial=0.0))
    if result.feasible and not (np.isfinite(result.fun) and largest <= slack * (1.0 + 1e-6)):
        return f"false success: fun {result.fun!r}, largest h {largest:.3g}"
    if noisy:
        return ""
    size = max(1.0, float(np.abs(h).max(initial=0.0)), float(np.abs(x).max()))
    if not result.feasible and largest <= 0.5 * result.tolerance.min(initial=TOLERANCE) and np.isfinite(result.fun):
        if result.status == "diverged":  # no answer of such a run is a success, and its feasible point is there
            return "" if (result.best_x == x).all() else f"best_x {result.best_x} is not the feasible x"
        return f"false failure: fun {result.fun!r}, largest h {largest:.3g}"
    if abs(result.maxcv - largest) > 1e-9 * size:
        return f"maxcv {result.maxcv!r} is not the largest component {largest!r}"
    if not abs(result.fun - f) <= 1e-9 * max(1.0, abs(f)):
        return f"fun {result.fun!r} is not the function's {f!r}"
    return ""
