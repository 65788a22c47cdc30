"""Results for ArviZ and xarray, whichever of their versions is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _library
from ._errors import MissingError, UsageError, missing

if TYPE_CHECKING:
    from ._result import Result


def _sample_stats(r: Result) -> dict[str, Any]:
    chains, draws = r.logp.shape
    stats = {"lp": r.logp, "acceptance_rate": r.acceptance_rate}
    if r.step_size == r.step_size:  # not NaN
        stats["step_size"] = np.full((chains, draws), r.step_size)
    if draws > 0:  # how many coordinates differ from the draw before; of the first ones none do
        changed = np.zeros((chains, draws), np.int32)
        levels = r.levels.reshape(chains, draws, -1)
        for chain in range(chains):
            changed[chain, 1:] = (levels[chain, 1:] != levels[chain, :-1]).sum(axis=1)
        stats["n_changed"] = changed
    return stats


def _attributes(r: Result) -> dict[str, Any]:
    attributes = {
        "inference_library": "saltus",
        "inference_library_version": _library.version(),
        "creation_library": "saltus",
        "creation_library_language": "Python",
        "sampler": r.sampler,
        "sampling_time": r.stats["seconds"],
        "tuning_steps": r.stats["warmup"],
        "seed": str(r.seed),  # 64 bits are more than a netCDF attribute holds
    }
    if r.stats.get("given"):
        attributes["given"] = ",".join(f"{i}={k}" for i, k in r.stats["given"].items())
    if r.stats.get("constraint"):
        attributes["constraint"] = r.stats["constraint"]
    if r._model_text is not None:
        attributes["model_json"] = r._model_text
    return attributes


def _parts(r: Result) -> tuple[dict[str, Any], dict[str, Any], dict[str, list[str]], dict[str, Any]]:
    if r._levels is None:
        raise UsageError("this run kept running moments alone (record='moments'): no draws")
    return {r.name: r.draws}, _sample_stats(r), {r.name: r.dims}, dict(r.coords)


def convert(r: Result) -> Any:
    posterior, stats, dims, coords = _parts(r)
    attributes = _attributes(r)
    try:
        import arviz_base
    except ImportError:
        pass
    else:
        tree = arviz_base.from_dict(
            {"posterior": posterior, "sample_stats": stats}, dims=dims, coords=coords
        )
        for group in ("posterior", "sample_stats"):
            tree[group].attrs.update(attributes)
        return tree
    try:
        import arviz
    except ImportError:
        return _tree(r)
    data = arviz.from_dict(
        posterior=posterior, sample_stats=stats, dims=dims, coords=coords, attrs=attributes
    )
    for group in ("posterior", "sample_stats"):
        data[group].attrs.update(attributes)
    return data


def dataset(r: Result) -> Any:
    """The posterior alone, as an xarray Dataset."""
    try:
        import xarray
    except ImportError:
        raise missing("to_xarray", "xarray", "xarray") from None
    posterior, _, dims, coords = _parts(r)
    variables = {name: (["chain", "draw", *dims[name]], values) for name, values in posterior.items()}
    return xarray.Dataset(variables, coords=_coords(r, coords), attrs=_attributes(r))


def _coords(r: Result, coords: dict[str, Any]) -> dict[str, Any]:
    chains, draws = r.levels.shape[:2]
    given: dict[str, Any] = {"chain": np.arange(chains), "draw": np.arange(draws)}
    for name, size in zip(r.dims, r.domain.shape):
        given[name] = coords.get(name, np.arange(size))
    return given


def _tree(r: Result) -> Any:
    """By xarray alone, where it has a DataTree."""
    try:
        import xarray
    except ImportError:
        xarray = None
    if xarray is None or not hasattr(xarray, "DataTree"):
        raise MissingError("to_arviz needs arviz or xarray >= 2024.10: pip install arviz")
    _, stats, _, coords = _parts(r)
    coords = _coords(r, coords)
    few = {name: coords[name] for name in ("chain", "draw")}
    groups = {
        "posterior": dataset(r),
        "sample_stats": xarray.Dataset(
            {name: (["chain", "draw"], values) for name, values in stats.items()},
            coords=few,
            attrs=_attributes(r),
        ),
    }
    return xarray.DataTree.from_dict(groups)
