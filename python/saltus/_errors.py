"""What saltus raises. The sentences are the library's own."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Anything that saltus refuses; the text is a sentence for the user."""


class UsageError(Error, ValueError):
    """A request that cannot be served: an option, a parameter, a sampler that does not suit."""


class DataError(Error, ValueError):
    """Data that do not fit: a model, a file, a state."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class ComputationError(DataError):
    """A target's own code failed: ``__cause__`` is what it raised, ``result`` what there is."""

    result: Any = None


class MissingError(Error, ImportError):
    """Something that is not installed, with the command that installs it."""


class SaltusWarning(UserWarning):
    """What speaks against a result, one sentence each."""


def missing(what: str, needs: str, install: str) -> MissingError:
    return MissingError(f"{what} needs {needs}: pip install {install}")
