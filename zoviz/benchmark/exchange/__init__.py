"""Results of other benchmarks set beside a study's, and a study's results as files for other programs."""
