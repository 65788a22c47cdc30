"""A short run of the adversarial trials in tests/torture: kills, full disks, closed descriptors, hostile files."""

import os
import subprocess
import sys
import unittest

import saltus_cli
from saltus_cli import CliTest

TORTURE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "torture", "torture.py")
SECONDS = 20


class TortureTest(CliTest):
    def test_twenty_seconds(self):
        for command in ["diagnose", "none.nc"], ["report", "none.npz"]:
            if "built without" in self.saltus(*command).err:
                self.skipTest("the trials use netCDF and pages, and this saltus was built without")
        # The trials end at most a minute after their time.
        done = subprocess.run([sys.executable, TORTURE, saltus_cli.program, "--seconds", str(SECONDS)], cwd=self.folder,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS + saltus_cli.TIMEOUT)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr).decode(errors="backslashreplace"))
        self.assertIn(b" passed, 0 failed", done.stdout)


if __name__ == "__main__":
    saltus_cli.main()
