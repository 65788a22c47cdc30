"""saltus as a sampler of dimod: binary quadratic models in, sample sets out.

p(s) is proportional to exp(-beta E(s)). Reads are states of a Boltzmann law, not of a search: for
the best state use saltus.anneal.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _built_in, _sample, _samplers
from ._errors import DataError, SaltusWarning, UsageError, missing
from ._models import Model
from ._result import Result

try:
    import dimod
except ImportError:
    raise missing("saltus.dimod", "dimod", "dimod") from None


def model(bqm: Any, *, beta: float = 1.0) -> Model:
    """The Boltzmann law of a binary quadratic model, with its labels; up to a constant."""
    if bqm.num_variables == 0:
        raise DataError("the binary quadratic model has no variables")
    labels = list(bqm.variables)
    linear, (rows, columns, weights), *_ = bqm.to_numpy_vectors(variable_order=labels)
    i, j = np.asarray(rows, np.int32), np.asarray(columns, np.int32)
    weight = np.ascontiguousarray(-beta * np.asarray(weights, np.float64))
    fields = np.ascontiguousarray(-beta * np.asarray(linear, np.float64))
    n = len(labels)
    if bqm.vartype is dimod.SPIN:
        made = _built_in.ising_of(n, i, j, weight, fields)
    else:
        made = _built_in.quadratic_of(n, 2, i, j, weight, fields)
    assert made._maker is not None
    return _built_in.labelled(made._maker, labels)


def sampleset(result: Result, bqm: Any) -> Any:
    """The last state of each chain, with energies of the binary quadratic model."""
    return _set_of(result.draws[:, -1], result, bqm)


def _set_of(states: Any, result: Result, bqm: Any) -> Any:
    labels = list(bqm.variables)
    rows = states.reshape(len(states), -1)
    energies = bqm.energies((rows, labels))
    made = dimod.SampleSet.from_samples(
        (rows, labels), energy=energies, vartype=bqm.vartype, info=dict(result.stats)
    )
    return made.aggregate()


class SaltusSampler(dimod.Sampler):  # type: ignore[misc,unused-ignore]
    """A dimod.Sampler: sample(bqm), sample_ising(h, J) and sample_qubo(Q)."""

    def __init__(self, sampler: _samplers.SamplerLike = "auto"):
        self._sampler = sampler

    @property
    def parameters(self) -> dict[str, list[Any]]:
        names = ("num_reads", "beta", "num_sweeps", "seed", "initial_states", "interrupt_function")
        return {name: [] for name in names}

    @property
    def properties(self) -> dict[str, Any]:
        return {"sampler": str(self._sampler)}

    def sample(
        self,
        bqm: Any,
        *,
        num_reads: int = 100,
        beta: float = 1.0,
        num_sweeps: int = 1000,
        seed: int | None = None,
        initial_states: Any = None,
        interrupt_function: Any = None,
        **unknown: Any,
    ) -> Any:
        """num_reads chains, each after num_sweeps steps. p(s) is proportional to exp(-beta E)."""
        self.remove_unknown_kwargs(**unknown)
        if num_reads < 1 or num_sweeps < 1:
            raise UsageError("num_reads and num_sweeps are whole numbers from 1 on")
        law = model(bqm, beta=beta)
        sampler = self._sampler
        if sampler == "auto":
            sampler = "gibbs"
        init = None
        if initial_states is not None:
            given = list(initial_states.variables)
            init = initial_states.record.sample[:, [given.index(v) for v in law.labels]]
        stop = None
        if interrupt_function is not None:
            stop = lambda _: False if interrupt_function() else None  # noqa: E731
        with warnings.catch_warnings():  # one draw of each chain says nothing of mixing
            warnings.simplefilter("ignore", SaltusWarning)
            result = _sample.sample(
                law, sampler=sampler, chains=num_reads, warmup=num_sweeps - 1, draws=1, seed=seed,
                init=init, progress=stop if stop is not None else False, probe=False,
            )  # fmt: skip
        if result.draws.shape[1] == 0:
            raise DataError("the run was interrupted before there was a read")
        return _set_of(result.draws[:, -1], result, bqm)
