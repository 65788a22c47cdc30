"""Values that are known of some coordinates, as the library reads them: "3=1,7=0"."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping

import numpy as np

from ._domain import Domain
from ._errors import DataError

if TYPE_CHECKING:
    from ._models import Model


def given_text(model: Model, given: Any) -> str:
    if given is None:
        return ""
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)
    if isinstance(given, Mapping):
        return ",".join(
            f"{place_of(model, key, 'given')}={_level(model.domain, key, value)}" for key, value in given.items()
        )
    return _of_array(model.domain, given)


def place_of(model: Model, key: Any, what: str) -> int:
    """A label, a place in the model's shape, or a number."""
    if key in model.labels:
        return model.labels.index(key)
    key = key.item() if isinstance(key, np.generic) else key
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and 0 <= key < model.dim:
        return int(key)
    if isinstance(key, tuple) and len(key) == len(model.shape):
        if all(isinstance(k, (int, np.integer)) and 0 <= k < n for k, n in zip(key, model.shape)):
            return int(np.ravel_multi_index(key, model.shape))
    raise DataError(f"{what} has an entry for {key!r}, which is no coordinate")


def _level(domain: Domain, key: Any, value: Any) -> int | str:
    """The name of a level, or the index of a value."""
    if isinstance(value, str):
        return value
    try:
        index = (float(value) - domain.first_value) / domain.spacing
    except (TypeError, ValueError):
        index = np.nan
    if not (index == np.floor(index) and 0 <= index < domain.max_levels):
        raise DataError(f"given[{key!r}] is {value!r}, which is no value of the model {domain.kind}")
    return int(index)


def _of_array(domain: Domain, given: Any) -> str:
    values: Any = np.ma.asarray(given)
    try:
        numbers = values.astype(np.float64).filled(np.nan)
    except (TypeError, ValueError):
        raise DataError(f"given is no mapping and no array of numbers: {type(given).__name__}") from None
    if numbers.shape not in (domain.shape, (domain.dim,)):
        raise DataError(f"given has shape {numbers.shape}; expected {domain.shape}")
    flat = numbers.reshape(-1)
    return ",".join(f"{i}={_level(domain, int(i), flat[i])}" for i in np.flatnonzero(~np.isnan(flat)))
