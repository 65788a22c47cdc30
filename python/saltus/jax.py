"""Targets that are JAX functions."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _functions
from ._domain import Array, Domain
from ._errors import missing
from ._models import Maker, Model


def target(
    f: Callable[[Any], Any], domain: Domain, *, batched: bool = False, name: str | None = None
) -> Model:
    """f: one state -> log p, a scalar; or, with batched=True, (rows, *shape) -> (rows,).

    It gets values (-1 and +1 for spins; one-hot for categorical coordinates), and is compiled and
    differentiated here.
    """
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        raise missing("saltus.jax", "JAX", "jax") from None

    if batched:

        def total(x: Any) -> Any:
            logp = f(x)
            return logp.sum(), logp

        both = jax.jit(jax.grad(total, has_aux=True))
        alone = jax.jit(f)
    else:
        pair = jax.jit(jax.vmap(jax.value_and_grad(f)))

        def both(x: Any) -> Any:
            logp, score = pair(x)
            return score, logp

        alone = jax.jit(jax.vmap(f))

    def evaluate(x: Array, want_score: bool) -> tuple[Any, Any]:
        states = jnp.array(x)  # a copy: the memory behind x is used again
        if not want_score:
            return np.asarray(alone(states), np.float64), None
        score, logp = both(states)
        return np.asarray(logp, np.float64), np.asarray(score, np.float64)

    label = name or getattr(f, "__name__", "jax").strip("<>")
    maker: Maker = (_again, (f, domain, batched, label))
    return _functions.target(evaluate, domain, name=label, maker=maker)


def _again(f: Callable[[Any], Any], domain: Domain, batched: bool, name: str) -> Model:
    return target(f, domain, batched=batched, name=name)
