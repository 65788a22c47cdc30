"""Estimators: the program's weights bit for bit, the couplings that made the data, and scikit-learn's
conventions where it is installed."""

import copy
import importlib.util
import json
import pickle

from support import PROGRAM, Test, all_states, main, program, unittest
import numpy as np
import saltus
from saltus.sklearn import RBM, Ising

SKLEARN = importlib.util.find_spec("sklearn") is not None


def bars(rows, seed=1):
    """4 x 4 pictures, each row of which is on or off."""
    random = np.random.default_rng(seed)
    on = random.random((rows, 4)) < 0.5
    noise = random.random((rows, 16)) < 0.02
    return (np.repeat(on, 4, axis=1) ^ noise).astype(int)


def ring(n=8, coupling=0.4):
    J = np.zeros((n, n))
    for i in range(n):
        J[i, (i + 1) % n] = J[(i + 1) % n, i] = coupling
    return J


class Machines(Test):
    def test_learns(self):
        X = bars(400)
        rbm = RBM(8, n_iter=60, learning_rate=0.02, batch_size=50, random_state=3).fit(X)
        self.assertEqual(rbm.components_.shape, (8, 16))
        flat = RBM(8, n_iter=1, learning_rate=1e-9, random_state=3).fit(X)
        # Bars have 4 bits, and noise of 16 x 0.098 nats; independent units would say 16 log 2 = 11.1.
        self.assertGreater(rbm.score(X), flat.score(X) + 3)
        self.assertEqual(len(rbm.history_["loss"]), len(rbm.history_["iteration"]))
        self.assertEqual(rbm.n_iter_, 480)
        draws = rbm.sample(300, seed=1)
        self.assertEqual(draws.shape, (300, 16))
        rows = draws.reshape(-1, 4).sum(1)
        self.assertGreater(np.mean((rows == 0) | (rows == 4)), 0.7)
        self.assertGreater(rbm.pseudo_likelihood(X).mean(), flat.pseudo_likelihood(X).mean())

    def test_scores_are_exact_on_a_small_model(self):
        X = bars(100)[:, :8]
        rbm = RBM(4, n_iter=3, random_state=1).fit(X)
        logp = rbm.model_.logp(all_states(rbm.model_.domain))
        log_z = np.logaddexp.reduce(logp)
        np.testing.assert_allclose(rbm.score_samples(X), rbm.model_.logp(X) - log_z, rtol=1e-9)
        low, high = rbm.log_likelihood(X, betas=300, seed=1)
        self.assertTrue(low - 0.05 < rbm.score(X) < high + 0.05)
        hidden = rbm.transform(X)
        c = X @ rbm.components_.T + rbm.intercept_hidden_
        np.testing.assert_allclose(hidden, 1 / (1 + np.exp(-c)))
        pairs = [rbm.model_.logp(x) for x in X[:2]]
        other = X[:2].copy()
        by_hand = np.zeros(2)
        for i in range(8):
            other[:, i] ^= 1
            by_hand -= np.logaddexp(0, rbm.model_.logp(other) - pairs)
            other[:, i] ^= 1
        np.testing.assert_allclose(rbm.pseudo_likelihood(X[:2]), by_hand)

    def test_gibbs_leaves_the_model_as_it_is(self):
        rbm = RBM(3, n_iter=2, random_state=1).fit(bars(60)[:, :6])
        states = all_states(rbm.model_.domain)
        p = np.exp(rbm.model_.logp(states))
        p /= p.sum()
        x = states[np.random.default_rng(1).choice(len(p), 40_000, p=p)]
        mean = rbm.gibbs(x, seed=2).mean(0)
        self.assertTrue((np.abs(mean - p @ states) < 5 * 0.5 / np.sqrt(40_000)).all())

    def test_continues(self):
        X = bars(120)
        rbm = RBM(4, n_iter=2, batch_size=40, random_state=1)
        long = RBM(4, n_iter=4, batch_size=40, random_state=1, n_jobs=-1).fit(X)
        rbm.fit(X).partial_fit(X)
        pickle.loads(pickle.dumps(rbm))
        rbm = pickle.loads(pickle.dumps(rbm)).partial_fit(X)
        np.testing.assert_array_equal(rbm.components_, long.components_)
        self.assertEqual(rbm.n_iter_, 12)
        self.assertEqual(rbm.history_["iteration"], list(range(1, 13)))
        np.testing.assert_array_equal(copy.deepcopy(rbm).transform(X), rbm.transform(X))

    def test_refusals(self):
        X = bars(20)
        self.refused(saltus.DataError, "X[1, 2] is 2; expected 0 or 1", RBM(2).fit, X + (np.arange(320).reshape(20, 16) == 18) * (2 - X))
        self.refused(saltus.DataError, "X has shape (16,)", RBM(2).fit, X[0])
        self.refused(saltus.UsageError, "method is 'sgd'", RBM(2, method="sgd").fit, X)
        self.refused(saltus.UsageError, "hidden is 0", RBM(0).fit, X)
        self.refused(ValueError, "fit it first", RBM(2).transform, X)
        self.refused(saltus.DataError, "16 were learned from", RBM(2, n_iter=1, random_state=1).fit(X).transform, X[:, :5])
        self.refused(saltus.DataError, "X[0, 0] is 0; expected -1 or 1", Ising().fit, np.zeros((3, 3)))


class Spins(Test):
    def test_finds_the_couplings(self):
        J = ring()
        m = saltus.ising(J, h=0.1)
        S = saltus.sample(m, sampler="gibbs", draws=10000, seed=1, exact=False).draws.reshape(-1, 8)
        ising = Ising(steps=5, n_iter=3000, learning_rate=0.002, batch_size=1000, chains=1000,
                      random_state=2).fit(S)  # fmt: skip
        np.testing.assert_array_equal(ising.couplings_, ising.couplings_.T)
        self.assertLess(np.abs(ising.couplings_ - J).max(), 0.05)
        self.assertLess(np.abs(ising.fields_ - 0.1).max(), 0.05)
        self.assertEqual(set(np.unique(ising.sample(5, seed=1))) - {-1, 1}, set())

    def test_penalty_and_no_fields(self):
        S = np.where(np.random.default_rng(1).random((300, 5)) < 0.5, 1, -1)
        free = Ising(steps=2, n_iter=200, learning_rate=0.01, fields=False, random_state=1).fit(S)
        tight = Ising(steps=2, n_iter=200, learning_rate=0.01, fields=False, random_state=1, l1=0.1).fit(S)
        self.assertEqual(free.fields_.tolist(), [0] * 5)
        self.assertLess(np.abs(tight.couplings_).sum(), np.abs(free.couplings_).sum())


@unittest.skipUnless(PROGRAM, "SALTUS_PROGRAM does not name the program")
class Program(Test):
    def test_the_same_weights(self):
        X = bars(100)
        np.save(self.path("x.npy"), X.astype(np.uint8))
        for flags, options in (
            (["--cd", "3"], {"steps": 3}),
            (["--pcd", "20", "--steps", "2", "--l1", "0.01"], {"method": "pcd", "chains": 20, "steps": 2, "l1": 0.01}),
        ):
            program("learn", "rbm", "--data", self.path("x.npy"), "--hidden", "5", "--epochs", "4", "--batch",
                    "30", "--seed", "9", "--out", self.path("m.json"), *flags)  # fmt: skip
            here = RBM(5, n_iter=4, batch_size=30, random_state=9, **options).fit(X)
            with open(self.path("m.json")) as file:
                there = json.load(file)
            for name, mine in (
                ("weights", here.components_),
                ("visible_bias", here.intercept_visible_),
                ("hidden_bias", here.intercept_hidden_),
            ):
                np.testing.assert_array_equal(np.array(there[name], np.float32), mine.astype(np.float32))

    def test_the_same_couplings(self):
        S = bars(100)[:, :6]
        np.save(self.path("s.npy"), S.astype(np.uint8))
        program("learn", "ising", "--data", self.path("s.npy"), "--iterations", "20", "--pcd", "30", "--steps", "3",
                "--batch", "50", "--fields", "--seed", "4", "--out", self.path("m.json"))  # fmt: skip
        here = Ising(n_iter=20, chains=30, steps=3, batch_size=50, random_state=4).fit(2 * S - 1)
        there = saltus.model(self.path("m.json"))
        states = all_states(here.model_.domain)
        np.testing.assert_allclose(here.model_.logp(states), there.logp(states), rtol=1e-6, atol=1e-6)
        with open(self.path("m.json")) as file:
            self.assertEqual(json.load(file)["model"], "ising")


@unittest.skipUnless(SKLEARN, "scikit-learn is not installed")
class ScikitLearn(Test):
    def test_conventions(self):
        from sklearn.base import clone
        from sklearn.exceptions import NotFittedError
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import Pipeline
        from sklearn.utils.validation import check_is_fitted

        X = bars(80)
        y = X[:, :4].sum(1) > 2
        pipe = Pipeline([("rbm", RBM(6, n_iter=2, random_state=1)), ("last", LogisticRegression())])
        pipe.set_params(rbm__n_components=5)
        self.assertGreater(pipe.fit(X, y).score(X, y), 0.6)
        copied = clone(pipe.named_steps["rbm"])
        self.assertEqual(copied.n_components, 5)
        with self.assertRaises(NotFittedError):
            check_is_fitted(copied)
        with self.assertRaises(NotFittedError):
            copied.transform(X)
        check_is_fitted(copied.fit(X))
        search = GridSearchCV(RBM(3, n_iter=1, random_state=1), {"n_components": [2, 4]}, cv=2)
        self.assertIn(search.fit(X).best_params_["n_components"], (2, 4))
        self.assertIn("n_components=3", repr(RBM(3)))

    def test_sparse(self):
        import scipy.sparse as sp

        X = bars(40)
        a, b = (RBM(3, n_iter=1, random_state=1).fit(form) for form in (X, sp.csr_matrix(X)))
        np.testing.assert_array_equal(a.components_, b.components_)


if __name__ == "__main__":
    main()
