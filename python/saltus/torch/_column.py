"""What a target in PyTorch has to return."""

from __future__ import annotations

from typing import Any

from .._errors import DataError, missing

try:
    import torch
except ImportError:
    raise missing("saltus.torch", "PyTorch", "torch") from None


def column(out: Any, rows: int, states: Any) -> Any:
    """log p as (rows,). Refuses other shapes."""
    if not isinstance(out, torch.Tensor):
        raise DataError(f"the target returned {type(out).__name__}; expected a tensor of log p")
    if tuple(out.shape) != (rows,):
        hint = ": squeeze the last dimension" if tuple(out.shape) == (rows, 1) else ""
        raise DataError(
            f"the target returned shape {tuple(out.shape)} for states of shape {tuple(states.shape)};"
            f" expected ({rows},){hint}"
        )
    return out
