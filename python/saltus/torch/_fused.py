"""Two-level steps on a GPU in two kernels, in Triton, which comes with PyTorch's builds for CUDA:
one proposes, one tests and chooses. Plain operations serve where it is missing.

Values are v and base - v: base is 1 for 0 and 1, and 0 for -1 and +1. With d = base - 2 v, a change
has the log odds score d / 2 - d^2 / (2 step_size).
"""

# No postponed annotations: Triton reads tl.constexpr from them.

from typing import Any

import torch

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None  # type: ignore[assignment,unused-ignore]

_BLOCK = 1024  # coordinates that a program handles at a time

if triton is not None:

    @triton.jit  # type: ignore[misc,unused-ignore,untyped-decorator]
    def _log_sigmoid(z):  # type: ignore[no-untyped-def]
        return tl.minimum(z, 0.0) - tl.log(1.0 + tl.exp(-tl.abs(z)))

    @triton.jit  # type: ignore[misc,unused-ignore,untyped-decorator]
    def _propose(  # type: ignore[no-untyped-def]
        x, score, u, size, base, y, forward, dim, block: tl.constexpr
    ):
        """Of a row: y, and the log probability of the proposal."""
        row = tl.program_id(0).to(tl.int64)
        step = tl.load(size).to(x.dtype.element_ty)
        flip = tl.load(base)
        total = step * 0.0
        for first in range(0, dim, block):
            i = first + tl.arange(0, block)
            there = i < dim
            v = tl.load(x + row * dim + i, mask=there, other=0.0)
            s = tl.load(score + row * dim + i, mask=there, other=0.0)
            r = tl.load(u + row * (dim + 1) + i, mask=there, other=1.0)
            d = flip - 2.0 * v
            z = 0.5 * s * d - d * d / (2.0 * step)
            change = r < 1.0 / (1.0 + tl.exp(-z))
            tl.store(y + row * dim + i, tl.where(change, flip - v, v), mask=there)
            total += tl.sum(tl.where(there, _log_sigmoid(tl.where(change, z, -z)), 0.0), 0)
        tl.store(forward + row, total)

    @triton.jit  # type: ignore[misc,unused-ignore,untyped-decorator]
    def _choose(  # type: ignore[no-untyped-def]
        x, y, score, score_y, u, logp, logp_y, forward, chances, changes, size, base,
        new_x, new_score, new_logp, new_chances, new_changes, dim, block: tl.constexpr,
    ):  # fmt: skip
        """Of a row: the test, and the state after it. A ratio that is no number is rejected."""
        row = tl.program_id(0).to(tl.int64)
        step = tl.load(size).to(x.dtype.element_ty)
        flip = tl.load(base)
        backward = step * 0.0
        changed = step * 0.0
        for first in range(0, dim, block):
            i = first + tl.arange(0, block)
            there = i < dim
            v = tl.load(x + row * dim + i, mask=there, other=0.0)
            w = tl.load(y + row * dim + i, mask=there, other=0.0)
            s = tl.load(score_y + row * dim + i, mask=there, other=0.0)
            d = flip - 2.0 * w
            z = 0.5 * s * d - d * d / (2.0 * step)
            backward += tl.sum(tl.where(there, _log_sigmoid(tl.where(v != w, z, -z)), 0.0), 0)
            changed += tl.sum(tl.where(v != w, 1.0, 0.0), 0)
        old, new = tl.load(logp + row), tl.load(logp_y + row)
        ratio = new - old + backward - tl.load(forward + row)
        chance = tl.where(ratio >= 0.0, 1.0, tl.exp(tl.minimum(ratio, 0.0)))
        chance = tl.where(chance >= 0.0, chance, 0.0)
        yes = tl.load(u + row * (dim + 1) + dim) < chance
        tl.store(new_logp + row, tl.where(yes, new, old))
        tl.store(new_chances + row, tl.load(chances + row) + chance)
        tl.store(new_changes + row, tl.load(changes + row) + tl.where(yes, changed, 0.0))
        for first in range(0, dim, block):
            i = first + tl.arange(0, block)
            there = i < dim
            v = tl.load(x + row * dim + i, mask=there)
            w = tl.load(y + row * dim + i, mask=there)
            s = tl.load(score + row * dim + i, mask=there)
            t = tl.load(score_y + row * dim + i, mask=there)
            tl.store(new_x + row * dim + i, tl.where(yes, w, v), mask=there)
            tl.store(new_score + row * dim + i, tl.where(yes, t, s), mask=there)


_works: bool | None = None


def available() -> bool:
    """Whether the kernels can be compiled here; they are, on the first call."""
    global _works
    if _works is None:
        try:
            one = torch.zeros(1, 1, device="cuda")
            sums = one[0].clone()
            size, base = torch.ones((), device="cuda"), torch.ones((), device="cuda")
            step(one, sums, one, lambda v: (sums, one), size, base, None, sums, sums, True)
            torch.cuda.synchronize()
            _works = True
        except Exception:  # no Triton, or no compiler for it
            _works = False
    return _works


def step(
    x: Any, logp: Any, score: Any, evaluate: Any, size: Any, base: Any, generator: Any,
    chances: Any, changes: Any, adjusted: bool,
) -> tuple[Any, Any, Any, Any, Any]:  # fmt: skip
    """One step of the discrete Langevin proposal: states, log p, score, and the sums over steps of
    acceptance probabilities and changes of each row."""
    rows, dim = len(x), x[0].numel()
    block = min(_BLOCK, triton.next_power_of_2(dim))
    x, score = x.contiguous(), score.contiguous()
    u = torch.rand(rows, dim + 1, generator=generator, device=x.device, dtype=x.dtype)
    y, forward = torch.empty_like(x), torch.empty_like(logp)
    with torch.cuda.device(x.device):
        _propose[(rows,)](x, score, u, size, base, y, forward, dim, block)
    logp_y, score_y = evaluate(y)
    if not adjusted:
        changed = (y != x).reshape(rows, -1).sum(1).to(x.dtype)
        return y, logp_y, score_y, chances + 1, changes + changed
    new = [torch.empty_like(t) for t in (x, score, logp, chances, changes)]
    with torch.cuda.device(x.device):
        _choose[(rows,)](
            x, y, score, score_y.contiguous(), u, logp, logp_y.contiguous(), forward, chances,
            changes, size, base, *new, dim, block,
        )  # fmt: skip
    return new[0], new[2], new[1], new[3], new[4]
