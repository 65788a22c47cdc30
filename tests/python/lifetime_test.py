"""What stays behind: memory over a thousand runs, processes and threads of all kinds, killed runs,
and the names that the library gives away."""

import gc
import importlib.util
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings

from support import PROGRAM, Test, main, program, unittest
import numpy as np
import saltus

LIBRARY = os.environ.get("SALTUS_LIBRARY")


def quiet(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return saltus.sample(*arguments, **{"exact": False, "probe": False, "progress": False, **options})


def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def f(x):
    return -0.3 * x.sum(1), np.full_like(x, -0.3)


def fails(x):
    raise ValueError("as it must")


class Memory(Test):
    def grows(self, work, times):
        """MiB, from the time when a tenth of them is done."""
        for k in range(times):
            if k == times // 10:
                before = resident()
            work(k)
        return resident() - before

    def test_models_and_runs(self):
        def work(k):
            m = saltus.ising(np.triu(np.full((20, 20), 0.01), 1))
            r = quiet(m, draws=20, warmup=5, seed=k, chains=2, threads=1)
            r.extend(25, threads=1, progress=False)
            m.restrict(given={0: 1}).logp(np.ones(20))

        self.assertLess(self.grows(work, 1000), 1)

    def test_callables_and_their_errors(self):
        def work(k):
            quiet(f, domain=saltus.binary(3), draws=10, warmup=2, seed=k, chains=2, sampler="rwm")
            try:
                quiet(fails, domain=saltus.binary(3), draws=10)
            except saltus.ComputationError:
                pass

        self.assertLess(self.grows(work, 1000), 1)

    def test_chains_and_learning(self):
        from saltus.sklearn import RBM

        X = (np.arange(60).reshape(10, 6) % 3 == 0).astype(int)

        def work(k):
            saltus.Chains("ising", n=3, seed=k, threads=1).tune(5).step(2)
            RBM(3, n_iter=1, batch_size=5, random_state=k, n_jobs=1).fit(X)

        self.assertLess(self.grows(work, 500), 1)


def draws_of(seed):
    return quiet("ising-lattice", draws=40, seed=seed).levels.tobytes()


class Processes(Test):
    def test_every_way_to_start_a_child(self):
        expected = [draws_of(s) for s in (1, 2)]
        for way in ("fork", "spawn", "forkserver"):
            with multiprocessing.get_context(way).Pool(2) as pool:
                self.assertEqual(pool.map_async(draws_of, (1, 2)).get(timeout=120), expected, way)

    def test_parts_of_a_run_in_processes(self):
        whole = quiet("ising-lattice", **PART)
        with multiprocessing.get_context("forkserver").Pool(2) as pool:
            parts = pool.map_async(part_of, (1, 2)).get(timeout=120)
        np.testing.assert_array_equal(saltus.merge(parts).levels, whole.levels)

    def test_workers_of_a_data_loader(self):
        if importlib.util.find_spec("torch") is None:
            self.skipTest("PyTorch is not installed")
        code = (
            "import saltus, torch, warnings\n"
            "warnings.simplefilter('ignore')\n"
            "r = saltus.sample('ising-lattice', draws=50, seed=1)\n"
            "net = torch.nn.Sequential(torch.nn.Linear(25, 1), torch.nn.Flatten(0))\n"
            "sampler = saltus.torch.DMALA(0.3, seed=1)\n"
            "data = torch.utils.data.TensorDataset(torch.tensor((r.draws > 0).reshape(-1, 25)).float())\n"
            "for (x,) in torch.utils.data.DataLoader(data, batch_size=50, num_workers=2):\n"
            "    x = sampler.step(x, net, n=3)\n"
            "print(x.shape[1])\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, "25\n"), done.stderr)

    def test_threads_of_blas_stay(self):
        code = (
            "import ctypes, numpy as np, saltus, warnings\n"
            "warnings.simplefilter('ignore')\n"
            "a = np.ones((300, 300)) @ np.ones((300, 300))\n"
            "names = {line.split()[-1] for line in open('/proc/self/maps') if 'blas' in line}\n"
            "def threads():\n"
            "    for name in sorted(names):\n"
            "        library = ctypes.CDLL(name)\n"
            "        for symbol in ('openblas_get_num_threads', 'scipy_openblas_get_num_threads64_'):\n"
            "            if hasattr(library, symbol): yield getattr(library, symbol)()\n"
            "before = list(threads())\n"
            "saltus.sample(saltus.rbm(np.ones((50, 60)) / 50), draws=20, seed=1)\n"
            "assert list(threads()) == before, (before, list(threads()))\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


PART = {"chains": 4, "draws": 60, "seed": 3, "sampler": saltus.DMALA(step_size=0.3)}


def part_of(k):
    return quiet("ising-lattice", **PART, part=(k, 2))


class Killed(Test):
    def test_a_run_that_is_killed_is_resumed(self):
        file = self.path("run.checkpoint")
        code = (
            "import saltus, sys\n"
            f"saltus.sample('ising-lattice', draws=60_000, seed=2, checkpoint={file!r}, exact=False, probe=False,\n"
            "    progress=lambda p: print(p.step, flush=True))\n"
        )
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        first = None
        for line in child.stdout:
            if first is None and os.path.exists(file) and int(line) > 1000:
                first = time.monotonic()
            if first is not None and time.monotonic() - first > 0.1:
                break
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            r = saltus.resume(file, progress=False)
        np.testing.assert_array_equal(r.levels, quiet("ising-lattice", draws=60_000, seed=2).levels)

    @unittest.skipUnless(PROGRAM, "SALTUS_PROGRAM does not name the program")
    def test_the_programs_checkpoint_is_refused_in_words(self):
        file = self.path("run.checkpoint")
        program("sample", "ising", "--draws", "50", "--checkpoint", file, "--out", self.path("a.npz"))
        self.refused(saltus.UsageError, "was saved by the program", saltus.resume, file)


class Library(Test):
    @unittest.skipUnless(LIBRARY and shutil.which("nm"), "there is no nm, or no SALTUS_LIBRARY")
    def test_gives_away_its_own_names_alone(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True)
        names = {line.split()[-1].partition("@")[0] for line in listed.stdout.splitlines()}
        self.assertEqual({n for n in names if not n.startswith("saltus_")}, set())
        self.assertEqual(names, set(saltus._library.SIGNATURES))

    def test_import_is_silent_and_light(self):
        code = "import sys, saltus; print([m for m in ('torch', 'jax', 'arviz', 'pandas', 'sklearn', 'xarray') if m in sys.modules])"
        done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "[]\n", ""))


if __name__ == "__main__":
    main()
