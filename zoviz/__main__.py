"""``python -m zoviz`` is ``zoviz``."""

import sys

from zoviz.cli.main import main

sys.exit(main())
