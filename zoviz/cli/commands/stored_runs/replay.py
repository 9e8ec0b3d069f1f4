"""The command ``zoviz replay``: a stored run done again from its start."""

from zoviz.cli.repeat_command import RepeatCommand

COMMAND = RepeatCommand("replay", "repeat a stored run bit for bit, including its steering", "  zoviz replay 3f2a")
