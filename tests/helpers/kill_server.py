"""What a dashboard's server does first under ``python -m helpers.kill_resume --server``: it goes on with the run."""

from __future__ import annotations

import json
import os
from pathlib import Path

from helpers.kill_resume import Setting, gone_on

folder, *setting = json.loads(os.environ["ZOVIZ_KILL"])
run = gone_on(Setting(*setting), Path(folder)).start()
