"""Our own studies of how solvers hold up where steps, noise or functions are bad."""
