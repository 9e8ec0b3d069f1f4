"""Statistics of many runs: profiles of solvers over problems, running times to targets, and paired comparisons."""
