"""The dashboard with a probe in its server: ``--args <report file> [shared]``; shared: on a run that no page owns."""

import sys
from pathlib import Path

import panel as pn

sys.path.insert(0, str(Path(__file__).parent))
from probe import Probe  # noqa: E402

from zoviz.views.app.dashboard import Dashboard  # noqa: E402
from zoviz.views.app.process import prepare  # noqa: E402

prepare()
shared = "shared" in sys.argv
probe = pn.state.as_cached("probe", Probe, report=Path(sys.argv[1]), shared=shared)
dashboard = Dashboard()
probe.pages.add(dashboard)
if shared:
    dashboard.controller.outlive = True
    dashboard.controller.watch_run(probe.run)
dashboard.servable()
