"""What the standing benchmark consists of: its problems and solvers by rule, its noise, its budgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from zoviz.core.registry import discover, required
from zoviz.core.streams import Streams
from zoviz.problems.base import Problem
from zoviz.problems.coco.bbob_constrained import DIMENSIONS, FUNCTIONS, BBOBConstrained
from zoviz.problems.collection import CollectionProblem
from zoviz.problems.cutest.suite import Suite
from zoviz.runs.store import Store
from zoviz.solvers.base import Solver
from zoviz.studies.study import Study

_Item = TypeVar("_Item")

QUIET, NOISY = "exact values", "noisy values"
NOISE = 1e-3
"""Standard deviation of the noise on f, as a share of its value at the start; on h of the least of its values there."""
SEED = 0
_CONSTRAINED = "ln"
"""Kinds of published problems: with linear or nonlinear constraints."""
_MOST_CONSTRAINTS = 100
"""Published problems have no more: with a thousand, one call takes the collection's code a third of a second."""
_SLOW = ("HS105",)
"""A likelihood of 235 data: each call takes the collection's code a twentieth of a second."""
_INSTANCE = 3
"""Of COCO's functions: methods were chosen on the first two."""


class Form(NamedTuple):
    """A size of the standing benchmark.

    Attributes
    ----------
    name : str
    sweeps : float
        Budget of each replica in sweeps of n + 1 calls.
    replicas : int
    variables : int
        Number of variables of problems that have any; others count up to three times as many.
    published : int
        How many problems of the collection there are, evenly from its alphabet; all of them where there are fewer.
    most_published : int
        Most variables of these.
    functions : int
        How many of COCO's constrained functions there are, evenly from its list, in as many variables as there may be
        of the problems of any number.
    without : tuple of str
        Solvers that are left out, or folders of them.
    rule : str
        All of this in sentences.
    """

    name: str
    sweeps: float
    replicas: int
    variables: int
    published: int
    most_published: int
    functions: int
    without: tuple[str, ...]
    rule: str


QUICK = Form(
    "quick",
    20.0,
    2,
    6,
    3,
    6,
    3,
    ("bayesian", "NOMAD"),
    "Every problem of zoviz with exact values that needs no data of one's own and is no simulation, with 6 variables "
    "where it takes any number and with at most 18 else; 3 problems of the CUTEst collection with 1 to 100 "
    "constraints and 2 to 6 variables, evenly from its alphabet; 3 of COCO's constrained functions in 5 variables. All "
    "solvers at their defaults, but for those that take tenths of a second and more for a call themselves, Bayesian "
    "ones and NOMAD. 20 sweeps of n + 1 calls, 2 replicas.",
)
FULL = Form(
    "full",
    100.0,
    2,
    10,
    40,
    12,
    18,
    ("bayesian", "NOMAD"),
    "Every problem of zoviz with exact values that needs no data of one's own and is no simulation, with 10 variables "
    "where it takes any number and with at most 30 else; 40 problems of the CUTEst collection with 1 to 100 "
    "constraints and 2 to 12 variables, evenly from its alphabet and without HS105, which is slow; 18 of COCO's "
    "constrained functions in 10 variables. All solvers at their defaults, but for those that take tenths of a second "
    "and more for a call themselves, Bayesian ones and NOMAD: the form *expensive* has them. 100 sweeps of n + 1 "
    "calls, 2 replicas.",
)
EXPENSIVE = Form(
    "expensive",
    6.0,
    2,
    3,
    3,
    4,
    3,
    (),
    "As if a call took hours: every problem of zoviz with exact values that needs no data of one's own and is no "
    "simulation, with 3 variables where it takes any number and with at most 9 else; 3 problems of the CUTEst "
    "collection with 1 to 100 constraints and 2 to 4 variables, evenly from its alphabet; 3 of COCO's constrained "
    "functions in 3 variables. All solvers at their defaults, Bayesian ones and NOMAD too. 6 sweeps of n + 1 calls, 2 "
    "replicas.",
)
FORMS = {one.name: one for one in (QUICK, FULL, EXPENSIVE)}


def problems(form: Form) -> dict[str, Problem]:
    """Return the problems of a form by name.

    Raises
    ------
    MissingExtra
        Without the collections' packages: the list would be another one.
    """
    return {**_own(form), **_published(form), **_functions(form)}


def _own(form: Form) -> dict[str, Problem]:
    out: dict[str, Problem] = {}
    for name, cls in sorted(discover("zoviz.problems", Problem).items()):
        if not cls.__module__.startswith("zoviz.") or required(cls) or _apart(cls):
            continue
        problem = cls(n=form.variables) if "n" in cls.param else cls()
        if problem.noise == "deterministic" and problem.domain.n <= 3 * form.variables:
            out[f"{name} n={problem.domain.n}"] = problem
    return out


def _apart(cls: type[Problem]) -> bool:
    """Return whether problems of a class are published, streams, samples, simulations or a person's own."""
    own = cls.__module__.split(".")[2] == "user"
    published = issubclass(cls, CollectionProblem)
    return own or published or cls.costly or cls.stochastic or not cls.analytic or cls.form != "constrained"


def _published(form: Form) -> dict[str, Problem]:
    entries = sorted(
        Suite.names(2, form.most_published, min_m=1, max_m=_MOST_CONSTRAINTS, kinds=_CONSTRAINED),
        key=lambda one: one.name,
    )
    names = [one.name for one in evenly(entries, form.published) if one.name not in _SLOW]
    return {name: Suite(problem_name=name) for name in names}


def _functions(form: Form) -> dict[str, Problem]:
    n = max(one for one in DIMENSIONS if one <= form.variables)
    listed = [BBOBConstrained(function=k, dimension=n, instance=_INSTANCE) for k in evenly(FUNCTIONS, form.functions)]
    return {one.name_in_collection: one for one in listed}


def evenly(items: Sequence[_Item], count: int) -> list[_Item]:
    """Return ``count`` items evenly spaced from the first to the last, or all if there are fewer."""
    places = np.unique(np.linspace(0, len(items) - 1, min(count, len(items))).round().astype(int))
    return [items[k] for k in places]


def noisy(problem: Problem) -> Problem:
    """Return a clone with independent normal noise in proportion to the values at the first start."""
    values = problem.evaluate(problem.initial(Streams(SEED, 1)))
    f, h = np.abs(np.ravel(values.f)), np.abs(np.ravel(values.h))
    own = problem.clone()
    own.noise_scale = NOISE * _least(f)
    own.noise_constraint_scale = NOISE * _least(h)
    own.noise = "independent"
    return own


def _least(values: np.ndarray) -> float:
    """Return the least value above 0; 1 where there is none."""
    above = values[np.isfinite(values) & (values > 0.0)]
    return float(above.min()) if above.size else 1.0


def solvers(form: Form) -> dict[str, Solver]:
    """Return the solvers of a form by class name."""
    return {
        name: cls()
        for name, cls in sorted(discover("zoviz.solvers", Solver).items())
        if cls.__module__.startswith("zoviz.") and not {name, cls.__module__.split(".")[2]} & {*form.without}
    }


def missing_packages(form: Form) -> dict[str, str]:
    """Return, for each solver that cannot take part, the sentence that names its missing package."""
    return {name: one.missing_package for name, one in solvers(form).items() if one.missing_package}


def studies(form: Form, store: Store, name: str) -> Iterator[tuple[str, Study]]:
    """Yield the study of each noise, by name; each is stored as it runs and resumes where it stopped.

    Parameters
    ----------
    form : Form
    store : Store
    name : str
        Of the studies, before the noise.
    """
    listed, methods = problems(form), solvers(form)
    for noise, own in ((QUIET, listed), (NOISY, {key: noisy(one) for key, one in listed.items()})):
        yield (
            noise,
            Study(
                f"{name}, {noise}", own, methods, seeds=(SEED,), replicas=form.replicas, sweeps=form.sweeps, store=store
            ),
        )
