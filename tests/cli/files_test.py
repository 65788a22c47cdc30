"""Files of a run: nothing of the user's is replaced, no run is lost, and two runs never share a file."""

import json
import os
import re
import resource
import signal
import stat
import struct
import subprocess
import time
import unittest

import saltus_cli
from saltus_cli import CliTest, environment, read_npz, strict_json

LONG = ["--chains", 2, "--warmup", 10, "--set", "step_size=0.4", "--draws", 10 ** 8, "--record", "moments"]
SHORT = ["--chains", 2, "--warmup", 10, "--set", "step_size=0.4", "--draws", 2000, "--seed", 3]


def search_path(program):
    """The folders in which the loader looks for a program's libraries, as its file has them."""
    text = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"\((?:RUNPATH|RPATH)\)[^[]*\[(.*)\]", text)
    return [part for path in found for part in path.split(":")]


class Libraries(CliTest):
    def test_no_library_of_the_current_folder_is_loaded(self):
        folder_of_parts = os.path.dirname(saltus_cli.program)
        parts = [os.path.join(folder_of_parts, f"saltus_{part}.so") for part in ("cuda", "torch")]
        for program in (saltus_cli.program, *parts):
            if not os.path.exists(program):
                continue
            for folder in search_path(program):
                self.assertTrue(folder.startswith(("/", "$ORIGIN")), f"{program} looks into '{folder}'")

    def test_a_planted_library_does_nothing(self):
        for name in ("libfmt.so.9", "libz.so.1", "libopenblas.so.0", "libnetcdf.so.19"):
            self.write(name, "not a library")
        self.good("--version")
        self.write("m.json", {"model": "rbm", "weights": [[0.5, 1]], "visible_bias": [0, 0], "hidden_bias": [0]})
        self.good("sample", "m.json", "--draws", 10, "--json")

    @unittest.skipIf("SALTUS_SANITIZED" in os.environ, "a sanitizer reserves more address space than that")
    def test_starts_in_little_address_space(self):
        done = subprocess.run([saltus_cli.program, "--version"], timeout=20, capture_output=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (200_000 * 1024,) * 2))
        self.assertEqual(done.returncode, 0, done.stderr)


class Names(CliTest):
    """One rule for all commands: what is there already is resumed or overwritten only when that is said."""

    def check_rule(self, begin, resume):
        self.good(*begin, "--checkpoint", "c")
        before = self.read("c")
        message = self.refusal(64, *begin, "--checkpoint", "c")
        self.assertIn("--resume c", message)
        self.assertIn("--overwrite", message)
        self.assertEqual(self.read("c"), before)
        self.good(*resume, "--resume", "c")
        self.good(*begin, "--checkpoint", "c", "--overwrite")
        self.assertNotIn("c.lock", self.files())

    def test_sample(self):
        self.check_rule(["sample", *SHORT, "--json"], ["sample", "--json"])

    def test_logz(self):
        run = ["logz", "ising-2x2", "--betas", 20, "--chains", 10, "--json"]
        self.check_rule(run, run)

    def test_learn(self):
        self.write("data.csv", "0,1\n1,1\n" * 20)
        self.check_rule(["learn", "rbm", "--data", "data.csv", "--hidden", 2, "--iterations", 5, "--out", "m.json", "--json"],
                        ["learn", "rbm", "--json"])

    def test_only_checkpoints_are_overwritten(self):
        self.write("thesis", "years of work")
        for option in ([], ["--overwrite"]):
            self.refusal(64, "sample", *SHORT, "--checkpoint", "thesis", *option)
        self.write("c.draws", "years of work")
        self.refusal(64, "sample", *SHORT, "--checkpoint", "c")
        self.assertEqual(self.read("c.draws"), b"years of work")

    def test_files_are_distinct(self):
        self.write("m.json", {"model": "bernoulli", "logits": [0, 1]})
        self.write("start.npz", "0 1\n" * 2)
        os.link(self.path("m.json"), self.path("linked.csv"))
        os.symlink("m.json", self.path("symlinked.csv"))
        run = ["sample", "m.json", "--chains", 2, "--draws", 10]
        for options in (["--out", "linked.csv"], ["--out", "symlinked.csv"], ["--checkpoint", "m.json"],
                        ["--checkpoint", "./sub/../m.json"], ["--init", "start.npz", "--out", "start.npz"],
                        ["--checkpoint", "x.csv", "--out", "x.csv"], ["--checkpoint", "x.npz", "--out", "./x.npz"]):
            with self.subTest(options):
                if options[1].startswith("./sub"):
                    os.mkdir(self.path("sub"))
                self.refusal(64, *run, *options)
        self.write("x.weights.npz", "data")
        self.assertIn("same file", self.refusal(64, "learn", "rbm", "--data", "x.weights.npz", "--out", "x.json"))
        self.refusal(64, "compare", "m.json", "--out", "m.json")

    def test_only_regular_files_are_written(self):
        os.mkfifo(self.path("pipe.npz"))
        os.mkdir(self.path("folder.npz"))
        names = ["pipe.npz", "folder.npz"]
        try:
            os.mknod(self.path("device.npz"), stat.S_IFCHR | 0o666, os.makedev(1, 3))  # another /dev/null
            names.append("device.npz")
        except PermissionError:
            pass
        for name in names:
            for option in ("--out", "--checkpoint"):
                with self.subTest(f"{option} {name}"):
                    self.refusal(73, "sample", *SHORT, option, name)
        if "device.npz" in names:
            self.assertTrue(stat.S_ISCHR(os.stat(self.path("device.npz")).st_mode))

    def test_planted_links_are_not_followed(self):
        self.write("victim", "precious")
        for name in ("c.draws", "c.lock", "c.new"):
            os.symlink("victim", self.path(name))
        self.assertNotEqual(self.saltus("sample", *SHORT, "--checkpoint", "c").status, 0)
        os.remove(self.path("c.draws"))
        self.assertNotEqual(self.saltus("sample", *SHORT, "--checkpoint", "c").status, 0)
        os.remove(self.path("c.lock"))
        self.good("sample", *SHORT, "--checkpoint", "c")
        self.assertEqual(self.read("victim"), b"precious")
        self.assertTrue(os.path.islink(self.path("c.new")))

    def test_links_that_lead_nowhere(self):
        for name in ("d.npz", "d.npz.draws", "nowhere"):
            with self.subTest(name):
                os.symlink(name, self.path("link.npz"))
                self.refusal(73, "sample", *SHORT, "--checkpoint", "d.npz", "--out", "link.npz")
                os.remove(self.path("link.npz"))

    def test_overwrite_keeps_draws_that_are_not_known(self):
        self.write("e.draws", "mine")
        self.refusal(64, "sample", *SHORT, "--checkpoint", "e", "--overwrite")
        self.assertEqual(self.read("e.draws"), b"mine")
        self.good("sample", *SHORT, "--checkpoint", "f")
        os.replace(self.path("f.draws"), self.path("victim"))
        os.symlink("victim", self.path("f.draws"))
        self.refusal(64, "sample", *SHORT, "--checkpoint", "f", "--overwrite")
        self.assertIn("victim", self.files())

    def test_weights_beside_a_new_model_are_not_replaced(self):
        self.write("data.csv", "0,1\n1,1\n" * 20)
        self.write("m.weights.npz", "mine")
        self.refusal(64, "learn", "rbm", "--data", "data.csv", "--out", "m.json")

    def test_a_temporary_name_that_is_taken_does_no_harm(self):
        # As in a container, where process numbers repeat and a killed run left its file.
        for number in range(1, 400):
            self.write(f".d.npz.{number}-0.tmp", "left")
        self.good("sample", *SHORT, "--out", "d.npz")


class Locks(CliTest):
    def wait_for(self, name):
        end = time.monotonic() + 20
        while not os.path.exists(self.path(name)) and time.monotonic() < end:
            time.sleep(0.02)

    def test_two_runs_do_not_share_a_checkpoint(self):
        first = self.begin("sample", *LONG, "--checkpoint", "c")
        self.wait_for("c")
        for command in (["sample", *SHORT, "--checkpoint", "c", "--overwrite"], ["sample", "--resume", "c"]):
            done = self.saltus(*command)
            self.assertEqual(done.status, 73, str(done))
            self.assertIn("another run is using", done.err)
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=saltus_cli.TIMEOUT)
        self.assertEqual(first.returncode, 143)
        self.good("sample", "--resume", "c", "--time", 0.1)

    def test_a_killed_run_leaves_no_lock(self):
        first = self.begin("sample", *LONG, "--checkpoint", "c")
        self.wait_for("c")
        first.kill()
        first.communicate()
        self.good("sample", "--resume", "c", "--time", 0.1)

    def test_runs_that_end_together_are_all_saved(self):
        runs = [self.begin("sample", *LONG[:-2], "--out", f"{k}.npz", "--seed", k) for k in range(8)]
        time.sleep(1.5)
        for run in runs:
            run.send_signal(signal.SIGTERM)
        names = set()
        for k, run in enumerate(runs):
            err = run.communicate(timeout=saltus_cli.TIMEOUT)[1].decode()
            self.assertEqual(run.returncode, 143, err)
            names.add(re.search(r"--resume (\S+)", err).group(1))
        self.assertEqual(len(names), 8)
        for name in sorted(names)[:3]:
            self.good("sample", "--resume", name, "--time", 0.05)

    def test_what_a_killed_save_left_is_removed(self):
        self.good("sample", *SHORT, "--checkpoint", "c")
        for name in (".c.0123456789abcdef.tmp", ".c.mine.tmp"):
            self.write(name, "half a checkpoint")
        self.good("sample", "--resume", "c", "--draws", 2001)
        self.assertEqual(self.files(), [".c.mine.tmp", "c", "c.draws"])

    def test_hang_up_is_as_terminate(self):
        run = self.begin("sample", *LONG)
        time.sleep(0.7)
        run.send_signal(signal.SIGHUP)
        err = run.communicate(timeout=saltus_cli.TIMEOUT)[1].decode()
        self.assertEqual(run.returncode, 128 + signal.SIGHUP, err)
        self.assertIn("--resume", err)

    def test_nohup_is_respected(self):
        run = subprocess.Popen([saltus_cli.program, *map(str, ["sample", *LONG, "--time", 2])], cwd=self.folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        time.sleep(0.7)
        run.send_signal(signal.SIGHUP)
        out, err = run.communicate(timeout=saltus_cli.TIMEOUT)
        self.assertEqual(run.returncode, 0, err)


class Rescue(CliTest):
    def reference(self):
        self.good("sample", *SHORT, "--out", "whole.npz")
        return read_npz(self.path("whole.npz"))

    def continue_as_told(self, err, *more):
        command = re.search(r"^  saltus (.*)$", err, re.MULTILINE).group(1).replace(" --out FILE", "")
        done = self.good(*command.split(), *more)
        return done

    def test_output_that_cannot_be_written(self):
        whole = self.reference()
        limit = os.path.getsize(self.path("whole.npz")) * 13 // 10  # the run's own file of draws fits, a .csv does not

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        done = subprocess.run([saltus_cli.program, "sample", *map(str, SHORT), "--out", "d.csv"], cwd=self.folder,
                              preexec_fn=small_files, capture_output=True, timeout=saltus_cli.TIMEOUT)
        err = done.stderr.decode()
        self.assertEqual(done.returncode, 73, err)
        self.assertNotIn("d.csv", self.files())
        self.continue_as_told(err, "--out", "d.npz")
        self.assertEqual(read_npz(self.path("d.npz"))["x"], whole["x"])

    def test_output_whose_folder_has_gone(self):
        whole = self.reference()
        os.mkdir(self.path("gone"))
        run = self.begin("sample", *SHORT[:-4], "--draws", 3_000_000, "--seed", 3, "--out", "gone/d.npz")
        time.sleep(0.2)
        os.rmdir(self.path("gone"))
        out, err = run.communicate(timeout=saltus_cli.TIMEOUT)
        self.assertEqual(run.returncode, 73, err)
        self.continue_as_told(err.decode(), "--out", "d.npz")
        made = read_npz(self.path("d.npz"))["x"]
        self.assertEqual(made.rows(0, 1)[:1000], whole["x"].rows(0, 1)[:1000])

    def test_model_that_cannot_be_written(self):
        self.write("data.csv", "0,1\n1,1\n" * 20)
        os.mkdir(self.path("gone"))
        run = self.begin("learn", "rbm", "--data", "data.csv", "--hidden", 2, "--iterations", 10 ** 9, "--time", 1,
                         "--out", "gone/m.json")
        time.sleep(0.4)
        os.rmdir(self.path("gone"))
        err = run.communicate(timeout=saltus_cli.TIMEOUT)[1].decode()
        self.assertEqual(run.returncode, 73, err)
        command = re.search(r"^  saltus (.*) --out FILE.json$", err, re.MULTILINE).group(1)
        self.good(*command.split(), "--out", "m.json", "--time", 0.1)
        json.loads(self.read("m.json"))


class ChangedFiles(CliTest):
    def weights(self, value):
        header = json.dumps({"weights": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]},
                             "visible_bias": {"dtype": "F32", "shape": [2], "data_offsets": [8, 16]},
                             "hidden_bias": {"dtype": "F32", "shape": [1], "data_offsets": [16, 20]}}).encode()
        self.write("w.safetensors", struct.pack("<Q", len(header)) + header + struct.pack("<5f", value, 1, 0, 0, 0))

    def test_weights(self):
        self.write("m.json", {"model": "rbm", "weights_file": "w.safetensors"})
        self.weights(0.5)
        self.good("sample", "m.json", *SHORT, "--checkpoint", "c")
        self.good("sample", "--resume", "c", "--draws", 2001)
        estimate = ["logz", "m.json", "--betas", 20, "--chains", 10]
        self.good(*estimate, "--checkpoint", "e")
        self.weights(0.75)
        message = self.refusal(65, "sample", "--resume", "c", "--draws", 3000)
        self.assertIn("w.safetensors has changed", message)
        self.assertIn("w.safetensors has changed", self.refusal(65, *estimate, "--resume", "e"))
        self.weights(0.5)
        self.good("sample", "--resume", "c", "--draws", 3000)

    def test_no_output_takes_the_place_of_weights(self):
        self.write("m.json", {"model": "rbm", "weights_file": "w.safetensors"})
        self.weights(0.5)
        os.link(self.path("w.safetensors"), self.path("alias.csv"))
        for command in (["compare", "m.json", "--budget", 0.02], ["sample", "m.json", *SHORT]):
            self.assertIn("a file of the model", self.refusal(64, *command, "--out", "alias.csv"))
        self.refusal(64, "logz", "m.json", "--checkpoint", "alias.csv")

    def test_file_names_that_are_none(self):
        for name in ("", "\0", "."):
            self.write("m.json", {"model": "rbm", "weights_file": name})
            done = self.saltus("sample", "m.json")
            self.assertIn(done.status, (65, 66), str(done))

    def test_scripts_can_be_refused(self):
        self.write("m.json", {"model": "torch", "script": "net.pt", "domain": "binary", "dim": 3})
        self.write("net.pt", "anything")
        self.assertIn("not allowed", self.refusal(64, "sample", "m.json", "--no-scripts"))
        self.assertIn("not allowed",
                      self.refusal(64, "sample", "net.pt", "--domain", "binary", "--dim", 3, "--no-scripts"))


class Streams(CliTest):
    def run_with(self, setup, *arguments):
        return subprocess.run([saltus_cli.program, *map(str, arguments)], cwd=self.folder, env=environment(),
                              preexec_fn=setup, capture_output=True, timeout=saltus_cli.TIMEOUT)

    def test_closed_streams(self):
        self.good("sample", *SHORT, "--out", "whole.npz")
        whole = read_npz(self.path("whole.npz"))
        for closed in ([2], [1, 2], [0, 1, 2], [0]):
            with self.subTest(closed):
                done = self.run_with(lambda: [os.close(fd) for fd in closed], "sample", *SHORT, "--out", "d.npz",
                                     "--checkpoint", "c", "--overwrite" if "c" in self.files() else "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(read_npz(self.path("d.npz"))["x"], whole["x"])

    def test_full_streams(self):
        def full(fd):
            return lambda: os.dup2(os.open("/dev/full", os.O_WRONLY), fd)
        run = ["sample", *LONG, "--time", 1.0]
        self.assertEqual(self.run_with(full(2), *run).returncode, 0)
        self.assertEqual(self.run_with(full(1), *run).returncode, 74)
        self.assertEqual(self.run_with(full(2), "sample", "nothing.json").returncode, 66)


    def test_readers_that_have_gone(self):
        def gone(*fds):
            def setup():
                reader, writer = os.pipe()
                os.close(reader)
                for fd in fds:
                    os.dup2(writer, fd)
            return setup
        for fds, status in (((2,), 66), ((1, 2), 66)):
            self.assertEqual(self.run_with(gone(*fds), "sample", "nothing.json").returncode, status)
        self.assertEqual(self.run_with(gone(2), "sample", *LONG, "--time", 1).returncode, 0)
        done = self.run_with(gone(1), "sample", *SHORT, "--out", "d.npz", "--json")
        self.assertEqual(done.returncode, 74)
        others = [line for line in done.stderr.splitlines() if not line.startswith(b"saltus: warning: ")]
        self.assertEqual(others, [])  # nobody is told, but by the status, that nobody reads
        self.assertIn("d.npz", self.files())

    def test_no_folder_for_temporary_files(self):
        for place in ("/nowhere", "/etc/passwd"):
            self.good("sample", *SHORT, env={"TMPDIR": place})


class Text(CliTest):
    STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

    def check(self, done):
        self.assertIsNone(self.STEERING.search(done.err + done.out), str(done))

    def test_messages_do_not_steer_the_terminal(self):
        evil = "\x1b]0;title\x07\u009b31m\u202etxt\x7f"
        self.write("m.json", json.dumps({"model": "bernoulli", "logits": [0], evil: 1}))
        self.check(self.saltus("sample", "m.json"))
        self.write("m.json", json.dumps({"model": evil}))
        self.check(self.saltus("sample", "m.json"))
        self.check(self.saltus("sample", "--seed", evil))
        self.check(self.saltus("sample", evil))
        self.write(f"{evil}.json", {"model": "bernoulli", "logits": [0]})
        self.check(self.saltus("sample", f"{evil}.json", "--draws", 10, "--checkpoint", evil, "--time", 1e-9))

    def test_messages_echo_little(self):
        long = "x" * 100_000
        for arguments in (["sample", "--seed", long], ["sample", long], ["sample", "--set", long],
                          ["sample", "--sampler", long], ["sample", "--" + long], [long]):
            done = self.saltus(*arguments)
            self.assertLess(len(done.err), 650, done.err[:500])
            self.assertNotIn("x" * 201, done.err)
        self.write("m.json", {"model": long})
        self.assertLess(len(self.refusal(65, "sample", "m.json")), 650)


class Sizes(CliTest):
    def test_a_file_of_more_chains_than_there_can_be(self):
        try:
            import netCDF4
        except ImportError:
            self.skipTest("needs python3-netcdf4")
        with netCDF4.Dataset(self.path("d.nc"), "w") as file:
            group = file.createGroup("posterior")
            group.createDimension("chain", 2 ** 30)
            group.createDimension("draw", 4)
            group.createVariable("x", "i1", ("chain", "draw"))
        done = self.saltus("diagnose", "d.nc")
        if "built without netCDF" not in done.err:
            self.assertEqual(done.status, 65, str(done))

    @unittest.skipIf("SALTUS_SANITIZED" in os.environ, "a sanitizer reserves more address space than that")
    def test_little_memory_is_no_abort(self):
        # Freeing a long list must not need memory: the summary is printed, or the lack of memory is said.
        self.write("m.json", json.dumps({"model": "bernoulli", "logits": [0] * 400_000}))
        statuses = set()
        for megabytes in range(60, 400, 17):
            done = subprocess.run([saltus_cli.program, "sample", "m.json", "--chains", "1", "--warmup", "0", "--draws",
                                   "1", "--set", "step_size=1", "--threads", "1", "--record", "moments", "--json"],
                                  cwd=self.folder, timeout=saltus_cli.TIMEOUT, capture_output=True,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2))
            statuses.add(done.returncode)
        self.assertLessEqual(statuses, {0, 71, 127}, "127: the system could not load the program")
        self.assertIn(0, statuses)

    def test_archives_that_fill_the_disk(self):
        import zlib
        size = 2 * 2 ** 30
        header = b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d, 4), }" % (size // 4)
        header = header.ljust(127) + b"\n"
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed, crc, block = packer.compress(header), zlib.crc32(header), bytes(2 ** 24)
        for _ in range(size // len(block)):
            packed += packer.compress(block)
            crc = zlib.crc32(block, crc)
        packed += packer.flush()
        total, name = size + len(header), b"x.npy"
        sizes = struct.pack("<HHHIIIHH", 8, 0, 0, crc, len(packed), total, len(name), 0)
        archive = b"PK\x03\x04\x14\0\0\0" + sizes + name + packed
        directory = b"PK\x01\x02\x14\0\x14\0\0\0" + sizes + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
        archive += directory + struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1, 1, len(directory),
                                           len(archive), 0)
        self.write("bomb.npz", archive)
        message = self.refusal(65, "learn", "rbm", "--data", "bomb.npz", "--out", "m.json")
        self.assertIn("unpacks to more than", message)


if __name__ == "__main__":
    saltus_cli.main()
