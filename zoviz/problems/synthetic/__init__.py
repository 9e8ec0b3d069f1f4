"""Test problems by formula that papers on constrained Bayesian optimisation share."""
