"""A change from the server stands, also where the component has just drawn the one before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import panel_material_ui as pmui
import pytest

from helpers.serving import serving
from zoviz.views.app.page_template import page_template

if TYPE_CHECKING:
    from playwright.sync_api import Page

# The second change comes as soon as the first is drawn. Where drawing takes more than 5 ms, as on a busy machine, React
# leaves what a component does after drawing for later than that.
TWO_CHANGES = """async () => {
  const models = Bokeh.documents.flatMap(one => [...one._all_models.values()]);
  const data = models.find(model => model.data?.attributes?.label === "Solver").data;
  const inside = root => [...root.querySelectorAll("*")].flatMap(
    node => [node, ...(node.shadowRoot ? inside(node.shadowRoot) : [])]);
  const list = inside(document).find(node => node.getAttribute("role") === "combobox");
  const told = disabled => data.setv({disabled}, {sync: false}), rest = () => new Promise(done => setTimeout(done, 60));
  list.setAttribute = function (...what) {
    for (const start = performance.now(); performance.now() < start + 8;);
    Element.prototype.setAttribute.apply(this, what);
  };
  let undone = 0;
  for (let i = 0; i < 5; i++) {
    await new Promise(done => {
      const watch = new MutationObserver(() => {
        if (list.getAttribute("aria-disabled") !== "true") return;
        watch.disconnect();
        told(false);
        done();
      });
      watch.observe(list, {attributes: true});
      told(true);
    });
    await rest();
    undone += data.attributes.disabled;
    told(false);
    await rest();
  }
  return undone;
}"""


@pytest.fixture
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    """Address of a page with a list, in the HTML of our pages or in that of Panel's."""
    template = page_template() if request.param else None

    def make() -> pmui.Page:
        return pmui.Page(title="lists", main=[pmui.Select(label="Solver", options=["a", "b"])], template=template)

    with serving(make) as port:
        yield f"http://localhost:{port}/"


@pytest.mark.parametrize(("address", "ours"), [(True, True), (False, False)], indirect=["address"])
def test_a_list_that_is_freed_while_it_is_drawn_disabled_is_free(
    page: Page, address: str, ours: bool, idle: Callable[..., None]
) -> None:
    page.goto(address)
    idle(page)
    undone = page.evaluate(TWO_CHANGES)
    print(f"{undone} of 5 changes were undone")
    # Once Panel's own pages undo none, there is no need of TELL_OWN_CHANGES.
    assert (undone == 0) if ours else (undone > 0)
