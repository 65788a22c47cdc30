"""Given values and constraints: the same law, and the same bits as the program's."""

import copy
import json
import os
import pickle

from support import PROGRAM, Test, main, probabilities, program, unittest
import numpy as np
import saltus


def conditioned(model, given, rule=lambda x: True):
    """Means of the coordinates of a small model, by going through all states that are left."""
    states, p = probabilities(model)
    left = np.array([all(x[i] == v for i, v in given.items()) and rule(x) for x in states])
    p = p * left
    return (p / p.sum()) @ states


J = np.triu(np.random.default_rng(3).normal(scale=0.4, size=(6, 6)), 1)


class Given(Test):
    def setUp(self):
        super().setUp()
        self.model = saltus.ising(J, h=0.2)

    def agree(self, result, expected):
        error = np.abs(result.mean - expected)
        self.assertTrue((error <= 5 * np.nan_to_num(result.mcse) + 1e-12).all(), error)

    def test_a_mapping(self):
        r = saltus.sample(self.model, given={1: -1, 4: 1}, seed=1)
        self.assertEqual(r.draws.shape, (4, 10000, 6))
        self.assertTrue((r.draws[..., 1] == -1).all() and (r.draws[..., 4] == 1).all())
        self.agree(r, conditioned(self.model, {1: -1, 4: 1}))
        self.assertTrue(np.isnan(r.ess[[1, 4]]).all())
        self.assertEqual(r.stats["complete"], True)

    def test_attributes(self):
        r = saltus.sample(self.model, given={1: -1}, constrain="sum=3", draws=20, seed=1)
        attributes = saltus._arviz._attributes(r)
        self.assertEqual((attributes["given"], attributes["constraint"]), ("1=0", "sum=3"))
        self.assertNotIn("given", json.loads(attributes["model_json"]))

    def test_other_forms_are_the_same(self):
        array = np.full(6, np.nan)
        array[[1, 4]] = -1, 1
        masked = np.ma.masked_array([0, -1, 0, 0, 1, 0], mask=[1, 0, 1, 1, 0, 1])
        draws = [
            saltus.sample(self.model, given=form, draws=300, seed=2, exact=False).levels
            for form in ({1: -1, 4: 1}, {(1,): -1, 4: 1.0}, array, masked, "1=0,4=1")
        ]
        for other in draws[1:]:
            np.testing.assert_array_equal(other, draws[0])

    def test_labels(self):
        m = saltus.potts([[0.0, 0.5, 1.0], [0.1, 0.2]], {(0, 1): [[1, 0], [0, 1], [0, 0]]})
        m.labels = ["a", "b"]
        r = saltus.sample(m, given={"a": 2}, seed=1, sampler="gibbs", draws=500)
        self.assertTrue((r.draws[..., 0] == 2).all())

    def test_what_every_service_says(self):
        given = {0: 1, 3: -1}
        m = self.model.restrict(given=given)
        self.assertEqual(m.given, {0: 1, 3: 0})
        states, p = probabilities(self.model)
        left = (states[:, 0] == 1) & (states[:, 3] == -1)
        log_z = np.log(np.exp(self.model.logp(states))[left].sum())
        answer = m.exact()
        self.assertAlmostEqual(answer.log_z, log_z, 9)
        np.testing.assert_allclose(answer.mean, conditioned(self.model, given), atol=1e-9)
        self.assertEqual(answer.best[0], 1)
        self.assertEqual(answer.best.shape, (6,))
        z = saltus.logz(self.model, given=given, betas=200, seed=1)
        self.assertAlmostEqual(z.exact, log_z, 9)
        self.assertTrue(z.low - 0.2 < log_z < z.high + 0.2)
        best = saltus.anneal(self.model, given=given, restarts=20, steps=50, seed=1)
        np.testing.assert_array_equal(best.best, answer.best)
        self.assertTrue(saltus.verify(self.model, "dmala", given=given).ok)
        self.assertTrue(saltus.compare(self.model, ["gibbs", "dmala"], given=given, budget=0.05).table is not None)
        self.assertAlmostEqual(m.logp(answer.best), self.model.logp(answer.best))

    def test_callables(self):
        f = saltus.function(lambda x: self.model.logp(x), saltus.spin(6), gradient=False)
        r = saltus.sample(f, given={2: 1}, sampler="gibbs", seed=1, draws=4000)
        self.agree(r, conditioned(self.model, {2: 1}))

    def test_copies(self):
        m = self.model.restrict(given={2: 1}, constrain="sum=3")
        for other in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m)):
            self.assertEqual((other.given, other.constraint), ({2: 1}, "sum=3"))
            np.testing.assert_array_equal(
                saltus.sample(m, draws=100, seed=1, exact=False).levels,
                saltus.sample(other, draws=100, seed=1, exact=False).levels,
            )
        again = saltus._models._parse(m.text, "a model")
        self.assertEqual((again.given, again.constraint), ({2: 1}, "sum=3"))

    def test_starts(self):
        start = np.ones(6)
        r = saltus.sample(self.model, given={2: 1}, init=start, draws=5, warmup=0, seed=1, exact=False,
                          sampler=saltus.DMALA(step_size=0.2))  # fmt: skip
        self.assertEqual(r.draws.shape, (4, 5, 6))
        self.refused(
            saltus.DataError, "which is given as 0", saltus.sample, self.model, given={2: -1}, init=start
        )

    def test_refusals(self):
        say = lambda sentence, given, kind=saltus.DataError: self.refused(  # noqa: E731
            kind, sentence, saltus.sample, self.model, given=given
        )
        say("given has an entry for 6, which is no coordinate", {6: 1})
        say("given has an entry for 'a', which is no coordinate", {"a": 1})
        say("given[2] is 0, which is no value", {2: 0})
        say("given has shape (5,); expected (6,)", np.zeros(5))
        say("all coordinates of the model ising are given", np.ones(6), saltus.UsageError)
        m = self.model.restrict(given={1: 1})
        self.refused(saltus.UsageError, "restricted already", m.restrict, given={2: 1})


class Constrained(Test):
    def test_means(self):
        m = saltus.ising(J, h=0.2)
        rules = {
            "sum=2": lambda x: (x == 1).sum() == 2,
            "parity=odd": lambda x: (x == 1).sum() % 2 == 1,
            "one-hot=0-2,3-5": lambda x: (x[:3] == 1).sum() == 1 and (x[3:] == 1).sum() == 1,
        }
        for rule, holds in rules.items():
            r = saltus.sample(m, constrain=rule, seed=1)
            self.assertTrue(all(holds(x) for x in r.draws[:, ::100].reshape(-1, 6)))
            expected = conditioned(m, {}, holds)
            self.assertTrue((np.abs(r.mean - expected) <= 5 * r.mcse).all())
            np.testing.assert_allclose(m.restrict(constrain=rule).exact().mean, expected, atol=1e-9)

    def test_both(self):
        m = saltus.ising(J, h=0.2)
        r = saltus.sample(m, constrain="sum=2", given={5: 1}, seed=1)
        self.assertTrue(((r.draws == 1).sum(-1) == 2).all())
        expected = conditioned(m, {5: 1}, lambda x: (x == 1).sum() == 2)
        self.assertTrue((np.abs(r.mean - expected) <= 5 * np.nan_to_num(r.mcse) + 1e-12).all())

    def test_refusals(self):
        m = saltus.ising(J)
        self.refused(saltus.UsageError, "sum", saltus.sample, m, constrain="sum=9")
        self.refused(saltus.UsageError, "two levels", saltus.sample, saltus.poisson([1.0]), constrain="sum=1")
        self.refused(saltus.UsageError, "sampler", saltus.sample, m, constrain="sum=2", sampler="rwm")


@unittest.skipUnless(PROGRAM, "SALTUS_PROGRAM does not name the program")
class Program(Test):
    def same(self, model, arguments, options):
        out = self.path("out.npz")
        program("sample", model, "--draws", "200", "--seed", "3", "--out", out, *arguments)
        r = saltus.sample(model, draws=200, seed=3, exact=False, **options)
        with np.load(out) as file:
            levels = file[[k for k in file.files if file[k].ndim >= 3][0]]
        os.remove(out)
        np.testing.assert_array_equal(levels.reshape(r.levels.shape), r.levels)

    def test_draws(self):
        saltus.ising(J, h=0.2).save(self.path("m.json"))
        path = self.path("m.json")
        self.same(path, ["--given", "1=1,3=0"], {"given": {1: 1, 3: -1}})
        self.same(path, ["--constrain", "sum=3"], {"constrain": "sum=3"})
        self.same(path, ["--constrain", "sum=3", "--given", "0=1"], {"constrain": "sum=3", "given": {0: 1}})

    def test_hard_clauses(self):
        with open(self.path("f.cnf"), "w") as file:
            file.write("p cnf 4 3\n1 2 0\n-1 3 0\n-2 -4 0\n")
        m = saltus.model(self.path("f.cnf"), hard=True)
        there = program("logz", self.path("f.cnf"), "--hard", "--json", "--betas", "20")
        self.assertAlmostEqual(m.exact().log_z, there["exact"], 9)

    def test_certificates(self):
        c = saltus.certify("ising-2x2", saltus.DMALA(step_size=0.4), pairs=300, seed=1)
        there = program("certify", "ising-2x2", "--set", "step_size=0.4", "--pairs", "300", "--json")
        self.assertTrue(c.certified)
        self.assertEqual(c.warmup, there["recommended_warmup"])
        self.assertEqual(json.loads(json.dumps(c.curve)), there["bound"])


if __name__ == "__main__":
    main()
