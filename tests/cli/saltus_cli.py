"""What the tests of the command line share: running saltus, temporary folders, reading its files.

Each test is a script, `python3 NAME_test.py /path/to/saltus`, that needs the standard library alone.
"""

import array
import functools
import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

# Generous: a test that hangs fails, a slow machine or an instrumented build does not.
TIMEOUT = 600 if "SALTUS_SANITIZED" in os.environ else 120

program = None  # the saltus under test, set by main()


def main():
    """Takes the program's path from the arguments and runs the tests of the calling script."""
    global program
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit(f"usage: {sys.argv[0]} /path/to/saltus [unittest options]")
    program = os.path.abspath(sys.argv.pop(1))
    unittest.main()


def environment(**extra):
    env = {k: v for k, v in os.environ.items() if k != "SALTUS_LEVEL"}
    env["XDG_CACHE_HOME"] = os.devnull  # no test keeps anything in the user's cache
    env.update(extra)
    return env


def with_defaults(defaults, arguments):
    """The arguments, after those of the defaults (a dict of options) that they do not give."""
    given = [part for option, value in defaults.items() if option not in arguments for part in (option, value)]
    return [*given, *arguments]


def says(complaint, *arguments):
    """Whether the program's message to these arguments has the complaint."""
    return complaint in subprocess.run([program, *arguments], capture_output=True).stderr.decode(errors="replace")


@functools.cache
def has_netcdf():
    return not says("without netCDF", "diagnose", "no-such-file.nc")


@functools.cache
def has_pages():
    return not says("without pages", "report", "no-such-file.npz")


class Finished:
    def __init__(self, arguments, status, out, err):
        self.arguments, self.status, self.out, self.err = arguments, status, out, err

    def __str__(self):
        return (f"saltus {' '.join(map(str, self.arguments))}\nexit status {self.status}\n"
                f"stdout: {self.out[:2000]}\nstderr: {self.err[:2000].encode(errors='backslashreplace').decode()}")


def refuse_constant(text):
    raise ValueError(f"the JSON holds {text}")


def strict_json(text):
    """Parses JSON that holds no NaN, no Infinity and no key twice."""
    def once(pairs):
        keys = [k for k, _ in pairs]
        if len(set(keys)) != len(keys):
            raise ValueError(f"a key comes twice in {keys}")
        return dict(pairs)
    return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=once)


class CliTest(unittest.TestCase):
    """A test with a temporary folder, `self.folder`, in which the program runs."""

    maxDiff = 2000

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="saltus-cli-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        if not isinstance(content, (str, bytes)):
            content = json.dumps(content)
        with open(self.path(name), "wb" if isinstance(content, bytes) else "w") as file:
            file.write(content)
        return name

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def unasked_checkpoint(self):
        """The name under which a run was saved without being told to."""
        names = [n for n in self.files() if re.fullmatch(r"saltus-[0-9a-f]{8}\.checkpoint", n)]
        self.assertEqual(len(names), 1, self.files())
        return names[0]

    def needs_pages(self):
        if not has_pages():
            self.skipTest("saltus was built without pages")

    def needs_netcdf(self):
        if not has_netcdf():
            self.skipTest("saltus was built without netCDF")

    def files(self):
        return sorted(os.listdir(self.folder))

    def saltus(self, *arguments, env=None, cwd=None):
        """Runs to the end; returns status, stdout and stderr."""
        done = subprocess.run([program, *map(str, arguments)], cwd=cwd or self.folder, env=environment(**(env or {})),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)
        return Finished(arguments, done.returncode, done.stdout.decode(), done.stderr.decode(errors="surrogateescape"))

    def good(self, *arguments, **kw):
        """Runs and insists on exit status 0."""
        done = self.saltus(*arguments, **kw)
        self.assertEqual(done.status, 0, str(done))
        return done

    def refusal(self, status, *arguments, **kw):
        """Runs and insists on this exit status, nothing on stdout and no change of files; returns the one line on
        stderr."""
        before = self.files()
        done = self.saltus(*arguments, **kw)
        self.assertEqual(done.status, status, str(done))
        self.assertEqual(done.out, "", str(done))
        self.assertTrue(done.err.startswith("saltus: "), str(done))
        self.assertEqual(len(done.err.splitlines()), 1, str(done))
        self.assertEqual(self.files(), before)
        return done.err

    def summary(self, *arguments, **kw):
        """The JSON of `saltus sample ... --json`."""
        return strict_json(self.good("sample", *arguments, "--json", **kw).out)

    def begin(self, *arguments):
        """Starts a run without waiting for it."""
        process = subprocess.Popen([program, *map(str, arguments)], cwd=self.folder, env=environment(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self._end, process)
        return process

    def leaves_nothing_when_interrupted(self, *arguments):
        process = self.begin(*arguments)
        end = time.monotonic() + 20
        while not self.files() and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
        self.assertEqual(out, b"")
        self.assertEqual(self.files(), [])

    @staticmethod
    def _end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()


# ---- Files of draws

class Array:
    """One array of an .npz file."""

    ITEM = {"|u1": "B", "<u2": "H", "<u4": "I", "<u8": "Q", "<i8": "q", "<f4": "f", "<f8": "d"}

    def __init__(self, dtype, shape, data):
        self.dtype, self.shape, self.data = dtype, shape, data

    def items(self):
        values = array.array(self.ITEM[self.dtype])
        values.frombytes(self.data)
        if sys.byteorder != "little":
            values.byteswap()
        return values

    def rows(self, first, last):
        """The bytes of rows first..last-1 along the first axis."""
        row = len(self.data) // self.shape[0]
        return self.data[first * row:last * row]

    def __eq__(self, other):
        return (self.dtype, self.shape, self.data) == (other.dtype, other.shape, other.data)


def read_npy(content):
    if content[:6] != b"\x93NUMPY":
        raise ValueError("not an npy array")
    size_format, start = ("<H", 10) if content[6] == 1 else ("<I", 12)
    length, = struct.unpack_from(size_format, content, 8)
    header = eval(content[start:start + length].decode("latin-1"), {"__builtins__": {}}, {})
    if header["fortran_order"]:
        raise ValueError("an array in Fortran order")
    data = content[start + length:]
    items = math.prod(header["shape"])
    if len(data) != items * int(header["descr"][2:]):
        raise ValueError(f"{len(data)} bytes do not fit {header}")
    return Array(header["descr"], tuple(header["shape"]), data)


def read_npz(path):
    with zipfile.ZipFile(path) as file:
        damaged = file.testzip()
        if damaged:
            raise ValueError(f"{path}: {damaged} is damaged")
        return {name.removesuffix(".npy"): read_npy(file.read(name)) for name in file.namelist()}


def read_draws(path):
    """All but the warnings of the run, which the parts of a run do not know."""
    arrays = read_npz(path)
    arrays.pop("warnings", None)
    return arrays


def chain_means(x, value=float):
    """The mean over draws and coordinates of each chain's values; value(index) for two levels."""
    if x.dtype != "|u1":
        raise ValueError(x.dtype)
    n = x.shape[1] * x.shape[2]
    means = []
    for c in range(x.shape[0]):
        ones = x.rows(c, c + 1).count(1)
        means.append(value(0) + (value(1) - value(0)) * ones / n)
    return means


def mean_and_error(values):
    """Mean of independent values and its standard error."""
    n = len(values)
    mean = math.fsum(values) / n
    variance = math.fsum((v - mean) ** 2 for v in values) / (n - 1)
    return mean, math.sqrt(variance / n)


# ---- Models

def sparse_ising(n=60):
    """A ring with chords and fields: sparse, irregular, the same every time."""
    couplings = [[i, (i + 1) % n, 0.3 - 0.1 * (i % 5)] for i in range(n)]
    couplings += [[i, (i + 7) % n, 0.05 * (i % 3 - 1)] for i in range(0, n, 2)]
    return {"model": "ising", "n": n, "couplings": couplings, "fields": [0.02 * (i % 7 - 3) for i in range(n)]}


def lattice(rows, cols, a=0.1, b=0.2):
    return {"model": "ising-lattice", "shape": [rows, cols], "periodic": True, "a": a, "b": b}
