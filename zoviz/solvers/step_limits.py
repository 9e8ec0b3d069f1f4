"""How far a live parameter may be moved: within its theorem, or at least so far that the local iteration is stable.

Dual steps have no limits here. The end of the linear iteration's stability, at the slope of the start, says little of
them: multipliers that stop at 0 keep the course within bounds far beyond it. Of six instances none diverged at 4 times
that end with extra-gradients, one with descent; it took 16 to 64 times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array, Constants, Provenance


class StepLimits(NamedTuple):
    """The ends of a parameter's intervals, both from 0.

    Attributes
    ----------
    theorem : float or None
        Up to here its paper's theorem holds; None where none says so in constants that are known.
    source : str
        The theorem's name; empty where there is none.
    stable : float
        Up to here the local iteration is stable, at the present multipliers.
    provenance : Provenance
        Of the constants: known, measured or assumed.
    """

    theorem: float | None
    source: str
    stable: float
    provenance: Provenance


def descent_end(variance: float) -> float:
    r"""Return the end of c L for one descent step along an estimate of relative variance v: 2 / (1 + v)."""
    return 2.0 / (1.0 + variance)


def extragradient_end(variance: float) -> float:
    r"""Return the end a of c L for an extra-gradient step whose two estimates have the relative variance v = w - 1.

    .. math:: w^2 a^3 - 2 w a^2 + (2 + w) a - 2 = 0

    up to where the mean square of a component falls: (1 - a + a^2)^2 + a^4 v + a^2 v [(1 - a)^2 + a^2 v] = 1; a = 1
    without noise.
    """
    w = 1.0 + variance
    roots = np.roots([w**2, -2.0 * w, 2.0 + w, -2.0])
    return float(min(root.real for root in roots if abs(root.imag) < 1e-9 and root.real > 0))


def primal_limits(
    constants: Constants,
    y: Array,
    *,
    end: float,
    weight: float = 0.0,
    answer: float = 0.0,
    cap: float | None = None,
    reach: float | None = None,
    source: str = "",
) -> StepLimits:
    r"""Return the limits of a primal step c along an estimate of grad L at multipliers y (R, m), of all replicas.

    .. math:: c \le \frac{a}{L_f + \|y\| L_h + p + q} \max\{1, \|y\| / w\}

    beyond which a step along the steepest curvature goes further from the minimum than it was. The theorem has
    c <= 1 / [2 (L_f + B L_h + p)].

    Parameters
    ----------
    constants : Constants
    y : Array, shape (R, m)
    end : float
        a, at which the iteration ceases to be stable for a curvature of 1: ``descent_end``, ``extragradient_end``.
    weight : float
        p, of a proximal term or a penalty.
    answer : float
        q, what a dual step adds that answers in the same iteration: ``coupling``.
    cap : float or None
        B, the largest ||y||; None: unknown, or there is no theorem.
    reach : float or None
        w, from which on the method itself shortens its steps by w / ||y||; None where it does not.
    source : str
        The theorem's name.

    References
    ----------
    Polyak (1987), Introduction to Optimization, §1.4, for 2 / L; paper splm, Lemma 5, with the curvature of the
    Lagrangian in the place of that of f.
    """
    size = np.sqrt(np.square(y).sum(axis=1))
    curvature = constants.curvature + size * constants.constraint_curvature + weight
    shortened = np.ones_like(size) if reach is None else np.maximum(size / reach, 1.0)
    whole = None if cap is None else constants.curvature + cap * constants.constraint_curvature + weight
    stable = float((end * shortened / (curvature + answer)).min())
    return StepLimits(None if whole is None else 0.5 / whole, source, stable, constants.provenance)


def coupling(constants: Constants, dual_step: float, extrapolation: float = 0.0) -> float:
    r"""Return what a dual step that answers in the same iteration adds to the curvature, at the slope G_0 of the start.

    .. math:: x^+ = x - c\,(L x + G y), \quad y^+ = y + \alpha G\,[(1 + \theta) x - \theta x^-]
              \quad\text{or}\quad \alpha G x^+

    is stable for c < 2 / [L + (1 + 2 theta) alpha G^2 / 2], by Jury's conditions at z = -1.
    """
    return (0.5 + extrapolation) * dual_step * constants.start_slope**2
