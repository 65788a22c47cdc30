"""Known values of some coordinates: exact answers, draws in the whole layout, files of values, refusals.

Where SALTUS_SPEC names a folder with problems/golden.json and problems/bad.json, those with given values are read, too.
"""

import itertools
import json
import math
import os
import shutil
import struct
import unittest
import zlib

import saltus_cli
from saltus_cli import CliTest, read_npz, strict_json

USAGE, DATA, NO_INPUT = 64, 65, 66
SPEC = os.environ.get("SALTUS_SPEC", "")
QUICK = ["--betas", 2, "--chains", 2]

SPINS = {"model": "ising", "n": 5, "constant": 0.4, "fields": [.1, -.3, .2, 0, .5], "labels": ["a", "b", 7, [0, 1], "e f"],
         "couplings": [[0, 1, .6], [2, 1, -.5], [2, 3, .4], [0, 3, .3], [4, 0, .7]]}
LEVELS = {"model": "potts", "levels": [3, 2, 4], "unary": [[.3, -.5, 1.1], [.2, -.1], [0, .4, -.6, .2]],
          "pairwise": [{"between": [0, 1], "table": [[.5, -.3], [.2, .1], [.8, -.6]]},
                       {"between": [1, 2], "table": [[.3, -.2, .5, .1], [-.4, .2, 0, .6]]}]}
FACTORS = {"model": "factors", "levels": [2, 3, 2, 2], "constant": -.5,
           "factors": [{"over": [1, 0], "log": [1.7, -.1, .3, "-inf", 2.4, -.4]},
                       {"over": [2, 1, 3], "log": [-1.3, -.1, .9, .8, -1.5, .2, 1, .2, 1, 0, -1.5, .5]},
                       {"clause": [[0, 1], [1, 2]], "weight": 1.5},
                       {"clause": [[2, 0], [3, 1]], "hard": True}]}
COUNTS = {"model": "poisson", "rate": [0.7, 2, 1.5]}
RBM = {"model": "rbm", "weights": [[.8, -1.2, .5, .3], [-.4, .9, 1.5, -.7]], "visible_bias": [-.2, .4, -.6, .1],
       "hidden_bias": [.1, -.3]}


def logp_of_spins(x):
    v = [2 * k - 1 for k in x]
    return SPINS["constant"] + sum(h * s for h, s in zip(SPINS["fields"], v)) + \
        sum(w * v[i] * v[j] for i, j, w in SPINS["couplings"])


def npy(numbers, shape):
    head = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}"
    head = head.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(numbers)}q", *numbers)


def png(rows, opacity=None):
    """8-bit grey with opacity."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    lines = b"".join(b"\0" + bytes(v for x, grey in enumerate(row) for v in (grey, opacity[y][x] if opacity else 255))
                     for y, row in enumerate(rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 4, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


class GivenTest(CliTest):
    def setUp(self):
        super().setUp()
        for name, model in ("spins.json", SPINS), ("levels.json", LEVELS), ("factors.json", FACTORS), ("rbm.json", RBM):
            self.write(name, model)

    def logz(self, *arguments):
        return strict_json(self.good("logz", *arguments, *QUICK, "--json").out)["exact"]

    def exact(self, *arguments):
        return strict_json(self.good("exact", *arguments, "--json").out)


class Exactly(GivenTest):
    def test_against_enumeration(self):
        for given in {0: 1}, {1: 0, 4: 1}, {0: 0, 1: 1, 2: 0, 3: 1}:
            words = ",".join(f"{i}={v}" for i, v in given.items())
            states = [x for x in itertools.product(range(2), repeat=5) if all(x[i] == v for i, v in given.items())]
            weights = [math.exp(logp_of_spins(x)) for x in states]
            z = math.fsum(weights)
            answer = self.exact("spins.json", "--given", words)
            self.assertAlmostEqual(answer["log_z"], math.log(z), delta=1e-12)
            self.assertAlmostEqual(self.logz("spins.json", "--given", words), math.log(z), delta=1e-12)
            for i, marginal in enumerate(answer["marginals"]):
                up = math.fsum(w for w, x in zip(weights, states) if x[i]) / z
                self.assertAlmostEqual(marginal[1], up, delta=1e-12)
            best = max(states, key=logp_of_spins)
            self.assertEqual(answer["best"]["state"], list(best))
            self.assertEqual(answer["given"], {str(i): v for i, v in given.items()})
            found = strict_json(self.good("anneal", "spins.json", "--given", words, "--steps", 20, "--restarts", 9,
                                          "--json", "--out", "s.json").out)
            self.assertEqual(found["best"]["state"], list(best))
            self.assertAlmostEqual(found["best"]["logp"], logp_of_spins(best), delta=1e-12)
            for row in json.loads(self.read("s.json"))["restarts"]:
                self.assertEqual([row["state"][i] for i in given], list(given.values()))

    def test_sums_over_a_coordinate(self):
        for model, levels in ("spins.json", [2] * 5), ("levels.json", [3, 2, 4]), ("factors.json", [2, 3, 2, 2]), \
                ("rbm.json", [2] * 4), ("bernoulli", [2]), ("ising-lattice", [2]), ("potts", [None]):
            def log_z(*arguments):
                return self.logz(*arguments) if model == "rbm.json" else self.exact(*arguments)["log_z"]
            whole = log_z(model)
            for i, count in enumerate(levels):
                count = count or len(self.exact(model)["marginals"][i])
                parts = [log_z(model, "--given", f"{i}={v}") for v in range(count)]
                self.assertAlmostEqual(math.log(math.fsum(math.exp(p - whole) for p in parts)), 0, delta=1e-12)

    def test_vertices(self):
        self.write("ring.col", "p edge 5 5\ne 1 2\ne 2 3\ne 3 4\ne 4 5\ne 5 1\n")
        for problem, energy in ("mis", lambda x: sum(x) - 1.001 * sum(x[i] * x[(i + 1) % 5] for i in range(5))), \
                ("max-cut", lambda x: sum(x[i] != x[(i + 1) % 5] for i in range(5))):
            states = [x for x in itertools.product(range(2), repeat=5) if x[0] and not x[2]]
            z = math.log(math.fsum(math.exp(energy(x)) for x in states))
            arguments = ["ring.col", "--problem", problem, "--given", "0=1,2=0"]
            self.assertAlmostEqual(self.exact(*arguments)["log_z"], z, delta=1e-10)
            found = strict_json(self.good("anneal", *arguments, "--steps", 20, "--restarts", 20, "--json").out)
            self.assertAlmostEqual(found["best"]["logp"], max(map(energy, states)), delta=1e-10)
            self.assertEqual((found["best"]["state"][0], found["best"]["state"][2]), (1, 0))
            if found.get("solution"):
                self.assertEqual((found["solution"]["state"][0], found["solution"]["state"][2]), (1, 0))

    def test_all_given(self):
        state = [0, 1, 1, 0, 1]
        words = ",".join(f"{i}={v}" for i, v in enumerate(state))
        done = strict_json(self.good("logz", "spins.json", "--given", words, "--json").out)
        self.assertAlmostEqual(done["log_z"], logp_of_spins(state), delta=1e-12)
        self.assertEqual(done["exact"], done["log_z"])
        self.assertIn("log p of their state", self.good("logz", "spins.json", "--given", words, "--answers", "z.PR").out)
        self.assertAlmostEqual(float(self.read("z.PR").split()[1]) * math.log(10), done["log_z"], delta=1e-9)
        self.good("exact", "spins.json", "--given", "0=1,2=0", "--answers", "m.MAR")
        mar = [float(v) for v in self.read("m.MAR").split()[1:]]
        self.assertEqual((mar[0], mar[1:4], mar[7:10]), (5, [2, 0, 1], [2, 1, 0]))
        for command in "sample", "anneal", "exact", "verify", "certify":
            self.assertIn("nothing left to draw", self.refusal(USAGE, command, "spins.json", "--given", words))
        self.assertIn("probability 0", self.refusal(DATA, "logz", "factors.json", "--given", "0=1,1=1,2=0,3=0"))

    def test_golden_cases(self):
        if not SPEC:
            self.skipTest("SALTUS_SPEC is not set")
        folder = os.path.join(SPEC, "problems")
        formats = self.good("logz", "--help").out.replace("\n", " ")
        with open(os.path.join(folder, "golden.json")) as file:
            cases = json.load(file)
        count = 0
        for case in cases["cases"] if isinstance(cases, dict) else cases:
            options = dict(case.get("options", {}))
            given, evidence = options.pop("given", None), options.pop("evidence", None)
            readable = case["format"] in ("factors",) or f" {case['format']}," in formats or f", {case['format']} " in formats
            if not (given or evidence) or not readable:
                continue
            count += 1
            words = os.path.join(folder, evidence) if evidence else ",".join(f"{i}={v}" for i, v in given.items())
            arguments = [os.path.join(folder, case["file"]), "--given", words]
            for option, value in options.items():
                arguments += [f"--{option}"] if value is True else [f"--{option}", value]
            with self.subTest(case["why"]):
                if case["states"] == 1:
                    self.assertAlmostEqual(self.logz(*arguments), case["log_z"], delta=1e-10)
                    continue
                answer = self.exact(*arguments)
                self.assertAlmostEqual(answer["log_z"], case["log_z"], delta=1e-10)
                self.assertAlmostEqual(answer["best"]["logp"], case["max_logp"], delta=1e-10)
                for ours, theirs in zip(answer["marginals"], case["marginals"], strict=True):
                    for a, b in zip(ours, theirs, strict=True):
                        self.assertAlmostEqual(a, b, delta=1e-12)
        self.assertGreaterEqual(count, 6)


class Drawing(GivenTest):
    RUN = ["--chains", 4, "--warmup", 100, "--draws", 2000]

    def test_draws_have_all_coordinates(self):
        answer = self.exact("spins.json", "--given", "a=1,3=0")
        endings = ["npz", "csv"] + (["nc"] if saltus_cli.has_netcdf() else [])
        for out in endings:
            s = self.summary("spins.json", "--given", "a=1,3=0", *self.RUN, "--out", f"d.{out}", "--observe", "x[0]*x[1]")
            self.assertEqual((s["dim"], s["given"]), (5, {"0": 1, "3": 0}))
            self.assertEqual([s["mean"][0], s["mean"][3]], [1, -1])
            self.assertEqual([s["best"]["state"][0], s["best"]["state"][3]], [1, 0])
            self.assertEqual(s["labels"], SPINS["labels"])
            self.assertEqual([w for w in s["warnings"]], [])
            for i, marginal in enumerate(answer["marginals"]):
                self.assertAlmostEqual(s["mean"][i], 2 * marginal[1] - 1, delta=0.08)
            product = [o["mean"] for o in s["observables"] if o["name"] == "x[0]*x[1]"][0]
            self.assertAlmostEqual(product, s["mean"][1], delta=1e-9)
            diagnosed = self.good("diagnose", f"d.{out}").out
            self.assertIn("\ne f ", diagnosed) if out != "csv" else self.assertIn("\nx[4] ", diagnosed)
        arrays = read_npz(self.path("d.npz"))
        self.assertEqual(arrays["x"].shape, (4, 2000, 5))
        levels = list(arrays["x"].items())
        self.assertEqual((set(levels[0::5]), set(levels[3::5]), set(levels[1::5])), ({1}, {0}, {0, 1}))
        if saltus_cli.has_netcdf():
            self.assertIn(b"0=1,3=0", self.read("d.nc"))
        if saltus_cli.has_pages():
            self.good("report", "d.npz")
        moments = self.summary("spins.json", "--given", "a=1,3=0", *self.RUN, "--record", "moments")
        self.assertEqual(moments["mean"], s["mean"])

    def test_tables_mark_what_is_given(self):
        text = self.good("sample", "spins.json", "--given", "1=0,4=1", *self.RUN).out
        self.assertIn("given     2 of 5 coordinates: 1=0,4=1", text)
        line = [l for l in text.splitlines() if l.startswith("e f")][0]
        self.assertIn("given", line)
        self.assertNotIn("never changed", text)
        self.assertIn("given     1 of 3", self.good("sample", "levels.json", "--given", "2=3", *self.RUN).out)

    def test_classes(self):
        for model, given in ("levels.json", {1: 1}), ("factors.json", {1: 2}), ("factors.json", {0: 1}):
            words = ",".join(f"{i}={v}" for i, v in given.items())
            answer = self.exact(model, "--given", words)
            s = self.summary(model, "--given", words, *self.RUN)
            classes = s["classes"]
            self.assertEqual(len(set(classes["coordinate"])), s["dim"])
            for i, level, p, exact in zip(classes["coordinate"], classes["level"], classes["probability"], classes["exact"]):
                self.assertAlmostEqual(exact, answer["marginals"][i][level], delta=1e-12)
                self.assertAlmostEqual(p, exact, delta=0.06)
                if i in given:
                    self.assertEqual(p, level == given[i])

    def test_counts(self):
        self.write("counts.json", COUNTS)
        s = self.summary("counts.json", "--given", "1=9", *self.RUN)
        self.assertEqual(s["mean"][1], 9)
        self.assertAlmostEqual(s["mean"][2], 1.5, delta=0.1)

    def test_every_way_of_drawing(self):
        for options in (["--sampler", "gibbs"], ["--sampler", "gwg"], ["--sampler", "block_gibbs"], ["--sampler", "pas"],
                        ["--temper", "3"], ["--sampler", "auto", "--no-cache"], ["--sampler", "rmala"]):
            s = self.summary("rbm.json", "--given", "0=1", "--chains", 4, "--warmup", 50, "--draws", 200, *options)
            self.assertEqual((s["mean"][0], len(s["mean"])), (1, 4))
        for number in 1, 2:
            self.good("sample", "spins.json", "--given", "2=0", "--part", f"{number}/2", "--set", "step_size=0.5",
                      "--warmup", 0, "--chains", 4, "--tile", 1, "--draws", 20, "--out", f"p{number}.npz")
        self.good("merge", "p1.npz", "p2.npz", "--out", "both.npz")
        self.assertEqual(read_npz(self.path("both.npz"))["x"].shape, (4, 20, 5))

    def test_other_commands(self):
        self.assertTrue(strict_json(self.good("verify", "spins.json", "--given", "0=1", "--json").out)["ok"])
        self.assertTrue(strict_json(self.good("verify", "levels.json", "--sampler", "gibbs", "--given", "0=1",
                                              "--json").out)["ok"])
        certificate = strict_json(self.good("certify", "spins.json", "--given", "0=1", "--pairs", 20, "--json").out)
        self.assertEqual([m["of"] for m in certificate["unbiased_means"]], ["x[1]", "x[2]", "x[3]", "x[4]", "log p"])
        self.good("compare", "spins.json", "--given", "0=1", "--samplers", "dmala,gibbs", "--budget", 0.05, "--json")
        self.good("tune", "spins.json", "--given", "0=1", "--out", "t.json")
        self.good("sample", "spins.json", "--given", "0=1", "--tuning", "t.json", "--draws", 10)
        both = strict_json(self.good("logz", "spins.json", "--given", "0=1", "--method", "both", "--betas", 50, "--warmup",
                                     200, "--draws", 500, "--json").out)
        self.assertLess(abs(both["log_z"] - both["exact"]), 0.5)
        self.write("base.txt", "0.9 0.5 0.4 0.5 0.6")
        self.good("logz", "spins.json", "--given", "0=1", "--base", "base.txt", *QUICK)

    def test_starts(self):
        self.write("start.txt", "1 0 0 1 1\n1 1 1 1 0\n")
        frozen = ["--chains", 2, "--warmup", 0, "--draws", 1, "--set", "step_size=1e-4", "--init", "start.txt"]
        self.good("sample", "spins.json", "--given", "0=1,3=1", *frozen, "--out", "d.npz")
        self.assertEqual(list(read_npz(self.path("d.npz"))["x"].items()), [1, 0, 0, 1, 1, 1, 1, 1, 1, 0])
        self.assertIn("the state of chain 1 has level 0 at coordinate 4, which is given as 1",
                      self.refusal(DATA, "sample", "spins.json", "--given", "4=1", *frozen))

    def test_continued_runs(self):
        run = ["spins.json", "--given", "0=1,3=0", "--chains", 2, "--warmup", 50]
        whole = self.summary(*run, "--draws", 300, "--out", "whole.npz")
        self.summary(*run, "--draws", 100, "--checkpoint", "c", "--out", "some.npz")
        again = self.summary("--resume", "c", "--draws", 300, "--out", "again.npz")
        self.assertEqual((again["mean"], again["given"]), (whole["mean"], whole["given"]))
        x = [read_npz(self.path(f"{name}.npz"))["x"] for name in ("whole", "again")]
        self.assertEqual(x[0], x[1])
        self.summary(*run, "--resume", "c", "--draws", 300)
        words = self.refusal(USAGE, "sample", "spins.json", "--given", "0=1,3=1", "--resume", "c")
        self.assertIn("--given differ from those of the run", words)
        self.assertIn("--given differ", self.refusal(USAGE, "sample", "spins.json", "--resume", "c"))
        self.assertIn("settled", self.refusal(USAGE, "sample", "--given", "0=1", "--resume", "c"))
        z = ["logz", "spins.json", "--given", "0=1", "--betas", 2000, "--chains", 50]
        self.good(*z, "--checkpoint", "z", "--time", 1e-3)
        self.saltus(*z, "--resume", "z")
        other = self.saltus("logz", "spins.json", "--given", "0=0", "--betas", 2000, "--chains", 50, "--resume", "z")
        self.assertNotEqual(other.status, 0, other)


class Constrained(GivenTest):
    def test_what_is_left_of_a_constraint(self):
        arguments = ["spins.json", "--given", "0=1,3=0", "--constrain", "sum=3"]
        states = [x for x in itertools.product(range(2), repeat=5) if sum(x) == 3 and (x[0], x[3]) == (1, 0)]
        z = math.fsum(math.exp(logp_of_spins(x)) for x in states)
        answer = self.exact(*arguments)
        self.assertAlmostEqual(answer["log_z"], math.log(z), delta=1e-12)
        self.assertEqual((answer["constraint"], answer["best"]["state"]), ("sum=3", list(max(states, key=logp_of_spins))))
        s = self.summary(*arguments, "--chains", 2, "--warmup", 100, "--draws", 500, "--out", "d.npz", "--checkpoint", "c")
        self.assertEqual((s["constraint"], s["given"], round(sum(s["mean"]), 9)), ("sum=3", {"0": 1, "3": 0}, 1))
        x = list(read_npz(self.path("d.npz"))["x"].items())
        self.assertEqual({sum(x[k:k + 5]) for k in range(0, len(x), 5)}, {3})
        again = self.summary("--resume", "c", "--draws", 700)
        self.assertEqual((again["constraint"], again["given"], round(sum(again["mean"]), 9)), ("sum=3", {"0": 1, "3": 0}, 1))
        self.assertTrue(strict_json(self.good("verify", *arguments, "--json").out)["ok"])
        self.assertIn("sum=1", self.refusal(USAGE, "sample", "spins.json", "--given", "0=1,3=1", "--constrain", "sum=1"))
        every = ",".join(f"{i}={v}" for i, v in enumerate([1, 1, 0, 0, 0]))
        self.good("logz", "spins.json", "--given", every, "--constrain", "sum=2")
        self.assertIn("sum=3", self.refusal(DATA, "logz", "spins.json", "--given", every, "--constrain", "sum=3"))


class Files(GivenTest):
    def test_every_kind(self):
        expected = self.logz("spins.json", "--given", "0=1,3=0")
        self.assertEqual(self.logz("spins.json", "--given", "3=-1,0=+1"), expected)
        self.assertEqual(self.logz("spins.json", "--given", "a=1,3=0"), expected)
        kinds = {"given.evid": "2 0 1 3 0\n", "old.evid": "1\n2 0 1\n3 0", "pairs.txt": "# two\n0 1\n\n3 -1", "names": "a 1\n3 0",
                 "row.txt": "1 ? ? 0 ?\n", "rows": "1 ?\n? 0 ?\n", "given.json": {"a": 1, "3": 0}, "words.json": {"0": "+1", "3": "-1"},
                 "given.npy": npy([1, -1, -1, 0, -1], (5,)), "column.npy": npy([1, -1, -1, 0, -1], (5, 1))}
        for name, content in kinds.items():
            self.write(name, content)
            self.assertEqual(self.logz("spins.json", "--given", name), expected, name)
        self.write("named.json", {"e f": 1})
        self.assertEqual(self.logz("spins.json", "--given", "named.json"), self.logz("spins.json", "--given", "4=1"))
        self.write("wet.json", {**LEVELS, "labels": ["sky", "door", "field"],
                                "level_names": [["sun", "cloud", "rain"], ["no", "yes"], ["dry", "1", "2", "mud"]]})
        for words in "sky=rain,field=mud", "0=2,field=3", "sky=2,2=mud":
            self.assertEqual(self.logz("wet.json", "--given", words), self.logz("levels.json", "--given", "0=2,2=3"))
        self.assertEqual(self.logz("wet.json", "--given", "field=2"), self.logz("levels.json", "--given", "2=2"))
        self.assertIn("sky", self.refusal(USAGE, "logz", "wet.json", "--given", "skye=2"))
        self.assertIn("'no' is not a level of coordinate 0", self.refusal(USAGE, "logz", "wet.json", "--given", "sky=no"))
        self.write("none.evid", "0")
        self.assertEqual(self.logz("spins.json", "--given", "none.evid"), self.logz("spins.json"))

    def test_pictures(self):
        self.write("p.png", png([[0, 255], [128, 30]], [[255, 255], [255, 10]]))
        done = self.saltus("logz", "rbm.json", "--given", "p.png", *QUICK, "--json")
        if "without PNG" in done.err:
            self.skipTest("saltus was built without PNG")
        self.assertEqual(self.logz("rbm.json", "--given", "p.png"), self.logz("rbm.json", "--given", "0=0,1=1"))
        self.write("wide.png", png([[0, 255, 128]]))
        self.assertIn("1 x 3 pixels", self.refusal(DATA, "logz", "rbm.json", "--given", "wide.png"))
        self.assertIn("two levels", self.refusal(DATA, "logz", "levels.json", "--given", "p.png"))
        self.write("cut.png", png([[0, 255], [128, 30]])[:40])
        self.assertIn("cut.png", self.refusal(DATA, "logz", "rbm.json", "--given", "cut.png"))


class Refusals(GivenTest):
    def test_words(self):
        for words, why in [("5=0", "no coordinate 5: they count from 0 to 4"), ("-1=0", "no coordinate -1"),
                           ("0=2", "coordinate 0 has the levels 0 to 1, not 2"), ("0=-2", "not -2"), ("0=x", "'x' is not a level of coordinate 0"),
                           ("0=1,0=1", "coordinate 0 is given twice"), ("a=1,0=0", "given twice"), ("c=1", "'c' is not a coordinate"),
                           ("0=", "expected COORDINATE=LEVEL"), ("=1", "expected"), ("0=1,,1=0", "expected"), ("0=1,2", "expected"),
                           ("0=1.0", "'1.0'"), ("[0,1]=1", "expected COORDINATE")]:
            self.assertIn(why, self.refusal(USAGE, "sample", "spins.json", "--given", words), words)
        self.assertIn("not -1", self.refusal(USAGE, "sample", "levels.json", "--given", "0=-1"))
        self.assertIn("no file nowhere", self.refusal(NO_INPUT, "sample", "spins.json", "--given", "nowhere"))
        self.assertIn("on the processor", self.refusal(USAGE, "sample", "spins.json", "--given", "0=1", "--device", "cuda"))
        self.assertIn("table 0, over the coordinates 1, 0, forbids them all",
                      self.refusal(DATA, "sample", "factors.json", "--given", "0=1,1=1"))
        self.assertIn("hard clause 1", self.refusal(DATA, "sample", "factors.json", "--given", "2=1,3=0"))
        self.write("data.csv", "0,1,0,1\n")
        self.assertIn("--test", self.refusal(USAGE, "logz", "rbm.json", "--given", "0=1", "--test", "data.csv"))

    def test_files(self):
        for name, content, why in [("a.evid", "1 1 9", "coordinate 1 is given level 9"), ("a.evid", "2\n1 1 0\n1 4 1", "4 words must follow"),
                                   ("a.evid", "1 9 0", "coordinate 9"), ("a.evid", "2 1 0 1 0", "twice"), ("a.evid", "", "empty"),
                                   ("a.npy", npy([0, 1], (2,)), "5 coordinates"), ("a.npy", npy([0, 1, 2, -1, 0], (5,)), "holds 2"),
                                   ("a.npy", npy([0, 1, -2, -1, 0], (5,)), "holds -2"), ("a.npy", b"\x93NUMPY", "a.npy"),
                                   ("a.json", [0, 1], "expected a JSON object"), ("a.json", {"9": 1}, "no coordinate 9"),
                                   ("a.json", {"0": 1.5}, "not a level"), ("a.json", '{"0": 1, "0": 1}', "a.json"),
                                   ("a.json", {"a": 1, "0": 1}, "twice"),
                                   ("a.txt", "0 1\n0 1", "line 2: coordinate 0 is given twice"), ("a.txt", "0 1\n2", "line 2: expected"),
                                   ("a.txt", "? 1 0", "3 entries"), ("a.txt", "0 1 ? 0 5", "line 1: coordinate 4 has the levels 0 to 1"),
                                   ("a.txt", "\n7 1", "line 2: the model has no coordinate 7"), ("a.txt", "0 1\0", "byte 0")]:
            self.write(name, content)
            self.assertIn(why, self.refusal(DATA, "sample", "spins.json", "--given", name), f"{name}: {content}")

    def test_bad_files(self):
        if not SPEC:
            self.skipTest("SALTUS_SPEC is not set")
        if "uai" not in self.good("logz", "--help").out:
            self.skipTest("no reader of .uai")
        folder = os.path.join(SPEC, "problems")
        with open(os.path.join(folder, "bad.json")) as file:
            cases = [c for c in json.load(file) if "evidence" in c.get("options", {})]
        for case in cases:
            evidence = os.path.join(folder, case["options"]["evidence"])
            words = self.refusal(DATA, "logz", os.path.join(folder, case["file"]), "--given", evidence)
            self.assertIn(case["options"]["evidence"], words)


if __name__ == "__main__":
    saltus_cli.main()
