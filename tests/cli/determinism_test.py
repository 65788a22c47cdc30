"""The same draws, bit for bit, for any number of threads, at every level, and when run again."""

import saltus_cli
from saltus_cli import CliTest, lattice, read_npz, sparse_ising

# Every path through the program: two-level passes on a lattice, a sparse and a dense graph, ordered,
# categorical and windowed levels; adjusted and not; tuned and not; preconditioned; thinned.
# The models' sizes are no multiples of a vector's length.
CASES = {
    "lattice, tuned": ["lattice.json"],
    "lattice, dula": ["lattice.json", "--sampler", "dula", "--set", "step_size=0.3"],
    "lattice, thinned": ["lattice.json", "--set", "step_size=0.3", "--thin", 3],
    "sparse graph, tuned": ["sparse.json"],
    "sparse graph, dula": ["sparse.json", "--sampler", "dula", "--set", "step_size=0.3"],
    "dense graph": ["dense.json", "--set", "step_size=0.2"],
    "preconditioned": ["bernoulli", "--set", "step_size=0.4", "--set", "precondition=1,2,0.5,1.5,0.7,3"],
    "ordered": ["quadratic"],
    "categorical": ["potts", "--sampler", "dula"],
    "windowed": ["poisson", "--set", "window=2"],
}
LEVELS = ["baseline", "avx2", "avx512"]


def dense_ising(n=19):
    couplings = [[i, j, 0.02 * ((7 * i + 3 * j) % 11 - 5)] for i in range(n) for j in range(i)]
    return {"model": "ising", "n": n, "couplings": couplings, "fields": [0.1] * n}


class Determinism(CliTest):
    RUN = ["--chains", 5, "--warmup", 200, "--draws", 300, "--tile", 2, "--seed", 11]

    def setUp(self):
        super().setUp()
        self.write("lattice.json", lattice(7, 11))
        self.write("sparse.json", sparse_ising(83))
        self.write("dense.json", dense_ising())

    def draws(self, *arguments, env=None, run=RUN):
        self.good("sample", *arguments, *run, "--json", "--out", "d.npz", env=env)
        arrays = read_npz(self.path("d.npz"))
        return arrays["x"], arrays["logp"]

    def check_same(self, one, other, what):
        for name, a, b in zip(("x", "logp"), one, other):
            self.assertTrue(a == b, f"{what}: {name} differs")

    def test_shape_and_type(self):
        x, logp = self.draws("lattice.json")
        self.assertEqual((x.dtype[1], x.shape), ("u", (5, 300, 77)))
        self.assertEqual((logp.dtype, logp.shape), ("<f8", (5, 300)))
        self.assertEqual(set(x.data), {0, 1})

    def test_threads_and_repetition(self):
        for case, arguments in CASES.items():
            with self.subTest(case):
                first = self.draws(*arguments, "--threads", 1)
                for threads in 1, 2, 3:
                    self.check_same(first, self.draws(*arguments, "--threads", threads), f"{threads} threads")
                self.check_same(first, self.draws(*arguments), "default threads")

    def available_levels(self):
        return [level for level in LEVELS
                if self.saltus("sample", "--draws", 1, "--json", env={"SALTUS_LEVEL": level}).status != 64]

    def test_levels(self):
        levels = self.available_levels()
        self.assertIn("baseline", levels)
        for missing in set(LEVELS) - set(levels):
            print(f"this machine has no {missing}")
        for case, arguments in CASES.items():
            first = self.draws(*arguments, env={"SALTUS_LEVEL": "baseline"})
            for level in levels:
                with self.subTest(case, level=level):
                    self.check_same(first, self.draws(*arguments, env={"SALTUS_LEVEL": level}), level)

    def test_level_is_the_one_in_use(self):
        for level in self.available_levels():
            j = self.summary("--draws", 1, env={"SALTUS_LEVEL": level})
            self.assertEqual(j["instruction_set"], level)

    def test_seeds_differ(self):
        run = ["--draws", 50, "--set", "step_size=0.4"]
        seen = {}
        for seed in 0, 1, 2, 2 ** 32, 2 ** 32 + 1, 2 ** 63, 2 ** 64 - 1:
            x, _ = self.draws("lattice.json", "--seed", seed, run=run)
            for chain in range(4):
                states = x.rows(chain, chain + 1)
                self.assertNotIn(states, seen, f"seed {seed}, chain {chain}")
                seen[states] = seed, chain

    def test_more_chains_change_no_chain(self):
        for case, arguments in CASES.items():
            if "step_size" not in " ".join(map(str, arguments)):
                continue  # tuning hears all chains
            with self.subTest(case):
                run = ["--warmup", 100, "--draws", 200, "--tile", 2]
                two, four = (self.draws(*arguments, "--chains", n, run=run) for n in (2, 4))
                for a, b in zip(two, four):
                    self.assertEqual(b.shape[0], 4)
                    self.assertEqual(a.data, b.rows(0, 2))

    def test_more_draws_change_no_draw(self):
        run = ["--chains", 1, "--warmup", 300]
        short, long = (self.draws("lattice.json", "--draws", n, run=run)[0] for n in (100, 500))
        self.assertEqual(short.data, long.data[:len(short.data)])

    def test_recording_changes_no_statistic(self):
        # What is kept, and how, has no influence on the chains.
        def statistics(*arguments):
            j = self.summary("lattice.json", *self.RUN, *arguments)
            return [j[k] for k in ("parameters", "acceptance_rate", "accepted", "proposed_changes", "changes")]
        first = statistics()
        self.assertEqual(first, statistics("--record", "moments"))
        self.assertEqual(first, statistics("--out", "d.csv"))
        self.assertEqual(first, statistics("--checkpoint", "c", "--checkpoint-every", 0))


if __name__ == "__main__":
    saltus_cli.main()
