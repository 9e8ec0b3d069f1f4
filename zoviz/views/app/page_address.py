"""The part of a page's address that carries what is set on it, so that a link shows another person the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import param

from zoviz.core.errors import ZovizError
from zoviz.runs.stored_run import StoredRun
from zoviz.solvers.base import Solver
from zoviz.views.common.run_controller import RunController
from zoviz.views.controls.parameter_forms import editable
from zoviz.views.controls.run_form import RunForm

MOST_RUNS = 12
"""Runs that an address names: each must be read before the page is shown."""


def _owners(form: RunForm, solver: Solver) -> Iterator[tuple[str, param.Parameterized, Mapping[str, Any]]]:
    """Yield prefix, object, and the defaults of the parameters that the form edits, for all objects on it."""
    fresh = type(solver)().parts()
    for prefix, part in solver.parts().items():
        other = fresh[prefix] if type(fresh.get(prefix)) is type(part) else type(part)()
        yield f"solver.{prefix}", part, {name: getattr(other, name) for name in editable(part)}
    for prefix, owner in (("problem.", form.picker.problem), ("run.", form.settings)):
        yield prefix, owner, {name: owner.param[name].default for name in editable(owner)}


def query_of(form: RunForm, runs: Iterable[str] = (), room: str = "") -> str:
    """Return the query of an address: problem, solver, all values that differ from the defaults, runs and room.

    Parameters
    ----------
    form : RunForm
    runs : iterable of str
        Ids of stored runs.
    room : str
        Name of the room that is open; empty leaves it out.
    """
    out = {"problem": form.picker.problem_name, "solver": form.picker.solver_name}
    for prefix, owner, defaults in _owners(form, form.picker.solver):
        for name, default in defaults.items():
            value = getattr(owner, name)
            if value != default:
                out[f"{prefix}{name}"] = json.dumps(owner.param[name].serialize(value))
    ids = list(runs)[-MOST_RUNS:]
    out |= {"runs": ",".join(ids)} if ids else {}
    return "?" + urlencode(out | ({"room": room} if room else {}))


def apply_query(form: RunForm, query: str, afresh: bool = False) -> list[str]:
    """Set the form to what a query says, and return a sentence for each part of it that cannot be had.

    Parameters
    ----------
    form : RunForm
    query : str
    afresh : bool
        Whether all that the query does not name gets its default again, whatever the form had before.
    """
    values, complaints, picker = dict(parse_qsl(query.lstrip("?"))), list[str](), form.picker
    problem, solver = values.get("problem"), values.get("solver")
    if problem is not None and problem not in picker.problems:
        complaints.append(_unknown("problem", problem))
        problem = None
    if solver is not None and solver not in picker.solvers:
        complaints.append(_unknown("solver", solver))
        solver = None
    if problem is not None or solver is not None:
        if not picker.pick(problem or picker.problem_name, solver):
            complaints.append(_unknown("solver", str(solver)))
            solver = None
    for prefix, owner, defaults in list(_owners(form, picker.solver if solver is None else picker.solvers[solver])):
        for name, default in defaults.items():
            text = values.get(f"{prefix}{name}")
            if text is not None:
                complaints += _set(owner, name, text)
            elif afresh:
                owner.param.update({name: default})
    return complaints


def _unknown(kind: str, title: str) -> str:
    return f"Expected a {kind} of the list in the address, got {title!r}: it is left out."


def _set(owner: param.Parameterized, name: str, text: str) -> list[str]:
    """Set a parameter to what a text says; return the sentence why it cannot be, if so."""
    try:
        owner.param.update({name: owner.param[name].deserialize(json.loads(text))})
    except (ValueError, TypeError) as error:
        return [f"{name} in the address is left out: {error}"]
    return []


def shown_ids(controller: RunController) -> list[str]:
    """Return the ids of the visible runs that another page could load: those of the page's store."""
    if controller.store is None:
        return []
    return [entry.run.id for entry in controller.runs_shown.runs.values() if entry.visible]


def show_runs(controller: RunController, query: str) -> list[str]:
    """Put the stored runs that a query names on the plots; return a sentence for each that is not there."""
    ids = dict(parse_qsl(query.lstrip("?"))).get("runs", "").split(",")[:MOST_RUNS]
    complaints = []
    for id in filter(None, ids):
        try:
            run: StoredRun | None = None if controller.store is None else controller.store.load(id)
        except ZovizError as error:
            run, reason = None, str(error)
        else:
            reason = "this page has no store"
        if run is None:
            complaints.append(f"Run {id[:8]} of the address is left out: {reason}")
        else:
            controller.runs_shown.put(run)
    return complaints
