"""A summary of wrong draws does not look content."""

import itertools

import saltus_cli
from saltus_cli import CliTest, strict_json

FAR_AWAY, CONSTANT, NOT_MIXED = "standard errors away from the exact answer", "never changed", "R-hat is up to"


class Warnings(CliTest):
    def test_all_chains_in_one_mode(self):
        # Eight spins, all coupled with 0.5, field 0.05: the mean is 0.379, and no chain ever leaves its mode. Dispersed
        # chains disagree; those that start at random may all be in one mode, and then the exact answer tells.
        couplings = [[i, j, 0.5] for i, j in itertools.combinations(range(8), 2)]
        self.write("m.json", {"model": "ising", "n": 8, "couplings": couplings, "fields": [0.05] * 8})
        for seed in range(1, 11):
            self.assertIn(NOT_MIXED, self.good("sample", "m.json", "--seed", seed, "--draws", 5000).out)
        content = 0
        for seed in range(1, 21):
            out = self.good("sample", "m.json", "--seed", seed, "--draws", 5000, "--init", "random").out
            self.assertTrue(FAR_AWAY in out or NOT_MIXED in out, f"seed {seed}: {out}")
            content += NOT_MIXED not in out
        self.assertGreater(content, 0, "chance never put all chains into one mode: other seeds are needed")

    def lattice(self):
        self.write("l.json", {"model": "ising-lattice", "shape": [10, 10], "a": 0.4, "b": 0, "periodic": True})
        return "l.json"

    def test_modes_that_no_chain_has_visited(self):
        done = self.good("sample", self.lattice(), "--init", "zeros", "--draws", 3000)
        self.assertIn("searches that began elsewhere ended in states unlike all draws", done.out)
        self.assertIn("l.json --init zeros --draws 3000 --temper --sampler gibbs\n", done.out)
        self.assertIn("saltus: warning: ", done.err)
        done = self.good("sample", "l.json", "--init", "zeros", "--draws", 3000, "--no-probe")
        self.assertNotIn("searches", done.out)

    def test_the_remedy_helps(self):
        j = self.summary(self.lattice(), "--temper", "--sampler", "gibbs")
        self.assertEqual((j["warnings"], j["verdict"]), ([], "ok"))
        # the mean is 0; six standard errors of a coordinate with this ESS
        self.assertLess(max(map(abs, j["mean"])), 6 / j["ess"]["min"] ** 0.5)

    def test_a_strong_pair_is_never_wrong_and_content(self):
        for J, seed in itertools.product((8, 30), range(1, 11)):
            self.write("p.json", {"model": "ising", "n": 3, "couplings": [[0, 1, J]], "fields": [0.2, 0, 0]})
            j = self.summary("p.json", "--seed", seed, "--draws", 2000)
            right = abs(j["mean"][0] - 0.19737532) < 0.1
            self.assertTrue(right or j["verdict"] != "ok", f"J = {J}, seed {seed}: {j}")

    def test_verdicts_and_status(self):
        j = self.summary("--draws", 20000)
        self.assertEqual((j["warnings"], j["verdict"]), ([], "ok"))
        self.assertEqual(self.saltus("sample", "--draws", 20000, "--strict").status, 0)
        self.write("m.json", {"model": "bernoulli", "logits": [0, 60, -60]})
        done = self.saltus("sample", "m.json", "--draws", 200, "--json", "--strict")
        self.assertEqual(done.status, 3)
        j = strict_json(done.out)
        self.assertEqual(([w["code"] for w in j["warnings"]], j["verdict"]), (["constant"], "doubtful"))
        self.assertIn("saltus: warning: 2 of 3 coordinates", done.err)

    def test_infinite_rhat_is_not_a_missing_one(self):
        self.write("s.txt", "0 0 0\n1 1 1\n")
        self.write("m.json", {"model": "ising", "n": 3, "couplings": [[0, 1, 40], [1, 2, 40]], "fields": [0, 0, 0]})
        still = ["m.json", "--draws", 200, "--chains", 2, "--init", "s.txt", "--warmup", 0, "--sampler", "gibbs"]
        self.assertEqual(self.summary(*still)["rhat"]["max"], "inf")
        self.write("m.json", {"model": "bernoulli", "logits": [60, 60]})
        self.assertIsNone(self.summary("m.json", "--draws", 200)["rhat"]["max"])

    def test_coordinates_that_never_moved(self):
        self.write("m.json", {"model": "bernoulli", "logits": [0, 60, -60]})
        self.assertIn("2 of 3 coordinates " + CONSTANT, self.good("sample", "m.json", "--draws", 200).out)
        j = strict_json(self.good("sample", "m.json", "--draws", 200, "--json").out)
        self.assertEqual(len([w for w in j["warnings"] if CONSTANT in w["sentence"]]), 1)

    def test_observables_and_the_best_state(self):
        j = self.summary("--draws", 5000)
        self.assertEqual([o["name"] for o in j["observables"]], ["log p", "mean of x", "overlap", "neighbours"])
        magnetisation = j["observables"][1]
        # of every few draws
        self.assertAlmostEqual(magnetisation["mean"], sum(j["mean"]) / 25, delta=5 * magnetisation["mcse"])
        self.assertLess(magnetisation["rhat"], 1.01)
        self.assertEqual(len(j["best"]["state"]), 25)
        # the 5 x 5 lattice's best state: all spins up, 50 couplings of 0.1 counted twice, 25 fields of 0.2
        self.assertAlmostEqual(j["best"]["logp"], 2 * 50 * 0.1 + 25 * 0.2, delta=1e-9)
        self.assertEqual(j["best"]["state"], [1] * 25)

    def test_good_draws_are_not_warned_of(self):
        for seed in range(1, 21):
            out = self.good("sample", "--seed", seed, "--draws", 2000).out
            self.assertNotIn(FAR_AWAY, out)
            self.assertNotIn(CONSTANT, out)


if __name__ == "__main__":
    saltus_cli.main()
