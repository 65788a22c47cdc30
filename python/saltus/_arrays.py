"""Numbers that a model is made of: from arrays, sparse matrices, mappings and graphs."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np
import numpy.typing as npt

from ._errors import DataError

Floats = npt.NDArray[np.float64]


def numbers(name: str, values: Any, ndim: int | None = None) -> Floats:
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


def fields(name: str, h: Any, n: int, index: Mapping[Any, int] | None = None) -> Floats:
    """A number for each coordinate: from one number, a list, or a mapping."""
    if h is None:
        return np.zeros(n)
    if isinstance(h, Mapping):
        listed = np.zeros(n)
        for node, value in h.items():
            i = index.get(node) if index is not None else node
            if not isinstance(i, (int, np.integer)) or not 0 <= i < n:
                raise DataError(f"{name} has an entry for {node!r}, which is no coordinate")
            listed[i] = value
        return numbers(name, listed)
    given = numbers(name, h)
    if given.ndim == 0:
        return np.full(n, float(given))
    if given.size != n:
        raise DataError(f"{name} has {given.size} entries; there are {n} coordinates")
    return given.reshape(n)


class Triplets:
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
            self.weight = numbers(name, coo.data)
        else:
            dense = numbers(name, matrix)
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
        self.weight = numbers(f"coupling {coupling!r}", weights)

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
