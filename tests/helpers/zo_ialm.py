"""Settings of ZO-iALM at which all that it does happens within a few hundred steps."""

from __future__ import annotations

W0, BETA, SIGMA, CAP, EPS, SHARE, TOL, RADIUS, PATIENCE = 0.6, 2.0, 3.0, 1.1, 0.8, 0.2, 0.3, 0.05, 3
SMOOTH, SMOOTH_H, SLOPE = 4.0, 2.0, 2.5
GIVEN = {
    "dual_step": W0,
    "penalty": BETA,
    "penalty_factor": SIGMA,
    "dual_cap": CAP,
    "tolerance": EPS,
    "proximal_share": SHARE,
    "inner_accuracy": TOL,
    "patience": PATIENCE,
    "smoothness": SMOOTH,
    "constraint_smoothness": SMOOTH_H,
    "constraint_slope": SLOPE,
}
