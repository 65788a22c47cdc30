"""Steps captured in a CUDA graph: the same kernels, launched together."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import torch

from .._errors import SaltusWarning

STEPS = 8  # of a graph
KEPT = 4  # graphs of a sampler, each with memory of its own

# Modules whose evaluation is not a function of the state alone while they train.
_RANDOM = ("Dropout", "BatchNorm", "SyncBatchNorm", "RReLU")


def key_of(model: Any, x: Any, capture: bool | str) -> Any:
    """What a graph belongs to; None where steps are not to be captured.

    "auto" captures modules alone: parameters of other callables may be changed unseen. Parameters
    are read where they lie, so that steps of an optimiser are followed.
    """
    if not x.is_cuda or capture is False:
        return None
    if not isinstance(model, torch.nn.Module):
        return (id(model), x.shape, x.dtype, x.device) if capture is True else None
    modes = tuple(m.training for m in model.modules())
    places = tuple(p.data_ptr() for p in (*model.parameters(), *model.buffers()))
    return id(model), x.shape, x.dtype, x.device, modes, places


def changes_in_training(model: Any) -> bool:
    if not isinstance(model, torch.nn.Module):
        return False
    return any(m.training and type(m).__name__.startswith(_RANDOM) for m in model.modules())


class Graph:
    """`STEPS` steps, and one, from static states. `transition` takes and gives (x, log p, score,
    chances, changes)."""

    def __init__(self, transition: Callable[..., Any], evaluate: Callable[[Any], Any], x: Any,
                 logp: Any, score: Any, generator: Any):  # fmt: skip
        zero = torch.zeros(len(x), device=x.device, dtype=x.dtype)
        self.static = [x.clone(), logp.clone(), score.clone(), zero, zero.clone()]
        self._generator = generator
        self._done: Any = None
        before = generator.get_state()
        try:
            with torch.cuda.device(x.device):
                self._make(transition, evaluate, x, logp, score)
        except Exception:
            _recover(generator, x.device)
            raise
        finally:
            generator.set_state(before)

    def _make(self, transition: Callable[..., Any], evaluate: Any, x: Any, logp: Any, score: Any) -> None:
        stream = torch.cuda.Stream(x.device)
        stream.wait_stream(torch.cuda.current_stream(x.device))
        with torch.cuda.stream(stream):  # libraries allocate on first use, which no graph may
            for _ in range(3):
                transition(*self.static)
        torch.cuda.current_stream(x.device).wait_stream(stream)
        self._graphs = {1: self._capture(transition, 1), STEPS: self._capture(transition, STEPS)}
        self._check(evaluate, x, logp, score)

    def _capture(self, transition: Callable[..., Any], steps: int) -> Any:
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self._generator)
        with torch.cuda.graph(graph):
            now = list(self.static)
            for _ in range(steps):
                now = transition(*now)
            for place, value in zip(self.static, now):
                place.copy_(value)
        return graph

    def _check(self, evaluate: Callable[[Any], Any], x: Any, logp: Any, score: Any) -> None:
        """A module that branches on the state replays the branch of the capture."""
        self.load(x, logp, score)
        for _ in range(2):
            self._graphs[1].replay()
        right_logp, right_score = evaluate(self.static[0].clone())
        for mine, right in ((self.static[1], right_logp), (self.static[2], right_score)):
            if not torch.allclose(mine, right, rtol=1e-3, atol=1e-4, equal_nan=True):
                raise RuntimeError("a replay of the graph differs from the model")

    def load(self, x: Any, logp: Any, score: Any) -> None:
        for place, value in zip(self.static, (x, logp, score)):
            place.copy_(value)
        self.static[3].zero_()
        self.static[4].zero_()

    def run(self, x: Any, logp: Any, score: Any, n: int) -> tuple[Any, Any, Any, Any, Any]:
        """n steps; the sums of chances and changes of each row are of these."""
        stream = torch.cuda.current_stream(x.device)
        if self._done is not None:
            stream.wait_event(self._done)  # of a call on another stream
        self.load(x, logp, score)
        with torch.cuda.device(x.device):
            for _ in range(n // STEPS):
                self._graphs[STEPS].replay()
            for _ in range(n % STEPS):
                self._graphs[1].replay()
        out = tuple(place.clone() for place in self.static)
        self._done = stream.record_event()
        return out  # type: ignore[return-value,unused-ignore]


def _recover(generator: Any, device: Any) -> None:
    """A capture that fails leaves generators in the middle of one: a capture that works ends it."""
    torch.cuda.synchronize(device)
    graph = torch.cuda.CUDAGraph()
    graph.register_generator_state(generator)
    one = torch.zeros(1, device=device)
    with torch.cuda.device(device), torch.cuda.graph(graph):
        one += 1


class Graphs:
    """The graphs of the last few models and shapes, and what could not be captured."""

    def __init__(self) -> None:
        self._kept: dict[Any, Graph] = {}  # the one that was used last is the last
        self._graph: Graph | None = None
        self._refused: set[Any] = set()

    def find(self, key: Any, make: Callable[[], Graph]) -> Graph | None:
        if key is None or key in self._refused:
            return None
        graph = self._kept.pop(key, None)
        if graph is None:
            if len(self._kept) == KEPT:
                self._kept.pop(next(iter(self._kept)))
            try:
                graph = make()
            except Exception as e:  # what a graph may not do, such as reading a value back
                self._refused.add(key)
                reason = str(e).strip().partition("\n")[0]
                warnings.warn(
                    f"steps are not captured in a CUDA graph, and slower: {reason}", SaltusWarning,
                    stacklevel=5,
                )  # fmt: skip
                return None
        self._kept[key] = self._graph = graph
        return graph
