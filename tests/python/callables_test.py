"""Targets that are Python callables: the draws of built-in models, errors, and what stays as it was."""

import gc
import signal
import sys
import threading
import traceback

from support import Test, main, probabilities  # first: says where NumPy is missing
import numpy as np
import saltus

random = np.random.default_rng(3)
n = 20
J = 0.2 * random.normal(size=(n, n))
J = np.triu(J, 1) + np.triu(J, 1).T
h = 0.3 * random.normal(size=n)


def ising(x):
    return 0.5 * np.einsum("ri,ij,rj->r", x, J, x) + x @ h, x @ J + h


class Draws(Test):
    def test_those_of_the_built_in_model(self):
        built_in = saltus.ising(J, h)
        mine = saltus.function(ising, saltus.spin(n))
        for sampler in ("dmala", "gwg", "pas", "dlmc", "rwm"):
            # Starts that know nothing of the model. Rounding may part two chains where a uniform
            # number meets a probability: one at most.
            a, b = (
                saltus.sample(m, sampler=sampler, warmup=200, draws=300, seed=2, init="random", probe=False)
                for m in (built_in, mine)
            )
            same = (a.levels == b.levels).all(axis=(1, 2)).sum()
            self.assertGreaterEqual(same, 3, sampler)

    def test_gibbs_has_the_right_means(self):
        def small(x):
            logp, score = ising(np.concatenate([x, np.ones((len(x), n - 6))], axis=1))
            return logp, score[:, :6]

        model = saltus.function(small, saltus.spin(6))
        states, p = probabilities(model)
        r = saltus.sample(model, sampler="gibbs", draws=4000, warmup=100, seed=1)
        self.assertLess((abs(r.mean - p @ states) / r.mcse).max(), 5)

    def test_categorical_states_are_one_hot(self):
        table = random.normal(size=(4, 3))

        def f(x):
            assert x.shape[1:] == (4, 3) and (x.sum(2) == 1).all()
            return (x * table).sum((1, 2)), np.broadcast_to(table, x.shape)

        model = saltus.function(f, saltus.categorical(4, levels=3))
        self.assertAlmostEqual(model.logp([0, 1, 2, 0]), table[[0, 1, 2, 3], [0, 1, 2, 0]].sum())
        np.testing.assert_allclose(model.score([[0, 1, 2, 0]])[0], table)
        r = saltus.sample(model, draws=4000, seed=1)
        s = r.summary("levels")
        p = np.exp(table) / np.exp(table).sum(1, keepdims=True)
        error = abs(np.asarray(s["probability"]) - p.ravel()) / np.asarray(s["mcse"])
        self.assertLess(error.max(), 5)

    def test_shapes(self):
        def f(x):
            assert x.shape[1:] == (2, 3)
            return x.sum((1, 2)), np.ones_like(x)

        r = saltus.sample(saltus.function(f, saltus.binary((2, 3))), draws=20, seed=1)
        self.assertEqual(r.draws.shape, (4, 20, 2, 3))
        self.assertEqual(r.mean.shape, (2, 3))

    def test_without_a_gradient(self):
        model = saltus.function(lambda x: ising(x)[0], saltus.spin(n), gradient=False)
        self.assertEqual(set(model.samplers), {"gibbs", "rwm", "hamming_ball", "locally_balanced"})
        built_in = saltus.sample(saltus.ising(J, h), sampler="rwm", draws=200, seed=4, init="random", probe=False)
        mine = saltus.sample(model, sampler="rwm", draws=200, seed=4, init="random")
        self.assertTrue(np.array_equal(built_in.levels[0], mine.levels[0]))
        sentence = "sampler dmala needs a gradient, which lambda does not give; these samplers run"
        for call in (saltus.sample, saltus.verify, saltus.logz):
            self.refused(saltus.UsageError, sentence, call, model)
        self.refused(saltus.UsageError, "lambda gives no gradient", model.score, np.ones(n))
        small = saltus.function(lambda x: 0.3 * x.sum(1), saltus.binary(3), gradient=False)
        v = saltus.verify(small, "gibbs")
        self.assertTrue(v.ok and v.kernel_checked)
        self.assertEqual(v.checks[0]["verdict"], "skipped")

    def test_verify_sees_a_wrong_sign(self):
        def bits(x, sign):
            s = x.sum(1)
            score = np.repeat((0.5 - 0.2 * s)[:, None], 5, axis=1)
            score[:, 2] *= sign
            return 0.5 * s - 0.1 * s**2, score

        for sign, ok in ((1, True), (-1, False)):
            v = saltus.verify(lambda x: bits(x, sign), "dmala", domain=saltus.binary(5))
            self.assertEqual(v.ok, ok)
            if not ok:
                self.assertRaises(AssertionError, v.raise_if_wrong)


class Errors(Test):
    def test_what_a_callable_raises(self):
        calls = 0

        def fails(x):
            nonlocal calls
            calls += 1
            if calls > 700:
                raise ValueError("no more")
            return ising(x)

        with self.assertRaises(saltus.ComputationError) as caught:
            saltus.sample(saltus.function(fails, saltus.spin(n)), warmup=100, draws=5000, seed=1)
        cause = caught.exception.__cause__
        self.assertIsInstance(cause, ValueError)
        self.assertIn("raise ValueError", "".join(traceback.format_tb(cause.__traceback__)))
        part = caught.exception.result
        self.assertLess(part.draws.shape[1], 600)
        self.assertFalse(part.complete)
        whole = saltus.sample(saltus.function(ising, saltus.spin(n)), warmup=100, draws=600, seed=1)
        made = part.draws.shape[1]
        self.assertTrue(np.array_equal(part.levels, whole.levels[:, :made]))

    def test_shapes_and_types(self):
        def model(f):
            return saltus.function(f, saltus.binary(3))

        sentence = "the target returned shape (1, 1) for states of shape (1, 3); expected (1,): squeeze"
        column = model(lambda x: (x.sum(1, keepdims=True), x))
        self.refused(saltus.DataError, sentence, saltus.sample, column)
        sentence = "the gradient has shape (4,) for states of shape (4, 3); expected (4, 3)"
        self.refused(saltus.DataError, sentence, saltus.sample, model(lambda x: (x.sum(1), x.sum(1))))
        sentence = "the target returned ndarray; expected (log p, gradient)"
        self.refused(saltus.DataError, sentence, saltus.sample, model(lambda x: x.sum(1)))
        infinite = model(lambda x: (np.full(len(x), np.inf), x))
        self.refused(saltus.DataError, "log p = inf", saltus.sample, infinite)
        self.refused(saltus.UsageError, "cannot be called", saltus.function, 3, saltus.binary(2))

    def test_nan_is_a_forbidden_state(self):
        def f(x):
            s = x.sum(1)
            return np.where(s == 2, np.nan, 0.0), np.zeros_like(x)

        r = saltus.sample(saltus.function(f, saltus.binary(3)), sampler="gibbs", draws=500, seed=1,
                          init="zeros")
        self.assertNotIn(2, r.draws.sum(2))
        self.assertIn(1, r.draws.sum(2))

    def test_keyboard_interrupt_of_the_callable(self):
        def f(x):
            raise KeyboardInterrupt

        self.assertRaises(KeyboardInterrupt, saltus.sample, saltus.function(f, saltus.binary(3)))


class SideEffects(Test):
    def test_handlers_and_states_stay(self):
        def fails(x):
            raise ValueError

        before = signal.getsignal(signal.SIGINT), np.geterr(), np.random.get_state()[1].tolist()
        saltus.sample(saltus.function(ising, saltus.spin(n)), draws=100, warmup=10)
        with self.assertRaises(saltus.ComputationError):
            saltus.sample(saltus.function(fails, saltus.spin(n)))
        after = signal.getsignal(signal.SIGINT), np.geterr(), np.random.get_state()[1].tolist()
        self.assertEqual(before, after)

    def test_callables_are_let_go(self):
        def f(x):
            return x.sum(1), np.ones_like(x)

        before = sys.getrefcount(f)
        for _ in range(5):
            saltus.sample(saltus.function(f, saltus.binary(3)), draws=10, warmup=10)
        gc.collect()
        self.assertEqual(sys.getrefcount(f), before)

    def test_threads_give_the_same(self):
        model = saltus.function(ising, saltus.spin(n))
        alone = [saltus.sample(model, draws=200, seed=s).levels for s in range(3)]
        together = [None] * 3

        def work(s):
            together[s] = saltus.sample(model, draws=200, seed=s).levels

        threads = [threading.Thread(target=work, args=(s,)) for s in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertTrue(all(np.array_equal(a, b) for a, b in zip(alone, together)))


if __name__ == "__main__":
    main()
