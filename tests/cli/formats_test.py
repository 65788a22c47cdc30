"""The files of draws hold the same draws, other programs read them, and saltus diagnose agrees on them."""

import csv
import json
import math
import os
import subprocess
import sys

import unittest

import saltus_cli
from saltus_cli import CliTest, lattice, read_npz, strict_json

# Runs in a Python that has the packages: tells what is in FILE.nc and leaves x in FILE.nc.x, int16.
READ_NETCDF = """
import json, sys
import netCDF4, numpy
path = sys.argv[1]
with netCDF4.Dataset(path) as f:
    def attributes(g):
        return {n: str(g.getncattr(n)) for n in g.ncattrs()}
    told = {"attributes": attributes(f), "groups": {}}
    for name, group in f.groups.items():
        told["groups"][name] = {
            "attributes": attributes(group),
            "dimensions": {n: len(d) for n, d in group.dimensions.items()},
            "variables": {n: [v.dtype.str, list(v.dimensions)] for n, v in group.variables.items()}}
    x = numpy.asarray(f["posterior/x"][:])
    x.astype("<i2").tofile(path + ".x")
    told["lp"] = numpy.asarray(f["sample_stats/lp"][:]).tolist()
    for n in "acceptance_rate", "step_size":
        told[n] = numpy.asarray(f["sample_stats/" + n][:]).tolist()
print(json.dumps(told))
"""

READ_WITH_XARRAY = """
import sys
import xarray
path = sys.argv[1]
posterior = xarray.open_dataset(path, group="posterior")
stats = xarray.open_dataset(path, group="sample_stats")
x = posterior["x"]
print(x.dims[:2], x.sizes["chain"], x.sizes["draw"], x.ndim, float(x.mean()), float(stats["lp"].mean()))
print(list(posterior["chain"].values), list(stats["chain"].values))
"""


def python_with(*modules):
    """A Python that can import the modules, or None."""
    for python in sys.executable, "/usr/bin/python3":
        if os.access(python, os.X_OK):
            found = subprocess.run([python, "-c", "import " + ", ".join(modules)], capture_output=True, timeout=60)
            if found.returncode == 0:
                return python
    return None


def read_csv(path):
    """Rows of a .csv: its names, chain and draw numbers, logp, acceptance rates, states as bytes."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    names, rows = rows[0], rows[1:]
    first = names.index("x0")
    states = b"".join(bytes(map(int, row[first:])) for row in rows)
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names[:first])}
    return names, columns, states


def diagnosed(test, name):
    return strict_json(test.good("diagnose", name, "--json").out)


class Files(CliTest):
    RUN = ["--chains", 3, "--draws", 150, "--seed", 4]
    # Model, further options, shape of a draw, value of index 0, difference between values.
    MODELS = [("ising-lattice", [], (5, 5), -1, 2), ("wide.json", [], (3, 7), -1, 2), ("ising", [], (8,), -1, 2),
              ("bernoulli", [], (6,), 0, 1), ("quadratic", [], (4,), 0, 1), ("potts", [], (2,), 0, 1),
              ("poisson", ["--set", "window=2"], (3,), 0, 1)]

    def setUp(self):
        super().setUp()
        self.write("wide.json", lattice(3, 7))

    def sample(self, model, options, name):
        return self.summary(model, *self.RUN, *options, "--out", name)

    def test_csv_holds_what_npz_holds(self):
        for model, options, shape, _, _ in self.MODELS:
            with self.subTest(model):
                self.sample(model, options, "d.npz")
                self.sample(model, options, "d.csv")
                arrays = read_npz(self.path("d.npz"))
                names, columns, states = read_csv(self.path("d.csv"))
                dim = math.prod(shape)
                self.assertEqual(arrays["x"].shape, (3, 150, dim))
                self.assertEqual(arrays["logp"].dtype, "<f8")
                self.assertEqual(names[-dim:], [f"x{i}" for i in range(dim)])
                if arrays["x"].dtype == "|u1":
                    self.assertEqual(states, arrays["x"].data)
                else:
                    self.assertEqual(list(states), list(arrays["x"].items()))
                self.assertEqual([int(c) for c in columns["chain"]], [c for c in range(3) for _ in range(150)])
                self.assertEqual([int(d) for d in columns["draw"]], list(range(150)) * 3)
                self.assertEqual([float(v) for v in columns["logp"]], list(arrays["logp"].items()))

    def test_logp_belongs_to_its_draw(self):
        self.sample("bernoulli", [], "d.npz")
        arrays = read_npz(self.path("d.npz"))
        x, logits = arrays["x"].data, [-2, -1, -0.3, 0.3, 1, 2]
        for row, logp in enumerate(arrays["logp"].items()):
            exact = math.fsum(l * k for l, k in zip(logits, x[6 * row:6 * row + 6]))
            self.assertAlmostEqual(logp, exact, delta=1e-5)

    def test_netcdf_holds_what_npz_holds(self):
        python = python_with("netCDF4", "numpy")
        if not python:
            self.skipTest("no Python with netCDF4 and numpy")
        self.needs_netcdf()
        for model, options, shape, first, spacing in self.MODELS:
            with self.subTest(model):
                self.sample(model, options, "d.npz")
                j = self.sample(model, options, "d.nc")
                done = subprocess.run([python, "-c", READ_NETCDF, self.path("d.nc")], capture_output=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                self.check_netcdf(json.loads(done.stdout), j, shape, first, spacing)

    def check_netcdf(self, told, j, shape, first, spacing):
        arrays = read_npz(self.path("d.npz"))
        self.assertLessEqual({"posterior", "sample_stats"}, set(told["groups"]))
        for place in told, told["groups"]["posterior"], told["groups"]["sample_stats"]:
            self.assertLessEqual({"created_at", "inference_library", "inference_library_version"}, set(place["attributes"]))
            self.assertEqual(place["attributes"]["inference_library"], "saltus")
        posterior, stats = told["groups"]["posterior"], told["groups"]["sample_stats"]
        _, dimensions = posterior["variables"]["x"]
        self.assertEqual(dimensions[:2], ["chain", "draw"])
        self.assertEqual(tuple(posterior["dimensions"][d] for d in dimensions), (3, 150, *shape))
        for name in "lp", "acceptance_rate", "step_size":
            self.assertEqual(stats["variables"][name][1], ["chain", "draw"])
        with open(self.path("d.nc.x"), "rb") as file:
            values = memoryview(file.read()).cast("h")
        self.assertEqual(list(values), [first + spacing * k for k in arrays["x"].items()])
        self.assertEqual([v for chain in told["lp"] for v in chain], list(arrays["logp"].items()))
        rates = [v for chain in told["acceptance_rate"] for v in chain]
        self.assertTrue(all(0 <= r <= 1 for r in rates))
        # A mean of single-precision numbers against one of doubles.
        self.assertAlmostEqual(math.fsum(rates) / len(rates), j["acceptance_rate"], delta=1e-6)
        self.assertEqual({v for chain in told["step_size"] for v in chain}, {j["parameters"]["step_size"]})

    def test_netcdf_opens_in_xarray(self):
        python = python_with("xarray", "netCDF4")
        if not python:
            self.skipTest("no Python with xarray and netCDF4")
        self.needs_netcdf()
        j = self.sample("ising-lattice", [], "d.nc")
        done = subprocess.run([python, "-c", READ_WITH_XARRAY, self.path("d.nc")], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        told = done.stdout.decode().split("\n")
        self.assertTrue(told[0].startswith("('chain', 'draw') 3 150 4 "), told[0])
        self.assertAlmostEqual(float(told[0].split()[5]), math.fsum(j["mean"]) / 25, delta=1e-9)
        self.assertEqual(told[1], "[0, 1, 2] [0, 1, 2]")

    def test_numpy_reads_the_npz(self):
        python = python_with("numpy")
        if not python:
            self.skipTest("no Python with numpy")
        self.sample("ising-lattice", [], "d.npz")
        script = ("import numpy, sys\nf = numpy.load(sys.argv[1])\n"
                  "print(f['x'].dtype.kind, f['x'].shape, f['logp'].dtype, f['logp'].shape)")
        done = subprocess.run([python, "-c", script, self.path("d.npz")], capture_output=True, timeout=60)
        self.assertEqual(done.stdout.decode().strip(), "u (3, 150, 25) float64 (3, 150)", done.stderr.decode())

    def test_a_file_is_replaced_as_a_whole(self):
        self.write("d.npz", "something else")
        self.sample("bernoulli", [], "d.npz")
        read_npz(self.path("d.npz"))
        self.assertEqual(self.files(), ["d.npz", "wide.json"])

    def test_extension_in_capitals(self):
        self.sample("bernoulli", [], "D.NPZ")
        read_npz(self.path("D.NPZ"))

    def test_more_levels_than_a_byte_holds(self):
        self.write("m.json", {"model": "quadratic", "levels": 1000, "A": [[0, 0, -1e-5]], "b": [0.01]})
        self.sample("m.json", ["--set", "step_size=20000"], "d.npz")
        x = read_npz(self.path("d.npz"))["x"]
        self.assertIn(x.dtype, ("<u2", "<u4"))
        self.assertGreater(max(x.items()), 255)
        self.assertLess(max(x.items()), 1000)


class Memory(CliTest):
    @unittest.skipIf(os.environ.get("SALTUS_SANITIZED"), "a sanitizer keeps freed memory, so the peak says nothing")
    def test_does_not_grow_with_the_number_of_draws(self):
        # A round holds 32 MiB of draws at most; both runs are long enough for rounds of full length.
        run = ["--chains", 2, "--set", "step_size=0.4", "--out", "d.npz"]
        few, many = (self.summary(*run, "--draws", n)["peak_memory_bytes"] for n in (150_000, 1_200_000))
        self.assertLess(many, few + (16 << 20), f"{few >> 20} MiB with 150,000 draws, {many >> 20} MiB with 1,200,000")

    def test_moments_need_next_to_none(self):
        run = ["--chains", 2, "--set", "step_size=0.4", "--record", "moments"]
        few, many = (self.summary(*run, "--draws", n)["peak_memory_bytes"] for n in (10_000, 600_000))
        self.assertLess(many, few + (4 << 20))


class Diagnose(CliTest):
    def test_agrees_on_every_format_and_with_the_run(self):
        formats = ["npz", "csv", "nc"]
        run = ["--chains", 3, "--draws", 500, "--seed", 4]
        if self.saltus("sample", "bernoulli", "--draws", 5, "--out", "try.nc", "--json").status == 64:
            formats.remove("nc")
        for model, options in ("ising-lattice", []), ("quadratic", []), ("poisson", ["--set", "window=1"]):
            told = {}
            for ending in formats:
                j = self.summary(model, *run, *options, "--out", f"d.{ending}")
                told[ending] = diagnosed(self, f"d.{ending}")
            for ending in formats:
                with self.subTest(model, format=ending):
                    d = told[ending]
                    self.assertEqual((d["chains"], d["draws"], d["dim"]), (3, 500, j["dim"]))
                    for field in "ess", "ess_tail", "rhat":
                        self.assertEqual(d[field], told["npz"][field], field)
                    self.assertEqual(d["ess"]["min"], j["ess"]["min"])
                    self.assertEqual(d["ess"]["median"], j["ess"]["median"])
                    self.assertEqual(d["rhat"]["max"], j["rhat"]["max"])
            for ending in set(formats) - {"csv"}:  # a .csv holds indices and nothing about their values
                for mine, theirs in zip(told[ending]["mean"], j["mean"]):
                    self.assertAlmostEqual(mine, theirs, delta=1e-9)

    def test_table_for_people(self):
        self.summary("bernoulli", "--draws", 500, "--out", "d.npz")
        out = self.good("diagnose", "d.npz").out
        for text in "R-hat", "ESS", "x[0]", "x[5]":
            self.assertIn(text, out)

    def test_few_and_constant_draws(self):
        for draws in 1, 2, 3:
            self.summary("bernoulli", "--draws", draws, "--chains", 1, "--out", "d.npz")
            diagnosed(self, "d.npz")
            self.good("diagnose", "d.npz")


class Lists(CliTest):
    def names(self, command):
        lines = self.good(command).out.splitlines()
        self.assertTrue(all(len(line.split(None, 1)) == 2 for line in lines), "a name without a description")
        names = [line.split()[0] for line in lines]
        self.assertEqual(len(set(names)), len(names))
        return names

    def test_models(self):
        names = self.names("models")
        for kind in "ising", "ising-lattice", "bernoulli", "quadratic", "potts", "poisson":
            self.assertIn(kind, names)
        for name in names:  # what is listed can be sampled
            self.good("sample", name, "--draws", 2, "--warmup", 2, "--chains", 1, "--json",
                      *(["--set", "window=1"] if name == "poisson" else []))

    def test_samplers(self):
        names = self.names("samplers")
        self.assertLessEqual({"dmala", "dula"}, set(names))
        for name in names:
            self.summary("rbm", "--sampler", name, "--draws", 2)

    def test_version(self):
        out = self.good("--version").out
        self.assertRegex(out, r"^saltus \d+\.\d+\.\d+\n$")
        self.assertEqual(self.summary("--draws", 1)["version"], out.split()[1])

    def test_help(self):
        self.assertEqual(self.good("--help").err, "")
        for command in "sample", "verify", "diagnose", "models", "samplers":
            self.assertIn(command, self.good("--help").out)
            self.assertIn("Usage: saltus " + command, self.good(command, "--help").out)
        text = self.good("sample", "--help").out
        for option in ("--sampler --set --chains --warmup --draws --thin --seed --threads --tile --out --json "
                       "--checkpoint --checkpoint-every --resume --init --record --time").split():
            self.assertIn(option, text)


class ForPeople(CliTest):
    def test_summary_compares_with_exact_means(self):
        out = self.good("sample", "bernoulli", "--draws", 2000).out
        for text in "exact", "R-hat", "ESS", "acceptance", "steps/s", "x[5]", "step_size":
            self.assertIn(text, out)

    def test_no_escape_sequences_without_a_terminal(self):
        done = self.good("sample", "bernoulli", "--draws", 2000)
        self.assertNotIn("\033", done.out + done.err)
        self.assertNotIn("\r", done.out + done.err)


if __name__ == "__main__":
    saltus_cli.main()
