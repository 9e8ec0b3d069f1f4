"""What zoviz replaces inside Bokeh is still there, and still needs it; its effect in a browser: tests/apps."""

from __future__ import annotations

import importlib.metadata
import inspect
import re
from pathlib import Path

import bokeh
import bokeh.model.util
import pytest
from bokeh.core.property.descriptors import PropertyDescriptor
from bokeh.core.property.visual import Image
from bokeh.document import Document
from bokeh.model import Model
from bokeh.models import (
    Axis,
    ColumnDataSource,
    CustomJS,
    DataTable,
    Div,
    FixedTicker,
    GMapPlot,
    Legend,
    LegendItem,
    Line,
    LinearAxis,
    Plot,
    Row,
    Span,
)
from bokeh.themes import Theme
from packaging.specifiers import SpecifierSet

from zoviz.views.common.bokeh_internals import (
    FIND_REFERENCES,
    TRANSFORM_ANY_IMAGE,
    VERSIONS,
    WORK_OUT_DEFAULT,
    read_no_named_files,
    visit_few_properties,
    work_out_defaults_once,
)

SCRIPT = Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.js"


def test_this_bokeh_was_checked() -> None:
    assert importlib.metadata.version("bokeh") in SpecifierSet(VERSIONS), (
        "check this file's claims, then widen VERSIONS"
    )


def use_own_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Bokeh's own method in its place, until the test has ended."""
    monkeypatch.setattr(PropertyDescriptor, "_get_default", WORK_OUT_DEFAULT)


def values(model: Plot | Axis) -> str:
    """All properties of a model, those not set too; models among them without their ids."""
    return re.sub(r"'?p\d+'?", "", str(model.properties_with_values()))


@pytest.mark.parametrize("replaced", [True, False])
def test_a_default_is_worked_out_once_for_each_class(monkeypatch: pytest.MonkeyPatch, replaced: bool) -> None:
    """Bokeh's own method beside it, which does so each time."""
    use_own_defaults(monkeypatch)
    expected = values(Plot()), values(LinearAxis())
    if replaced:
        work_out_defaults_once()
    count, work_out = [], PropertyDescriptor.instance_default
    counted = lambda one, model: count.append(one.name) or work_out(one, model)  # noqa: E731
    monkeypatch.setattr(PropertyDescriptor, "instance_default", counted)
    first = Plot()
    assert (values(first), values(LinearAxis())) == expected
    count.clear()
    second = Plot()
    assert values(second) == expected[0]
    assert (count.count("width_policy"), count.count("height_policy")) == ((0, 0) if replaced else (1, 1))
    assert second.left is not first.left and second.toolbar is not first.toolbar


def test_a_class_with_a_default_of_its_own_and_a_theme_have_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    use_own_defaults(monkeypatch)
    work_out_defaults_once()

    assert [Plot().background_fill_alpha, GMapPlot().background_fill_alpha] == [1.0, 0.0]
    document, plot = Document(theme=Theme(json={"attrs": {"Plot": {"background_fill_color": "black"}}})), Plot()
    document.add_root(plot)
    assert [plot.background_fill_color, Plot().background_fill_color] == ["black", "#ffffff"]


@pytest.fixture
def own_references(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bokeh's own functions, until a test replaces them, and after it."""
    visit, visit_properties = FIND_REFERENCES
    monkeypatch.setattr(bokeh.model.util, "visit_value_and_its_immediate_references", visit)
    monkeypatch.setattr(bokeh.model.util, "visit_immediate_value_references", visit_properties)


def models() -> list[Model]:
    """Models with references of every kind, some of which come late, by a theme, or from a default."""
    source, plot, table = ColumnDataSource({"x": [1.0]}), Plot(), DataTable()
    glyph = plot.add_glyph(source, Line(x="x", y="x"))
    plot.add_layout(LinearAxis(ticker=FixedTicker(ticks=[1, 2])), "below")
    plot.add_layout(Legend(items=[LegendItem(label="one", renderers=[glyph])]))
    plot.js_on_change("width", CustomJS(args={"other": [Span(dimension="width")]}, code=""))
    plot.tags.append(Div(text="in a list that was empty"))
    return [Plot(), plot, table, Row(children=[table, Div()]), Row(), Legend(), Div(), ColumnDataSource()]


@pytest.mark.usefixtures("own_references")
def test_the_same_references_are_found() -> None:
    all_models = models()
    expected = [{other.id for other in one.references()} for one in all_models]
    visit_few_properties()
    for _ in range(2):  # also by what was learnt of each class
        assert [{other.id for other in one.references()} for one in all_models] == expected
    assert [{type(other) for other in one.references()} for one in models()] == [
        {type(other) for other in one.references()} for one in all_models
    ]
    assert max(map(len, expected)) > 15


@pytest.mark.usefixtures("own_references")
def test_a_themes_models_are_found() -> None:
    visit_few_properties()
    Plot().references()
    ticker, axis, document = FixedTicker(), LinearAxis(), Document()
    document.theme = Theme(json={"attrs": {"LinearAxis": {"ticker": ticker}}})
    document.add_root(axis)
    assert ticker.id in {one.id for one in axis.references()}


@pytest.mark.usefixtures("own_references")
@pytest.mark.parametrize("replaced", [True, False])
def test_what_is_not_set_is_read_once_for_each_class(monkeypatch: pytest.MonkeyPatch, replaced: bool) -> None:
    """Bokeh's own functions beside ours, which read it of each model."""
    if replaced:
        visit_few_properties()
    Div().references()
    reads, get_default = [], PropertyDescriptor._get_default
    counted = lambda one, model: reads.append(one.name) or get_default(one, model)  # noqa: E731
    monkeypatch.setattr(PropertyDescriptor, "_get_default", counted)
    another = Div(text="another")
    reads.clear()
    another.references()
    assert bool(reads) != replaced


def test_bokehs_own_icons_are_still_read_from_files() -> None:
    """Once they are not, ``read_no_named_files`` has nothing to do."""
    source = inspect.getsource(TRANSFORM_ANY_IMAGE)
    assert "Path(value)" in source and "path.exists()" in source


def test_text_names_no_file_and_arrays_are_still_images(tmp_path: Path) -> None:
    import numpy as np

    read_no_named_files()
    path = tmp_path / "words.svg"
    path.write_text("<svg/>")
    assert Image().transform(str(path)) == str(path)
    assert Image().transform(np.zeros((2, 2, 3), dtype=np.uint8)).startswith("data:image/png;base64,")


@pytest.mark.parametrize(
    ("module", "name", "method"),
    [
        ("core/dom", "InlineStyleSheet", "_update"),
        ("core/dom", "InlineStyleSheet", "css"),
        ("core/visuals/visual", "VisualProperties", "_get_css_value"),
        ("models/plots/plot_canvas", "PlotView", "base_font_size"),
        ("models/layouts/layout_dom", "LayoutDOMView", "invalidate_layout"),
        ("models/layouts/layout_dom", "LayoutDOMView", "update_layout"),
        ("models/layouts/layout_dom", "LayoutDOMView", "compute_layout"),
        ("models/layouts/layout_dom", "LayoutDOMView", "_compute_layout"),
        ("models/plots/plot_canvas", "PlotView", "_invalidate_layout_if_needed"),
        ("models/layouts/layout_dom", "LayoutDOMView", "_after_resize"),
        ("models/layouts/layout_dom", "LayoutDOMView", "is_managed"),
        ("models/annotations/toolbar_panel", "ToolbarPanelView", "after_layout"),
    ],
)
def test_what_is_replaced_in_the_browser_stands_where_it_is_looked_for(module: str, name: str, method: str) -> None:
    script = SCRIPT.read_text(encoding="utf-8")
    source = script.partition(f"/* {module}.js */")[2].partition("\n},\n/* ")[0]
    body = re.search(rf"^    class {name}\b.*?^    }}$", source, re.MULTILINE | re.DOTALL)
    head = rf"^        (/\*protected\*/ )?(get )?{method}\("
    assert body and re.search(head, body[0], re.MULTILINE), f"{name} with a method {method}"
