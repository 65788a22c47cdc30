"""One trial: a temporary folder, random choices from a seed, the processes it starts, and what it insists on."""

import os
import random
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time

REFUSED = {64, 65, 66, 71, 73, 74}  # statuses that a message on standard error explains
# Controls (C0 except the line end, DEL, C1), bidirectional marks, line and paragraph separators.
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Failure(Exception):
    """What the program did wrong."""


class Skipped(Exception):
    """The machine does not allow this trial."""


class Counts:
    """How the runs of the program ended, for one kind of trial."""

    def __init__(self):
        self.trials = self.refused = self.completed = self.resumed = self.failed = self.skipped = 0
        self.seconds = 0.0


class Trial:
    def __init__(self, runner, root, references, seed, counts):
        self.runner, self.references, self.seed, self.counts = runner, references, seed, counts
        self.rng = random.Random(seed)
        self.folder = tempfile.mkdtemp(prefix="trial-", dir=root)
        self.mounts = []
        self.begun = []
        self.last = None

    def close(self):
        for process in self.begun:
            if process.pid in self.runner.alive:
                self.runner.stop(process)
        for place in reversed(self.mounts):
            subprocess.run(["umount", "-l", place], capture_output=True, timeout=20)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- Files

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return name

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def exists(self, name):
        return os.path.lexists(self.path(name))

    def mount_small(self, name, size):
        """A file system of `size` bytes in the folder `name`; false where mounting is not allowed."""
        if os.geteuid() != 0 or not shutil.which("mount"):
            return False
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", self.path(name)],
                              capture_output=True, timeout=20)
        if done.returncode == 0:
            self.mounts.append(self.path(name))
        return done.returncode == 0

    def enlarge(self, name):
        """Gives a small file system room."""
        subprocess.run(["mount", "-o", "remount,size=200m", self.path(name)], capture_output=True, timeout=20)

    # ---- Processes

    def begin(self, *arguments, around=None, folder=None):
        process = self.runner.begin(arguments, folder or self.folder, around)
        self.begun.append(process)
        self.last = process.command
        return process

    def finish(self, process):
        done = self.runner.finish(process)
        self.last = process.command
        if done is None:
            raise Failure(f"hangs:\n  {process.command}")
        self.count(done)
        return done

    def run(self, *arguments, around=None, folder=None):
        """Runs to the end; insists on a documented status, and on words where it is a refusal."""
        process = self.begin(*arguments, around=around, folder=folder)
        done = self.finish(process)
        self.check_documented(done, silent=around is not None and (2 in around.closed or around.stderr is not None))
        return done

    def good(self, *arguments, **options):
        done = self.run(*arguments, **options)
        self.expect(done.status == 0, "status 0 was expected", done)
        return done

    def interrupt(self, process, number, seconds):
        """Sends a signal after some time, unless the process ended before."""
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        done = self.finish(process)
        if done.status not in (-number, 128 + number):
            self.check_documented(done)
        return done

    def count(self, done):
        if done.status in REFUSED:
            self.counts.refused += 1
        elif done.status == 0:
            self.counts.completed += 1
            self.counts.resumed += "--resume" in done.command

    # ---- What is insisted on

    def expect(self, good, words, done=None):
        if not good:
            raise Failure(words + (f"\n{done}" if done is not None else ""))

    def check_documented(self, done, silent=False):
        """An exit status from the list, never a signal or an internal error; a refusal says why."""
        if done.status < 0:
            raise Failure(f"ended by {signal.Signals(-done.status).name}\n{done}")
        self.expect(done.status in REFUSED or done.status in (0, 1), "the status is not documented", done)
        self.check_text(done)
        if done.status in REFUSED and not silent:
            lines = done.text().splitlines()
            said = [line for line in lines if not line.startswith("  ")]
            saved = len(said) == 2 and re.match("The (run|last save) is|What was learned is", said[1])
            self.expect(said and said[0].startswith("saltus: ") and (len(said) == 1 or saved),
                        "the refusal is not one line that begins with 'saltus: '", done)

    def check_text(self, done):
        for name, data in ("stdout", done.out), ("stderr", done.err):
            try:
                found = STEERING.search(data.decode())
            except UnicodeDecodeError as e:
                raise Failure(f"{name} is not valid UTF-8: {e}\n{done}") from None
            self.expect(found is None, f"{name} holds {found and ascii(found.group())}", done)

    def deadline(self, seconds):
        """A moment of time, for loops that wait."""
        return time.monotonic() + seconds


def kind_of(path):
    """What a file is and holds, to see whether it changed."""
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        return "link", os.readlink(path)
    if not stat.S_ISREG(status.st_mode):
        return "special", stat.S_IFMT(status.st_mode), status.st_rdev
    with open(path, "rb") as file:
        return "file", stat.S_IMODE(status.st_mode), file.read()


def snapshot(folder):
    """All that is in a folder and the folders below it."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = os.path.join(place, name)
            found[os.path.relpath(path, folder)] = kind_of(path)
    return found
