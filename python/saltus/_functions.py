"""Models that are callables: what the library calls, and what it gets."""

from __future__ import annotations

import ctypes
import math
from typing import Any, Callable

import numpy as np

from . import _library
from ._arrays import Floats
from ._domain import Array, Domain
from ._errors import DataError, UsageError
from ._library import lib
from ._models import Maker, Model, made_by


class Slot:
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
    slot = Slot(domain, evaluate)
    c_function = _library.Function(slot.call)
    made = made_by(
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
