"""The export of a run as a Python script that does it again, its steering included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import param

from zoviz.core.registry import required
from zoviz.runs.engine.spec import COMPUTING, DEFAULTS
from zoviz.runs.repeat import replayed
from zoviz.runs.run_view import RunView

_MISSING = "put_your_function_here"


class _Speller:
    """Spells values as Python source and collects the imports that it needs."""

    def __init__(self) -> None:
        self.imports: set[str] = set()
        self.missing: list[str] = []

    def spell(self, value: Any) -> str:
        if isinstance(value, param.Parameterized):
            return self._object(value)
        if isinstance(value, np.ndarray):
            return repr(value.tolist())
        if isinstance(value, np.generic):
            return repr(value.item())
        if isinstance(value, (list, tuple)):
            inner = ", ".join(self.spell(item) for item in value)
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
        if isinstance(value, Mapping):
            return "{" + ", ".join(f"{name!r}: {self.spell(item)}" for name, item in value.items()) + "}"
        if callable(value) or hasattr(value, "submit"):  # a function, or an executor that evaluates it
            return self._function(value)
        if hasattr(value, "lb") and hasattr(value, "ub"):
            return self.spell(
                tuple(zip(np.atleast_1d(value.lb).tolist(), np.atleast_1d(value.ub).tolist(), strict=True))
            )
        text = repr(value)
        return {"inf": "float('inf')", "-inf": "-float('inf')"}.get(text, text)

    def _object(self, value: param.Parameterized) -> str:
        cls = type(value)
        room = cls.__module__.split(".")
        self.imports.add(f"from {'.'.join(room[:2]) if room[0] == 'zoviz' else cls.__module__} import {cls.__name__}")
        fresh = {} if required(cls) else cls().param.values()
        arguments = [
            f"{name}={self.spell(current)}"
            for name, current in value.param.values().items()
            if name != "name"
            and not self._default(current, fresh.get(name, value.param[name].default), value.param[name].default)
        ]
        return f"{cls.__name__}({', '.join(arguments)})"

    def _default(self, current: Any, fresh: Any, declared: Any) -> bool:
        """Whether the constructor gives this value by itself, whatever the other arguments are."""
        is_object = isinstance(current, param.Parameterized)
        return self._same(current, fresh) and (is_object or self._same(current, declared))

    def _same(self, current: Any, default: Any) -> bool:
        if isinstance(current, param.Parameterized):
            return type(current) is type(default) and self._object(current) == self._object(default)
        try:
            return bool(np.all(current == default))
        except ValueError:
            return False

    def _function(self, value: Callable[..., Any]) -> str:
        module, name = getattr(value, "__module__", "__main__"), getattr(value, "__qualname__", "<lambda>")
        if module == "__main__" or "<" in name or "." in name:
            self.missing.append(name)
            return _MISSING
        self.imports.add(f"from {module} import {name}")
        return name


def script(run: RunView) -> str:
    """Return the source of a script that repeats ``run``: same numbers on the same machine and library versions.

    A black box whose functions live in a notebook or a closure cannot be imported: the script then has a placeholder
    and says so.

    Raises
    ------
    ZovizError
        Where the run has not started.
    """
    again = replayed(run)
    speller = _Speller()
    lines = [f"problem = {speller.spell(again.problem)}", f"solver = {speller.spell(again.solver)}", "schedule = ("]
    lines += [
        f"    ({c.iteration}, {c.calls}, {c.seconds!r}, {c.name!r}, {speller.spell(c.old)}, {speller.spell(c.new)}),"
        for c in run.journal
    ]
    settings = again.settings
    changed = {name: settings[name] for name in COMPUTING if settings[name] != DEFAULTS[name]}
    arguments = "".join(f", {name}={speller.spell(value)}" for name, value in changed.items())
    if again.resolved:
        arguments = f", resolved={speller.spell(dict(again.resolved))}{arguments}"
    lines += [")", f"run = Run(problem, solver, schedule=schedule{arguments})", "result = run.run()"]
    lines += ["print(result.message)", "print(run.best_design)"]
    lines += ['print("objective", result.fun)', 'print("violation", result.violation)']
    head = ['"""Repeats a run of zoviz, its steering included: (iteration, calls, seconds, name, old, new)."""', ""]
    if speller.missing:
        head += [f"# Replace {_MISSING} by your own functions ({', '.join(speller.missing)}).", ""]
    return "\n".join([*head, *sorted({"from zoviz import Run", *speller.imports}), "", *lines, ""])
