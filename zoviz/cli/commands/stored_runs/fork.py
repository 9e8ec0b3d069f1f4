"""The command ``zoviz fork``: a stored run repeated up to an iteration, then continued with changes."""

from zoviz.cli.repeat_command import RepeatCommand

COMMAND = RepeatCommand(
    "fork",
    "repeat a stored run up to an iteration, then continue with changed parameters",
    "  zoviz fork 3f2a --at 500 primal_step=0.01 --calls 40000",
)
