"""Models by formula: Ising, quadratic, Potts, restricted Boltzmann machines and others."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from . import _arrays
from ._arrays import Triplets, numbers
from ._domain import Array
from ._library import lib, pointer
from ._models import Maker, Model, from_json, made_by


def ising(J: Any, h: Any = None, *, coupling: str | float = "weight") -> Model:
    """Spins on any graph: log p(s) = sum over pairs i < j of J_ij s_i s_j + sum h_i s_i.

    J: a symmetric matrix, each of whose pairs counts once, or a triangular one, dense or sparse; or
    a networkx graph, whose edges have the attribute `coupling` (a number: the same for all). h: a
    number, a list, or a mapping from coordinates or nodes.
    """
    entries = Triplets("J", J, coupling)
    entries.each_pair_once("J")
    fields = _arrays.fields("h", h, entries.n, entries.index)
    made = ising_of(entries.n, entries.i, entries.j, entries.weight, fields)
    if entries.index is not None:
        made.labels, made._axes = list(entries.index), ["node"]
        assert made._maker is not None
        made._maker = (labelled, (made._maker, made.labels))
    return made


def ising_of(n: int, i: Array, j: Array, weight: Array, fields: Array) -> Model:
    return made_by(
        lib.saltus_model_ising, n, len(weight), pointer(i), pointer(j), pointer(weight),
        pointer(fields), maker=(ising_of, (n, i, j, weight, fields)),
    )  # fmt: skip


def labelled(maker: Maker, labels: list[Any]) -> Model:
    make, arguments = maker
    made = make(*arguments)
    made.labels, made._axes = labels, ["node"]
    made._maker = (labelled, (maker, labels))
    return made


def quadratic(A: Any, b: Any = None, *, levels: int = 2) -> Model:
    """Ordered levels 0, 1, ...: log p(x) = sum_ij A_ij x_i x_j + sum b_i x_i, diagonal included."""
    entries = Triplets("A", A)
    fields = _arrays.fields("b", b, entries.n)
    return quadratic_of(entries.n, levels, entries.i, entries.j, entries.weight, fields)


def quadratic_of(n: int, levels: int, i: Array, j: Array, weight: Array, fields: Array) -> Model:
    return made_by(
        lib.saltus_model_quadratic, n, levels, len(weight), pointer(i), pointer(j), pointer(weight),
        pointer(fields), maker=(quadratic_of, (n, levels, i, j, weight, fields)),
    )  # fmt: skip


def rbm(W: Any, *, visible_bias: Any = None, hidden_bias: Any = None) -> Model:
    """A restricted Boltzmann machine: log p(x) = sum_h softplus((W x + c)_h) + b'x.

    W: a row for each hidden unit.
    """
    weights = numbers("W", W, 2)
    b = _arrays.fields("visible_bias", visible_bias, weights.shape[1])
    c = _arrays.fields("hidden_bias", hidden_bias, weights.shape[0])
    return _rbm(weights, b, c)


def _rbm(weights: Array, b: Array, c: Array) -> Model:
    hidden, visible = weights.shape
    return made_by(
        lib.saltus_model_rbm, hidden, visible, pointer(weights), pointer(b), pointer(c),
        maker=(_rbm, (weights, b, c)),
    )  # fmt: skip


def lattice(shape: Sequence[int], a: float, b: float = 0.0, *, periodic: bool = False) -> Model:
    """Spins on a lattice: log p(s) = a s'Ws + b sum s. Each edge counts twice."""
    sides = [int(n) for n in shape]
    a, b = float(numbers("a", a)), float(numbers("b", b))
    return from_json(
        _lattice, (sides, a, b, periodic),
        model="ising-lattice", shape=sides, periodic=bool(periodic), a=a, b=b,
    )  # fmt: skip


def _lattice(shape: Sequence[int], a: float, b: float, periodic: bool) -> Model:
    return lattice(shape, a, b, periodic=periodic)


def bernoulli(logits: Any) -> Model:
    """Independent bits: log p(x) = sum logits_i x_i."""
    given = numbers("logits", logits, 1)
    return from_json(bernoulli, (given,), model="bernoulli", logits=given.tolist())


def poisson(rates: Any) -> Model:
    """Independent counts with these means."""
    given = numbers("rates", rates, 1)
    return from_json(poisson, (given,), model="poisson", rate=given.tolist())


def potts(unary: Any, pairs: Mapping[tuple[int, int], Any] | None = None) -> Model:
    """Unordered levels: log p(c) = sum unary_i[c_i] + sum over pairs (i, j) of table[c_i][c_j].

    unary: a row of numbers for each coordinate, one for each of its levels.
    """
    rows = [numbers(f"unary[{i}]", row, 1).tolist() for i, row in enumerate(unary)]
    edges = []
    for place, table in (pairs or {}).items():
        i, j = place
        edges.append(
            {"between": [int(i), int(j)], "table": numbers(f"pairs[{i}, {j}]", table, 2).tolist()}
        )
    return from_json(
        potts, (unary, pairs), model="potts", levels=[len(row) for row in rows], unary=rows,
        pairwise=edges,
    )  # fmt: skip
