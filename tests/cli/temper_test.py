"""saltus sample --temper: models with many modes, the ladder that is shown, refusals, and stopping and resuming."""

import itertools

import saltus_cli
from saltus_cli import CliTest, read_npz, strict_json

USAGE, DATA, NO_INPUT = 64, 65, 66
MEAN, LOG_Z = .3787658692, 14.7783104356


class Temper(CliTest):
    def setUp(self):
        super().setUp()
        # Eight spins, all coupled: two modes that plain chains do not travel between.
        couplings = [[i, j, 0.5] for i, j in itertools.combinations(range(8), 2)]
        self.write("m.json", {"model": "ising", "n": 8, "couplings": couplings, "fields": [0.05] * 8})

    def json(self, *arguments):
        return strict_json(self.good("sample", "m.json", "--json", *arguments).out)

    def test_right_where_plain_chains_are_wrong(self):
        for seed in range(1, 11):
            out = self.good("sample", "m.json", "--temper", "--seed", seed).out
            self.assertNotIn("Do not use these draws", out, f"seed {seed}")
            self.assertIn("round trips", out)
            self.assertIn("4 tempered ensembles x 10,000 draws after 1,000 warm-up scans", out)

    def test_what_json_says(self):
        j = self.json("--temper", "auto", "--draws", 20000)
        t = j["tempering"]
        self.assertEqual(t["betas"][0], 0)
        self.assertEqual(t["betas"][-1], 1)
        self.assertEqual(len(t["betas"]), t["replicas"])
        for name in ("rejection", "local_barrier"):
            self.assertEqual(len(t[name]), t["replicas"] - 1)
        for name in ("step_size", "acceptance_rate", "correlation"):
            self.assertEqual(len(t[name]), t["replicas"])
            self.assertIsNone(t[name][0])  # of the base
        self.assertAlmostEqual(t["barrier"], sum(t["rejection"]), places=12)
        self.assertGreaterEqual(t["restarts"], t["round_trips"])
        self.assertLess(t["round_trip_rate"], t["round_trip_rate_bound"])
        # About 0.5 is the standard deviation of an estimate from 100 independent draws.
        self.assertAlmostEqual(t["log_z"]["bridge"], LOG_Z, delta=0.1)
        self.assertEqual(j["warnings"], [])

    def test_a_ladder_and_a_base_of_ones_own(self):
        self.write("betas.txt", "0 0.25 0.5\n0.75, 1\n")
        self.write("base.txt", " ".join(["0.6"] * 8))
        j = self.json("--temper", "--betas", "betas.txt", "--steps", 4, "--base", "base.txt", "--draws", 20000,
                      "--set", "step_size=0.5")
        t = j["tempering"]
        self.assertEqual(t["betas"], [0, .25, .5, .75, 1])
        # Exact rejection rates of this base; their standard deviations in such a run are at most 0.01.
        for found, exact in zip(t["rejection"], [.5172997327, .6036629357, .2405028338, .1415512127]):
            self.assertAlmostEqual(found, exact, delta=0.04)
        self.assertEqual(len(self.json("--temper", 3, "--draws", 100)["tempering"]["betas"]), 3)

    def test_warns_when_nothing_travelled(self):
        j = self.json("--temper", 2, "--draws", 4)
        self.assertTrue(any("from the base to the model" in w for w in j["warnings"]), j["warnings"])

    def test_refusals(self):
        self.write("counts.json", {"model": "poisson", "rate": [1, 2]})
        self.write("bad.txt", "0 0.5 0.4 1")
        self.write("short.txt", "0.5 0.5")
        for status, words, arguments in [
                (USAGE, "dula", ["m.json", "--temper", "--sampler", "dula"]),
                (USAGE, "unbounded", ["counts.json", "--temper", "--set", "window=1"]),
                (USAGE, "--init", ["m.json", "--temper", "--init", "bad.txt"]),
                (USAGE, "--base belongs to --temper", ["m.json", "--base", "uniform"]),
                (USAGE, "--betas belongs to --temper", ["m.json", "--betas", "bad.txt"]),
                (USAGE, "--steps belongs to --temper", ["m.json", "--steps", 2]),
                (USAGE, "--temper 1", ["m.json", "--temper", "1"]),
                (USAGE, "--temper x", ["m.json", "--temper", "x"]),
                (USAGE, "no base of its own", ["m.json", "--temper", "--base", "model"]),
                (DATA, "bad.txt", ["m.json", "--temper", "--betas", "bad.txt"]),
                (DATA, "probabilities", ["m.json", "--temper", "--base", "short.txt"]),
                (NO_INPUT, "nowhere", ["m.json", "--temper", "--betas", "nowhere"])]:
            self.assertIn(words, self.refusal(status, "sample", *arguments))

    def test_stopped_and_resumed(self):
        run = ["sample", "m.json", "--temper", "--draws", 3000, "--warmup", 200, "--json"]
        whole = strict_json(self.good(*run, "--out", "whole.npz").out)
        # In slices, the first of which ends in warm-up.
        j = strict_json(self.good(*run, "--out", "parts.npz", "--checkpoint", "c", "--time", "0.0001").out)
        self.assertEqual(j["draws"], 0)
        self.assertIn("settled by c", self.refusal(USAGE, "sample", "--resume", "c", "--temper", 3))
        slices = 1
        while not j["complete"]:
            j = strict_json(self.good("sample", "--resume", "c", "--time", "0.005", "--json").out)
            slices += 1
        self.assertGreater(slices, 2)
        self.assertEqual(j["tempering"], whole["tempering"])
        self.assertEqual(read_npz(self.path("parts.npz")), read_npz(self.path("whole.npz")))


if __name__ == "__main__":
    saltus_cli.main()
