"""Two-level steps on tensors of the processor by the library's own passes over rows."""

from __future__ import annotations

from typing import Any

import torch

from .._library import check, lib


def step(
    x: Any, logp: Any, score: Any, evaluate: Any, size: float, spin: bool, generator: Any,
    chances: Any, changes: Any, adjusted: bool,
) -> tuple[Any, Any, Any, Any, Any]:  # fmt: skip
    """As Stepper._transition. The generator gives each step a seed of its own."""
    rows = len(x)
    dim = x.numel() // rows
    seed = int(torch.randint(2**62, (), generator=generator))
    x, score = x.contiguous(), score.contiguous()
    y, log_q = torch.empty_like(x), torch.empty(rows, dtype=torch.float64)
    law = rows, dim, int(spin), size, seed
    check(
        lib.saltus_langevin_propose(
            *law, x.data_ptr(), score.data_ptr(), y.data_ptr(), log_q.data_ptr()
        )
    )
    logp_y, score_y = evaluate(y)
    if not adjusted:
        changed = (y != x).reshape(rows, -1).sum(1).to(x.dtype)
        return y, logp_y, score_y, chances + 1, changes + changed
    score_y = score_y.contiguous()
    before, after = logp.double(), logp_y.to(torch.float64, copy=True)
    chances, changes = chances.to(torch.float64, copy=True), changes.to(torch.float64, copy=True)
    new_x, new_score = torch.empty_like(x), torch.empty_like(score)
    check(
        lib.saltus_langevin_choose(
            *law, x.data_ptr(), y.data_ptr(), score.data_ptr(), score_y.data_ptr(), log_q.data_ptr(),
            before.data_ptr(), after.data_ptr(), new_x.data_ptr(), new_score.data_ptr(),
            chances.data_ptr(), changes.data_ptr(),
        )
    )  # fmt: skip
    return new_x, after.to(logp.dtype), new_score, chances, changes
