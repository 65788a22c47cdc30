"""What a run gives: draws as values, summaries, warnings, and the ways to other libraries."""

from __future__ import annotations

import html
import json
import math
import os
import warnings as python_warnings
from typing import Any, Sequence

import numpy as np
import numpy.typing as npt

from . import _arviz, _library
from ._domain import Array, Domain
from ._errors import DataError, FileError, SaltusWarning, UsageError, missing
from ._library import lib, pointer
from ._table import Table, table_or_frame

Floats = npt.NDArray[np.float64]
_SHOWN = 30
_LONGEST_TEXT = 1_000_000


class Result:
    """Draws of a model, and what they say.

    draws: values (chain, draw, *shape); levels: the same as level indices, as stored. mean, sd,
    mcse, ess and rhat have the model's shape; NaN where a coordinate never changed. stats is the
    summary of the program as a dict, warnings a list of sentences.
    """

    def __init__(
        self,
        domain: Domain,
        stats: dict[str, Any],
        levels: Array | None,
        logp: Floats | None,
        acceptance: npt.NDArray[np.float32] | None,
        columns: dict[str, Floats] | None = None,
        *,
        model: Any = None,
        name: str = "x",
        dims: Sequence[str] | None = None,
        coords: dict[str, Any] | None = None,
        model_text: str | None = None,
    ):
        self.domain, self.stats, self.model, self.name = domain, stats, model, name
        self._levels, self._logp, self._acceptance = levels, logp, acceptance
        self._columns = columns or {}
        self._values: Array | None = None
        self._tails: dict[str, Floats] | None = None
        self._text = model_text
        self._state: Any = None  # what `extend` continues from
        self._kept: list[int] | None = None  # the coordinates whose draws are kept
        self._part: tuple[int, int] | None = None  # its first chain, and the chains of the whole run
        self.dims = list(dims) if dims is not None else self._default_dims()
        self.coords = dict(coords or {})
        if len(self.dims) != len(domain.shape):
            raise UsageError(f"dims has {len(self.dims)} names for the shape {domain.shape}")

    @property
    def _model_text(self) -> str | None:
        """The model's file, unless it is long, or there is none. Made when it is wanted."""
        if self._text is None and self.model is not None:
            try:
                text = (self.model._unrestricted or self.model).text
            except UsageError:
                return None
            self._text = text if len(text) <= _LONGEST_TEXT else ""
        return self._text or None

    def _default_dims(self) -> list[str]:
        return [f"{self.name}_dim_{k}" for k in range(len(self.domain.shape))]

    # ---- the draws ----

    @property
    def levels(self) -> Array:
        """Level indices (chain, draw, *shape)."""
        if self._levels is None:
            raise UsageError("this run kept running moments alone (record='moments'): no draws")
        return self._levels

    @property
    def draws(self) -> Array:
        """Values (chain, draw, *shape): -1 and +1 for spins."""
        if self._values is None:
            self._values = self.domain.values_of_draws(self.levels)
        return self._values

    @property
    def logp(self) -> Floats:
        """log p of every draw, (chain, draw), up to a constant."""
        if self._logp is None:
            raise UsageError("this run kept running moments alone (record='moments'): no log p")
        return self._logp

    @property
    def acceptance_rate(self) -> npt.NDArray[np.float32]:
        """Of the step that made each draw, (chain, draw)."""
        if self._acceptance is None:
            raise UsageError("this run kept running moments alone (record='moments')")
        return self._acceptance

    # ---- what the run was ----

    @property
    def sampler(self) -> str:
        return str(self.stats["sampler"])

    @property
    def parameters(self) -> dict[str, Any]:
        """Of the sampler, as tuned."""
        return dict(self.stats["parameters"])

    @property
    def step_size(self) -> float:
        return float(self.stats["parameters"].get("step_size") or math.nan)

    @property
    def seed(self) -> int:
        return int(self.stats["seed"])

    @property
    def complete(self) -> bool:
        """False where the run was stopped before all draws were made."""
        return bool(self.stats["complete"])

    @property
    def warnings(self) -> list[str]:
        return [str(w["sentence"]) for w in self.stats["warnings"]]

    @property
    def verdict(self) -> str:
        """ok, doubtful or wrong: what the warnings come to."""
        return str(self.stats["verdict"])

    @property
    def best(self) -> Array | None:
        """The best state that was seen, as values."""
        best = self.stats.get("best")
        if not best:
            return None
        levels = np.asarray(best["state"], dtype=np.uint16).reshape(self.domain.shape)
        return self.domain.to_values(levels)

    # ---- summaries ----

    def _column(self, name: str) -> Floats:
        if name not in self._columns:
            self._columns.update(self._summarise(tails=False))
        return self._columns[name].reshape(self.domain.shape)

    def _summarise(self, tails: bool) -> dict[str, Floats]:
        names = ["mean", "sd", "mcse", "ess_bulk", "ess_tail", "rhat"]
        columns = {name: np.full(self.domain.dim, np.nan) for name in names}
        levels = self._dense()
        if levels.shape[1] == 0:
            return columns
        out = [pointer(columns[n]) if n != "ess_tail" or tails else None for n in names]
        _library.check(
            lib.saltus_summarise(
                self.domain.text(), levels.shape[0], levels.shape[1], pointer(levels),
                levels.itemsize, 0, *out,
            )
        )  # fmt: skip
        return columns

    def _dense(self) -> Array:
        return np.ascontiguousarray(self.levels)

    @property
    def mean(self) -> Floats:
        return self._column("mean")

    @property
    def sd(self) -> Floats:
        return self._column("sd")

    @property
    def mcse(self) -> Floats:
        """Standard error of the mean."""
        return self._column("mcse")

    @property
    def ess(self) -> Floats:
        """Effective sample size (bulk)."""
        return self._column("ess_bulk")

    @property
    def rhat(self) -> Floats:
        return self._column("rhat")

    @property
    def ess_tail(self) -> Floats:
        return self._all_columns()["ess_tail"].reshape(self.domain.shape)

    def _all_columns(self) -> dict[str, Floats]:
        if self._tails is None:
            if self._levels is None:
                nothing = np.full(self.domain.dim, np.nan)
                self._tails = {**self._columns, "ess_tail": nothing}
            else:
                self._tails = self._summarise(tails=True)
        return self._tails

    def coordinate_names(self) -> list[str]:
        """x[0,1], or x[label] where the coordinates have labels."""
        named = self.coords.get(self.dims[0]) if len(self.dims) == 1 else None
        if named is not None:
            return [f"{self.name}[{label}]" for label in named]
        return [
            f"{self.name}[{','.join(str(int(k)) for k in np.unravel_index(i, self.domain.shape))}]"
            for i in range(self.domain.dim)
        ]

    def summary(self, of: str | None = None) -> Any:
        """A table: of "means", a row for each coordinate, or of "levels", a row for each level of
        each coordinate with its probability. A DataFrame where pandas is installed."""
        of = of or ("levels" if self.domain.unordered else "means")
        if of not in ("means", "levels"):
            raise UsageError(f"a summary of {of!r}; expected means or levels")
        index, columns = self._level_rows() if of == "levels" else self._mean_rows()
        return table_or_frame(index, columns)

    def _mean_rows(self) -> tuple[list[str], dict[str, Floats]]:
        c = self._all_columns()
        columns = {
            "mean": c["mean"], "sd": c["sd"], "mcse_mean": c["mcse"], "ess_bulk": c["ess_bulk"],
            "ess_tail": c["ess_tail"], "r_hat": c["rhat"],
        }  # fmt: skip
        return self.coordinate_names(), columns

    def _level_rows(self) -> tuple[list[str], dict[str, Floats]]:
        levels = self._dense()
        each = self.domain.levels
        counts = [each] * self.domain.dim if isinstance(each, int) else list(each)
        names = ["probability", "mcse", "ess", "r_hat"]
        columns = {name: np.full(sum(counts), np.nan) for name in names}
        _library.check(
            lib.saltus_summarise_levels(
                self.domain.text(), levels.shape[0], levels.shape[1], pointer(levels),
                levels.itemsize, 0, *(pointer(columns[n]) for n in names),
            )
        )  # fmt: skip
        first, step = self.domain.first_value, self.domain.spacing
        index = [
            f"{coordinate} = {first + step * k:g}"
            for coordinate, count in zip(self.coordinate_names(), counts)
            for k in range(count)
        ]
        return index, columns

    def extend(
        self,
        draws: int,
        *,
        draws_to: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        progress: Any = None,
        time_limit: float | None = None,
    ) -> Result:
        """The same run with more draws, `draws` of each chain in all: bit for bit as one long run.
        This result stays as it is."""
        from ._sample import extend

        return extend(self, draws, draws_to, threads, progress, time_limit)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Writes a page with the summary, what speaks against the draws, and charts: FILE.html,
        whole in one file."""
        from ._report import write_report

        write_report(self, os.fspath(path), title)

    def exact(self) -> Any:
        """The model's exact answer (Model.exact)."""
        if self.model is None:
            raise UsageError("a result from a file has no model to compute the exact answer of")
        return self.model.exact()

    # ---- for people ----

    def _table(self) -> tuple[Table, list[int]]:
        if self._levels is not None and self._levels.shape[1] == 0:
            return Table([], {"mean": np.empty(0)}), []
        index, columns = self._level_rows() if self.domain.unordered else self._mean_rows()
        table = Table(index, columns)
        if len(table) <= _SHOWN:
            return table, list(range(len(table)))
        order = np.argsort(columns["ess" if self.domain.unordered else "ess_bulk"], kind="stable")
        return table, [int(k) for k in order[:10]]

    def _closing(self) -> list[str]:
        s = self.stats
        lines = [
            f"acceptance {s['acceptance_rate'] or 0:.4f}, {s['changes'] or 0:.3f} coordinates changed"
            " per step"
        ]
        if s["ess"]["min"] is not None and s["rhat"]["max"] is not None:
            lines.append(
                f"ESS min {s['ess']['min']:,.0f}, median {s['ess']['median']:,.0f}; R-hat max"
                f" {float(s['rhat']['max']):.4f}"
            )
        lines.append(f"{s['seconds'] or 0:.1f} s, seed {s['seed']}")
        return lines + [f"Warning: {w}" for w in self.warnings]

    def _head(self) -> str:
        s = self.stats
        return (
            f"{s['model']}, {s['dim']:,} coordinates: {s['sampler']}, {s['chains']} chains x"
            f" {s['draws']:,} draws after {s['warmup']:,} warm-up steps"
            f"{'' if self.complete else '; not complete'}"
        )

    def __str__(self) -> str:
        table, rows = self._table()
        cut = len(rows) < len(table)
        note = [f"the {len(rows)} of {len(table):,} rows with the smallest effective sample size"]
        return "\n".join(
            [self._head(), "", *(note if cut else []), table.text(rows), "", *self._closing()]
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        table, rows = self._table()
        closing = "".join(f"<br>{html.escape(line)}" for line in self._closing())
        return f"<p>{html.escape(self._head())}</p>{table.html(rows)}<p>{closing[4:]}</p>"

    # ---- other libraries, files ----

    def to_arviz(self) -> Any:
        """A DataTree (ArviZ 1, or xarray alone) or InferenceData (ArviZ 0)."""
        return _arviz.convert(self)

    def to_xarray(self) -> Any:
        """A Dataset of the draws."""
        return _arviz.dataset(self)

    def to_pandas(self) -> Any:
        """A row for each draw, with columns chain, draw, logp and a column for each coordinate."""
        try:
            import pandas
        except ImportError:
            raise missing("to_pandas", "pandas", "pandas") from None
        chains, draws = self.levels.shape[:2]
        frame = {
            "chain": np.repeat(np.arange(chains), draws),
            "draw": np.tile(np.arange(draws), chains),
            "logp": self.logp.reshape(-1),
        }
        flat = self.draws.reshape(chains * draws, self.domain.dim)
        frame.update(zip(self.coordinate_names(), flat.T))
        return pandas.DataFrame(frame)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the draws: FILE.npz, which `load` reads, or FILE.nc by way of xarray."""
        name = os.fspath(path)
        if name.endswith(".nc"):
            tree = self.to_arviz()
            (tree.to_netcdf)(name)
            return
        if not name.endswith(".npz"):
            raise UsageError(f"{name}: draws are written as FILE.npz or FILE.nc")
        d = self.domain
        about = {
            "kind": d.kind, "shape": d.shape, "levels": d.levels, "first_value": d.first_value,
            "spacing": d.spacing, "name": self.name, "dims": self.dims,
            "coords": {k: [_plain(v) for v in values] for k, values in self.coords.items()},
            "model": self._model_text, "version": _library.version(),
            "part": self._part, "kept": self._kept,
        }  # fmt: skip
        partial = f"{name}.partial"
        try:
            with open(partial, "wb") as file:
                np.savez_compressed(
                    file, x=self.levels, logp=self.logp, acceptance_rate=self.acceptance_rate,
                    saltus=np.array(json.dumps(about)), stats=np.array(json.dumps(self.stats)),
                )  # fmt: skip
            os.replace(partial, name)
        except OSError as e:
            raise FileError(f"cannot write {name}: {e.strerror}") from None

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["_values"] = state["_state"] = None
        if isinstance(state["_levels"], np.memmap):  # the copy holds its draws
            state["_levels"] = np.array(state["_levels"])
        return state


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def load(path: str | os.PathLike[str]) -> Result:
    """A result that `Result.save` wrote as FILE.npz."""
    name = os.fspath(path)
    try:
        with np.load(name, allow_pickle=False) as file:
            about = json.loads(str(file["saltus"]))
            stats = json.loads(str(file["stats"]))
            arrays = file["x"], file["logp"], file["acceptance_rate"]
    except OSError as e:
        raise FileError(f"cannot read {name}: {e.strerror or e}") from None
    except (KeyError, ValueError):
        raise DataError(f"{name} holds no draws that Result.save wrote") from None
    levels = about["levels"]
    domain = Domain(
        about["kind"], tuple(about["shape"]),
        levels if isinstance(levels, int) else tuple(levels), about["first_value"], about["spacing"],
    )  # fmt: skip
    coords = {k: [_models_label(v) for v in values] for k, values in about["coords"].items()}
    result = Result(
        domain, stats, *arrays, name=about["name"], dims=about["dims"], coords=coords,
        model_text=about["model"],
    )  # fmt: skip
    result._part = tuple(about["part"]) if about.get("part") else None
    result._kept = about.get("kept")
    return result


def _models_label(label: Any) -> Any:
    return tuple(label) if isinstance(label, list) else label


def warn_of(result: Result) -> None:
    """Each warning of a result as a Python warning, where the caller's line is shown."""
    for sentence in result.warnings:
        python_warnings.warn(sentence, SaltusWarning, stacklevel=4)


