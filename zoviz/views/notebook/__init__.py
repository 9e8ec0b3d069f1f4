"""What runs, results, studies, problems and solvers show of themselves in a notebook's cell."""
