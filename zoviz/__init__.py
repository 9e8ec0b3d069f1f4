"""zoviz: a laboratory for zeroth-order constrained optimisation.

Minimise a black box f(x) under black-box constraints h(x) <= 0 from function values alone, watch the run
converge, steer it while it runs, and replay exactly what happened.
"""

from typing import TYPE_CHECKING, Any

from zoviz import estimators, problems, solvers
from zoviz.ask_tell.session import AskTell
from zoviz.core import defaults
from zoviz.core.errors import ZovizError
from zoviz.minimize.minimize import minimize, scipy_method
from zoviz.problems.user.blackbox import BlackBox
from zoviz.problems.user.executable import Executable
from zoviz.runs.engine.result import Result
from zoviz.runs.run import Run
from zoviz.views.app.kernel import kernel_shell

if TYPE_CHECKING:
    from zoviz.runs.store import Store
    from zoviz.runs.stored_run import StoredRun
    from zoviz.studies.study import Study
    from zoviz.views.app.dashboard import dashboard

__version__ = "0.1.0"

_LAZY = {
    "Store": "zoviz.runs.store",
    "StoredRun": "zoviz.runs.stored_run",
    "Study": "zoviz.studies.study",
    "dashboard": "zoviz.views.app.dashboard",
}
"""Public names whose modules are imported when they are first asked for."""

__all__ = [
    "AskTell",
    "BlackBox",
    "Executable",
    "Result",
    "Run",
    "Store",
    "StoredRun",
    "Study",
    "ZovizError",
    "dashboard",
    "estimators",
    "minimize",
    "problems",
    "scipy_method",
    "solvers",
]


if not TYPE_CHECKING:  # to a type checker every misspelt name would be Any

    def __getattr__(name: str) -> Any:
        """What needs SQLAlchemy or Panel is imported when it is asked for: that takes longer than the rest of zoviz."""
        if name in _LAZY:
            from importlib import import_module

            return getattr(import_module(_LAZY[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _show_in_notebooks() -> None:
    """Have objects of zoviz show themselves as the last line of a notebook's cell; elsewhere their text is enough."""
    import sys

    shell = kernel_shell()
    if shell is None:
        return

    def show(thing: Any) -> None:
        sys.setswitchinterval(defaults.SWITCH_INTERVAL)  # first: a run at work would have what follows wait for it
        from zoviz.views.notebook.displays import show  # with Panel: a second that only a first display waits for

        show(thing)

    formatter = shell.display_formatter.ipython_display_formatter
    for kind in (Run, Result, problems.Problem, solvers.Solver):
        formatter.for_type(kind, show)
    for name in ("StoredRun", "Study"):
        formatter.for_type_by_name(_LAZY[name], name, show)
    for module, name in (("zoviz.views.app.dashboard", "Dashboard"), ("zoviz.diagnosis.trial", "Trial")):
        formatter.for_type_by_name(module, name, show)


_show_in_notebooks()
