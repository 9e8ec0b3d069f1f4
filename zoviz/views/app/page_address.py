"""The part of a page's address that carries what is set on it, so that a link shows another person the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import param

from zoviz.core.errors import ZovizError, key, suggestion
from zoviz.core.registry import title_of
from zoviz.estimators import GradientEstimator
from zoviz.problems.base import Problem
from zoviz.runs.stored_run import StoredRun
from zoviz.solvers.base import Solver
from zoviz.views.common.run_controller import RunController
from zoviz.views.controls.parameter_forms import editable
from zoviz.views.controls.picker import Picker
from zoviz.views.controls.run_form import RunForm
from zoviz.views.controls.run_settings import RunSettings
from zoviz.views.plots.board import Board

MOST_RUNS = 12
"""Runs that an address names: each must be read before the page is shown."""


def _owners(
    problem: Problem, solver: Solver, settings: RunSettings
) -> Iterator[tuple[str, param.Parameterized, Mapping[str, Any]]]:
    """Yield prefix, object, and the defaults of the parameters that the form edits, for all objects on it."""
    fresh = type(solver)().parts()
    for prefix, part in solver.parts().items():
        other = fresh[prefix] if type(fresh.get(prefix)) is type(part) else type(part)()
        yield f"solver.{prefix}", part, {name: getattr(other, name) for name in editable(part)}
    for prefix, owner in (("problem.", problem), ("run.", settings)):
        yield prefix, owner, {name: owner.param[name].default for name in editable(owner)}


def _kinds(solver: Solver) -> Iterator[tuple[str, type, type]]:
    """Yield the dotted name of each nested part, its class, and that which it has by default; outer ones first."""
    for name in sorted((prefix[:-1] for prefix in solver.parts() if prefix), key=lambda one: one.count(".")):
        holder, own = solver.owner(name)
        yield name, type(getattr(holder, own)), type(getattr(type(holder)(), own))


def _written(problem: Problem, solver: Solver, settings: RunSettings) -> dict[str, str]:
    """Return what differs from the defaults, as an address has it: classes of parts, and values."""
    out = {f"solver.{name}": json.dumps(kind.__name__) for name, kind, usual in _kinds(solver) if kind is not usual}
    for prefix, owner, defaults in _owners(problem, solver, settings):
        for name, default in defaults.items():
            value = getattr(owner, name)
            if value != default:
                out[f"{prefix}{name}"] = json.dumps(owner.param[name].serialize(value))
    return out


def query_for(problem: Problem, solver: Solver, values: Mapping[str, Any]) -> str:
    """Return the query of an address at which a page has a problem, a solver and settings that were made elsewhere.

    Parameters
    ----------
    problem : Problem
    solver : Solver
    values : mapping of str to object
        Of the run's settings, by their names; there is no budget but those that it names.

    Raises
    ------
    ValueError
        For a parameter that differs from its default and has no field on a page.
    """
    settings = RunSettings()
    settings.suit(problem)
    settings.param.update({"seconds": None} | dict(values))
    for part in (problem, *solver.parts().values()):
        fields = editable(part)
        for name, value in part.param.values().items():
            nested = isinstance(value, (Solver, GradientEstimator))
            if name != "name" and name not in fields and not nested and value != part.param[name].default:
                raise ValueError(
                    f"Expected parameters of {type(part).__name__} that a page can set, got {name}={value!r}."
                )
    names = {"problem": title_of(problem), "solver": title_of(solver)}
    return "?" + urlencode(names | _written(problem, solver, settings))


_NUMBER = re.compile("[1-9][0-9]{0,3}")
"""Of a run on the page."""
VIEW = ("axis", "band", "log_x", "log_y")
"""Parameters of the plots that an address names where they differ from their defaults."""


def query_of(
    form: RunForm, runs: Iterable[str] = (), room: str = "", experiment: str = "", board: Board | None = None
) -> str:
    """Return the query of an address: problem, solver, all that differs from the defaults, runs, and what is open.

    Parameters
    ----------
    form : RunForm
    runs : iterable of str
        Ids of stored runs.
    room, experiment : str
        Names of the room and of the paper's experiment that are open; empty leaves them out.
    board : Board, optional
        The plots, whose axes and band are named, too.
    """
    out = {"problem": form.picker.problem_name, "solver": form.picker.solver_name}
    out |= _written(form.picker.problem, form.picker.solver, form.settings)
    ids = list(runs)[-MOST_RUNS:]
    out |= {"runs": ",".join(ids)} if ids else {}
    if board is not None:
        changed = [name for name in VIEW if getattr(board, name) != board.param[name].default]
        out |= {f"plots.{name}": json.dumps(getattr(board, name)) for name in changed}
    shown = {"room": room, "experiment": experiment}
    return "?" + urlencode(out | {name: value for name, value in shown.items() if value})


def apply_view(board: Board, query: str) -> list[str]:
    """Set axes and band of the plots by a query; return a sentence for each part of it that is not valid."""
    values, complaints = dict(parse_qsl(query.lstrip("?"))), list[str]()
    for name in VIEW:
        if f"plots.{name}" in values:
            complaints += _set(board, name, values[f"plots.{name}"])
    return complaints


def apply_query(form: RunForm, query: str, afresh: bool = False) -> list[str]:
    """Set the form by a query, and return a sentence for each part of it that is not valid.

    Parameters
    ----------
    form : RunForm
    query : str
    afresh : bool
        Whether all that the query does not name gets its default again, whatever the form had before.
    """
    values, complaints, picker = dict(parse_qsl(query.lstrip("?"))), list[str](), form.picker
    problem, solver = _title(values.get("problem"), picker.problems), _title(values.get("solver"), picker.solvers)
    for kind, found in (("problem", problem), ("solver", solver)):
        if kind in values and found is None:
            complaints.append(_unknown(kind, values[kind]))
    if problem is not None or solver is not None:
        if not picker.pick(problem or picker.problem_name, solver):
            complaints.append(_unknown("solver", str(solver)))
            solver = None
    own = picker.solver if solver is None else picker.solvers[solver]
    complaints += _set_kinds(picker, own, values, afresh)
    known = {f"solver.{name}" for name, *_ in _kinds(own)}
    for prefix, owner, defaults in list(_owners(picker.problem, own, form.settings)):
        known |= {f"{prefix}{name}" for name in defaults}
        for name, default in defaults.items():
            text = values.get(f"{prefix}{name}")
            if text is not None:
                complaints += _set(owner, name, text)
            elif afresh:
                owner.param.update({name: default})
    if not complaints:  # else its parameters may be those of what is not valid
        named = [name for name in values if name.startswith(("problem.", "solver.", "run.")) and name not in known]
        others = "the problem, the solver and the run have no such parameter."
        complaints += [f"{name} in the address is ignored: {suggestion(name, sorted(known), others)}" for name in named]
    return complaints


def _set_kinds(picker: Picker, solver: Solver, values: Mapping[str, str], afresh: bool) -> list[str]:
    """Give a solver's nested parts the classes that an address names; return a sentence for each that is not valid.

    With ``afresh`` parts that it does not name get the class that they have by default.
    """
    complaints, done = list[str](), set[str]()
    while waiting := [one for one in _kinds(solver) if one[0] not in done]:
        name, kind, usual = waiting[0]
        done.add(name)
        text = values.get(f"solver.{name}")
        offered = {json.dumps(one.__name__): one for one in solver.kinds(name)}
        if text is not None and text not in offered:
            complaints.append(
                f"Expected one of {', '.join(offered)} for {name} in the address, got {text}: it is ignored."
            )
            continue
        wanted = offered[text] if text is not None else usual if afresh else kind
        if wanted is not kind:
            picker.set_kind(solver, name, wanted)
    return complaints


def _title(name: str | None, offered: Mapping[str, Any]) -> str | None:
    """Return the title of what is named by its title or its class, in any spelling; None where nothing is."""
    known = {key(word): title for title, one in offered.items() for word in (type(one).__name__, title)}
    return None if name is None else known.get(key(name))


def _unknown(kind: str, title: str) -> str:
    return f"Expected a {kind} of the list in the address, got {title!r}: it is ignored."


def _set(owner: param.Parameterized, name: str, text: str) -> list[str]:
    """Set a parameter to what a text says; return the sentence why it cannot be, if so."""
    try:
        owner.param.update({name: owner.param[name].deserialize(json.loads(text))})
    except (ValueError, TypeError) as error:
        return [f"{name} in the address is ignored: {error}"]
    return []


def shown_ids(controller: RunController) -> list[str]:
    """Return id and number, as in ``1f3a.2``, of the visible runs that another page could load: those of the store."""
    if controller.store is None:
        return []
    return [f"{entry.run.id}.{entry.number}" for entry in controller.runs_shown.runs.values() if entry.visible]


def show_runs(controller: RunController, query: str) -> list[str]:
    """Put the stored runs that a query names on the plots; return a sentence for each that is not there."""
    ids = dict(parse_qsl(query.lstrip("?"))).get("runs", "").split(",")[:MOST_RUNS]
    complaints = []
    for text in filter(None, ids):
        id, _, number = text.partition(".")
        try:
            run: StoredRun | None = None if controller.store is None else controller.store.load(id)
        except ZovizError as error:
            run, reason = None, str(error)
        else:
            reason = "this page has no store"
        if run is None:
            complaints.append(f"Run {id[:8]} of the address is ignored: {reason}")
        else:
            controller.runs_shown.put(run, number=int(number) if _NUMBER.fullmatch(number) else None)
    return complaints
