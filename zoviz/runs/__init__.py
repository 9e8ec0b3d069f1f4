"""Runs: a solver on a problem in a worker thread, traced, steerable and replayable."""
