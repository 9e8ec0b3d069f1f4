"""Studies: runs of many problems, solvers, parameter sets and seeds, by several processes."""
