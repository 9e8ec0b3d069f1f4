"""How far a live parameter may be moved: within its theorem, or at least so far that the local iteration is stable."""

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


def primal_limits(
    constants: Constants,
    y: Array,
    *,
    weight: float,
    variance: float,
    cap: float | None,
    reach: float | None,
    source: str,
) -> StepLimits:
    r"""Return the limits of a primal step c along an estimate of grad L at multipliers y (R, m), of all replicas.

    .. math:: c \le \frac{2}{(L_f + \|y\| L_h + p)(1 + v)} \max\{1, \|y\| / w\}

    beyond which a step along the steepest curvature goes further from the minimum than it was; with random directions,
    whose estimates have the relative variance v, its mean square does. The theorem has c <= 1 / [2 (L_f + B L_h + p)].

    Parameters
    ----------
    constants : Constants
    y : Array, shape (R, m)
    weight : float
        p, that of a proximal term.
    variance : float
        v.
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
    stable = 2.0 * shortened / (curvature * (1.0 + variance))
    whole = None if cap is None else constants.curvature + cap * constants.constraint_curvature + weight
    provenance = Provenance.MEASURED if constants.measured else Provenance.ANALYTIC
    return StepLimits(None if whole is None else 0.5 / whole, source, float(stable.min()), provenance)
