"""The classes of ``zoviz.solvers``, written by ``python -m zoviz.cli.stubs``."""

from collections.abc import Mapping
from typing import Any
from typing import Literal
from zoviz.estimators.base import GradientEstimator
from zoviz.estimators.coordinate import Block
from zoviz.estimators.coordinate import Coordinate
from zoviz.solvers.augmented_lagrangian.al_spg import ALSPG as _ALSPG
from zoviz.solvers.bayesian.admmbo import ADMMBO as _ADMMBO
from zoviz.solvers.bayesian.albo import ALBO as _ALBO
from zoviz.solvers.bayesian.albo import SlackAL as _SlackAL
from zoviz.solvers.bayesian.constrained_ei import ConstrainedEI as _ConstrainedEI
from zoviz.solvers.bayesian.pesc_lite import PESCLite as _PESCLite
from zoviz.solvers.bayesian.safe_opt import SafeOpt as _SafeOpt
from zoviz.solvers.bayesian.scbo import SCBO as _SCBO
from zoviz.solvers.bilevel.oagd import OAGD as _OAGD
from zoviz.solvers.bilevel.ogd import OGD as _OGD
from zoviz.solvers.bilevel.sobbo import SOBBO as _SOBBO
from zoviz.solvers.bilevel.sobow import SOBOW as _SOBOW
from zoviz.solvers.bilevel.sogd import SOGD as _SOGD
from zoviz.solvers.bilevel.zo_sogd import ZOSOGD as _ZOSOGD
from zoviz.solvers.bilevel.zo_sogd_adam import ZOSOGDAdam as _ZOSOGDAdam
from zoviz.solvers.external.cma_es import CMAES as _CMAES
from zoviz.solvers.external.cobyla_cobyqa import COBYLA as _COBYLA
from zoviz.solvers.external.cobyla_cobyqa import COBYQA as _COBYQA
from zoviz.solvers.external.nomad import NOMAD as _NOMAD
from zoviz.solvers.external.slsqp_trust_constr import SLSQP as _SLSQP
from zoviz.solvers.external.slsqp_trust_constr import TrustConstr as _TrustConstr
from zoviz.solvers.linear.eliminated_sgd import EliminatedSGD as _EliminatedSGD
from zoviz.solvers.linear.linearised_alm import LinearisedALM as _LinearisedALM
from zoviz.solvers.linear.linearised_storm_alm import LinearisedStormALM as _LinearisedStormALM
from zoviz.solvers.linear.penalty_sgd import PenaltySGD as _PenaltySGD
from zoviz.solvers.linear.sampled_alm import SampledALM as _SampledALM
from zoviz.solvers.linear.smoothed_alm import SmoothedALM as _SmoothedALM
from zoviz.solvers.linear.stochastic_ialm import StochasticIALM as _StochasticIALM
from zoviz.solvers.linear.storm_alm import StormALM as _StormALM
from zoviz.solvers.linear.storm_penalty import StormPenalty as _StormPenalty
from zoviz.solvers.linear.storm_sampled_alm import StormSampledALM as _StormSampledALM
from zoviz.solvers.linear.truncated_storm_penalty import TruncatedStormPenalty as _TruncatedStormPenalty
from zoviz.solvers.portfolio.portfolio import Portfolio as _Portfolio
from zoviz.solvers.saddle.dszog import DSZOG as _DSZOG
from zoviz.solvers.saddle.log_barrier import LogBarrier as _LogBarrier
from zoviz.solvers.saddle.ogda_rr import OGDARR as _OGDARR
from zoviz.solvers.saddle.proximal_point import ProximalPoint as _ProximalPoint
from zoviz.solvers.saddle.szo_conex import SZOConEX as _SZOConEX
from zoviz.solvers.saddle.zo_alm import ZOALM as _ZOALM
from zoviz.solvers.saddle.zo_ialm import ZOiALM as _ZOiALM
from zoviz.solvers.saddle.zo_splm import ZOSPLM as _ZOSPLM
from zoviz.solvers.saddle.zobceg import ZOBCEG as _ZOBCEG
from zoviz.solvers.saddle.zoceg import ZOCEG as _ZOCEG
from zoviz.solvers.saddle.zoeg import ZOEG as _ZOEG
from zoviz.solvers.saddle.zogda import ZOGDA as _ZOGDA
from zoviz.solvers.single_level.zo_adam import ZOAdam as _ZOAdam
from zoviz.solvers.single_level.zo_conserv_sgd import ZOConservSGD as _ZOConservSGD
from zoviz.solvers.single_level.zo_gd import ZOGD as _ZOGD
from zoviz.solvers.single_level.zo_recursive_gd import ZORecursiveGD as _ZORecursiveGD
from zoviz.solvers.single_level.zo_sign_sgd import ZOSignSGD as _ZOSignSGD
from zoviz.solvers.sqp.zosqp import ZOSQP as _ZOSQP
from zoviz.solvers.base import Solver as Solver

__all__ = [
    "ADMMBO",
    "ALBO",
    "ALSPG",
    "CMAES",
    "COBYLA",
    "COBYQA",
    "ConstrainedEI",
    "DSZOG",
    "EliminatedSGD",
    "LinearisedALM",
    "LinearisedStormALM",
    "LogBarrier",
    "NOMAD",
    "OAGD",
    "OGD",
    "OGDARR",
    "PESCLite",
    "PenaltySGD",
    "Portfolio",
    "ProximalPoint",
    "SCBO",
    "SLSQP",
    "SOBBO",
    "SOBOW",
    "SOGD",
    "SZOConEX",
    "SafeOpt",
    "SampledALM",
    "SlackAL",
    "SmoothedALM",
    "Solver",
    "StochasticIALM",
    "StormALM",
    "StormPenalty",
    "StormSampledALM",
    "TruncatedStormPenalty",
    "TrustConstr",
    "ZOALM",
    "ZOAdam",
    "ZOBCEG",
    "ZOCEG",
    "ZOConservSGD",
    "ZOEG",
    "ZOGD",
    "ZOGDA",
    "ZORecursiveGD",
    "ZOSOGD",
    "ZOSOGDAdam",
    "ZOSPLM",
    "ZOSQP",
    "ZOSignSGD",
    "ZOiALM",
]

class DSZOG(_DSZOG):
    primal_step: float | None
    dual_step: float | None
    penalty: float | None
    regularisation: float
    averaging: float
    momentum: float
    restoration: int | None
    adaptive: bool
    growing: bool | None
    square_decay: float
    estimator: GradientEstimator
    def __init__(
        self,
        *,
        primal_step: float | None = None,
        dual_step: float | None = None,
        penalty: float | None = None,
        regularisation: float = 0.01,
        averaging: float = 0.1,
        momentum: float = 0.1,
        restoration: int | None = None,
        adaptive: bool = False,
        growing: bool | None = None,
        square_decay: float = 0.99,
        estimator: GradientEstimator = ...,
        name: str | None = None,
    ) -> None: ...

class LogBarrier(_LogBarrier):
    weight_factor: float
    patience: int | None
    first_reach: float
    estimator: GradientEstimator
    def __init__(
        self,
        *,
        weight_factor: float = 0.5,
        patience: int | None = None,
        first_reach: float = 0.05,
        estimator: GradientEstimator = ...,
        name: str | None = None,
    ) -> None: ...

class OGDARR(_OGDARR):
    primal_step: float | None
    dual_step: float | None
    schedule: Literal["constant", "diminishing"]
    step_power: float
    dual_cap: float | None
    points: Literal[2, 1]
    dual: Literal["estimated", "exact"] | None
    report: Literal["last", "average"]
    estimator: GradientEstimator
    def __init__(
        self,
        *,
        primal_step: float | None = None,
        dual_step: float | None = None,
        schedule: Literal["constant", "diminishing"] = "constant",
        step_power: float = 0.76,
        dual_cap: float | None = None,
        points: Literal[2, 1] = 2,
        dual: Literal["estimated", "exact"] | None = None,
        report: Literal["last", "average"] = "last",
        estimator: GradientEstimator = ...,
        name: str | None = None,
    ) -> None: ...

class Portfolio(_Portfolio):
    first: ZOSQP | ALSPG | SLSQP | COBYLA | COBYQA | TrustConstr | CMAES | NOMAD | ZOSPLM | ZOCEG | ZOBCEG | ZOEG
    second: ZOSQP | ALSPG | SLSQP | COBYLA | COBYQA | TrustConstr | CMAES | NOMAD | ZOSPLM | ZOCEG | ZOBCEG | ZOEG
    third: ZOSQP | ALSPG | SLSQP | COBYLA | COBYQA | TrustConstr | CMAES | NOMAD | ZOSPLM | ZOCEG | ZOBCEG | ZOEG
    fourth: ZOSQP | ALSPG | SLSQP | COBYLA | COBYQA | TrustConstr | CMAES | NOMAD | ZOSPLM | ZOCEG | ZOBCEG | ZOEG
    members: int
    share: float
    patience: float
    def __init__(
        self,
        *,
        first: ZOSQP | ALSPG | SLSQP | COBYLA | COBYQA | TrustConstr | CMAES | NOMAD | ZOSPLM | ZOCEG | ZOBCEG | ZOEG = ...,
        second: ZOSQP | ALSPG | SLSQP | COBYLA | COBYQA | TrustConstr | CMAES | NOMAD | ZOSPLM | ZOCEG | ZOBCEG | ZOEG = ...,
        third: ZOSQP | ALSPG | SLSQP | COBYLA | COBYQA | TrustConstr | CMAES | NOMAD | ZOSPLM | ZOCEG | ZOBCEG | ZOEG = ...,
        fourth: ZOSQP | ALSPG | SLSQP | COBYLA | COBYQA | TrustConstr | CMAES | NOMAD | ZOSPLM | ZOCEG | ZOBCEG | ZOEG = ...,
        members: int = 4,
        share: float = 0.4,
        patience: float = 200.0,
        name: str | None = None,
    ) -> None: ...

class ProximalPoint(_ProximalPoint):
    stage_length: int
    stages: int
    objective_weight: float | None
    constraint_weight: float | None
    warm_duals: bool
    report: Literal["last", "random"]
    inner: SZOConEX | ZOEG | ZOCEG
    def __init__(
        self,
        *,
        stage_length: int = 20,
        stages: int = 50,
        objective_weight: float | None = None,
        constraint_weight: float | None = None,
        warm_duals: bool = True,
        report: Literal["last", "random"] = "last",
        inner: SZOConEX | ZOEG | ZOCEG = ...,
        name: str | None = None,
    ) -> None: ...

class ZOiALM(_ZOiALM):
    tolerance: float | None
    dual_step: float | None
    penalty: float | None
    penalty_factor: float
    patience: int
    dual_cap: float | None
    proximal_share: float
    inner_accuracy: float
    points: Literal[1, 2, 3]
    backtrack: bool
    smoothness: float | None
    constraint_smoothness: float | None
    constraint_slope: float | None
    estimator: Coordinate
    def __init__(
        self,
        *,
        tolerance: float | None = None,
        dual_step: float | None = None,
        penalty: float | None = None,
        penalty_factor: float = 3.0,
        patience: int = 3,
        dual_cap: float | None = None,
        proximal_share: float = 0.01,
        inner_accuracy: float = 0.3,
        points: Literal[1, 2, 3] = 1,
        backtrack: bool = True,
        smoothness: float | None = None,
        constraint_smoothness: float | None = None,
        constraint_slope: float | None = None,
        estimator: Coordinate = ...,
        name: str | None = None,
    ) -> None: ...

class ADMMBO(_ADMMBO):
    violation_weight: float
    start_penalty: float
    first_budget: int
    first_constraint_budget: int
    budget: int
    constraint_budget: int
    initial_points: int | None
    refit_every: int
    candidates: int
    restarts: int
    feasibility_level: float
    def __init__(
        self,
        *,
        violation_weight: float = 20.0,
        start_penalty: float = 0.1,
        first_budget: int = 5,
        first_constraint_budget: int = 10,
        budget: int = 2,
        constraint_budget: int = 3,
        initial_points: int | None = None,
        refit_every: int = 5,
        candidates: int = 400,
        restarts: int = 3,
        feasibility_level: float = 0.95,
        name: str | None = None,
    ) -> None: ...

class ALBO(_ALBO):
    samples: int
    initial_points: int | None
    refit_every: int
    candidates: int
    restarts: int
    feasibility_level: float
    def __init__(
        self,
        *,
        samples: int = 1024,
        initial_points: int | None = None,
        refit_every: int = 5,
        candidates: int = 400,
        restarts: int = 3,
        feasibility_level: float = 0.95,
        name: str | None = None,
    ) -> None: ...

class ALSPG(_ALSPG):
    penalty_growth: float
    window: int
    memory: int
    restarts: bool
    elsewhere: float
    constants: Mapping[str, Any]
    def __init__(
        self,
        *,
        penalty_growth: float = 4.0,
        window: int = 5,
        memory: int = 10,
        restarts: bool = True,
        elsewhere: float = 0.5,
        constants: Mapping[str, Any] = ...,
        name: str | None = None,
    ) -> None: ...

class CMAES(_CMAES):
    initial_width: float | None
    population_factor: float | None
    def __init__(
        self,
        *,
        initial_width: float | None = None,
        population_factor: float | None = None,
        name: str | None = None,
    ) -> None: ...

class ConstrainedEI(_ConstrainedEI):
    samples: int
    initial_points: int | None
    refit_every: int
    candidates: int
    restarts: int
    feasibility_level: float
    def __init__(
        self,
        *,
        samples: int = 64,
        initial_points: int | None = None,
        refit_every: int = 5,
        candidates: int = 400,
        restarts: int = 3,
        feasibility_level: float = 0.95,
        name: str | None = None,
    ) -> None: ...

class EliminatedSGD(_EliminatedSGD):
    gradients: Literal["stochastic", "zeroth-order"]
    horizon: int | None
    batch_size: int
    primal_step: float | None
    estimator: GradientEstimator
    def __init__(
        self,
        *,
        gradients: Literal["stochastic", "zeroth-order"] = "stochastic",
        horizon: int | None = None,
        batch_size: int = 1,
        primal_step: float | None = None,
        estimator: GradientEstimator = ...,
        name: str | None = None,
    ) -> None: ...

class NOMAD(_NOMAD):
    initial_radius: float | None
    models: bool
    def __init__(
        self,
        *,
        initial_radius: float | None = None,
        models: bool = True,
        name: str | None = None,
    ) -> None: ...

class PESCLite(_PESCLite):
    initial_points: int | None
    refit_every: int
    candidates: int
    restarts: int
    feasibility_level: float
    def __init__(
        self,
        *,
        initial_points: int | None = None,
        refit_every: int = 5,
        candidates: int = 400,
        restarts: int = 3,
        feasibility_level: float = 0.95,
        name: str | None = None,
    ) -> None: ...

class SCBO(_SCBO):
    initial_points: int | None
    refit_every: int
    candidates: int
    restarts: int
    feasibility_level: float
    def __init__(
        self,
        *,
        initial_points: int | None = None,
        refit_every: int = 5,
        candidates: int = 400,
        restarts: int = 3,
        feasibility_level: float = 0.95,
        name: str | None = None,
    ) -> None: ...

class SZOConEX(_SZOConEX):
    primal_step: float | None
    dual_step: float | None
    extrapolation: float
    directions: Literal["shared", "separate"]
    value: Literal["perturbed", "base"]
    dual_cap: float | None
    report: Literal["last", "average"]
    estimator: GradientEstimator
    schedule: Literal["constant", "diminishing"]
    step_power: float
    step_reach: float | None
    restoration: int | None
    augmentation: bool | None
    def __init__(
        self,
        *,
        primal_step: float | None = None,
        dual_step: float | None = None,
        extrapolation: float = 1.0,
        directions: Literal["shared", "separate"] = "shared",
        value: Literal["perturbed", "base"] = "perturbed",
        dual_cap: float | None = None,
        report: Literal["last", "average"] = "last",
        estimator: GradientEstimator = ...,
        schedule: Literal["constant", "diminishing"] = "constant",
        step_power: float = 0.5,
        step_reach: float | None = None,
        restoration: int | None = None,
        augmentation: bool | None = None,
        name: str | None = None,
    ) -> None: ...

class SafeOpt(_SafeOpt):
    beta: float
    first_reach: float
    initial_points: int | None
    refit_every: int
    candidates: int
    restarts: int
    feasibility_level: float
    def __init__(
        self,
        *,
        beta: float = 2.0,
        first_reach: float = 0.02,
        initial_points: int | None = None,
        refit_every: int = 5,
        candidates: int = 400,
        restarts: int = 3,
        feasibility_level: float = 0.95,
        name: str | None = None,
    ) -> None: ...

class ZOALM(_ZOALM):
    dual_step: float | None
    penalty: float | None
    weights: Literal["frozen", "direct"]
    penalty_growth: bool
    estimator: GradientEstimator
    primal_step: float | None
    schedule: Literal["constant", "diminishing"]
    step_power: float
    step_reach: float | None
    restoration: int | None
    augmentation: bool | None
    dual_cap: float | None
    def __init__(
        self,
        *,
        dual_step: float | None = None,
        penalty: float | None = None,
        weights: Literal["frozen", "direct"] = "frozen",
        penalty_growth: bool = False,
        estimator: GradientEstimator = ...,
        primal_step: float | None = None,
        schedule: Literal["constant", "diminishing"] = "constant",
        step_power: float = 0.5,
        step_reach: float | None = None,
        restoration: int | None = None,
        augmentation: bool | None = None,
        dual_cap: float | None = None,
        name: str | None = None,
    ) -> None: ...

class ZOGDA(_ZOGDA):
    regularisation: float
    dual: Literal["exact", "estimated"]
    estimator: GradientEstimator
    primal_step: float | None
    dual_step: float | None
    schedule: Literal["constant", "diminishing"]
    step_power: float
    step_reach: float | None
    restoration: int | None
    augmentation: bool | None
    dual_cap: float | None
    def __init__(
        self,
        *,
        regularisation: float = 0.0,
        dual: Literal["exact", "estimated"] = "exact",
        estimator: GradientEstimator = ...,
        primal_step: float | None = None,
        dual_step: float | None = None,
        schedule: Literal["constant", "diminishing"] = "constant",
        step_power: float = 0.5,
        step_reach: float | None = None,
        restoration: int | None = None,
        augmentation: bool | None = None,
        dual_cap: float | None = None,
        name: str | None = None,
    ) -> None: ...

class ZOSPLM(_ZOSPLM):
    proximal_step: float
    proximal_weight: float | None
    estimator: GradientEstimator
    estimate_proximal: bool
    primal_step: float | None
    dual_step: float | None
    schedule: Literal["constant", "diminishing"]
    step_power: float
    step_reach: float | None
    restoration: int | None
    augmentation: bool | None
    dual_cap: float | None
    def __init__(
        self,
        *,
        proximal_step: float = 0.5,
        proximal_weight: float | None = None,
        estimator: GradientEstimator = ...,
        estimate_proximal: bool = False,
        primal_step: float | None = None,
        dual_step: float | None = None,
        schedule: Literal["constant", "diminishing"] = "constant",
        step_power: float = 0.5,
        step_reach: float | None = None,
        restoration: int | None = None,
        augmentation: bool | None = None,
        dual_cap: float | None = None,
        name: str | None = None,
    ) -> None: ...

class ZOSQP(_ZOSQP):
    trust_scale: float
    restart_share: float
    batch_multiplier: float
    penalty: float
    back_off: float
    verification_share: float
    parallel_calls: int
    constants: Mapping[str, Any]
    def __init__(
        self,
        *,
        trust_scale: float = 1.0,
        restart_share: float = 0.7,
        batch_multiplier: float = 1.0,
        penalty: float = 1.0,
        back_off: float = 3.0,
        verification_share: float = 0.1,
        parallel_calls: int = 1,
        constants: Mapping[str, Any] = ...,
        name: str | None = None,
    ) -> None: ...

class COBYLA(_COBYLA):
    initial_radius: float | None
    final_radius: float | None
    def __init__(
        self,
        *,
        initial_radius: float | None = None,
        final_radius: float | None = None,
        name: str | None = None,
    ) -> None: ...

class COBYQA(_COBYQA):
    initial_radius: float | None
    final_radius: float | None
    def __init__(
        self,
        *,
        initial_radius: float | None = None,
        final_radius: float | None = None,
        name: str | None = None,
    ) -> None: ...

class LinearisedALM(_LinearisedALM):
    dual_step: float | None
    penalty: float | None
    gradients: Literal["stochastic", "zeroth-order"]
    horizon: int | None
    batch_size: int
    primal_step: float | None
    estimator: GradientEstimator
    def __init__(
        self,
        *,
        dual_step: float | None = None,
        penalty: float | None = None,
        gradients: Literal["stochastic", "zeroth-order"] = "stochastic",
        horizon: int | None = None,
        batch_size: int = 1,
        primal_step: float | None = None,
        estimator: GradientEstimator = ...,
        name: str | None = None,
    ) -> None: ...

class OGD(_OGD):
    inner_step: float | None
    outer_step: float | None
    outer_batch: int
    inner_batch: int
    def __init__(
        self,
        *,
        inner_step: float | None = None,
        outer_step: float | None = None,
        outer_batch: int = 1,
        inner_batch: int = 1,
        name: str | None = None,
    ) -> None: ...

class PenaltySGD(_PenaltySGD):
    growth: float
    penalty: float | None
    gradients: Literal["stochastic", "zeroth-order"]
    horizon: int | None
    batch_size: int
    primal_step: float | None
    estimator: GradientEstimator
    def __init__(
        self,
        *,
        growth: float = 0.3333333333333333,
        penalty: float | None = None,
        gradients: Literal["stochastic", "zeroth-order"] = "stochastic",
        horizon: int | None = None,
        batch_size: int = 1,
        primal_step: float | None = None,
        estimator: GradientEstimator = ...,
        name: str | None = None,
    ) -> None: ...

class SLSQP(_SLSQP):
    tolerance: float | None
    difference: float | None
    def __init__(
        self,
        *,
        tolerance: float | None = None,
        difference: float | None = None,
        name: str | None = None,
    ) -> None: ...

class SlackAL(_SlackAL, ALBO):
    samples: int
    initial_points: int | None
    refit_every: int
    candidates: int
    restarts: int
    feasibility_level: float
    def __init__(
        self,
        *,
        samples: int = 1024,
        initial_points: int | None = None,
        refit_every: int = 5,
        candidates: int = 400,
        restarts: int = 3,
        feasibility_level: float = 0.95,
        name: str | None = None,
    ) -> None: ...

class TrustConstr(_TrustConstr):
    initial_radius: float | None
    keep_feasible: bool
    tolerance: float | None
    difference: float | None
    def __init__(
        self,
        *,
        initial_radius: float | None = None,
        keep_feasible: bool = False,
        tolerance: float | None = None,
        difference: float | None = None,
        name: str | None = None,
    ) -> None: ...

class ZOAdam(_ZOAdam):
    inner_step: float
    variant: Literal["Adam", "AdaMM"]
    first_decay: float
    second_decay: float
    epsilon: float
    schedule: Literal["constant", "diminishing"]
    estimator: GradientEstimator
    inner_batch: int
    def __init__(
        self,
        *,
        inner_step: float = 0.01,
        variant: Literal["Adam", "AdaMM"] = "Adam",
        first_decay: float = 0.9,
        second_decay: float = 0.999,
        epsilon: float = 1e-08,
        schedule: Literal["constant", "diminishing"] = "constant",
        estimator: GradientEstimator = ...,
        inner_batch: int = 1,
        name: str | None = None,
    ) -> None: ...

class ZOBCEG(_ZOBCEG):
    dual_block_size: int | None
    estimator: Block
    primal_step: float | None
    dual_step: float | None
    radius_scale: float
    radius_power: float
    contraction: float | None
    dual_cap: float | None
    report: Literal["auto", "last", "average", "recent"]
    schedule: Literal["constant", "diminishing"]
    step_power: float
    step_reach: float | None
    restoration: int | None
    augmentation: bool | None
    def __init__(
        self,
        *,
        dual_block_size: int | None = None,
        estimator: Block = ...,
        primal_step: float | None = None,
        dual_step: float | None = None,
        radius_scale: float = 5.0,
        radius_power: float = 1.1,
        contraction: float | None = None,
        dual_cap: float | None = None,
        report: Literal["auto", "last", "average", "recent"] = "auto",
        schedule: Literal["constant", "diminishing"] = "constant",
        step_power: float = 0.5,
        step_reach: float | None = None,
        restoration: int | None = None,
        augmentation: bool | None = None,
        name: str | None = None,
    ) -> None: ...

class ZOCEG(_ZOCEG):
    estimator: GradientEstimator
    primal_step: float | None
    dual_step: float | None
    radius_scale: float
    radius_power: float
    contraction: float | None
    dual_cap: float | None
    report: Literal["auto", "last", "average", "recent"]
    schedule: Literal["constant", "diminishing"]
    step_power: float
    step_reach: float | None
    restoration: int | None
    augmentation: bool | None
    def __init__(
        self,
        *,
        estimator: GradientEstimator = ...,
        primal_step: float | None = None,
        dual_step: float | None = None,
        radius_scale: float = 5.0,
        radius_power: float = 1.1,
        contraction: float | None = None,
        dual_cap: float | None = None,
        report: Literal["auto", "last", "average", "recent"] = "auto",
        schedule: Literal["constant", "diminishing"] = "constant",
        step_power: float = 0.5,
        step_reach: float | None = None,
        restoration: int | None = None,
        augmentation: bool | None = None,
        name: str | None = None,
    ) -> None: ...

class ZOConservSGD(_ZOConservSGD):
    inner_step: float | None
    schedule: Literal["constant", "diminishing"]
    estimator: GradientEstimator
    inner_batch: int
    def __init__(
        self,
        *,
        inner_step: float | None = None,
        schedule: Literal["constant", "diminishing"] = "constant",
        estimator: GradientEstimator = ...,
        inner_batch: int = 1,
        name: str | None = None,
    ) -> None: ...

class ZOEG(_ZOEG):
    dual: Literal["estimated", "exact"] | None
    estimator: GradientEstimator
    primal_step: float | None
    dual_step: float | None
    radius_scale: float
    radius_power: float
    contraction: float | None
    dual_cap: float | None
    report: Literal["auto", "last", "average", "recent"]
    schedule: Literal["constant", "diminishing"]
    step_power: float
    step_reach: float | None
    restoration: int | None
    augmentation: bool | None
    def __init__(
        self,
        *,
        dual: Literal["estimated", "exact"] | None = None,
        estimator: GradientEstimator = ...,
        primal_step: float | None = None,
        dual_step: float | None = None,
        radius_scale: float = 5.0,
        radius_power: float = 1.1,
        contraction: float | None = None,
        dual_cap: float | None = None,
        report: Literal["auto", "last", "average", "recent"] = "auto",
        schedule: Literal["constant", "diminishing"] = "constant",
        step_power: float = 0.5,
        step_reach: float | None = None,
        restoration: int | None = None,
        augmentation: bool | None = None,
        name: str | None = None,
    ) -> None: ...

class ZOGD(_ZOGD):
    inner_step: float | None
    schedule: Literal["constant", "diminishing"]
    estimator: GradientEstimator
    inner_batch: int
    def __init__(
        self,
        *,
        inner_step: float | None = None,
        schedule: Literal["constant", "diminishing"] = "constant",
        estimator: GradientEstimator = ...,
        inner_batch: int = 1,
        name: str | None = None,
    ) -> None: ...

class ZORecursiveGD(_ZORecursiveGD):
    inner_step: float | None
    weight: float
    schedule: Literal["constant", "theory"]
    estimator: GradientEstimator
    inner_batch: int
    def __init__(
        self,
        *,
        inner_step: float | None = None,
        weight: float = 0.99,
        schedule: Literal["constant", "theory"] = "constant",
        estimator: GradientEstimator = ...,
        inner_batch: int = 1,
        name: str | None = None,
    ) -> None: ...

class ZOSignSGD(_ZOSignSGD):
    inner_step: float
    schedule: Literal["constant", "diminishing"]
    estimator: GradientEstimator
    inner_batch: int
    def __init__(
        self,
        *,
        inner_step: float = 0.01,
        schedule: Literal["constant", "diminishing"] = "constant",
        estimator: GradientEstimator = ...,
        inner_batch: int = 1,
        name: str | None = None,
    ) -> None: ...

class OAGD(_OAGD):
    inner_steps: int
    window: int
    decay: float
    system: Literal["neumann", "cg"]
    system_iterations: int
    neumann_step: float | None
    system_radius: float | None
    inner_step: float | None
    outer_step: float | None
    outer_batch: int
    inner_batch: int
    def __init__(
        self,
        *,
        inner_steps: int = 1,
        window: int = 5,
        decay: float = 0.9,
        system: Literal["neumann", "cg"] = "neumann",
        system_iterations: int = 5,
        neumann_step: float | None = None,
        system_radius: float | None = None,
        inner_step: float | None = None,
        outer_step: float | None = None,
        outer_batch: int = 1,
        inner_batch: int = 1,
        name: str | None = None,
    ) -> None: ...

class SOBOW(_SOBOW):
    window: int
    decay: float
    system_iterations: int
    system_radius: float | None
    inner_step: float | None
    outer_step: float | None
    outer_batch: int
    inner_batch: int
    def __init__(
        self,
        *,
        window: int = 5,
        decay: float = 0.9,
        system_iterations: int = 5,
        system_radius: float | None = None,
        inner_step: float | None = None,
        outer_step: float | None = None,
        outer_batch: int = 1,
        inner_batch: int = 1,
        name: str | None = None,
    ) -> None: ...

class SampledALM(_SampledALM):
    dual_reset: float | None
    dual_step: float | None
    proximal_weight: float | None
    proximal_step: float | None
    polish_step: float | None
    polish_batch: int
    centre_update: Literal["old iterate", "new iterate"]
    step_rule: Literal["practice", "theory"]
    error_bound: float
    penalty: float | None
    gradients: Literal["stochastic", "zeroth-order"]
    horizon: int | None
    batch_size: int
    primal_step: float | None
    estimator: GradientEstimator
    def __init__(
        self,
        *,
        dual_reset: float | None = None,
        dual_step: float | None = None,
        proximal_weight: float | None = None,
        proximal_step: float | None = None,
        polish_step: float | None = None,
        polish_batch: int = 1000,
        centre_update: Literal["old iterate", "new iterate"] = "old iterate",
        step_rule: Literal["practice", "theory"] = "practice",
        error_bound: float = 1.0,
        penalty: float | None = None,
        gradients: Literal["stochastic", "zeroth-order"] = "stochastic",
        horizon: int | None = None,
        batch_size: int = 1,
        primal_step: float | None = None,
        estimator: GradientEstimator = ...,
        name: str | None = None,
    ) -> None: ...

class SmoothedALM(_SmoothedALM):
    dual_step: float | None
    proximal_weight: float | None
    proximal_step: float | None
    polish_step: float | None
    polish_batch: int
    centre_update: Literal["old iterate", "new iterate"]
    step_rule: Literal["practice", "theory"]
    error_bound: float
    penalty: float | None
    gradients: Literal["stochastic", "zeroth-order"]
    horizon: int | None
    batch_size: int
    primal_step: float | None
    estimator: GradientEstimator
    def __init__(
        self,
        *,
        dual_step: float | None = None,
        proximal_weight: float | None = None,
        proximal_step: float | None = None,
        polish_step: float | None = None,
        polish_batch: int = 1000,
        centre_update: Literal["old iterate", "new iterate"] = "old iterate",
        step_rule: Literal["practice", "theory"] = "practice",
        error_bound: float = 1.0,
        penalty: float | None = None,
        gradients: Literal["stochastic", "zeroth-order"] = "stochastic",
        horizon: int | None = None,
        batch_size: int = 1,
        primal_step: float | None = None,
        estimator: GradientEstimator = ...,
        name: str | None = None,
    ) -> None: ...

class LinearisedStormALM(_LinearisedStormALM):
    dual_step: float | None
    momentum: float | None
    penalty: float | None
    gradients: Literal["stochastic", "zeroth-order"]
    horizon: int | None
    batch_size: int
    primal_step: float | None
    estimator: GradientEstimator
    def __init__(
        self,
        *,
        dual_step: float | None = None,
        momentum: float | None = None,
        penalty: float | None = None,
        gradients: Literal["stochastic", "zeroth-order"] = "stochastic",
        horizon: int | None = None,
        batch_size: int = 1,
        primal_step: float | None = None,
        estimator: GradientEstimator = ...,
        name: str | None = None,
    ) -> None: ...

class SOBBO(_SOBBO, SOBOW):
    geometry: Literal["adaptive", "euclidean"]
    square_decay: float
    floor: float
    window: int
    decay: float
    system_iterations: int
    system_radius: float | None
    inner_step: float | None
    outer_step: float | None
    outer_batch: int
    inner_batch: int
    def __init__(
        self,
        *,
        geometry: Literal["adaptive", "euclidean"] = "adaptive",
        square_decay: float = 0.999,
        floor: float = 1e-08,
        window: int = 5,
        decay: float = 0.9,
        system_iterations: int = 5,
        system_radius: float | None = None,
        inner_step: float | None = None,
        outer_step: float | None = None,
        outer_batch: int = 1,
        inner_batch: int = 1,
        name: str | None = None,
    ) -> None: ...

class SOGD(_SOGD):
    system_step: float | None
    inner_weight: float
    system_weight: float
    outer_weight: float
    schedule: Literal["practice", "theory"]
    offset: float | None
    inner_factor: float | None
    system_factor: float | None
    outer_factor: float | None
    project_inner: bool
    system_radius: float | None
    inner_step: float | None
    outer_step: float | None
    outer_batch: int
    inner_batch: int
    def __init__(
        self,
        *,
        system_step: float | None = None,
        inner_weight: float = 0.99,
        system_weight: float = 0.99,
        outer_weight: float = 0.99,
        schedule: Literal["practice", "theory"] = "practice",
        offset: float | None = None,
        inner_factor: float | None = None,
        system_factor: float | None = None,
        outer_factor: float | None = None,
        project_inner: bool = True,
        system_radius: float | None = None,
        inner_step: float | None = None,
        outer_step: float | None = None,
        outer_batch: int = 1,
        inner_batch: int = 1,
        name: str | None = None,
    ) -> None: ...

class StochasticIALM(_StochasticIALM):
    dual_step: float | None
    penalty_growth: float
    stage_length: int
    momentum: float | None
    penalty: float | None
    gradients: Literal["stochastic", "zeroth-order"]
    horizon: int | None
    batch_size: int
    primal_step: float | None
    estimator: GradientEstimator
    def __init__(
        self,
        *,
        dual_step: float | None = None,
        penalty_growth: float = 2.0,
        stage_length: int = 200,
        momentum: float | None = None,
        penalty: float | None = None,
        gradients: Literal["stochastic", "zeroth-order"] = "stochastic",
        horizon: int | None = None,
        batch_size: int = 1,
        primal_step: float | None = None,
        estimator: GradientEstimator = ...,
        name: str | None = None,
    ) -> None: ...

class StormPenalty(_StormPenalty):
    momentum: float | None
    penalty: float | None
    gradients: Literal["stochastic", "zeroth-order"]
    horizon: int | None
    batch_size: int
    primal_step: float | None
    estimator: GradientEstimator
    def __init__(
        self,
        *,
        momentum: float | None = None,
        penalty: float | None = None,
        gradients: Literal["stochastic", "zeroth-order"] = "stochastic",
        horizon: int | None = None,
        batch_size: int = 1,
        primal_step: float | None = None,
        estimator: GradientEstimator = ...,
        name: str | None = None,
    ) -> None: ...

class TruncatedStormPenalty(_TruncatedStormPenalty):
    gradient_cap: float | None
    momentum: float | None
    penalty: float | None
    gradients: Literal["stochastic", "zeroth-order"]
    horizon: int | None
    batch_size: int
    primal_step: float | None
    estimator: GradientEstimator
    def __init__(
        self,
        *,
        gradient_cap: float | None = None,
        momentum: float | None = None,
        penalty: float | None = None,
        gradients: Literal["stochastic", "zeroth-order"] = "stochastic",
        horizon: int | None = None,
        batch_size: int = 1,
        primal_step: float | None = None,
        estimator: GradientEstimator = ...,
        name: str | None = None,
    ) -> None: ...

class ZOSOGD(_ZOSOGD):
    product_radius: float
    product_factor: float | None
    estimator: GradientEstimator
    outer_estimator: GradientEstimator
    directions: Literal["shared", "per sample"]
    system_step: float | None
    inner_weight: float
    system_weight: float
    outer_weight: float
    schedule: Literal["practice", "theory"]
    offset: float | None
    inner_factor: float | None
    system_factor: float | None
    outer_factor: float | None
    project_inner: bool
    system_radius: float | None
    inner_step: float | None
    outer_step: float | None
    outer_batch: int
    inner_batch: int
    def __init__(
        self,
        *,
        product_radius: float = 0.01,
        product_factor: float | None = None,
        estimator: GradientEstimator = ...,
        outer_estimator: GradientEstimator = ...,
        directions: Literal["shared", "per sample"] = "shared",
        system_step: float | None = None,
        inner_weight: float = 0.99,
        system_weight: float = 0.99,
        outer_weight: float = 0.99,
        schedule: Literal["practice", "theory"] = "practice",
        offset: float | None = None,
        inner_factor: float | None = None,
        system_factor: float | None = None,
        outer_factor: float | None = None,
        project_inner: bool = True,
        system_radius: float | None = None,
        inner_step: float | None = None,
        outer_step: float | None = None,
        outer_batch: int = 1,
        inner_batch: int = 1,
        name: str | None = None,
    ) -> None: ...

class StormALM(_StormALM):
    momentum: float | None
    dual_step: float | None
    proximal_weight: float | None
    proximal_step: float | None
    polish_step: float | None
    polish_batch: int
    centre_update: Literal["old iterate", "new iterate"]
    step_rule: Literal["practice", "theory"]
    error_bound: float
    penalty: float | None
    gradients: Literal["stochastic", "zeroth-order"]
    horizon: int | None
    batch_size: int
    primal_step: float | None
    estimator: GradientEstimator
    def __init__(
        self,
        *,
        momentum: float | None = None,
        dual_step: float | None = None,
        proximal_weight: float | None = None,
        proximal_step: float | None = None,
        polish_step: float | None = None,
        polish_batch: int = 1000,
        centre_update: Literal["old iterate", "new iterate"] = "old iterate",
        step_rule: Literal["practice", "theory"] = "practice",
        error_bound: float = 1.0,
        penalty: float | None = None,
        gradients: Literal["stochastic", "zeroth-order"] = "stochastic",
        horizon: int | None = None,
        batch_size: int = 1,
        primal_step: float | None = None,
        estimator: GradientEstimator = ...,
        name: str | None = None,
    ) -> None: ...

class StormSampledALM(_StormSampledALM):
    dual_reset: float | None
    momentum: float | None
    dual_step: float | None
    proximal_weight: float | None
    proximal_step: float | None
    polish_step: float | None
    polish_batch: int
    centre_update: Literal["old iterate", "new iterate"]
    step_rule: Literal["practice", "theory"]
    error_bound: float
    penalty: float | None
    gradients: Literal["stochastic", "zeroth-order"]
    horizon: int | None
    batch_size: int
    primal_step: float | None
    estimator: GradientEstimator
    def __init__(
        self,
        *,
        dual_reset: float | None = None,
        momentum: float | None = None,
        dual_step: float | None = None,
        proximal_weight: float | None = None,
        proximal_step: float | None = None,
        polish_step: float | None = None,
        polish_batch: int = 1000,
        centre_update: Literal["old iterate", "new iterate"] = "old iterate",
        step_rule: Literal["practice", "theory"] = "practice",
        error_bound: float = 1.0,
        penalty: float | None = None,
        gradients: Literal["stochastic", "zeroth-order"] = "stochastic",
        horizon: int | None = None,
        batch_size: int = 1,
        primal_step: float | None = None,
        estimator: GradientEstimator = ...,
        name: str | None = None,
    ) -> None: ...

class ZOSOGDAdam(_ZOSOGDAdam, ZOSOGD):
    mean_decay: float
    square_decay: float
    floor: float
    product_radius: float
    product_factor: float | None
    estimator: GradientEstimator
    outer_estimator: GradientEstimator
    directions: Literal["shared", "per sample"]
    system_step: float | None
    inner_weight: float
    system_weight: float
    outer_weight: float
    schedule: Literal["practice", "theory"]
    offset: float | None
    inner_factor: float | None
    system_factor: float | None
    outer_factor: float | None
    project_inner: bool
    system_radius: float | None
    inner_step: float | None
    outer_step: float | None
    outer_batch: int
    inner_batch: int
    def __init__(
        self,
        *,
        mean_decay: float = 0.9,
        square_decay: float = 0.999,
        floor: float = 1e-08,
        product_radius: float = 0.01,
        product_factor: float | None = None,
        estimator: GradientEstimator = ...,
        outer_estimator: GradientEstimator = ...,
        directions: Literal["shared", "per sample"] = "shared",
        system_step: float | None = None,
        inner_weight: float = 0.99,
        system_weight: float = 0.99,
        outer_weight: float = 0.99,
        schedule: Literal["practice", "theory"] = "practice",
        offset: float | None = None,
        inner_factor: float | None = None,
        system_factor: float | None = None,
        outer_factor: float | None = None,
        project_inner: bool = True,
        system_radius: float | None = None,
        inner_step: float | None = None,
        outer_step: float | None = None,
        outer_batch: int = 1,
        inner_batch: int = 1,
        name: str | None = None,
    ) -> None: ...
