"""Runs in several processes by mpirun, and runs in parts without it: the bits of one process."""

import os
import shutil
import signal
import subprocess
import time

import saltus_cli
from saltus_cli import CliTest, read_npz, strict_json

USAGE, DATA, NO_INPUT = 64, 65, 66

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
GLASS = """{"model": "ising", "n": 6, "fields": [0.1, 0, 0, 0, 0, -0.2], "couplings": [[0,1,0.8],
 [1,2,-0.9], [2,3,0.7], [3,4,1.1], [4,5,-0.6], [5,0,0.9], [0,3,-0.5]]}"""


def has_mpi():
    module = os.path.join(os.path.dirname(saltus_cli.program), "saltus_mpi.so")
    return shutil.which("mpirun") and os.path.exists(module)


def without_times(text):
    """The JSON without what differs from run to run."""
    def kept(value):
        if isinstance(value, dict):
            return {k: kept(v) for k, v in value.items() if "second" not in k and k != "peak_memory_bytes"}
        return value
    return kept(strict_json(text))


class Mpi(CliTest):
    def setUp(self):
        super().setUp()
        if not has_mpi():
            self.skipTest("there is no mpirun, or saltus was built without MPI")
        self.write("m.json", GLASS)

    def mpi(self, processes, *arguments):
        command = [*MPIRUN, "-n", str(processes), saltus_cli.program, *map(str, arguments)]
        # Small machines: processes that wait must not keep others from working.
        env = dict(os.environ, OMPI_MCA_mpi_yield_when_idle="1")
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=120)

    def good_mpi(self, processes, *arguments):
        done = self.mpi(processes, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_draws_and_summary_are_those_of_one_process(self):
        for run in (["sample", "m.json", "--chains", 7, "--tile", 1, "--draws", 500, "--threads", 1],
                    ["sample", "m.json", "--temper", "--chains", 4, "--tile", 1, "--draws", 500, "--warmup", 200],
                    ["sample", "m.json", "--sampler", "gwg", "--chains", 8, "--tile", 2, "--record", "moments"]):
            out = [] if "moments" in run else ["--out", "one.npz"]
            one = without_times(self.good(*run, "--json", *out).out)
            for processes in (2, 3):
                out = [] if "moments" in run else ["--out", "several.npz"]
                several = without_times(self.good_mpi(processes, *run, "--json", *out))
                self.assertEqual(several, one)
                if out:
                    self.assertEqual(read_npz(self.path("several.npz")), read_npz(self.path("one.npz")))

    def test_log_z(self):
        run = ["logz", "m.json", "--chains", 9, "--betas", 200, "--reverse-warmup", 300, "--json"]
        self.assertEqual(without_times(self.good_mpi(4, *run)), without_times(self.good(*run).out))

    def test_the_best_state(self):
        run = ["anneal", "m.json", "--restarts", 20, "--steps", 50, "--json"]
        self.assertEqual(without_times(self.good_mpi(3, *run)), without_times(self.good(*run).out))
        refused = self.mpi(2, *run, "--time", 1)
        self.assertEqual(refused.returncode, USAGE)

    def test_more_processes_than_chains(self):
        run = ["sample", "m.json", "--chains", 2, "--tile", 1, "--draws", 100, "--json"]
        self.assertEqual(without_times(self.good_mpi(4, *run)), without_times(self.good(*run).out))

    def test_resumes_with_another_number_of_processes(self):
        run = ["sample", "m.json", "--chains", 6, "--tile", 1, "--draws", 300000, "--json"]
        whole = without_times(self.good(*run).out)
        j = strict_json(self.good_mpi(3, *run, "--checkpoint", "c", "--time", 0.3))
        self.assertFalse(j["complete"])
        self.good_mpi(2, "sample", "--resume", "c", "--time", 0.3, "--json")
        self.assertEqual(without_times(self.good("sample", "--resume", "c", "--json").out), whole)

    def test_a_process_that_dies_ends_the_run_and_the_checkpoint_resumes(self):
        command = [*MPIRUN, "-n", "3", saltus_cli.program, "sample", "m.json", "--chains", "6", "--tile", "1",
                   "--draws", "1000000000", "--record", "moments", "--checkpoint", "c"]
        run = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        limit = time.time() + 60
        victims = []
        while time.time() < limit and not (victims and os.path.exists(self.path("c"))):
            found = subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True)
            victims = found.stdout.split()
            time.sleep(0.2)
        time.sleep(2)
        os.kill(int(victims[-1]), signal.SIGKILL)
        began = time.time()
        _, errors = run.communicate(timeout=30)
        self.assertLess(time.time() - began, 30)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("rank 2", errors)  # mpirun's own sentence
        j = strict_json(self.good("sample", "--resume", "c", "--time", 0.1, "--json").out)
        self.assertGreater(j["draws"], 0)

    def test_files_of_processes_merge(self):
        run = ["sample", "m.json", "--chains", 7, "--tile", 1, "--draws", 300]
        self.good(*run, "--out", "one.npz")
        self.good_mpi(3, *run, "--out", "apart.npz", "--out-per-rank")
        parts = [f"apart.part-{k}-of-3.npz" for k in (3, 1, 2)]
        self.good("merge", *parts, "--out", "merged.npz")
        self.assertEqual(read_npz(self.path("merged.npz")), read_npz(self.path("one.npz")))
        refused = self.mpi(2, *run, "--out", "x.npz", "--out-per-rank", "--checkpoint", "c")
        self.assertEqual(refused.returncode, USAGE)

    def test_refusals_come_once(self):
        done = self.mpi(2, "sample", "nowhere.json")
        self.assertEqual(done.returncode, NO_INPUT)
        self.assertEqual(done.stderr.count("saltus: "), 1, done.stderr)
        self.assertEqual(self.good_mpi(2, "samplers").count("dmala "), self.good("samplers").out.count("dmala "))


class Parts(CliTest):
    def setUp(self):
        super().setUp()
        self.write("m.json", GLASS)

    def test_parts_without_mpi(self):
        self.assertIn("tuned.json", self.good("tune", "m.json", "--out", "tuned.json", "--warmup", 200).out)
        run = ["sample", "m.json", "--chains", 10, "--tile", 1, "--draws", 200, "--tuning", "tuned.json"]
        self.good(*run, "--out", "one.npz")
        for part in range(1, 11):
            self.good(*run, "--part", f"{part}/10", "--out", f"part-{part}.npz")
        names = sorted(f"part-{part}.npz" for part in range(1, 11))  # 1, 10, 2, ...
        self.good("merge", *names, "--out", "all.npz")
        self.assertEqual(read_npz(self.path("all.npz")), read_npz(self.path("one.npz")))
        for words, files in (("part with chain 2 is missing", names[:3] + names[4:]),
                             ("another file holds", names + ["part-1.npz"]),
                             ("which part", ["one.npz"])):
            self.assertIn(words, self.refusal(DATA, "merge", *files, "--out", "bad.npz"))

    def test_a_part_is_stopped_and_resumed(self):
        run = ["sample", "m.json", "--chains", 4, "--tile", 1, "--draws", 400000, "--set", "step_size=0.4", "--part", "2/2"]
        self.good(*run, "--out", "whole.npz")
        self.good(*run, "--out", "slices.npz", "--checkpoint", "c", "--time", 0.05)
        self.good("sample", "--resume", "c")
        self.assertEqual(read_npz(self.path("slices.npz")), read_npz(self.path("whole.npz")))

    def test_tuning_is_what_a_run_finds(self):
        for sampler in ("dmala", "pas", "rwm", "gwg", "dmala+gwg"):
            j = strict_json(self.good("sample", "m.json", "--sampler", sampler, "--draws", 10, "--json").out)
            tuned = self.saltus("tune", "m.json", "--sampler", sampler, "--out", "t.json", "--json")
            if tuned.status != 0:
                self.assertIn("nothing to tune", tuned.err)
                continue
            k = strict_json(self.good("sample", "m.json", "--tuning", "t.json", "--draws", 10, "--json").out)
            for parameters in (j["parameters"], k["parameters"]):
                parameters = {name: v for name, v in parameters.items() if "adapt" not in name}
                self.assertEqual(parameters.keys() - k["parameters"].keys(), set(), sampler)
                self.assertEqual({n: j["parameters"][n] for n in parameters}, parameters, sampler)
            os.remove(self.path("t.json"))

    def test_refusals(self):
        self.write("bad.json", "{}")
        for status, words, arguments in [
                (USAGE, "--part 3", ["--part", "3"]),
                (USAGE, "--part 4/3", ["--part", "4/3"]),
                (USAGE, "--tuning", ["--part", "1/2", "--tile", 1]),
                (USAGE, "1 parts at most", ["--part", "1/2", "--set", "step_size=1", "--tile", 4]),
                (USAGE, "--betas", ["--part", "1/2", "--temper", "--set", "step_size=1"]),
                (DATA, "bad.json", ["--tuning", "bad.json"]),
                (USAGE, "--out-per-rank", ["--out-per-rank"])]:
            self.assertIn(words, self.refusal(status, "sample", "m.json", *arguments))
        self.assertIn("nothing to tune", self.refusal(USAGE, "tune", "m.json", "--sampler", "gibbs"))


if __name__ == "__main__":
    saltus_cli.main()
