"""Drawing, from a request to a result."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Literal, Mapping, Sequence

import numpy as np

from . import _library, _models, _progress, _samplers
from ._domain import Array, Domain
from ._errors import ComputationError, UsageError
from ._library import Handle, lib, options_text
from ._models import Model
from ._requests import Path, Seed, as_model, seed_of
from ._result import Result, warn_of
from ._room import Room, kept_coordinates, labels_of_kept
from ._samplers import SamplerLike


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
    given: Any = None,
    constrain: str | None = None,
    record: Literal["draws", "moments"] = "draws",
    keep: Sequence[Any] | None = None,
    draws_to: Path | None = None,
    observe: Sequence[str] | None = None,
    temper: bool | int | None = None,
    base: Any = None,
    betas: Sequence[float] | None = None,
    steps: int | None = None,
    probe: bool | None = None,
    exact: bool | None = None,
    part: tuple[int, int] | None = None,
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
    keeps. init: "dispersed", "random", "zeros", "ones", or states. given, constrain: as in
    Model.restrict. record: "moments" keeps no draws; keep: the coordinates whose draws are kept;
    draws_to: a file FILE.npy that holds them, mapped into memory. temper: True, or a number of
    temperatures. exact: True warns where draws contradict the exact answer of a small model, which
    takes up to a second. part: (k, n), the k-th of n parts of the chains, for `merge`. Ctrl-C, a
    `progress` that returns False and `time_limit` (seconds) end the run with what there is:
    result.complete is False.
    """
    law = as_model(model, domain, given, constrain)
    start_name, start = _start(law, init, chains)
    kept = kept_coordinates(law, keep)
    options = {
        **_samplers.options_of(sampler),
        "chains": chains, "warmup": warmup, "draws": draws, "thin": thin,
        "seed": str(seed_of(seed)), "threads": threads, "tile": tile, "init": start_name,
        "record": record, "keep": kept, "observe": None if observe is None else list(observe),
        "temper": temper,
        "base": base if base is None or isinstance(base, str) else np.asarray(base, float).ravel().tolist(),
        "betas": None if betas is None else [float(b) for b in betas], "steps": steps,
        "probe": probe, "exact": exact, "checkpoint": None if checkpoint is None else os.fspath(checkpoint),
        "overwrite": overwrite, "time_limit": time_limit,
    }  # fmt: skip
    _check_counts(options)
    if part is not None:
        start = _take_part(law, options, part, start)
    if record == "moments" and (kept is not None or draws_to is not None):
        raise UsageError("record='moments' keeps no draws: leave out keep and draws_to")
    room = Room(law, options["chains"], draws, kept)
    if record != "moments":
        room.make(draws_to, bool(overwrite))
    return _run(room, options, start, progress, _names(law, dims, coords, name, kept))


def resume(
    checkpoint: Path,
    *,
    draws: int | None = None,
    model: Any = None,
    domain: Domain | None = None,
    threads: int | None = None,
    draws_to: Path | None = None,
    progress: _progress.Listener = None,
    time_limit: float | None = None,
    name: str = "x",
) -> Result:
    """Continues the run that `sample` saved in a checkpoint, to the same draws as without a stop.

    draws: of each chain in all, where there are to be more. model: for a callable or a model from
    arrays; files and built-in models are in the checkpoint.
    """
    file = os.fspath(checkpoint)
    info = _library.ask(lib.saltus_checkpoint_info, os.fsencode(checkpoint))
    if info["record"] == "disk":
        raise UsageError(
            f"{file} was saved by the program, whose draws lie beside it: continue it there (saltus"
            " sample --resume)"
        )
    if model is None and info["model"] is None:
        raise UsageError(f"{file} is of a model that is in no file: give it as model=")
    law = _models._parse(info["model"], file) if model is None else as_model(model, domain)
    options = {
        "resume": file, "record": info["record"], "threads": threads,
        "draws": info["draws"] if draws is None else draws, "time_limit": time_limit,
        "chains": info["chains"],
    }  # fmt: skip
    _check_counts(options)
    kept = info["keep"]
    if kept is not None and law.given:  # counted among those that are not given
        free = [i for i in range(law.dim) if i not in law.given]
        kept = [free[k] for k in kept]
    room = Room(law, options["chains"], options["draws"], kept)
    if info["record"] != "moments":
        room.make(draws_to, False)
    del options["chains"]
    return _run(room, options, None, progress, _names(law, None, None, name, kept))


def extend(
    result: Result,
    draws: int,
    draws_to: Path | None,
    threads: int | None,
    progress: _progress.Listener,
    time_limit: float | None,
) -> Result:
    """Result.extend."""
    state = result._state
    if state is None:
        raise UsageError(
            "this result has no chains to continue: it kept moments alone, was loaded, copied or"
            " merged, or ended with an error"
        )
    made = result.logp.shape[1]
    if isinstance(draws, bool) or not isinstance(draws, (int, np.integer)) or draws <= made:
        raise UsageError(f"draws is {draws!r}; the run has made {made} already: give more, in all")
    room = Room(result.model, result.logp.shape[0], int(draws), result._kept)
    room.make(draws_to, False)
    room.begin_with(result.levels, result.logp)
    options = {"draws": int(draws), "threads": threads, "time_limit": time_limit}
    names = {"name": result.name, "dims": result.dims, "coords": result.coords}
    return _run(room, options, None, progress, names, state, result._part)


# ---- parts of a request ----


def _check_counts(options: dict[str, Any]) -> None:
    for key in ("chains", "draws"):
        value = options[key]
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise UsageError(f"{key} is {value!r}; expected a whole number from 1 on")


def _names(model: Model, dims: Any, coords: Any, name: str, kept: list[int] | None) -> dict[str, Any]:
    """What the variable and its dimensions are called."""
    coords = dict(coords or {})
    if kept is not None:
        dims = list(dims) if dims is not None else [f"{name}_dim_0"]
        coords.setdefault(dims[0], labels_of_kept(model, kept))
        return {"name": name, "dims": dims, "coords": coords}
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


def chain_ranges(
    model: Any,
    parts: int,
    *,
    chains: int = 4,
    sampler: SamplerLike = "dmala",
    tile: int | None = None,
    domain: Domain | None = None,
) -> list[tuple[int, int]]:
    """How `part=` divides the chains of a run: the first chain and the number of chains of each
    part. There are fewer than `parts` where chains are advanced together."""
    options = {**_samplers.options_of(sampler), "chains": chains, "tile": tile, "parts": parts}
    law = as_model(model, domain)
    ranges = _library.ask(lib.saltus_chain_ranges, law.handle, options_text(options))
    return [(int(first), int(count)) for first, count in ranges]


def _take_part(
    law: Model, options: dict[str, Any], part: tuple[int, int], start: Array | None
) -> Array | None:
    """The chains of a part take the place of those of the run. Gives their starts."""
    try:
        k, parts = (int(v) for v in part)
    except (TypeError, ValueError):
        raise UsageError(f"part is {part!r}; expected (k, n): part k of n, from 1 on") from None
    if not 1 <= k <= parts:
        raise UsageError(f"part is {part!r}; expected (k, n): part k of n, from 1 on")
    wanted = {name: options.get(name) for name in ("sampler", "set", "chains", "tile")}
    ranges = _library.ask(
        lib.saltus_chain_ranges, law.handle, options_text({**wanted, "parts": parts})
    )
    if len(ranges) < parts:
        raise UsageError(
            f"{options['chains']} chains can be divided into {len(ranges)} parts at most, because some"
            " are advanced together (tile)"
        )
    first, count = ranges[k - 1]
    options.update(first_chain=first, chains_of_run=options["chains"], chains=count)
    return None if start is None else np.ascontiguousarray(start[first : first + count])


# ---- the run ----


def _run(
    room: Room,
    options: dict[str, Any],
    start: Array | None,
    progress: _progress.Listener,
    names: dict[str, Any],
    before: Handle | None = None,
    part: tuple[int, int] | None = None,
) -> Result:
    arrays = room.arrays(start)
    after = ctypes.c_void_p()
    watch = _progress.Watch(progress)
    if room.levels is not None and "warmup" in options:
        watch.snapshot = lambda step: _snapshot(room, options, step, names)
    try:
        with watch:
            _, stats = watch.take(
                room.model, lib.saltus_sample_on, options_text(options),
                None if before is None else before.get(), ctypes.byref(arrays),
                last=ctypes.byref(after),
            )  # fmt: skip
    except ComputationError as e:
        if room.levels is not None and "chains" in options:
            e.result = room.result(_unfinished(room.model, options, watch.step), **names)
        raise
    finally:
        state = Handle(after.value, lib.saltus_state_free, "run") if after.value else None
    if "chains_of_run" in options:
        part = (options["first_chain"], options["chains_of_run"])
    result = room.result(stats, **names)
    result._state, result._kept, result._part = state, room.keep, part
    warn_of(result)
    return result


def _snapshot(room: Room, options: dict[str, Any], step: int, names: dict[str, Any]) -> Result:
    stats = _unfinished(room.model, options, step)
    return room.copy(stats["draws"]).result(stats, **names)


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
