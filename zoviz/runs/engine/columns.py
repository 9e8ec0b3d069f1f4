"""Columns of a trace: every name that a row may have, with its shape, unit and meaning."""

from __future__ import annotations

from zoviz.core.types import Column

ITERATION, SECONDS, CALLS = "iteration", "seconds", "calls"
SAMPLES, ZETA_SAMPLES = "samples", "zeta_samples"
OBJECTIVE, VIOLATION = "objective", "violation"
GAP, RELATIVE_GAP, STATIONARITY = "gap", "relative_gap", "stationarity"
BEST_OBJECTIVE, BEST_GAP = "best_objective", "best_gap"
DUAL, DUAL_NORM = "dual", "dual_norm"
STAGE = "stage"
TRUST_RADIUS, DESIGN_RADIUS = "trust_radius", "design_radius"
ARCHIVE, STARTS = "archive", "starts"
VALUE_NOISE = "value_noise"
VARIANCE, VARIANCE_PREDICTED = "variance", "variance_predicted"
POLISHED = "polished_"
"""Before the name of a measure of the polished answer."""
RESIDUAL, NORMAL_RESIDUAL = "residual", "normal_residual"
NEAR_STATIONARITY, DUAL_RESETS = "near_stationarity", "dual_resets"
REGRET, AVERAGE_REGRET, HYPERGRADIENT = "regret", "average_regret", "hypergradient"
WINDOWED_REGRET, AVERAGE_WINDOWED_REGRET = "windowed_regret", "average_windowed_regret"
INNER_ERROR, SYSTEM_ERROR = "inner_error", "system_error"

CALLS_OF = "calls: "
"""Before the kind of a call that gave something else than joint values, e.g. "calls: gradient"."""
CALLS_FOR = "calls for: "
"""Before the purpose of calls, e.g. "calls for: line search"; the columns add up to ``CALLS``."""
BOUND = "bound: "
"""Before the source of a published bound on the variance, e.g. "bound: splm (5)"."""
ACCURACY = "accuracy"
"""At the end of every accuracy that a problem measures, e.g. "test_accuracy"."""

_OF_F = "as the objective"

COLUMNS = (
    Column(ITERATION, "steps", "Steps taken so far.", "rows"),
    Column(SECONDS, "s", "Computing time of the steps, without pauses and measurements.", "rows"),
    Column(CALLS, "calls", "Oracle calls so far, whatever their kind."),
    Column(SAMPLES, "samples", "Samples ξ so far, counted in full mini-batches."),
    Column(ZETA_SAMPLES, "samples", "Samples ζ so far, of constraints or of the lower level."),
    Column(OBJECTIVE, _OF_F, "f at the reported iterate, exact where the problem is analytic."),
    Column(VIOLATION, "as the constraints", "||[h]_+|| at the reported iterate."),
    Column(GAP, _OF_F, "f - f* at the reported iterate, where f* is known."),
    Column(RELATIVE_GAP, "1", "|f - f*| / |f*|, where f* is known and not 0."),
    Column(STATIONARITY, "as the gradient", "Largest of the residuals of stationarity, violation and complementarity."),
    Column(BEST_OBJECTIVE, _OF_F, "Lowest f of a feasible point queried so far."),
    Column(BEST_GAP, _OF_F, "f - f* at the best feasible point so far."),
    Column(DUAL, "objective per constraint", "The first multipliers of h.", "rows, R, j"),
    Column(DUAL_NORM, "objective per constraint", "||y||, the norm of all multipliers."),
    Column(TRUST_RADIUS, "unit lengths", "Radius of the trust region of a method that has one."),
    Column(
        DESIGN_RADIUS,
        "unit lengths",
        "Radius of the points that the models are fitted to; noise keeps it from shrinking.",
    ),
    Column(ARCHIVE, "points", "Distinct points that the models can be fitted to."),
    Column(VALUE_NOISE, _OF_F, "Standard deviation of one value of f, as a method that repeats calls has measured it."),
    Column(STARTS, "starts", "Local searches so far, each from another point."),
    Column(STAGE, "stages", "Number of the solver's stage, from 0, where it works in stages."),
    Column(VARIANCE, "as the gradient, squared", "Measured variance of the step's gradient estimate."),
    Column(VARIANCE_PREDICTED, "as the gradient, squared", "Variance that theory predicts as the radius goes to 0."),
    Column(RESIDUAL, "as the constraints", "||A x - t - b|| with the slack t of a method that has one."),
    Column(NORMAL_RESIDUAL, "as the gradient", "Smallest ||v|| over v in grad f + A^T y + N_X."),
    Column(POLISHED + OBJECTIVE, _OF_F, "f at the polished answer, in the last row."),
    Column(POLISHED + VIOLATION, "as the constraints", "||[h]_+|| at the polished answer, in the last row."),
    Column(POLISHED + NORMAL_RESIDUAL, "as the gradient", "||v|| at the polished answer and its multipliers."),
    Column(POLISHED + CALLS, "calls", "Oracle calls when there was a polished answer."),
    Column(POLISHED + SAMPLES, "samples", "Samples ξ when there was a polished answer."),
    Column(POLISHED + ZETA_SAMPLES, "samples", "Samples ζ when there was a polished answer."),
    Column(NEAR_STATIONARITY, "as the gradient", "Gradient of the Moreau envelope, if it is measured."),
    Column(DUAL_RESETS, "resets", "How often the dual variables were reset."),
    Column(REGRET, "hypergradient, squared", "Sum of squared projected hypergradients over the rounds."),
    Column(AVERAGE_REGRET, "hypergradient, squared", "Regret divided by the number of rounds."),
    Column(WINDOWED_REGRET, "hypergradient, squared", "The regret of means of the last w rounds' functions."),
    Column(AVERAGE_WINDOWED_REGRET, "hypergradient, squared", "Windowed regret divided by the number of rounds."),
    Column("leader_variation", "as the objective", "V_T, the change of F_t from round to round."),
    Column("path_variation", "as y, squared", "H_2,T, the squared path-length of y*."),
    Column("outer_variation", "as the gradient, squared", "D_T, the change of the gradients of f_t."),
    Column("inner_variation", "as the gradient, squared", "G_T, the change of the derivatives of g_t at the iterates."),
    Column(HYPERGRADIENT, "as the gradient", "||projected hypergradient|| of the last round."),
    Column(INNER_ERROR, "as y", "||y_t - y*_t(x_t)|| of the last round."),
    Column(SYSTEM_ERROR, "as v", "||v - v*_t(x_t)|| of the last round."),
)
"""Columns of every problem's and solver's traces; a problem adds its own in ``Problem.columns``."""

FAMILIES = (
    Column(CALLS_OF, "calls", "Calls for something other than joint values of f and h, by kind."),
    Column(CALLS_FOR, "calls", "Calls for one purpose."),
    Column(BOUND, "as the gradient, squared", "A published bound on the variance of the estimate."),
)
"""Columns of which there are several, by what their names begin with."""
