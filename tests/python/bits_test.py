"""The draws of the Python package are those of the program, bit for bit."""

import itertools

from support import PROGRAM, Test, main, program, unittest  # first: says where NumPy is missing
import numpy as np
import saltus


@unittest.skipUnless(PROGRAM, "SALTUS_PROGRAM does not name the program")
class SameBits(Test):
    def compare(self, model, chains=4, draws=150, warmup=200, **options):
        sampler, words = options.pop("sampler", None), []
        if sampler is not None:
            words = ["--sampler", sampler.name]
            words += [w for k, v in sampler.settings().items() for w in ("--set", f"{k}={v}")]
        for seed, threads in itertools.product((1, 3), (1, 2)):
            out = self.path("draws.npz")
            program("sample", model, "--chains", str(chains), "--draws", str(draws), "--warmup",
                    str(warmup), "--seed", str(seed), "--threads", str(threads), "--no-probe", "--json", "--out", out, *words)
            with np.load(out) as file:
                names = ("x", "logp", "acceptance_rate", "values")
                expected = {name: file[name] for name in names}
            r = saltus.sample(
                model, sampler=sampler or "dmala", chains=chains, draws=draws, warmup=warmup, seed=seed,
                threads=threads, probe=False,
            )
            x = expected["x"].reshape(r.draws.shape)
            self.assertTrue(np.array_equal(x, r.levels))
            first, spacing = expected["values"]
            self.assertTrue(np.array_equal(first + spacing * x, r.draws))
            self.assertTrue(np.array_equal(expected["logp"].reshape(chains, -1), r.logp))
            acceptance = expected["acceptance_rate"].reshape(chains, -1)
            self.assertTrue(np.array_equal(acceptance.astype(np.float32), r.acceptance_rate))

    def test_lattice(self):
        self.compare("ising-lattice")
        self.compare("ising-lattice", sampler=saltus.DMALA(step_size=0.4))

    def test_large_lattice(self):
        self.compare("ising-100x100", draws=20)

    def test_potts(self):
        self.compare("potts", sampler=saltus.GWG())

    def test_counts(self):
        self.compare("poisson")

    def test_rbm_of_arrays(self):
        random = np.random.default_rng(5)
        made = saltus.rbm(
            0.05 * random.normal(size=(60, 100)), visible_bias=random.normal(size=100),
            hidden_bias=0.1,
        )
        made.save(self.path("rbm.json"))
        self.compare(self.path("rbm.json"), chains=20, draws=50)
        again = saltus.sample(self.path("rbm.json"), chains=20, draws=50, warmup=100, seed=2)
        here = saltus.sample(made, chains=20, draws=50, warmup=100, seed=2)
        self.assertTrue(np.array_equal(again.levels, here.levels))

    def test_a_large_rbm(self):
        random = np.random.default_rng(6)
        saltus.rbm(
            0.05 * random.normal(size=(500, 784)), visible_bias=-1, hidden_bias=0.1
        ).save(self.path("large.json"))
        self.compare(self.path("large.json"), chains=100, draws=3, warmup=5, sampler=saltus.DMALA(step_size=0.2))

    def test_json_is_the_programs(self):
        said = program("sample", "potts", "--draws", "300", "--seed", "9", "--json")
        r = saltus.sample("potts", draws=300, seed=9)
        self.assertEqual(set(said) | {"seconds"}, set(r.stats) | {"seconds"})
        for key in ("mean", "classes", "ess", "rhat", "best", "parameters", "verdict", "probe"):
            self.assertEqual(said[key], r.stats[key], key)

    def test_searches_and_log_z_are_the_programs(self):
        said = program("anneal", "ising", "--restarts", "20", "--steps", "50", "--json")
        found = saltus.anneal("ising", restarts=20, steps=50, seed=1)
        self.assertEqual(said["best"], found.stats["best"])
        said = program("logz", "ising", "--betas", "50", "--chains", "20", "--json")
        z = saltus.logz("ising", betas=50, chains=20, seed=1)
        self.assertEqual(said["interval"], [z.low, z.high])


if __name__ == "__main__":
    main()
