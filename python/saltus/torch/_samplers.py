"""Discrete Langevin steps on tensors, for training loops: tensors in, tensors out."""

from __future__ import annotations

from typing import Any, Callable, Literal

from .._errors import DataError, UsageError, missing
from ._target import column

try:
    import torch
except ImportError:
    raise missing("saltus.torch", "PyTorch", "torch") from None

Kind = Literal["binary", "spin", "categorical"]


class Info:
    """Means over chains and steps of the last call, computed when they are read."""

    def __init__(self) -> None:
        self._acceptance: list[Any] = []
        self._changes: list[Any] = []

    def add(self, acceptance: Any, changes: Any) -> None:
        self._acceptance.append(acceptance)
        self._changes.append(changes)

    @property
    def acceptance_rate(self) -> float:
        return float(torch.stack(self._acceptance).mean()) if self._acceptance else float("nan")

    @property
    def changes(self) -> float:
        """Coordinates that changed, of each chain and step."""
        return float(torch.stack(self._changes).mean()) if self._changes else float("nan")


class DMALA:
    """The discrete Langevin proposal with the Metropolis test, in plain torch operations.

    step(x, model, n) takes n steps of each row of x, which holds values: 0 and 1, or -1 and +1 with
    domain="spin", or one-hot rows (..., dim, levels) with domain="categorical". model maps such
    rows to log p, (rows,). adapt=True tunes step_size all the time, towards the acceptance rate
    that is best for it.
    """

    adjusted = True
    _GOAL = 0.574  # Roberts & Rosenthal 1998

    def __init__(
        self,
        step_size: float = 0.2,
        *,
        seed: int | None = None,
        domain: Kind = "binary",
        adapt: bool = False,
    ):
        if not step_size > 0:
            raise UsageError(f"step_size is {step_size}; it must be above 0")
        if domain not in ("binary", "spin", "categorical"):
            raise UsageError(f"domain is {domain!r}; expected binary, spin or categorical")
        self.step_size = float(step_size)
        self.domain = domain
        self.adapt = adapt and self.adjusted
        self.info = Info()
        self._seed = seed
        self._generator: Any = None
        self._made: tuple[Any, Any, Any] | None = None  # states, log p and score of the last call
        self._adaptations = 0

    # ---- steps ----

    def step(self, x: Any, model: Callable[[Any], Any], n: int = 1, *, fresh: bool = True) -> Any:
        """n steps from x: a tensor of its shape, type and place, without a graph.

        The model is evaluated n + 1 times, because its parameters may have changed since the last
        call; fresh=False takes what the last call found where x is what that returned.
        """
        if n < 1:
            raise UsageError(f"n is {n}; expected a whole number from 1 on")
        self.info = Info()
        kept = self._made
        if not fresh and kept is not None and kept[0] is x:
            now, logp, score = x, kept[1], kept[2]
        else:
            now = self._states(x)
            logp, score = self._evaluate(model, now)
        generator = self._random(now.device)
        for _ in range(n):
            now, logp, score = self._transition(model, now, logp, score, generator)
        out = now.to(x.dtype)
        self._made = (out, logp, score)
        return out

    def _states(self, x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            raise UsageError(f"step takes tensors, not {type(x).__name__}")
        if x.dim() < (3 if self.domain == "categorical" else 2):
            raise DataError(f"states of shape {tuple(x.shape)}; the first dimension is that of chains")
        x = x.detach()
        return x if x.is_floating_point() else x.to(torch.get_default_dtype())

    def _evaluate(self, model: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
        with torch.enable_grad():
            v = x.detach().requires_grad_(True)
            logp = column(model(v), len(v), v)
            (score,) = torch.autograd.grad(logp.sum(), v)
        return logp.detach(), score

    def _transition(
        self, model: Callable[[Any], Any], x: Any, logp: Any, score: Any, generator: Any
    ) -> tuple[Any, Any, Any]:
        with torch.no_grad():
            law = self.log_proposal(x, score)
            y, forward = self._draw(x, law, generator)
        logp_y, score_y = self._evaluate(model, y)
        with torch.no_grad():
            differs = (y != x).reshape(len(x), -1)
            per_change = 2 if self.domain == "categorical" else 1
            if not self.adjusted:
                changes = differs.sum(1).to(x.dtype).mean() / per_change
                self.info.add(torch.ones_like(changes), changes)
                return y, logp_y, score_y
            backward = self._log_probability(x, self.log_proposal(y, score_y), y)
            ratio = logp_y - logp + (backward - forward).to(logp.dtype)
            # What is no number is rejected.
            chance = torch.nan_to_num(ratio.clamp(max=0).exp(), nan=0.0)
            u = torch.rand(chance.shape, generator=generator, device=x.device, dtype=chance.dtype)
            accept = u < chance
            wide = accept.reshape(-1, *([1] * (x.dim() - 1)))
            changes = (differs.sum(1) * accept).to(x.dtype).mean() / per_change
            self.info.add(chance.mean().to(x.dtype), changes)
            if self.adapt:
                self._tune(float(chance.mean()))
            return (
                torch.where(wide, y, x),
                torch.where(accept, logp_y, logp),
                torch.where(wide, score_y, score),
            )

    # ---- the proposal: every coordinate by itself ----

    def log_proposal(self, x: Any, score: Any) -> Any:
        """Log probabilities of the proposal at x: of (stay, change) in the last dimension for two
        levels, of all levels for one-hot rows."""
        if self.domain == "categorical":
            here = (score * x).sum(-1, keepdim=True)
            logits = (score - here) / 2 - (1 - x) / (2 * self.step_size)
            return torch.log_softmax(logits, -1)
        if self.domain == "spin":
            logit = -x * score - 2 / self.step_size
        else:
            logit = (0.5 - x) * score - 1 / (2 * self.step_size)
        return torch.stack(
            [torch.nn.functional.logsigmoid(-logit), torch.nn.functional.logsigmoid(logit)], -1
        )

    def _other(self, x: Any) -> Any:
        return -x if self.domain == "spin" else 1 - x

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

    # ---- tuning, randomness, state ----

    def _tune(self, acceptance: float) -> None:
        self._adaptations += 1
        rate = max(0.02, (self._adaptations + 10) ** -0.6)
        self.step_size *= float(torch.tensor(rate * (acceptance - self._GOAL)).exp())

    def _random(self, device: Any) -> Any:
        if self._generator is None or self._generator.device != device:
            self._generator = torch.Generator(device)
            if self._seed is None:
                self._generator.seed()
            else:
                self._generator.manual_seed(self._seed)
        return self._generator

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on with the same random numbers."""
        generator = None if self._generator is None else self._generator.get_state()
        return {
            "step_size": self.step_size, "domain": self.domain, "adaptations": self._adaptations,
            "generator": generator,
            "device": None if self._generator is None else str(self._generator.device),
        }  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if state["domain"] != self.domain:
            raise DataError(f"the state is of domain {state['domain']}, not {self.domain}")
        self.step_size, self._adaptations = state["step_size"], state["adaptations"]
        self._made = None
        if state["generator"] is not None:
            self._generator = torch.Generator(state["device"])
            self._generator.set_state(state["generator"])


class DULA(DMALA):
    """The same without the Metropolis test: a law that differs from the model's, the more the
    larger step_size is."""

    adjusted = False


class GWG(DMALA):
    """Gibbs with gradients: one coordinate a step, chosen by the gradient, with the Metropolis
    test. There is nothing to tune."""

    def __init__(self, *, seed: int | None = None, domain: Kind = "binary"):
        super().__init__(1.0, seed=seed, domain=domain)

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
