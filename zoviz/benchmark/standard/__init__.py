"""The standing benchmark: a list of problems by rule, all solvers, with and without noise, kept by version."""
