"""Hard constraints, from outside: every command against enumeration, and what is refused.

Where SALTUS_SPEC names a folder with problems/golden.json, the cases with a constraint are read, too.
"""
import itertools
import json
import math
import os
import unittest

import saltus_cli
from saltus_cli import CliTest, strict_json

USAGE, DATA = 64, 65
SPEC = os.environ.get("SALTUS_SPEC", "")
N = 8
PAIRS = [[i, j, round(0.35 * math.sin(3 * i + 5 * j), 3)] for i in range(N) for j in range(i + 1, N) if (i + j) % 3]
FIELD = [round(0.4 * math.cos(7 * i), 3) for i in range(N)]
MODEL = {"model": "quadratic", "levels": 2, "A": PAIRS, "b": FIELD}
RULES = {
    "sum=3": lambda x: sum(x) == 3,
    "sum=2..4": lambda x: 2 <= sum(x) <= 4,
    "parity=odd": lambda x: sum(x) % 2 == 1,
    "one-hot=0-2,3-7": lambda x: sum(x[:3]) == 1 and sum(x[3:]) == 1,
    "one-hot=1-4": lambda x: sum(x[1:5]) == 1,
}


def logp(x):
    return sum(w * x[i] * x[j] for i, j, w in PAIRS) + sum(h * v for h, v in zip(FIELD, x))


def exact(rule):
    states = [x for x in itertools.product((0, 1), repeat=N) if RULES[rule](x)]
    z = math.fsum(math.exp(logp(x)) for x in states)
    means = [math.fsum(math.exp(logp(x)) * x[i] for x in states) / z for i in range(N)]
    return math.log(z), means, max(map(logp, states))


class ConstrainTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("model.json", json.dumps(MODEL))

    def summary(self, *words):
        return strict_json(self.good(*words, "--json").out)

    def refused(self, status, words, *command):
        done = self.saltus(*command)
        self.assertEqual(done.status, status, done)
        self.assertEqual(done.err.count("\n"), 1, done)
        for word in words:
            self.assertIn(word, done.err)

    def test_exact_answers(self):
        for rule in RULES:
            with self.subTest(rule):
                log_z, means, best = exact(rule)
                j = self.summary("exact", "model.json", "--constrain", rule)
                self.assertEqual(j["constraint"], rule)
                self.assertAlmostEqual(j["log_z"], log_z, delta=1e-11)
                self.assertAlmostEqual(j["best"]["logp"], best, delta=1e-12)
                for marginal, mean in zip(j["marginals"], means):
                    self.assertAlmostEqual(marginal[1], mean, delta=1e-12)

    def test_estimates_of_log_z(self):
        """Seeds are fixed; the interval of annealing is two standard errors wide on either side."""
        for rule, sampler in ("sum=3", "gwg"), ("sum=2..4", "dmala"), ("one-hot=0-2,3-7", "gibbs"):
            with self.subTest(rule):
                j = self.summary("logz", "model.json", "--constrain", rule, "--sampler", sampler, "--seed", 3)
                log_z = exact(rule)[0]
                self.assertEqual(j["constraint"], rule)
                self.assertAlmostEqual(j["exact"], log_z, delta=1e-11)
                self.assertAlmostEqual(j["log_z"], log_z, delta=5 * j["standard_error"])
                self.assertLess(j["standard_error"], 0.05)
        j = self.summary("logz", "model.json", "--constrain", "parity=odd", "--method", "tempering",
                         "--ensembles", 16, "--draws", 1000, "--seed", 4)
        self.assertAlmostEqual(j["log_z"], exact("parity=odd")[0], delta=5 * j["standard_error"])
        self.assertLess(j["standard_error"], 0.02)

    def test_draws_keep_the_constraint(self):
        for rule, sampler in (("sum=3", "pas"), ("sum=2..4", "dmala"), ("parity=odd", "auto"),
                              ("one-hot=1-4", "dmala"), ("sum=3", "dmala+gibbs")):
            with self.subTest(rule + " " + sampler):
                j = self.summary("sample", "model.json", "--constrain", rule, "--sampler", sampler, "--draws", 3000,
                                 "--seed", 2, "--out", "draws.csv")
                self.assertEqual(j["constraint"], rule)
                error = 0.5 / math.sqrt(j["ess"]["min"])  # of a mean, at most
                self.assertLess(error, 0.02, "too short a run to see anything")
                with open(self.path("draws.csv")) as f:
                    first = len(next(f).split(",")) - N
                    rows = [tuple(map(int, line.split(",")[first:first + N])) for line in f]
                self.assertTrue(all(map(RULES[rule], rows)))
                means = exact(rule)[1]
                for i in range(N):
                    self.assertAlmostEqual(sum(x[i] for x in rows) / len(rows), means[i], delta=5 * error)

    def test_other_commands(self):
        for sampler in "dmala", "gibbs", "gwg", "locally_balanced", "pas":
            j = self.summary("verify", "model.json", "--constrain", "sum=3", "--sampler", sampler)
            self.assertTrue(j["ok"] and j["kernel_checked"])
            self.assertEqual(j["constraint"], "sum=3")
        j = self.summary("anneal", "model.json", "--constrain", "sum=3", "--steps", 200)
        self.assertAlmostEqual(j["best"]["logp"], exact("sum=3")[2], delta=1e-9)
        self.assertEqual(j["constraint"], "sum=3")
        j = self.summary("compare", "model.json", "--constrain", "sum=3", "--budget", 0.02)
        self.assertEqual(j["constraint"], "sum=3")
        self.assertEqual(sorted(r["sampler"] for r in j["results"]),
                         ["dmala", "gibbs", "gwg", "locally_balanced", "pas"])

    def test_every_sampler_is_exact_under_every_rule(self):
        serve = {"sum=2..4": "dmala gibbs gwg pas", "parity=odd": "dmala gibbs gwg pas", "one-hot=1-4": "dmala gibbs"}
        for rule, samplers in serve.items():
            for sampler in samplers.split():
                with self.subTest(rule + " " + sampler):
                    j = self.summary("verify", "model.json", "--constrain", rule, "--sampler", sampler)
                    self.assertTrue(j["ok"] and j["kernel_checked"])

    def test_repaired_states_keep_the_constraint(self):
        """Of the ring of five vertices at most two are independent."""
        self.write("ring.col", "p edge 5 5\ne 1 2\ne 2 3\ne 3 4\ne 4 5\ne 5 1\n")
        for rule, text, value in (("sum=2", "size 2, as it was found", 2),
                                  ("sum=3", "none: repairing the states that were found breaks the constraint sum=3", None),
                                  ("sum=2..3", "size 2", 2)):
            for given in [], ["--given", "0=1"]:
                with self.subTest(rule):
                    search = ("anneal", "ring.col", "--problem", "mis", "--penalty", 0.5, "--constrain", rule,
                              "--steps", 20, *given)
                    self.assertRegex(self.good(*search).out, r"(?m)^allowed +" + text)
                    solution = self.summary(*search)["solution"]
                    self.assertEqual(solution and solution["value"], value)
                    if solution:
                        self.assertEqual(sum(solution["state"]), 2)

    def test_a_held_observable_has_neither_error_nor_ess(self):
        run = ("sample", "model.json", "--constrain", "sum=3", "--draws", 300, "--out", "draws.npz")
        mean = next(o for o in self.summary(*run)["observables"] if o["name"] == "mean of x")
        self.assertEqual((mean["mean"], mean["sd"]), (3 / N, 0))
        self.assertEqual([mean[k] for k in ("mcse", "ess", "rhat")], [None] * 3)
        self.assertRegex(self.good(*run).out, r"(?m)^mean of x +0.375 +0 +- +- +-$")

    def test_pages_name_the_constraint(self):
        for name in "draws.npz", "draws.nc":
            done = self.saltus("sample", "model.json", "--constrain", "sum=3", "--given", "0=1", "--draws", 100, "--out",
                               name)
            if name.endswith(".nc") and "NetCDF" in done.err:
                continue
            page = self.saltus("report", name, "--out", "page.html")
            if page.status == USAGE and "pages" in page.err:
                self.skipTest("built without pages")
            with open(self.path("page.html")) as f:
                text = f.read()
            self.assertRegex(text, r"(?s)Constraint</\w+>\s*<\w+>sum=3<")
            self.assertRegex(text, r"(?s)Given</\w+>\s*<\w+>1 coordinates?: 0=1<")

    def test_goes_on_from_a_checkpoint(self):
        run = ["sample", "model.json", "--constrain", "sum=3", "--seed", 7]
        self.good(*run, "--draws", 200, "--checkpoint", "part.ck", "--out", "part.csv")
        self.good("sample", "--resume", "part.ck", "--draws", 400, "--out", "part.csv")
        self.good(*run, "--draws", 400, "--out", "whole.csv")
        with open(self.path("part.csv")) as part, open(self.path("whole.csv")) as whole:
            self.assertEqual(part.read(), whole.read())
        self.refused(USAGE, ["settled"], "sample", "--resume", "part.ck", "--constrain", "sum=2")
        self.refused(USAGE, ["MODEL differs"], "sample", "model.json", "--constrain", "sum=2", "--resume", "part.ck")
        self.refused(USAGE, ["MODEL differs"], "sample", "model.json", "--resume", "part.ck")

    def test_refusals(self):
        def sample(*words):
            return ("sample", "model.json", *words, "--out", "none.npz")

        for rule in "sum", "sum=x", "sum=1-2", "parity=1", "one-hot=", "count=3":
            self.refused(USAGE, [f"'{rule}' is none of sum=K"], *sample("--constrain", rule))
        self.refused(USAGE, ["empty range"], *sample("--constrain", "sum=4..2"))
        self.refused(USAGE, ["8 coordinates"], *sample("--constrain", "sum=9"))
        self.refused(USAGE, ["single state"], *sample("--constrain", "sum=0"))
        self.refused(USAGE, ["overlap at coordinate 3"], *sample("--constrain", "one-hot=0-3,3-5"))
        self.refused(USAGE, ["rwm", "sum=3", "dmala, gibbs, gwg, locally_balanced, pas"],
                     *sample("--constrain", "sum=3", "--sampler", "rwm"))
        self.refused(USAGE, ["gwg", "run on it: dmala, gibbs"],
                     *sample("--constrain", "one-hot=1-4", "--sampler", "gwg"))
        self.refused(USAGE, ["swaps"], *sample("--constrain", "sum=3", "--sampler", "pas", "--set", "flips=2"))
        self.refused(USAGE, ["two levels", "potts"], "sample", "potts", "--constrain", "sum=2")
        self.refused(USAGE, ["no coupling"], "certify", "model.json", "--constrain", "sum=3")
        self.write("rows.txt", "\n".join(["1 1 1 0 0 0 0 0", "1 1 0 0 0 0 0 0"]))
        self.refused(DATA, ["chain 1 has 2 coordinates", "not 3"],
                     *sample("--constrain", "sum=3", "--init", "rows.txt", "--chains", 2))
        self.write("half.txt", " ".join(["0.5"] * N))
        self.refused(USAGE, ["uniform among the states"], "logz", "model.json", "--constrain", "sum=3", "--base",
                     "half.txt")
        self.write("wide.json", json.dumps({"model": "ising-lattice", "shape": [10, 10], "a": 0.1, "periodic": True}))
        self.refused(USAGE, ["10^29.0 states"], "exact", "wide.json", "--constrain", "sum=50")
        self.assertFalse(os.path.exists(self.path("none.npz")))

    @unittest.skipUnless(os.path.isfile(os.path.join(SPEC, "problems", "golden.json")), "no golden files")
    def test_golden_cases(self):
        folder = os.path.join(SPEC, "problems")
        with open(os.path.join(folder, "golden.json")) as f:
            cases = [c for c in json.load(f) if "constrain" in c["options"] and "given" not in c["options"]]
        self.assertGreaterEqual(len(cases), 5)
        for case in cases:
            options = [w for k, v in case["options"].items() for w in ("--" + k, v)]
            with self.subTest(options):
                j = self.summary("exact", os.path.join(folder, case["file"]), *options)
                self.assertAlmostEqual(j["log_z"], case["log_z"], delta=1e-10)
                self.assertAlmostEqual(j["best"]["logp"], case["max_logp"], delta=1e-10)
                self.assertEqual(j["best"]["state"], case["first_maximiser"])
                for ours, theirs in zip(j["marginals"], case["marginals"]):
                    self.assertAlmostEqual(ours[1], theirs[1], delta=1e-12)


if __name__ == "__main__":
    saltus_cli.main()
