"""saltus logz: log Z from below and from above, as text and as JSON, and what it refuses."""
import math
import os
import pty
import subprocess

import saltus_cli
from saltus_cli import CliTest, environment, lattice, strict_json, with_defaults

# Of the 5 x 5 torus with a = 0.1, b = 0.2.
TORUS = 19.6740857613409
QUICK = {"--betas": 200, "--chains": 200, "--reverse-warmup": 500}


class LogzTest(CliTest):
    def logz(self, *args):
        return strict_json(self.good("logz", *with_defaults(QUICK, args), "--json").out)

    def check_brackets(self, j, log_z, most_error=0.1):
        for direction in j["forward"], j["reverse"]:
            self.assertLess(abs(direction["log_z"] - log_z), 4 * direction["standard_error"])
            self.assertLess(direction["standard_error"], most_error)
            self.assertLessEqual(direction["ess"], j["chains"])
        low, high = j["interval"]
        self.assertLess(low, high)
        self.assertAlmostEqual(low, j["forward"]["log_z"] - 2 * j["forward"]["standard_error"])
        self.assertAlmostEqual(high, j["reverse"]["log_z"] + 2 * j["reverse"]["standard_error"])

    def test_json_has_every_figure(self):
        j = self.logz("ising-lattice", "--seed", 3)
        self.check_brackets(j, TORUS)
        self.assertAlmostEqual(j["exact"], TORUS, places=10)
        self.assertEqual(j["log_z"], j["forward"]["log_z"])
        self.assertEqual(j["standard_error"], j["forward"]["standard_error"])
        self.assertEqual(j["ess"], j["forward"]["ess"])
        self.assertLess(j["forward"]["mean_log_weight"], j["log_z"])
        self.assertEqual((j["betas"], j["chains"], j["steps_per_beta"]), (200, 200, 1))
        self.assertEqual((j["sampler"], j["model"], j["warnings"]), ("dmala", "ising-lattice", []))
        self.assertGreater(j["parameters"]["step_size"], 0)
        self.assertGreater(j["seconds"], 0)
        self.assertRegex(j["version"], r"^\d+\.\d+")
        self.assertTrue(0 < j["forward"]["acceptance_rate"] < 1)

    def test_text(self):
        out = self.good("logz", "ising-2x2", *with_defaults(QUICK, [])).out
        for word in "forward", "reverse", "exact", "log Z probably lies between", "Tuned at beta = 1":
            self.assertIn(word, out)
        self.assertNotIn("Warning", out)
        out = self.good("logz", "ising-2x2", "--no-reverse", "--set", "step_size=0.3", *with_defaults(QUICK, [])).out
        self.assertIn("log Z probably lies above", out)
        for word in "reverse  ", "Tuned":
            self.assertNotIn(word, out)

    def test_methods_side_by_side(self):
        alone = self.good("logz", "ising-lattice", "--method", "tempering", "--seed", 3, "--json")
        tempered, both = strict_json(alone.out), self.logz("ising-lattice", "--method", "both", "--seed", 3)
        self.check_brackets(both, TORUS)
        t = both["tempering"]
        self.assertEqual({**t, "seconds": 0}, {**tempered["tempering"], "seconds": 0})
        self.assertEqual((t["ensembles"], t["warmup"], t["draws"], t["steps"]), (4, 1000, 10000, 1))
        z = t["log_z"]
        # The standard error has three degrees of freedom.
        self.assertLess(abs(z["bridge"] - TORUS), 6 * z["standard_error"])
        self.assertLess(z["standard_error"], 0.05)
        self.assertEqual((tempered["log_z"], tempered["standard_error"]), (z["bridge"], z["standard_error"]))
        self.assertAlmostEqual(tempered["interval"][1], z["bridge"] + 2 * z["standard_error"])
        self.assertNotIn("forward", tempered)
        self.assertNotIn("tempering", self.logz("ising-lattice", "--seed", 3))
        out = self.good("logz", "ising-2x2", "--method", "both", *with_defaults(QUICK, [])).out
        for word in "\nforward ", "\nreverse ", "\ntempering ", "round trips", "4 tempered ensembles":
            self.assertIn(word, out)

    def test_options_belong_to_methods(self):
        for words, arguments in [("--method x", ["--method", "x"]),
                                 ("--draws belongs to --method tempering", ["--draws", 10]),
                                 ("--replicas belongs to --method tempering", ["--method", "ais", "--replicas", 3]),
                                 ("--betas belongs to --method ais", ["--method", "tempering", "--betas", 3]),
                                 ("--replicas 1", ["--method", "both", "--replicas", 1]),
                                 ("dula", ["--method", "tempering", "--sampler", "dula"])]:
            self.assertIn(words, self.refusal(64, "logz", "ising-2x2", *arguments))

    def test_no_reverse_leaves_the_upper_end_open(self):
        j = self.logz("ising-2x2", "--no-reverse")
        self.assertIsNone(j["reverse"])
        self.assertIsNone(j["interval"][1])

    def test_threads_change_nothing_and_the_seed_does(self):
        def numbers(*args):
            j = self.logz("ising-2x2", *args)
            return j["forward"], j["reverse"], j["parameters"]
        one = numbers("--threads", 1)
        self.assertEqual(one, numbers("--threads", 3))
        self.assertNotEqual(one[0], numbers("--seed", 2)[0])

    def test_base_from_a_file(self):
        # Independent bits: with the model itself as the base, every weight is Z.
        logits = [0.5, -1.0, 2.0]
        self.write("m.json", {"model": "bernoulli", "logits": logits})
        self.write("base.txt", "\n".join(repr(1 / (1 + math.exp(-v))) for v in logits))
        j = self.logz("m.json", "--base", "base.txt", "--betas", 10)
        exact = sum(math.log1p(math.exp(v)) for v in logits)
        self.assertAlmostEqual(j["exact"], exact, places=10)
        self.assertAlmostEqual(j["log_z"], exact, places=10)
        self.assertAlmostEqual(j["reverse"]["log_z"], exact, places=5)  # single precision on the way
        self.assertAlmostEqual(j["ess"], 200, places=6)
        self.check_refusal(65, "base.txt: there are 3 probabilities, but the model needs 25", "--base", "base.txt")
        self.write("base.txt", "0.5 1 0.5")
        self.check_refusal(65, "base.txt: the probabilities of coordinate 1", "m.json", "--base", "base.txt")
        self.write("base.txt", "0.5 half 0.5")
        self.check_refusal(65, "base.txt: 'half'", "m.json", "--base", "base.txt")
        self.check_refusal(66, "nothing.txt", "m.json", "--base", "nothing.txt")

    def test_base_of_levels(self):
        self.write("m.json", {"model": "potts", "levels": [3, 3], "unary": [[0, 0.5, 1], [0, 0, 0]],
                              "pairwise": [{"between": [0, 1], "table": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}]})
        self.write("base.txt", "0.2 0.3 0.5\n0.4,0.4,0.2\n")
        j = self.logz("m.json", "--base", "base.txt", "--sampler", "gibbs")
        self.check_brackets(j, j["exact"])
        self.write("base.txt", "0.2 0.3 0.6\n0.4,0.4,0.2\n")
        self.check_refusal(65, "sum to 1.1", "m.json", "--base", "base.txt")

    def test_schedule_from_a_file(self):
        self.write("betas.txt", " ".join(repr((k / 150) ** 2) for k in range(151)))
        args = ["ising-2x2", "--chains", 200, "--reverse-warmup", 500, "--schedule", "betas.txt", "--json"]
        j = strict_json(self.good("logz", *args).out)
        self.assertEqual(j["betas"], 151)
        self.check_brackets(j, j["exact"])
        self.check_refusal(64, "--betas", "--schedule", "betas.txt", "--betas", 5)
        for text, words in (("0 0.5 0.5 1", "betas.txt: betas must increase; number 3"),
                            ("0.1 1", "betas.txt: betas must begin with 0"), ("", "betas.txt")):
            self.write("betas.txt", text)
            self.check_refusal(65, words, "--schedule", "betas.txt")

    def test_samplers_and_steps(self):
        for args in ("gibbs", "--set", "updates=sweep"), ("gwg", "--steps", 5), ("pas", "--steps", 3):
            j = self.logz("--sampler", *args)
            self.check_brackets(j, TORUS)
            self.assertEqual(j["sampler"], args[0])

    def test_too_few_betas_are_warned_of(self):
        self.write("m.json", lattice(8, 8, a=0.5))
        j = self.logz("m.json", "--betas", 3, "--chains", 50)
        self.assertIsNotNone(j["exact"])  # by elimination
        self.assertLess(j["ess"], 10)
        self.assertIn("more betas", j["warnings"][0]["sentence"])
        self.assertEqual(j["verdict"], "doubtful")
        self.assertEqual(self.saltus("logz", "m.json", "--betas", 3, "--chains", 50, "--strict").status, 3)
        out = self.good("logz", "m.json", "--betas", 3, "--chains", 50, "--reverse-warmup", 100).out
        self.assertIn("Warning: the forward weights rest on", out)

    def test_reverse_chains_that_are_not_at_the_model_are_warned_of(self):
        self.write("m.json", lattice(4, 4, a=0.4))
        args = ["m.json", "--set", "step_size=0.2", "--reverse-warmup", 1]
        j = self.logz(*args)
        self.assertGreater(*j["interval"])
        self.assertIn("wrong order", j["warnings"][-1]["sentence"])
        out = self.good("logz", *with_defaults(QUICK, args)).out
        self.assertIn("Warning: the bounds are in the wrong order", out)
        self.assertNotIn("lies between", out)

    def check_refusal(self, status, words, *args):
        done = self.saltus("logz", *args)
        self.assertEqual(done.status, status, str(done))
        self.assertEqual(done.out, "")
        self.assertIn(words, done.err)
        self.assertEqual(done.err.count("\n"), 1)

    def test_refusals(self):
        self.check_refusal(64, "dula biases the estimate; use dmala, gwg or gibbs", "--sampler", "dula")
        self.check_refusal(64, "unbounded", "poisson", "--set", "window=1")
        self.check_refusal(64, "there is no sampler 'nonsense'", "--sampler", "nonsense")
        self.check_refusal(64, "no parameter 'stepsize'", "--set", "stepsize=1")
        self.check_refusal(64, "betas", "--betas", 1)
        self.check_refusal(64, "chains", "--chains", 1)
        self.check_refusal(64, "--seed -1", "--seed", "-1")
        self.check_refusal(66, "no-such-model", "no-such-model")
        for relaxed in "rmala", "dsvgd":
            done = self.saltus("logz", "--sampler", relaxed)
            self.assertEqual((done.status, done.out), (64, ""), str(done))

    def test_progress_on_a_terminal_is_removed(self):
        master, slave = pty.openpty()
        command = [saltus_cli.program, "logz", "--betas", "2000", "--json"]
        with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=slave) as process:
            os.close(slave)
            shown = b""
            try:
                while part := os.read(master, 4096):
                    shown += part
            except OSError:  # the other end is closed
                pass
            strict_json(process.stdout.read().decode())
        os.close(master)
        for stage in b"warm-up at beta = 1", b"annealing to the model", b"annealing from the model":
            self.assertIn(stage, shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"))


if __name__ == "__main__":
    saltus_cli.main()
