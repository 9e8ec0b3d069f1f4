"""Drop-down lists of problems and solvers, grouped by kind and searched by typing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import panel_material_ui as pmui

from zoviz.solvers.base import Solver
from zoviz.views.common.style import tooltip, update_changed

METHODS = {
    "constrained": "Zeroth-order, constrained",
    "linear": "Linear constraints",
    "linear_storm": "Linear constraints",
    "bilevel": "Online bilevel",
    "single_level": "Online, single-level",
    "augmented_lagrangian": "General black boxes",
    "sqp": "General black boxes",
    "portfolio": "General black boxes",
    "bayesian": "Bayesian",
    "external": "Other libraries",
}
"""Groups of solvers by the folder of ``zoviz.solvers``."""
_ELSE = "Your own"


def solver_group(solver: Solver) -> str:
    """Return the group of the list in which a solver stands."""
    for cls in type(solver).__mro__:
        path = cls.__module__.split(".")
        if path[:2] == ["zoviz", "solvers"] and len(path) > 3:
            return METHODS.get(path[2], _ELSE)
    return _ELSE


def grouped(titles: Iterable[str], group: Callable[[str], str], order: Iterable[str] = ()) -> dict[str, list[str]]:
    """Return titles by their groups: those of ``order`` first, others as they come; titles stay in their order."""
    groups: dict[str, list[str]] = {name: [] for name in order}
    for title in titles:
        groups.setdefault(group(title), []).append(title)
    return {name: members for name, members in groups.items() if members}


class GroupedList:
    """A drop-down list of titles in groups, bound to a parameter of an object both ways.

    Parameters
    ----------
    owner : Parameterized
    name : str
        Of the owner's parameter, a ``Selector`` of titles.
    group : callable
        From a title to its group.
    order : iterable of str
        Groups that come first.

    Attributes
    ----------
    select : Select
    """

    def __init__(self, owner: Any, name: str, group: Callable[[str], str], order: Iterable[str] = ()) -> None:
        self._owner, self._name, self._group, self._order = owner, name, group, tuple(order)
        parameter = owner.param[name]
        self.select = pmui.Select(
            label=parameter.label,
            description=tooltip(parameter.doc),
            groups=self._groups(),
            value=getattr(owner, name),
            searchable=True,
            filter_on_search=True,
            dropdown_height=560,
            sizing_mode="stretch_width",
            size="small",
            margin=(8, 10),
        )
        self.select.param.watch(lambda event: owner.param.update({name: event.new}), "value")
        owner.param.watch(lambda _: self.update(), name)
        owner.param.watch(lambda _: self.update(), name, what="objects")

    def _groups(self) -> dict[str, list[str]]:
        return grouped(self._owner.param[self._name].objects, self._group, self._order)

    def update(self) -> None:
        """Bring the list to the parameter's titles and value, both at once: one without the other may not be there."""
        groups, value = self._groups(), getattr(self._owner, self._name)
        if value in {title for titles in groups.values() for title in titles}:
            update_changed(self.select, groups=groups, value=value, filter_str="")
