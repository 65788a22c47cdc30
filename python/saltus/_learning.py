"""Learning from data: what the estimators of saltus.sklearn call."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library, _progress
from ._errors import DataError
from ._library import lib, options_text, pointer

Floats32 = npt.NDArray[np.float32]
Bits = npt.NDArray[np.uint8]


def bits_of(X: Any, what: str = "X", low: float = 0.0) -> Bits:
    """Rows of two values, `low` and 1, as bytes 0 and 1. Dense or sparse; refuses others with
    their place."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    table = np.asarray(X)
    if table.ndim != 2 or 0 in table.shape:
        raise DataError(f"{what} has shape {table.shape}; expected rows of numbers")
    if table.dtype.kind not in "biuf":
        raise DataError(f"{what} is of type {table.dtype}; expected numbers")
    wrong = ~((table == low) | (table == 1))
    if wrong.any():
        row, column = (int(k) for k in np.argwhere(wrong)[0])
        raise DataError(f"{what}[{row}, {column}] is {table[row, column]:g}; expected {low:g} or 1")
    return np.ascontiguousarray(table == 1).view(np.uint8)


class Learned:
    """Parameters, what a continuation needs, and how the learning went."""

    def __init__(self, parameters: Floats32, state: bytes, stats: dict[str, Any]):
        self.parameters, self.state, self.stats = parameters, state, stats


def learn(
    data: Bits, options: dict[str, Any], before: bytes | None, progress: _progress.Listener
) -> Learned:
    """A learning, or the continuation of one with these data."""
    learned, json = ctypes.c_void_p(), ctypes.c_void_p()
    watch = _progress.Watch(progress)
    with watch:
        _library.check(
            lib.saltus_learn(
                options_text(options), len(data), data.shape[1], pointer(data), before,
                len(before or b""), watch.c_function, None, ctypes.byref(learned), ctypes.byref(json),
            )
        )  # fmt: skip
        try:
            stats = _library.take_json(json)
            size = ctypes.c_size_t()
            at = lib.saltus_learned_parameters(learned, ctypes.byref(size))
            buffer: Any = (ctypes.c_float * size.value).from_address(at)
            parameters = np.frombuffer(buffer, np.float32).copy()
            at = lib.saltus_learned_state(learned, ctypes.byref(size))
            return Learned(parameters, ctypes.string_at(at, size.value), stats)
        finally:
            lib.saltus_learned_free(learned)
