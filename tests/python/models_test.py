"""Models from arrays, graphs and files: log p by enumeration, and what is refused."""

import copy
import pickle

from support import Test, all_states, main, probabilities  # first: says where NumPy is missing
import numpy as np
import saltus

random = np.random.default_rng(1)


class Graph:
    """As much of networkx as is asked for."""

    def __init__(self, edges, directed=False):
        self._edges = edges
        self.nodes = list(dict.fromkeys(v for a, b, _ in edges for v in (a, b)))
        self._directed = directed

    def edges(self, data):
        assert data
        return self._edges

    def is_directed(self):
        return self._directed

    def is_multigraph(self):
        return False


class Sparse:
    """As much of a scipy.sparse matrix as is asked for."""

    def __init__(self, dense):
        self.shape = dense.shape
        self.row, self.col = (k.astype(np.int64) for k in np.nonzero(dense))
        self.data = dense[self.row, self.col]

    def tocoo(self, copy):
        return self

    def sum_duplicates(self):
        pass


def spin_glass(n):
    upper = np.triu(random.normal(size=(n, n)), 1) * (random.random((n, n)) < 0.7)
    return upper + upper.T, random.normal(size=n)


class LogP(Test):
    def check(self, model, logp):
        states = all_states(model.domain)
        got = model.logp(states)
        expected = np.array([logp(s) for s in states])
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
        self.assertAlmostEqual(model.logp(states[3]), got[3])

    def test_ising_in_all_its_forms(self):
        J, h = spin_glass(6)
        logp = lambda s: s @ J @ s / 2 + h @ s  # noqa: E731
        for form in (J, np.triu(J), np.tril(J), J.tolist(), Sparse(J), Sparse(np.triu(J))):
            model = saltus.ising(form, h)
            self.check(model, logp)
            states = all_states(model.domain)
            np.testing.assert_allclose(model.score(states), states @ J + h, rtol=1e-5, atol=1e-6)
        self.check(saltus.ising(J, 0.25), lambda s: s @ J @ s / 2 + 0.25 * s.sum())
        self.check(saltus.ising(J), lambda s: s @ J @ s / 2)

    def test_graph(self):
        g = Graph([("a", "b", {"weight": 0.5}), ("b", "c", {"weight": -1.0})])
        model = saltus.ising(g, h={"c": 0.75})
        self.check(model, lambda s: 0.5 * s[0] * s[1] - s[1] * s[2] + 0.75 * s[2])
        self.check(saltus.ising(g, coupling=0.1), lambda s: 0.1 * (s[0] * s[1] + s[1] * s[2]))
        r = saltus.sample(model, draws=50, seed=1)
        self.assertEqual(r.dims, ["node"])
        self.assertEqual(r.coords["node"], ["a", "b", "c"])
        self.assertEqual(r.coordinate_names()[2], "x[c]")

    def test_scipy(self):
        try:
            import scipy.sparse as sp
        except ImportError:
            self.skipTest("SciPy is not installed")
        J, h = spin_glass(6)
        for form in (sp.coo_matrix, sp.csr_matrix, sp.csc_matrix):
            self.check(saltus.ising(form(J), h), lambda s: s @ J @ s / 2 + h @ s)
            self.check(saltus.quadratic(form(J), h, levels=2), lambda x: x @ J @ x + h @ x)

    def test_networkx(self):
        try:
            import networkx as nx
        except ImportError:
            self.skipTest("networkx is not installed")
        g = nx.Graph()
        g.add_edge("a", "b", weight=0.5)
        g.add_edge("b", 3, weight=-1.0)
        model = saltus.ising(g, h={3: 0.75})
        self.assertEqual(model.labels, ["a", "b", 3])
        self.check(model, lambda s: 0.5 * s[0] * s[1] - s[1] * s[2] + 0.75 * s[2])
        self.refused(saltus.DataError, "the graph is directed", saltus.ising, nx.DiGraph(g))

    def test_lattice_counts_edges_twice(self):
        model = saltus.lattice((2, 3), a=0.1, b=0.2)
        W = np.zeros((6, 6))
        for i, j in ((0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)):
            W[i, j] = W[j, i] = 1
        self.check(model, lambda s: 0.1 * s @ W @ s + 0.2 * s.sum())
        self.assertEqual(model.shape, (2, 3))

    def test_quadratic(self):
        A, b = random.normal(size=(3, 3)), random.normal(size=3)
        self.check(saltus.quadratic(A, b, levels=3), lambda v: v @ A @ v + b @ v)

    def test_rbm(self):
        W, b, c = random.normal(size=(3, 4)), random.normal(size=4), random.normal(size=3)
        model = saltus.rbm(W, visible_bias=b, hidden_bias=c)
        self.check(model, lambda x: np.logaddexp(0, W @ x + c).sum() + b @ x)

    def test_potts_and_independent(self):
        table = random.normal(size=(3, 2))
        model = saltus.potts([[0, 0.5, 1], [0.2, 0]], {(0, 1): table})
        unary = [[0, 0.5, 1], [0.2, 0]]
        self.check(model, lambda c: unary[0][int(c[0])] + unary[1][int(c[1])] + table[tuple(c.astype(int))])
        self.check(saltus.bernoulli([0.5, -1]), lambda x: 0.5 * x[0] - x[1])
        self.assertAlmostEqual(float(saltus.poisson([2.0]).logp([1])), np.log(2.0), places=5)

    def test_exact(self):
        J, h = spin_glass(5)
        model = saltus.ising(J, h)
        states, p = probabilities(model)
        answer = model.exact()
        np.testing.assert_allclose(answer.mean, p @ states, atol=1e-9)
        np.testing.assert_allclose(answer.log_z, np.log(np.exp(model.logp(states)).sum()), rtol=1e-7)
        self.assertEqual(answer.best.tolist(), states[p.argmax()].tolist())


class Files(Test):
    def test_round_trips(self):
        J, h = spin_glass(5)
        W = random.normal(size=(3, 4))
        function = saltus.function(spin_sum, saltus.spin(3))
        for model in (saltus.ising(J, h), saltus.rbm(W), saltus.model("potts"), function,
                      saltus.lattice((2, 2), 0.1), saltus.quadratic(np.eye(3), levels=3),
                      saltus.ising(Graph([("a", "b", {"weight": 1.0})]))):
            states = all_states(model.domain)
            for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
                self.assertTrue(np.array_equal(model.logp(states), other.logp(states)))
                self.assertEqual(model.labels, other.labels)
            if model is not function:
                model.save(self.path("m.json"))
                other = saltus.model(self.path("m.json"))
                np.testing.assert_allclose(model.logp(states), other.logp(states), rtol=1e-12)
        for sampler in (saltus.DMALA(step_size=0.2), saltus.GWG(flips=3)):
            self.assertEqual(pickle.loads(pickle.dumps(sampler)), sampler)

    def test_built_in(self):
        self.assertIn("potts", saltus.models())
        self.assertIn("dmala", saltus.samplers())
        self.assertIn("block_gibbs", saltus.model("rbm").samplers)
        self.assertNotIn("block_gibbs", saltus.model("potts").samplers)

    def test_inverse_temperature(self):
        cold, warm = saltus.model("ising", beta=2.0), saltus.model("ising")
        states = all_states(warm.domain)
        np.testing.assert_allclose(cold.logp(states), 2 * warm.logp(states), rtol=1e-6, atol=1e-6)


def spin_sum(x):
    return 0.1 * x.sum(1), np.full_like(x, 0.1)


class Refusals(Test):
    def test_matrices(self):
        def with_entry(i, j, value):
            J = np.zeros((3, 3))
            J[i, j] = value
            return J

        data = saltus.DataError
        self.refused(data, "J[0][2] is nan, not a finite number", saltus.ising, with_entry(0, 2, np.nan))
        self.refused(data, "J[1][1] is 2.0: a spin is not coupled to itself", saltus.ising, with_entry(1, 1, 2))
        self.refused(data, "J has shape (2, 3); expected a square matrix", saltus.ising, np.ones((2, 3)))
        unequal = with_entry(0, 1, 3) + with_entry(1, 0, 2)
        self.refused(data, "J[0][1] is 3.0, but J[1][0] is 2.0: expected a symmetric", saltus.ising, unequal)
        lonely = with_entry(0, 1, 3) + with_entry(2, 1, 2)
        self.refused(data, "but J[1][0] is 0: expected a symmetric", saltus.ising, lonely)
        self.refused(data, "h has 2 entries; there are 3 coordinates", saltus.ising, np.zeros((3, 3)), [1, 2])
        self.refused(data, "h has an entry for 7, which is no coordinate", saltus.ising, np.zeros((3, 3)), {7: 1})
        self.refused(data, "h[1] is inf, not a finite number", saltus.ising, np.zeros((2, 2)), [0, np.inf])
        self.refused(data, "J is no array of numbers", saltus.ising, [["a", "b"], ["c", "d"]])
        edge = [("a", "b", {"weight": 1.0})]
        self.refused(data, "the graph is directed", saltus.ising, Graph(edge, directed=True))
        self.refused(data, "has no attribute 'J'", saltus.ising, Graph(edge), coupling="J")
        self.refused(saltus.UsageError, "levels is 1; it must be from 2", saltus.quadratic, np.eye(2), levels=1)

    def test_states(self):
        m = saltus.ising(np.zeros((3, 3)))
        self.refused(saltus.DataError, "row 0 has 0 at coordinate 1; expected -1 or 1", m.logp, [1, 0, 1])
        self.refused(saltus.DataError, "have shape (2,); expected (rows, 3)", m.logp, [1, 1])
        self.refused(saltus.DataError, "row 1 has nan at coordinate 0", m.logp, [[1, 1, 1], [np.nan, 1, 1]])
        self.refused(saltus.DataError, "expected numbers", m.logp, ["a", "b", "c"])
        self.refused(saltus.DataError, "init: row 0 has 2", saltus.sample, m, init=[2, 1, 1])
        self.refused(saltus.UsageError, "init has 2 states for 4 chains", saltus.sample, m, init=[[1, 1, 1]] * 2)
        self.refused(saltus.UsageError, 'init is "zero"; expected dispersed', saltus.sample, m, init="zero")

    def test_options(self):
        m, usage = saltus.model("ising-lattice"), saltus.UsageError
        self.refused(usage, "there is no sampler 'dmalo'", saltus.sample, m, sampler="dmalo")
        self.refused(usage, "step_size is -1", saltus.sample, m, sampler=saltus.DMALA(step_size=-1))
        self.refused(usage, "hidden units", saltus.sample, m, sampler="block_gibbs")
        self.refused(usage, "7 is no sampler", saltus.sample, m, sampler=7)
        for seed in (-1, 2**64, 1.5, "x", True):
            self.refused(usage, "expected a whole number from 0 to 2^64 - 1", saltus.sample, m, seed=seed)
        for key in ("chains", "draws"):
            self.refused(usage, f"{key} is 0; expected a whole number from 1", saltus.sample, m, **{key: 0})
            self.refused(usage, f"{key} is 2.5; expected a whole", saltus.sample, m, **{key: 2.5})
        self.refused(usage, "warmup is -1; expected a whole number from 0 on", saltus.sample, m, warmup=-1)
        self.refused(usage, "thin is 0; expected a whole number from 1 on", saltus.sample, m, thin=0)
        self.refused(usage, 'record is "all"; expected draws or moments', saltus.sample, m, record="all")
        self.refused(usage, "betas belongs to temper", saltus.sample, m, betas=[0, 1])
        self.refused(usage, "observables need the draws", saltus.sample, m, observe=["mean(x)"], record="moments")
        self.refused(usage, "domain is 3; expected one such as", saltus.function, spin_sum, 3)
        self.refused(usage, "a callable needs a domain", saltus.sample, spin_sum)
        self.refused(usage, "list is no model", saltus.sample, [1, 2])
        self.refused(usage, "levels is 1; it must be", saltus.ordered, 3, levels=1)
        self.refused(usage, "expected whole numbers from 1 on", saltus.binary, 0)
        self.refused(usage, "is no number, text or list", saltus.sample, m, tile={1})
        self.refused(usage, 'method is "all"; expected ais', saltus.logz, m, method="all")
        self.refused(usage, 'schedule is "slow"; expected adaptive', saltus.anneal, m, schedule="slow")
        self.refused(usage, "budget is 0.0; expected a number from", saltus.compare, m, budget=0.0)
        with self.assertRaises(TypeError):
            saltus.DMALA(stepsize=0.2)
        self.assertIsInstance(usage("x"), ValueError)

    def test_files(self):
        self.refused(saltus.FileError, "no built-in model 'pots'. Did you mean potts?", saltus.model, "pots")
        with open(self.path("bad.json"), "w") as file:
            file.write('{"model": "potts"}')
        self.refused(saltus.DataError, "'levels' is missing", saltus.model, self.path("bad.json"))
        self.refused(saltus.FileError, "cannot", saltus.model("potts").save, "/nowhere/m.json")
        self.refused(saltus.FileError, "cannot read", saltus.load, self.path("none.npz"))
        self.refused(saltus.UsageError, "no exact answer", saltus.exact, saltus.poisson([1.0]))


if __name__ == "__main__":
    main()
