"""The zoviz dashboard: ``panel serve apps/dashboard.py --show``.

Runs are kept in zoviz.db here, or in the store whose URL the environment variable ZOVIZ_STORE has ("none": nowhere).
A problem of your own comes first in the list with ``--args module:object``, where the object is a ``zoviz`` problem.
"""

import importlib
import os
import sys

from zoviz.views.app.dashboard import dashboard
from zoviz.views.app.server import shared_store


def own_problem():
    """The problem that the command line names, if it names one."""
    if len(sys.argv) < 2:
        return None
    module, _, name = sys.argv[1].partition(":")
    sys.path.insert(0, os.getcwd())  # a console script has its own folder there instead
    return getattr(importlib.import_module(module), name).clone()  # a clone for each session: they share the module


dashboard(problem=own_problem(), store=shared_store(None)).servable()
