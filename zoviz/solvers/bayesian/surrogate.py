"""A Gaussian process of f and every h, by BoTorch, for one replica's data in the unit box."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.types import Array

JITTER = 1e-6
"""Variance of the noise of exact values, as a share of their own variance."""
_FIT_ITERATIONS, _ASCENT_ITERATIONS = 75, 30
"""Of L-BFGS, for hyper-parameters and for the acquisition."""
_CHUNK = 500
"""Candidates at which an acquisition is taken at once: it may hold a thousand samples of each."""
_SCALES = (0.2, 0.05, 0.01)
"""Standard deviations of the candidates around the best point, as shares of the box's widths."""
_LEAST_VARIANCE = 1e-18


class Numbers(NamedTuple):
    """One replica's random numbers of a step, for S candidates.

    Attributes
    ----------
    uniform, normal : Array, shape (S, n)
    outputs : Array, shape (draws, 1 + m, S)
        Standard normal, for joint draws of all functions.
    """

    uniform: Array
    normal: Array
    outputs: Array

    def candidates(self, best: Array) -> Array:
        """Return points of the unit box (S, n): three quarters uniform, the rest around the best point (n,)."""
        points = self.uniform.copy()
        count = len(points) // 4
        widths = np.resize(_SCALES, count)[:, None]
        points[:count] = np.clip(best + widths * self.normal[:count], 0.0, 1.0)
        return points


class _Factors(NamedTuple):
    """What the posterior of K functions needs of N data: tensors of points over length scales, and of the covariance.

    Attributes
    ----------
    lengths : Tensor, shape (K, 1, n)
    points : Tensor, shape (K, N, n)
        Over the length scales.
    constant : Tensor, shape (K, 1)
        The prior's mean.
    weights : Tensor, shape (K, N)
        The inverse covariance of the data times the standardised values less the mean.
    root : Tensor, shape (K, N, N)
        The inverse of that covariance's Cholesky factor.
    """

    lengths: Any
    points: Any
    constant: Any
    weights: Any
    root: Any


class Surrogate:
    """The posterior of f and every h given one replica's values: independent Gaussian processes, Matern 5/2.

    Each function has length scales of its own, with BoTorch's prior for the dimension; values are standardised. Noise
    is inferred where ``noisy``, and taken as a millionth of the variance where values are exact. BoTorch fits the
    hyper-parameters; the posterior that they give is written out here, as GPyTorch's takes ten times as long for the
    few points that a search asks for at once.

    Parameters
    ----------
    points : Array, shape (N, n)
        In the unit box.
    values : Array, shape (N, 1 + m)
        f first; finite.
    noisy : bool
    hyper : Array, shape (1 + m, n + 2)
        Logarithms of the length scales and of the noise, and the constant mean, of each function: what an earlier
        ``hyper`` was; the fit begins there.
    fit : bool
        Whether to fit them to the values; else they are taken as they are.
    """

    def __init__(self, points: Array, values: Array, noisy: bool, hyper: Array, fit: bool) -> None:
        self.points, self.values, self.noisy = points, values, noisy
        self.centre = values.mean(axis=0)
        spread = values.std(axis=0)
        self.scale = np.where(spread > 0.0, spread, 1.0)
        if fit:
            self.hyper = self._fitted(hyper)
        else:
            self.hyper = hyper.copy() if hyper.any() else self._read(self._untrained())

    @cached_property
    def model(self) -> Any:
        """BoTorch's model with these data and hyper-parameters."""
        model = self._untrained()
        self._set(model, self.hyper)
        return model.eval()

    def _untrained(self) -> Any:
        """Return BoTorch's model of these data with its own first hyper-parameters."""
        import torch
        from botorch.models import SingleTaskGP
        from botorch.models.utils.gpytorch_modules import get_covar_module_with_dim_scaled_prior

        x, y = torch.tensor(self.points), torch.tensor(self._standardised)
        kernel = get_covar_module_with_dim_scaled_prior(
            ard_num_dims=x.shape[1],
            batch_shape=torch.Size([y.shape[1]] if y.shape[1] > 1 else []),
            use_rbf_kernel=False,
        )
        fixed = None if self.noisy else torch.full_like(y, JITTER)
        return SingleTaskGP(x, y, train_Yvar=fixed, covar_module=kernel, outcome_transform=None)

    @property
    def _standardised(self) -> Array:
        """The values, (N, 1 + m), less their means, over their standard deviations."""
        return np.asarray((self.values - self.centre) / self.scale)

    def _fitted(self, hyper: Array) -> Array:
        """Return the hyper-parameters that maximise the marginal likelihood times the prior; where that fails, hyper.

        The search begins at ``hyper``, or where that is 0 at BoTorch's own first ones.
        """
        from botorch.exceptions.errors import ModelFittingError
        from botorch.fit import fit_gpytorch_mll
        from gpytorch.mlls import ExactMarginalLogLikelihood

        model = self._untrained()
        if hyper.any():
            self._set(model, hyper)
        before = self._read(model)
        likelihood = ExactMarginalLogLikelihood(model.likelihood, model)
        try:
            fit_gpytorch_mll(likelihood, optimizer_kwargs={"options": {"maxiter": _FIT_ITERATIONS}})
        except ModelFittingError:
            return before
        return self._read(model)

    def _read(self, model: Any) -> Array:
        """Return a model's hyper-parameters, (1 + m, n + 2), as the constructor takes them."""
        outputs, n = self.values.shape[1], self.points.shape[1]
        out = np.zeros((outputs, n + 2))
        out[:, :n] = np.log(model.covar_module.lengthscale.detach().numpy().reshape(outputs, n))
        if self.noisy:
            out[:, n] = np.log(model.likelihood.noise.detach().numpy().reshape(outputs))
        out[:, n + 1] = model.mean_module.constant.detach().numpy().reshape(outputs)
        return out

    def _set(self, model: Any, hyper: Array) -> None:
        """Give a model the hyper-parameters (1 + m, n + 2)."""
        import torch

        n = self.points.shape[1]
        lengths = model.covar_module.lengthscale
        model.covar_module.lengthscale = torch.tensor(np.exp(hyper[:, :n])).reshape(lengths.shape)
        if self.noisy:
            model.likelihood.noise = torch.tensor(np.exp(hyper[:, n])).reshape(model.likelihood.noise.shape)
        constant = model.mean_module.constant
        model.mean_module.constant = torch.tensor(hyper[:, n + 1]).reshape(constant.shape)

    @cached_property
    def _factors(self) -> _Factors:
        import torch
        from linear_operator.utils.cholesky import psd_safe_cholesky

        lengths = torch.tensor(np.exp(self.hyper[:, None, : self.points.shape[1]]))
        points, constant = torch.tensor(self.points) / lengths, torch.tensor(self.hyper[:, -1:])
        eye = torch.eye(points.shape[1], dtype=points.dtype)
        factor = psd_safe_cholesky(_matern(points, points) + torch.tensor(self.noise)[:, None, None] * eye)
        root = torch.linalg.solve_triangular(factor, eye.expand_as(factor), upper=False)
        residual = (torch.tensor(self._standardised.T) - constant)[..., None]
        weights = (root.transpose(-1, -2) @ (root @ residual))[..., 0]
        return _Factors(lengths, points, constant, weights, root)

    def law(self, points: Any) -> tuple[Any, Any]:
        """Return means and variances of the noise-free functions, standardised, tensors (q, 1 + m), at points (q, n).

        With derivatives with respect to the points.
        """
        lengths, data, constant, weights, root = self._factors
        cross = _matern(points / lengths, data)
        mean = constant + (cross @ weights[..., None])[..., 0]
        variance = 1.0 - (cross @ root.transpose(-1, -2)).square().sum(dim=-1)
        return mean.T, variance.clamp_min(_LEAST_VARIANCE).T

    @property
    def limits(self) -> Array:
        """The value 0 of every h in standardised units, (m,)."""
        return -self.centre[1:] / self.scale[1:]

    @property
    def noise(self) -> Array:
        """The variance of the noise of every function, standardised, (1 + m,)."""
        return np.asarray(np.exp(self.hyper[:, -2])) if self.noisy else np.full(self.values.shape[1], JITTER)

    def moments(self, points: Array) -> tuple[Array, Array]:
        """Return means and standard deviations (q, 1 + m) of the noise-free functions at points (q, n)."""
        import torch

        mean, variance = (part.numpy() for part in self.law(torch.tensor(points)))
        return self.centre + self.scale * mean, self.scale * np.sqrt(variance)

    def joint(self, points: Array) -> tuple[Array, Array]:
        """Return means (1 + m, q) and covariances (1 + m, q, q) of the noise-free functions, standardised."""
        import torch

        lengths, data, constant, weights, root = self._factors
        scaled = torch.tensor(points) / lengths
        cross = _matern(scaled, data)
        known = cross @ root.transpose(-1, -2)
        mean = constant + (cross @ weights[..., None])[..., 0]
        return mean.numpy(), (_matern(scaled, scaled) - known @ known.transpose(-1, -2)).numpy()

    def draw(self, points: Array, numbers: Array) -> Array:
        """Return a joint draw (1 + m, q) of all functions at points (q, n) from standard normal numbers (1 + m, q)."""
        mean, covariance = self.joint(points)
        weights, vectors = np.linalg.eigh(covariance)  # unlike Cholesky's, it exists where points nearly coincide
        draws = mean + np.einsum("kij,kj->ki", vectors * np.sqrt(np.maximum(weights, 0.0))[:, None], numbers)
        return self.centre[:, None] + self.scale[:, None] * draws

    def levels(self, acquisition: Callable[[Any], Any], points: Array) -> Array:
        """Return an acquisition of tensors (b, 1, n) at points (q, n), (q,); -inf where it is not a number."""
        import torch

        with torch.no_grad():
            parts = [acquisition(some) for some in torch.tensor(points)[:, None].split(_CHUNK)]
        return np.nan_to_num(torch.cat(parts).numpy(), nan=-np.inf, posinf=np.inf, neginf=-np.inf)

    def maximise(self, acquisition: Callable[[Any], Any], candidates: Array, restarts: int) -> Array:
        """Return the point (n,) of the unit box with the largest acquisition that L-BFGS finds from candidates.

        Where the acquisition's gradient is not a number on the way, it is the best of the candidates.

        Parameters
        ----------
        acquisition : callable
            Maps tensors (b, 1, n) to (b,).
        candidates : Array, shape (S, n)
        restarts : int
            How many of them the search begins at.
        """
        import torch
        from botorch.exceptions.errors import OptimizationGradientError
        from botorch.generation.gen import gen_candidates_scipy

        points = torch.tensor(candidates)[:, None]
        levels = torch.tensor(self.levels(acquisition, candidates))
        begin = points[torch.topk(levels, min(restarts, len(points))).indices]
        start = int(levels.argmax())
        options = {"maxiter": _ASCENT_ITERATIONS}
        try:
            ends, reached = gen_candidates_scipy(
                begin,
                acquisition,
                lower_bounds=0.0,
                upper_bounds=1.0,
                options=options,  # type: ignore[arg-type, unused-ignore]
            )
        except OptimizationGradientError:
            return candidates[start]
        reached = torch.nan_to_num(reached.detach(), nan=-torch.inf)
        best = int(reached.argmax())
        if bool(levels[start] >= reached[best]):
            return candidates[start]
        return np.clip(ends[best, 0].detach().numpy(), 0.0, 1.0)


def _matern(points: Any, others: Any) -> Any:
    """Return Matern's correlations 5/2, a tensor (K, q, N), of points (K, q, n) and others (K, N, n) over lengths."""
    import torch

    # By differences: expanded squares lose all digits of a distance that is small, as candidates' to the best point's.
    far = 5.0**0.5 * torch.cdist(points, others, compute_mode="donot_use_mm_for_euclid_dist")
    return (1.0 + far + far.square() / 3.0) * (-far).exp()
