"""Samplers that step on tensors, for training loops: tensors in, tensors out."""

from __future__ import annotations

from typing import Any

import torch

from .._errors import UsageError
from . import _compiled, _fused
from ._stepper import Capture, Kind, Stepper


class DMALA(Stepper):
    __doc__ = f"""The discrete Langevin proposal with the Metropolis test.

    {Stepper.__doc__}
    adapt=True tunes step_size all the time, towards the acceptance rate that is best for it.
    """

    adjusted = True
    tunable = True

    def __init__(
        self,
        step_size: float = 0.2,
        *,
        seed: int | None = None,
        domain: Kind = "binary",
        levels: int | None = None,
        adapt: bool = False,
        capture: Capture = "auto",
    ):
        super().__init__(
            step_size, seed=seed, domain=domain, levels=levels, adapt=adapt, capture=capture
        )

    def _transition(
        self, evaluate: Any, generator: Any, x: Any, logp: Any, score: Any, chances: Any, changes: Any
    ) -> tuple[Any, Any, Any, Any, Any]:
        if self._is_fused(x, logp, score):
            return _fused.step(
                x, logp, score, evaluate, self._size, self._base, generator, chances, changes,
                self.adjusted,
            )  # fmt: skip
        if self._is_compiled(x, logp, score):
            return _compiled.step(
                x, logp, score, evaluate, float(self._size), self.domain == "spin", generator,
                chances, changes, self.adjusted,
            )  # fmt: skip
        with torch.no_grad():
            y, there = self._propose(x, score, generator)
        logp_y, score_y = evaluate(y)
        with torch.no_grad():
            if not self.adjusted:
                return y, logp_y, score_y, chances + 1, changes + self._changes(x, y)
            ratio = logp_y - logp + self._gain(x, y, score_y, there).to(logp.dtype)
            # What is no number is rejected.
            chance = torch.nan_to_num(ratio.clamp(max=0).exp(), nan=0.0)
            u = torch.rand(chance.shape, generator=generator, device=x.device, dtype=chance.dtype)
            accept = u < chance
            wide = accept.reshape(-1, *([1] * (x.dim() - 1)))
            return (
                torch.where(wide, y, x),
                torch.where(accept, logp_y, logp),
                torch.where(wide, score_y, score),
                chances + chance.to(x.dtype),
                changes + self._changes(x, y) * accept,
            )

    def _is_compiled(self, x: Any, logp: Any, score: Any) -> bool:
        """Whether the library steps on these rows, beside the processor's evaluations."""
        if x.device.type != "cpu" or self.domain == "categorical" or type(self) not in (DMALA, DULA):
            return False
        return bool(x.dtype == score.dtype == torch.float32 and x.numel() > 0 and len(logp) == len(x))

    def _is_fused(self, x: Any, logp: Any, score: Any) -> bool:
        """Whether the kernels know the domain and the types, and are there."""
        if not x.is_cuda or self.domain == "categorical" or type(self) not in (DMALA, DULA):
            return False
        if x.dtype not in (torch.float32, torch.float64) or not x.dtype == logp.dtype == score.dtype:
            return False
        return _fused.available()

    def _changes(self, x: Any, y: Any) -> Any:
        """Coordinates that differ, of each row."""
        differ = (y != x).reshape(len(x), -1).sum(1).to(x.dtype)
        return differ / 2 if self.domain == "categorical" else differ

    # ---- the proposal: every coordinate by itself ----

    def _propose(self, x: Any, score: Any, generator: Any) -> tuple[Any, Any]:
        """A proposal, and what `_gain` needs of it."""
        if self.domain == "categorical":
            law = self._law_of_levels(x, score)
            flat = law.exp().reshape(-1, law.shape[-1])
            k = torch.multinomial(flat, 1, generator=generator).reshape(law.shape[:-1])
            y = torch.nn.functional.one_hot(k, law.shape[-1]).to(x.dtype)
            return y, _row_sums(law * y)
        odds = self._log_odds(x, score)
        u = torch.rand(x.shape, generator=generator, device=x.device, dtype=x.dtype)
        change = u < torch.sigmoid(odds)
        y = torch.where(change, self._other(x), x)
        return y, (change, odds)

    def _gain(self, x: Any, y: Any, score_y: Any, there: Any) -> Any:
        """Log probability of the way back from y, less that of the way there."""
        if self.domain == "categorical":
            return _row_sums(self._law_of_levels(y, score_y) * x) - there
        change, odds = there
        # Of a coordinate with log odds z of a change, log p is -softplus(-z) where it changes, and
        # -softplus(z) where it stays.
        sign = 1 - 2 * change.to(x.dtype)
        back = self._log_odds(y, score_y)
        softplus = torch.nn.functional.softplus
        return _row_sums(softplus(odds.mul_(sign)) - softplus(back.mul_(sign)))

    def _log_odds(self, x: Any, score: Any) -> Any:
        """Of a change of each coordinate of two levels, v and base - v: half the gradient times the
        change, less its square over 2 step_size."""
        if self.domain == "spin":
            return torch.addcmul(-2 / self._size.to(x.dtype), x, score, value=-1)
        return torch.addcmul(-0.5 / self._size.to(x.dtype), 0.5 - x, score)

    def _law_of_levels(self, x: Any, score: Any) -> Any:
        """Log probabilities of all levels."""
        here = (score * x).sum(-1, keepdim=True)
        return torch.log_softmax((score - here) / 2 - (1 - x) / (2 * self._size), -1)


def _row_sums(terms: Any) -> Any:
    return terms.reshape(len(terms), -1).sum(1)


class DULA(DMALA):
    """The same without the Metropolis test: a law that differs from the model's, the more the
    larger step_size is."""

    adjusted = False
    tunable = False


class GWG(DMALA):
    """Gibbs with gradients: one coordinate a step, chosen by the gradient, with the Metropolis
    test. There is nothing to tune."""

    tunable = False

    def __init__(
        self,
        *,
        seed: int | None = None,
        domain: Kind = "binary",
        levels: int | None = None,
        capture: Capture = "auto",
    ):
        super().__init__(1.0, seed=seed, domain=domain, levels=levels, capture=capture)

    def _propose(self, x: Any, score: Any, generator: Any) -> tuple[Any, Any]:
        law = self._law(x, score)
        flat = law.reshape(len(x), -1)
        chosen = torch.multinomial(flat.exp(), 1, generator=generator)
        picked = torch.zeros_like(flat).scatter_(1, chosen, 1).reshape(x.shape)
        if self.domain == "categorical":
            y = torch.where(picked.sum(-1, keepdim=True) > 0, picked, x)
        else:
            y = torch.where(picked > 0, self._other(x), x)
        return y, flat.gather(1, chosen)[:, 0]

    def _gain(self, x: Any, y: Any, score_y: Any, there: Any) -> Any:
        changed = x > y if self.domain == "categorical" else x != y
        law = self._law(y, score_y)
        return _row_sums(torch.where(changed, law, torch.zeros_like(law))) - there

    def _law(self, x: Any, score: Any) -> Any:
        """Log probabilities of the changes: of coordinates, or of coordinates and levels."""
        if self.domain == "categorical":
            here = (score * x).sum(-1, keepdim=True)
            gain = ((score - here) / 2).masked_fill(x > 0, -torch.inf)
        else:
            gain = (self._other(x) - x) * score / 2
        return torch.log_softmax(gain.reshape(len(x), -1), 1).reshape(gain.shape)


class PAS(DMALA):
    """The path auxiliary sampler on two levels: `flips` distinct coordinates a step, one after the
    other by the gradient, with the Metropolis test."""

    tunable = False

    def __init__(
        self,
        flips: int = 3,
        *,
        seed: int | None = None,
        domain: Kind = "binary",
        capture: Capture = "auto",
    ):
        if domain == "categorical":
            raise UsageError("PAS on tensors is for two levels: take GWG for classes")
        if isinstance(flips, bool) or not isinstance(flips, int) or flips < 1:
            raise UsageError(f"flips is {flips!r}; expected a whole number from 1 on")
        super().__init__(1.0, seed=seed, domain=domain, capture=capture)
        self.flips = flips

    def _propose(self, x: Any, score: Any, generator: Any) -> tuple[Any, Any]:
        weights = self._log_weights(x, score)
        flips = min(self.flips, weights.shape[1])
        # The largest of weights with Gumbel noise are draws without replacement, in their order.
        u = torch.rand(weights.shape, generator=generator, device=x.device, dtype=x.dtype)
        path = (weights - torch.log(-torch.log(u))).topk(flips, 1).indices
        picked = torch.zeros_like(weights).scatter_(1, path, 1).reshape(x.shape)
        y = torch.where(picked > 0, self._other(x), x)
        return y, (path, _log_of_path(weights, path))

    def _gain(self, x: Any, y: Any, score_y: Any, there: Any) -> Any:
        path, forward = there
        return _log_of_path(self._log_weights(y, score_y), path.flip(1)) - forward

    def _log_weights(self, x: Any, score: Any) -> Any:
        return ((self._other(x) - x) * score / 2).reshape(len(x), -1)


def _log_of_path(weights: Any, path: Any) -> Any:
    """log probability of a sequence of draws without replacement, by log weights."""
    chosen = weights.gather(1, path)
    others = weights.scatter(1, path, -torch.inf).logsumexp(1, keepdim=True)
    left = torch.logaddexp(others, chosen.flip(1).logcumsumexp(1).flip(1))
    return (chosen - left).sum(1)


class Gibbs(Stepper):
    """A random coordinate a step, from its law given the others. Needs no gradient: a step
    evaluates the model once, or once for each level of domain="categorical"."""

    needs_score = False

    def __init__(
        self,
        *,
        seed: int | None = None,
        domain: Kind = "binary",
        levels: int | None = None,
        capture: Capture = "auto",
    ):
        super().__init__(1.0, seed=seed, domain=domain, levels=levels, adapt=False, capture=capture)

    def _transition(
        self, evaluate: Any, generator: Any, x: Any, logp: Any, score: Any, chances: Any, changes: Any
    ) -> tuple[Any, Any, Any, Any, Any]:
        with torch.no_grad():
            rows = len(x)
            each = x.reshape(rows, -1, x.shape[-1]) if self.domain == "categorical" else x.reshape(rows, -1)
            at = torch.randint(each.shape[1], (rows, 1), generator=generator, device=x.device)
            u = torch.rand(rows, 1, generator=generator, device=x.device, dtype=x.dtype)
            if self.domain == "categorical":
                now, logp, changed = self._of_levels(evaluate, each, at, u, x.shape)
            else:
                flipped = each.scatter(1, at, self._other(each.gather(1, at))).reshape(x.shape)
                logp_flipped, _ = evaluate(flipped)
                take = u[:, 0] < torch.sigmoid(logp_flipped - logp).to(x.dtype)
                now = torch.where(take.reshape(-1, *([1] * (x.dim() - 1))), flipped, x)
                logp = torch.where(take, logp_flipped, logp)
                changed = take
        return now, logp, score, chances + 1, changes + changed.to(x.dtype)

    def _of_levels(self, evaluate: Any, each: Any, at: Any, u: Any, shape: Any) -> tuple[Any, Any, Any]:
        """The chosen coordinates from their law, by log p at all of their levels."""
        rows, _, levels = each.shape
        eye = torch.eye(levels, device=each.device, dtype=each.dtype)
        places = at[:, :, None].expand(rows, 1, levels)
        candidates = torch.stack(
            [each.scatter(1, places, eye[k].expand(rows, 1, levels)) for k in range(levels)], 1
        )
        logp, _ = evaluate(candidates.reshape(rows * levels, *shape[1:]))
        logp = logp.reshape(rows, levels)
        below = torch.cumsum(torch.softmax(logp, 1), 1).to(u.dtype)
        chosen = (u > below).sum(1).clamp(max=levels - 1)
        before = each.gather(1, places)[:, 0].argmax(1)
        now = candidates[torch.arange(rows, device=each.device), chosen]
        return now.reshape(shape), logp.gather(1, chosen[:, None])[:, 0], chosen != before


