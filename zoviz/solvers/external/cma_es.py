"""CMA-ES under constraints, by the library pycma."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from zoviz.core.parameters import Scale
from zoviz.core.sets import Box
from zoviz.core.types import Array, Constants
from zoviz.problems.base import Problem
from zoviz.solvers.external.base import ExternalSolver
from zoviz.solvers.external.coroutine import Ask, Ended, Task


class CMAES(ExternalSolver):
    r"""pycma's CMA-ES on an augmented Lagrangian whose coefficients adapt to every generation.

    .. math:: f + \sum_i \big(\lambda_i g_i + \tfrac{\mu_i}{2} g_i^2\big), \qquad g_i = \max(h_i, -\lambda_i / \mu_i)

    A step is one generation. Bounds are kept by pycma's transformation.

    Notes
    -----
    The start is evaluated and charged, as every solver's is; pycma does not ask for it. A sample whose value is not
    finite gets the generation's worst fitness and leaves the multipliers alone; a generation with none that is finite
    is drawn again. The multipliers shown are pycma's lambda.

    References
    ----------
    Hansen (2016), arXiv 1604.00772; Atamna, Auger, Hansen (2017); cma.ConstrainedFitnessAL.
    """

    title = "CMA-ES (pycma)"
    needs = ("cma", "greenlet")

    initial_width = Scale(
        None,
        bounds=(1e-9, 10.0),
        softbounds=(1e-3, 1.0),
        label="Initial σ₀",
        doc="Initial spread, in widths of the box.",
    )
    population_factor = Scale(
        None,
        bounds=(1.0, 1e3),
        softbounds=(1.0, 10.0),
        label="Population factor",
        doc="Samples per generation, in multiples of pycma's 4 + ⌊3 ln n⌋.",
    )

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return a sentence for a box with a single free variable; None otherwise."""
        if Box.of(problem.domain).variable.sum() == 1:
            return f"{self.title} needs at least two variables that are not fixed by bounds, got one: choose COBYLA."
        return None

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return sigma_0 = 0.2 widths of the box and pycma's population, three times that under independent noise.

        Three times is between the factors of 2 and 4 by which populations are usually raised under noise; ours.
        """
        return {"initial_width": 0.2, "population_factor": 3.0 if constants.noise > 0 else 1.0}

    def width(self, n: int) -> int:
        """Return the number of samples of one generation in n variables."""
        return int(self.population_factor * (4 + int(3 * np.log(n))))

    def play(self, task: Task, ask: Ask) -> Ended:
        """Run pycma's loop of ask, tell and update."""
        # pycma warns where a constraint is constant over a population, which its division is guarded against, and when
        # it is imported, that its own plots want Matplotlib.
        warnings.filterwarnings("ignore", r"iqr\(f\), iqr\(G\)|Could not import matplotlib", UserWarning)
        ask(task.start[None])
        values: dict[str, Any] = {}
        fitness = _silent_fitness(lambda x: values["f"], lambda x: values["h"])
        strategy = self.strategy(task)
        while not strategy.stop():
            points = strategy.ask()
            f, h = ask(np.array(points), _multipliers(fitness, task.m))
            good = np.isfinite(f) & np.isfinite(h).all(axis=-1)
            if not good.any():
                continue
            ranks = np.full(len(f), np.nan)
            for i in np.flatnonzero(good):
                values.update(f=float(f[i]), h=h[i].tolist())
                ranks[i] = fitness(points[i]) if task.m else f[i]
            ranks[~good] = ranks[good].max()
            strategy.tell(points, ranks.tolist())
            if task.m:
                fitness.update(strategy)
        reasons = ", ".join(f"{name} {_shown(value)}".rstrip() for name, value in strategy.stop().items())
        return Ended(f"pycma's {reasons}", _multipliers(fitness, task.m))

    def strategy(self, task: Task) -> Any:
        """Return pycma's evolution strategy at its start, with a random generator of its own."""
        import cma

        return cma.CMAEvolutionStrategy(task.start, self.initial_width, self.options(task, _normal(task.seed)))

    def options(self, task: Task, normal: Callable[..., Array]) -> dict[str, Any]:
        """Return pycma's options: silent, no files, random numbers by ``normal(*shape)`` instead of global ones."""
        widths = task.upper - task.lower
        return {
            "CMA_stds": np.where(np.isfinite(widths) & (widths > 0), widths, 2.0),
            "bounds": [task.lower.tolist(), task.upper.tolist()],
            "popsize": self.width(len(task.start)),
            "randn": normal,
            "seed": np.nan,
            "tolstagnation": 0,
            "maxiter": np.inf,
            "verbose": -9,
            "verb_log": 0,
            "verb_disp": 0,
        }


def _shown(value: Any) -> str:
    """Return the value of a stop reason, which may be a number, a list, text or None."""
    return f"{value:g}" if isinstance(value, (int, float)) else "" if value is None else str(value)


def _normal(seed: int) -> Callable[..., Array]:
    """Draw standard normal numbers of a shape, as ``numpy.random.randn`` does."""
    generator = np.random.default_rng(seed)

    def draw(*shape: int) -> Array:
        return generator.standard_normal(shape)

    return draw


def _silent_fitness(f: Callable[[Array], float], h: Callable[[Array], list[float]]) -> Any:
    """Return pycma's augmented Lagrangian of f and h without its loggers.

    With ``logging=0`` alone pycma makes them first and silences them then: the folder outcmaes, in which they would
    write, is left in the user's working directory.
    """
    import cma
    from cma.constraints_handler import AugmentedLagrangian

    class Silent(AugmentedLagrangian):
        logging = property(lambda self: 0, lambda self, gap: None)

    class Fitness(cma.ConstrainedFitnessAL):
        silent: Silent | None = None

        @property
        def al(self) -> Silent | None:
            if self.silent is None and self.dimension:
                self.silent = Silent(self.dimension)
            return self.silent

    return Fitness(f, h, archives=False)


def _multipliers(fitness: Any, m: int) -> Array | None:
    """Return pycma's lambda (m,), once it has some."""
    lagrangian = fitness.al if m else None
    if lagrangian is None or lagrangian.lam is None:
        return None
    return np.array(lagrangian.lam, dtype=float)
