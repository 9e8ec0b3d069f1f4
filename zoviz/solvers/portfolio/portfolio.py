"""A portfolio: solvers that follow one another on one budget, each from the best point so far."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import param

from zoviz.core import defaults
from zoviz.core.errors import BudgetSpent
from zoviz.core.parameters import Part
from zoviz.core.ranking import first_by_means, is_feasible, ranks
from zoviz.core.replica_rows import choose_rows
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, Sketch
from zoviz.core.units import as_box
from zoviz.estimators import GradientEstimator
from zoviz.oracle import Oracle, Purpose, Stage
from zoviz.problems.base import Problem
from zoviz.solvers.augmented_lagrangian.al_spg import ALSPG
from zoviz.solvers.base import Searches, Solver
from zoviz.solvers.external.cma_es import CMAES
from zoviz.solvers.external.cobyla_cobyqa import COBYLA, COBYQA
from zoviz.solvers.external.nomad import NOMAD
from zoviz.solvers.external.slsqp_trust_constr import SLSQP, TrustConstr
from zoviz.solvers.saddle.zo_splm import ZOSPLM
from zoviz.solvers.saddle.zobceg import ZOBCEG
from zoviz.solvers.saddle.zoceg import ZOCEG
from zoviz.solvers.saddle.zoeg import ZOEG
from zoviz.solvers.sqp.zosqp import ZOSQP
from zoviz.solvers.theory import Info

MEMBERS = (ZOSQP, ALSPG, SLSQP, COBYLA, COBYQA, TrustConstr, CMAES, NOMAD, ZOSPLM, ZOCEG, ZOBCEG, ZOEG)
"""Solvers that may be members: those that serve every replica by itself."""
PLACES = ("first", "second", "third", "fourth")
_GAIN = 1e-8
"""Least gain, relative to max(1, |f|), or of the violation to itself, that counts as progress."""
_REPEATS = 8
"""Calls, under noise, at either of the two points between which a stage chooses its start."""
_ENDLESS = 2.0**53
"""The limit of a stage where the run has no budget of calls: a number, as states hold numbers."""


class StageStart(NamedTuple):
    """Where a stage began: the step, the replicas' mean calls at its start, and the member's title."""

    step: int
    calls: float
    title: str


class PortfolioState(NamedTuple):
    """Best point x so far (under noise the member's), its multipliers y and value, and the present stage.

    Attributes
    ----------
    through : Array, shape (R,)
        1 where the replica has ended the stage and waits for the others.
    limit, gained : Array, shape (R,)
        Calls at which the replica's share is spent; and at its last progress in this stage the points that it had asked
        for, known ones among them.
    inner : list
        The member's state.
    stages : list of StageStart
        So far; the last is the present one.
    figures : list of str
        Names of the first member's figures.
    steps : int
    calls : float
        Mean calls of the replicas so far.
    free : bool
        Whether there is a variable to move.
    scale : Array, shape (R,)
        max(1, |f|) at the start.
    stage_x, stage_value : Array, shape (R, n), and Evaluation
        Where the present stage began.
    """

    x: Array
    y: Array
    value: Evaluation
    through: Array
    limit: Array
    gained: Array
    inner: list[Any]
    stages: list[StageStart]
    figures: list[str]
    steps: int
    calls: float
    free: bool
    scale: Array
    stage_x: Array
    stage_value: Evaluation


class Portfolio(Solver):
    """Members that work one after the other: each begins at every replica's best point, while budget is left.

    A step is a step of the present member. Its stage is over for a replica once the member has ended by itself, has
    not gained for ``patience`` sweeps of n + 1 calls, has fled to where f falls without end outside the constraints,
    sees too little of values that are rounded, diverges by the judgement of the run, or has spent ``share`` of what was
    left when it began; the last of the members may spend all. The next stage begins when that is so for every replica,
    at no call where values are deterministic, as the best point is known; after the last member the first is next
    again.
    So the run ends when the budget is spent, and not when a member gives up or diverges; but where f falls without end
    inside the constraints, it has no minimum.

    Notes
    -----
    Under noise ``x`` is what the member reports, as the best value seen is partly the luckiest; a stage begins there,
    or where the one before began, if the means of 8 calls at each say that this is better: a gradient method may have
    lost its way. Replicas wait for one another at the end of a stage: what each of them asks for does not depend on
    the others, but noise that zoviz itself adds, and the directions of members that take random ones, are drawn for
    all of them, so that they do.

    A member that is not installed, or refuses the problem, is passed over.

    References
    ----------
    Gomes and Selman (2001), Algorithm portfolios, Artificial Intelligence 126, 43-62.
    """

    title = "Portfolio"
    reports_best = True
    keeps_rows = True
    """A member that does not keep them is passed over."""

    first: Part[Any] = Part(MEMBERS, default=ZOSQP(), label="First", doc="First solver.")
    second: Part[Any] = Part(MEMBERS, default=SLSQP(), label="Second", doc="Second solver.")
    third: Part[Any] = Part(MEMBERS, default=COBYLA(), label="Third", doc="Third solver.")
    fourth: Part[Any] = Part(MEMBERS, default=ALSPG(), label="Fourth", doc="Last solver.")
    members = param.Integer(default=4, bounds=(1, 4), label="Members", doc="Number of solvers that take part.")
    share = param.Number(
        default=0.4,
        bounds=(0.01, 1.0),
        label="Share",
        doc="Largest share of the rest of the budget that a stage takes; the last member may take all.",
    )
    patience = param.Number(
        default=200.0,
        bounds=(1.0, 1e6),
        softbounds=(5.0, 500.0),
        label="Patience",
        doc="Sweeps of n + 1 calls without a gain after which a stage is over.",
    )

    @property
    def row(self) -> list[Solver]:
        """The members that take part, in their order."""
        return [getattr(self, place) for place in PLACES[: self.members]]

    @property
    def live(self) -> tuple[str, ...]:  # type: ignore[override]
        """The portfolio's own live parameters, and every member's under its place."""
        members = zip(PLACES, self.row, strict=False)
        return ("share", "patience", *(f"{place}.{name}" for place, member in members for name in member.live))

    @property
    def checkpointable(self) -> bool:  # type: ignore[override]
        """Whether every member can be stored in a checkpoint."""
        return all(member.checkpointable for member in self.row)

    @property
    def scaling_estimator(self) -> GradientEstimator | None:
        """The estimator for scaling, of the first member that has one."""
        return next((own for member in self.row if (own := member.scaling_estimator) is not None), None)

    @property
    def has_sketch(self) -> bool:  # type: ignore[override]
        """Whether a member has a picture of its region and points."""
        return any(member.has_sketch for member in self.row)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return the last member's reason not to run on the problem, where all of them refuse it."""
        reasons = [member.accepts(problem) for member in self.row]
        return None if None in reasons else reasons[-1]

    def known_constants(self, problem: Problem) -> Any:
        """None: members see values only."""
        return None

    def measure_constants(self, problem: Problem, oracle: Oracle, x0: Array, streams: Streams) -> Constants:
        """As the first member whose rule asks for constants does, zoviz's own before those of other libraries.

        For these alone they are measured under independent noise only.
        """
        open_rules = [member for member in self.row if member.open_scales()]
        return min(open_rules or self.row, key=lambda member: member.external).measure_constants(
            problem, oracle, x0, streams
        )

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return the parameters that the rules of all members choose."""
        places = [(place, getattr(self, place)) for place in PLACES]
        rules = [(place, member.from_constants(problem, constants)) for place, member in places if member.open_scales()]
        return {f"{place}.{name}": value for place, rule in rules for name, value in rule.items()}

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> PortfolioState:
        """Evaluate the start, one call, and begin the first stage."""
        value, zero = oracle(x0), np.zeros(len(x0))
        box = as_box(oracle.domain)
        state = PortfolioState(
            x=x0,
            y=np.full((len(x0), oracle.m), np.nan),
            value=value,
            through=zero,
            limit=zero,
            gained=zero,
            inner=[],
            stages=[],
            figures=[],
            steps=0,
            calls=1.0,
            free=box is None or bool(box.variable.any()),
            scale=np.fmax(1.0, np.abs(value.f)),
            stage_x=x0,
            stage_value=value,
        )
        state = self._next_stage(state, oracle, streams)
        return state._replace(figures=list(self._member(state).figures(state.inner[0])))

    def step(self, state: PortfolioState, oracle: Oracle, streams: Streams) -> tuple[PortfolioState, Info]:
        """Take a step of the present member; where all replicas are through with it, of the next one."""
        for _ in range(self.members + 1):
            with oracle.stage(state.limit, state.through == 0) as stage:
                try:
                    inner, info = self._member(state).step(state.inner[0], oracle, streams)
                    # A member may go on with replicas that wait, or that could not pay for all of a step.
                    inner = choose_rows(oracle.active & ~stage.failed, inner, state.inner[0])
                except BudgetSpent:
                    inner, info = state.inner[0], Info(np.full(len(state.x), np.nan), state.x, state.y, np.nan)
            state = self._taken_in(state._replace(inner=[inner]), stage, oracle)
            if stage.answered.any():
                return state._replace(steps=state.steps + 1), info
            # Under noise a few calls more tell nothing, and the one before is to have the last word.
            least = 1 if oracle.contract == "deterministic" else oracle.n + 1 + 2 * _REPEATS
            if not oracle.affords(np.full(len(state.x), least))[oracle.active].any():
                raise BudgetSpent
            state = self._next_stage(state, oracle, streams)
        raise BudgetSpent  # no member can do anything with what is left

    def done(self, state: PortfolioState, active: np.ndarray) -> str | None:
        """Return the sentence that ends a run whose bounds fix every variable; None for any other."""
        return None if state.free else "The bounds leave no variable free."

    def begin_again(self, state: PortfolioState, x: Array, oracle: Oracle, streams: Streams) -> PortfolioState | None:
        """Return the state at x (R, n) in a new stage: of the present member, or of the one that best suits noise."""
        member = self._member(state)
        if oracle.noise_found:
            able = [one for one in self.row if one.noise_rank and one.accepts(oracle.problem) is None]
            if not able:
                return None
            member = max(able, key=lambda one: one.noise_rank)
        value, unknown = oracle(x), np.full_like(state.y, np.nan)
        state = state._replace(x=x, y=unknown, value=value, stage_x=x, stage_value=value)
        return self._next_stage(state, oracle, streams, member)

    def verifies(self, state: PortfolioState) -> bool:
        """Return whether the present member checks its own answer."""
        return self._member(state).verifies(state.inner[0])

    def descends(self, state: PortfolioState) -> bool:
        """Return whether the present member's steps follow estimated gradients."""
        return self._member(state).descends(state.inner[0])

    def recover(self, state: PortfolioState, diverged: np.ndarray, oracle: Oracle) -> tuple[PortfolioState, np.ndarray]:
        """Return the state after the turn of a member that diverges is over, from where its stage began.

        Not where f has fallen inside the constraints, (R,): there is no other place to go on from.
        """
        value, start = state.value, state.stage_value
        fallen = is_feasible(value.h, oracle.tolerance) & (value.f < start.f)
        back = diverged & ~fallen
        return _back_to_start(state._replace(through=np.where(back, 1.0, state.through)), back), back

    def searches(self, state: PortfolioState) -> Searches | None:
        """Return the present member's searches: where one begins at another's end, that is no search of its own."""
        return self._member(state).searches(state.inner[0])

    def close(self) -> None:
        """Close every member."""
        for place in PLACES:
            getattr(self, place).close()

    def closing_note(self, state: PortfolioState) -> str:
        """Return which members worked, for how many calls, and what the last of them says."""
        ends = [*(stage.calls for stage in state.stages[1:]), state.calls]
        spent: dict[str, float] = {}
        for stage, end in zip(state.stages, ends, strict=True):
            spent[stage.title] = spent.get(stage.title, 0.0) + end - stage.calls
        texts = [f"{title} ({calls:,.0f} calls)" for title, calls in spent.items() if calls]
        own = self._member(state).closing_note(state.inner[0])
        at_work = f"Solvers used: {', '.join(texts)}. " if texts else ""
        return f"{at_work}{own}".rstrip()

    def figures(self, state: PortfolioState) -> dict[str, Array]:
        """Return the present member's figures, of those that the first member has: a trace's columns stay the same."""
        own, unknown = self._member(state).figures(state.inner[0]), np.full(len(state.x), np.nan)
        return {name: own.get(name, unknown) for name in state.figures}

    def stage(self, state: PortfolioState) -> int:
        return len(state.stages) - 1

    def stage_title(self, number: int) -> str:
        """Return the title of the member whose turn a stage is, where none is passed over."""
        return str(self.row[number % self.members].title)

    def sketch(self, state: PortfolioState) -> Sketch | None:
        """Return the present member's region and points; None where it has none."""
        return self._member(state).sketch(state.inner[0])

    def _member(self, state: PortfolioState) -> Solver:
        return self.row[(len(state.stages) - 1) % self.members]

    def _taken_in(self, state: PortfolioState, stage: Stage, oracle: Oracle) -> PortfolioState:
        """Take in where the member stands: the best point, progress, and who is through with the stage."""
        member, x, y, value = self._member(state), state.x, state.y, state.value
        iterate = member.iterate(state.inner[0])
        reached = iterate.value if iterate.value is not None else value
        both = Evaluation(np.stack([value.f, reached.f], axis=1), np.stack([value.h, reached.h], axis=1))
        violation, f = ranks(both, oracle.tolerance)
        better = (violation[:, 1] < violation[:, 0]) | ((violation[:, 1] == violation[:, 0]) & (f[:, 1] < f[:, 0]))
        gains = violation[:, 1] < (1.0 - _GAIN) * violation[:, 0]
        gains |= (violation[:, 1] <= violation[:, 0]) & (f[:, 1] < f[:, 0] - _GAIN * np.maximum(1.0, np.abs(f[:, 0])))
        if oracle.contract != "deterministic":
            better = np.isfinite(violation[:, 1])
            iterate = iterate._replace(x=member.output(state.inner[0]))
        last = len(state.stages) % self.members == 0
        # Less violated or not, it is no point to go on from, nor are those on the way to it, unless a feasible one was
        # met: the guard of a run would take it for a divergence.
        far = np.isfinite(reached.f) & (np.abs(reached.f) > defaults.LARGEST_GROWTH * state.scale)
        flight = far & (violation[:, 1] > 0.0)
        served = stage.answered > 0
        better &= served & ~stage.failed & ~flight
        gains &= ~flight
        x = np.where(better[:, None], iterate.x, x)
        dual = y if iterate.dual is None else np.where(better[:, None], iterate.dual, y)
        state = state._replace(x=x, y=dual, value=reached.where(better, value))
        state = _back_to_start(state, flight & served & (not last) & (violation[:, 0] > 0.0))
        asked = (oracle.calls + oracle.recalled).astype(float)
        gained = np.where(gains & served, asked, state.gained)
        tired = asked - gained > self.patience * (oracle.n + 1)
        over = ~served | stage.failed | ((tired | flight | member.is_blind(state.inner[0])) & (not last))
        through = np.maximum(state.through, over.astype(float))
        calls = float(oracle.calls.mean())
        return state._replace(gained=gained, through=through, calls=calls)

    def _next_stage(
        self, state: PortfolioState, oracle: Oracle, streams: Streams, wanted: Solver | None = None
    ) -> PortfolioState:
        """Begin the stage of the next member that takes the problem, or of a wanted one, at every replica's best point.

        Where noise was found, which was not known when members were chosen, those that do not suit it are passed over.
        """
        stages, calls = list(state.stages), oracle.calls.astype(float)
        problem = oracle.problem
        for _ in range(self.members):
            member = self.row[len(stages) % self.members]
            stages.append(StageStart(state.steps, float(calls.mean()), member.title))
            passes = oracle.noise_found and not member.noise_rank and any(one.noise_rank for one in self.row)
            if (member is wanted if wanted else not passes) and member.accepts(problem) is None:
                break
            stages[-1] = stages[-1]._replace(title=f"{member.title} (passed over)")
        remaining = oracle.remaining
        share = 1.0 if len(stages) % self.members == 0 else self.share
        limit = np.minimum(calls + (np.ceil(share * remaining) if share < 1.0 else remaining), _ENDLESS)
        free = (state.x, state.value) if oracle.contract == "deterministic" else None
        everyone = np.ones(len(calls), dtype=bool)
        with oracle.purpose(Purpose.START), oracle.stage(limit, everyone, free) as stage:
            state = state if free or wanted or not state.stages else better_end(state, oracle)
            inner = self._member(state._replace(stages=stages)).init(state.x, oracle, streams)
        return state._replace(
            through=stage.failed.astype(float),
            limit=limit,
            gained=calls + oracle.recalled,
            inner=[inner],
            stages=stages,
            calls=float(oracle.calls.mean()),
            stage_x=state.x,
            stage_value=state.value,
        )


def better_end(state: PortfolioState, oracle: Oracle) -> PortfolioState:
    """Return the state at the better of a stage's two ends, by the means of calls at both, as far as they are paid."""
    points = np.stack([state.stage_x, state.x], axis=1)
    points = np.broadcast_to(points[:, :, None], (*points.shape[:2], _REPEATS, points.shape[2]))
    value = oracle(points.reshape(len(points), -1, points.shape[-1]))
    value = Evaluation(value.f.reshape(points.shape[:3]), value.h.reshape(*points.shape[:3], -1))
    index, means, _ = first_by_means(value, oracle.tolerance)
    back = (index == 0) & np.isfinite(means.f[:, 0])
    return _back_to_start(state, back)


def _back_to_start(state: PortfolioState, replicas: np.ndarray) -> PortfolioState:
    """Return the state with some replicas, (R,) of bool, where the stage began, of which no multipliers are known."""
    rows = replicas[:, None]
    return state._replace(
        x=np.where(rows, state.stage_x, state.x),
        y=np.where(rows, np.nan, state.y),
        value=state.stage_value.where(replicas, state.value),
    )
