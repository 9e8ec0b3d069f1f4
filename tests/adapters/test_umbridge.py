"""UM-Bridge: models of its own server are problems, and its own client calls problems of ours."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.doors import Ledger, assert_resumed_after_kill, assert_same_result, finished_run
from helpers.project import ROOT
from helpers.waiting import until
from zoviz import BlackBox
from zoviz.adapters.umbridge import RemoteModel, ServedProblem
from zoviz.problems import WeldedBeam
from zoviz.views.app.server import free_port

umbridge = pytest.importorskip("umbridge")

MODEL = """
import sys

import numpy as np
import umbridge
from helpers.doors import Ledger


class Model(umbridge.Model):
    def get_input_sizes(self, config):
        return [1, 1]

    def get_output_sizes(self, config):
        return [1, 2]

    def supports_evaluate(self):
        return True

    def __call__(self, parameters, config):
        f, h = Ledger()(np.concatenate(parameters))
        return [[f * config.get("scale", 1.0)], h]


umbridge.serve_models([Model("ledger")], port=int(sys.argv[1]))
"""
OURS = """
import sys
import umbridge
from zoviz.adapters.umbridge import ServedProblem
from zoviz.problems import WeldedBeam

umbridge.serve_models([ServedProblem(WeldedBeam(), "beam")], port=int(sys.argv[1]))
"""


def function(url: str) -> RemoteModel:
    return RemoteModel(url, "ledger")


@contextmanager
def serving(script: str, folder: Path) -> Iterator[str]:
    (folder / "serve.py").write_text(script)
    port = free_port()
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    command = [sys.executable, "serve.py", str(port)]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, env=environment)
    try:
        url = f"http://127.0.0.1:{port}"
        until(lambda: answers(url), pause=0.1)
        yield url
    finally:
        server.terminate()
        server.wait(120)


def answers(url: str) -> bool:
    try:
        return bool(umbridge.supported_models(url))
    except OSError:
        return False


def test_a_model_of_another_server_is_a_problem_with_the_points_of_a_local_function(tmp_path: Path) -> None:
    x = np.array([1.5, 0.5])
    f, h = Ledger()(x)
    with serving(MODEL, tmp_path) as url:
        model = function(url)
        assert (model.n, model.m) == (2, 2)
        assert_same_result(finished_run(model).result, finished_run(Ledger()).result)
        assert pickle.loads(pickle.dumps(model))(x) == (f, h)
        assert RemoteModel(url, "ledger", {"scale": 5.0})(x) == (5.0 * f, h)
        assert_resumed_after_kill("adapters.test_umbridge", url, tmp_path)


def test_a_problem_is_served_to_the_client_of_umbridge(tmp_path: Path) -> None:
    with serving(OURS, tmp_path) as url:
        client: Any = umbridge.HTTPModel(url, "beam")
        assert client.get_input_sizes() == [4]
        assert client.get_output_sizes() == [1, 7]
        x = [0.3, 3.0, 9.0, 0.3]
        f, h = client([x])
    value = WeldedBeam().evaluate(np.array([x]))
    assert f == value.f.tolist()
    assert h == value.h[0].tolist()


def test_a_call_that_fails_is_an_error_for_the_client() -> None:
    failing = BlackBox(lambda x: float("nan"), bounds=[(0, 1)], m=0)
    with pytest.raises(ValueError, match="finite values"):
        ServedProblem(failing)([[0.5]], {})
