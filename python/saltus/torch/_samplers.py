"""Samplers that step on tensors, for training loops: tensors in, tensors out."""

from __future__ import annotations

from typing import Any

import torch

from . import _fused
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
        with torch.no_grad():
            law = self.log_proposal(x, score)
            y, forward = self._draw(x, law, generator)
        logp_y, score_y = evaluate(y)
        with torch.no_grad():
            changed = self._changes(x, y)
            if not self.adjusted:
                return y, logp_y, score_y, chances + 1, changes + changed
            backward = self._log_probability(x, self.log_proposal(y, score_y), y)
            ratio = logp_y - logp + (backward - forward).to(logp.dtype)
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
                changes + changed * accept,
            )

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

    def log_proposal(self, x: Any, score: Any) -> Any:
        """Log probabilities of the proposal at x: of (stay, change) in the last dimension for two
        levels, of all levels for one-hot rows."""
        if self.domain == "categorical":
            here = (score * x).sum(-1, keepdim=True)
            logits = (score - here) / 2 - (1 - x) / (2 * self._size)
            return torch.log_softmax(logits, -1)
        if self.domain == "spin":
            logit = -x * score - 2 / self._size
        else:
            logit = (0.5 - x) * score - 1 / (2 * self._size)
        return torch.stack(
            [torch.nn.functional.logsigmoid(-logit), torch.nn.functional.logsigmoid(logit)], -1
        )

    def _draw(self, x: Any, law: Any, generator: Any) -> tuple[Any, Any]:
        """A proposal, and its log probability."""
        if self.domain == "categorical":
            levels = law.shape[-1]
            flat = law.exp().reshape(-1, levels)
            k = torch.multinomial(flat, 1, generator=generator).reshape(law.shape[:-1])
            y = torch.nn.functional.one_hot(k, levels).to(x.dtype)
        else:
            u = torch.rand(x.shape, generator=generator, device=x.device, dtype=x.dtype)
            y = torch.where(u < law[..., 1].exp(), self._other(x), x)
        return y, self._log_probability(y, law, x)

    def _log_probability(self, to: Any, law: Any, origin: Any) -> Any:
        """That a proposal with this law, made at `origin`, is `to`."""
        if self.domain == "categorical":
            terms = (law * to).sum(-1)
        else:
            terms = torch.where(to == origin, law[..., 0], law[..., 1])
        return terms.reshape(len(to), -1).sum(1)


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

    def log_proposal(self, x: Any, score: Any) -> Any:
        """Log probabilities of the changes: of coordinates, or of coordinates and levels."""
        if self.domain == "categorical":
            here = (score * x).sum(-1, keepdim=True)
            gain = ((score - here) / 2).masked_fill(x > 0, -torch.inf)
        else:
            gain = (self._other(x) - x) * score / 2
        return torch.log_softmax(gain.reshape(len(x), -1), 1).reshape(gain.shape)

    def _draw(self, x: Any, law: Any, generator: Any) -> tuple[Any, Any]:
        flat = law.reshape(len(x), -1)
        chosen = torch.multinomial(flat.exp(), 1, generator=generator)
        picked = torch.zeros_like(flat).scatter_(1, chosen, 1).reshape(x.shape)
        if self.domain == "categorical":
            y = torch.where(picked.sum(-1, keepdim=True) > 0, picked, x)
        else:
            y = torch.where(picked > 0, self._other(x), x)
        return y, self._log_probability(y, law, x)

    def _log_probability(self, to: Any, law: Any, origin: Any) -> Any:
        changed = to > origin if self.domain == "categorical" else to != origin
        return torch.where(changed, law, torch.zeros_like(law)).reshape(len(to), -1).sum(1)


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


