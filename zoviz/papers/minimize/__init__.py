"""Studies of ``minimize``: published problems with default settings, and the choice of the method."""
