"""Samplers as values: a name and its parameters, None for what is tuned or left at its default."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal, Sequence, Union

import numpy as np

from ._errors import UsageError

Balancing = Literal["sqrt", "ratio", "min", "max"]


@dataclasses.dataclass(frozen=True)
class Sampler:
    """What all samplers share; take one of the others."""

    name: ClassVar[str] = ""

    def settings(self) -> dict[str, Any]:
        """The parameters that are given, as the program's --set takes them."""
        given = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value = [float(v) for v in value.ravel()]
            if isinstance(value, np.generic):
                value = value.item()
            if value is not None:
                given[field.name] = list(value) if isinstance(value, tuple) else value
        return given


@dataclasses.dataclass(frozen=True)
class DULA(Sampler):
    """Discrete Langevin proposal without the Metropolis test: biased, by more for larger steps."""

    name: ClassVar[str] = "dula"
    step_size: float | None = None
    adapt: bool | None = None
    precondition: Any = None
    distance: str | None = None
    window: int | None = None
    balancing_exponent: float | None = None
    cycle: int | None = None
    largest_step: float | None = None
    smallest_step: float | None = None


@dataclasses.dataclass(frozen=True)
class DMALA(DULA):
    """Discrete Langevin proposal with the Metropolis test."""

    name: ClassVar[str] = "dmala"


@dataclasses.dataclass(frozen=True)
class Gibbs(Sampler):
    """Coordinates, or blocks of them, from their conditional distributions."""

    name: ClassVar[str] = "gibbs"
    block: int | None = None
    scan: Literal["permutation", "systematic", "random", "colours"] | None = None
    updates: Union[int, Literal["sweep"], None] = None


@dataclasses.dataclass(frozen=True)
class GWG(Sampler):
    """Gibbs with gradients: flips chosen by the gradient."""

    name: ClassVar[str] = "gwg"
    flips: int | None = None
    adapt: bool | None = None
    balancing: Balancing | None = None
    window: int | None = None


@dataclasses.dataclass(frozen=True)
class LocallyBalanced(Sampler):
    """One coordinate, chosen by exact differences of log p."""

    name: ClassVar[str] = "locally_balanced"
    balancing: Balancing | None = None
    window: int | None = None


@dataclasses.dataclass(frozen=True)
class PAS(Sampler):
    """Path auxiliary sampler: several distinct coordinates along a path."""

    name: ClassVar[str] = "pas"
    flips: int | None = None
    adapt: bool | None = None
    fixed: bool | None = None
    balancing: Balancing | None = None
    window: int | None = None


@dataclasses.dataclass(frozen=True)
class DLMC(Sampler):
    """Discrete Langevin Monte Carlo, by a heat kernel."""

    name: ClassVar[str] = "dlmc"
    step_size: float | None = None
    adapt: bool | None = None
    form: Literal["heat", "euler"] | None = None
    balancing: Balancing | None = None
    window: int | None = None


@dataclasses.dataclass(frozen=True)
class HammingBall(Sampler):
    """A block of coordinates from a Hamming ball around it."""

    name: ClassVar[str] = "hamming_ball"
    block: int | None = None
    radius: int | None = None


@dataclasses.dataclass(frozen=True)
class RWM(Sampler):
    """Random-walk Metropolis: random coordinates to random levels."""

    name: ClassVar[str] = "rwm"
    rate: float | None = None
    adapt: bool | None = None
    window: int | None = None


@dataclasses.dataclass(frozen=True)
class RMALA(Sampler):
    """Langevin steps on a relaxation of two-level states, with the Metropolis test."""

    name: ClassVar[str] = "rmala"
    step_size: float | None = None
    adapt: bool | None = None
    temperature: float | None = None


@dataclasses.dataclass(frozen=True)
class BlockGibbs(Sampler):
    """All hidden units at once, then all coordinates."""

    name: ClassVar[str] = "block_gibbs"


@dataclasses.dataclass(frozen=True)
class DSVGD(Sampler):
    """Stein variational descent of all chains as particles: deterministic, approximate."""

    name: ClassVar[str] = "dsvgd"
    learning_rate: float | None = None
    temperature: float | None = None


ALL = (DMALA, DULA, Gibbs, GWG, LocallyBalanced, PAS, DLMC, HammingBall, RWM, RMALA, BlockGibbs, DSVGD)
SamplerLike = Union[str, Sampler]


def options_of(sampler: SamplerLike) -> dict[str, Any]:
    """As options of the library: "sampler" and "set"."""
    if isinstance(sampler, str):
        return {"sampler": sampler}
    if isinstance(sampler, Sampler) and sampler.name:
        return {"sampler": sampler.name, "set": sampler.settings()}
    raise UsageError(f"{sampler!r} is no sampler: give a name, as in 'dmala', or saltus.DMALA()")


def contenders(samplers: Sequence[SamplerLike]) -> list[Any]:
    return [s if isinstance(s, str) else options_of(s) for s in samplers]
