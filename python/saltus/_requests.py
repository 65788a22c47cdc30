"""What requests of all kinds take: models, seeds and paths."""

from __future__ import annotations

import os
import secrets
from typing import Any, Union

import numpy as np

from . import _functions, _models
from ._domain import Domain
from ._errors import UsageError
from ._models import Model

Seed = Union[int, np.random.Generator, None]
Path = Union[str, "os.PathLike[str]"]


def seed_of(seed: Seed) -> int:
    """A seed as the library takes it; None: one that nobody has had."""
    if seed is None:
        return secrets.randbits(64)
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**64, dtype=np.uint64))
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise UsageError(f"seed is {seed!r}; expected a whole number from 0 to 2^64 - 1")
    return int(seed)


def as_model(
    model: Any, domain: Domain | None, given: Any = None, constrain: str | None = None
) -> Model:
    """A model, a file or built-in name, or a callable or torch module with its domain."""
    made = _unrestricted(model, domain)
    return made if given is None and constrain is None else made.restrict(given=given, constrain=constrain)


def _unrestricted(model: Any, domain: Domain | None) -> Model:
    if isinstance(model, Model):
        if domain is not None and domain != model.domain:
            raise UsageError(f"the model {model.name} has its own domain: leave domain out")
        return model
    if isinstance(model, (str, os.PathLike)):
        return _models.model(model)
    if not callable(model):
        raise UsageError(f"{type(model).__name__} is no model: give one, or its name or file")
    if domain is None:
        raise UsageError("a callable needs a domain: domain=saltus.binary(10), for example")
    if any(kind.__module__.startswith("torch.nn.") for kind in type(model).__mro__):
        from . import torch

        return torch.target(model, domain)
    return _functions.function(model, domain)
