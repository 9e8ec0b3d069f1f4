"""The picture of a sampler's chains: what it draws is the trial at the newest settings, what it writes its figures."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from helpers.waiting import until
from zoviz import Run
from zoviz.core.registry import discover
from zoviz.problems import Gramacy, HMCTuning
from zoviz.problems.learning.hmc_tuning import START, Trial
from zoviz.solvers import CMAES
from zoviz.views.pictures.base import Picture, PictureCard
from zoviz.views.pictures.sampler_chains import SamplerChains, kept_draws, slowest


def test_only_the_sampler_has_this_picture() -> None:
    kinds = discover("zoviz.views.pictures", Picture).values()
    assert [kind for kind in kinds if kind.draws(HMCTuning())] == [SamplerChains]
    assert not SamplerChains.draws(Gramacy())


def test_traces_correlations_and_words_are_those_of_the_trial() -> None:
    problem, picture = HMCTuning(gradients=300, rows=100), SamplerChains()
    picture.update(problem, picture.prepare(problem, np.array([np.zeros(4), START])))
    trial = problem.trial(START)
    j = slowest(trial)
    kept = kept_draws(trial)[..., j]
    levels = np.clip((trial.draws[..., j] - kept.mean()) / kept.std(), -4, 4)
    np.testing.assert_allclose(np.stack(picture.traces.data["ys"]), levels)
    assert [ys[0] for ys in picture.lags.data["ys"]] == [3.0, 3.0], "the correlation at lag 0 is 1"
    one = kept[0] - kept[0].mean()
    assert picture.lags.data["ys"][0][2] / 3.0 == pytest.approx((one[:-2] * one[2:]).sum() / (one @ one), rel=1e-12)
    title, size = picture.figure.title.text, trial.diagnostics.size[0]
    assert f"ESS {size:.0f}" in title and "of 3.3" in title and "of 1.2" in title
    assert picture.words.text.startswith("L 6, step 0.02, mass 1, burn-in 25%")


def test_a_sampler_that_never_moves_is_drawn_too() -> None:
    problem, picture = HMCTuning(gradients=300, rows=100), SamplerChains()
    picture.update(problem, picture.prepare(problem, np.array([[1.0, 1.0, 0.0, 1.0]])))
    assert "ESS 0" in picture.figure.title.text and "missed" in picture.figure.title.text
    assert "accepted 0%" in picture.words.text


def test_the_page_does_not_wait_for_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, problem = threading.Event(), threading.Event(), HMCTuning(gradients=300, rows=100)
    run = Run(problem, CMAES(), replicas=1, iterations=1)
    run.run()
    trial = HMCTuning.trial

    def slow_trial(one: HMCTuning, x: np.ndarray) -> Trial:
        begun.set()
        assert go_on.wait(60)
        return trial(one, x)

    monkeypatch.setattr(HMCTuning, "trial", slow_trial)
    card = PictureCard("problem")
    card.update(run)
    assert begun.wait(60) and card.picture is not None
    card.update(run)
    assert "ESS" not in card.picture.figure.title.text, "it is not there yet"
    go_on.set()
    until(lambda: card.update(run) or "ESS" in card.picture.figure.title.text)
