"""Where chains start: by name, from a list of states, from the draws of another run.

    init_test.py PROGRAM
"""

import saltus_cli
from saltus_cli import CliTest, lattice, read_npz


class Init(CliTest):
    FROZEN = ["--warmup", 0, "--draws", 1, "--set", "step_size=1e-4", "--chains", 2]

    def setUp(self):
        super().setUp()
        self.write("m.json", lattice(3, 4))

    def starts(self, init, *more):
        """The first states of chains that are all but frozen."""
        self.good("sample", "m.json", *self.FROZEN, "--init", init, "--out", "start.npz", "--seed", 7, *more)
        return self.rows_at("start.npz", 0)

    def rows_at(self, name, draw):
        """This draw of every chain."""
        x = read_npz(self.path(name))["x"]
        chains, draws, dim = x.shape
        levels = list(x.items())
        starts = [(c * draws + draw % draws) * dim for c in range(chains)]
        return [levels[at:at + dim] for at in starts]

    def test_by_name(self):
        self.assertEqual(self.starts("zeros"), [[0] * 12] * 2)
        self.assertEqual(self.starts("ones"), [[1] * 12] * 2)

    def test_last_draws_of_another_run(self):
        for name in "run.npz", "run.csv", "run.nc":
            with self.subTest(name):
                if name == "run.nc":
                    self.needs_netcdf()
                self.good("sample", "m.json", "--chains", 2, "--draws", 50, "--out", "run.npz")
                if name != "run.npz":
                    self.good("sample", "m.json", "--chains", 2, "--draws", 50, "--out", name)
                self.assertEqual(self.starts(name), self.rows_at("run.npz", -1))

    def test_refusals(self):
        self.good("sample", "m.json", "--chains", 3, "--draws", 5, "--out", "run.npz")
        done = self.saltus("sample", "m.json", *self.FROZEN, "--init", "run.npz")
        self.assertEqual(done.status, 65, done.err)
        self.assertIn("run.npz has 3 chains; the run has 2 chains", done.err)
        self.write("wide.json", lattice(3, 5))
        done = self.saltus("sample", "wide.json", "--chains", 3, "--init", "run.npz")
        self.assertEqual(done.status, 65, done.err)
        self.assertIn("the model has 15 coordinates", done.err)
        self.write("p.json", {"model": "quadratic", "levels": 9, "A": [], "b": [3] * 12})
        self.good("sample", "p.json", "--chains", 3, "--draws", 5, "--out", "high.npz")
        done = self.saltus("sample", "m.json", "--chains", 3, "--init", "high.npz")
        self.assertEqual(done.status, 65)
        self.assertIn("the model's levels there are 0 to 1", done.err)


if __name__ == "__main__":
    saltus_cli.main()
