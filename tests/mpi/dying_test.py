"""A process of a shared run that is killed: the run ends in words, and its checkpoint resumes."""

import os
import signal
import subprocess
import time

from mpi_case import MPIRUN, MpiTest
import saltus_cli
from saltus_cli import strict_json

SECONDS = 30  # in which the run must end


class Dying(MpiTest):
    def kill(self, rank):
        """What a run says whose process of this rank is killed."""
        command = [*MPIRUN, "-n", "3", saltus_cli.program, "sample", "m.json", "--chains", "6", "--tile", "1",
                   "--draws", "1000000000", "--record", "moments", "--threads", "1", "--checkpoint", "c"]
        run = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        limit = time.time() + 60
        while time.time() < limit and not os.path.exists(self.path("c")):
            time.sleep(0.2)
        time.sleep(2)
        processes = subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True).stdout.split()
        os.kill(int(processes[rank]), signal.SIGKILL)
        _, errors = run.communicate(timeout=SECONDS)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn(f"rank {rank}", errors)  # mpirun's own sentence
        return errors

    def words_when_killed(self, rank):
        """As kill. mpirun gives the others a second to speak, which may be too little on a busy machine: so three tries."""
        for _ in range(3):
            errors = self.kill(rank)
            if "saltus: told to stop" in errors:
                break
            os.remove(self.path("c"))
        return errors

    def test_the_run_ends_with_the_checkpoint_to_resume_from(self):
        for rank in (0, 2):  # the leader, whose place the next process takes, and another
            errors = self.words_when_killed(rank)
            self.assertEqual(errors.count("saltus: told to stop"), 1, errors)
            self.assertIn("--resume c", errors)
            j = strict_json(self.good("sample", "--resume", "c", "--time", 0.1, "--json").out)
            self.assertGreater(j["draws"], 0)
            for name in os.listdir(self.folder):
                if name.startswith("c"):
                    os.remove(self.path(name))


if __name__ == "__main__":
    saltus_cli.main()
