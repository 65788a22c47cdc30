"""Where the draws of a run lie: in memory, or in a file that is mapped into it."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Sequence

import numpy as np
import numpy.typing as npt

from ._domain import Array, Domain
from ._errors import FileError, UsageError
from ._library import Arrays, pointer
from ._models import Model
from ._result import Result

Floats = npt.NDArray[np.float64]


def kept_coordinates(model: Model, keep: Any) -> list[int] | None:
    """Coordinates by number, place or label, in increasing order."""
    if keep is None:
        return None
    from ._restrict import place_of

    places = sorted({place_of(model, key, "keep") for key in keep})
    if not places:
        raise UsageError("keep names no coordinates")
    return places


def domain_of(model: Model, keep: list[int] | None) -> Domain:
    """Of the coordinates whose draws are kept."""
    d = model.domain
    if keep is None:
        return d
    levels = d.levels if isinstance(d.levels, int) else tuple(d.levels[i] for i in keep)
    return dataclasses.replace(d, shape=(len(keep),), levels=levels)


def labels_of_kept(model: Model, keep: Sequence[int]) -> list[Any]:
    if model.labels:
        return [model.labels[i] for i in keep]
    if len(model.shape) == 1:
        return list(keep)
    return [",".join(str(int(k)) for k in np.unravel_index(i, model.shape)) for i in keep]


class Room:
    """The arrays that a run writes to."""

    def __init__(self, model: Model, chains: int, draws: int, keep: list[int] | None = None):
        self.model, self.keep = model, keep
        self.chains, self.draws = chains, draws
        self.domain = domain_of(model, keep)
        self.columns = {
            name: np.full(model.dim, np.nan) for name in ("mean", "sd", "mcse", "ess_bulk", "rhat")
        }
        self.levels: Array | None = None
        self.logp: Floats | None = None
        self.acceptance: npt.NDArray[np.float32] | None = None

    def make(self, file: str | os.PathLike[str] | None, overwrite: bool) -> None:
        """Room for the draws, in a file of NumPy's format where one is named."""
        shape = (self.chains, self.draws, self.domain.dim)
        if file is None:
            self.levels = np.empty(shape, self.domain.level_dtype)
        else:
            self.levels = _mapped(os.fspath(file), (*shape[:2], *self.domain.shape), self.domain, overwrite)
            self.levels = self.levels.reshape(shape)
        self.logp = np.empty(shape[:2])
        self.acceptance = np.empty(shape[:2], np.float32)

    def begin_with(self, levels: Array, logp: Floats) -> None:
        """The draws of the run that this one continues."""
        assert self.levels is not None and self.logp is not None
        made = logp.shape[1]
        self.levels[:, :made] = levels.reshape(self.chains, made, -1)
        self.logp[:, :made] = logp

    def copy(self, made: int) -> Room:
        """With the first draws alone, while a run goes on to add to them."""
        copied = Room(self.model, self.chains, made, self.keep)
        copied.columns = {}
        if self.levels is not None and self.logp is not None:
            copied.levels, copied.logp = np.array(self.levels[:, :made]), self.logp[:, :made].copy()
            copied.acceptance = np.full((self.chains, made), np.nan, np.float32)  # comes at the end
        return copied

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

    def result(self, stats: dict[str, Any], **about: Any) -> Result:
        made = int(stats["draws"])
        levels, logp, acceptance = self.levels, self.logp, self.acceptance
        if levels is not None and logp is not None and acceptance is not None:
            levels = levels[:, :made].reshape(len(levels), made, *self.domain.shape)
            logp, acceptance = logp[:, :made], acceptance[:, :made]
        columns = self.columns
        if self.keep is not None:
            columns = {name: column[self.keep] for name, column in columns.items()}
        return Result(self.domain, stats, levels, logp, acceptance, columns, model=self.model, **about)


def _mapped(file: str, shape: tuple[int, ...], domain: Domain, overwrite: bool) -> Array:
    if not file.endswith(".npy"):
        raise UsageError(f"draws_to is {file}; expected a name that ends in .npy")
    if os.path.exists(file) and not overwrite:
        raise UsageError(f"draws_to: there is a file {file} already: name another one, or overwrite=True")
    try:
        made: Array = np.lib.format.open_memmap(file, "w+", np.dtype(domain.level_dtype), shape)
    except OSError as e:
        raise FileError(f"cannot write {file}: {e.strerror or e}") from None
    return made
