"""Chains that the caller steps, and results of parts of a run joined to one."""

from __future__ import annotations

import ctypes
from typing import Any, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from . import _library, _samplers
from ._domain import Array, Domain
from ._errors import DataError, UsageError
from ._library import Handle, lib, options_text, pointer
from ._requests import Seed, as_model, seed_of
from ._result import Result
from ._samplers import SamplerLike

Floats = npt.NDArray[np.float64]


class Chains:
    """n chains of a model: `tune`, `step`, and values out, (n, *shape).

    for x in saltus.Chains(m, "dmala", n=64, seed=1).tune(1000): ... gives the values after each
    step, without end. init: "random", "dispersed", "zeros", "ones", or states.
    """

    def __init__(
        self,
        model: Any,
        sampler: SamplerLike = "dmala",
        *,
        n: int = 4,
        seed: Seed = None,
        threads: int | None = None,
        tile: int | None = None,
        init: Any = None,
        given: Any = None,
        constrain: str | None = None,
        domain: Domain | None = None,
    ):
        self.model = as_model(model, domain, given, constrain)
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise UsageError(f"n is {n!r}; expected a whole number of chains from 1 on")
        self.n, self.seed = int(n), seed_of(seed)
        start = None
        if init is not None and not isinstance(init, str):
            start, single = self.model.domain.to_levels(init, "init")
            start = np.ascontiguousarray(np.repeat(start, self.n, axis=0) if single else start)
            if len(start) != self.n:
                raise UsageError(f"init has {len(start)} states for {self.n} chains")
            init = None
        options = {
            **_samplers.options_of(sampler), "chains": self.n, "seed": str(self.seed),
            "threads": threads, "tile": tile, "init": init,
        }  # fmt: skip
        out = ctypes.c_void_p()
        self.model.call(lib.saltus_chains_new, options_text(options), pointer(start), ctypes.byref(out))
        assert out.value is not None
        self._handle = Handle(out.value, lib.saltus_chains_free, "chains")
        self._info: dict[str, Any] | None = None

    def tune(self, steps: int = 1000) -> Chains:
        """Steps that tune the sampler, before all others; then it stays as it is."""
        self._advance(lib.saltus_chains_tune, steps)
        return self

    def step(self, n: int = 1) -> Array:
        """Takes n steps, and gives the values where the chains are then."""
        self._advance(lib.saltus_chains_step, n)
        return self.states

    def _advance(self, function: Any, steps: int) -> None:
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
            raise UsageError(f"steps is {steps!r}; expected a whole number from 1 on")
        self._info = None
        self.model.call_with(function, self._handle.get(), int(steps))

    def __iter__(self) -> Iterator[Array]:
        while True:
            yield self.step()

    @property
    def states(self) -> Array:
        """Values, (n, *shape)."""
        levels = np.empty((self.n, *self.model.shape), np.uint16)
        _library.check(lib.saltus_chains_states(self._handle.get(), pointer(levels), None))
        return self.model.domain.to_values(levels)

    @property
    def logp(self) -> Floats:
        """log p of the states, (n,)."""
        logp = np.empty(self.n)
        _library.check(lib.saltus_chains_states(self._handle.get(), None, pointer(logp)))
        return logp

    def _about(self) -> dict[str, Any]:
        if self._info is None:
            self._info = _library.ask(lib.saltus_chains_info, self._handle.get())
        return self._info

    @property
    def steps(self) -> int:
        """Steps that were taken, tuning included."""
        return int(self._about()["step"])

    @property
    def parameters(self) -> dict[str, Any]:
        """Of the sampler, as tuned."""
        return dict(self._about()["parameters"])

    @property
    def acceptance_rate(self) -> float:
        """Mean over chains and steps of the last call."""
        rate = self._about()["acceptance_rate"]
        return float("nan") if rate is None else float(rate)

    @property
    def changes(self) -> float:
        """Coordinates that changed, of each chain and step of the last call."""
        changes = self._about()["changes"]
        return float("nan") if changes is None else float(changes)

    def __repr__(self) -> str:
        return f"<{self.n} chains of {self._about()['sampler']} on {self.model.name}, {self.steps} steps>"

    def __reduce__(self) -> Any:
        raise UsageError("chains that are stepped cannot be pickled or copied: keep their states")


_SAME = ("model", "dim", "sampler", "warmup", "draws", "thin", "seed")


def merge(results: Sequence[Result]) -> Result:
    """One result of all parts of a run (`part=`), in any order: the draws of the run in one
    piece."""
    parts = sorted(results, key=lambda r: r._part[0] if r._part else -1)
    if not parts:
        raise UsageError("there are no results to merge")
    first = parts[0]
    chains = 0
    for r in parts:
        if r._part is None:
            raise UsageError("a result to merge is not of a part of a run: give part=(k, n) to sample")
        for key in _SAME:
            if r.stats[key] != first.stats[key]:
                raise DataError(f"parts of one run have the same {key}, not {first.stats[key]} and {r.stats[key]}")
        if r._part[0] != chains:
            what = "are there twice" if r._part[0] < chains else "are missing"
            at = min(chains, r._part[0])
            raise DataError(f"chains from {at} on {what}")
        chains += len(r.levels)
    assert first._part is not None
    if chains != first._part[1]:
        raise DataError(f"chains from {chains} to {first._part[1] - 1} are missing")
    merged = Result(
        first.domain, {},
        np.concatenate([r.levels for r in parts]),
        np.concatenate([r.logp for r in parts]),
        np.concatenate([r.acceptance_rate for r in parts]),
        model=first.model, name=first.name, dims=first.dims, coords=first.coords,
        model_text=first._text,
    )  # fmt: skip
    merged._kept = first._kept
    merged.stats = _merged_stats(parts, merged, chains)
    return merged


def _merged_stats(parts: Sequence[Result], merged: Result, chains: int) -> dict[str, Any]:
    weights = np.array([len(r.levels) for r in parts]) / chains
    stats = dict(parts[0].stats, chains=chains)
    for key in ("acceptance_rate", "accepted", "changes", "proposed_changes"):
        values = [r.stats.get(key) for r in parts]
        if all(v is not None for v in values):
            stats[key] = float(np.dot(weights, np.array(values, float)))
    stats["seconds"] = max(r.stats["seconds"] or 0 for r in parts)
    ess, rhat = merged.ess[np.isfinite(merged.ess)], merged.rhat[np.isfinite(merged.rhat)]
    stats["mean"] = merged.mean.reshape(-1).tolist()
    stats["ess"] = {
        "min": float(ess.min()) if ess.size else None,
        "median": float(np.median(ess)) if ess.size else None,
    }
    stats["rhat"] = {"max": float(rhat.max()) if rhat.size else None}
    bests = [r.stats["best"] for r in parts if r.stats.get("best")]
    stats["best"] = max(bests, key=lambda b: float(b["logp"]), default=None)
    warnings = {}  # what the parts say of mixing, all chains together say better
    for r in parts:
        warnings.update({w["code"]: w for w in r.stats["warnings"] if w["code"] != "mixing"})
    warnings.update({w["code"]: w for w in _mixing(merged)})
    stats["warnings"] = list(warnings.values())
    stats["verdict"] = "wrong" if "exact" in warnings else "doubtful" if warnings else "ok"
    stats["complete"] = all(r.complete for r in parts)
    return stats


def _mixing(r: Result) -> list[dict[str, Any]]:
    levels, logp = np.ascontiguousarray(r.levels), np.ascontiguousarray(r.logp)
    if levels.shape[1] == 0:
        return []
    warnings: list[dict[str, Any]] = _library.ask(
        lib.saltus_mixing, r.domain.text(), levels.shape[0], levels.shape[1], pointer(levels),
        levels.itemsize, pointer(logp), 0,
    )  # fmt: skip
    return warnings
