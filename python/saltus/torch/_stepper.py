"""What samplers on tensors share: a call of step, randomness, tuning, and what is kept between."""

from __future__ import annotations

import warnings
from typing import Any, Callable, Literal

from .._errors import DataError, SaltusWarning, UsageError, missing
from ._column import column

try:
    import torch
except ImportError:
    raise missing("saltus.torch", "PyTorch", "torch") from None

from . import _graph

Kind = Literal["binary", "spin", "categorical"]
Capture = Literal["auto", True, False]


class Info:
    """Means over chains and steps of the last call, computed when they are read."""

    def __init__(self) -> None:
        self._parts: list[tuple[Any, ...]] = []  # sums of chances and changes by chain, steps

    def add(self, chances: Any, changes: Any, steps: int = 1) -> None:
        """Sums over `steps` steps, of each chain."""
        self._parts.append((chances, changes, steps))

    def _mean(self, which: int) -> float:
        steps = sum(int(part[2]) for part in self._parts)
        if steps == 0:
            return float("nan")
        return float(sum(float(part[which].double().mean()) for part in self._parts) / steps)

    @property
    def acceptance_rate(self) -> float:
        return self._mean(0)

    @property
    def changes(self) -> float:
        """Coordinates that changed, of each chain and step."""
        return self._mean(1)


class Stepper:
    """step(x, model, n) takes n steps of each row of x, which holds values: 0 and 1, or -1 and +1
    with domain="spin", or with domain="categorical" one-hot rows (..., dim, levels), or integers
    (..., dim) where levels=K is given. model maps such rows (one-hot ones) to log p, (rows,).

    On a GPU steps of a module are captured in a CUDA graph (capture="auto"); True captures any
    callable, whose parameters must then stay where they are, False none.
    """

    needs_score = True
    tunable = False
    _GOAL = 0.574  # acceptance rate; Roberts & Rosenthal 1998

    def __init__(
        self,
        step_size: float,
        *,
        seed: int | None,
        domain: Kind,
        levels: int | None,
        adapt: bool,
        capture: Capture,
    ):
        if not step_size > 0:
            raise UsageError(f"step_size is {step_size}; it must be above 0")
        if domain not in ("binary", "spin", "categorical"):
            raise UsageError(f"domain is {domain!r}; expected binary, spin or categorical")
        if levels is not None and (domain != "categorical" or levels < 2):
            raise UsageError(f"levels is {levels}; it is the number of levels of domain='categorical'")
        if capture not in ("auto", True, False):
            raise UsageError(f"capture is {capture!r}; expected 'auto', True or False")
        self.domain, self.levels, self.capture = domain, levels, capture
        self.adapt = adapt and self.tunable
        self.info = Info()
        self._size = torch.tensor(float(step_size), dtype=torch.float64)
        self._tuned = torch.zeros((), dtype=torch.float64)  # steps that tuned it
        self._base = torch.tensor(0.0 if domain == "spin" else 1.0)
        self._seed = seed
        self._generator: Any = None
        self._made: tuple[Any, Any, Any] | None = None  # states, log p and score of the last call
        self._graphs = _graph.Graphs()
        self._warned = False

    @property
    def step_size(self) -> float:
        """As tuned so far. Reading it waits for the GPU."""
        return float(self._size)

    @step_size.setter
    def step_size(self, value: float) -> None:
        if not value > 0:
            raise UsageError(f"step_size is {value}; it must be above 0")
        self._size.fill_(float(value))

    # ---- steps ----

    def step(self, x: Any, model: Callable[[Any], Any], n: int = 1, *, fresh: bool = True) -> Any:
        """n steps from x: a tensor of its shape, type and place, without a graph.

        The model is evaluated n + 1 times, because its parameters may have changed since the last
        call; fresh=False takes what the last call found where x is what that returned.
        """
        if n < 1:
            raise UsageError(f"n is {n}; expected a whole number from 1 on")
        self._warn_of_training(model)
        self.info = Info()

        def evaluate(v: Any) -> tuple[Any, Any]:
            return self._evaluate(model, v)

        kept = self._made
        if not fresh and kept is not None and kept[0] is x:
            now, logp, score = self._states(x), kept[1], kept[2]
        else:
            now = self._states(x)
            logp, score = evaluate(now)
        now, logp, score, chances, changes = self._advance(now, logp, score, evaluate, model, n)
        self.info.add(chances, changes, n)
        out = now.argmax(-1) if self.levels is not None else now
        out = out.to(x.dtype)
        self._made = (out, logp, score)
        return out

    def _advance(
        self, x: Any, logp: Any, score: Any, evaluate: Any, model: Any, n: int
    ) -> tuple[Any, Any, Any, Any, Any]:
        generator = self._random(x.device)
        self._settle(x)

        def transition(*now: Any) -> Any:
            made = self._transition(evaluate, generator, *now)
            if self.adapt:
                self._tune((made[3] - now[3]).mean())
            return made

        def capture() -> _graph.Graph:
            before = [t.clone() for t in (self._size, self._tuned)]
            try:
                return _graph.Graph(transition, evaluate, x, logp, score, generator)
            finally:
                self._size.copy_(before[0])
                self._tuned.copy_(before[1])

        key = None
        if not self._warned:
            key = _graph.key_of(model, x, self.capture)
        graph = self._graphs.find(key, capture)
        if graph is not None:
            return graph.run(x, logp, score, n)
        zero = torch.zeros(len(x), device=x.device, dtype=x.dtype)
        now: Any = (x, logp, score, zero, zero)
        for _ in range(n):
            now = transition(*now)
        return now  # type: ignore[no-any-return,unused-ignore]

    def _transition(
        self, evaluate: Any, generator: Any, x: Any, logp: Any, score: Any, chances: Any, changes: Any
    ) -> tuple[Any, Any, Any, Any, Any]:
        """One step: the same five again. The last two are sums over steps, of each row."""
        raise NotImplementedError

    def _states(self, x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            raise UsageError(f"step takes tensors, not {type(x).__name__}")
        hot = self.domain == "categorical" and self.levels is None
        if x.dim() < (3 if hot else 2):
            raise DataError(f"states of shape {tuple(x.shape)}; the first dimension is that of chains")
        x = x.detach()
        if self.levels is not None:
            return torch.nn.functional.one_hot(x.long(), self.levels).to(torch.get_default_dtype())
        return x if x.is_floating_point() else x.to(torch.get_default_dtype())

    def _evaluate(self, model: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
        if not self.needs_score:
            with torch.no_grad():
                return column(model(x), len(x), x), x.new_empty(0)
        with torch.enable_grad():
            v = x.detach().requires_grad_(True)
            logp = column(model(v), len(v), v)
            (score,) = torch.autograd.grad(logp.sum(), v)
        return logp.detach(), score

    def _other(self, x: Any) -> Any:
        return -x if self.domain == "spin" else 1 - x

    # ---- tuning, randomness, state ----

    def _settle(self, x: Any) -> None:
        """The tensors of the sampler are where the states are."""
        if self._size.device != x.device:
            self._size, self._tuned = self._size.to(x.device), self._tuned.to(x.device)
        if self._base.device != x.device or self._base.dtype != x.dtype:
            self._base = self._base.to(x.device, x.dtype)

    def _tune(self, acceptance: Any) -> None:
        self._tuned += 1
        rate = ((self._tuned + 10) ** -0.6).clamp(min=0.02)
        self._size *= (rate * (acceptance.to(self._size.dtype) - self._GOAL)).exp()

    def _random(self, device: Any) -> Any:
        if self._generator is None or self._generator.device != device:
            self._generator = torch.Generator(device)
            if self._seed is None:
                self._generator.seed()
            else:
                self._generator.manual_seed(self._seed)
        return self._generator

    def _warn_of_training(self, model: Any) -> None:
        if self._warned or not _graph.changes_in_training(model):
            return
        self._warned = True
        warnings.warn(
            "the module is in training mode, and has layers whose output is then no function of the"
            " state alone: call its eval()", SaltusWarning, stacklevel=3,
        )  # fmt: skip

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on with the same random numbers."""
        generator = None if self._generator is None else self._generator.get_state()
        return {
            "step_size": self.step_size, "domain": self.domain, "adaptations": int(self._tuned),
            "generator": generator,
            "device": None if self._generator is None else str(self._generator.device),
        }  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if state["domain"] != self.domain:
            raise DataError(f"the state is of domain {state['domain']}, not {self.domain}")
        self.step_size = state["step_size"]
        self._tuned.fill_(state["adaptations"])
        self._made = None
        if state["generator"] is not None:
            self._generator = torch.Generator(state["device"])
            self._generator.set_state(state["generator"])
            self._graphs = _graph.Graphs()  # which hold the generator before

    def __getstate__(self) -> Any:
        raise UsageError("a sampler on tensors cannot be pickled or copied: keep its state_dict")
