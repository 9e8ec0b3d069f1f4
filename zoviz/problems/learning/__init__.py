"""Machine-learning problems: fair classification, attack on a classifier, loss tuning, settings of a sampler."""
