"""Races, log Z, searches, verification and the other samplers of the package."""

import dataclasses
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile

from support import Test, main, probabilities  # first: says where NumPy is missing
import numpy as np
import saltus
from saltus import _library, _samplers

SOURCE = os.environ.get("SALTUS_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))


class Services(Test):
    def test_log_z(self):
        model = saltus.lattice((3, 3), 0.1, 0.2)
        states, _ = probabilities(model)
        exact = np.log(np.exp(model.logp(states)).sum())
        z = saltus.logz(model, betas=100, chains=50, seed=1, data=states[:20])
        self.assertLess(z.low, exact)
        self.assertLess(exact, z.high)
        self.assertAlmostEqual(z.exact, exact, 6)
        low, high = z.log_likelihood
        self.assertLess(low, model.logp(states[:20]).mean() - exact)
        self.assertLess(model.logp(states[:20]).mean() - exact, high)
        z = saltus.logz(model, betas=100, chains=50, seed=1, reverse=False)
        self.assertEqual(z.high, np.inf)
        z = saltus.logz(model, method="tempering", seed=1)
        self.assertLess(abs(z.log_z - exact), 0.3)

    def test_search(self):
        random = np.random.default_rng(2)
        model = saltus.ising(np.triu(random.normal(size=(9, 9)), 1), h=0.1)
        states, p = probabilities(model)
        found = saltus.anneal(model, restarts=30, steps=100, seed=1)
        self.assertAlmostEqual(found.logp, model.logp(states).max(), 5)
        self.assertAlmostEqual(model.logp(found.best), found.logp, 5)
        self.assertEqual(found.best.tolist(), model.exact().best.tolist())

    def test_race(self):
        c = saltus.compare("ising", ["dmala", saltus.GWG(flips=2)], budget=0.05, seed=1)
        self.assertEqual({r["sampler"] for r in c.stats["results"]}, {"dmala", "gwg"})
        gwg = next(r for r in c.stats["results"] if r["sampler"] == "gwg")
        self.assertEqual(gwg["settings"]["flips"], "2")
        self.assertEqual(len(c.table), 2)
        self.assertNotIn("--", c.sentence)
        self.assertIn(c.sentence, repr(c))

    def test_tempering_and_auto(self):
        r = saltus.sample("ising", temper=4, draws=300, seed=1)
        self.assertEqual(r.stats["tempering"]["replicas"], 4)
        r = saltus.sample("ising-lattice", sampler="auto", draws=300, seed=1)
        self.assertIn("race", r.stats["auto"])
        r = saltus.sample("ising", observe=["m = mean(x)"], draws=300, seed=1)
        self.assertAlmostEqual(
            next(o["mean"] for o in r.stats["observables"] if o["name"] == "m"), r.draws.mean()
        )


class Agreement(Test):
    """What the package repeats of the library."""

    def test_samplers_have_the_librarys_parameters(self):
        known = {s["name"]: set(s["parameters"]) for s in _library.ask(_library.lib.saltus_samplers)}
        mine = {s.name: {f.name for f in dataclasses.fields(s)} for s in _samplers.ALL}
        self.assertEqual(mine, known)

    def test_signatures_are_those_of_the_header(self):
        with open(os.path.join(SOURCE, "include", "saltus", "c.h")) as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        abi = re.search(r"#define SALTUS_C_ABI (\d+)", text).group(1)
        self.assertEqual(int(abi), _library.ABI)
        types = {
            "int": "c_int", "int32_t": "c_int", "size_t": "c_ulong", "uint64_t": "c_ulong", "double": "c_double",
            "const char*": "c_char_p", "saltus_function": "CFunctionType",
            "saltus_progress": "CFunctionType",
        }  # fmt: skip
        found = re.findall(r"SALTUS_C_API ([\w ]+?\*?) ?(saltus_\w+)\(([^)]*)\);", text)
        self.assertEqual({name for _, name, _ in found}, set(_library.SIGNATURES))
        for result, name, arguments in found:
            restype, argtypes = _library.SIGNATURES[name]
            kinds = [] if arguments == "void" else [
                re.sub(r"\s*\b\w+$", "", a.strip()).replace(" *", "*") for a in arguments.split(",")
            ]
            # "double *mean, *sd" does not occur in functions
            self.assertEqual(len(kinds), len(argtypes), name)
            for kind, argtype in zip(kinds, argtypes):
                expected = types.get(kind)
                actual = argtype.__name__
                if expected is not None:
                    self.assertEqual(actual, expected, f"{name}: {kind}")
                else:
                    self.assertTrue(kind.endswith("*"), f"{name}: {kind}")
                    self.assertTrue(actual == "c_void_p" or actual.startswith("LP_"), f"{name}: {kind}")
            returned = {
                "void": None, "int": "c_int", "int32_t": "c_int", "const char*": "c_char_p",
                "const float*": "c_void_p", "const void*": "c_void_p",
            }[result]  # fmt: skip
            self.assertEqual(restype and restype.__name__, returned, name)

    def test_structs_are_those_of_the_header(self):
        with open(os.path.join(SOURCE, "include", "saltus", "c.h")) as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        for struct, mine in (("saltus_status", _library.Status), ("saltus_arrays", _library.Arrays)):
            body = re.search(rf"typedef struct {struct} {{(.*?)}}", text, re.S).group(1)
            names = [
                re.sub(r".*[ *]", "", part.strip())
                for line in body.split(";") for part in line.split(",") if part.strip()
            ]
            self.assertEqual(names, [field[0] for field in mine._fields_])

    def test_import_is_quiet_and_light(self):
        code = "import sys, saltus; assert not {'torch', 'pandas', 'xarray', 'jax'} & set(sys.modules)"
        done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_exit_with_live_objects_is_silent(self):
        code = (
            "import saltus, numpy as np\n"
            "m = saltus.function(lambda x: (x.sum(1), np.ones_like(x)), saltus.binary(3))\n"
            "r = saltus.sample(m, draws=10, warmup=0)\n"
            "b = saltus.model('potts')\n"
        )
        done = subprocess.run([sys.executable, "-X", "dev", "-W", "ignore", "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


def draws_of(seed):
    return saltus.sample("ising", draws=50, seed=seed).levels.sum()


class Processes(Test):
    def test_children_give_the_parents_draws(self):
        expected = [draws_of(s) for s in (1, 2)]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(draws_of, (1, 2)), expected)

    def test_a_forked_child_does_not_touch_the_parents_model(self):
        model = saltus.model("ising")
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                model.logp(np.ones(8))
                said = "no error"
            except saltus.UsageError as e:
                said = str(e)
            os.write(write, said.encode())
            os._exit(0)
        os.waitpid(child, 0)
        said = os.read(read, 1000).decode()
        self.assertIn(f"the model was made in process {os.getpid()}: make a new one", said)


class FakeDimod(Test):
    """Only what saltus.dimod asks for; the real one where it is installed."""

    def test_it_is_asked_for_in_words(self):
        try:
            import dimod  # noqa: F401
        except ImportError:
            self.refused(saltus.MissingError, "saltus.dimod needs dimod: pip install dimod",
                         lambda: saltus.dimod)

    def test_boltzmann_law(self):
        try:
            import dimod
        except ImportError:
            self.skipTest("dimod is not installed")
        bqm = dimod.BinaryQuadraticModel({"a": 0.5, "b": -0.2}, {("a", "b"): 0.7, ("b", "c"): -0.4}, 1.5, "BINARY")
        for form in (bqm, bqm.change_vartype("SPIN", inplace=False)):
            model = saltus.dimod.model(form, beta=2.0)
            states, p = probabilities(model)
            weights = np.exp(-2 * form.energies((states, list(form.variables))))
            np.testing.assert_allclose(p, weights / weights.sum(), rtol=1e-5)
            reads = saltus.dimod.SaltusSampler().sample(form, num_reads=200, num_sweeps=30, seed=1)
            self.assertEqual(set(reads.variables), {"a", "b", "c"})
            np.testing.assert_allclose(reads.record.energy, form.energies(reads))
            self.assertEqual(reads.record.num_occurrences.sum(), 200)
        sampler = saltus.dimod.SaltusSampler("gibbs")
        one = sampler.sample_ising({0: 0.1}, {(0, 1): 0.3}, num_reads=20, num_sweeps=5, seed=3)
        two = sampler.sample(dimod.BQM.from_ising({0: 0.1}, {(0, 1): 0.3}), num_reads=20, num_sweeps=5, seed=3)
        self.assertTrue(np.array_equal(one.record.sample, two.record.sample))
        with self.assertWarns(Warning):
            sampler.sample(bqm, num_reads=2, num_sweeps=5, chain_strength=3)


class OwnFolder(Test):
    def test_nothing_is_left_in_the_current_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                saltus.sample("ising", draws=50, seed=1)
                saltus.anneal("ising", restarts=5, steps=20, seed=1)
            finally:
                os.chdir(before)
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    main()
