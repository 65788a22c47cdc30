"""Models that are callables: what the library calls, and what it gets."""

from __future__ import annotations

import ctypes
import math
from typing import Any, Callable, Union

import numpy as np

from . import _library
from ._arrays import Floats
from ._domain import Array, Domain
from ._errors import DataError, UsageError
from ._library import lib
from ._models import Maker, Model, made_by


_MOST_VIEWS = 64  # of the library's buffers, which are few while a run lasts

Views = tuple[Array, Floats, Union[Floats, None]]


class Slot:
    """The callable of a target, as the library calls it. Holds no model, so that no cycle does."""

    def __init__(self, domain: Domain, evaluate: Callable[[Array, bool], tuple[Any, Any]]):
        self.domain = domain
        self.evaluate = evaluate
        self.error: BaseException | None = None
        self._hot = domain.kind == "categorical"
        self._views: dict[tuple[int, int, int, int | None], Views] = {}

    def call(self, _user: Any, rows: int, values: int, logp: int, score: int | None) -> int:
        try:
            views = self._views.get((rows, values, logp, score)) or self._view(rows, values, logp, score)
            x, out_logp, out_score = views
            got, gradient = self.evaluate(one_hot(x, self.domain) if self._hot else x, score is not None)
            if type(got) is not np.ndarray or got.shape != out_logp.shape:
                got = _checked(got, out_logp.shape, x.shape)
            out_logp[:] = got
            if out_score is not None:
                if type(gradient) is not np.ndarray or gradient.shape != out_score.shape:
                    gradient = self._checked_gradient(gradient, out_score, x.shape)
                out_score[:] = gradient
            return 0
        except BaseException as e:  # raised again after the call
            self.error = e
            return _library.CALLBACK

    def _view(self, rows: int, values: int, logp: int, score: int | None) -> Views:
        """Arrays over the library's buffers. They come back, so that most calls find theirs."""
        if len(self._views) >= _MOST_VIEWS:
            self._views.clear()
        shape = (rows, *self.domain.shape)
        of_score = (*shape, self.domain.max_levels) if self._hot else shape
        views = self._views[rows, values, logp, score] = (
            _view(values, shape),
            _view(logp, (rows,)),
            None if score is None else _view(score, of_score),
        )
        return views

    def _checked_gradient(self, given: Any, out: Floats, states: tuple[int, ...]) -> Floats:
        got = np.asarray(given, dtype=np.float64)
        if got.shape == out.shape:
            return got
        if got.shape == (len(out), out.size // len(out)):
            return got.reshape(out.shape)
        raise DataError(
            f"the gradient has shape {got.shape} for states of shape {states}; expected {out.shape}"
        )


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
