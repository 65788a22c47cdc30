"""Samplers in turn, --sampler dmala+gwg: every command that takes a sampler takes several."""
import saltus_cli
from saltus_cli import CliTest, strict_json


class Sequence(CliTest):
    def json(self, *args):
        return strict_json(self.good(*args, "--json").out)

    def test_sample(self):
        j = self.json("sample", "ising-2x2", "--sampler", "dmala+rwm", "--draws", 4000, "--set", "rate=1.5",
                      "--set", "dmala.adapt=true")
        self.assertEqual(j["sampler"], "dmala+rwm")
        self.assertEqual(j["parameters"]["rwm.rate"], 1.5)
        self.assertGreater(j["parameters"]["dmala.step_size"], 0)
        self.assertEqual(j["warnings"], [])
        # Every second step proposes by a gradient, before which that of a state that rwm changed is evaluated.
        self.assertGreater(j["evaluations"]["gradient"], 0.5)
        self.assertLess(j["evaluations"]["gradient"], 1.01)
        out = self.good("sample", "ising-2x2", "--sampler", "dmala+rwm", "--draws", 1000).out
        self.assertIn("dmala.step_size, rwm.rate tuned in warm-up", out)

    def test_verify(self):
        j = self.json("verify", "ising-2x2", "--sampler", "gibbs+dmala+rwm", "--set", "step_size=0.5", "--set", "updates=1")
        self.assertTrue(j["ok"])
        expected = dict.fromkeys(["gradient", "rows", "reach", "invariance", "reversibility", "steps"], "ok")
        self.assertEqual({c["check"]: c["verdict"] for c in j["checks"]}, expected | {"relaxation": "note"})

    def test_compare(self):
        j = self.json("compare", "ising-2x2", "--budget", "0.05", "--samplers", "dmala+gwg:dmala.step_size=0.4,dmala")
        self.assertEqual({r["sampler"] for r in j["results"]}, {"dmala+gwg", "dmala"})
        self.assertTrue(all(r["ranked"] for r in j["results"]))

    def test_logz(self):
        j = self.json("logz", "ising-2x2", "--sampler", "dmala+gwg", "--betas", 200, "--chains", 200, "--seed", 3)
        # Within five of its standard errors of the exact value.
        self.assertLess(abs(j["forward"]["log_z"] - j["exact"]), 5 * j["forward"]["standard_error"] + 1e-9)

    def test_resume(self):
        run = ["sample", "ising-2x2", "--sampler", "dmala+gwg", "--seed", 4, "--warmup", 100]
        self.good(*run, "--draws", 3000, "--out", "once.csv")
        self.good(*run, "--draws", 1000, "--checkpoint", "c.checkpoint")
        self.good("sample", "--resume", "c.checkpoint", "--draws", 3000, "--out", "twice.csv")
        self.assertEqual(self.read("once.csv"), self.read("twice.csv"))

    def test_refusals(self):
        for args, words in ((["--sampler", "dmala+dlmc", "--set", "step_size=0.2"], "dlmc.step_size"),
                            (["--sampler", "dmala+gwg", "--set", "radius=1"], "no part of the sampler"),
                            (["--sampler", "dmala+magic"], "magic"),
                            (["--sampler", "dmala+dsvgd"], "cannot be combined"),
                            (["--sampler", "dmala+block_gibbs"], "hidden units")):
            self.assertIn(words, self.refusal(64, "sample", "ising-2x2", *args))


if __name__ == "__main__":
    saltus_cli.main()
