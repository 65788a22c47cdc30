"""saltus generate: what it draws, number by number; files; refusals.

Where SALTUS_SPEC names a folder with problems/generators.json, its graphs and clauses are compared, too.
"""

import json
import math
import os
import unittest

import saltus_cli
from saltus_cli import CliTest, strict_json

USAGE = 64
SPEC = os.path.join(os.environ.get("SALTUS_SPEC", ""), "problems", "generators.json")


def philox(counter, key):
    """Philox 4x32-10 (Salmon et al. 2011)."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def uniforms(seed):
    """The numbers of a generator, in the order of their use."""
    k = 0
    while True:
        b = philox((k, 0xFFFFFFFF, 0, 7), (seed & 0xFFFFFFFF, seed >> 32))
        yield ((b[0] << 32 | b[1]) >> 11) * 2.0 ** -53 + 2.0 ** -54
        k += 1


class Generate(CliTest):
    def lines(self, *arguments, out):
        self.good("generate", *arguments, out)
        return [line.split() for line in self.read(out).decode().splitlines()]

    def edges(self, *arguments, out="g.col"):
        """Pairs counted from 0, and their weights."""
        lines = self.lines(*arguments, out=out)
        if out.endswith(".col"):
            self.assertEqual(lines[0][:3], ["c", "saltus", "generate"])
            self.assertEqual(int(lines[1][3]), len(lines) - 2)
            return [(int(i) - 1, int(j) - 1) for _, i, j in lines[2:]]
        self.assertEqual(int(lines[0][1]), len(lines) - 1)
        return [(int(i) - 1, int(j) - 1, float(w)) for i, j, w in lines[1:]]

    def clauses(self, *arguments):
        lines = self.lines("sat", *arguments, out="s.cnf")
        self.assertEqual(lines[1][:2], ["p", "cnf"])
        self.assertTrue(all(line[-1] == "0" for line in lines[2:]))
        return [[int(v) for v in line[:-1]] for line in lines[2:]]

    def test_pairs_of_er(self):
        self.assertEqual(self.edges("er", 12, .3, "--seed", 1),
                         [(1, 9), (1, 10), (2, 6), (2, 9), (2, 10), (3, 7), (3, 8), (3, 9), (4, 10), (5, 6), (5, 9),
                          (7, 8), (7, 9), (7, 10), (7, 11), (8, 10), (9, 10)])
        self.assertEqual(len(self.edges("er", 7, 1)), 21)
        self.assertEqual(self.edges("er", 7, 0), [])
        # 4950 pairs: 5 standard deviations of the binomial law are 162.5
        count = len(self.edges("er", 100, .3, "--seed", 3))
        self.assertLess(abs(count - 4950 * .3), 5 * math.sqrt(4950 * .3 * .7))

    def test_degrees(self):
        edges = self.edges("ba", 300, 4, "--seed", 2)
        self.assertEqual(len(set(edges)), 4 * 296)
        degrees = [sum(v in e for e in edges) for v in range(300)]
        self.assertEqual(min(degrees), 4)
        self.assertGreater(max(degrees), 24)  # far above those of a random graph with the mean 7.9
        edges = self.edges("regular", 50, 7, "--seed", 2)
        self.assertEqual({sum(v in e for e in edges) for v in range(50)}, {7})
        self.assertEqual(len(set(edges)), 175)
        self.assertEqual(edges, sorted(edges))
        self.assertEqual(len(self.edges("regular", 6, 5)), 15)

    def test_model_rb(self):
        n, d, p = 8, 4, .3
        random = uniforms(6)
        below = lambda k: min(math.floor(next(random) * k), k - 1)
        edges = {(g * d + a, g * d + b) for g in range(n) for a in range(d) for b in range(a + 1, d)}
        hidden = [below(d) for _ in range(n)]
        for _ in range(round(-n * math.log(d) / math.log(1 - p))):
            u = below(n)
            v = below(n - 1)
            v += v >= u
            left, wanted = d * d - 1, round(p * d * d)
            for a in range(d):
                for b in range(d):
                    if (a, b) == (hidden[u], hidden[v]):
                        continue
                    taken = next(random) * left < wanted
                    left, wanted = left - 1, wanted - taken
                    if taken:
                        edges.add(tuple(sorted((u * d + a, v * d + b))))
            self.assertEqual(wanted, 0)
        self.assertEqual(self.edges("rb", n, d, p, "--seed", 6), sorted(edges))
        j = strict_json(self.good("anneal", "g.col", "--problem", "mis", "--steps", 100, "--json").out)
        self.assertEqual((j["solution"]["value"], j["problem"]["feasible"]), (n, True))

    def test_weights_come_after_the_edges(self):
        random = uniforms(5)
        pm = self.edges("sk", 6, "--seed", 5, out="g.mc")
        self.assertEqual(pm, [(i, j, 1 if next(random) < .5 else -1) for i in range(6) for j in range(i + 1, 6)])
        plain = self.edges("er", 40, .2, "--seed", 4, out="g.mc")
        uniform = self.edges("er", 40, .2, "--seed", 4, "--weights", "uniform", out="g.mc")
        self.assertEqual([e[:2] for e in plain], [e[:2] for e in uniform])
        random = uniforms(4)
        for _ in range(len(plain) + 1):
            next(random)
        for _, _, w in uniform:
            self.assertAlmostEqual(w, next(random), delta=1e-15)

    def test_gaussian_couplings(self):
        random = uniforms(2 ** 33 + 1)
        lines = self.lines("sk", 4, "--weights", "gaussian", "--seed", 2 ** 33 + 1, out="g.coo")
        self.assertEqual(lines[0], ["#", "vartype=SPIN"])
        for _, _, w in lines[1:]:
            u, v = next(random), next(random)
            self.assertAlmostEqual(float(w), math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v) / 2, places=12)

    def test_lattices(self):
        edges = self.edges("lattice", 3, "--dimensions", 3, out="g.mc")
        self.assertEqual(len(edges), 81)
        self.assertEqual({sum(v in e[:2] for e in edges) for v in range(27)}, {6})
        self.assertEqual({w for _, _, w in edges}, {1, -1})
        self.assertEqual([e[:2] for e in self.edges("lattice", 2, out="g.mc")], [(0, 2), (1, 3), (0, 1), (2, 3)])

    def test_clauses_are_satisfiable(self):
        self.assertEqual(self.clauses(10, 20, 3, "--seed", 7)[:3], [[-5, -9, -4], [-3, 9, -2], [-2, -8, -5]])
        clauses = self.clauses(12, 60, 3, "--seed", 1)
        self.assertTrue(all(len({abs(v) for v in c}) == 3 for c in clauses))
        solved = [x for x in range(2 ** 12) if all(any((x >> abs(v) - 1 & 1) == (v > 0) for v in c) for c in clauses)]
        self.assertTrue(solved)

    def test_spins_and_cuts_agree(self):
        self.good("generate", "lattice", 4, "g.mc", "--seed", 9)
        self.good("generate", "lattice", 4, "g.json", "--seed", 9)
        self.good("generate", "lattice", 4, "g.bqm", "--seed", 9)
        weights = sum(w for _, _, w in self.edges("lattice", 4, "--seed", 9, out="g.mc"))
        best = {name: strict_json(self.good("anneal", name, "--steps", 100, "--json").out)
                for name in ("g.mc", "g.json", "g.bqm")}
        cut = best["g.mc"]["objective"]["best"]
        self.assertEqual(best["g.json"]["best"]["logp"], 2 * cut - weights)
        self.assertEqual(best["g.bqm"]["objective"]["best"], weights - 2 * cut)

    def test_refusals(self):
        def refused(words, *arguments):
            err = str(self.refusal(USAGE, "generate", *arguments))
            self.assertIn(words, err)
            self.assertFalse(os.path.exists(self.path("x.col")))
        refused("Did you mean ba?", "bb", 3, 1, "x.col")
        refused("the probability of an edge is 1.5; expected 0 to 1", "er", 3, 1.5, "x.col")
        refused("expected 1 to 2", "ba", 3, 3, "x.col")
        refused("no graph of 3 vertices is regular of degree 1", "regular", 3, 1, "x.col")
        refused("not all of them", "rb", 3, 2, .9, "x.col")
        refused("2 groups of 2", "rb", 1, 5, .5, "x.col")
        refused("expected 1 to 100000000", "rb", 100000, 100000, .5, "x.col")
        refused("tells no format of graphs", "er", 3, .5, "x.png")
        refused("have no weights", "er", 3, .5, "x.col", "--weights", "pm")
        refused("expected 1 to 3", "sat", 3, 4, 4, "x.cnf")
        refused("ends in .cnf", "sat", 3, 4, 2, "x.col")
        refused("at most 100000000", "er", 1000000, .9, "x.col")
        refused("expected a whole number from 0", "er", 3, .5, "x.col", "--seed", -1)

    @unittest.skipUnless(os.path.isfile(SPEC), "SALTUS_SPEC names no folder of golden files")
    def test_golden_files(self):
        with open(SPEC, encoding="utf-8") as file:
            golden = json.load(file)
        pairs = lambda key: [tuple(e) for e in golden[key]]
        self.assertEqual(self.edges("er", 12, .3, "--seed", 1), pairs("er n=12 p=0.3 seed=1"))
        self.assertEqual(len(self.edges("er", 1000, .01, "--seed", 5)), golden["er n=1000 p=0.01 seed=5: edges"])
        self.assertEqual(self.edges("ba", 12, 2, "--seed", 1), pairs("ba n=12 m=2 seed=1"))
        self.assertEqual(len(self.edges("ba", 1100, 4, "--seed", 3)), golden["ba n=1100 m=4 seed=3: edges"])
        self.assertEqual(self.edges("regular", 10, 3, "--seed", 1), pairs("regular n=10 d=3 seed=1"))
        self.assertEqual(sum((i + 1) * (j + 1) for i, j in self.edges("regular", 200, 4, "--seed", 2)),
                         golden["regular n=200 d=4 seed=2: sum of i*j"])
        self.assertEqual(self.clauses(10, 20, 3, "--seed", 7), golden["planted n=10 m=20 k=3 seed=7"]["clauses"])


if __name__ == "__main__":
    saltus_cli.main()
