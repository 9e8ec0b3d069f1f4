"""The dashboard with a probe in its server: ``--args <report file> [shared] [kept]``.

shared: on a run that no page owns; kept: in the store of this process.
"""

import sys
from pathlib import Path

import panel as pn

sys.path.insert(0, str(Path(__file__).parent))
from probe import Probe  # noqa: E402

from zoviz.views.app.dashboard import dashboard  # noqa: E402
from zoviz.views.app.server import shared_store  # noqa: E402

shared = "shared" in sys.argv
probe = pn.state.as_cached("probe", Probe, report=Path(sys.argv[1]), shared=shared)
page = dashboard(store=shared_store(None) if "kept" in sys.argv else None)
probe.pages.add(page)
pn.state.on_session_destroyed(probe.leave)
if shared:
    page.controller.outlive = True
    page.controller.watch_run(probe.run)
page.servable()
