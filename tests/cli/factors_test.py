"""Factor graphs and exact answers, from outside: saltus exact, and the commands that meet forbidden states."""
import json
import os

import saltus_cli
from saltus_cli import CliTest, strict_json

DATA, USAGE = 65, 64
MIXED = {"model": "factors", "levels": [2, 3, 2, 2], "factors": [
    {"over": [1, 0], "log": [1.763, -0.123, 0.383, -0.237, 2.425, -0.438]},
    {"over": [2, 1, 3], "log": [-1.393, -0.148, 0.932, 0.823, -1.531, 0.233, 1.083, 0.226, 1.018, 0.015, -1.521, 0.565]},
    {"over": [], "log": [0.75]},
    {"clause": [[0, 1], [1, 2]], "weight": 1.5},
    {"clause": [[2, 0], [3, 1]], "hard": True},
    {"over": [1, 0], "log": [0.5, 0, 0, 0, 0, "-inf"]}], "constant": -0.5}
# Bits 0 and 4 agree.
EQUAL = {"model": "factors", "levels": [2] * 5, "factors": [
    {"over": [0, 1, 2], "log": [-1.125, 0.725, -0.98, 1.057, -0.894, -1.217, -1.413, 0.057]},
    {"over": [2, 3, 4], "log": [-0.835, 1.545, -0.87, -0.244, 0.562, -0.458, 0.205, 0.504]},
    {"over": [0, 4], "log": [0.5, "-inf", "-inf", 0.25]}]}
CLAUSES = {"model": "factors", "levels": [2] * 5, "factors": [
    {"clause": [[0, 1], [1, 0], [2, 1]], "hard": True}, {"clause": [[1, 1], [3, 1], [4, 0]], "hard": True},
    {"clause": [[2, 0], [4, 1]], "weight": 0.7}, {"over": [2], "log": [0, 0.4]}]}
NONE_LEFT = {"model": "factors", "levels": [2, 2], "factors": [
    {"clause": [[0, v], [1, w]], "hard": True} for v in (0, 1) for w in (0, 1)]}


class FactorsTest(CliTest):
    def setUp(self):
        super().setUp()
        for name, model in ("mixed", MIXED), ("equal", EQUAL), ("clauses", CLAUSES), ("none", NONE_LEFT):
            self.write(name + ".json", json.dumps(model))

    def exact(self, *words):
        return strict_json(self.good("exact", *words, "--json").out)

    def refused(self, status, words, *command):
        done = self.saltus(*command)
        self.assertEqual(done.status, status, done.err)
        self.assertEqual(done.err.count("\n"), 1, done.err)
        for word in words:
            self.assertIn(word, done.err)

    def test_exact_answers(self):
        j = self.exact("mixed.json")
        self.assertAlmostEqual(j["log_z"], 4.1674041954782295, delta=1e-11)
        self.assertEqual(j["best"]["state"], [0, 2, 1, 1])
        self.assertAlmostEqual(j["best"]["logp"], 3.24, delta=1e-12)
        self.assertAlmostEqual(j["marginals"][1][2], 0.728037676248834, delta=1e-12)
        j = self.exact("equal.json")
        self.assertAlmostEqual(j["log_z"], 3.5217862741927415, delta=1e-11)
        self.assertAlmostEqual(j["marginals"][4][1], 0.253023471469949, delta=1e-12)
        self.assertIn("log Z        3.52178627", self.good("exact", "equal.json").out)

    def test_exact_on_every_kind_of_graph(self):
        for model in "ising-2x2", "ising-lattice", "ising", "bernoulli", "quadratic", "potts":
            with self.subTest(model):
                j = self.exact(model)
                self.assertEqual(len(j["best"]["state"]), j["dim"])
                for p in j["marginals"]:
                    self.assertAlmostEqual(sum(p), 1, delta=1e-12)
        self.assertAlmostEqual(self.exact("ising-lattice")["log_z"], 19.67408576, delta=1e-8)
        self.refused(USAGE, ["elimination", "rbm"], "exact", "rbm")
        self.refused(USAGE, ["elimination", "poisson"], "exact", "poisson")

    def test_exact_says_what_is_too_wide(self):
        self.write("wide.json", json.dumps({"model": "ising-lattice", "shape": [60, 60], "a": 0.1, "periodic": True}))
        self.refused(USAGE, ["too wide", "1024 MiB are allowed"], "exact", "wide.json")
        self.refused(USAGE, ["too wide", "1 MiB are allowed"], "exact", "ising-lattice", "--memory", "2000")
        for memory in "", "x", "0", "-1GiB", "3KB", "1e99GiB":
            self.refused(USAGE, ["--memory"], "exact", "ising-lattice", f"--memory={memory}")
        self.refused(DATA, ["probability 0"], "exact", "none.json")

    def test_exact_answers_beside_estimates(self):
        """A strip of 4 x 60 spins has far too many states to go through."""
        self.write("strip.json", json.dumps({"model": "ising-lattice", "shape": [60, 4], "a": 0.15, "b": 0.1}))
        log_z = self.exact("strip.json")["log_z"]
        j = strict_json(self.good("logz", "strip.json", "--seed", 1, "--json").out)
        self.assertAlmostEqual(j["exact"], log_z, delta=1e-9)
        low, high = j["interval"]
        self.assertTrue(low - 0.5 < log_z < high + 0.5, j["interval"])

    def test_convert_keeps_every_number(self):
        for name in "mixed", "equal":
            self.good("convert", name + ".json", "out.json")
            with open(self.path("out.json")) as file:
                written = json.load(file)
            model = dict(MIXED if name == "mixed" else EQUAL)
            tables = [f for f in model["factors"] if "over" in f]
            clauses = [f for f in model["factors"] if "clause" in f]
            self.assertEqual(written, {"constant": 0, **model, "factors": tables + clauses})

    def sampled(self, model, *options):
        """The means of draws lie within five standard errors of the exact ones."""
        j = strict_json(self.good("sample", model, *(() if "--draws" in options else ("--draws", 5000)), "--seed", 1, *options, "--json", "--out", "d.csv").out)
        self.assertNotIn("nonfinite", [w["code"] for w in j["warnings"]])
        for mean, (_, p) in zip(j["mean"], self.exact(model)["marginals"]):
            self.assertLess(abs(mean - p), 5 * (p * (1 - p) / j["ess"]["min"]) ** 0.5)
        with open(self.path("d.csv")) as file:
            self.assertNotIn("inf", file.read())
        os.remove(self.path("d.csv"))
        return j

    def test_draws_of_a_model_with_forbidden_states(self):
        for sampler in "dmala", "gwg", "gibbs", "pas", "dlmc", "locally_balanced", "rwm":
            with self.subTest(sampler):
                self.assertLess(self.sampled("clauses.json", "--sampler", sampler)["rhat"]["max"], 1.05)
        # States that no single change joins: blocks, or a ladder of temperatures.
        self.sampled("equal.json", "--sampler", "gibbs", "--set", "block=5")
        self.sampled("equal.json", "--temper")
        self.sampled("equal.json", "--sampler", "dmala", "--draws", 50000)  # crosses, by two changes at once

    def test_coordinates_of_one_level(self):
        """They are part of every state, and of no diagnosis."""
        self.write("one.json", json.dumps({"model": "factors", "levels": [1, 2, 1, 3], "factors": [
            {"over": [1], "log": [-0.47, 2.0]}, {"over": [3, 1, 0], "log": [0, 0.1, 0.3, 0.2, "-inf", 1]}]}))
        exact = self.exact("one.json")
        self.assertEqual([len(p) for p in exact["marginals"]], [1, 2, 1, 3])
        for sampler in "dmala", "gibbs", "gwg", "rwm", "hamming_ball":
            j = strict_json(self.good("sample", "one.json", "--sampler", sampler, "--draws", 4000, "--seed", 3, "--json").out)
            self.assertEqual(j["warnings"], [], sampler)
            self.assertEqual((j["mean"][0], j["mean"][2]), (0, 0))
            self.assertAlmostEqual(j["mean"][1], exact["marginals"][1][1], delta=0.02)
        self.assertEqual(self.good("sample", "one.json", "--draws", 1000, "--out", "one.npz", "--json").status, 0)
        self.good("verify", "one.json")

    def test_what_cannot_be_drawn(self):
        self.refused(DATA, ["no state of positive probability", "--init"], "sample", "none.json")
        for sampler in "dula", "rmala", "dsvgd":
            self.refused(USAGE, [sampler], "sample", "equal.json", "--sampler", sampler)
        self.assertIn("positive probability", self.saltus("sample", "equal.json", "--sampler", "dula").err)

    def test_verify_says_what_single_changes_do_not_reach(self):
        done = self.saltus("verify", "equal.json", "--sampler", "gibbs")
        self.assertEqual(done.status, 1)
        self.assertIn("cannot be reached", done.out)
        self.assertIn("2 classes", done.out)
        self.good("verify", "equal.json", "--sampler", "dmala")

    def test_log_z_beside_forbidden_states(self):
        exact = self.exact("equal.json")["log_z"]
        j = strict_json(self.good("logz", "equal.json", "--method", "both", "--seed", 2, "--json").out)
        self.assertAlmostEqual(j["exact"], exact, delta=1e-10)
        tempered = j["tempering"]["log_z"]
        self.assertLess(abs(tempered["bridge"] - exact), 5 * tempered["standard_error"])
        self.assertLess(abs(j["forward"]["log_z"] - exact), 5 * j["forward"]["standard_error"])
        self.assertIn("forbidden", [w["code"] for w in j["warnings"]])
        exact = self.exact("clauses.json")["log_z"]  # one class: both directions are right
        j = strict_json(self.good("logz", "clauses.json", "--seed", 2, "--json").out)
        for direction in "forward", "reverse":
            self.assertLess(abs(j[direction]["log_z"] - exact), 5 * j[direction]["standard_error"], direction)


if __name__ == "__main__":
    saltus_cli.main()
