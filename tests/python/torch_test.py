"""Targets and samplers for PyTorch, on the CPU."""

import itertools
import warnings
import pickle
import sys

from support import Test, chi_square_is_plausible, main, probabilities  # first: says where NumPy is missing
import numpy as np

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)

import saltus

torch.set_num_threads(1)
random = np.random.default_rng(4)


class Rbm(torch.nn.Module):
    def __init__(self, W, b, c, dtype):
        super().__init__()
        self.W, self.b, self.c = (torch.nn.Parameter(torch.tensor(v, dtype=dtype)) for v in (W, b, c))

    def forward(self, x):
        return torch.nn.functional.softplus(x @ self.W.T + self.c).sum(1) + x @ self.b


class Targets(Test):
    def test_an_rbm_has_the_built_in_ones_draws(self):
        W, b, c = 0.3 * random.normal(size=(30, 20)), random.normal(size=20), random.normal(size=30)
        built_in = saltus.rbm(W, visible_bias=b, hidden_bias=c)
        options = {
            "sampler": saltus.DMALA(step_size=0.2), "chains": 16, "warmup": 0, "draws": 300,
            "seed": 2, "init": "random", "probe": False,
        }  # fmt: skip
        expected = saltus.sample(built_in, **options)
        for dtype in (torch.float32, torch.float64):
            net = Rbm(W, b, c, dtype)
            r = saltus.sample(saltus.torch.target(net, saltus.binary(20)), **options)
            same = (r.levels == expected.levels).all(axis=(1, 2))
            self.assertGreaterEqual(same.sum(), 15)  # rounding may part two chains once
            np.testing.assert_allclose(r.logp[same], expected.logp[same], rtol=1e-5, atol=1e-5)
            self.assertTrue(all(p.grad is None for p in net.parameters()))

    def test_a_large_rbm(self):
        W, b, c = 0.05 * random.normal(size=(500, 784)), random.normal(size=784) - 1, np.zeros(500)
        options = {
            "sampler": saltus.DMALA(step_size=0.2), "chains": 16, "warmup": 0, "draws": 60, "seed": 2,
            "init": "random", "probe": False, "exact": False,
        }  # fmt: skip
        expected = saltus.sample(saltus.rbm(W, visible_bias=b, hidden_bias=c), **options)
        net = Rbm(W, b, c, torch.float32)
        r = saltus.sample(saltus.torch.target(net, saltus.binary(784)), **options)
        # Rounding parts a chain where a uniform number of 47,000 a step meets a probability.
        same = (r.levels == expected.levels).all(axis=(1, 2)).sum()
        self.assertGreaterEqual(same, 14)

    def test_categorical_ring(self):
        table = torch.tensor(random.normal(size=(3, 3)))
        built_in = saltus.potts(
            np.zeros((5, 3)), {(i, (i + 1) % 5): table.numpy() for i in range(5)}
        )

        def ring(x):
            return torch.einsum("rik,kl,ril->r", x, table, x.roll(-1, 1))

        model = saltus.torch.target(ring, saltus.categorical(5, levels=3), dtype=torch.float64)
        self.assertEqual(model.name, "ring")
        x = random.integers(3, size=(40, 5))
        np.testing.assert_allclose(model.logp(x), built_in.logp(x), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(model.score(x).ravel(), built_in.score(x).ravel(), rtol=1e-4, atol=1e-5)

    def test_a_module_and_its_domain(self):
        net = torch.nn.Sequential(torch.nn.Linear(6, 1), torch.nn.Dropout(0.5), torch.nn.Flatten(0))
        net.train()
        net[0].eval()
        r = saltus.sample(net, domain=saltus.binary(6), draws=200, seed=1)
        self.assertEqual([m.training for m in net.modules()], [True, False, True, True])
        W, b = (p.detach().numpy().ravel() for p in net[0].parameters())
        mean = 1 / (1 + np.exp(-W))
        self.assertLess((abs(r.mean - mean) / r.mcse).max(), 5)
        self.assertTrue(saltus.verify(net, domain=saltus.binary(6)).ok)

    def test_side_effects(self):
        net = torch.nn.Sequential(torch.nn.Linear(6, 1), torch.nn.Flatten(0))
        before = torch.get_num_threads(), torch.get_rng_state().tolist(), torch.is_grad_enabled()
        with torch.no_grad():
            saltus.sample(net, domain=saltus.binary(6), draws=20, seed=1)
            self.assertFalse(torch.is_grad_enabled())
        after = torch.get_num_threads(), torch.get_rng_state().tolist(), torch.is_grad_enabled()
        self.assertEqual(before, after)

    def test_refusals(self):
        def target(f):
            return lambda: saltus.torch.target(f, saltus.binary(4))

        data = saltus.DataError
        self.refused(data, "shape (2, 1) for states of shape (2, 4); expected (2,): squeeze",
                     target(lambda x: x.sum(1, keepdim=True)))
        self.refused(data, "can be differentiated", target(lambda x: torch.zeros(len(x))))
        self.refused(data, "not finite", target(lambda x: x.sum(1).log()))
        self.refused(data, "it must be a function of the state",
                     target(lambda x: x.sum(1) - x.sum(1).mean()))
        self.refused(data, "returned float; expected a tensor", target(lambda x: 3.0))


def ising(x):
    return 0.6 * (x[:, 0] * x[:, 1] + x[:, 1] * x[:, 2]) + 0.3 * x[:, 0] - 0.2 * x[:, 2]


def bits(x):
    return ising(2 * x - 1)


def words(x):  # one-hot, 2 coordinates of 3 levels
    table = torch.tensor([[0.5, 0.0, -0.7], [0.1, 0.9, 0.0], [-0.4, 0.2, 0.6]])
    return torch.einsum("rk,kl,rl->r", x[:, 0], table, x[:, 1]) + 0.4 * x[:, 0, 1]


def states_of(domain):
    if domain == "categorical":
        eye = np.eye(3)
        return np.array([[eye[i], eye[j]] for i, j in itertools.product(range(3), repeat=2)])
    values = (0.0, 1.0) if domain == "binary" else (-1.0, 1.0)
    return np.array(list(itertools.product(values, repeat=3)))


def exact_matrix(f, domain, step_size, adjusted):
    """The transition matrix of the discrete Langevin proposal, by its definition, in NumPy:
    q_i(k | x) proportional to exp(score_ik / 2 - |v_k - x_i|^2 / (2 alpha)), one-hot flips costing
    1 as a change of a bit does. step_size None: of Gibbs with gradients, which changes one
    coordinate with probability proportional to exp(d / 2)."""
    states = states_of(domain)
    x = torch.tensor(states, dtype=torch.float64, requires_grad=True)
    logp = f(x.float() if domain == "categorical" else x).double()
    (score,) = torch.autograd.grad(logp.sum(), x)
    logp, score = logp.detach().numpy(), score.numpy()
    size = len(states)
    q = np.ones((size, size))
    if step_size is None:
        flat = states.reshape(size, -1)
        part = 2 if domain == "categorical" else 1  # entries that one change concerns
        one = (flat[:, None] != flat[None]).sum(2) == part
        d = ((flat[None] - flat[:, None]) * score.reshape(size, 1, -1)).sum(2) / 2
        q = np.where(one, np.exp(d), 0)
        q /= q.sum(1, keepdims=True)
    for s, t in () if step_size is None else itertools.product(range(size), repeat=2):
        for i in range(states.shape[1]):
            if domain == "categorical":
                d = (score[s, i] - score[s, i] @ states[s, i]) / 2
                weights = np.exp(d - (1 - states[s, i]) / (2 * step_size))
                q[s, t] *= weights @ states[t, i] / weights.sum()
            else:
                values = np.unique(states)
                d = (values - states[s, i]) * score[s, i] / 2
                weights = np.exp(d - (values - states[s, i]) ** 2 / (2 * step_size))
                q[s, t] *= weights[values == states[t, i]][0] / weights.sum()
    if not adjusted:
        return q, logp
    ratio = np.exp(logp[None] - logp[:, None]) * q.T / np.where(q > 0, q, 1)
    matrix = q * np.minimum(1, ratio)
    np.fill_diagonal(matrix, 0)
    np.fill_diagonal(matrix, 1 - matrix.sum(1))
    return matrix, logp


class Steps(Test):
    CASES = (("binary", bits, 0.3), ("spin", ising, 2.0), ("categorical", words, 0.5))

    def frequencies(self, sampler, f, domain, rows, n=1, dtype=torch.float32):
        """How often each state is followed by each other."""
        states = states_of(domain)
        x = torch.tensor(np.repeat(states, rows, axis=0), dtype=dtype)
        y = sampler.step(x, f, n).numpy()
        self.assertEqual(y.shape, x.shape)
        flat = states.reshape(len(states), -1)
        place = (y.reshape(len(y), 1, -1) == flat).all(2)
        self.assertTrue((place.sum(1) == 1).all())
        counts = np.zeros((len(states), len(states)))
        np.add.at(counts, (np.repeat(np.arange(len(states)), rows), place.argmax(1)), 1)
        return counts

    def test_follow_the_exact_matrix(self):
        rows = 8000
        for kind, adjusted in ((saltus.torch.DMALA, True), (saltus.torch.DULA, False)):
            for domain, f, step_size in self.CASES:
                matrix, logp = exact_matrix(f, domain, step_size, adjusted)
                if adjusted:  # the test's own matrix leaves the model invariant
                    p = np.exp(logp) / np.exp(logp).sum()
                    np.testing.assert_allclose(p @ matrix, p, atol=1e-7)
                # In single precision the library's passes serve two levels, in double precision
                # plain operations.
                for n, dtype in ((1, torch.float32), (3, torch.float32), (1, torch.float64), (2, torch.float64)):
                    if domain == "categorical" and dtype == torch.float64:
                        continue
                    sampler = kind(step_size, seed=n, domain=domain)
                    counts = self.frequencies(sampler, f, domain, rows, n, dtype)
                    expected = rows * np.linalg.matrix_power(matrix, n)
                    self.assertTrue(chi_square_is_plausible(counts.ravel(), expected.ravel()),
                                    f"{kind.__name__} {domain} {n}")

    def test_gibbs_with_gradients(self):
        for domain, f, _ in self.CASES:
            matrix, logp = exact_matrix(f, domain, None, True)
            p = np.exp(logp) / np.exp(logp).sum()
            np.testing.assert_allclose(p @ matrix, p, atol=1e-7)
            sampler = saltus.torch.GWG(seed=1, domain=domain)
            counts = self.frequencies(sampler, f, domain, 8000)
            self.assertTrue(chi_square_is_plausible(counts.ravel(), 8000 * matrix.ravel()), domain)

    def test_gibbs(self):
        for domain, f, _ in self.CASES:
            states = states_of(domain)
            logp = f(torch.tensor(states, dtype=torch.float32)).double().numpy()
            flat = states.reshape(len(states), -1)
            sites = states.shape[1]
            matrix = np.zeros((len(states), len(states)))
            for i in range(sites):
                others = np.delete(states, i, axis=1).reshape(len(states), -1)
                family = (others[:, None] == others[None]).all(2)
                weights = family * np.exp(logp)[None]
                matrix += weights / weights.sum(1, keepdims=True) / sites
            p = np.exp(logp) / np.exp(logp).sum()
            np.testing.assert_allclose(p @ matrix, p, atol=1e-7)
            self.assertEqual(len(flat), len(p))
            for n in (1, 2):
                sampler = saltus.torch.Gibbs(seed=n, domain=domain)
                counts = self.frequencies(sampler, f, domain, 8000, n)
                expected = 8000 * np.linalg.matrix_power(matrix, n)
                self.assertTrue(chi_square_is_plausible(counts.ravel(), expected.ravel()), domain)

    def test_paths(self):
        for domain, f in (("binary", bits), ("spin", ising)):
            states = states_of(domain)
            x = torch.tensor(states, dtype=torch.float64, requires_grad=True)
            logp = f(x)
            (score,) = torch.autograd.grad(logp.sum(), x)
            logp, score = logp.detach().numpy(), score.numpy()
            other = (1 - states) if domain == "binary" else -states
            weights = np.exp((other - states) * score / 2)
            for flips in (1, 2, 3):
                matrix = np.zeros((8, 8))
                for s in range(8):
                    for path in itertools.permutations(range(3), flips):
                        def q(of, order):
                            left, p = set(range(3)), 1.0
                            for i in order:
                                p *= weights[of, i] / sum(weights[of, j] for j in left)
                                left.remove(i)
                            return p

                        y = states[s].copy()
                        y[list(path)] = other[s][list(path)]
                        t = int((states == y).all(1).argmax())
                        forward = q(s, path)
                        chance = min(1, np.exp(logp[t] - logp[s]) * q(t, path[::-1]) / forward)
                        matrix[s, t] += forward * chance
                        matrix[s, s] += forward * (1 - chance)
                p = np.exp(logp) / np.exp(logp).sum()
                np.testing.assert_allclose(p @ matrix, p, atol=1e-12)
                counts = self.frequencies(saltus.torch.PAS(flips, seed=flips, domain=domain), f, domain, 8000)
                self.assertTrue(chi_square_is_plausible(counts.ravel(), 8000 * matrix.ravel()), (domain, flips))
        self.refused(saltus.UsageError, "flips is 0", saltus.torch.PAS, 0)
        self.refused(saltus.UsageError, "two levels", saltus.torch.PAS, 2, domain="categorical")

    def test_classes_as_integers(self):
        rows = torch.tensor([[0, 2], [1, 1], [2, 0]] * 50)
        hot = torch.nn.functional.one_hot(rows, 3).float()
        for kind in (saltus.torch.DMALA, saltus.torch.GWG, saltus.torch.Gibbs):
            numbers = kind(seed=3, domain="categorical", levels=3).step(rows, words, n=3)
            there = kind(seed=3, domain="categorical").step(hot, words, n=3)
            self.assertEqual((numbers.dtype, numbers.shape), (rows.dtype, rows.shape))
            self.assertTrue(torch.equal(numbers, there.argmax(-1)))

    def test_warns_of_batch_norm_in_training_once(self):
        net = torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1), torch.nn.Flatten(0))
        sampler = saltus.torch.DMALA(0.3, seed=1)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sampler.step(torch.zeros(4, 3), net)
            sampler.step(torch.zeros(4, 3), net)
        self.assertEqual([w.category for w in caught], [saltus.SaltusWarning])
        self.assertTrue(net.training)

    def test_a_few_graphs_are_kept(self):
        from saltus.torch._graph import KEPT, Graphs

        graphs, made = Graphs(), []

        def make(key):
            def f():
                if key == "wrong":
                    raise RuntimeError("it reads a value\nat some place")
                made.append(key)
                return key * 2

            return f

        self.assertIsNone(graphs.find(None, make("none")))
        for key in "ababcdeb":  # a is the oldest when e comes
            self.assertEqual(graphs.find(key, make(key)), key * 2)
        self.assertEqual((KEPT, made), (4, list("abcde")))
        graphs.find("a", make("a"))
        self.assertEqual(made, list("abcdea"))
        with self.assertWarnsRegex(saltus.SaltusWarning, "and slower: it reads a value$"):
            self.assertIsNone(graphs.find("wrong", make("wrong")))
        self.assertIsNone(graphs.find("wrong", make("wrong")))

    def test_follow_the_librarys_matrix(self):
        # One step of the C++ sampler from every state, against one of tensors: the same law.
        rows = 4000
        model = saltus.torch.target(bits, saltus.binary(3))
        states = states_of("binary")
        start = np.repeat(states, rows, axis=0)
        r = saltus.sample(model, sampler=saltus.DMALA(step_size=0.3), chains=len(start), warmup=0,
                          draws=1, seed=1, init=start, probe=False)
        place = (r.draws[:, 0][:, None] == states).all(2).argmax(1)
        counts = np.zeros((8, 8))
        np.add.at(counts, (np.repeat(np.arange(8), rows), place), 1)
        matrix, _ = exact_matrix(bits, "binary", 0.3, True)
        self.assertTrue(chi_square_is_plausible(counts.ravel(), rows * matrix.ravel()))

    def test_info_and_reuse(self):
        calls = 0

        def f(x):
            nonlocal calls
            calls += 1
            return bits(x)

        sampler = saltus.torch.DMALA(0.3, seed=1)
        x = torch.zeros(5000, 3)
        y = sampler.step(x, f, n=4)
        self.assertEqual(calls, 5)
        z = sampler.step(y, f, fresh=False)
        self.assertEqual(calls, 6)
        self.assertFalse(z.requires_grad)
        self.assertTrue(0 < sampler.info.acceptance_rate < 1)
        self.assertAlmostEqual(sampler.info.changes, float((z != y).sum() / 5000), 5)
        whole = saltus.torch.DMALA(0.3, seed=1)
        self.assertTrue(torch.equal(whole.step(x, bits, n=5), z))

    def test_types_stay(self):
        sampler = saltus.torch.DMALA(0.3, seed=1)
        for dtype in (torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool):
            x = torch.ones(4, 3, dtype=dtype)
            self.assertEqual(sampler.step(x, bits).dtype, dtype)

    def test_state(self):
        one = saltus.torch.DMALA(0.3, seed=1, adapt=True)
        x = one.step(torch.zeros(50, 3), bits, n=20)
        two = saltus.torch.DMALA(1.0, adapt=True)
        two.load_state_dict(one.state_dict())
        self.assertTrue(torch.equal(one.step(x, bits, 5), two.step(x, bits, 5)))
        self.assertEqual(one.step_size, two.step_size)
        self.assertNotEqual(one.step_size, 0.3)

    def test_refusals(self):
        usage = saltus.UsageError
        self.refused(usage, "step_size is -1; it must be above 0", saltus.torch.DMALA, -1)
        self.refused(usage, "levels is 3", saltus.torch.DMALA, 0.1, levels=3)
        self.refused(usage, "capture is 'yes'", saltus.torch.DMALA, 0.1, capture="yes")
        self.refused(usage, "cannot be pickled", pickle.dumps, saltus.torch.DMALA(0.1))
        self.refused(usage, "domain is 'bits'", saltus.torch.DMALA, 0.1, domain="bits")
        sampler = saltus.torch.DMALA(0.1)
        self.refused(usage, "n is 0", sampler.step, torch.zeros(2, 3), bits, 0)
        self.refused(usage, "takes tensors, not list", sampler.step, [[0, 1]], bits)
        self.refused(saltus.DataError, "expected (2,): squeeze", sampler.step, torch.zeros(2, 3),
                     lambda x: x.sum(1, keepdim=True))

    def test_persistent_contrastive_divergence(self):
        # A ring of 5 spins with couplings 0.4 is found again from its draws.
        J = np.zeros((5, 5))
        for i in range(5):
            J[i, (i + 1) % 5] = J[(i + 1) % 5, i] = 0.4
        states, p = probabilities(saltus.ising(J))
        moments = torch.tensor(np.einsum("s,si,sj->ij", p, states, states), dtype=torch.float32)
        W = torch.nn.Parameter(torch.zeros(5, 5))
        sampler = saltus.torch.DMALA(step_size=1.0, seed=1, domain="spin", adapt=True)
        x = torch.sign(torch.randn(2000, 5, generator=torch.Generator().manual_seed(1)))
        total = torch.zeros(5, 5)
        for k in range(240):
            x = sampler.step(x, lambda v: torch.einsum("ri,ij,rj->r", v, (W + W.T).triu(1), v), n=2)
            with torch.no_grad():
                W += (0.3 / (1 + k / 60)) * ((moments - x.T @ x / len(x)) / 2).fill_diagonal_(0)
                total += W if k >= 120 else 0
        learned = (total / 120 * 2).numpy()
        self.assertLess(abs(learned - J).max(), 0.05)


if __name__ == "__main__":
    main()
