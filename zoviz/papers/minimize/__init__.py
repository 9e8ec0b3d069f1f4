"""Studies of ``minimize``: published problems, choice of the method."""
