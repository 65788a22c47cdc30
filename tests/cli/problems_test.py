"""Files of other programs: every format against enumeration, conversions there and back, refusals.

Where SALTUS_SPEC names a folder with problems/golden.json and problems/bad.json, those files are read, too.
"""

import gzip
import itertools
import json
import math
import os
import re
import shutil
import struct
import unittest
import zipfile

import saltus_cli
from saltus_cli import CliTest, strict_json

USAGE, DATA = 64, 65
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "io", "problems")
SPEC = os.environ.get("SALTUS_SPEC", "")
QUICK = ["--betas", 2, "--chains", 2]
# The readers that there are; other cases of the golden files are left out.
READ = {"rudy", "bq", "qubo", "coo", "dimod-json", "bqm", "isakov", "dimacs", "plmc", "potts-npz", "uai", "lg", "fg", "cnf",
        "wcnf", "factors"}


def spins(n):
    return itertools.product((-1, 1), repeat=n)


def bits(n):
    return itertools.product((0, 1), repeat=n)


def log_sum_exp(values):
    values = list(values)
    top = max(values)
    return top + math.log(math.fsum(math.exp(v - top) for v in values))


def cut(edges, s):
    return sum(w for i, j, w in edges if s[i] != s[j])


CUT = [(0, 1, 2), (2, 1, -1.5), (0, 2, 1), (3, 0, 1), (2, 3, .25)]
RING = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]

# File, options, the energy's states, the energy, the objective that is to be large or small.
CASES = [
    ("cut.mc", [], spins(4), lambda s: -cut(CUT, s)),
    ("cut.mc", ["--beta", 0.3], spins(4), lambda s: -cut(CUT, s)),
    ("path.txt", [], spins(3), lambda s: -(s[0] != s[1]) - (s[1] != s[2])),
    ("matrix.bq", [], bits(4),
     lambda x: -3 * x[0] + 2 * x[3] + 2 * (1.5 * x[0] * x[1] - x[1] * x[2] + .5 * x[2] * x[3])),
    ("matrix.bq", ["--maximise", "--beta", 2], bits(4),
     lambda x: 3 * x[0] - 2 * x[3] - 2 * (1.5 * x[0] * x[1] - x[1] * x[2] + .5 * x[2] * x[3])),
    ("nodes.qubo", [], bits(5),
     lambda x: 1.5 * x[0] - 2 * x[3] - x[0] * x[1] + .5 * x[1] * x[3] + x[2] * x[3]),
    ("labels.coo", [], spins(3), lambda s: -.5 * s[0] + .1 * s[1] + 1.25 * s[0] * s[2] - .75 * s[1] * s[2]),
    ("bits.coo", [], bits(3), lambda x: x[0] * x[1] - 2 * x[1]),
    ("bits.coo", ["--vartype", "BINARY"], bits(3), lambda x: x[0] * x[1] - 2 * x[1]),
    ("chain.isakov", [], spins(3), lambda s: -s[0] * s[1] + .5 * s[1] * s[2] + .25 * s[1]),
    ("model.dimod.json", [], spins(3),
     lambda s: 1.25 + .5 * s[0] - s[2] + s[0] * s[1] - .5 * s[1] * s[2]),
    ("ring.col", ["--problem", "max-cut"], spins(5), lambda s: -sum(s[u] != s[v] for u, v in RING)),
    ("ring.col", ["--problem", "mis", "--penalty", 1.5], bits(5),
     lambda x: -sum(x) + 1.5 * sum(x[u] * x[v] for u, v in RING)),
    ("ring.col", ["--problem", "max-clique", "--penalty", 2], bits(5),
     lambda x: -sum(x) + 2 * sum(x[u] * x[v] for u in range(5) for v in range(u + 1, 5) if (u, v) not in RING)),
    ("ring.col", ["--problem", "colouring", "--colours", 3], itertools.product(range(3), repeat=5),
     lambda x: sum(x[u] == x[v] for u, v in RING)),
    ("ring.col", ["--problem", "partition", "--parts", 2, "--penalty", .25], bits(5),
     lambda x: 2 * sum(x[u] != x[v] for u, v in RING) + .25 * sum((x.count(k) - 2.5) ** 2 for k in (0, 1))),
]


def bqm(spins, offset, linear, pairs, labels=None, version=2, double=True):
    """A .bqm file; pairs is a dict."""
    bias = "d" if double else "f"
    n, near = len(linear), [[] for _ in linear]
    for (i, j), w in pairs.items():
        near[i].append((j, w))
        near[j].append((i, w))
    variables = (labels or list(range(n))) if version == 1 else labels is not None
    head = json.dumps({"shape": [n, len(pairs)], "dtype": "float64" if double else "float32", "itype": "int32",
                       "ntype": "uint64", "vartype": "SPIN" if spins else "BINARY", "type": "Float64BQM",
                       "variables": variables}) + "\n"
    head = head.ljust(-(-(len(head) + 14) // 16) * 16 - 14).encode()
    out = b"DIMODBQM" + bytes([version, 0]) + struct.pack("<I", len(head)) + head + struct.pack("<" + bias, offset)
    at = 0
    for i in range(n):
        out += struct.pack("<Q" + bias, at, linear[i])
        at += len(near[i])
    for list_ in near:
        for j, w in sorted(list_):
            out += struct.pack("<i" + bias, j, w)
    if version == 2 and labels is not None:
        text = json.dumps(labels)
        text = text.ljust(-(-(len(text) + 8) // 64) * 64 - 8).encode()
        out += b"VARS" + struct.pack("<I", len(text)) + text
    return out


def npy(shape, values):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    head = head.ljust(-(-(len(head) + 11) // 64) * 64 + 53 - 0)[:117] + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}d", *values)


def factor_value(levels, factor, x):
    if "clause" in factor:
        lost = not any(x[i] == v for i, v in factor["clause"])
        return 0 if not lost else -math.inf if "hard" in factor else -factor["weight"]
    entry = 0
    for i in factor["over"]:
        entry = entry * levels[i] + x[i]
    return float(factor["log"][entry])


def values_of(model):
    """log p of a model in saltus's own JSON as a function of level indices."""
    def logp(x):
        total = model.get("constant", 0)
        if model["model"] == "factors":
            return total + sum(factor_value(model["levels"], f, x) for f in model["factors"])
        if model["model"] == "potts":
            total += sum(model["unary"][i][v] for i, v in enumerate(x))
            return total + sum(e["table"][x[e["between"][0]]][x[e["between"][1]]] for e in model["pairwise"])
        spin = model["model"] == "ising" or model.get("values") == "spin"
        v = [2 * k - 1 if spin else k for k in x]
        pairs, fields = ("couplings", "fields") if model["model"] == "ising" else ("A", "b")
        total += sum(w * v[i] * v[j] for i, j, w in model[pairs])
        return total + sum(h * v[i] for i, h in enumerate(model[fields]))
    return logp


class Problems(CliTest):
    def copy(self, name):
        shutil.copy(os.path.join(FOLDER, name), self.path(name))
        os.chmod(self.path(name), 0o600)
        return name

    def exact(self, *arguments):
        return strict_json(self.good("logz", *arguments, *QUICK, "--json").out)["exact"]

    def log_z(self, *arguments):
        """The same where chains of an estimate may begin in forbidden states."""
        return strict_json(self.good("exact", *arguments, "--json").out)["log_z"]

    def as_json(self, *arguments):
        self.good("convert", arguments[0], "as_json.json", *arguments[1:])
        with open(self.path("as_json.json")) as file:
            return json.load(file)

    def best(self, *arguments):
        return strict_json(self.good("anneal", *arguments, "--steps", 20, "--restarts", 20, "--json").out)


class Reading(Problems):
    def test_every_format_against_enumeration(self):
        for name, options, states, energy in CASES:
            with self.subTest(f"{name} {options}"):
                self.copy(name)
                beta = options[options.index("--beta") + 1] if "--beta" in options else 1
                energies = [energy(x) for x in states]
                self.assertAlmostEqual(self.exact(name, *options), log_sum_exp(-beta * e for e in energies), delta=1e-10)
                best = self.best(name, *options)
                self.assertAlmostEqual(best["best"]["logp"], -beta * min(energies), delta=1e-10)
                objective = best["objective"]
                sign = -1 if objective["sense"] == "max" else 1
                self.assertAlmostEqual(objective["best"], sign * min(energies), delta=1e-12)

    def test_binary_files_of_dimod(self):
        linear, pairs = [0.5, -1, 0, 2], {(0, 1): 1.5, (1, 3): -0.25, (0, 3): 1}
        for spin in (True, False):
            states = spins(4) if spin else bits(4)
            expected = log_sum_exp(-0.75 - sum(b * v for b, v in zip(linear, x)) -
                                   sum(w * x[i] * x[j] for (i, j), w in pairs.items()) for x in states)
            for version, double, labels in itertools.product((1, 2), (True, False), (None, ["a", 3, [0, 1], 2.5])):
                self.write("m.bqm", bqm(spin, 0.75, linear, pairs, labels, version, double))
                self.assertAlmostEqual(self.exact("m.bqm"), expected, delta=1e-10)
                self.assertEqual(self.as_json("m.bqm").get("labels"), labels)

    def test_potts_arrays(self):
        h, j = [[.1, -.2], [.3, 0], [0, .5]], {(0, 1): [[1, 2], [3, 4]], (0, 2): [[0, -1], [1, 0]], (1, 2): [[2, 0], [0, .5]]}
        flat = [v for row in h for v in row]
        by_pairs = [v for pair in sorted(j) for row in j[pair] for v in row]
        full, upper = [], []
        for a, b in itertools.product(range(3), repeat=2):
            table = j.get((a, b)) or ([list(r) for r in zip(*j[b, a])] if (b, a) in j else [[0, 0], [0, 0]])
            full += [v for row in table for v in row]
            upper += [v for row in table for v in row] if a < b else [0] * 4
        expected = log_sum_exp(sum(h[i][x[i]] for i in range(3)) + sum(t[x[a]][x[b]] for (a, b), t in j.items())
                               for x in bits(3))
        for shape, values in ([3, 2, 2], by_pairs), ([3, 3, 2, 2], full), ([3, 3, 2, 2], upper):
            with zipfile.ZipFile(self.path("m.npz"), "w") as file:
                file.writestr("h.npy", npy([3, 2], flat))
                file.writestr("J.npy", npy(shape, values))
            self.assertAlmostEqual(self.exact("m.npz"), expected, delta=1e-10)
        plmc = struct.pack("<5i5f", 3, 2, 1, 1, 9, .1, 1, 1, 1, 2.) + b"AC" + struct.pack("<2f", 1, 0) + b"ACA"
        plmc += struct.pack("<3i", 1, 2, 3) + struct.pack("<6f", *[.5] * 6) + struct.pack("<6f", *flat)
        plmc += struct.pack("<12f", *[9.] * 12) + struct.pack("<12f", *by_pairs)
        self.write("m.params", plmc)
        self.assertAlmostEqual(self.exact("m.params"), expected, delta=1e-6)  # single precision
        for damaged, words in (plmc[:-4], "bytes"), (plmc + b"\0", "bytes"), (b"\xff" * 40, "not possible"):
            self.write("bad.params", damaged)
            self.assertIn(words, self.refusal(DATA, "logz", "bad.params"))

    def test_names_and_contents(self):
        for name in ("cut.mc", "G1", "CUT.RUD", "b.txt"):
            shutil.copy(os.path.join(FOLDER, "cut.mc"), self.path(name))
            self.assertEqual(self.best(name)["objective"]["name"], "cut")
        self.assertIn("cut", self.saltus("convert", "b.txt", "x.json").err)  # a note
        with open(self.path("cut.mc"), "rb") as file:
            self.write("packed.mc.gz", gzip.compress(file.read()))
        self.assertEqual(self.exact("packed.mc.gz"), self.exact("cut.mc"))
        shutil.copy(os.path.join(FOLDER, "nodes.qubo"), self.path("unknown"))
        self.assertEqual(self.exact("unknown"), self.exact(self.copy("nodes.qubo")))
        shutil.copy(os.path.join(FOLDER, "matrix.bq"), self.path("m.dat"))
        self.assertIn("rudy or bq", self.refusal(DATA, "logz", "m.dat"))
        self.assertEqual(self.exact("m.dat", "--format", "bq"), self.exact(self.copy("matrix.bq")))
        self.write("bqm.dat", bqm(True, 0, [1, 2], {}))
        self.assertAlmostEqual(self.exact("bqm.dat"), math.log(4 * math.cosh(1) * math.cosh(2)), delta=1e-10)
        self.write("own.txt", '{"model": "bernoulli", "logits": [0]}')
        self.assertAlmostEqual(self.exact("own.txt"), math.log(2), delta=1e-12)
        self.write("what.dat", "hello\n")
        self.assertIn("--format", self.refusal(DATA, "logz", "what.dat"))
        for options, words in [(["cut.mc", "--maximise"], "--maximise"), (["cut.mc", "--format", "bp"], "expected one of"),
                               (["cut.mc", "--vartype", "SPIN"], "--vartype"), (["ising", "--format", "bq"], "built-in"),
                               (["cut.mc", "--beta", 0], "--beta"), (["rbm", "--beta", 2], "beta"),
                               (["cut.mc", "--problem", "mis", "--colours", 3], "--colours"),
                               (["cut.mc", "--penalty", 2], "takes no penalty"),
                               (["matrix.bq", "--problem", "mis"], "--problem"),
                               ([self.copy("ring.col"), "--problem", "mos"], "mis"),
                               (["ring.col", "--problem", "colouring"], "--colours"),
                               (["ring.col", "--problem", "mis", "--colours", 3], "--colours")]:
            self.assertIn(words, self.refusal(USAGE, "logz", *options))

    def test_problems_of_weighted_graphs(self):
        self.copy("cut.mc")
        self.assertEqual(self.exact("cut.mc", "--problem", "max-cut"), self.exact("cut.mc"))
        energies = (2 * sum(w for i, j, w in CUT if x[i] != x[j]) + .5 * sum((x.count(k) - 2) ** 2 for k in (0, 1))
                    for x in bits(4))
        self.assertAlmostEqual(self.exact("cut.mc", "--problem", "partition", "--parts", 2, "--penalty", .5),
                               log_sum_exp(-e for e in energies), delta=1e-10)
        self.assertIn("the edge 1 2 has the weight 2; expected 1", self.refusal(DATA, "logz", "cut.mc", "--problem", "mis"))
        self.write("ring.mc", "5 5\n" + "".join(f"{v + 1} {u + 1} 1\n" for u, v in RING))
        for options in (["--problem", "mis"], ["--problem", "colouring", "--colours", 3]):
            self.assertEqual(self.exact("ring.mc", *options), self.exact(self.copy("ring.col"), *options))

    def test_a_large_sparse_graph(self):
        self.good("generate", "er", 300, .02, "g.col", "--seed", 2)
        j = self.best("g.col", "--problem", "max-clique")
        self.assertEqual((j["model"], j["problem"]["missing_edges"]), ("graph", 0))
        self.assertEqual(j["solution"]["value"], sum(j["solution"]["state"]))
        self.good("convert", "g.col", "g.json", "--problem", "partition", "--parts", 3, "--penalty", .1)
        j = self.best("g.json")
        edges = [(int(u) - 1, int(v) - 1) for e, u, v in
                 (line.split() for line in self.read("g.col").decode().splitlines() if line[0] == "e")]
        x = j["best"]["state"]
        cost = 2 * sum(x[u] != x[v] for u, v in edges) + .1 * sum((x.count(k) - 100) ** 2 for k in range(3))
        self.assertAlmostEqual(j["best"]["energy"], cost, delta=1e-9)
        again = self.best("g.col", "--problem", "partition", "--parts", 3, "--penalty", .1)
        self.assertAlmostEqual(again["objective"]["best"], cost, delta=1e-9)
        self.assertEqual(again["problem"]["cut_edges"], sum(x[u] != x[v] for u, v in edges))
        self.write("bad.json", '{"model": "graph", "n": 2, "edges": [[0, 1], [1, 0]], "pair": [[0, 1], [1, 0]]}')
        self.assertIn("edges[1] repeats", self.refusal(DATA, "logz", "bad.json"))
        self.write("bad.json", '{"model": "graph", "n": 2, "edges": [[0, 1]], "pair": [[0, 1], [2, 0]]}')
        self.assertIn("pair[1][0] is 2", self.refusal(DATA, "logz", "bad.json"))

    def test_clauses_as_a_graph(self):
        clauses = [[1, 2, 2], [-1, 3, 2], [-2, -3], [-2, 3], [1, -1]]
        self.write("f.cnf", "p cnf 3 5\n" + "".join(" ".join(map(str, c)) + " 0\n" for c in clauses))
        vertices = [(c, v) for c, clause in enumerate(clauses) for v in dict.fromkeys(clause)]
        pairs = [(a, b) for a, b in itertools.combinations(range(len(vertices)), 2)
                 if vertices[a][0] == vertices[b][0] or vertices[a][1] == -vertices[b][1]]
        energies = (-sum(x) + 1.5 * sum(x[a] * x[b] for a, b in pairs) for x in bits(len(vertices)))
        self.assertAlmostEqual(self.exact("f.cnf", "--problem", "mis", "--penalty", 1.5),
                               log_sum_exp(-e for e in energies), delta=1e-10)
        self.assertEqual(self.best("f.cnf", "--problem", "mis")["solution"]["value"], 5)
        self.assertIn("satisfied: all 5 clauses hold", self.best("f.cnf")["problem"]["text"])
        every = [[s * (i + 1) for i, s in enumerate(signs)] for signs in itertools.product((1, -1), repeat=3)]
        self.write("f.cnf", "p cnf 4 9\n4 0\n" + "".join(" ".join(map(str, c)) + " 0\n" for c in every))
        self.assertEqual(self.best("f.cnf", "--problem", "mis")["solution"]["value"], 8)  # one of them does not hold
        j = self.best("f.cnf")
        self.assertEqual((j["problem"]["unsatisfied_clauses"], j["problem"]["feasible"]), (1, False))
        for options, words in [(["--problem", "max-cut"], "mis, not max-cut"), (["--penalty", 2], "no penalty"),
                               (["--problem", "mis", "--hard"], "none is hard")]:
            self.assertIn(words, self.refusal(USAGE, "logz", "f.cnf", *options))

    def test_what_anneal_says_of_states(self):
        self.copy("ring.col")
        done = self.good("anneal", "ring.col", "--problem", "mis", "--steps", 20, "--penalty", .5, "--goal", 2).out
        self.assertRegex(done, r"(?m)^that is +\d vertices, \d edges? among them$")
        self.assertRegex(done, r"(?m)^allowed +size 2 \(1.000000 of the goal\), after . vert\w+ \w+ dropped$")
        j = strict_json(self.good("anneal", "ring.col", "--problem", "mis", "--steps", 20, "--goal", 2, "--json").out)
        self.assertEqual(j["problem"]["violated_edges"], 0)
        self.assertEqual((j["goal_ratio"], j["solution"]["value"], j["solution"]["repaired"]), (1, 2, 0))
        self.assertEqual(j["first_reached"]["evaluations"], 100 * j["first_reached"]["step"])

    def test_beta_multiplies_any_plain_model(self):
        for model in ("ising", "ising-lattice", "quadratic", "potts", "bernoulli"):
            best = [self.best(model, "--beta", beta)["best"]["logp"] for beta in (1, 2.5)]
            self.assertAlmostEqual(best[1], 2.5 * best[0], delta=1e-9)

    def test_constants_and_labels(self):
        models = {"ising": {"n": 2, "couplings": [[0, 1, .3]], "fields": [.1, .2]},
                  "quadratic": {"levels": 3, "A": [[0, 1, .3]], "b": [.1, .2]},
                  "potts": {"levels": [2, 3], "pairwise": [{"between": [0, 1], "table": [[1, 2, 3], [0, 1, 0]]}]},
                  "ising-lattice": {"shape": [2, 3], "a": .2, "b": .1}}
        for kind, fields in models.items():
            self.write("plain.json", {"model": kind, **fields})
            self.write("moved.json", {"model": kind, **fields, "constant": 2.5})
            self.assertAlmostEqual(self.exact("moved.json"), self.exact("plain.json") + 2.5, delta=1e-10)
            one, two = (self.summary(m, "--draws", 50, "--out", "d.csv") for m in ("plain.json", "moved.json"))
            self.assertEqual(one["mean"], two["mean"])  # the same draws
            self.assertAlmostEqual(two["best"]["logp"] - one["best"]["logp"], 2.5, delta=1e-9)
            if kind != "ising-lattice":
                labels = ["a", [1, "b"]]
                self.write("named.json", {"model": kind, **fields, "labels": labels})
                self.assertEqual(self.summary("named.json", "--draws", 20)["labels"], labels)
                self.assertEqual(self.as_json("named.json")["labels"], labels)
                for bad in (["a"], ["a", "a"], ["a", None], "ab"):
                    self.write("bad.json", {"model": kind, **fields, "labels": bad})
                    self.assertIn("labels", self.refusal(DATA, "logz", "bad.json"))

    def test_objective_and_checkpoints(self):
        self.copy("cut.mc")
        s = self.summary("cut.mc", "--draws", 500, "--beta", 3)
        self.assertEqual((s["objective"]["name"], s["objective"]["sense"]), ("cut", "max"))
        self.assertAlmostEqual(s["objective"]["best"], max(cut(CUT, x) for x in spins(4)), delta=1e-12)
        logp = [o["mean"] for o in s["observables"] if o["name"] == "log p"][0]
        self.assertAlmostEqual(s["objective"]["mean"], logp / 3, delta=1e-9)
        self.assertIn("cut: best", self.good("sample", "cut.mc", "--draws", 50).out)
        whole = self.summary("cut.mc", "--beta", 3, "--draws", 200, "--warmup", 10)
        self.summary("cut.mc", "--beta", 3, "--draws", 100, "--warmup", 10, "--checkpoint", "c")
        again = self.summary("--resume", "c", "--draws", 200)
        self.assertEqual((again["mean"], again["objective"]), (whole["mean"], whole["objective"]))
        self.assertIn("settled", self.refusal(USAGE, "sample", "--resume", "c", "--beta", 2))


class Converting(Problems):
    def table(self, *arguments):
        model = self.as_json(*arguments)
        n = model["n"] if "n" in model else len(model["b"])
        return [values_of(model)(x) for x in bits(n)]

    def test_there_and_back(self):
        for name in ("cut.mc", "matrix.bq", "nodes.qubo", "labels.coo", "bits.coo", "chain.isakov", "model.dimod.json"):
            before = self.table(self.copy(name))
            for out in ("o.json", "o.mc", "o.qubo", "o.bq", "o.coo", "o.bqm", "o.dimod.json"):
                if out == "o.mc" and name != "cut.mc":
                    continue  # fields
                with self.subTest(f"{name} to {out}"):
                    lossless = out in ("o.json", "o.bqm", "o.dimod.json", "o.mc")
                    done = self.good("convert", name, out, *([] if lossless else ["--drop-constant"]),
                                     *(["--drop-labels"] if not lossless and out != "o.coo" or name == "model.dimod.json"
                                       and out == "o.coo" else []))
                    after = self.table(out)
                    if "constant" in done.err:
                        left = float(re.search(r"constant (\S+) of", done.err)[1])
                        after = [v - left for v in after]
                    for a, b in zip(before, after):
                        self.assertAlmostEqual(a, b, delta=1e-13)
                    self.assertEqual(len(before), len(after))
                    if lossless and out != "o.mc":
                        self.assertEqual(self.as_json(name).get("labels"), self.as_json(out).get("labels"))

    def test_numbers_are_restored(self):
        numbers = [0.1, 1 / 3, -2.5e-17, 1e21, 123456789.123456789]
        self.write("m.json", {"model": "quadratic", "levels": 2, "A": [], "b": numbers})
        for out in ("o.qubo", "o.bq", "o.coo", "o.bqm", "o.dimod.json"):
            self.good("convert", "m.json", out)
            self.assertEqual(self.as_json(out)["b"], numbers, out)
        self.assertNotIn("e", self.read("o.coo").decode().split("\n", 1)[1])

    def test_what_does_not_fit_is_refused(self):
        self.write("fields.json", {"model": "ising", "n": 2, "couplings": [[0, 1, 1]], "fields": [0, 1], "constant": 3})
        self.write("named.json", {"model": "ising", "n": 2, "couplings": [], "fields": [0, 0], "labels": ["a", "b"]})
        for arguments, words in [(["fields.json", "o.mc"], "fields"), (["fields.json", "o.coo"], "--drop-constant"),
                                 (["fields.json", "o.qubo"], "constant"), (["named.json", "o.coo"], "--drop-labels"),
                                 (["named.json", "o.bq"], "labels"), (["potts", "o.bqm"], "two levels"),
                                 (["rbm", "o.coo"], "two levels"), (["quadratic", "o.bq"], "two levels")]:
            self.assertIn(words, self.refusal(DATA, "convert", *arguments))
        for arguments in (["ising", "o.xyz"], ["ising", "o.bqm", "--to", "uia"], ["ising", "o.json", "--drop-labels"]):
            self.refusal(USAGE, "convert", *arguments)
        self.good("convert", "ising", "o.xyz", "--to", "bqm")
        self.assertTrue(self.read("o.xyz").startswith(b"DIMODBQM\x02\x00"))
        self.good("convert", "ising-lattice", "l.bqm")
        self.assertAlmostEqual(self.exact("l.bqm"), self.exact("ising-lattice"), delta=1e-9)


class Refusals(Problems):
    def test_texts(self):
        for name, text, words in [
                ("a.mc", "", "empty"), ("a.mc", "3\n", "line 1: expected 'n m'"), ("a.mc", "3 1\n1 2 1\0", "byte 0"),
                ("a.mc", "0 1\n", "'0'"), ("a.mc", "3 1\n1 4 1", "line 2: a node is '4'"),
                ("a.mc", "3 1\n\n1 1 1", "line 3: the edge joins node 1"),
                ("a.mc", "3 2\n1 2 1\n# c\n2 1 1", "line 4: the entry 2 1 is there twice"),
                ("a.mc", "3 2\n1 2 1", "ends after 1 edges"), ("a.mc", "3 1\n1 2 1\n1 3 1", "line 3"),
                ("a.mc", "3 2\n1 2 1\n1 3", "some have none"), ("a.mc", "3 1\n1 2 1e999", "'1e999'"),
                ("a.mc", "3 1\n1 2 0x1", "'0x1'"), ("a.mc", "3 1\n1 2 +-1", "'+-1'"), ("a.mc", "3 1\n1 2 1d3", "'1d3'"),
                ("a.bq", "2 1\n1 2", "2 words"), ("a.bq", "2 1\n1 2 1,5", "'1,5'"), ("a.bq", "2 1\n1.0 2 1", "'1.0'"),
                ("a.bq", "2 2\n1 1 1\n1 1 2", "twice"), ("a.bq", "2 1\n1 2 nan", "'nan'"),
                ("a.qubo", "MINIMIZE\n", "p qubo"), ("a.qubo", "p qubo 1 2 0 0\n", "topology"),
                ("a.qubo", "p qubo 0 2 0 1\n1 0 3\n", "smaller node first"), ("a.qubo", "p qubo 0 2 1 0\n", "0 nodes"),
                ("a.qubo", "p qubo 0 2 2 0\n0 0 1\n0 0 1\n", "line 3: the node 0 is there twice"),
                ("a.qubo", "p qubo 0 3 0 2\n0 1 1\n0 1 1\n", "line 3: the coupler 0 1"),
                ("a.coo", "0 1 1\n", "SPIN or BINARY"), ("a.coo", "# vartype=SPINS\n0 1 1", "'SPINS'"),
                ("a.coo", "# vartype=SPIN\n0 1 1 1", "4 words"), ("a.coo", "# vartype=SPIN\n# vartype=BINARY\n0 0 1", "line 2"),
                ("a.coo", "# vartype=SPIN\n-1 0 1", "'-1'"), ("a.coo", "# vartype=SPIN\n", "no entries"),
                ("a.isakov", "name\n1 2 1\n2 1 1", "line 3"), ("a.isakov", "", "empty"),
                ("a.col", "p edge 2 1\ne 1 2\n", "name a problem"), ("a.json", '{"version": {"bqm_schema": "1.0.0"}}', "1.0.0"),
                ("a.mc", b"\xfd7zXZ\0", "xz"), ("a.mc", b"BZh9", "bzip2"), ("a.mc", b"\x28\xb5\x2f\xfd", "zstd"),
                ("a.bqm", b"DIMODCQM", "CQM"), ("a.bqm", b"DIMODBQM\x03\x00" + bytes(4), "3.0"), ("a.bqm", b"DIMODBQM", "14 bytes")]:
            with self.subTest(f"{name} {text!r}"):
                message = self.refusal(DATA, "logz", self.write(name, text))
                self.assertIn(words, message)
                self.assertIn(name, message)
        for text, words in [("e 1 2\n", "before the line"), ("p edge 2 1\ne 1 1\n", "itself"), ("p edge 2 1\nn 1 2\n", "'n'"),
                            ("p sp 2 1\n", "p edge"), ("p edge 3 2\ne 1 2\n", "announces 2"), ("p edge 2 1\ne 1 3", "'3'"), ("c\n", "no line")]:
            self.write("a.col", text)
            self.assertIn(words, self.refusal(DATA, "logz", "a.col", "--problem", "mis"))

    def test_damaged_binaries(self):
        whole = bqm(True, 0.5, [1, 2, 3], {(0, 1): 1, (1, 2): -2}, ["a", "b", "c"])
        for cut_at in range(8, len(whole), 7):
            self.write("m.bqm", whole[:cut_at])
            self.refusal(DATA, "logz", "m.bqm")
        self.write("m.bqm", whole + b"\0")
        self.assertIn("follow behind its end", self.refusal(DATA, "logz", "m.bqm"))
        start = whole.index(b"VARS") - 4 * 12  # the neighbours
        for at, byte, words in (start, 9, "range"), (start + 11, 7, "two copies"), (start + 11, 0x7F, ""):
            self.write("m.bqm", whole[:at] + bytes([byte]) + whole[at + 1:])
            self.assertIn(words, self.refusal(DATA, "logz", "m.bqm"))

    def test_announced_sizes_take_no_memory(self):
        self.write("m.mc", "100000 1000000000000\n1 2 1\n")
        self.refusal(DATA, "convert", "m.mc", "o.json")
        head = json.dumps({"shape": [10**8, 10**12], "dtype": "float64", "itype": "int32", "ntype": "int32",
                           "vartype": "SPIN", "variables": False}).encode()
        self.write("m.bqm", b"DIMODBQM\x02\x00" + struct.pack("<I", len(head)) + head + bytes(100))
        self.assertIn("bytes of numbers", self.refusal(DATA, "convert", "m.bqm", "o.json"))


@unittest.skipUnless(os.path.isdir(os.path.join(SPEC, "problems")), "SALTUS_SPEC names no folder of golden files")
class Golden(Problems):
    @staticmethod
    def options(case):
        options = []
        for key, value in case.get("options", {}).items():
            options += ["--" + key] if value is True else ["--" + key, value]
        return options

    def test_golden_files(self):
        with open(os.path.join(SPEC, "problems", "golden.json")) as file:
            golden = json.load(file)
        done = 0
        for case in golden:
            later = {"given", "evidence", "constrain"} & set(case["options"])
            if case["format"] not in READ or later:
                continue
            done += 1
            with self.subTest(f"{case['file']} {case['options']}"):
                path, options = os.path.join(SPEC, "problems", case["file"]), self.options(case)
                exact = self.log_z if case["states_of_probability_0"] else self.exact
                self.assertAlmostEqual(exact(path, *options), case["log_z"], delta=1e-10)
                model = self.as_json(path, *options)
                self.assertEqual(model.get("labels"), case.get("labels"))
                logp = values_of(model)
                for x, expected in case["some_logp"]:
                    self.assertAlmostEqual(logp(x), -math.inf if expected is None else expected, delta=1e-10)
                self.assertAlmostEqual(logp(case["first_maximiser"]), case["max_logp"], delta=1e-10)
                states = list(itertools.product(*map(range, case["levels"])))
                all_logp = [logp(x) for x in states]
                p = [math.exp(v - case["log_z"]) for v in all_logp]
                for i, marginal in enumerate(case["marginals"]):
                    for k, expected in enumerate(marginal):
                        self.assertAlmostEqual(math.fsum(q for q, x in zip(p, states) if x[i] == k), expected, delta=1e-10)
        self.assertGreater(done, 48)

    def test_bad_files(self):
        with open(os.path.join(SPEC, "problems", "bad.json")) as file:
            bad = json.load(file)
        done = 0
        for case in bad:
            if "evidence" in case.get("options", {}):
                continue
            done += 1
            with self.subTest(case["file"]):
                message = self.refusal(DATA, "convert", os.path.join(SPEC, "problems", case["file"]), "out.json",
                                       *self.options(case))
                self.assertIn(case["file"], message)
        self.assertGreater(done, 48)


if __name__ == "__main__":
    saltus_cli.main()
