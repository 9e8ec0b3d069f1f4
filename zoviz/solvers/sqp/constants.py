"""The constants of ZOSQP: a name, a value, and what it is or where it is from; ours where no source is named.

Numbers that belong to a formula of the literature, and guards against round-off, stand beside their formulas.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SQPConstants:
    """Every choice of the method that no parameter makes; ``ZOSQP(constants={"sure": 3.0})`` makes another one."""

    # Without noise: the trust region and the ends of a run
    sufficient: float = 1e-3  # the least ratio of actual decrease to that by the slope of an accepted step (Armijo)
    retreats: int = 8  # shorter steps along a refused one
    room: float = 4.0  # a region that shrinks keeps this multiple of the accepted step
    good: float = 0.7  # it grows where an accepted whole step took as much of it,
    growth: float = 2.5  # by this factor
    corrected: float = 0.25  # ratio of actual to predicted decrease below which a second-order correction is tried
    accepted: float = 1e-4  # and that of one that serves
    exactness: float = 1e-13  # of the quadratic programmes: rows of 1e4 are to hold to 1e-6
    small_radius: float = 1e-9
    large_radius: float = 1e8  # in lengths of a start of 1e-6, a solution lies that far away
    flat: float = 1e-14  # a predicted decrease relative to max(1, |phi|) below which a run has come to its end
    stalled: int = 6  # accepted steps in a row
    tiny_decrease: float = 1e-10  # of so small a relative decrease end a run too
    restored: float = 1e-9  # the violation at which a restoration ends
    polishing_radius: float = 1e-2  # the least radius of a run's second, finer part
    near_best: float = 1e-2  # excess over the lowest f, relative to it, up to which that part is worth while
    largest_penalty: float = 1e6  # limits of the steering: of the penalty,
    least_violation: float = 1e-9  # and of what counts as no violation

    # Without noise: units and variables that enter linearly
    apart: float = 100.0  # longest over shortest length that slopes suggest, from which on variables take them
    aside: float = 0.1  # unit lengths from the start at which slopes must suggest them, too
    linear_reach: float = 1e3  # how much farther a step may go along variables that enter linearly (30 did as well)
    noticeable: float = 1e-2  # a move in unit lengths over which a variable's curvature would show in the slopes
    flattest: float = 1e-4  # least curvature, relative to the largest, in a Hessian that begins as a diagonal

    # Without noise: restarts, and the last calls
    first_radii: tuple[float, float] = (-2.0, 1.0)  # decimal exponents of a restart's first radius
    gap_kept: float = 0.9  # how far before the middle of the gap to failed calls, over half of it, steps end
    wall_kept: tuple[float, float] = (1e-3, 1e-5)  # and how far before it in unit lengths, in a run's finer part, too
    beside: float = 1e-2  # unit lengths from a failed point within which the best point is said to be beside it
    draws: int = 10  # of a start until one is not expected to fail
    progress: float = 0.9  # share of the violation at the last restoration's beginning that makes another worth while
    other_minimum: float = 1e-3  # difference of f, relative to 1 + |f|, between the ends of runs in different minima
    spare: tuple[float, ...] = (1.0, 4.0, 16.0, 64.0)  # multiples of a violation by which last calls keep away from it
    chord: tuple[float, ...] = (1.0, 0.8, 0.5)  # shares of the way to where chords of constraints meet 0
    no_room: float = 1e-2  # the least such way

    # Without noise: steps by models of past points, before differences
    past_radius: float = 0.03  # the least first radius: points of differences lie closer together
    past_kept: float = 0.25  # ratio of actual to promised decrease below which a step is a miss
    past_price: float = 10.0  # the least of violations over f, each in units of its spread
    past_misses: int = 2  # in a row that end them; one does where a fresh call gave other values
    past_growth: float = 3.0  # of the radius after a good step,
    past_shrink: float = 0.4  # and after a miss
    past_sweeps: int = 60  # of n + 1 calls that a first run from there may take, before one from the own start

    # Roughness and rounding
    line_calls: int = 6  # calls that measure roughness, besides the value at the line's first point
    doubtful: int = 3  # retreats after which it is measured
    line_spacing: float = 1e-5  # in unit lengths: functions are polynomials there to round-off, few kinks cross it
    roughness: float = 3e-9  # over slope, per unit length, from which on differences are wrong by some percent
    finer: float = 1e-2  # share of the spacing on a second line,
    lasting: float = 0.1  # and of the level that roughness keeps there: an oscillation shows less
    nearest_probe: float = 1e-4  # unit lengths from a plateau at which values may be neighbours on a lattice,
    farthest_probe: float = 1e-1  # and the farthest
    seen: int = 16  # points whose values are kept to tell rounding, without noise
    newest: int = 48  # and of the archive

    # Under noise: the noise itself, and starts
    replicates: tuple[int, int] = (3, 8)  # calls at the start that tell it: a fifteenth of the budget, within these
    enough_degrees: float = 24.0  # of freedom, below which trials are called twice while an output has shown none
    known_degrees: float = 100.0  # of noise that is known, as that of rounding is
    local_degrees: int = 12  # of replicates within reach, from which on they tell the noise there
    unlike: float = 10.0  # how many times as noisy as f, or less so, a constraint may be before it is divided
    first_radius: float = 0.25
    several_starts: int = 300  # sweeps of n + 1 calls from which on coarse descents from several starts pay
    most_starts: int = 7  # coarse descents at most
    noise_end: int = 6  # steps limited by noise in excess of those with progress that end it; the main one, too
    first_sweeps: int = 400  # that the first coarse descent may take,
    other_sweeps: int = 120  # and another one
    ahead: float = 1.5  # points of later batches for each worker, where calls are parallel,
    lead: float = 0.5  # of the last step that they are on from the next centre
    coarse_share: float = 0.5  # of the budget for them, of the share that begins elsewhere
    most_failures: int = 30  # steps whose calls all failed, after which a descent ends

    # Under noise: the archive, and rows that are equalities
    capacity: int = 1500  # points at most,
    capacity_per_variable: int = 12  # or this number per variable
    failure: float = 1e12  # a value beyond this multiple of those at the start, or of 1, is no data
    paired_every: int = 10  # steps after which pairs are searched for
    pair_points: int = 300  # the newest ones that the search is on
    pair_far: float = 5.0  # of the sum of two rows, in standard deviations, the largest
    pair_mean_square: float = 1.5  # and the mean square at which they still pass
    pair_change: float = 10.0  # how much the rows must change, so that two slack ones do not pass
    pair_unequal: float = 2.0  # how many times as large as the other one a row may be, each in a measured unit
    again_far: float = 60.0  # in later tests: largest square,
    again_mean_square: float = 1.2  # mean square,
    again_spread: float = 4.0  # and standard errors of it

    # Under noise: the models
    within: float = 2.0  # points within this number of radii serve a fit;
    farthest: float = 20.0  # where they are too few, the nearest up to this number
    fit_points: int = 320  # at most, up to 15 variables,
    fit_points_large: int = 420  # beyond,
    fit_points_per_variable: int = 6  # or this number per variable
    refreshed: int = 6  # fits between two that try all magnitudes,
    refreshed_up_to: int = 60  # and with so few points; else those that served last
    curvatures: tuple[float, ...] = (0.03, 0.3, 3.0, 30.0, 300.0, 3e3, 3e4)  # prior sds, in units of the noise
    biases: tuple[float, ...] = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)  # of the error at |u| = 1, as |u|^3
    shared_sweeps: int = 60  # sweeps of n + 1 calls in which batches share noise: more calls serve levels, not slopes
    shared: tuple[float, ...] = (0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 1e3, 1e4)  # of the noise that a batch shares
    most_biased: float = 0.7  # ratios of the second to the first
    least_biased: float = 0.002  # between which combinations are tried
    diagonal_from: int = 8  # variables, on which a diagonal Hessian is tried, too
    full_up_to: int = 150  # variables up to which a full one is: a fit takes tenths of a second there
    exact: float = 1e-9  # noise over change below which an output is exact beside noisy ones,
    least_share: float = 1e-4  # and what it then counts with: in its own, curvatures could not be represented
    near_bound: float = 0.3  # of the radius, with less room than which a coordinate of a design takes three levels

    # Under noise: the candidate
    noisy_penalty: float = 1e3  # the largest
    inner_steps: int = 25
    inner_sufficient: float = 0.1  # ratios of the actual to the predicted decrease: accepted,
    inner_good: float = 0.6  # and where the inner region grows
    inner_shortest: float = 1e-5  # inner radius over the outer one at which the search ends
    inner_too_small: float = 1e-3  # predicted decrease, in standard deviations of f, below which it ends
    next_to_none: float = 0.1  # of the violation that counts as none, may be left where rows count as met
    least_tolerance: float = 0.02  # of the noise, is a violation that counts as none while models are solved
    decay: float = 0.3  # of a penalty that is too large: the noise of constraints hides what a step gains
    false_alarm: float = 0.005  # probability that noise is taken for a wrong model, over all rows (Bonferroni)

    # Under noise: the radius, and lengths of variables
    widest_radius: float = 50.0
    nearby: float = 1.3  # radii within which a point counts for the next design
    hidden: float = 0.5  # quadratic part, in standard deviations, below which a smaller design would show no more
    pushes: int = 3  # accepted steps in turn,
    at_border: float = 0.9  # each this share of the way to the border, to one side, stretch a variable's length
    stretch: float = 2.0  # by this factor, where the radius grows no more; a change of direction undoes it
    longest: float = 1e6  # first lengths at most

    # Under noise: the race
    sure: float = 2.0  # standard errors by which a point must be feasible to count as such, or worse to be dropped
    proof: float = 3.0  # and by which it must violate to count as infeasible: several rows are judged several times
    as_well_known: float = 2.0  # an equality known worse by this factor than at another candidate counts as violated
    at_odds: float = 4.0  # standard deviations between model and calls from which on the model does not count there
    race_radius: float = 0.7  # the part of the trust region in which the models are trusted to the end
    backed_off: tuple[float, ...] = (0.33, 1.0, 2.0)  # candidates: with these multiples of the usual back-off
    more_caution: float = 2.0  # where none is confirmed: the next ones' back-off; where all violate: the radius
    inside: float = 3.0  # standard errors by which constraints hold at an answer of last resort
    beyond: float = 1.1  # times the errors by which a compromise must hold, it is to hold where a batch shares noise
    share_of_calls: float = 1.0 / 3.0  # of those left, a compromise may expect: it and the leader share half of them


STANDARD = SQPConstants()
