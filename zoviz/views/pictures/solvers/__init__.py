"""Pictures of solvers, by their state."""
