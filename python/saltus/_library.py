"""libsaltus_c by ctypes: signatures, options and results as JSON, and errors as exceptions."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import weakref
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_size_t, c_uint64, c_void_p
from typing import Any, Callable

from . import _errors

ABI = 2
OK, STOPPED, CALLBACK = 0, 1, 75


class Status(ctypes.Structure):
    """saltus_status of c.h."""

    _fields_ = [
        ("stage", c_char_p),
        ("done", c_double),
        ("step", c_uint64),
        ("steps", c_uint64),
        ("seconds", c_double),
        ("steps_per_second", c_double),
        ("acceptance_rate", c_double),
        ("best", c_double),
    ]


class Arrays(ctypes.Structure):
    """saltus_arrays of c.h."""

    _fields_ = [
        (name, c_void_p)
        for name in (
            "levels", "bytes", "logp", "acceptance", "mean", "sd", "mcse", "ess_bulk", "rhat", "start",
        )
    ]  # fmt: skip


Function = ctypes.CFUNCTYPE(c_int, c_void_p, c_int32, c_void_p, c_void_p, c_void_p)
Progress = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Status))

_MODEL = c_void_p
_OUT = POINTER(c_void_p)

# As in include/saltus/c.h, with which a test compares them.
SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "saltus_abi": (c_int32, []),
    "saltus_version": (c_char_p, []),
    "saltus_last_error": (c_char_p, []),
    "saltus_free": (None, [c_void_p]),
    "saltus_model_load": (c_int, [c_char_p, c_char_p, _OUT]),
    "saltus_model_parse": (c_int, [c_char_p, c_char_p, _OUT]),
    "saltus_model_ising": (
        c_int, [c_int32, c_size_t, c_void_p, c_void_p, c_void_p, c_void_p, _OUT]),
    "saltus_model_quadratic": (
        c_int, [c_int32, c_int32, c_size_t, c_void_p, c_void_p, c_void_p, c_void_p, _OUT]),
    "saltus_model_rbm": (c_int, [c_int32, c_int32, c_void_p, c_void_p, c_void_p, _OUT]),
    "saltus_model_function": (c_int, [c_char_p, c_char_p, c_int, Function, c_void_p, _OUT]),
    "saltus_model_restrict": (c_int, [_MODEL, c_char_p, _OUT]),
    "saltus_model_free": (None, [_MODEL]),
    "saltus_model_info": (c_int, [_MODEL, _OUT]),
    "saltus_model_samplers": (c_int, [_MODEL, _OUT]),
    "saltus_model_text": (c_int, [_MODEL, _OUT]),
    "saltus_model_write": (c_int, [_MODEL, c_char_p]),
    "saltus_model_logp": (c_int, [_MODEL, c_size_t, c_void_p, c_void_p, c_void_p]),
    "saltus_sample": (c_int, [_MODEL, c_char_p, POINTER(Arrays), Progress, c_void_p, _OUT]),
    "saltus_sample_on": (
        c_int,
        [_MODEL, c_char_p, c_void_p, POINTER(Arrays), Progress, c_void_p, _OUT, _OUT]),
    "saltus_state_free": (None, [c_void_p]),
    "saltus_chain_ranges": (c_int, [_MODEL, c_char_p, _OUT]),
    "saltus_langevin_propose": (
        c_int, [c_int32, c_int32, c_int, c_double, c_uint64] + [c_void_p] * 4),
    "saltus_langevin_choose": (
        c_int, [c_int32, c_int32, c_int, c_double, c_uint64] + [c_void_p] * 11),
    "saltus_chains_new": (c_int, [_MODEL, c_char_p, c_void_p, _OUT]),
    "saltus_chains_tune": (c_int, [c_void_p, c_uint64]),
    "saltus_chains_step": (c_int, [c_void_p, c_uint64]),
    "saltus_chains_states": (c_int, [c_void_p, c_void_p, c_void_p]),
    "saltus_chains_info": (c_int, [c_void_p, _OUT]),
    "saltus_chains_free": (None, [c_void_p]),
    "saltus_checkpoint_info": (c_int, [c_char_p, _OUT]),
    "saltus_summarise": (
        c_int,
        [c_char_p, c_int32, c_uint64, c_void_p, c_int32, c_int32] + [c_void_p] * 6),
    "saltus_summarise_levels": (
        c_int,
        [c_char_p, c_int32, c_uint64, c_void_p, c_int32, c_int32] + [c_void_p] * 4),
    "saltus_mixing": (
        c_int,
        [c_char_p, c_int32, c_uint64, c_void_p, c_int32, c_void_p, c_int32, _OUT]),
    "saltus_logz": (
        c_int, [_MODEL, c_char_p, c_size_t, c_void_p, Progress, c_void_p, _OUT]),
    "saltus_verify": (c_int, [_MODEL, c_char_p, Progress, c_void_p, _OUT]),
    "saltus_compare": (c_int, [_MODEL, c_char_p, Progress, c_void_p, _OUT]),
    "saltus_anneal": (c_int, [_MODEL, c_char_p, Progress, c_void_p, _OUT]),
    "saltus_certify": (c_int, [_MODEL, c_char_p, Progress, c_void_p, _OUT]),
    "saltus_learn": (
        c_int,
        [c_char_p, c_size_t, c_int32, c_void_p, c_void_p, c_size_t, Progress, c_void_p, _OUT, _OUT]),
    "saltus_learned_parameters": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "saltus_learned_state": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "saltus_learned_free": (None, [c_void_p]),
    "saltus_exact": (c_int, [_MODEL, c_char_p, _OUT]),
    "saltus_built_in_models": (c_int, [_OUT]),
    "saltus_samplers": (c_int, [_OUT]),
}  # fmt: skip


def _file() -> str:
    named = os.environ.get("SALTUS_LIBRARY")
    if named:
        return named
    return str(pathlib.Path(__file__).with_name("libsaltus_c.so"))


def _load() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(_file())
    except OSError as e:
        raise _errors.MissingError(
            f"saltus's library cannot be loaded ({e}): install the wheel, or name a build of it in"
            " the environment variable SALTUS_LIBRARY"
        ) from None
    for name, (result, arguments) in SIGNATURES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise _errors.MissingError(f"{_file()} has no {name}: it is of another saltus") from None
        function.restype, function.argtypes = result, arguments
    if library.saltus_abi() != ABI:
        raise _errors.MissingError(
            f"{_file()} has version {library.saltus_abi()} of the C interface; expected {ABI}"
        )
    return library


lib = _load()


def version() -> str:
    return str(lib.saltus_version().decode())


def _sentence() -> str:
    return str(lib.saltus_last_error().decode("utf-8", "replace"))


_KINDS: dict[int, type[_errors.Error]] = {
    64: _errors.UsageError,
    65: _errors.DataError,
    66: _errors.FileError,
    73: _errors.FileError,
    CALLBACK: _errors.ComputationError,
}


def check(status: int) -> int:
    """The status, where it is that of a call that worked; otherwise its exception."""
    if status in (OK, STOPPED):
        return status
    if status == 71:
        raise MemoryError(_sentence())
    raise _KINDS.get(status, _errors.Error)(_sentence())


def take_json(pointer: c_void_p) -> Any:
    """The JSON text at a pointer that the library has filled, which is freed."""
    try:
        text = ctypes.string_at(pointer.value or 0)
    finally:
        lib.saltus_free(pointer)
    return json.loads(text)


def ask(function: Callable[..., int], *arguments: Any) -> Any:
    """Calls a function whose last argument takes JSON."""
    out = c_void_p()
    check(function(*arguments, ctypes.byref(out)))
    return take_json(out)


def options_text(options: dict[str, Any]) -> bytes:
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return json.dumps(given, allow_nan=False, default=lambda v: v.item()).encode()
    except (TypeError, ValueError, AttributeError) as e:
        raise _errors.UsageError(f"an option is no number, text or list: {e}") from None


class Handle:
    """Something of the library's: freed with the object, and refused in other processes."""

    def __init__(self, address: int, free: Callable[[int], Any], what: str):
        self.address, self._what, self._pid = address, what, os.getpid()
        weakref.finalize(self, _free, free, address, self._pid).atexit = False

    def get(self) -> int:
        if os.getpid() != self._pid:
            raise _errors.UsageError(
                f"the {self._what} was made in process {self._pid}: make a new one in this one"
            )
        return self.address


def _free(free: Callable[[int], Any], address: int, pid: int) -> None:
    if os.getpid() == pid:  # what another process made is that one's to free
        free(address)


def pointer(array: Any) -> int | None:
    """Where a NumPy array begins; None for none."""
    return None if array is None else int(array.ctypes.data)
