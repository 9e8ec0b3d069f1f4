"""UM-Bridge: models of its own server are problems, and its own client calls problems of ours."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.waiting import until
from zoviz import BlackBox, Run
from zoviz.adapters.umbridge import RemoteModel, ServedProblem
from zoviz.problems import WeldedBeam
from zoviz.views.app.server import free_port

umbridge = pytest.importorskip("umbridge")

MODEL = """
import sys
import umbridge


class Valley(umbridge.Model):
    def get_input_sizes(self, config):
        return [1, 2]

    def get_output_sizes(self, config):
        return [1, 2]

    def supports_evaluate(self):
        return True

    def __call__(self, parameters, config):
        (x,), (y, z) = parameters
        if z < -0.5:
            raise ValueError("it did not converge")
        return [[x * x + y * y + z * z * config.get("scale", 1.0)], [1 - x, y + z - 3]]


umbridge.serve_models([Valley("valley")], port=int(sys.argv[1]))
"""
OURS = """
import sys
import umbridge
from zoviz.adapters.umbridge import ServedProblem
from zoviz.problems import WeldedBeam

umbridge.serve_models([ServedProblem(WeldedBeam(), "beam")], port=int(sys.argv[1]))
"""


def valley(x: np.ndarray) -> tuple[float, list[float]]:
    if x[2] < -0.5:
        raise ValueError("it did not converge")
    return float(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), [float(1 - x[0]), float(x[1] + x[2] - 3)]


@contextmanager
def serving(script: str, folder: Path) -> Iterator[str]:
    (folder / "serve.py").write_text(script)
    port = free_port()
    server = subprocess.Popen([sys.executable, "serve.py", str(port)], cwd=folder, stdout=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        until(lambda: answers(url), 60)
        yield url
    finally:
        server.terminate()
        server.wait(30)


def answers(url: str) -> bool:
    try:
        return bool(umbridge.supported_models(url))
    except OSError:
        return False


def test_a_model_of_another_server_is_a_problem_with_the_points_of_a_local_function(tmp_path: Path) -> None:
    options: dict[str, Any] = {"bounds": [(-2.0, 2.0)] * 3, "joint": True, "on_error": "fail", "m": 2}
    options |= {"x0": [1.5, 1.0, 1.0], "noise": "deterministic"}
    with serving(MODEL, tmp_path) as url:
        model = RemoteModel(url, "valley")
        assert (model.n, model.m) == (3, 2)
        result = Run(BlackBox(model, **options), "ZOSQP", replicas=1, calls=60).run()
        assert pickle.loads(pickle.dumps(model))(np.ones(3)) == (3.0, [0.0, -1.0])
        assert RemoteModel(url, "valley", {"scale": 5.0})(np.ones(3))[0] == 7.0
        failing = BlackBox(model, **options | {"noise": "independent"}).evaluate(np.array([[1.0, 1.0, -1.0]]))
        assert np.isnan(failing.f).all()
    expected = Run(BlackBox(valley, **options), "ZOSQP", replicas=1, calls=60).run()
    assert np.array_equal(result.x, expected.x)
    assert result.failures.tolist() == expected.failures.tolist()


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
