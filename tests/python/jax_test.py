"""Targets that are JAX functions."""

import sys

from support import Test, main  # first: says where NumPy is missing
import numpy as np

try:
    import jax.numpy as jnp
except ImportError:
    print("skipped: JAX is not installed")
    sys.exit(77)

import saltus

random = np.random.default_rng(7)
A = 0.3 * random.normal(size=(12, 12))
A = (A + A.T) / 2


class Targets(Test):
    def test_the_draws_of_a_numpy_function(self):
        one = saltus.jax.target(lambda x: -0.5 * x @ A @ x, saltus.binary(12))
        rows = saltus.jax.target(
            lambda x: -0.5 * jnp.einsum("ri,ij,rj->r", x, A, x), saltus.binary(12), batched=True
        )
        mine = saltus.function(
            lambda x: (-0.5 * np.einsum("ri,ij,rj->r", x, A, x), -x @ A), saltus.binary(12)
        )
        x = random.integers(2, size=(9, 12))
        draws = []
        for model in (one, rows, mine):
            np.testing.assert_allclose(model.logp(x), mine.logp(x), rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(model.score(x), mine.score(x), rtol=1e-5, atol=1e-5)
            draws.append(saltus.sample(model, draws=100, warmup=0, seed=3,
                                       sampler=saltus.DMALA(step_size=0.3)).levels)
        for other in draws[:2]:
            same = (other == draws[2]).all(axis=(1, 2)).sum()
            self.assertGreaterEqual(same, 3)  # single precision may part two chains once
        self.assertTrue(saltus.verify(saltus.jax.target(lambda x: x.sum(), saltus.spin(3))).ok)

    def test_classes(self):
        table = random.normal(size=(4, 3))
        model = saltus.jax.target(lambda x: (x * table).sum(), saltus.categorical(4, levels=3))
        self.assertAlmostEqual(model.logp([0, 1, 2, 0]), table[range(4), [0, 1, 2, 0]].sum(), 5)


if __name__ == "__main__":
    main()
