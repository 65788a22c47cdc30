"""saltus certify: bounds, means, the statement that pairs have not met, and refusals."""
import json

import saltus_cli
from saltus_cli import CliTest, strict_json

FERRO8 = {"model": "ising", "n": 8, "fields": [0.05] * 8,
          "couplings": [[i, j, 0.5] for i in range(8) for j in range(i + 1, 8)]}


class CertifyTest(CliTest):
    def certify(self, *args):
        return strict_json(self.good("certify", *args, "--json").out)

    def test_json_has_every_figure(self):
        j = self.certify("ising-2x2", "--pairs", 300, "--set", "step_size=0.5", "--seed", 4)
        self.assertTrue(j["certified"])
        self.assertEqual((j["pairs"], j["unmet"], j["sampler"], j["tuned"]), (300, 0, "dmala", False))
        self.assertEqual(j["parameters"]["step_size"], 0.5)
        for at in j["bound"]:
            self.assertLessEqual(at["exact_distance"], at["bound"] + 4 * at["standard_error"] + 10 / 300)
        self.assertEqual(j["bound"][-1]["bound"], 0)
        self.assertEqual(j["recommended_warmup"], j["below_0.01"])
        self.assertLessEqual(j["below_0.25"], j["below_0.01"])
        times = j["meeting_times"]
        self.assertLessEqual(times["50 %"], times["90 %"])
        self.assertEqual([m["of"] for m in j["unbiased_means"]][-1], "log p")
        for m in j["unbiased_means"][:-1]:
            self.assertLess(abs(m["mean"] - m["exact"]), 4.5 * m["standard_error"])

    def test_samplers_that_draw_sites(self):
        for sampler, tuned in (("gwg", True), ("pas", True)):
            j = self.certify("ising-2x2", "--pairs", 300, "--sampler", sampler)
            self.assertEqual((j["certified"], j["sampler"], j["tuned"]), (True, sampler, tuned))
            for m in j["unbiased_means"][:-1]:
                self.assertLess(abs(m["mean"] - m["exact"]), 4.5 * m["standard_error"])

    def test_threads_change_nothing_and_the_seed_does(self):
        def numbers(*args):
            j = self.certify("ising-lattice", "--pairs", 40, "--set", "step_size=0.4", *args)
            return j["lag"], j["meeting_times"], j["bound"], j["unbiased_means"]
        first = numbers("--threads", 1)
        self.assertEqual(first, numbers("--threads", 3))
        self.assertNotEqual(first, numbers("--seed", 2))

    def test_text(self):
        out = self.good("certify", "ising-2x2", "--pairs", 300, "--sampler", "gibbs", "--lag", 7).out
        for word in "updates sweep", "lag 7", "recommended warm-up", "exact distance", "without the bias":
            self.assertIn(word, out)

    def test_tunes_where_no_step_size_is_given(self):
        out = self.good("certify", "ising-2x2", "--pairs", 20).out
        self.assertIn("tuned in a warm-up", out)
        self.assertIn("below 0.01 needs 300 pairs", out)
        self.assertNotIn("recommended", out)

    def test_modes_that_do_not_meet_have_no_bound(self):
        model = self.path("ferro8.json")
        with open(model, "w") as f:
            json.dump(FERRO8, f)
        args = (model, "--pairs", 100, "--max-steps", 300, "--set", "step_size=0.5")
        j = self.certify(*args)
        self.assertFalse(j["certified"])
        self.assertTrue(25 <= j["unmet"] <= 65, j["unmet"])
        self.assertEqual((j["bound"], j["unbiased_means"]), ([], []))
        self.assertIsNone(j["below_0.01"])
        out = self.good("certify", *args).out
        self.assertIn(f"{j['unmet']} of 100 pairs had not met after 300 steps: there is no bound", out)
        self.assertNotIn("recommended", out)

    def test_refusals(self):
        for args, words in [(("--sampler", "rwm"), "dmala, gibbs, gwg and pas"),
                            (("--sampler", "dula"), "law of its own"),
                            (("--sampler", "gibbs", "--set", "updates=1"), "updates=sweep"),
                            (("--lag", "0"), "--lag is '0'"),
                            (("--lag", "soon"), "--lag is 'soon'"),
                            (("--pairs", "1"), "--pairs"),
                            (("--max-steps", "0"), "--max-steps")]:
            self.assertIn(words, self.refusal(64, "certify", "ising-2x2", *args))
        self.assertIn("unbounded", self.refusal(64, "certify", "poisson", "--set", "window=1"))


if __name__ == "__main__":
    saltus_cli.main()
