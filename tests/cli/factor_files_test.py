"""Factor graphs of other programs: UAI, LG, fg, CNF and WCNF against enumeration, conversions, refusals."""

import itertools
import json
import math
import os
import resource
import subprocess
import unittest

import saltus_cli
from problems_test import DATA, USAGE, Problems, log_sum_exp, values_of
from saltus_cli import environment, strict_json

NEVER = -math.inf


def log(value):
    return math.log(value) if value > 0 else NEVER


def table(levels, entries):
    """Of the levels of a scope; the last runs fastest."""
    def value(*x):
        at = 0
        for level, k in zip(levels, x):
            at = at * level + k
        return entries[at]
    return value


NET = table([3, 2], [1, 2, .25, 3, .75, 0])
NET3 = table([2, 1, 3], [math.log(1), -400 * math.log(10), math.log(2), NEVER, math.log(3), math.log(.1)])
RAIN = table([2, 2, 2], [1, 0, .1, .9, .2, .8, .01, .99])
LOGS = table([2, 3], [0, 1, NEVER, .25, 2, -.5])
CELLS = {(0, 0): .5, (1, 0): 2, (1, 2): .25, (0, 1): 1}  # first label 9, then 3


def clauses(x, *weighted):
    """The weight of clauses of 1-based literals that do not hold."""
    return sum(w for w, *c in weighted if not any((x[abs(v) - 1] == 1) == (v > 0) for v in c))


SAT = [[1, -2], [2, 3, -4], [-1, -3], [4, 4, 1], [-2, 2]]
MAX = [[math.inf, 1, 2], [2.5, -1], [3, -2, 3], [math.inf, -1, -2, -3], [1, -3]]
NEW = [[math.inf, 1, -3], [2, -1, 2], [4, 3], [1]]

# File, options, levels, log p at beta = 1.
CASES = [
    ("net.uai", [], [2, 3, 2, 1],
     lambda x: math.log(2.5) + log([.5, 1.5][x[0]]) + log(NET(x[1], x[0])) + NET3(x[2], x[3], x[1])),
    ("rain.uai", [], [2, 2, 2], lambda x: log([.8, .2][x[0]]) + log([[.6, .4], [.99, .01]][x[0]][x[1]]) + log(RAIN(*x))),
    ("net.LG", ["--beta", 2], [2, 3], lambda x: [.5, NEVER, -1.25][x[1]] + LOGS(*x)),
    ("cells.fg", [], [3, 2, 2], lambda x: log([1, 3][x[1]]) + log(CELLS.get((x[2], x[0]), 0))),
    ("sat.cnf", [], [2] * 4, lambda x: -clauses(x, *([1] + c for c in SAT))),
    ("sat.cnf", ["--hard"], [2] * 4, lambda x: 0 if clauses(x, *([1] + c for c in SAT)) == 0 else NEVER),
    ("max.wcnf", ["--beta", 0.5], [2] * 3, lambda x: -clauses(x, *MAX)),
    ("new.wcnf", [], [2] * 3, lambda x: -clauses(x, *NEW)),
]


class Reading(Problems):
    def test_every_format_against_enumeration(self):
        for name, options, levels, logp in CASES:
            with self.subTest(f"{name} {options}"):
                self.copy(name)
                beta = options[options.index("--beta") + 1] if "--beta" in options else 1
                states = list(itertools.product(*map(range, levels)))
                values = [beta * logp(x) for x in states]
                self.assertAlmostEqual(self.log_z(name, *options), log_sum_exp(values), delta=1e-10)
                read = values_of(self.as_json(name, *options))
                for x, value in zip(states, values):
                    self.assertAlmostEqual(read(x), value, delta=1e-10)
                best = self.best(name, *options)
                objective, cost = best["objective"], name.endswith("cnf")
                self.assertAlmostEqual(best["best"]["logp"], max(values), delta=1e-10)
                self.assertEqual((objective["name"], objective["sense"]), ("cost", "min") if cost else ("logp", "max"))
                self.assertAlmostEqual(objective["best"], (-1 if cost else 1) * max(values) / beta, delta=1e-10)
        self.assertEqual(self.as_json("cells.fg")["labels"], [3, 5, 9])
        self.assertEqual(strict_json(self.good("exact", "sat.cnf", "--hard", "--json").out)["best"]["logp"], 0)

    def test_other_names_and_checkpoints(self):
        for name, other in ("net.uai", "n.dat"), ("sat.cnf", "s.dat"), ("max.wcnf", "w.dat"):
            self.copy(name)
            self.write(other, self.read(name))
            self.assertEqual(self.log_z(other), self.log_z(name))
        self.write("new.dat", self.read(self.copy("new.wcnf")))
        self.assertEqual(self.log_z("new.dat", "--format", "wcnf"), self.log_z("new.wcnf"))
        self.assertIn("--hard", self.refusal(USAGE, "logz", "net.uai", "--hard"))
        whole = self.summary("sat.cnf", "--hard", "--draws", 200, "--warmup", 10)
        self.summary("sat.cnf", "--hard", "--draws", 100, "--warmup", 10, "--checkpoint", "c")
        again = self.summary("--resume", "c", "--draws", 200)
        self.assertEqual((again["mean"], again["objective"]), (whole["mean"], whole["objective"]))

    def test_notes(self):
        self.write("b.uai", "BAYES 2 2 2 2 1 0 2 0 1 2 .5 .5 4 .5 .4 .3 .7")
        self.assertIn("1 rows of probabilities do not sum to 1, the first in factor 1 (0.9)",
                      self.good("convert", "b.uai", "b.json").err)
        self.write("large.wcnf", "9007199254740993 1 0\n1 -1 0\n")
        self.assertIn("2^53", self.good("convert", "large.wcnf", "l.json").err)
        # As doubles the first is not below top.
        self.write("near.wcnf", "p wcnf 1 2 9223372036854775807\n9223372036854775806 1 0\n9223372036854775807 -1 0\n")
        self.assertEqual(["hard" in f for f in self.as_json("near.wcnf")["factors"]], [False, True])


class Converting(Problems):
    def values(self, *arguments):
        model = self.as_json(*arguments)
        levels = model.get("levels")
        if not isinstance(levels, list):
            levels = [levels or 2] * (model["n"] if "n" in model else len(model["b"]))
        read = values_of(model)
        return [read(x) for x in itertools.product(*map(range, levels))]

    def assert_same(self, one, two, shift=0.0):
        self.assertEqual(len(one), len(two))
        for a, b in zip(one, two):
            if a != b:
                self.assertAlmostEqual(a, b + shift, delta=1e-12)

    def test_there_and_back(self):
        small = "net.uai"  # has an entry that no double holds
        for name, *_ in CASES:
            before = self.values(self.copy(name))
            for out in ("o.json", "o.uai", "o.wcnf"):
                if out == "o.wcnf" and not name.endswith("cnf") and name != "rain.uai":
                    continue
                with self.subTest(f"{name} to {out}"):
                    if out == "o.uai" and name == small:
                        self.assertIn("range", self.refusal(DATA, "convert", name, out))
                        continue
                    self.good("convert", name, out, *(["--drop-labels"] if name == "cells.fg" and out != "o.json" else []))
                    self.assert_same(before, self.values(out))
        for name in ("cut.mc", "matrix.bq", "bits.coo", "model.dimod.json"):
            before = self.values(self.copy(name))
            self.good("convert", name, "o.uai", "--drop-labels")
            self.assert_same(before, self.values("o.uai"))
            self.good("convert", "o.uai", "o.bqm")
            self.assert_same(before, self.values("o.bqm"))
            done = self.good("convert", name, "o.wcnf", "--drop-labels", "--drop-constant")
            left = float(done.err.split("constant ")[1].split()[0]) if "constant" in done.err else 0
            self.assert_same(before, self.values("o.wcnf"), -left)

    def test_clauses_are_restored(self):
        for name in ("max.wcnf", "sat.cnf", "new.wcnf"):
            self.copy(name)
            self.good("convert", name, "o.wcnf")
            self.assertEqual(self.as_json(name), self.as_json("o.wcnf"))
        for name in ("rain.uai", "net.LG"):
            self.copy(name)
            self.good("convert", name, "o.json")
            self.assertEqual(self.as_json("o.json"), self.as_json(name))

    def test_numbers_out_of_range(self):
        self.write("m.json", json.dumps({"model": "factors", "levels": [2, 2], "constant": -2000, "factors": [
            {"over": [0], "log": [1000, 1001.5]}, {"over": [0, 1], "log": ["-inf", 600, -650, 0]},
            {"clause": [[0, 1], [1, 1]], "weight": 3}, {"clause": [], "weight": 2}]}))
        self.good("convert", "m.json", "o.uai")
        self.assert_same(self.values("m.json"), self.values("o.uai"))
        self.write("m.json", '{"model": "factors", "levels": [2], "factors": [{"over": [0], "log": [-900, 0]}]}')
        self.assertIn("range", self.refusal(DATA, "convert", "m.json", "o.uai"))

    def test_what_does_not_fit_is_refused(self):
        self.copy("net.uai")
        self.copy("cells.fg")
        for arguments, words in [(["net.uai", "o.wcnf"], "two levels"), (["net.uai", "o.bqm"], "two levels"),
                                 (["cells.fg", "o.uai"], "--drop-labels"), (["rbm", "o.uai"], "factors"),
                                 (["poisson", "o.wcnf"], "factors"), (["ising", "o.wcnf"], "--drop-constant")]:
            self.assertIn(words, self.refusal(DATA, "convert", *arguments))
        wide = [[i, 1] for i in range(25)]
        self.write("wide.json", json.dumps({"model": "factors", "levels": [2] * 25, "factors": [{"clause": wide, "weight": 1}]}))
        self.assertIn("25 coordinates", self.refusal(DATA, "convert", "wide.json", "o.uai"))
        self.good("convert", "wide.json", "o.wcnf")


class Refusals(Problems):
    def test_texts(self):
        head = "MARKOV 2 2 3 1 "
        for name, text, words in [
                ("a.uai", "", "ends before MARKOV"), ("a.uai", "GIBBS 1", "'GIBBS'"), ("a.uai", "MARKOV\n0", "line 2: the number of"),
                ("a.uai", "MARKOV 2 2 0", "levels is '0'"), ("a.uai", "MARKOV 1 65537", "'65537'"), ("a.uai", "MARKOV 1 2 -1", "'-1'"),
                ("a.uai", head + "2 0 0", "factor 0 names variable 0 twice"), ("a.uai", head + "1 2", "a variable is '2'"),
                ("a.uai", head + "3 0 1", "'3'"), ("a.uai", head + "2 0 1\n5 1 1 1 1 1", "line 2: the table of factor 0 has 5 entries"),
                ("a.uai", head + "1 0 2 1", "too short"), ("a.uai", head + "1 0 2 1\n\n\n", "ends before"),
                ("a.uai", head + "1 0 2 0 0", "forbids every state"), ("a.uai", head + "1 0 2 1 -1e-400", "'-1e-400'"),
                ("a.uai", head + "1 0 2 1 1e400", "'1e400'"), ("a.uai", head + "1 0 2 1 nan", "'nan'"), ("a.uai", head + "1 0 2 1 1\n\n2", "line 3: '2' follows"),
                ("a.uai", head + "1 0 2 1 inf", "'inf'"), ("a.uai", head + "1 0 2 1 1\0", "byte 0"),
                ("a.LG", head + "1 0 2 1 inf", "'inf'"), ("a.LG", head + "1 0 2 1 1e31", "'1e31'"), ("a.LG", head + "1 0 2 -inf -1e38", "forbids"),
                ("a.uai", "MARKOV 40" + " 2" * 40 + " 1 40 " + " ".join(map(str, range(40))) + f" {2**40} 1", "at most 2147483647"),
                ("a.uai", "MARKOV 100000000 2 2", "ends before"), ("a.uai", "MARKOV 1 1 0", "single level"),
                ("a.uai", "MARKOV 26" + " 2" * 26 + " 1 26 " + " ".join(map(str, range(26))) + f" {2**26} 1", "too short"),
                ("a.fg", "", "ends before"), ("a.fg", "1 1 0 2 2 0 1 0 2", "entry 0 twice"), ("a.fg", "1 1 0 2 1 2 1", "index of an entry is '2'"),
                ("a.fg", "2 1 0 2 1 0 1\n1 0 3", "line 2: variable 0 has 3 levels here and 2"), ("a.fg", "1 2 4 4 2 2", "variable 4 twice"),
                ("a.fg", "1 1 0 2 0", "forbids every"), ("a.fg", "1 1 0 2 1 0 0", "forbids every"), ("a.fg", "1 1 0 2 3 0 1", "has 3 entries"),
                ("a.fg", "1 1 0 2 1 0 -1", "'-1'"), ("a.fg", "1 1 0 2 1 0 1 7", "'7' follows"), ("a.fg", "1 1 -1 2 1 0 1", "'-1'"),
                ("a.fg", "1 28 " + " ".join(map(str, range(28))) + " 2" * 28 + " 1 0 1", "in a file of this size"), ("a.fg", "1 0 1 0 2", "no variable"),
                ("a.cnf", "", "no line 'p cnf"), ("a.cnf", "p cnf 2\n", "expected 'p cnf"), ("a.cnf", "p sat 2 1\n", "expected 'p cnf"),
                ("a.cnf", "p cnf 2 1\n1 3 0", "line 2: a literal is '3'"), ("a.cnf", "p cnf 2 1\n1 -3 0", "'-3'"), ("a.cnf", "p cnf 2 1\n1 2", "its 0 is missing"),
                ("a.cnf", "p cnf 2 1\n1 2\n%\n0", "its 0 is missing"), ("a.cnf", "p cnf 2 3\n1 0\n2 0", "after 2 clauses"),
                ("a.cnf", "p cnf 2 1\n1 0\n2 0", "line 3: the line p announces 1"), ("a.cnf", "p cnf 2 1\n1 x 0", "'x'"), ("a.cnf", "p cnf 0 0", "'0'"),
                ("a.wcnf", "", "no clauses"), ("a.wcnf", "p wcnf 2 1\n0 1 0", "weight of a clause is '0'"), ("a.wcnf", "p wcnf 2 1\n-1 1 0", "'-1'"),
                ("a.wcnf", "p wcnf 2 2 9\nh 1 0\n1 2 0", "line 2: a clause begins with 'h'"), ("a.wcnf", "h 0\n1 1 0", "empty"),
                ("a.wcnf", "p wcnf 2 1 9\n9 0", "empty"), ("a.wcnf", "1 2 0\np wcnf 2 1", "line 2: a line p"), ("a.wcnf", "1 0", "no variable"),
                ("a.wcnf", "p wcnf 2 1 0\n1 1 0", "top"), ("a.wcnf", "3", "behind the weight"), ("a.wcnf", "p cnf 1 1\n1 0", "expected 'p wcnf"),
                ("a.wcnf", "1e30 1 0", "'1e30'"), ("a.wcnf", "1 1", "its 0 is missing"), ("a.wcnf", "1 1 99999999999 0", "'99999999999'")]:
            with self.subTest(f"{name} {text[:60]!r}"):
                message = self.refusal(DATA, "logz", self.write(name, text))
                self.assertIn(words, message)
                self.assertIn(name, message)

    @unittest.skipIf("SALTUS_SANITIZED" in os.environ, "sanitizers take much address space")
    def test_announced_sizes_take_no_memory(self):
        for name, text in [("a.uai", "MARKOV 100000000 2 2"), ("a.cnf", "p cnf 100 2147483647\n1 0\n"), ("a.wcnf", "p wcnf 2 2147483647\n1 1 0"),
                           ("a.uai", "MARKOV 30" + " 2" * 30 + " 1 30 " + " ".join(map(str, range(30))) + f" {2**30} 1"),
                           ("a.uai", "MARKOV 1 2 2147483647 1 0"), ("a.fg", "2147483647 1 0 2 1 0 1"), ("a.fg", "1 2147483647 0"),
                           ("a.fg", "1 27 " + " ".join(map(str, range(27))) + " 2" * 27 + " 1 0 1")]:
            done = subprocess.run([saltus_cli.program, "convert", self.write(name, text), "o.json"], cwd=self.folder, capture_output=True,
                                  env=environment(), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30,) * 2))
            self.assertEqual(done.returncode, DATA, done.stderr)
            self.assertIn(name.encode(), done.stderr)


if __name__ == "__main__":
    saltus_cli.main()
