"""What the tests of runs in several processes share: mpirun, and results without their times."""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

import saltus_cli
from saltus_cli import CliTest, strict_json

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


class MpiTest(CliTest):
    def setUp(self):
        super().setUp()
        if not has_mpi():
            self.skipTest("there is no mpirun, or saltus was built without MPI")
        self.write("m.json", GLASS)

    def mpi(self, processes, *arguments):
        command = [*MPIRUN, "-n", str(processes), saltus_cli.program, *map(str, arguments)]
        # Small machines: processes that wait must not keep others from working.
        env = dict(os.environ, OMPI_MCA_mpi_yield_when_idle="1")
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=saltus_cli.TIMEOUT)

    def good_mpi(self, processes, *arguments):
        done = self.mpi(processes, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout
