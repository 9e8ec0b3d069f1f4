"""The command ``zoviz resume``: an interrupted run continued from its last checkpoint."""

from zoviz.cli.repeat_command import RepeatCommand

COMMAND = RepeatCommand(
    "resume",
    "continue an interrupted run from its last checkpoint",
    "  zoviz resume 3f2a\n  zoviz resume 3f2a --trust my_module    for a run of your own functions",
)
