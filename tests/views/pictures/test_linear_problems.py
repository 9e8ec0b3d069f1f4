"""Pictures of the problems with linear constraints: which is chosen, and that they show what is so."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.document import Document
from bokeh.models.annotations import ColorBar

from zoviz.core.registry import discover
from zoviz.core.streams import Streams
from zoviz.problems import DistributedConsensus, FairClassification, LoadTracking, NetworkSlicing, StochasticQP
from zoviz.views.common.design import LIGHT
from zoviz.views.pictures.base import Picture
from zoviz.views.pictures.consensus import Consensus
from zoviz.views.pictures.fairness import MOST, Fairness
from zoviz.views.pictures.network_slicing import LEAST, WIDEST, Slices, arcs

PICTURES = discover("zoviz.views.pictures", Picture)


@pytest.mark.parametrize(
    "problem, kind",
    [
        (FairClassification(), Fairness),
        (DistributedConsensus(), Consensus),
        (NetworkSlicing(), Slices),
        (StochasticQP(), None),
    ],
)
def test_each_problem_has_its_picture(problem, kind) -> None:
    assert [cls for cls in PICTURES.values() if cls.draws(problem)] == ([] if kind is None else [kind])
    assert not any(cls.draws(LoadTracking(n=3)) for cls in (Fairness, Consensus, Slices))


@pytest.mark.parametrize("kind", [Fairness, Consensus, Slices])
def test_a_picture_has_a_title_and_says_what_it_shows(kind) -> None:
    figure = kind().figure
    assert figure.title.text == kind.title
    words = [axis.axis_label for axis in figure.axis] + [bar.title for bar in figure.select(ColorBar)]
    assert any(words) or figure.legend
    Document(theme=LIGHT).add_root(figure)
    for part in (*figure.legend, *figure.select(ColorBar)):
        assert part.background_fill_alpha == 0.0, "the page's design is that of legends and colour bars"


def test_fairness_draws_the_path_the_bound_and_the_optimum() -> None:
    pytest.importorskip("sklearn", reason='python -m pip install "zoviz[data]"')
    problem, picture = FairClassification(bound=0.3), Fairness()
    path = problem.initial(Streams(0, MOST + 50))
    picture.update(problem, path)
    data, fairness = picture.path.data, problem.fairness(path)
    assert len(data["accuracy"]) == MOST
    assert picture.now.data["accuracy"].tolist() == [100.0 * fairness["accuracy"][-1]]
    assert picture.now.data["covariance"][0] == pytest.approx(fairness["covariance"][-1], rel=1e-12)
    assert data["covariance"][0] == pytest.approx(fairness["covariance"][0], rel=1e-12)
    assert picture.bound.data["c"] == [0.3]
    assert picture.bound.data["low"][0] < data["accuracy"].min() <= data["accuracy"].max() < 100.0
    assert picture.best.data["covariance"][0] == pytest.approx(0.3, abs=1e-9)
    picture.update(FairClassification(loss="smoothed 0-1"), path[:1])
    assert len(picture.best.data["covariance"]) == 0 and len(picture.path.data["covariance"]) == 1


def test_consensus_colours_nodes_by_their_distance_from_the_mean() -> None:
    problem, picture = DistributedConsensus(nodes=9, edge_probability=0.4), Consensus()
    path = problem.initial(Streams(0, 3))
    picture.update(problem, path)
    nodes, edges = picture.nodes.data, picture.edges.data
    at = path[-1].reshape(9, 2)
    np.testing.assert_allclose(nodes["apart"], np.linalg.norm(at - at.mean(axis=0), axis=1))
    np.testing.assert_allclose(np.hypot(nodes["x"], nodes["y"]), 1.0)
    assert f"at most {nodes['apart'].max():.1e}" in picture.words.text
    assert len(edges["x0"]) == 36 and set(edges["alpha"]) == {0.9 * 0.4}


def test_consensus_draws_the_edges_that_can_occur_and_no_sample_of_its_own() -> None:
    problem, picture = DistributedConsensus(nodes=5, probability_spread=0.9), Consensus()
    path = problem.initial(Streams(0, 3))
    picture.update(problem, path)
    data, graph = picture.edges.data, problem.data.graph
    angle = 2.0 * np.pi * np.arange(5) / 5
    for pair in range(10):
        place = np.flatnonzero(np.isclose(data["alpha"], 0.9 * graph.probability[pair]))
        ends = {(data["x0"][at], data["x1"][at]) for at in place}
        assert tuple(np.sin(angle[graph.ends[:, pair]])) in ends
    assert (np.diff(data["alpha"]) <= 0.0).all(), "the likeliest first"
    picture.update(problem, path[:2])
    assert picture.edges.data is data, "nothing is sent again for the same graph"
    picture.update(DistributedConsensus(nodes=5, edge_probability=0.3), path)
    assert set(picture.edges.data["alpha"]) == {0.9 * 0.3}


def test_slices_draw_links_as_wide_as_their_flows() -> None:
    problem, picture = NetworkSlicing(), Slices()
    x, network = np.zeros((1, problem.domain.n)), problem.data.network
    plan = problem.parts(x)
    plan.totals[0, 0, 3], plan.totals[0, 1, 3], plan.totals[0, 1, 5] = network.demand.max(), 0.4, LEAST * 0.5
    plan.choices[0, 1, 0] = [0.0, 0.8, 0.2]
    picture.update(problem, x)
    flows = picture.flows.data
    assert flows["flow"] == ["flow 1", "flow 2"], "and what is next to nothing is left out"
    np.testing.assert_allclose(flows["width"], [WIDEST, WIDEST * 0.4 / network.demand.max()])
    np.testing.assert_allclose(flows["used"], (network.demand.max() + 0.4) / network.capacity[3])
    assert flows["link"][0] == f"{network.tails[3]} → {network.heads[3]}"
    assert len(picture.links.data["xs"]) == len(network.tails)
    words, sites = picture.words.data["text"], network.sites[network.provider[1, 0]]
    assert "2: f1 80%" in words[sites[1]] and "2: f1 20%" in words[sites[2]] and "f1" not in words[sites[0]]
    for k in range(2):
        assert f"source {k + 1}" in words[network.source[k]] and f"target {k + 1}" in words[network.target[k]]
    assert (np.array(picture.nodes.data["marker"]) == "square").sum() == len(network.sites)


def test_an_arc_bulges_to_the_right_of_its_direction() -> None:
    xs, ys = arcs(np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([0.1, 0.1]))
    assert (xs[0][0], ys[0][0], xs[0][-1], ys[0][-1]) == (0.0, 0.0, 2.0, 0.0)
    assert min(ys[0]) == pytest.approx(-0.2) and max(ys[1]) == pytest.approx(0.2)
