"""A solver at work, in memory: worker, steering, trace, stopping, result."""
