"""What every model can do, and models from files."""

from __future__ import annotations

import copy
import ctypes
import json
import os
from typing import TYPE_CHECKING, Any, Callable

import numpy as np
import numpy.typing as npt

from . import _domain, _library
from ._domain import Array, Domain
from ._errors import ComputationError, DataError, UsageError
from ._library import lib, pointer

if TYPE_CHECKING:
    from ._functions import Slot

Floats = npt.NDArray[np.float64]
Maker = tuple[Callable[..., "Model"], tuple[Any, ...]]


class Model:
    """A distribution to draw from. Made by `ising`, `model`, `function` and the others."""

    def __init__(self, handle: int, maker: Maker | None = None, callback: Slot | None = None):
        self._handle = _library.Handle(handle, lib.saltus_model_free, "model")
        self._maker = maker
        self._callback = callback
        self._c_function: Any = None
        info = _library.ask(lib.saltus_model_info, self.handle)
        self.name: str = info["name"]
        self.domain: Domain = callback.domain if callback else _domain.of_info(info)
        self.labels: list[Any] = [_hashable(v) for v in info["labels"]]
        self.objective: dict[str, Any] | None = info["objective"]
        self._score_size: int = info["score_size"]
        self._axes: list[str] | None = None  # what the dimensions are called
        # Levels of the coordinates that are given, and the rule that all of them keep.
        self.given: dict[int, int] = {int(i): int(k) for i, k in info.get("given", {}).items()}
        self.constraint: str | None = info.get("constraint")
        self._unrestricted: Model | None = None

    @property
    def handle(self) -> int:
        return self._handle.get()

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
        return self.call_with(function, self.handle, *arguments)

    def call_with(self, function: Callable[..., int], *arguments: Any) -> int:
        """The same where the first argument is something else that evaluates the model."""
        slot = self._callback
        try:
            return _library.check(function(*arguments))
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

    def restrict(self, *, given: Any = None, constrain: str | None = None) -> Model:
        """The law of some coordinates given the others, among the states that keep a rule, or both.

        given: a mapping from coordinates (numbers, places in the model's shape, or labels) to
        values; an array of the model's shape, NaN or masked where it is free; or a text or file as
        the program's --given takes it. constrain: "sum=3", "sum=2..4", "parity=even" or
        "one-hot=0-3,4-7". Draws and summaries have all coordinates as before.
        """
        from ._restrict import given_text

        text = given_text(self, given)
        if not text and not constrain:
            return self
        options = _library.options_text({"given": text or None, "constrain": constrain})
        made = made_by(
            lib.saltus_model_restrict, self.handle, options,
            maker=(_restricted, (self, text, constrain)), callback=self._callback,
        )  # fmt: skip
        made._unrestricted, made._c_function = self, self._c_function
        made.labels, made._axes = self.labels, self._axes
        return made

    def __repr__(self) -> str:
        size = " x ".join(str(n) for n in self.shape)
        rule = f", {self.constraint}" if self.constraint else ""
        known = f", {len(self.given)} of them given" if self.given else ""
        return f"<saltus model {self.name}, {self.dim} coordinates ({size}){known}{rule}, {self.domain.kind}>"

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


def made_by(
    function: Callable[..., int], *arguments: Any, maker: Maker | None, callback: Slot | None = None
) -> Model:
    out = ctypes.c_void_p()
    _library.check(function(*arguments, ctypes.byref(out)))
    assert out.value is not None
    return Model(out.value, maker, callback)


def _restricted(whole: Model, given: str, constrain: str | None) -> Model:
    return whole.restrict(given=given or None, constrain=constrain)


def _parse(text: str, name: str) -> Model:
    return made_by(lib.saltus_model_parse, text.encode(), name.encode(), maker=None)


def from_json(maker: Callable[..., Model], arguments: tuple[Any, ...], **fields: Any) -> Model:
    text = json.dumps(fields, allow_nan=False)
    return made_by(
        lib.saltus_model_parse, text.encode(), str(fields["model"]).encode(), maker=(maker, arguments)
    )


def model(file_or_name: str | os.PathLike[str], **options: Any) -> Model:
    """A model file, a problem file or a built-in name (`models`).

    Options are those of problem files: format, beta, maximise, vartype, problem, penalty, colours,
    parts, hard.
    """
    text = _library.options_text(options)
    return made_by(lib.saltus_model_load, os.fsencode(file_or_name), text, maker=None)


def models() -> dict[str, str]:
    """The built-in models: what each name stands for."""
    return {m["name"]: m["summary"] for m in _library.ask(lib.saltus_built_in_models)}


def samplers() -> dict[str, str]:
    """All samplers: what each name stands for."""
    return {s["name"]: s["summary"] for s in _library.ask(lib.saltus_samplers)}


