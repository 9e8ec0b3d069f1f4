"""The room of the page in which solvers are set against each other on many problems."""
