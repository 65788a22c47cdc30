"""Ctrl-C, checkpoints, time limits: what a run that was stopped leaves."""

import os
import signal
import subprocess
import sys
import threading
import time

from support import Test, main  # first: says where NumPy is missing
import numpy as np
import saltus

CHILD = """
import sys, warnings
import numpy as np
import saltus
warnings.simplefilter("ignore")
def own(x):
    return 0.3 * x.sum(1), np.full_like(x, 0.3)
model = saltus.function(own, saltus.spin(25)) if sys.argv[2] == "own" else "ising-lattice"
told = False
def progress(p):
    global told
    if not told:
        print("running", flush=True)
    told = True
before = __import__("signal").getsignal(2)
try:
    r = saltus.sample(model, draws=10**6, warmup=100, seed=3, progress=progress, probe=False)
except KeyboardInterrupt:
    print("KeyboardInterrupt")
else:
    print("complete", r.complete, r.draws.shape[1])
    np.save(sys.argv[1], r.levels)
assert __import__("signal").getsignal(2) is before
"""


class CtrlC(Test):
    def run_child(self, kind, signals):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, self.path("levels.npy"), kind],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.assertEqual(child.stdout.readline(), "running\n")
        time.sleep(0.3)
        for _ in range(signals):
            child.send_signal(signal.SIGINT)
            time.sleep(0.001)
        out, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0, errors)
        return out, errors

    def test_gives_what_there_is(self):
        for kind in ("built-in", "own"):
            out, errors = self.run_child(kind, 1)
            self.assertRegex(out, r"^complete False \d+\n$")
            self.assertEqual(errors, "saltus: stopped; the result is of what was done\n")
        levels = np.load(self.path("levels.npy"))
        self.assertGreater(levels.shape[1], 0)

    def test_draws_are_the_first_of_a_full_run(self):
        self.run_child("built-in", 1)
        levels = np.load(self.path("levels.npy"))
        made = min(levels.shape[1], 500)
        whole = saltus.sample("ising-lattice", draws=made, warmup=100, seed=3, probe=False)
        self.assertTrue(np.array_equal(levels[:, :made], whole.levels))

    def test_nothing_is_installed_in_a_thread(self):
        seen = []

        def progress(p):
            seen.append(signal.getsignal(signal.SIGINT))

        before = signal.getsignal(signal.SIGINT)
        thread = threading.Thread(
            target=saltus.sample, args=("ising-lattice",),
            kwargs={"draws": 20000, "progress": progress, "probe": False},
        )  # fmt: skip
        thread.start()
        thread.join()
        self.assertTrue(seen and all(handler is before for handler in seen))

    def test_progress_may_stop_and_raise(self):
        seen = []

        def half_way(p):
            seen.append(p)
            return p.step < p.steps / 2

        r = saltus.sample("ising-lattice", draws=200000, seed=1, progress=half_way, probe=False)
        self.assertFalse(r.complete)
        self.assertLess(r.draws.shape[1], 200000)
        self.assertEqual({p.stage for p in seen}, {"warm-up", "draws"})
        self.assertEqual(seen[-1].steps, 201000)

        def fails(p):
            raise RuntimeError("enough")

        self.assertRaisesRegex(RuntimeError, "enough", saltus.sample, "ising-lattice", progress=fails)

    def test_time_limit(self):
        r = saltus.sample("ising-lattice", draws=10**7, record="moments", time_limit=0.2, seed=1)
        self.assertFalse(r.complete)


class Background(Test):
    def test_gives_the_same_draws(self):
        run = saltus.start("ising-lattice", draws=500, seed=4, probe=False)
        expected = saltus.sample("ising-lattice", draws=500, seed=4, probe=False)
        self.assertTrue(np.array_equal(run.result().levels, expected.levels))
        self.assertTrue(run.wait(0) and not run.running)

    def test_pauses_and_stops(self):
        run = saltus.start("ising-lattice", draws=10**6, seed=4, probe=False)
        while run.progress is None:
            time.sleep(0.01)
        run.pause()
        time.sleep(0.3)  # rounds take 50 ms
        at = run.progress.step
        time.sleep(0.2)
        self.assertEqual(run.progress.step, at)
        self.refused(saltus.UsageError, "is paused: go_on or stop", run.result)
        run.go_on()
        while run.progress.step == at:
            time.sleep(0.01)
        run.stop()
        r = run.result()
        self.assertFalse(r.complete)
        whole = saltus.sample("ising-lattice", draws=100, seed=4, probe=False)
        self.assertTrue(np.array_equal(r.levels[:, :100], whole.levels[:, : r.levels.shape[1]]))

    def test_what_there_is(self):
        run = saltus.start("ising-lattice", draws=10**6, warmup=100, seed=1, exact=False, probe=False)
        seen = None
        for _ in range(400):
            seen = run.so_far()
            if seen is not None and seen.draws.shape[1] > 50:
                break
            run.wait(0.02)
        made = seen.draws.shape[1]
        run.stop()
        whole = run.result()
        self.assertGreater(whole.draws.shape[1], made - 1)
        self.assertTrue(np.array_equal(seen.levels, whole.levels[:, :made]))
        self.assertFalse(seen.complete)
        self.assertEqual(seen.mean.shape, (5, 5))
        self.refused(saltus.UsageError, "no draws to look at",
                     lambda: saltus.sample("ising", record="moments", draws=50, seed=1,
                                           progress=lambda p: p.result()))

    def test_raises_what_ended_it(self):
        def fails(x):
            raise ValueError("no")

        run = saltus.start(saltus.function(fails, saltus.binary(3)))
        self.assertRaises(saltus.ComputationError, run.result)
        self.refused(saltus.UsageError, "leave it out", saltus.start, "ising", progress=True)
        self.refused(saltus.UsageError, "cannot be pickled", run.__reduce__)


class Checkpoints(Test):
    def test_resumed_runs_are_whole_ones(self):
        options = {"draws": 3000, "seed": 5, "warmup": 300, "probe": False}
        stop = lambda p: p.step < 900  # noqa: E731
        for name in ("ising-lattice", "poisson"):
            whole = saltus.sample(name, **options)
            file = self.path(name + ".checkpoint")
            part = saltus.sample(name, checkpoint=file, progress=stop, **options)
            self.assertFalse(part.complete)
            r = saltus.resume(file)
            self.assertTrue(r.complete)
            self.assertTrue(np.array_equal(r.levels, whole.levels))
            self.assertTrue(np.array_equal(r.logp, whole.logp))
            self.assertTrue(np.array_equal(r.acceptance_rate, whole.acceptance_rate))

    def test_more_draws(self):
        file = self.path("run.checkpoint")
        saltus.sample("ising", draws=500, seed=2, checkpoint=file)
        longer = saltus.resume(file, draws=1200)
        whole = saltus.sample("ising", draws=1200, seed=2)
        self.assertTrue(np.array_equal(longer.levels, whole.levels))

    def test_callables(self):
        def own(x):
            return 0.3 * x.sum(1), np.full_like(x, 0.3)

        model, file = saltus.function(own, saltus.spin(8)), self.path("own.checkpoint")
        saltus.sample(model, draws=100, seed=2, checkpoint=file)
        self.refused(saltus.UsageError, "is of a model that is in no file: give it as model=", saltus.resume, file)
        r = saltus.resume(file, model=model, draws=300)
        whole = saltus.sample(model, draws=300, seed=2)
        self.assertTrue(np.array_equal(r.levels, whole.levels))

    def test_other_files(self):
        self.refused(saltus.FileError, "cannot", saltus.resume, self.path("none.checkpoint"))
        file = self.path("bad.checkpoint")
        with open(file, "w") as out:
            out.write("nothing")
        with self.assertRaises(saltus.Error):
            saltus.resume(file)
        self.assertTrue(os.path.exists(file))


if __name__ == "__main__":
    main()
