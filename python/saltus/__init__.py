"""saltus: sampling from high-dimensional discrete distributions.

    import saltus
    res = saltus.sample(saltus.lattice((5, 5), a=0.1, b=0.2, periodic=True), seed=1)
    print(res)
    res.draws          # (chain, draw, row, column): -1 and +1
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._answers import Certificate, Comparison, LogZ, Search, Verification
from ._background import Run, start
from ._built_in import bernoulli, ising, lattice, poisson, potts, quadratic, rbm
from ._chains import Chains, merge
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
from ._functions import function
from ._library import version as _version
from ._models import Exact, Model, model, models, samplers
from ._progress import Progress
from ._result import Result, load
from ._sample import chain_ranges, resume, sample
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
from ._services import anneal, certify, compare, exact, logz, verify

if TYPE_CHECKING:
    from . import dimod, jax, sklearn, torch

__version__ = _version()

__all__ = [
    "BlockGibbs", "Certificate", "Chains", "Comparison", "ComputationError", "DLMC", "DMALA", "DSVGD", "DULA", "DataError",
    "Domain", "Error", "Exact", "FileError", "GWG", "Gibbs", "HammingBall", "LocallyBalanced", "LogZ",
    "MissingError", "Model", "PAS", "Progress", "RMALA", "RWM", "Result", "Run", "SaltusWarning", "Sampler",
    "Search", "UsageError", "Verification", "anneal", "bernoulli", "binary", "categorical", "certify", "chain_ranges",
    "compare",
    "dimod", "exact", "function", "integers", "ising", "jax", "lattice", "load", "logz", "merge", "model",
    "models", "ordered", "poisson", "potts", "quadratic", "rbm", "resume", "sample", "samplers",
    "sklearn", "spin", "start", "torch", "verify",
]  # fmt: skip

_LATER = ("dimod", "jax", "sklearn", "torch")  # what they need is imported on first use


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'saltus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
