"""The zoviz dashboard: ``panel serve apps/dashboard.py --show``.

Runs are kept in zoviz.db here, or in the store whose URL the environment variable ZOVIZ_STORE has ("none": nowhere).
A problem of your own comes first in the list with ``--args module:object``, where the object is a ``zoviz`` problem.
"""

import sys

from zoviz.views.app.dashboard import dashboard
from zoviz.views.app.server import shared_store

dashboard(problem=sys.argv[1] if len(sys.argv) > 1 else None, store=shared_store()).servable()
