"""The frames of a picture: what it looked like along the course, each value once, within so many bytes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from zoviz import Run
from zoviz.problems import LoadTracking, WeldedBeam
from zoviz.solvers import ZOSPLM, ZOSQP
from zoviz.views.pictures.designs.beam_drawing import BeamDrawing
from zoviz.views.report import player
from zoviz.views.report.player import FRAMES, frames_of, picture_of


def test_frames_follow_the_course_and_the_last_is_the_end() -> None:
    run = Run(LoadTracking(n=5), ZOSPLM(), replicas=2, iterations=200)
    run.run()
    found = picture_of(run)
    assert found is not None
    picture, frames = found
    assert len(frames.calls) <= FRAMES and frames.calls == sorted(frames.calls)
    assert frames.calls[-1] == run.progress.calls
    data = json.loads(frames.text)
    assert {len(row) for row in data["at"]} == {len(data["targets"])} and len(data["at"]) == len(data["calls"])
    assert max(map(max, data["at"])) == len(data["values"]) - 1 and len(set(frames.values)) == len(frames.values)
    ids = {model.id for model in picture.figure.references()}
    assert {id for id, _ in data["targets"]} <= ids


def test_frames_that_need_too_many_bytes_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = WeldedBeam()
    path = np.linspace(problem.domain.lower + 0.1, problem.domain.upper, 50)
    calls = np.arange(50.0)
    whole = frames_of(BeamDrawing(), problem, path, calls)
    monkeypatch.setattr(player, "MOST_BYTES", sum(map(len, whole.values)) // 3)
    thinned = frames_of(BeamDrawing(), problem, path, calls)
    assert len(whole.calls) == 50 and 2 <= len(thinned.calls) <= 17 and thinned.calls[-1] == 49.0
    monkeypatch.setattr(player, "MOST_BYTES", 10)
    assert frames_of(BeamDrawing(), problem, path, calls).calls == [49.0]


def test_a_problem_without_a_picture_has_no_frames() -> None:
    run = Run(LoadTracking(n=5), ZOSQP(), replicas=1, calls=30)
    run.run()
    assert picture_of(Run(WeldedBeam(), ZOSQP())) is None, "it has not begun"
