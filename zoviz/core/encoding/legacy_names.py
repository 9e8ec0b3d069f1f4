"""The names in older stores that are others today, and their translation: the one place for it.

What is renamed here is read, never written. A class, a parameter or a field of a state that gets another name needs an
entry below; moving a module needs none, since what is stored of zoviz's own classes has no module in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

CLASSES: Mapping[str, str] = {"Kept": "Candidate", "Stage": "StageStart"}
"""Classes and functions of zoviz that were renamed: the name that stores hold, and today's."""

_DIRECTIONAL = ("Sphere", "CentralSphere", "Gaussian")
_SWEEP: Mapping[Any, str] = {True: "sweep", False: "random"}

PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "Run": {"feasibility_tolerance": "tolerance"},
    **dict.fromkeys(_DIRECTIONAL, {"sweep": "directions"}),
}
"""Parameters that were renamed: by today's name of the class, the name that stores hold, and today's."""

VALUES: Mapping[str, Mapping[str, Mapping[Any, str]]] = {
    **dict.fromkeys(("Coordinate", "Block"), {"differences": {"as the noise asks": "auto"}}),
    **dict.fromkeys(_DIRECTIONAL, {"directions": _SWEEP}),
}
"""Words and switches that were renamed: by class and today's parameter, the value that stores hold, and today's."""

_AS_PUBLISHED: Mapping[str, Any] = {"step_reach": 1e9, "restoration": 0, "augmentation": False}
ABSENT: Mapping[str, Mapping[str, Any]] = {
    **dict.fromkeys(("ZOSPLM", "ZOALM", "SZOConEX", "ZOGDA"), _AS_PUBLISHED),
    **dict.fromkeys(("ZOEG", "ZOCEG", "ZOBCEG"), {**_AS_PUBLISHED, "contraction": 0.0}),
    **dict.fromkeys(_DIRECTIONAL, {"directions": "random"}),
    **dict.fromkeys(("OAGD", "SOBOW", "SOBBO"), {"system_radius": 1e9}),
    "LossTuning": {"images": 1},
    **dict.fromkeys(
        ("BlackBox", "Executable"), {"variable_names": None, "constraint_names": None, "keeps_bounds": False}
    ),
}
"""Values of parameters that came later, as recipes without them meant them: by class and name."""

STATES: Mapping[str, tuple[str, ...]] = {
    "ALMState": ("x", "y", "value", "growth", "reference", "iteration"),
    "AdamState": ("x", "inner", "mean", "square", "peak", "iteration"),
    "Candidate": ("point", "dual", "anchor"),
    "ConEXState": ("x", "y", "value", "level", "previous", "average", "iteration"),
    "DSZOGState": ("x", "y", "value", "distribution", "momentum", "dual_momentum", "square", "iteration"),
    "Eliminated": ("point", "dual", "elimination", "iteration", "n"),
    "Estimate": ("gradient", "variance", "base"),
    "Evaluation": ("f", "h"),
    "ExtraGradientState": ("x", "y", "value", "average", "iteration", "recent", "noisy"),
    "GDAState": ("x", "y", "value", "iteration"),
    "IALMState": (
        *("x", "y", "value", "z", "centre", "penalty", "curvature", "weight", "stage", "tests", "first", "left"),
    ),
    "Info": ("variance", "point", "dual", "radius"),
    "Jacobian": ("gradients", "variances", "perturbed", "base"),
    "Moments": ("mean", "square"),
    "OAGDState": ("x", "inner", "v", "samples", "round"),
    "OGDAState": ("x", "y", "value", "field_x", "field_y", "average", "weight", "iteration"),
    "PairState": ("x", "inner", "round"),
    "PointDual": ("point", "dual", "iteration", "n"),
    "ProximalPointState": ("x", "y", "value", "inner", "centre", "held", "clock", "finished", "drawn"),
    "Recursive": ("point", "dual", "anchor", "momentum", "kept", "iteration", "n"),
    "SPLMState": ("x", "y", "z", "value"),
    "Safeguarded": ("point", "dual", "anchor", "resets", "kept", "iteration", "n"),
    "SimultaneousState": ("x", "inner", "v", "last", "directions", "memory", "round"),
    "SingleLevelState": ("x", "inner", "iteration"),
    "Smoothed": ("point", "dual", "anchor", "kept", "iteration", "n"),
    "Triple": ("x", "inner", "v"),
    "WindowState": ("x", "inner", "v", "past", "square", "round"),
}
"""Fields, in their order and by their first names, of the states that the first format holds by position."""

FIELDS: Mapping[str, Mapping[str, str]] = {
    "IALMState": {"left": "steps_to_test"},
    "ProximalPointState": {"drawn": "random_solution"},
    "Recursive": {"kept": "candidate"},
    "Safeguarded": {"kept": "candidate"},
    "SimultaneousState": {"memory": "moments"},
    "Smoothed": {"kept": "candidate"},
}
"""Fields of states that were renamed: by today's name of the class, the name that stores hold, and today's."""

MARK: Mapping[str, str] = {"drawn": "size"}
"""Fields of a stream's ``Mark`` that were renamed: the name that checkpoints hold, and today's."""

ORACLE: Mapping[str, str] = {
    "_iteration": "iteration",
    "_sample": "sample",
    "_shared_noise": "shared_noise",
    "_size": "size",
    "_spent": "spent",
}
"""Attributes of an oracle that the first checkpoints hold, as ``Oracle.snapshot`` calls them."""

_OF_THE_PROBLEM = ("_tolerance", "_scales", "_exact", "_noisy", "n", "m", "contract", "any_failed", "all_active")
"""What the first checkpoints hold of an oracle although it follows from the problem, or from the rest."""

_MODULES: Mapping[str, str] = {
    "ACLoadTracking": "problems.ac_load_tracking",
    "BlackBox": "problems.blackbox",
    "BlackBoxAttack": "problems.attack",
    "Block": "estimators.coordinate",
    "CMAES": "solvers.peers.evolution",
    "COBYLA": "solvers.peers.powell",
    "COBYQA": "solvers.peers.powell",
    "CentralSphere": "estimators.sphere",
    "ConexQCQP": "problems.random_qcqp",
    "Coordinate": "estimators.coordinate",
    "DSZOG": "solvers.dszog",
    "DistributedConsensus": "problems.distributed",
    "EliminatedSGD": "solvers.eliminated_sgd",
    "Executable": "problems.executable",
    "FairClassification": "problems.fair_classification",
    "Gaussian": "estimators.gaussian",
    "LinearisedALM": "solvers.linearised_alm",
    "LoadTracking": "problems.load_tracking",
    "LossTuning": "problems.loss_tuning",
    "NOMAD": "solvers.peers.nomad",
    "NetworkSlicing": "problems.network_slicing",
    "NonconvexQCQP": "problems.qcqp",
    "OAGD": "solvers.oagd",
    "OGD": "solvers.ogd",
    "OGDARR": "solvers.ogda_rr",
    "PenaltySGD": "solvers.penalty_sgd",
    "PressureVessel": "problems.pressure_vessel",
    "ProximalPoint": "solvers.proximal_point",
    "QuadraticBilevel": "problems.quadratic_bilevel",
    "SLSQP": "solvers.peers.newton",
    "SOBBO": "solvers.sobbo",
    "SOBOW": "solvers.sobow",
    "SOGD": "solvers.sogd",
    "SZOConEX": "solvers.conex",
    "SampledALM": "solvers.sampled_alm",
    "SmoothedALM": "solvers.smoothed_alm",
    "SpeedReducer": "problems.speed_reducer",
    "Sphere": "estimators.sphere",
    "Spring": "problems.spring",
    "StochasticQP": "problems.stochastic_qp",
    "StormALM": "solvers.storm_alm",
    "Suite": "problems.suite",
    "ToyBilevel": "problems.toy_bilevel",
    "TrustConstr": "solvers.peers.newton",
    "WeldedBeam": "problems.welded_beam",
    "ZOALM": "solvers.zo_alm",
    "ZOAdam": "solvers.zo_adam",
    "ZOBCEG": "solvers.zobceg",
    "ZOCEG": "solvers.zoceg",
    "ZOConservSGD": "solvers.zo_conserv_sgd",
    "ZOEG": "solvers.zoeg",
    "ZOGD": "solvers.zo_gd",
    "ZOGDA": "solvers.zogda",
    "ZOSOGD": "solvers.zo_sogd",
    "ZOSOGDAdam": "solvers.zo_sogd_adam",
    "ZOSPLM": "solvers.splm",
    "ZOSignSGD": "solvers.zo_sign_sgd",
    "ZOiALM": "solvers.zo_ialm",
    "hs22_constraints": "problems.blackbox",
    "hs22_objective": "problems.blackbox",
}
"""Where zoviz's classes and functions were when stores held their modules: a study's ids follow from these for ever."""


def current(name: str) -> str:
    """Return today's name of a class, state or function in a store: ``zoviz.solvers.splm:ZOSPLM`` is ``ZOSPLM``.

    What is not zoviz's own keeps its module, ``mysim:objective``.
    """
    module, _, own = name.rpartition(":")
    bare = own if module.partition(".")[0] == "zoviz" else name
    return CLASSES.get(bare, bare)


def first_path(name: str) -> str:
    """Return the first stores' name of a class or function of zoviz, with its module; other names unchanged."""
    return f"zoviz.{_MODULES[name]}:{name}" if name in _MODULES else name


def solver_values(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by a solver's dotted names, as a rule chose them or a run had them, under today's names."""
    old, today = "estimator.sweep", "estimator.directions"
    return {
        today if name == old else name: _SWEEP.get(value, value) if name == old else value
        for name, value in stored.items()
    }


def oracle_progress(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Translate a first checkpoint's part about the oracle to what ``Oracle.snapshot`` returns."""
    return {ORACLE.get(name, name): value for name, value in stored.items() if name not in _OF_THE_PROBLEM}


def problem_snapshot(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a store holds of ``Problem.snapshot``, under today's names."""
    return {{"mishap": "failure_message"}.get(name, name): value for name, value in stored.items()}


def outcome(stored: Mapping[str, Any], tolerance: float) -> Mapping[str, Any]:
    """Translate earlier stores' results to today's names; those that counted no samples get NaN.

    Their ``maxcv`` was the norm of the violation; the largest component is known where that is 0, and NaN else. Their
    ``success`` was about the best point, not about x.
    """
    if "samples" not in stored:
        unknown = np.full(len(stored["calls"]), np.nan)
        stored = {**stored, "samples": unknown, "zeta_samples": unknown}
    if "best_feasible" not in stored:
        return stored
    norm = stored["maxcv"]
    finite = np.isfinite(stored["x"]).all(axis=1) & np.isfinite(stored["fun"])
    return {
        **stored,
        "violation": norm,
        "maxcv": np.where(norm == 0.0, 0.0, np.nan),
        "success": stored["success"] & finite & (norm <= tolerance),
        "best_x": stored["best_feasible"],
        "best_fun": stored["best_value"],
    }
