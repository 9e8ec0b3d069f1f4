"""The zoviz dashboard: ``panel serve apps/dashboard.py --show``.

A problem of your own comes first in the list with ``--args module:object``, where the object is a ``zoviz`` problem.
"""

import importlib
import sys

from zoviz.views.dashboard import Dashboard
from zoviz.views.server import prepare

prepare()


def own_problem():
    """The problem that the command line names, if it names one."""
    if len(sys.argv) < 2:
        return None
    module, _, name = sys.argv[1].partition(":")
    return getattr(importlib.import_module(module), name)


Dashboard(problem=own_problem()).page().servable(title="zoviz")
