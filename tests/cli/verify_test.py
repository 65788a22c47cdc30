"""saltus verify: every built-in model passes with every sampler, and what was not checked is said."""

import json

import saltus_cli
from saltus_cli import CliTest, strict_json

CHECKS = ["gradient", "rows", "invariance", "reversibility", "steps"]
# Its 4,096 states take about 20 seconds of processor time: verify_poisson_test.py has it.
SLOW = {"poisson"}


class Verify(CliTest):
    def verify(self, model, sampler, *options):
        done = self.good("verify", model, "--sampler", sampler, *options, "--json")
        j = strict_json(done.out)
        self.assertEqual(j["sampler"], sampler)
        self.assertIs(j["ok"], True)
        return {c["check"]: c for c in j["checks"]}

    def test_every_built_in_model(self):
        models = {line.split()[0] for line in self.good("models").out.splitlines()}
        for model in sorted(models - SLOW):
            for sampler in "dmala", "dula":
                with self.subTest(model, sampler=sampler):
                    checks = self.verify(model, sampler)
                    names = ["gradient", "kernel"] if "kernel" in checks else CHECKS
                    for name in names:
                        self.assertIn(name, checks)
                        self.assertIn(checks[name]["verdict"], ("ok", "skipped"))
                        self.assertTrue(checks[name]["detail"])
                    self.assertEqual(checks["gradient"]["verdict"], "ok")

    def test_every_sampler(self):
        for line in self.good("samplers").out.splitlines():
            sampler = line.split()[0]
            with self.subTest(sampler=sampler):
                checks = self.verify("rbm", sampler)  # a model that serves all of them
                if sampler in ("rmala", "dsvgd"):  # they move on more than the states
                    self.assertEqual(checks["kernel"]["verdict"], "skipped")
                else:
                    self.assertEqual(checks["steps"]["verdict"], "ok")
                    if sampler != "dula":
                        self.assertEqual(checks["invariance"]["verdict"], "ok")
                        self.assertEqual(checks["reach"]["verdict"], "ok")

    def test_states_out_of_reach_are_found(self):
        done = self.saltus("verify", "ising-2x2", "--sampler", "pas", "--set", "flips=2",
                           "--set", "fixed=true")
        self.assertEqual(done.status, 1)
        self.assertRegex(done.out, r"reach +FAILED +some states cannot be reached")

    def test_small_models_are_checked_exactly(self):
        for model in "ising-2x2", "bernoulli", "potts":
            with self.subTest(model):
                checks = self.verify(model, "dmala")
                self.assertEqual({c["verdict"] for c in checks.values()}, {"ok", "note"})

    def test_window(self):
        self.write("m.json", {"model": "poisson", "rate": [3]})
        for sampler in "dmala", "dula":
            for window in 1, 3:
                checks = self.verify("m.json", sampler, "--set", f"window={window}")
                self.assertEqual(checks["steps"]["verdict"], "ok")

    def test_parameters(self):
        for options in (["step_size=inf"], ["step_size=0.05"], ["distance=value", "step_size=2"],
                        ["precondition=1,2,3,0.5", "step_size=0.3"]):
            with self.subTest(options):
                given = [part for o in options for part in ("--set", o)]
                checks = self.verify("ising-2x2", "dmala", *given)
                self.assertEqual({c["verdict"] for c in checks.values()}, {"ok", "note"})

    def test_says_what_it_skipped(self):
        out = self.good("verify", "ising-100x100").out
        self.assertRegex(out, r"\nkernel +skipped .*too many for the transition matrix")
        self.assertNotIn("Nothing wrong", out)
        self.assertIn("kernel was not checked", out)
        self.assertIs(strict_json(self.good("verify", "ising-100x100", "--json").out)["kernel_checked"], False)
        out = self.good("verify", "ising-2x2", "--sampler", "dula").out
        self.assertRegex(out, r"invariance +skipped .*unadjusted")

    def test_says_that_an_unbounded_model_was_cut(self):
        # In both outputs: the matrix is that of a truncated model.
        self.write("m.json", {"model": "poisson", "rate": [3]})
        for json in [], ["--json"]:
            with self.subTest(json=bool(json)):
                out = self.good("verify", "m.json", "--set", "window=1", *json).out
                self.assertIn("levels 0 to 63", out)

    def test_bias_of_dula(self):
        # Exact: L1 distance 0.0592 at step size 0.2, 0.165 at 0.4.
        for step_size, l1 in (0.2, "0.0591"), (0.4, "0.1647"):
            checks = self.verify("ising-2x2", "dula", "--set", f"step_size={step_size}")
            self.assertRegex(checks["invariance"]["detail"], rf"{l1[:-1]}\d")

    def test_leaves_nothing_behind(self):
        self.good("verify")
        self.assertEqual(self.files(), [])

    def test_second_eigenvalue(self):
        self.write("modes.json", json.dumps({"model": "ising", "n": 8, "fields": [0.05] * 8, "couplings": [
            [i, j, 0.5] for i in range(8) for j in range(i + 1, 8)]}))
        detail = self.verify("modes.json", "dmala", "--set", "step_size=0.5")["relaxation"]["detail"]
        self.assertIn("second eigenvalue 0.9999966946: a relaxation time of 3.025e+05 steps", detail)
        checks = self.verify("ising-2x2", "dmala", "--set", "step_size=0.5", "--set", "balancing_exponent=0.8")
        self.assertEqual(checks["invariance"]["verdict"], "ok")


if __name__ == "__main__":
    saltus_cli.main()
