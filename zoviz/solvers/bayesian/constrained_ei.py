"""Constrained expected improvement: what people use today."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import param

from zoviz.core.types import Array
from zoviz.solvers.bayesian.base import BayesianSolver, Evidence
from zoviz.solvers.bayesian.surrogate import Numbers, Surrogate


class ConstrainedEI(BayesianSolver):
    r"""The logarithm of the expected improvement times the probability of feasibility, or its form for noisy values.

    .. math:: \log \mathrm{EI}(x) + \sum_j \log\Phi\big(-\mu_j(x)/\sigma_j(x)\big)

    Exact values: BoTorch's ``LogConstrainedExpectedImprovement`` over the best feasible value, and while there is none
    the second term alone. Noisy values: ``qLogNoisyExpectedImprovement`` with constraints, which averages over what the
    best feasible value may be.

    References
    ----------
    Gardner, Kusner, Xu, Weinberger and Cunningham (2014), ICML; Letham, Karrer, Ottoni and Bakshy (2019), Bayesian
    Analysis 14(2); Ament, Daulton, Eriksson, Balandat and Bakshy (2023), NeurIPS.
    """

    title = "Constrained log-EI (BoTorch)"
    live: ClassVar[tuple[str, ...]] = (*BayesianSolver.live, "samples")

    samples = param.Integer(
        default=64, bounds=(8, 4096), softbounds=(32, 512), label="Samples", doc="Samples of the models, under noise."
    )

    def acquire(self, surrogate: Surrogate, evidence: Evidence, memory: Array, numbers: Numbers) -> Array:
        """Return the maximiser (n,) of the acquisition."""
        candidates = numbers.candidates(evidence.points[evidence.best])
        return surrogate.maximise(self._acquisition(surrogate, evidence), candidates, self.restarts)

    def score(self, surrogate: Surrogate, evidence: Evidence, memory: Array, numbers: Numbers, points: Array) -> Array:
        """Return the acquisition (q,), a logarithm, at points (q, n)."""
        return surrogate.levels(self._acquisition(surrogate, evidence), points)

    def _acquisition(self, surrogate: Surrogate, evidence: Evidence) -> Any:
        """Return the acquisition as a function of tensors (b, 1, n)."""
        import torch
        from botorch.acquisition.analytic import LogConstrainedExpectedImprovement, LogExpectedImprovement
        from botorch.acquisition.logei import qLogNoisyExpectedImprovement
        from botorch.acquisition.objective import GenericMCObjective
        from botorch.sampling.normal import SobolQMCNormalSampler

        limits, model = surrogate.limits, surrogate.model
        if surrogate.noisy:
            return qLogNoisyExpectedImprovement(
                model,
                torch.tensor(surrogate.points),
                sampler=SobolQMCNormalSampler(torch.Size([self.samples]), seed=0),
                objective=GenericMCObjective(lambda values, X=None: -values[..., 0]),
                constraints=[lambda values, j=j: values[..., 1 + j] - limits[j] for j in range(len(limits))] or None,
                prune_baseline=False,
            )
        if not evidence.sure.any():
            return log_feasibility(surrogate)
        best = (np.min(evidence.f[evidence.sure]) - surrogate.centre[0]) / surrogate.scale[0]
        if not len(limits):
            return LogExpectedImprovement(model, best_f=best, maximize=False)
        ends = {1 + j: (None, float(limit)) for j, limit in enumerate(limits)}
        return LogConstrainedExpectedImprovement(
            model, best_f=best, objective_index=0, constraints=ends, maximize=False
        )


def log_feasibility(surrogate: Surrogate) -> Any:
    """Return the logarithm of the probability that all h <= 0, as a function of tensors (b, 1, n)."""
    import torch

    limits = torch.tensor(surrogate.limits)

    def acquisition(points: Any) -> Any:
        posterior = surrogate.model.posterior(points)
        mean, variance = posterior.mean[:, 0, 1:], posterior.variance[:, 0, 1:]
        return torch.special.log_ndtr((limits - mean) / variance.clamp_min(1e-18).sqrt()).sum(dim=-1)

    return acquisition
