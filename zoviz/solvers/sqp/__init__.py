"""Sequential quadratic programming from joint values, with and without noise."""
