"""Domains: what a state is, and how values and level indices become one another."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._errors import DataError, UsageError

Shape = Union[int, Sequence[int]]
Array = npt.NDArray[Any]

_UNBOUNDED = 65536


@dataclasses.dataclass(frozen=True)
class Domain:
    """The states of a model: `shape` coordinates, each with a number of levels.

    Made by `binary`, `spin`, `ordered`, `categorical` and `integers`.
    """

    kind: str
    shape: tuple[int, ...]
    levels: int | tuple[int, ...] = 2
    first_value: float = 0.0
    spacing: float = 1.0

    @property
    def dim(self) -> int:
        return math.prod(self.shape)

    @property
    def max_levels(self) -> int:
        return self.levels if isinstance(self.levels, int) else max(self.levels)

    @property
    def unordered(self) -> bool:
        """Levels without an order, more than two of them: means say nothing."""
        return self.kind == "categorical" and self.max_levels > 2

    @property
    def unbounded(self) -> bool:
        return self.kind == "integers"

    @property
    def level_dtype(self) -> npt.DTypeLike:
        return np.uint8 if self.max_levels <= 256 else np.uint16

    @property
    def value_dtype(self) -> npt.DTypeLike:
        if self.max_levels <= 128:
            return np.int8
        return np.int16 if self.max_levels <= 32768 else np.int32

    def to_values(self, levels: Array) -> Array:
        """Level indices as values: -1 and +1 for spins."""
        values = levels.astype(self.value_dtype)
        if self.first_value != 0 or self.spacing != 1:
            values *= np.asarray(self.spacing).astype(self.value_dtype)
            values += np.asarray(self.first_value).astype(self.value_dtype)
        return values

    def values_of_draws(self, levels: Array) -> Array:
        """The same, without a copy where levels are values."""
        plain = self.first_value == 0 and self.spacing == 1
        if plain and levels.dtype.itemsize == np.dtype(self.value_dtype).itemsize:
            return levels.view(self.value_dtype)
        return self.to_values(levels)

    def rows(self, states: Any, what: str = "states") -> tuple[Array, bool]:
        """Rows of dim entries, and whether it was a single state."""
        x = np.asarray(states)
        if x.dtype.kind not in "biuf":
            raise DataError(f"{what} are of type {x.dtype}; expected numbers")
        if x.shape == self.shape or x.shape == (self.dim,):
            return x.reshape(1, self.dim), True
        if x.ndim > 1 and (x.shape[1:] == self.shape or x.shape[1:] == (self.dim,)):
            return x.reshape(len(x), self.dim), False
        raise DataError(
            f"{what} have shape {x.shape}; expected {('rows', *self.shape)}".replace("'", "")
        )

    def to_levels(self, states: Any, what: str = "states") -> tuple[npt.NDArray[np.uint16], bool]:
        """Values as level indices. Refuses what is no level, with its place."""
        x, single = self.rows(states, what)
        index = (x.astype(np.float64) - self.first_value) / self.spacing
        top = np.asarray(self.levels)
        with np.errstate(invalid="ignore"):
            wrong = ~((index == np.floor(index)) & (index >= 0) & (index < top))
        if wrong.any():
            row, i = (int(k) for k in np.argwhere(wrong)[0])
            allowed = int(top if top.ndim == 0 else top[i])
            last = self.first_value + self.spacing * (allowed - 1)
            expected = (
                f"{self.first_value:g} or {last:g}"
                if allowed == 2
                else f"a whole number from {self.first_value:g} to {last:g}"
            )
            raise DataError(
                f"{what}: row {row} has {x[row, i]} at coordinate {i}; expected {expected}"
            )
        return np.ascontiguousarray(index.astype(np.uint16)), single

    def text(self) -> bytes:
        """As the C interface reads it."""
        known = {"ordered", "categorical", "integers"}
        domain: dict[str, Any] = {
            "kind": self.kind if self.kind in known else "ordered",
            "levels": self.levels,
            "dim": self.dim,
        }
        if self.first_value != 0 or self.spacing != 1:
            domain.update(first_value=self.first_value, spacing=self.spacing)
        return json.dumps(domain).encode()


def _shape(n: Shape) -> tuple[int, ...]:
    shape = (n,) if isinstance(n, (int, np.integer)) else tuple(n)
    if not shape or any(not isinstance(k, (int, np.integer)) or k < 1 for k in shape):
        raise UsageError(f"a domain of shape {n!r}: expected whole numbers from 1 on")
    return tuple(int(k) for k in shape)


def _levels(levels: int | Sequence[int], least: int) -> int | tuple[int, ...]:
    each = (levels,) if isinstance(levels, (int, np.integer)) else tuple(levels)
    for k in each:
        if not isinstance(k, (int, np.integer)) or not least <= k <= _UNBOUNDED:
            raise UsageError(f"levels is {k!r}; it must be a whole number from {least} to {_UNBOUNDED}")
    if isinstance(levels, (int, np.integer)):
        return int(levels)
    return tuple(int(k) for k in each)


def binary(n: Shape) -> Domain:
    """Coordinates that are 0 or 1."""
    return Domain("binary", _shape(n))


def spin(n: Shape) -> Domain:
    """Coordinates that are -1 or +1."""
    return Domain("spin", _shape(n), 2, -1.0, 2.0)


def ordered(n: Shape, levels: int | Sequence[int]) -> Domain:
    """Coordinates that are 0, 1, ..., levels - 1, in this order."""
    return Domain("ordered", _shape(n), _levels(levels, 2))


def categorical(n: Shape, levels: int | Sequence[int]) -> Domain:
    """Coordinates with levels 0, ..., levels - 1 that have no order."""
    return Domain("categorical", _shape(n), _levels(levels, 1))


def integers(n: Shape) -> Domain:
    """Coordinates that are 0, 1, 2, ... without end."""
    return Domain("integers", _shape(n), _UNBOUNDED)


def of_info(info: dict[str, Any]) -> Domain:
    """From what the library says of a model."""
    levels = info["levels"]
    kind = info["kind"]
    if info["unbounded"]:
        kind = "integers"
    elif kind == "ordered" and levels == 2:
        kind = "spin" if info["first_value"] < 0 else "binary"
    return Domain(
        kind,
        tuple(info["shape"]),
        levels if isinstance(levels, int) else tuple(levels),
        info["first_value"],
        info["spacing"],
    )
