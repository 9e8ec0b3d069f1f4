"""A list to choose from by pointing, by typing what is sought, or by keys alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self

import param

from zoviz.views.common.form_widget import FormWidget

AUTO = "auto"


def grouped(titles: Iterable[str], group: Callable[[str], str], order: Iterable[str] = ()) -> dict[str, list[str]]:
    """Return titles by their groups: those of ``order`` first, others as they come; titles stay in their order."""
    groups: dict[str, list[str]] = {name: [] for name in order}
    for title in titles:
        groups.setdefault(group(title), []).append(title)
    return {name: members for name, members in groups.items() if members}


class SearchList(FormWidget):
    """A list of titles, in groups, of which one is chosen; typing finds those with all of the words, the best first.

    Enter, Space, an arrow, a click or a letter opens it, the search has the focus at once, Enter chooses and closes,
    and Escape closes. Use it as ``SearchList.from_param(obj.param.rule)`` for a param.Selector, or for a param.Boolean
    that may be None.

    Where None is a value it is called auto, with what a rule takes for it, where that is known, as ``auto: on``.
    """

    options: dict[str, Any] = param.Dict(default={}, doc="The values by their titles.")  # type: ignore[assignment]
    group = param.Callable(default=None, allow_None=True, doc="From a title to its group.")
    order: list[str] = param.List(default=[], item_type=str, doc="Groups that come first.")  # type: ignore[assignment]
    optional = param.Boolean(default=False, doc="Whether None can be chosen.")
    suggestion = param.Parameter(default=None, allow_None=True, doc="What None stands for, where it is known.")
    wide = param.Boolean(default=True, doc="Whether the list stands below its label, else on its right.")

    _rename: ClassVar[dict[str, str | None]] = {
        **FormWidget._rename,
        **dict.fromkeys(["options", "group", "order", "optional", "suggestion", "wide"]),
    }

    @classmethod
    def from_param(cls, parameter: param.Parameter, **params: Any) -> Self:
        """Make a list for `parameter`, a param.Selector or a param.Boolean, and link the two both ways."""
        found: dict[str, Any] = {"optional": bool(parameter.allow_None)}
        if isinstance(parameter, param.Boolean):
            found["options"] = {"on": True, "off": False}
        return super().from_param(parameter, **{**found, **params})

    @classmethod
    def of_room(cls, parameter: param.Parameter, width: int, **params: Any) -> Self:
        """Make a list of a fixed width, for a row of a room, whose parameter always has a value."""
        look: dict[str, Any] = {"width": width, "sizing_mode": None, "margin": (4, 10)}
        return cls.from_param(parameter, optional=False, **look, **params)

    @property
    def choices(self) -> dict[str, Any]:
        """The values by their titles, None first where it can be chosen."""
        given = {title: value for title, value in self.options.items() if value is not None or not self.optional}
        return {AUTO: None, **given} if self.optional else given

    def title_of(self, value: Any) -> str:
        """Return the title of a value; empty where it has none."""
        return next((title for title, one in self.choices.items() if one is value or one == value), "")

    @property
    def shown(self) -> str:
        """The text of the closed list."""
        title = self.title_of(self.held)
        return self._auto if title == AUTO and self.optional else title

    @property
    def _auto(self) -> str:
        return AUTO if self.suggestion is None else f"{AUTO}: {self.title_of(self.suggestion) or self.suggestion}"

    def describe(self) -> dict[str, Any]:
        titles = list(self.choices)
        groups = {"": titles} if self.group is None else grouped(titles, self.group, self.order)
        names = {"auto": self._auto} if self.optional else {}
        look = {"wide": self.wide, "names": names, "value": self.title_of(self.held)}
        return {"kind": "list", "groups": [[name, own] for name, own in groups.items()], **look}

    def take(self, message: dict[str, Any]) -> None:
        title = message.get("title")
        if isinstance(title, str) and title in self.choices:
            self.commit(self.choices[title])


class SeveralList(SearchList):
    """A list of titles of which several are chosen; it stays open for more, and each chosen one can be taken away.

    Use it as ``SeveralList.from_param(obj.param.names, options=...)`` for a param.List.
    """

    value: list[Any] = param.List(default=[])  # type: ignore[assignment]

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "chosen": [self._named(one) for one in self.value]}

    def _named(self, one: Any) -> str:
        return self.title_of(one) or str(one)  # what is listed elsewhere may be chosen, too

    def take(self, message: dict[str, Any]) -> None:
        title = message.get("title")
        left = [one for one in self.value if self._named(one) != title]
        if len(left) < len(self.value):
            self.value = left
        elif isinstance(title, str) and title in self.choices:
            self.value = [*left, self.choices[title]]
