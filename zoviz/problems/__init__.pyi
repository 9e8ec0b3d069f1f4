"""The classes of ``zoviz.problems``, written by ``python -m zoviz.cli.stubs``."""

from collections.abc import Callable
from collections.abc import Sequence
from numpy.typing import ArrayLike
from typing import Any
from typing import Literal
from zoviz.evaluation.evaluators import Workers
from zoviz.evaluation.scipy_constraints import Bounds
from zoviz.problems.coco.bbob_constrained import BBOBConstrained as _BBOBConstrained
from zoviz.problems.cutest.suite import Suite as _Suite
from zoviz.problems.engineering.gramacy import Gramacy as _Gramacy
from zoviz.problems.engineering.pressure_vessel import PressureVessel as _PressureVessel
from zoviz.problems.engineering.rankine_cycle import RankineCycle as _RankineCycle
from zoviz.problems.engineering.speed_reducer import SpeedReducer as _SpeedReducer
from zoviz.problems.engineering.spring import Spring as _Spring
from zoviz.problems.engineering.welded_beam import WeldedBeam as _WeldedBeam
from zoviz.problems.learning.blackbox_attack import BlackBoxAttack as _BlackBoxAttack
from zoviz.problems.learning.fair_classification import FairClassification as _FairClassification
from zoviz.problems.learning.hmc_tuning import HMCTuning as _HMCTuning
from zoviz.problems.learning.loss_tuning import LossTuning as _LossTuning
from zoviz.problems.learning.network_tuning import NetworkTuning as _NetworkTuning
from zoviz.problems.networks.consensus import DistributedConsensus as _DistributedConsensus
from zoviz.problems.networks.queueing import QueueingNetwork as _QueueingNetwork
from zoviz.problems.networks.slicing import NetworkSlicing as _NetworkSlicing
from zoviz.problems.power.ac_load_tracking import ACLoadTracking as _ACLoadTracking
from zoviz.problems.power.load_tracking import LoadTracking as _LoadTracking
from zoviz.problems.power.optimal_power_flow import OptimalPowerFlow as _OptimalPowerFlow
from zoviz.problems.quadratic.conex_qcqp import ConexQCQP as _ConexQCQP
from zoviz.problems.quadratic.curved_bilevel import CurvedBilevel as _CurvedBilevel
from zoviz.problems.quadratic.nonconvex_qcqp import NonconvexQCQP as _NonconvexQCQP
from zoviz.problems.quadratic.quadratic_bilevel import QuadraticBilevel as _QuadraticBilevel
from zoviz.problems.quadratic.stochastic_qp import StochasticQP as _StochasticQP
from zoviz.problems.quadratic.toy_bilevel import ToyBilevel as _ToyBilevel
from zoviz.problems.user.blackbox import BlackBox as _BlackBox
from zoviz.problems.user.blackbox import Functions
from zoviz.problems.user.executable import Executable as _Executable
import os
from zoviz.problems.base import Problem as Problem

__all__ = [
    "ACLoadTracking",
    "BBOBConstrained",
    "BlackBox",
    "BlackBoxAttack",
    "ConexQCQP",
    "CurvedBilevel",
    "DistributedConsensus",
    "Executable",
    "FairClassification",
    "Gramacy",
    "HMCTuning",
    "LoadTracking",
    "LossTuning",
    "NetworkSlicing",
    "NetworkTuning",
    "NonconvexQCQP",
    "OptimalPowerFlow",
    "PressureVessel",
    "Problem",
    "QuadraticBilevel",
    "QueueingNetwork",
    "RankineCycle",
    "SpeedReducer",
    "Spring",
    "StochasticQP",
    "Suite",
    "ToyBilevel",
    "WeldedBeam",
]

class ACLoadTracking(_ACLoadTracking):
    seed: int
    loads: Literal["case", "drawn"]
    target: float
    penalty: float
    lowest: float
    highest: float
    start_share: float
    noise_scale: float
    scaled: bool
    noise: Literal["deterministic", "common", "independent"]
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        seed: int = 0,
        loads: Literal["case", "drawn"] = "case",
        target: float = 0.15,
        penalty: float = 20.0,
        lowest: float = 0.96,
        highest: float = 1.04,
        start_share: float = 0.2,
        noise_scale: float = 0.001,
        scaled: bool = False,
        noise: Literal["deterministic", "common", "independent"] = "deterministic",
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class HMCTuning(_HMCTuning):
    noise: Literal["deterministic", "common", "independent"]
    noise_scale: float
    dataset: Literal["generated", "german credit"]
    rows: int
    gradients: int
    chains: int
    prior_variance: float
    geweke: Literal["coda", "pymc"]
    reduction_limit: float
    seed: int
    scaled: bool
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        noise: Literal["deterministic", "common", "independent"] = "independent",
        noise_scale: float = 0.0,
        dataset: Literal["generated", "german credit"] = "generated",
        rows: int = 800,
        gradients: int = 2000,
        chains: int = 2,
        prior_variance: float = 100.0,
        geweke: Literal["coda", "pymc"] = "coda",
        reduction_limit: float = 1.2,
        seed: int = 0,
        scaled: bool = False,
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class LoadTracking(_LoadTracking):
    n: int
    seed: int
    curtailment: float | None
    scaled: bool
    noise: Literal["deterministic", "common", "independent"]
    noise_distribution: Literal["normal", "student_t"]
    noise_scale: float
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        n: int = 100,
        seed: int = 0,
        curtailment: float | None = None,
        scaled: bool = False,
        noise: Literal["deterministic", "common", "independent"] = "deterministic",
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_scale: float = 1.0,
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class NetworkTuning(_NetworkTuning):
    noise: Literal["deterministic", "common", "independent"]
    noise_scale: float
    dataset: Literal["digits", "mnist 5000", "mnist", "cifar-10"]
    steps: int
    batch: int
    loss: Literal["error", "log"]
    widest: int
    limit_share: float
    seed: int
    scaled: bool
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        noise: Literal["deterministic", "common", "independent"] = "independent",
        noise_scale: float = 0.0,
        dataset: Literal["digits", "mnist 5000", "mnist", "cifar-10"] = "digits",
        steps: int = 500,
        batch: int = 32,
        loss: Literal["error", "log"] = "error",
        widest: int = 64,
        limit_share: float = 0.15,
        seed: int = 0,
        scaled: bool = False,
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class OptimalPowerFlow(_OptimalPowerFlow):
    scaled: bool
    load: float
    noise: Literal["deterministic", "common", "independent"]
    noise_distribution: Literal["normal", "student_t"]
    noise_scale: float
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        scaled: bool = True,
        load: float = 1.0,
        noise: Literal["deterministic", "common", "independent"] = "deterministic",
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_scale: float = 1.0,
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class QueueingNetwork(_QueueingNetwork):
    noise: Literal["deterministic", "common", "independent"]
    noise_scale: float
    scaled: bool
    customers: int
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        noise: Literal["deterministic", "common", "independent"] = "common",
        noise_scale: float = 0.0,
        scaled: bool = True,
        customers: int = 50,
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class RankineCycle(_RankineCycle):
    scaled: bool
    noise: Literal["deterministic", "common", "independent"]
    noise_distribution: Literal["normal", "student_t"]
    noise_scale: float
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        scaled: bool = True,
        noise: Literal["deterministic", "common", "independent"] = "deterministic",
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_scale: float = 1.0,
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class BBOBConstrained(_BBOBConstrained):
    function: int
    dimension: Literal[2, 3, 5, 10, 20, 40]
    instance: int
    start_spread: float
    scaled: bool
    noise: Literal["deterministic", "common", "independent"]
    noise_distribution: Literal["normal", "student_t"]
    noise_scale: float
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        function: int = 1,
        dimension: Literal[2, 3, 5, 10, 20, 40] = 5,
        instance: int = 1,
        start_spread: float = 0.0,
        scaled: bool = True,
        noise: Literal["deterministic", "common", "independent"] = "deterministic",
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_scale: float = 1.0,
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class BlackBox(_BlackBox):
    objective: Callable[..., Any]
    constraints: Functions | None
    bounds: Bounds | None
    joint: bool
    vectorised: bool
    x0: ArrayLike | None
    m_constraints: int | None
    optimal_value: float | None
    scaled: bool
    keeps_bounds: bool
    workers: Workers | None
    timeout: float | None
    on_error: Literal["raise", "fail"]
    keep: str
    variable_names: Sequence[str] | None
    constraint_names: Sequence[str] | None
    seeds: bool
    noise: Literal["unknown", "deterministic", "common", "independent"]
    noise_scale: float
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        objective: Callable[..., Any] | None = None,
        constraints: Functions | None = None,
        bounds: Bounds | None = None,
        x0: ArrayLike | None = None,
        m: int | None = None,
        *,
        joint: bool = False,
        vectorised: bool = False,
        m_constraints: int | None = None,
        optimal_value: float | None = None,
        scaled: bool = True,
        keeps_bounds: bool = True,
        workers: Workers | None = None,
        timeout: float | None = None,
        on_error: Literal["raise", "fail"] = "raise",
        keep: str = "",
        variable_names: Sequence[str] | None = None,
        constraint_names: Sequence[str] | None = None,
        seeds: bool = False,
        noise: Literal["unknown", "deterministic", "common", "independent"] = "unknown",
        noise_scale: float = 0.0,
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class BlackBoxAttack(_BlackBoxAttack):
    dataset: Literal["digits", "mnist 5000", "mnist", "cifar-10"]
    seed: int
    hidden_units: int
    epochs: int
    confidence: float
    penalty: float
    largest_weight: float
    stages: int
    stage_rounds: int
    noise: Literal["deterministic", "common", "independent"]
    noise_scale: float
    regret_step: float
    regret_window: int
    measure_variations: bool
    scaled: bool
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        dataset: Literal["digits", "mnist 5000", "mnist", "cifar-10"] = "digits",
        seed: int = 0,
        hidden_units: int = 64,
        epochs: int = 100,
        confidence: float = 0.0,
        penalty: float = 0.05,
        largest_weight: float = 2.0,
        stages: int = 1,
        stage_rounds: int = 100,
        noise: Literal["deterministic", "common", "independent"] = "common",
        noise_scale: float = 0.0,
        regret_step: float = 0.1,
        regret_window: int = 1,
        measure_variations: bool = False,
        scaled: bool = False,
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class ConexQCQP(_ConexQCQP):
    n: int
    seed: int
    convex: bool
    half_width: float
    start_radius: float
    scaled: bool
    noise: Literal["deterministic", "common", "independent"]
    noise_distribution: Literal["normal", "student_t"]
    noise_scale: float
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        n: int = 50,
        seed: int = 0,
        convex: bool = True,
        half_width: float = 10.0,
        start_radius: float = 1.0,
        scaled: bool = False,
        noise: Literal["deterministic", "common", "independent"] = "deterministic",
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_scale: float = 1.0,
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class DistributedConsensus(_DistributedConsensus):
    nodes: int
    features: int
    edge_probability: float
    probability_spread: float
    node_points: int
    points: int
    difference: float
    loss: Literal["logistic", "logistic difference", "smoothed 0-1"]
    shift: float
    ridge: float
    half_width: float
    start_radius: float
    seed: int
    noise: Literal["deterministic", "common", "independent"]
    noise_scale: float
    measure_envelope: bool
    envelope_weight: float | None
    scaled: bool
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        nodes: int = 6,
        features: int = 2,
        edge_probability: float = 0.5,
        probability_spread: float = 0.0,
        node_points: int = 40,
        points: int = 8,
        difference: float = 0.5,
        loss: Literal["logistic", "logistic difference", "smoothed 0-1"] = "logistic",
        shift: float = 3.0,
        ridge: float = 0.1,
        half_width: float = 10.0,
        start_radius: float = 2.0,
        seed: int = 0,
        noise: Literal["deterministic", "common", "independent"] = "common",
        noise_scale: float = 0.0,
        measure_envelope: bool = False,
        envelope_weight: float | None = None,
        scaled: bool = False,
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class Executable(_Executable):
    command: tuple[str, ...]
    format: Literal["text", "json", "nomad"]
    output_types: str | Sequence[str] | None
    retries: int
    folder: str | None
    log_folder: str | None
    m_constraints: int | None
    bounds: Bounds | None
    x0: ArrayLike | None
    optimal_value: float | None
    scaled: bool
    keeps_bounds: bool
    workers: Workers | None
    timeout: float | None
    on_error: Literal["raise", "fail"]
    keep: str
    variable_names: Sequence[str] | None
    constraint_names: Sequence[str] | None
    seeds: bool
    noise: Literal["unknown", "deterministic", "common", "independent"]
    noise_scale: float
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        command: str | Sequence[str],
        bounds: Bounds | None = None,
        x0: ArrayLike | None = None,
        m: int | None = None,
        *,
        format: str = "text",
        output_types: str | Sequence[str] | None = None,
        folder: str | os.PathLike[str] | None = None,
        log_folder: str | os.PathLike[str] | None = None,
        retries: int = 0,
        m_constraints: int | None = None,
        optimal_value: float | None = None,
        scaled: bool = True,
        keeps_bounds: bool = True,
        workers: Workers | None = None,
        timeout: float | None = None,
        on_error: Literal["raise", "fail"] = "raise",
        keep: str = "",
        variable_names: Sequence[str] | None = None,
        constraint_names: Sequence[str] | None = None,
        seeds: bool = False,
        noise: Literal["unknown", "deterministic", "common", "independent"] = "unknown",
        noise_scale: float = 0.0,
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class FairClassification(_FairClassification):
    source: Literal["breast cancer", "arrests", "adult", "german credit"]
    loss: Literal["logistic", "logistic difference", "smoothed 0-1"]
    shift: float
    bound: float
    ridge: float
    people: int
    half_width: float
    start_radius: float
    test_share: float
    label_noise: float
    split_seed: int
    noise: Literal["deterministic", "common", "independent"]
    noise_scale: float
    measure_envelope: bool
    envelope_weight: float | None
    scaled: bool
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        source: Literal["breast cancer", "arrests", "adult", "german credit"] = "breast cancer",
        loss: Literal["logistic", "logistic difference", "smoothed 0-1"] = "logistic",
        shift: float = 3.0,
        bound: float = 0.2,
        ridge: float = 0.01,
        people: int = 32,
        half_width: float = 10.0,
        start_radius: float = 1.0,
        test_share: float = 0.0,
        label_noise: float = 0.0,
        split_seed: int = 0,
        noise: Literal["deterministic", "common", "independent"] = "common",
        noise_scale: float = 0.0,
        measure_envelope: bool = False,
        envelope_weight: float | None = None,
        scaled: bool = False,
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class Gramacy(_Gramacy):
    scaled: bool
    noise: Literal["deterministic", "common", "independent"]
    noise_distribution: Literal["normal", "student_t"]
    noise_scale: float
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        scaled: bool = False,
        noise: Literal["deterministic", "common", "independent"] = "deterministic",
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_scale: float = 1.0,
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class LossTuning(_LossTuning):
    dataset: Literal["digits", "mnist 5000", "mnist", "cifar-10"]
    channels: int
    hidden_units: int
    phase_length: int
    ratios: list[float]
    images: int
    decay: float
    noise: Literal["deterministic", "common", "independent"]
    noise_scale: float
    regret_step: float
    regret_window: int
    measure_variations: bool
    scaled: bool
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        dataset: Literal["digits", "mnist 5000", "mnist", "cifar-10"] = "digits",
        channels: int = 4,
        hidden_units: int = 16,
        phase_length: int = 100,
        ratios: list[float] = ...,
        images: int = 16,
        decay: float = 0.001,
        noise: Literal["deterministic", "common", "independent"] = "common",
        noise_scale: float = 0.0,
        regret_step: float = 0.1,
        regret_window: int = 1,
        measure_variations: bool = False,
        scaled: bool = False,
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class NetworkSlicing(_NetworkSlicing):
    nodes: int
    degree: int
    flows: int
    chain: int
    sites: int
    providers: int
    tightness: float
    cost_spread: float
    demand_spread: float
    weight: float
    exponent: float
    offset: float
    start_radius: float
    seed: int
    noise: Literal["deterministic", "common", "independent"]
    noise_scale: float
    measure_envelope: bool
    envelope_weight: float | None
    scaled: bool
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        nodes: int = 6,
        degree: int = 3,
        flows: int = 2,
        chain: int = 2,
        sites: int = 4,
        providers: int = 3,
        tightness: float = 0.3,
        cost_spread: float = 0.2,
        demand_spread: float = 0.0,
        weight: float = 1.0,
        exponent: float = 0.5,
        offset: float = 0.1,
        start_radius: float = 0.5,
        seed: int = 0,
        noise: Literal["deterministic", "common", "independent"] = "common",
        noise_scale: float = 0.0,
        measure_envelope: bool = False,
        envelope_weight: float | None = None,
        scaled: bool = False,
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class NonconvexQCQP(_NonconvexQCQP):
    n: int
    seed: int
    half_width: float
    start_radius: float
    scaled: bool
    noise: Literal["deterministic", "common", "independent"]
    noise_distribution: Literal["normal", "student_t"]
    noise_scale: float
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        n: int = 50,
        seed: int = 0,
        half_width: float = 10.0,
        start_radius: float = 1.0,
        scaled: bool = False,
        noise: Literal["deterministic", "common", "independent"] = "deterministic",
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_scale: float = 1.0,
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class PressureVessel(_PressureVessel):
    scaled: bool
    noise: Literal["deterministic", "common", "independent"]
    noise_distribution: Literal["normal", "student_t"]
    noise_scale: float
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        scaled: bool = True,
        noise: Literal["deterministic", "common", "independent"] = "deterministic",
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_scale: float = 1.0,
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class QuadraticBilevel(_QuadraticBilevel):
    n: int
    d: int
    seed: int
    conditioning: float
    drift: Literal["none", "slow", "walk", "rapid"]
    drift_size: float
    drift_rate: float
    phase_length: int | None
    sampling_noise: float
    half_width: float
    noise: Literal["deterministic", "common", "independent"]
    noise_scale: float
    regret_step: float
    regret_window: int
    measure_variations: bool
    scaled: bool
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        n: int = 10,
        d: int = 10,
        seed: int = 0,
        conditioning: float = 4.0,
        drift: Literal["none", "slow", "walk", "rapid"] = "slow",
        drift_size: float = 1.0,
        drift_rate: float = 1.0,
        phase_length: int | None = None,
        sampling_noise: float = 0.1,
        half_width: float = 5.0,
        noise: Literal["deterministic", "common", "independent"] = "common",
        noise_scale: float = 0.0,
        regret_step: float = 0.1,
        regret_window: int = 1,
        measure_variations: bool = False,
        scaled: bool = False,
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class SpeedReducer(_SpeedReducer):
    scaled: bool
    noise: Literal["deterministic", "common", "independent"]
    noise_distribution: Literal["normal", "student_t"]
    noise_scale: float
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        scaled: bool = True,
        noise: Literal["deterministic", "common", "independent"] = "deterministic",
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_scale: float = 1.0,
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class Spring(_Spring):
    scaled: bool
    noise: Literal["deterministic", "common", "independent"]
    noise_distribution: Literal["normal", "student_t"]
    noise_scale: float
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        scaled: bool = True,
        noise: Literal["deterministic", "common", "independent"] = "deterministic",
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_scale: float = 1.0,
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class StochasticQP(_StochasticQP):
    n: int
    rows: int
    constraints: Literal["equations", "inequalities"]
    sampled_rows: bool
    seed: int
    curvature: float
    null_curvature: float
    indefiniteness: float
    half_width: float
    free_variables: int
    gradient_noise: float
    curvature_noise: float
    row_noise: float
    noise: Literal["deterministic", "common", "independent"]
    noise_scale: float
    measure_envelope: bool
    envelope_weight: float | None
    scaled: bool
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        n: int = 20,
        rows: int = 3,
        constraints: Literal["equations", "inequalities"] = "equations",
        sampled_rows: bool = False,
        seed: int = 0,
        curvature: float = 2.0,
        null_curvature: float = 0.5,
        indefiniteness: float = 1.0,
        half_width: float = 2.0,
        free_variables: int = 0,
        gradient_noise: float = 0.5,
        curvature_noise: float = 0.1,
        row_noise: float = 0.1,
        noise: Literal["deterministic", "common", "independent"] = "common",
        noise_scale: float = 0.0,
        measure_envelope: bool = False,
        envelope_weight: float | None = None,
        scaled: bool = False,
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class Suite(_Suite):
    problem_name: str
    size: int | None
    stated_optimum: bool
    start_spread: float
    scaled: bool
    noise: Literal["deterministic", "common", "independent"]
    noise_distribution: Literal["normal", "student_t"]
    noise_scale: float
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        problem_name: str = "HS43",
        size: int | None = None,
        stated_optimum: bool = False,
        start_spread: float = 0.0,
        scaled: bool = True,
        noise: Literal["deterministic", "common", "independent"] = "deterministic",
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_scale: float = 1.0,
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class ToyBilevel(_ToyBilevel):
    variant: Literal["smooth", "rapid"]
    sampling_noise: float
    noise: Literal["deterministic", "common", "independent"]
    noise_scale: float
    regret_step: float
    regret_window: int
    measure_variations: bool
    scaled: bool
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        variant: Literal["smooth", "rapid"] = "smooth",
        sampling_noise: float = 0.1,
        noise: Literal["deterministic", "common", "independent"] = "common",
        noise_scale: float = 0.0,
        regret_step: float = 0.1,
        regret_window: int = 1,
        measure_variations: bool = False,
        scaled: bool = False,
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class WeldedBeam(_WeldedBeam):
    scaled: bool
    noise: Literal["deterministic", "common", "independent"]
    noise_distribution: Literal["normal", "student_t"]
    noise_scale: float
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        scaled: bool = True,
        noise: Literal["deterministic", "common", "independent"] = "deterministic",
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_scale: float = 1.0,
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...

class CurvedBilevel(_CurvedBilevel, QuadraticBilevel):
    n: int
    d: int
    seed: int
    conditioning: float
    drift: Literal["none", "slow", "walk", "rapid"]
    drift_size: float
    drift_rate: float
    phase_length: int | None
    sampling_noise: float
    half_width: float
    noise: Literal["deterministic", "common", "independent"]
    noise_scale: float
    regret_step: float
    regret_window: int
    measure_variations: bool
    scaled: bool
    noise_distribution: Literal["normal", "student_t"]
    noise_constraint_scale: float | None
    noise_degrees: float
    def __init__(
        self,
        *,
        n: int = 10,
        d: int = 10,
        seed: int = 0,
        conditioning: float = 4.0,
        drift: Literal["none", "slow", "walk", "rapid"] = "slow",
        drift_size: float = 1.0,
        drift_rate: float = 1.0,
        phase_length: int | None = None,
        sampling_noise: float = 0.1,
        half_width: float = 5.0,
        noise: Literal["deterministic", "common", "independent"] = "common",
        noise_scale: float = 0.0,
        regret_step: float = 0.1,
        regret_window: int = 1,
        measure_variations: bool = False,
        scaled: bool = False,
        noise_distribution: Literal["normal", "student_t"] = "normal",
        noise_constraint_scale: float | None = None,
        noise_degrees: float = 5.0,
        name: str | None = None,
    ) -> None: ...
