"""A run over several hosts, which are network namespaces with names, addresses and a cable of their own."""

import os
import shutil
import subprocess

from mpi_case import MpiTest, without_times
import saltus_cli
from saltus_cli import read_npz

HOSTS = {"10.77.0.1": "saltus-host-1", "10.77.0.2": "saltus-host-2"}
CABLE = ("saltus-cable-1", "saltus-cable-2")
NETWORK = "10.77.0.0/24"

# In place of ssh: `agent ADDRESS COMMAND...` runs the command on that host.
AGENT = """#!/bin/sh
host=saltus-host-${1##*.}
shift
exec ip netns exec $host unshare --uts sh -c "hostname $host && $*"
"""


def ip(*arguments):
    return subprocess.run(["ip", *arguments], capture_output=True, text=True)


class Hosts(MpiTest):
    def setUp(self):
        super().setUp()
        if not all(map(shutil.which, ("ip", "unshare"))):
            self.skipTest("there is no ip, or no unshare")
        for space in HOSTS.values():
            self.addCleanup(ip, "netns", "del", space)
            made = ip("netns", "add", space)
            if made.returncode != 0:
                self.skipTest("network namespaces cannot be made here: " + made.stderr.strip())
        made = ip("link", "add", CABLE[0], "type", "veth", "peer", "name", CABLE[1])
        if made.returncode != 0:
            self.skipTest("there are no virtual network devices here: " + made.stderr.strip())
        for (address, space), end in zip(HOSTS.items(), CABLE):
            for step in (["link", "set", end, "netns", space], ["-n", space, "addr", "add", address + "/24", "dev", end],
                         ["-n", space, "link", "set", end, "up"], ["-n", space, "link", "set", "lo", "up"]):
                self.assertEqual(ip(*step).returncode, 0, step)
        self.write("agent", AGENT)
        os.chmod(self.path("agent"), 0o755)

    def on_hosts(self, processes, *arguments):
        options = {"plm_rsh_agent": self.path("agent"), "btl": "tcp,self", "btl_tcp_if_include": NETWORK,
                   "oob_tcp_if_include": NETWORK, "mpi_yield_when_idle": "1"}
        settings = [part for key, value in options.items() for part in ("--mca", key, value)]
        hosts = ",".join(f"{address}:{processes // len(HOSTS)}" for address in HOSTS)
        first = next(iter(HOSTS))
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", *settings, "--host", hosts,
                   "-n", str(processes), saltus_cli.program, *map(str, arguments)]
        done = subprocess.run([self.path("agent"), first, *command], cwd=self.folder, capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_two_hosts_give_the_bits_of_one_process(self):
        run = ["sample", "m.json", "--chains", 7, "--tile", 1, "--draws", 500, "--threads", 1, "--json"]
        one = without_times(self.good(*run, "--out", "one.npz").out)
        self.assertEqual(without_times(self.on_hosts(4, *run, "--out", "several.npz")), one)
        self.assertEqual(read_npz(self.path("several.npz")), read_npz(self.path("one.npz")))


if __name__ == "__main__":
    saltus_cli.main()
