"""saltus: sampling from high-dimensional discrete distributions.

    import saltus
    res = saltus.sample(saltus.lattice((5, 5), a=0.1, b=0.2, periodic=True), seed=1)
    print(res)
    res.draws          # (chain, draw, row, column): -1 and +1
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._background import Run, start
from ._domain import Domain, binary, categorical, integers, ordered, spin
from ._errors import (
    ComputationError,
    DataError,
    Error,
    FileError,
    MissingError,
    SaltusWarning,
    UsageError,
)
from ._library import version as _version
from ._models import (
    Exact,
    Model,
    bernoulli,
    function,
    ising,
    lattice,
    model,
    models,
    poisson,
    potts,
    quadratic,
    rbm,
    samplers,
)
from ._progress import Progress
from ._result import Result, load
from ._samplers import (
    DLMC,
    DMALA,
    DSVGD,
    DULA,
    GWG,
    PAS,
    RMALA,
    RWM,
    BlockGibbs,
    Gibbs,
    HammingBall,
    LocallyBalanced,
    Sampler,
)
from ._work import (
    Comparison,
    LogZ,
    Search,
    Verification,
    anneal,
    compare,
    exact,
    logz,
    resume,
    sample,
    verify,
)

if TYPE_CHECKING:
    from . import dimod, jax, torch

__version__ = _version()

__all__ = [
    "BlockGibbs", "Comparison", "ComputationError", "DLMC", "DMALA", "DSVGD", "DULA", "DataError",
    "Domain", "Error", "Exact", "FileError", "GWG", "Gibbs", "HammingBall", "LocallyBalanced", "LogZ",
    "MissingError", "Model", "PAS", "Progress", "RMALA", "RWM", "Result", "Run", "SaltusWarning", "Sampler",
    "Search", "UsageError", "Verification", "anneal", "bernoulli", "binary", "categorical", "compare",
    "dimod", "exact", "function", "integers", "ising", "jax", "lattice", "load", "logz", "model",
    "models", "ordered", "poisson", "potts", "quadratic", "rbm", "resume", "sample", "samplers",
    "spin", "start", "torch", "verify",
]  # fmt: skip

_LATER = ("dimod", "jax", "torch")  # what they need is imported on first use


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'saltus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
