"""Drawing, and the other things to do with a model."""

from __future__ import annotations

import ctypes
import os
import secrets
from typing import Any, Literal, Mapping, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _library, _models, _progress, _samplers
from ._domain import Array, Domain
from ._errors import ComputationError, SaltusWarning, UsageError
from ._library import Arrays, lib, options_text, pointer
from ._models import Model
from ._result import Result, warn_of
from ._samplers import SamplerLike

Floats = npt.NDArray[np.float64]
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


def as_model(model: Any, domain: Domain | None) -> Model:
    """A model, a file or built-in name, or a callable or torch module with its domain."""
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
    return _models.function(model, domain)


class _Room:
    """The arrays that a run writes to."""

    def __init__(self, domain: Domain, chains: int, draws: int, keeps_draws: bool):
        self.columns = {
            name: np.full(domain.dim, np.nan) for name in ("mean", "sd", "mcse", "ess_bulk", "rhat")
        }
        self.levels: Array | None = None
        self.logp: Floats | None = None
        self.acceptance: npt.NDArray[np.float32] | None = None
        if keeps_draws:
            self.levels = np.empty((chains, draws, domain.dim), domain.level_dtype)
            self.logp = np.empty((chains, draws))
            self.acceptance = np.empty((chains, draws), np.float32)

    def arrays(self, start: Array | None) -> Arrays:
        small = self.levels is not None and self.levels.itemsize == 1
        return Arrays(
            levels=None if small else pointer(self.levels),
            bytes=pointer(self.levels) if small else None,
            logp=pointer(self.logp),
            acceptance=pointer(self.acceptance),
            start=pointer(start),
            **{name: pointer(column) for name, column in self.columns.items()},
        )

    def result(self, model: Model, stats: dict[str, Any], **names: Any) -> Result:
        made = int(stats["draws"])
        shape = model.domain.shape
        levels, logp, acceptance = self.levels, self.logp, self.acceptance
        if levels is not None and logp is not None and acceptance is not None:
            levels = levels[:, :made].reshape(len(levels), made, *shape)
            logp, acceptance = logp[:, :made], acceptance[:, :made]
        return Result(model.domain, stats, levels, logp, acceptance, self.columns, model=model, **names)


def _names(model: Model, dims: Any, coords: Any, name: str) -> dict[str, Any]:
    """What the variable and its dimensions are called."""
    coords = dict(coords or {})
    dims = list(dims) if dims is not None else model._axes
    if model.labels and len(model.shape) == 1:
        dims = dims or [f"{name}_dim_0"]
        coords.setdefault(dims[0], model.labels)
    return {"name": name, "dims": dims, "coords": coords}


def _start(model: Model, init: Any, chains: int) -> tuple[str | None, Array | None]:
    """A name, or states: one for each chain, or one for all."""
    if init is None or isinstance(init, str):
        return init, None
    levels, single = model.domain.to_levels(init, "init")
    if single:
        levels = np.repeat(levels, chains, axis=0)
    if len(levels) != chains:
        raise UsageError(f"init has {len(levels)} states for {chains} chains")
    return None, np.ascontiguousarray(levels)


def _text_of(model: Model) -> str | None:
    try:
        text = model.text
    except UsageError:
        return None
    return text if len(text) <= 1_000_000 else None


def sample(
    model: Any,
    *,
    sampler: SamplerLike = "dmala",
    chains: int = 4,
    warmup: int = 1000,
    draws: int = 10000,
    thin: int = 1,
    seed: Seed = None,
    threads: int | None = None,
    tile: int | None = None,
    init: Any = None,
    record: Literal["draws", "moments"] = "draws",
    observe: Sequence[str] | None = None,
    temper: bool | int | None = None,
    betas: Sequence[float] | None = None,
    steps: int | None = None,
    probe: bool | None = None,
    exact: bool | None = None,
    progress: _progress.Listener = None,
    checkpoint: Path | None = None,
    overwrite: bool | None = None,
    time_limit: float | None = None,
    domain: Domain | None = None,
    dims: Sequence[str] | None = None,
    coords: Mapping[str, Any] | None = None,
    name: str = "x",
) -> Result:
    """Draws from a model: the program's `saltus sample`, with its names and, for a seed, its draws.

    model: a Model, a file or built-in name, or a callable with its `domain`. sampler: a name, one
    such as saltus.DMALA(step_size=0.2), or "auto". seed: None takes a fresh one, which the result
    keeps. init: "dispersed", "random", "zeros", "ones", or states. record: "moments" keeps no
    draws. temper: True, or a number of temperatures. exact: True warns where draws contradict the
    exact answer of a small model, which takes up to a second. Ctrl-C, a `progress` that returns False and
    `time_limit` (seconds) end the run with what there is: result.complete is False.
    """
    given = as_model(model, domain)
    start_name, start = _start(given, init, chains)
    options = {
        **_samplers.options_of(sampler),
        "chains": chains, "warmup": warmup, "draws": draws, "thin": thin,
        "seed": str(seed_of(seed)), "threads": threads, "tile": tile, "init": start_name,
        "record": record, "observe": None if observe is None else list(observe), "temper": temper,
        "betas": None if betas is None else [float(b) for b in betas], "steps": steps,
        "probe": probe, "exact": exact, "checkpoint": None if checkpoint is None else os.fspath(checkpoint),
        "overwrite": overwrite, "time_limit": time_limit,
    }  # fmt: skip
    return _run(given, options, start, progress, _names(given, dims, coords, name))


def resume(
    checkpoint: Path,
    *,
    draws: int | None = None,
    model: Any = None,
    domain: Domain | None = None,
    threads: int | None = None,
    progress: _progress.Listener = None,
    time_limit: float | None = None,
    name: str = "x",
) -> Result:
    """Continues the run that `sample` saved in a checkpoint, to the same draws as without a stop.

    draws: of each chain in all, where there are to be more. model: for a callable; files and
    built-in models are in the checkpoint.
    """
    info = _library.ask(lib.saltus_checkpoint_info, os.fsencode(checkpoint))
    if info["record"] == "disk":
        raise UsageError(
            f"{os.fspath(checkpoint)} was saved by the program, whose draws lie beside it: continue"
            " it there (saltus sample --resume)"
        )
    if model is None and info["model"] is None:
        raise UsageError(f"{os.fspath(checkpoint)} is of a callable: give it as model=")
    given = _models._parse(info["model"], os.fspath(checkpoint)) if model is None else as_model(model, domain)
    options = {
        "resume": os.fspath(checkpoint), "record": info["record"], "threads": threads,
        "draws": info["draws"] if draws is None else draws, "time_limit": time_limit,
        "chains": info["chains"],
    }  # fmt: skip
    return _run(given, options, None, progress, _names(given, None, None, name))


def _run(
    model: Model,
    options: dict[str, Any],
    start: Array | None,
    progress: _progress.Listener,
    names: dict[str, Any],
) -> Result:
    chains, draws = options["chains"], options["draws"]
    for key, value in (("chains", chains), ("draws", draws)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise UsageError(f"{key} is {value!r}; expected a whole number from 1 on")
    if options.get("resume"):
        del options["chains"]
    keeps = options["record"] != "moments"
    room = _Room(model.domain, chains, draws, keeps)
    arrays = room.arrays(start)
    watch = _progress.Watch(progress)
    try:
        with watch:
            _, stats = watch.take(
                model, lib.saltus_sample, options_text(options), ctypes.byref(arrays)
            )
    except ComputationError as e:
        if keeps and not options.get("resume"):
            e.result = room.result(model, _unfinished(model, options, watch.step), **names)
        raise
    result = room.result(model, stats, **names, model_text=_text_of(model))
    warn_of(result)
    return result


def _unfinished(model: Model, options: dict[str, Any], step: int) -> dict[str, Any]:
    """The statistics of a run whose target has failed, as far as they are known."""
    made = max(0, step - options["warmup"]) // options["thin"]
    nothing: dict[str, Any] = {
        "parameters": {}, "acceptance_rate": None, "changes": None, "seconds": None, "best": None,
        "ess": {"min": None, "median": None}, "rhat": {"max": None}, "warnings": [],
        "verdict": "doubtful", "complete": False,
    }  # fmt: skip
    kept = {key: options[key] for key in ("sampler", "chains", "warmup", "thin")}
    return {**nothing, **kept, "seed": int(options["seed"]), "draws": made, "model": model.name,
            "dim": model.dim}  # fmt: skip


# ---- the other services ----


class Answer:
    """What a service found: the program's JSON as `stats`, of which attributes are parts."""

    def __init__(self, stats: dict[str, Any]):
        self.stats = stats

    @property
    def warnings(self) -> list[str]:
        return [str(w["sentence"]) for w in self.stats.get("warnings", [])]

    def _warn(self) -> None:
        import warnings

        for sentence in self.warnings:
            warnings.warn(sentence, SaltusWarning, stacklevel=4)


class Verification(Answer):
    """`ok`, and `checks`: a list of dicts with check, verdict and detail."""

    @property
    def ok(self) -> bool:
        return bool(self.stats["ok"])

    @property
    def checks(self) -> list[dict[str, str]]:
        return list(self.stats["checks"])

    @property
    def kernel_checked(self) -> bool:
        """Against its exact transition matrix, which only small models have."""
        return bool(self.stats["kernel_checked"])

    def raise_if_wrong(self) -> None:
        wrong = [f"{c['check']}: {c['detail']}" for c in self.checks if c["verdict"] == "FAILED"]
        if wrong:
            raise AssertionError("; ".join(wrong))

    def __repr__(self) -> str:
        lines = [f"{c['check']:<14} {c['verdict']:<8} {c['detail']}" for c in self.checks]
        return "\n".join([f"{self.stats['sampler']} on {self.stats['model']}", *lines])


class LogZ(Answer):
    """Between `low` and `high` log Z probably lies; `log_z` is the estimate."""

    @property
    def log_z(self) -> float:
        return float(self.stats["log_z"])

    @property
    def low(self) -> float:
        return _number(self.stats["interval"][0], -np.inf)

    @property
    def high(self) -> float:
        return _number(self.stats["interval"][1], np.inf)

    @property
    def forward(self) -> dict[str, Any] | None:
        return self.stats.get("forward")

    @property
    def reverse(self) -> dict[str, Any] | None:
        return self.stats.get("reverse")

    @property
    def exact(self) -> float | None:
        """Where the model is small."""
        answer = self.stats["exact"]
        return None if answer is None else float(answer)

    @property
    def log_likelihood(self) -> tuple[float, float] | None:
        """Of the data, between two numbers; None where none were given."""
        test = self.stats["test"]
        if test is None:
            return None
        low, high = test["log_likelihood"]
        return _number(low, -np.inf), _number(high, np.inf)

    def __repr__(self) -> str:
        return f"log Z of {self.stats['model']} between {self.low:.5f} and {self.high:.5f}"


def _number(value: float | None, instead: float) -> float:
    return instead if value is None else float(value)


class Comparison(Answer):
    """`table`, with a row for each sampler, `best` and `sentence`."""

    @property
    def best(self) -> str | None:
        """The name of the winner; None where the chains of no exact sampler have mixed."""
        best = self.stats["best"]
        return None if best is None else str(best["sampler"])

    @property
    def sentence(self) -> str:
        return str(self.stats["sentence"])

    @property
    def table(self) -> Any:
        from ._table import table_or_frame

        names = [
            "acceptance_rate", "changes", "steps_per_second", "ess_per_second",
            "ess_per_evaluation", "rhat", "error",
        ]  # fmt: skip
        rows = self.stats["results"]
        columns = {
            n: np.array([np.inf if r[n] == "inf" else _number(r[n], np.nan) for r in rows])
            for n in names
        }
        index = [r["sampler"] + (" tempered" if r["tempered"] else "") for r in rows]
        return table_or_frame(index, columns)

    def __repr__(self) -> str:
        from ._table import Table

        table = self.table
        if not isinstance(table, Table):  # of pandas, which leaves columns out
            table = Table(list(table.index), {n: np.asarray(table[n], float) for n in table})
        return f"{table.text()}\n\n{self.sentence}"


class Search(Answer):
    """The `best` state of a search, as values, its `logp` and how many restarts reached it."""

    def __init__(self, stats: dict[str, Any], domain: Domain):
        super().__init__(stats)
        best = stats["best"]
        self.complete = bool(stats["complete"])
        self.best: Array | None = None
        self.logp = np.nan
        if best is not None:
            levels = np.asarray(best["state"], dtype=np.uint16).reshape(domain.shape)
            self.best, self.logp = domain.to_values(levels), float(best["logp"])

    @property
    def reached(self) -> int:
        return int(self.stats["reached"])

    @property
    def objective(self) -> float | None:
        """The best value in the terms of a problem file; None for other models."""
        objective = self.stats["objective"]
        return None if objective is None else float(objective["best"])

    def __repr__(self) -> str:
        return f"best log p {self.logp:.10g}, reached by {self.reached} of {self.stats['restarts']}"


def verify(
    model: Any, sampler: SamplerLike = "dmala", *, domain: Domain | None = None,
    progress: _progress.Listener = None,
) -> Verification:  # fmt: skip
    """Is a sampler right for a model? Exactly where the model is small; of a callable also whether
    its gradient is that of log p."""
    given = as_model(model, domain)
    with _progress.Watch(progress) as watch:
        _, stats = watch.take(given, lib.saltus_verify, options_text(_samplers.options_of(sampler)))
    return Verification(stats)


def compare(
    model: Any,
    samplers: Sequence[SamplerLike] | None = None,
    *,
    budget: float = 2.0,
    chains: int = 8,
    seed: Seed = None,
    threads: int | None = None,
    domain: Domain | None = None,
    progress: _progress.Listener = None,
) -> Comparison:
    """A race between samplers, all that run on the model unless some are named, for `budget`
    seconds of drawing each."""
    given = as_model(model, domain)
    options = {
        "samplers": None if samplers is None else _samplers.contenders(samplers),
        "budget": budget, "chains": chains, "seed": str(seed_of(seed)), "threads": threads,
    }  # fmt: skip
    with _progress.Watch(progress) as watch:
        status, stats = watch.take(given, lib.saltus_compare, options_text(options))
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
    checkpoint: Path | None = None,
    time_limit: float | None = None,
    domain: Domain | None = None,
    progress: _progress.Listener = None,
) -> LogZ:
    """log Z by annealed importance sampling, from below and from above, by tempering, or by both;
    and with it the log-likelihood of data, rows of states."""
    given = as_model(model, domain)
    rows = None if data is None else given.domain.to_levels(data, "data")[0]
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
        status, stats = watch.take(given, lib.saltus_logz, options_text(options), count, pointer(rows))
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
    domain: Domain | None = None,
    progress: _progress.Listener = None,
) -> Search:
    """The best state of a model, by simulated annealing."""
    given = as_model(model, domain)
    options = {
        **_samplers.options_of(sampler),
        "restarts": restarts, "steps": steps, "method": method, "schedule": schedule,
        "first": first, "last": last, "goal": goal, "polish": polish, "time_limit": time_limit,
        "seed": str(seed_of(seed)), "threads": threads,
    }  # fmt: skip
    with _progress.Watch(progress) as watch:
        _, stats = watch.take(given, lib.saltus_anneal, options_text(options))
    answer = Search(stats, given.domain)
    answer._warn()
    return answer


def exact(model: Any, *, domain: Domain | None = None) -> _models.Exact:
    """log Z, probabilities and best state, where the model's graph is narrow or the model small."""
    return as_model(model, domain).exact()


