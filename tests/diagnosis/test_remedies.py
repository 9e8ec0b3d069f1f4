"""Remedies of a run: what its verdict names, at which price, and in whose words."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.types import Array
from zoviz.diagnosis.remedies import MOST, TABLE, RunToMend, advice, place_of, remedies, trial_calls
from zoviz.diagnosis.verdict import Verdict, Word, verdict_of
from zoviz.papers.robustness.labelled_runs import Case, run_of
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.solvers import ZOCEG, ZOSPLM, ZOSQP

QCQP = {"n": 4}


def ended(**steps: float) -> Run:
    """A run of some thirty iterations, with other steps than its rule's where they are given."""
    run = Run(NonconvexQCQP(n=4), ZOCEG(**steps), replicas=2, iterations=30)
    run.run()
    return run


def words(run: Run, judged: Verdict | None = None) -> list[str]:
    return [one.words for one in remedies(run, judged)]


def test_every_verdict_but_a_good_one_has_remedies_and_none_needs_more_than_three() -> None:
    assert set(Word) - set(TABLE) == {Word.SOLVED, Word.NOISE_FLOOR}
    run = ended()
    for word in Word:
        named = words(run, Verdict(word, "A sentence."))
        assert len(named) <= MOST and bool(named) is (word in TABLE)
        assert word not in TABLE or named[-1] == "more calls" or named[-1].startswith("another method")


def test_steps_that_a_person_has_set_are_first_left_to_the_rule() -> None:
    given = ended(primal_step=1e-9, dual_step=1e-9)
    assert verdict_of(given).unmoved
    assert words(given) == ["the steps of the solver's rule", "steps a hundred times as long", "another method, ZOSQP"]
    chosen = remedies(ended(), Verdict(Word.OSCILLATING, ""))[0]
    assert chosen.words == "steps a quarter as long"
    assert chosen.changes["primal_step"] == pytest.approx(0.25 * ended().resolved["primal_step"])


def test_the_price_is_that_of_a_fork_or_of_a_run_that_begins_anew() -> None:
    run = ended()
    judged = Verdict(Word.OSCILLATING, "")
    place, named = place_of(run, judged), remedies(run, judged)
    assert place.iteration == 30 and place.repeated == run.progress.calls
    assert [one.calls for one in named] == [place.repeated + place.further] * 2 + [place.further]
    everything = run.replicas * (place.repeated + place.further + sum(one.calls for one in named))
    assert trial_calls(run, judged, named) == everything
    assert place_of(run, judged, 77).further == 77 and remedies(run, judged, 77)[-1].calls == 77
    assert advice(named).startswith(f"Worth a try: steps a quarter as long ({named[0].calls:,} calls), ")
    assert advice([]) == ""


def test_a_run_that_ran_away_after_a_change_is_offered_the_value_before() -> None:
    run = Run(NonconvexQCQP(n=4), ZOCEG(primal_step=1e-4, dual_step=1e-4), replicas=1, iterations=40)

    def steer() -> None:
        if run.progress.iteration == 20:
            run.set({"primal_step": 100.0})

    run.run(steer)
    judged = Verdict(Word.DIVERGING, "")
    first = remedies(run, judged)[0]
    assert first.changes == {"primal_step": 1e-4}
    assert first.words == f"{ZOCEG.param.primal_step.label} back to 0.0001", "as forms call it"
    assert place_of(run, judged).iteration == 20 and place_of(ended(), judged).iteration == 0


def test_a_radius_is_widened_under_noise_and_variables_are_scaled_where_they_are_not() -> None:
    noisy = Run(NonconvexQCQP(n=4, noise="independent"), ZOSPLM(), replicas=2, iterations=20)
    noisy.run()
    radius = noisy.resolved["estimator.smoothing_radius"]
    wider = remedies(noisy, Verdict(Word.STALLED, "", unmoved=True))[0]
    assert wider.afresh["solver"].get("estimator.smoothing_radius") == pytest.approx(100.0 * radius)

    def objective(x: Array) -> float:
        return float(np.square(x).sum())

    own = Run(BlackBox(objective, bounds=[(-1, 1), (-1e3, 1e3)], scaled=False), ZOSPLM(), replicas=1, iterations=20)
    own.run()
    first = remedies(own, Verdict(Word.SETTLED, ""))[0]
    assert first.words == "variables and functions scaled" and first.afresh["problem"].scaled and not own.problem.scaled


def test_a_method_that_would_be_chosen_anyway_is_not_another() -> None:
    run = Run(NonconvexQCQP(n=4), ZOSQP(), replicas=1, iterations=5)
    run.run()
    assert not [one for one in words(run, Verdict(Word.INFEASIBLE, "")) if "method" in one]
    assert RunToMend(run).noisy is False


@pytest.mark.parametrize("factor", [1e-5, 100.0])
def test_words_of_the_verdict_and_remedies_agree(factor: float) -> None:
    run = run_of(Case("NonconvexQCQP", "ZOCEG", frozenset(), factor, 60, QCQP), replicas=2)
    judged = verdict_of(run)
    assert judged.word in (Word.STALLED, Word.DIVERGING) and "may" not in judged.sentence
    assert words(run)[0] == "the steps of the solver's rule" == run.remedies()[0].words
