"""Verdicts on radii and on divergence, and the crossing of a level for the last time."""

from __future__ import annotations

import numpy as np

from zoviz.papers.conex.methods import Claim, alike, diverges, judged, last_crossing


def test_verdicts_tell_settings_that_differ_from_those_that_are_alike() -> None:
    a, b, never = np.array([90.0, 100.0, 120.0]), np.array([150.0, 190.0, np.inf]), np.full(3, np.inf)
    assert alike([a, b]).startswith("reproduced") and alike([a, 3.0 * a]).startswith("not reproduced")
    assert alike([a, never]).startswith("not reproduced") and alike([never, never]).startswith("cannot be decided")
    assert diverges(np.array([2.0, 3.0])).startswith("reproduced")
    assert diverges(np.array([0.2, 0.3])).startswith("not reproduced")
    assert diverges(np.array([0.2, 3.0])).startswith("cannot be decided")
    calls = np.arange(4.0)[:, None] * np.ones(3)
    values = np.array([[5.0, 1.0, 5.0], [1.0, 2.0, 5.0], [2.0, 5.0, 5.0], [1.0, 1.0, 5.0]])
    np.testing.assert_array_equal(last_crossing(calls, values, 1.0), [3.0, 3.0, np.inf])
    np.testing.assert_array_equal(last_crossing(calls, values, 2.0), [1.0, 3.0, np.inf])


def test_claims_of_one_figure_are_corrected_together_and_what_matters_is_said() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(size=12)
    lower, hair, noise = base - rng.uniform(0.5, 1.0, 12), base - rng.uniform(1e-6, 1e-5, 12), rng.normal(size=12)
    claims = [Claim("much lower", lower, base), Claim("by a hair", hair, base), Claim("any", noise, base)]
    texts = judged(claims, least=0.01)
    assert texts[0].startswith("much lower: yes") and "12 pairs" in texts[0]
    assert texts[1].startswith("by a hair: no, no difference that matters")
    assert texts[2].startswith("any: cannot be decided")
    assert judged(claims, least=0.0)[1].startswith("by a hair: yes"), "signed ranks alone call it lower"
    assert judged([Claim("higher", base, lower)], least=0.01)[0].startswith("higher: no, worse")
    (alone,), together = judged(claims[:1], 0.01), texts[0]
    p_alone, p_together = (float(text.split("p = ")[1].split(",")[0]) for text in (alone, together))
    np.testing.assert_allclose(p_together, 3.0 * p_alone, rtol=0.05)
