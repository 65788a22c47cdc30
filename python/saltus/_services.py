"""The other things to do with a model: verify, compare, certify, log Z, the best state."""

from __future__ import annotations

import os
from typing import Any, Literal, Sequence

import numpy as np

from . import _library, _models, _progress, _samplers
from ._answers import Certificate, Comparison, LogZ, Search, Verification
from ._domain import Domain
from ._library import lib, options_text, pointer
from ._requests import Path, Seed, as_model, seed_of
from ._samplers import SamplerLike


def verify(
    model: Any, sampler: SamplerLike = "dmala", *, given: Any = None, constrain: str | None = None,
    domain: Domain | None = None, progress: _progress.Listener = None,
) -> Verification:  # fmt: skip
    """Is a sampler right for a model? Exactly where the model is small; of a callable also whether
    its gradient is that of log p."""
    law = as_model(model, domain, given, constrain)
    with _progress.Watch(progress) as watch:
        _, stats = watch.take(law, lib.saltus_verify, options_text(_samplers.options_of(sampler)))
    return Verification(stats)


def compare(
    model: Any,
    samplers: Sequence[SamplerLike] | None = None,
    *,
    budget: float = 2.0,
    chains: int = 8,
    seed: Seed = None,
    threads: int | None = None,
    given: Any = None,
    constrain: str | None = None,
    domain: Domain | None = None,
    progress: _progress.Listener = None,
) -> Comparison:
    """A race between samplers, all that run on the model unless some are named, for `budget`
    seconds of drawing each."""
    law = as_model(model, domain, given, constrain)
    options = {
        "samplers": None if samplers is None else _samplers.contenders(samplers),
        "budget": budget, "chains": chains, "seed": str(seed_of(seed)), "threads": threads,
    }  # fmt: skip
    with _progress.Watch(progress) as watch:
        status, stats = watch.take(law, lib.saltus_compare, options_text(options))
    if status == _library.STOPPED:
        raise KeyboardInterrupt("the race was stopped: it has no results")
    return Comparison(stats)


def logz(
    model: Any,
    *,
    betas: int | Sequence[float] = 1000,
    chains: int = 100,
    steps: int = 1,
    sampler: SamplerLike = "dmala",
    data: Any = None,
    base: Any = None,
    reverse: bool = True,
    method: Literal["ais", "tempering", "both"] = "ais",
    seed: Seed = None,
    threads: int | None = None,
    given: Any = None,
    constrain: str | None = None,
    checkpoint: Path | None = None,
    time_limit: float | None = None,
    domain: Domain | None = None,
    progress: _progress.Listener = None,
) -> LogZ:
    """log Z by annealed importance sampling, from below and from above, by tempering, or by both;
    and with it the log-likelihood of data, rows of states."""
    law = as_model(model, domain, given, constrain)
    rows = None if data is None else law.domain.to_levels(data, "data")[0]
    options = {
        **_samplers.options_of(sampler),
        "betas": betas if isinstance(betas, (int, np.integer)) else [float(b) for b in betas],
        "chains": chains, "steps": steps, "reverse": reverse, "method": method,
        "base": base if base is None or isinstance(base, str) else np.asarray(base, float).ravel().tolist(),
        "seed": str(seed_of(seed)), "threads": threads, "time_limit": time_limit,
        "checkpoint": None if checkpoint is None else os.fspath(checkpoint),
    }  # fmt: skip
    count = 0 if rows is None else len(rows)
    with _progress.Watch(progress) as watch:
        status, stats = watch.take(law, lib.saltus_logz, options_text(options), count, pointer(rows))
    if status == _library.STOPPED:
        raise KeyboardInterrupt("stopped before there was an estimate")
    answer = LogZ(stats)
    answer._warn()
    return answer


def anneal(
    model: Any,
    *,
    restarts: int = 100,
    steps: int = 1000,
    sampler: SamplerLike = "auto",
    method: Literal["annealing", "population"] = "annealing",
    schedule: Literal["adaptive", "linear", "geometric"] = "adaptive",
    first: float | None = None,
    last: float | None = None,
    goal: float | None = None,
    polish: bool = True,
    time_limit: float | None = None,
    seed: Seed = None,
    threads: int | None = None,
    given: Any = None,
    constrain: str | None = None,
    domain: Domain | None = None,
    progress: _progress.Listener = None,
) -> Search:
    """The best state of a model, by simulated annealing."""
    law = as_model(model, domain, given, constrain)
    options = {
        **_samplers.options_of(sampler),
        "restarts": restarts, "steps": steps, "method": method, "schedule": schedule,
        "first": first, "last": last, "goal": goal, "polish": polish, "time_limit": time_limit,
        "seed": str(seed_of(seed)), "threads": threads,
    }  # fmt: skip
    with _progress.Watch(progress) as watch:
        _, stats = watch.take(law, lib.saltus_anneal, options_text(options))
    answer = Search(stats, law.domain)
    answer._warn()
    return answer


def certify(
    model: Any,
    sampler: SamplerLike = "dmala",
    *,
    pairs: int = 500,
    lag: int | None = None,
    max_steps: int = 100_000,
    warmup: int = 1000,
    seed: Seed = None,
    threads: int | None = None,
    given: Any = None,
    constrain: str | None = None,
    domain: Domain | None = None,
    progress: _progress.Listener = None,
) -> Certificate:
    """How many steps until a chain's law is close to the model: an upper bound by pairs of coupled
    chains, or the statement that some have not met."""
    law = as_model(model, domain, given, constrain)
    options = {
        **_samplers.options_of(sampler), "pairs": pairs, "lag": lag, "max_steps": max_steps,
        "warmup": warmup, "seed": str(seed_of(seed)), "threads": threads,
    }  # fmt: skip
    with _progress.Watch(progress) as watch:
        status, stats = watch.take(law, lib.saltus_certify, options_text(options))
    if status == _library.STOPPED:
        raise KeyboardInterrupt("stopped before all pairs were run: there is no bound")
    return Certificate(stats)


def exact(
    model: Any, *, given: Any = None, constrain: str | None = None, domain: Domain | None = None
) -> _models.Exact:
    """log Z, probabilities and best state, where the model's graph is narrow or the model small."""
    return as_model(model, domain, given, constrain).exact()
