"""Machine-learning problems: fairness, attacks, loss tuning."""
