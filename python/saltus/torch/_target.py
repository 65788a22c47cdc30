"""A PyTorch module or function as a target."""

from __future__ import annotations

import os
from typing import Any, Callable

import numpy as np

from .. import _functions
from .._domain import Array, Domain
from .._errors import DataError, UsageError, missing
from .._models import Maker, Model
from ._column import column

try:
    import torch
except ImportError:
    raise missing("saltus.torch", "PyTorch", "torch") from None


def _place(f: Any, device: Any) -> Any:
    """Where a function computes: what was asked for, or where its parameters are."""
    if device is not None:
        return torch.device(device)
    if isinstance(f, torch.nn.Module):
        for parameter in f.parameters():
            return parameter.device
    return torch.device("cpu")


def _precision(f: Any) -> Any:
    if isinstance(f, torch.nn.Module):
        for parameter in f.parameters():
            if parameter.is_floating_point():
                return parameter.dtype
    return torch.get_default_dtype()


class _Evaluator:
    def __init__(self, f: Callable[[Any], Any], device: Any, dtype: Any):
        self.f, self.device, self.dtype = f, device, dtype

    def __call__(self, x: Array, want_score: bool) -> tuple[Any, Any]:
        module = self.f if isinstance(self.f, torch.nn.Module) else None
        training = [m for m in module.modules() if m.training] if module is not None else []
        for m in training:
            m.training = False
        try:
            states = torch.from_numpy(np.ascontiguousarray(x)).to(self.device, self.dtype)
            # This may be another thread than the user's, which has grad modes of its own.
            with torch.enable_grad() if want_score else torch.no_grad():
                states.requires_grad_(want_score)
                logp = column(self.f(states), len(x), states)
                if not want_score:
                    return logp.double().cpu().numpy(), None
                if not logp.requires_grad:
                    raise DataError(
                        "log p does not depend on the states in a way that can be differentiated"
                    )
                (score,) = torch.autograd.grad(logp.sum(), states, allow_unused=True)
            if score is None:
                score = torch.zeros_like(states)
            return logp.detach().double().cpu().numpy(), score.double().cpu().numpy()
        finally:
            for m in training:
                m.training = True


def target(
    f: Any, domain: Domain, *, device: Any = None, dtype: Any = None, name: str | None = None
) -> Model:
    """A module or function f: (rows, *shape) -> (rows,), log p up to a constant, as a model.

    It gets tensors of values (-1 and +1 for spins; one-hot for categorical coordinates) where its
    parameters are, and is called in eval mode. A file name is one of TorchScript, run by PyTorch.
    """
    if isinstance(f, (str, os.PathLike)):
        f = torch.jit.load(os.fspath(f), map_location=device)
    if not callable(f):
        raise UsageError(f"{type(f).__name__} cannot be called")
    evaluator = _Evaluator(f, _place(f, device), dtype or _precision(f))
    label = name or type(f).__name__.lower()
    if name is None and hasattr(f, "__name__"):
        label = f.__name__.strip("<>")
    _check(evaluator, domain)
    maker: Maker = (_again, (f, domain, device, dtype, label))
    return _functions.target(evaluator, domain, name=label, maker=maker)


def _again(f: Any, domain: Domain, device: Any, dtype: Any, name: str) -> Model:
    return target(f, domain, device=device, dtype=dtype, name=name)


def _check(evaluator: _Evaluator, domain: Domain) -> None:
    """All coordinates at their lowest and highest levels, together and alone: log p must be
    finite, differentiable and a function of the state alone."""
    if not isinstance(domain, Domain):
        raise UsageError(f"domain is {domain!r}; expected one such as saltus.binary(10)")
    top = np.asarray(domain.levels) - 1
    if domain.unbounded:
        top = np.asarray(9)
    levels = np.zeros((2, domain.dim))
    levels[1] = top
    x = (domain.first_value + domain.spacing * levels).reshape(2, *domain.shape)
    if domain.kind == "categorical":
        if not isinstance(domain.levels, int):
            return  # refused by target()
        x = _functions.one_hot(levels.reshape(2, *domain.shape), domain)
    together, score = evaluator(x, True)
    if np.isnan(together).any() or np.isposinf(together).any() or not np.isfinite(score).all():
        raise DataError("log p or its gradient is not finite at the lowest or the highest levels")
    for k in range(2):
        alone, _ = evaluator(x[k : k + 1], False)
        if not np.allclose(alone[0], together[k], rtol=1e-3, atol=1e-3):
            raise DataError(
                f"log p of a state is {together[k]:.6g} beside another state and {alone[0]:.6g} alone:"
                " it must be a function of the state (random layers? a batch norm?)"
            )
