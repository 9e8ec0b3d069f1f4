"""Groups of problems: those of their folder, and those that statistics of a study are cut by."""

from __future__ import annotations

from zoviz.problems.base import Problem

FAMILIES = {
    "user": "Your own",
    "quadratic": "Quadratic",
    "power": "Power grids",
    "engineering": "Engineering design",
    "learning": "Machine learning",
    "networks": "Networks",
    "cutest": "Published test sets",
    "coco": "Published test sets",
}
"""Groups of problems by the folder of ``zoviz.problems``."""


def family(problem: Problem) -> str:
    """Return the folder of ``zoviz.problems`` that a problem is from; ``"user"`` for a class defined elsewhere."""
    for cls in type(problem).__mro__:
        path = cls.__module__.split(".")
        if path[:2] == ["zoviz", "problems"] and len(path) > 3:
            return path[2]
    return "user"


def problem_group(problem: Problem) -> str:
    """Return the group of the list in which a problem stands: online bilevel ones by themselves, others by family."""
    if problem.form == "online bilevel":
        return "Online bilevel"
    return FAMILIES.get(family(problem), FAMILIES["user"])


def kind_of(problem: Problem) -> str:
    """Return the kind of a problem that statistics are cut by: its group, and its constraints where these are named."""
    return ": ".join(filter(None, (problem_group(problem), problem.constraint_kind)))
