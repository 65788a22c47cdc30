"""Models: built in, from files, from arrays and graphs, and from callables."""

from __future__ import annotations

import copy
import ctypes
import json
import math
import os
import weakref
from typing import Any, Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from . import _domain, _library
from ._domain import Array, Domain
from ._errors import ComputationError, DataError, UsageError
from ._library import lib, pointer

Floats = npt.NDArray[np.float64]
Maker = tuple[Callable[..., "Model"], tuple[Any, ...]]


def _free(handle: int, pid: int) -> None:
    if os.getpid() == pid:  # what another process made is that one's to free
        lib.saltus_model_free(handle)


class Model:
    """A distribution to draw from. Made by `ising`, `model`, `function` and the others."""

    def __init__(self, handle: int, maker: Maker | None = None, callback: _Slot | None = None):
        self._handle = handle
        self._pid = os.getpid()
        self._maker = maker
        self._callback = callback
        self._c_function: Any = None
        weakref.finalize(self, _free, handle, self._pid).atexit = False
        info = _library.ask(lib.saltus_model_info, self.handle)
        self.name: str = info["name"]
        self.domain: Domain = callback.domain if callback else _domain.of_info(info)
        self.labels: list[Any] = [_hashable(v) for v in info["labels"]]
        self.objective: dict[str, Any] | None = info["objective"]
        self._score_size: int = info["score_size"]
        self._axes: list[str] | None = None  # what the dimensions are called

    @property
    def handle(self) -> int:
        if os.getpid() != self._pid:
            raise UsageError(f"the model was made in process {self._pid}: make a new one in this one")
        return self._handle

    @property
    def dim(self) -> int:
        return self.domain.dim

    @property
    def shape(self) -> tuple[int, ...]:
        return self.domain.shape

    @property
    def samplers(self) -> list[str]:
        """The names of the samplers that run on it."""
        names: list[str] = _library.ask(lib.saltus_model_samplers, self.handle)
        return names

    def logp(self, x: Any) -> Any:
        """log p, up to a constant: of one state a number, of rows of states an array."""
        logp, _, single = self._evaluate(x, False)
        return float(logp[0]) if single else logp

    def score(self, x: Any) -> Array:
        """The gradient of log p: with respect to the values, or to the one-hot entries of
        categorical coordinates, of which there is one for each level."""
        _, score, single = self._evaluate(x, True)
        assert score is not None
        shape = self.shape
        if self._score_size != self.dim:
            levels = self.domain.levels
            shape = (*shape, levels) if isinstance(levels, int) else (self._score_size,)
        return score.reshape(shape) if single else score.reshape(len(score), *shape)

    def _evaluate(self, x: Any, want_score: bool) -> tuple[Floats, Floats | None, bool]:
        levels, single = self.domain.to_levels(x)
        logp = np.empty(len(levels))
        score = np.empty((len(levels), self._score_size)) if want_score else None
        self.call(
            lib.saltus_model_logp, len(levels), pointer(levels), pointer(logp), pointer(score)
        )
        return logp, score, single

    def call(self, function: Callable[..., int], *arguments: Any) -> int:
        """Calls the library for this model, and raises what the model's own callable raised."""
        slot = self._callback
        try:
            return _library.check(function(self.handle, *arguments))
        except ComputationError:
            if slot is None or slot.error is None:
                raise
            cause, slot.error = slot.error, None
            if not isinstance(cause, Exception) or isinstance(cause, DataError):
                raise cause from None  # KeyboardInterrupt; a sentence of ours
            raise ComputationError(
                f"the target {self.name} has failed: {type(cause).__name__}: {cause}"
            ) from cause
        finally:
            if slot is not None:
                slot.error = None

    @property
    def text(self) -> str:
        """The JSON of its model file."""
        out = ctypes.c_void_p()
        _library.check(lib.saltus_model_text(self.handle, ctypes.byref(out)))
        try:
            return ctypes.string_at(out.value or 0).decode()
        finally:
            lib.saltus_free(out)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, or a problem file where the name ends as one of these does."""
        _library.check(lib.saltus_model_write(self.handle, os.fsencode(path)))

    def exact(self, memory: int | None = None) -> Exact:
        """log Z, the probability of every level and the best state, where that is possible."""
        out = ctypes.c_void_p()
        options = _library.options_text({"memory": memory})
        self.call(lib.saltus_exact, options, ctypes.byref(out))
        return Exact(self.domain, _library.take_json(out))

    def __repr__(self) -> str:
        size = " x ".join(str(n) for n in self.shape)
        return f"<saltus model {self.name}, {self.dim} coordinates ({size}), {self.domain.kind}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._maker is None:
            return _parse, (self.text, self.name)
        return self._maker

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        make, arguments = self.__reduce__()[:2]
        made: Model = make(*copy.deepcopy(arguments, memo))
        return made


class Exact:
    """An exact answer: `log_z`, `marginals`, `mean` and, by elimination, `best` and `best_logp`."""

    def __init__(self, domain: Domain, answer: dict[str, Any]):
        self.log_z: float = answer["log_z"]
        self.stats = answer
        self.marginals: list[Floats] | None = None
        if "marginals" in answer:
            self.marginals = [np.asarray(p) for p in answer["marginals"]]
        self.best: Array | None = None
        self.best_logp: float | None = None
        if "best" in answer:
            best = np.asarray(answer["best"]["state"], dtype=np.uint16).reshape(domain.shape)
            self.best, self.best_logp = domain.to_values(best), answer["best"]["logp"]
        if "mean" in answer:
            means = np.asarray(answer["mean"], dtype=float)
        else:
            values = [domain.first_value + domain.spacing * np.arange(len(p)) for p in self.marginals or []]
            means = np.array([p @ v for p, v in zip(self.marginals or [], values)])
        self.mean: Floats = means.reshape(domain.shape)

    def __repr__(self) -> str:
        return f"<exact answer: log Z = {self.log_z:.10g}>"


def _hashable(label: Any) -> Any:
    return tuple(_hashable(v) for v in label) if isinstance(label, list) else label


def _made(
    function: Callable[..., int], *arguments: Any, maker: Maker | None, callback: _Slot | None = None
) -> Model:
    out = ctypes.c_void_p()
    _library.check(function(*arguments, ctypes.byref(out)))
    assert out.value is not None
    return Model(out.value, maker, callback)


def _parse(text: str, name: str) -> Model:
    return _made(lib.saltus_model_parse, text.encode(), name.encode(), maker=None)


def _from_json(maker: Callable[..., Model], arguments: tuple[Any, ...], **fields: Any) -> Model:
    text = json.dumps(fields, allow_nan=False)
    return _made(
        lib.saltus_model_parse, text.encode(), str(fields["model"]).encode(), maker=(maker, arguments)
    )


def model(file_or_name: str | os.PathLike[str], **options: Any) -> Model:
    """A model file, a problem file or a built-in name (`models`).

    Options are those of problem files: format, beta, maximise, vartype, problem, penalty, colours,
    parts.
    """
    text = _library.options_text(options)
    name = os.fspath(file_or_name)
    made = _made(lib.saltus_model_load, os.fsencode(name), text, maker=None)
    return made


def models() -> dict[str, str]:
    """The built-in models: what each name stands for."""
    return {m["name"]: m["summary"] for m in _library.ask(lib.saltus_built_in_models)}


def samplers() -> dict[str, str]:
    """All samplers: what each name stands for."""
    return {s["name"]: s["summary"] for s in _library.ask(lib.saltus_samplers)}


def _numbers(name: str, values: Any, ndim: int | None = None) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} is no array of numbers") from None
    if ndim is not None and array.ndim != ndim:
        raise DataError(f"{name} has shape {array.shape}; expected {ndim} dimension{'s'[: ndim > 1]}")
    if not np.isfinite(array).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        at = "".join(f"[{k}]" for k in place)
        raise DataError(f"{name}{at} is {array[place]}, not a finite number")
    return np.ascontiguousarray(array) if array.ndim else array


def _fields(name: str, h: Any, n: int, index: Mapping[Any, int] | None = None) -> Floats:
    """A number for each coordinate: from one number, a list, or a mapping."""
    if h is None:
        return np.zeros(n)
    if isinstance(h, Mapping):
        fields = np.zeros(n)
        for node, value in h.items():
            i = index.get(node) if index is not None else node
            if not isinstance(i, (int, np.integer)) or not 0 <= i < n:
                raise DataError(f"{name} has an entry for {node!r}, which is no coordinate")
            fields[i] = value
        return _numbers(name, fields)
    given = _numbers(name, h)
    if given.ndim == 0:
        return np.full(n, float(given))
    if given.size != n:
        raise DataError(f"{name} has {given.size} entries; there are {n} coordinates")
    return given.reshape(n)


class _Triplets:
    """The entries of a matrix: dense, sparse, or of a graph."""

    def __init__(self, name: str, matrix: Any, coupling: str | float = "weight"):
        self.index: dict[Any, int] | None = None  # of a graph's nodes
        if hasattr(matrix, "nodes") and hasattr(matrix, "edges"):
            self._of_graph(matrix, coupling)
        elif hasattr(matrix, "tocoo"):
            coo = matrix.tocoo(copy=True)
            coo.sum_duplicates()
            self._check_square(name, coo.shape)
            self.n = int(coo.shape[0])
            self.i, self.j = coo.row.astype(np.int32), coo.col.astype(np.int32)
            self.weight = _numbers(name, coo.data)
        else:
            dense = _numbers(name, matrix)
            self._check_square(name, dense.shape)
            self.n = len(dense)
            rows, columns = np.nonzero(dense)
            self.i, self.j = rows.astype(np.int32), columns.astype(np.int32)
            self.weight = np.ascontiguousarray(dense[rows, columns])

    @staticmethod
    def _check_square(name: str, shape: tuple[int, ...]) -> None:
        if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
            raise DataError(f"{name} has shape {tuple(shape)}; expected a square matrix")

    def _of_graph(self, graph: Any, coupling: str | float) -> None:
        if graph.is_directed() or graph.is_multigraph():
            kind = "directed" if graph.is_directed() else "with parallel edges"
            raise DataError(f"the graph is {kind}; expected an undirected one, each edge once")
        self.index = {node: k for k, node in enumerate(graph.nodes)}
        self.n = len(self.index)
        if self.n == 0:
            raise DataError("the graph has no nodes")
        rows, columns, weights = [], [], []
        for a, b, data in graph.edges(data=True):
            if isinstance(coupling, str):
                if coupling not in data:
                    raise DataError(f"the edge ({a!r}, {b!r}) has no attribute {coupling!r}")
                w = data[coupling]
            else:
                w = coupling
            rows.append(self.index[a])
            columns.append(self.index[b])
            weights.append(w)
        self.i, self.j = np.array(rows, np.int32), np.array(columns, np.int32)
        self.weight = _numbers(f"coupling {coupling!r}", weights)

    def each_pair_once(self, name: str) -> None:
        """Keeps one of the two entries of a symmetric matrix, or all of a triangular one."""
        loops = np.flatnonzero((self.i == self.j) & (self.weight != 0))
        if loops.size:
            k = int(loops[0])
            raise DataError(
                f"{name}[{self.i[k]}][{self.i[k]}] is {self.weight[k]}: a spin is not coupled to itself"
            )
        keep = self.i != self.j
        i, j, weight = self.i[keep], self.j[keep], self.weight[keep]
        upper = i < j
        if upper.any() and not upper.all():
            low, high = np.minimum(i, j), np.maximum(i, j)
            order = np.lexsort((upper, high, low))
            low, high, weight, upper = low[order], high[order], weight[order], upper[order]
            twin = np.zeros(len(low), bool)
            twin[:-1] = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
            partner = np.roll(twin, 1)
            alone = np.flatnonzero(~(twin | partner) & (weight != 0))
            if alone.size:
                k = int(alone[0])
                a, b = (low[k], high[k]) if upper[k] else (high[k], low[k])
                raise DataError(
                    f"{name}[{a}][{b}] is {weight[k]}, but {name}[{b}][{a}] is 0: expected a"
                    " symmetric matrix or a triangular one"
                )
            first = np.flatnonzero(twin)
            different = first[~np.isclose(weight[first], weight[first + 1], rtol=1e-12, atol=0)]
            if different.size:
                k = int(different[0])
                raise DataError(
                    f"{name}[{low[k]}][{high[k]}] is {weight[k + 1]}, but"
                    f" {name}[{high[k]}][{low[k]}] is {weight[k]}: expected a symmetric matrix or a"
                    " triangular one"
                )
            i, j, weight = low[first], high[first], weight[first]
        self.i, self.j = np.ascontiguousarray(i), np.ascontiguousarray(j)
        self.weight = np.ascontiguousarray(weight)


def ising(J: Any, h: Any = None, *, coupling: str | float = "weight") -> Model:
    """Spins on any graph: log p(s) = sum over pairs i < j of J_ij s_i s_j + sum h_i s_i.

    J: a symmetric matrix, each of whose pairs counts once, or a triangular one, dense or sparse; or
    a networkx graph, whose edges have the attribute `coupling` (a number: the same for all). h: a
    number, a list, or a mapping from coordinates or nodes.
    """
    entries = _Triplets("J", J, coupling)
    entries.each_pair_once("J")
    fields = _fields("h", h, entries.n, entries.index)
    made = _ising(entries.n, entries.i, entries.j, entries.weight, fields)
    if entries.index is not None:
        made.labels, made._axes = list(entries.index), ["node"]
        assert made._maker is not None
        made._maker = (_labelled, (made._maker, made.labels))
    return made


def _ising(n: int, i: Array, j: Array, weight: Array, fields: Array) -> Model:
    return _made(
        lib.saltus_model_ising, n, len(weight), pointer(i), pointer(j), pointer(weight),
        pointer(fields), maker=(_ising, (n, i, j, weight, fields)),
    )  # fmt: skip


def _labelled(maker: Maker, labels: list[Any]) -> Model:
    make, arguments = maker
    made = make(*arguments)
    made.labels, made._axes = labels, ["node"]
    made._maker = (_labelled, (maker, labels))
    return made


def quadratic(A: Any, b: Any = None, *, levels: int = 2) -> Model:
    """Ordered levels 0, 1, ...: log p(x) = sum_ij A_ij x_i x_j + sum b_i x_i, diagonal included."""
    entries = _Triplets("A", A)
    fields = _fields("b", b, entries.n)
    return _quadratic(entries.n, levels, entries.i, entries.j, entries.weight, fields)


def _quadratic(n: int, levels: int, i: Array, j: Array, weight: Array, fields: Array) -> Model:
    return _made(
        lib.saltus_model_quadratic, n, levels, len(weight), pointer(i), pointer(j), pointer(weight),
        pointer(fields), maker=(_quadratic, (n, levels, i, j, weight, fields)),
    )  # fmt: skip


def rbm(W: Any, *, visible_bias: Any = None, hidden_bias: Any = None) -> Model:
    """A restricted Boltzmann machine: log p(x) = sum_h softplus((W x + c)_h) + b'x.

    W: a row for each hidden unit.
    """
    weights = _numbers("W", W, 2)
    b = _fields("visible_bias", visible_bias, weights.shape[1])
    c = _fields("hidden_bias", hidden_bias, weights.shape[0])
    return _rbm(weights, b, c)


def _rbm(weights: Array, b: Array, c: Array) -> Model:
    hidden, visible = weights.shape
    return _made(
        lib.saltus_model_rbm, hidden, visible, pointer(weights), pointer(b), pointer(c),
        maker=(_rbm, (weights, b, c)),
    )  # fmt: skip


def lattice(shape: Sequence[int], a: float, b: float = 0.0, *, periodic: bool = False) -> Model:
    """Spins on a lattice: log p(s) = a s'Ws + b sum s. Each edge counts twice."""
    sides = [int(n) for n in shape]
    a, b = float(_numbers("a", a)), float(_numbers("b", b))
    return _from_json(
        _lattice, (sides, a, b, periodic),
        model="ising-lattice", shape=sides, periodic=bool(periodic), a=a, b=b,
    )  # fmt: skip


def _lattice(shape: Sequence[int], a: float, b: float, periodic: bool) -> Model:
    return lattice(shape, a, b, periodic=periodic)


def bernoulli(logits: Any) -> Model:
    """Independent bits: log p(x) = sum logits_i x_i."""
    given = _numbers("logits", logits, 1)
    return _from_json(bernoulli, (given,), model="bernoulli", logits=given.tolist())


def poisson(rates: Any) -> Model:
    """Independent counts with these means."""
    given = _numbers("rates", rates, 1)
    return _from_json(poisson, (given,), model="poisson", rate=given.tolist())


def potts(unary: Any, pairs: Mapping[tuple[int, int], Any] | None = None) -> Model:
    """Unordered levels: log p(c) = sum unary_i[c_i] + sum over pairs (i, j) of table[c_i][c_j].

    unary: a row of numbers for each coordinate, one for each of its levels.
    """
    rows = [_numbers(f"unary[{i}]", row, 1).tolist() for i, row in enumerate(unary)]
    edges = []
    for place, table in (pairs or {}).items():
        i, j = place
        edges.append(
            {"between": [int(i), int(j)], "table": _numbers(f"pairs[{i}, {j}]", table, 2).tolist()}
        )
    return _from_json(
        potts, (unary, pairs), model="potts", levels=[len(row) for row in rows], unary=rows,
        pairwise=edges,
    )  # fmt: skip


class _Slot:
    """The callable of a target, as the library calls it. Holds no model, so that no cycle does."""

    def __init__(self, domain: Domain, evaluate: Callable[[Array, bool], tuple[Any, Any]]):
        self.domain = domain
        self.evaluate = evaluate
        self.error: BaseException | None = None

    def call(self, _user: Any, rows: int, values: int, logp: int, score: int | None) -> int:
        try:
            dim = self.domain.dim
            x = _view(values, (rows, dim)).reshape(rows, *self.domain.shape)
            hot = self.domain.kind == "categorical"
            out_logp, out_score = self.evaluate(one_hot(x, self.domain) if hot else x, score is not None)
            _view(logp, (rows,))[:] = _checked(out_logp, (rows,), x.shape)
            if score is not None:
                size = dim * (self.domain.max_levels if hot else 1)
                shape = (*x.shape, self.domain.max_levels) if hot else x.shape
                got = np.asarray(out_score, dtype=np.float64)
                if got.shape != shape and got.shape != (rows, size):
                    raise DataError(
                        f"the gradient has shape {got.shape} for states of shape {x.shape};"
                        f" expected {shape}"
                    )
                _view(score, (rows, size))[:] = got.reshape(rows, size)
            return 0
        except BaseException as e:  # raised again after the call
            self.error = e
            return _library.CALLBACK


def _view(address: int, shape: tuple[int, ...]) -> Floats:
    size = math.prod(shape)
    buffer: Any = (ctypes.c_double * size).from_address(address)
    view: Floats = np.frombuffer(buffer, dtype=np.float64).reshape(shape)
    return view


def one_hot(x: Array, domain: Domain) -> Floats:
    """Level indices as rows of zeros and a one."""
    return np.asarray(np.eye(domain.max_levels)[x.astype(np.intp)])


def _checked(logp: Any, shape: tuple[int, ...], states: tuple[int, ...]) -> Floats:
    got = np.asarray(logp, dtype=np.float64)
    if got.shape != shape:
        hint = ": squeeze the last dimension" if got.shape == (*shape, 1) else ""
        raise DataError(
            f"the target returned shape {got.shape} for states of shape {states}; expected"
            f" {shape}{hint}"
        )
    if np.isposinf(got).any():
        raise DataError("the target returned log p = inf for a state; expected finite numbers or -inf")
    return got


def target(
    evaluate: Callable[[Array, bool], tuple[Any, Any]],
    domain: Domain,
    *,
    gradient: bool = True,
    name: str = "function",
    maker: Maker | None = None,
) -> Model:
    """A model from evaluate(x, want_score) -> (logp, score). `function` and the modules for torch
    and JAX are made of it."""
    if not isinstance(domain, Domain):
        raise UsageError(f"domain is {domain!r}; expected one such as saltus.binary(10)")
    if domain.kind == "categorical" and not isinstance(domain.levels, int):
        raise UsageError("a callable needs the same number of levels at all coordinates")
    slot = _Slot(domain, evaluate)
    c_function = _library.Function(slot.call)
    made = _made(
        lib.saltus_model_function, domain.text(), name.encode(), int(gradient), c_function, None,
        maker=maker, callback=slot,
    )  # fmt: skip
    made._c_function = c_function  # lives as long as the model
    return made


def function(
    f: Callable[[Array], Any], domain: Domain, *, gradient: bool = True, name: str | None = None
) -> Model:
    """A target of your own: f(x) -> (log p, its gradient), or log p alone with gradient=False.

    x has rows of states as values in double precision, (rows, *shape); of categorical coordinates
    they are one-hot, (rows, *shape, levels), as is the gradient. Samplers that need a gradient are
    refused where there is none.
    """
    if not callable(f):
        raise UsageError(f"{f!r} cannot be called")

    def evaluate(x: Array, want_score: bool) -> tuple[Any, Any]:
        out = f(x)
        if not gradient:
            return out, None
        if not isinstance(out, tuple) or len(out) != 2:
            raise DataError(
                f"the target returned {type(out).__name__}; expected (log p, gradient), or give"
                " gradient=False"
            )
        return out

    label = str(name or getattr(f, "__name__", "function"))
    maker: Maker = (_function, (f, domain, gradient, label))
    return target(evaluate, domain, gradient=gradient, name=label.strip("<>"), maker=maker)


def _function(f: Callable[[Array], Any], domain: Domain, gradient: bool, name: str) -> Model:
    return function(f, domain, gradient=gradient, name=name)
