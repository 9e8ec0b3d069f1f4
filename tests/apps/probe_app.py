"""The dashboard with a probe in its server: ``--args <report file> [shared] [kept] [fleeting]``.

shared: on a run that no page owns; kept: in the store of this process; fleeting: a session ends as soon as the page
that it was loaded by has left. (By a short lifetime, a busy machine's would end before the page's first websocket.)
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
page = dashboard(store=shared_store() if "kept" in sys.argv else None)
probe.pages.add(page)
pn.state.on_session_destroyed(probe.leave)
if shared:
    page.controller.outlive = True
    page.controller.watch_run(probe.run)
if "fleeting" in sys.argv:
    context = pn.state.curdoc.session_context
    pn.state.onload(lambda: context.session.request_expiration())
page.servable()
