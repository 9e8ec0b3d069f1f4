"""``zoviz replay``."""

from zoviz.cli.repeat_command import Again

COMMAND = Again("replay", "repeat a stored run bit for bit, its steering included", "  zoviz replay 3f2a")
