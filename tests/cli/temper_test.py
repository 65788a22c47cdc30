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

    def test_plain_chains_are_wrong_and_content(self):
        for sampler in "dmala", "gibbs", "gwg", "pas":
            one = {"gibbs": ["--set", "updates=1"], "gwg": ["--set", "flips=1"], "pas": ["--set", "flips=1"]}.get(sampler, [])
            j = self.json("--seed", 2, "--sampler", sampler, *one, "--init", "zeros")
            self.assertLess(max(j["mean"]), -0.99)
            self.assertLess(j["rhat"]["max"], 1.01)
        self.assertIn("Do not use these draws", self.good("sample", "m.json", "--seed", 2, "--init", "zeros").out)

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
        self.assertTrue(any("from the base to the model" in w["sentence"] for w in j["warnings"]), j["warnings"])

    def test_says_when_tempering_is_not_needed(self):
        self.write("flat.json", {"model": "ising", "n": 4, "couplings": [], "fields": [0] * 4})
        j = strict_json(self.good("sample", "flat.json", "--temper", "--json").out)
        self.assertEqual(j["tempering"]["betas"], [0, 1])
        self.assertEqual(j["tempering"]["recommended_replicas"], 1)
        self.assertTrue(any("tempering is not needed" in w["sentence"] for w in j["warnings"]), j["warnings"])
        self.assertIn("plain chains give most", self.good("sample", "flat.json", "--temper").out)

    def test_auto_tempers_where_there_are_modes_and_only_there(self):
        for seed in 1, 2, 3:
            j = self.json("--sampler", "auto", "--seed", seed)
            self.assertIn("tempered, because plain chains", j["auto"]["reason"])
            self.assertTrue(j["auto"]["race"][0]["tempered"])
            self.assertGreater(j["tempering"]["round_trips"], 50)
            self.assertAlmostEqual(j["mean"][0], MEAN, delta=0.15)
        self.assertIn("tempered, because", self.good("sample", "m.json", "--sampler", "auto", "--draws", 500).out)
        for model in "ising-lattice", "rbm":
            j = strict_json(self.good("sample", model, "--sampler", "auto", "--draws", 2000, "--json").out)
            self.assertNotIn("tempering", j)
        self.write("start.csv", "".join("0,0,0,0,0,0,0,0\n" for _ in range(4)))
        self.assertNotIn("tempering", self.json("--sampler", "auto", "--init", "start.csv"))

    def test_compare_races_a_ladder_where_there_are_modes(self):
        j = strict_json(self.good("compare", "m.json", "--samplers", "dmala,gibbs", "--budget", 0.3, "--json").out)
        self.assertIn("plain chains", j["modes"])
        first = j["results"][0]
        self.assertTrue(first["tempered"])
        self.assertEqual(j["best"]["sampler"], first["sampler"] + " tempered")
        out = self.good("compare", "m.json", "--samplers", "dmala", "--budget", 0.3).out
        self.assertIn("the model may have several modes", out)
        self.assertIn("dmala tempered", out)
        j = strict_json(self.good("compare", "ising-2x2", "--samplers", "dmala,gibbs", "--budget", 0.3, "--json").out)
        self.assertEqual(j["modes"], "")
        self.assertFalse(any(r["tempered"] for r in j["results"]))

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
                (DATA, "short.txt: there are 2 probabilities", ["m.json", "--temper", "--base", "short.txt"]),
                (USAGE, "unbounded", ["counts.json", "--temper", "--set", "window=1", "--base", "short.txt"]),
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
