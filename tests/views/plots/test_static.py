"""Figures that stand still draw what the dashboard's frames hold."""

from __future__ import annotations

import holoviews as hv
import numpy as np
import panel as pn
import pytest
from bokeh.document import Document
from bokeh.models import ImportedStyleSheet

from zoviz import Run
from zoviz.problems import LoadTracking
from zoviz.solvers import ZOCEG, ZOSPLM
from zoviz.views.common.colours import PALETTE
from zoviz.views.plots.catalogue.variance import Variance
from zoviz.views.plots.line_data import Series, line_data
from zoviz.views.plots.static import convergence, plot
from zoviz.views.upstream.panel import inline_styles


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    out = []
    for solver in (ZOSPLM(), ZOCEG()):
        run = Run(problem=LoadTracking(n=5), solver=solver, replicas=4, iterations=60, targets={"relative_gap": 0.5})
        run.start(steps=30)
        while run.progress.iteration < 30:
            pass
        run.set({"primal_step": 0.5 * run.resolved["primal_step"]})
        run.unpause()
        run.wait()
        out.append(run)
    return out


def drawn(figure: hv.Overlay, kind: type) -> list:
    return [one for one in figure if type(one) is kind]


@pytest.mark.parametrize("axis", ["calls", "iteration", "seconds"])
@pytest.mark.parametrize("band", ["std", "range", "quartiles", "none"])
def test_it_draws_the_dashboards_frame(runs: list[Run], axis: str, band: str) -> None:
    figure = convergence(runs[0], axis=axis, band=band)
    (curve,) = drawn(figure, hv.Curve)
    expected = line_data(runs[0].trace.snapshot(), [Series("gap", "")], axis, band, False, True).columns()
    np.testing.assert_array_equal(curve.dimension_values("x"), expected["x"])
    np.testing.assert_array_equal(curve.dimension_values("y"), expected["gap"])
    areas = drawn(figure, hv.Area)
    assert len(areas) == (band != "none")
    for area in areas:
        np.testing.assert_array_equal(area.dimension_values("low"), expected["gap.low"])
        np.testing.assert_array_equal(area.dimension_values("high"), expected["gap.high"])


@pytest.mark.parametrize("brought", [True, False])
def test_in_a_notebook_with_inline_resources_it_asks_the_internet_for_nothing(
    runs: list[Run], brought: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As HoloViews shows a figure; by itself it names Panel's style sheets by an address."""
    hooks = [hook for hook in pn.viewable.Viewable._preprocessing_hooks if brought or hook is not inline_styles]
    monkeypatch.setattr(pn.viewable.Viewable, "_preprocessing_hooks", hooks)
    with pn.config.set(inline=True):
        model = hv.renderer("bokeh").get_widget(convergence(runs[0]), None).layout._render_model(Document())
    urls = [sheet.url for sheet in model.references() if isinstance(sheet, ImportedStyleSheet)]
    assert any("cdn." in url for url in urls) is not brought


def test_it_marks_changes_and_hits(runs: list[Run]) -> None:
    change, hit = drawn(convergence(runs[0], axis="iteration"), hv.Scatter)
    assert list(change.dimension_values("x")) == [30]
    assert "Primal step c" in change.dimension_values("text")[0]
    assert "relative_gap" in hit.dimension_values("text")[0]


def test_several_runs_have_a_legend_and_colours_in_turn(runs: list[Run]) -> None:
    figure = convergence(runs, column="violation", log_y=False)
    curves = drawn(figure, hv.Curve)
    assert [curve.label for curve in curves] == ["ZO-SPLM", "ZOCEG"]
    colours = [hv.Store.lookup_options("bokeh", curve, "style").kwargs["color"] for curve in curves]
    assert colours == list(PALETTE[:2])
    plot = hv.render(figure, backend="bokeh")
    assert plot.title.text == "Constraint violation: Load tracking (convex)"
    assert [item.label.value for item in plot.legend[0].items] == ["ZO-SPLM", "ZOCEG"]
    assert plot.xaxis[0].axis_label == "oracle calls per replica"


def test_runs_by_name_and_runs_of_one_solver_are_told_apart(runs: list[Run]) -> None:
    assert [c.label for c in drawn(convergence({"a": runs[0], "b": runs[1]}), hv.Curve)] == ["a", "b"]
    twice = drawn(convergence([runs[0], runs[0]]), hv.Curve)
    assert len({curve.label for curve in twice}) == 2


def test_a_plot_of_the_dashboard_with_all_its_lines(runs: list[Run]) -> None:
    figure = plot(Variance(), runs[0], axis="iteration")
    labels = [curve.label for curve in drawn(figure, hv.Curve)]
    assert labels == ["measured", "theory (r → 0)", "bound splm (5)", "bound zoeg (8)"]
    assert hv.render(figure, backend="bokeh").yaxis[0].axis_label == "tr Cov ĝ"


def test_a_vector_has_a_line_for_each_component(runs: list[Run]) -> None:
    assert [curve.label for curve in drawn(convergence(runs[0], "dual", log_y=False), hv.Curve)] == ["dual 1"]


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"column": "gpa"}, "Expected one of the columns .*got 'gpa'"),
        ({"axis": "time"}, "Expected an axis of .*got 'time'"),
        ({"band": "90 %"}, "Expected .* a band of .*'90 %'"),
    ],
)
def test_bad_input_is_told_in_a_sentence(runs: list[Run], options: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        convergence(runs, **options)


def test_a_run_that_has_not_begun_is_refused() -> None:
    with pytest.raises(ValueError, match="Expected runs that have begun"):
        convergence(Run(problem=LoadTracking(n=5), solver=ZOCEG(), iterations=1))
    with pytest.raises(ValueError, match="got none"):
        convergence([])
