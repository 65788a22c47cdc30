"""A summary of wrong draws does not look content."""

import itertools

import saltus_cli
from saltus_cli import CliTest, strict_json

FAR_AWAY, CONSTANT, NOT_MIXED = "standard errors away from the exact answer", "never changed", "R-hat is up to"


class Warnings(CliTest):
    def test_all_chains_in_one_mode(self):
        # Eight spins, all coupled with 0.5, field 0.05: the mean is 0.379, and no chain ever leaves its mode.
        couplings = [[i, j, 0.5] for i, j in itertools.combinations(range(8), 2)]
        self.write("m.json", {"model": "ising", "n": 8, "couplings": couplings, "fields": [0.05] * 8})
        content = 0
        for seed in range(1, 21):
            out = self.good("sample", "m.json", "--seed", seed, "--draws", 5000).out
            self.assertTrue(FAR_AWAY in out or NOT_MIXED in out, f"seed {seed}: {out}")
            content += NOT_MIXED not in out
        self.assertGreater(content, 0, "chance never put all chains into one mode: other seeds are needed")

    def test_coordinates_that_never_moved(self):
        self.write("m.json", {"model": "bernoulli", "logits": [0, 60, -60]})
        self.assertIn("2 of 3 coordinates " + CONSTANT, self.good("sample", "m.json", "--draws", 200).out)
        j = strict_json(self.good("sample", "m.json", "--draws", 200, "--json").out)
        self.assertEqual(len([w for w in j["warnings"] if CONSTANT in w["sentence"]]), 1)

    def test_good_draws_are_not_warned_of(self):
        for seed in range(1, 21):
            out = self.good("sample", "--seed", seed, "--draws", 2000).out
            self.assertNotIn(FAR_AWAY, out)
            self.assertNotIn(CONSTANT, out)
        self.assertEqual(strict_json(self.good("sample", "--draws", 20000, "--json").out)["warnings"], [])


if __name__ == "__main__":
    saltus_cli.main()
