"""Studies: problems x solvers x replicas, by several processes."""
