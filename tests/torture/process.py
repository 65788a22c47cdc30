"""Runs the program under test in unusual surroundings: limits, closed descriptors, a deadline, signals."""

import os
import resource
import shlex
import signal
import subprocess
import time

HANG = 60  # seconds after which a process counts as hanging
GRACE = 45  # seconds by which the processes of the last trial may pass the end


class Abandoned(Exception):
    """Ends a trial that the end of the time cut short. It counts neither as passed nor as failed."""


class Finished:
    """A process that has ended: `status` is the exit status, or -n after signal n."""

    def __init__(self, command, status, out, err):
        self.command, self.status, self.out, self.err = command, status, out, err

    def text(self):
        return self.err.decode(errors="backslashreplace")

    def __str__(self):
        out = self.out[:200].decode(errors="backslashreplace")
        return f"  {self.command}\n  status {self.status}\n  stdout: {out!r}\n  stderr: {self.text()[:1500]!r}"


class Surroundings:
    """What a child process meets. `limits` maps names of the module resource, without RLIMIT_, to numbers;
    `closed` lists descriptors; `ignored` lists signals."""

    def __init__(self, limits=None, closed=(), ignored=(), user=None, stdout=None, stderr=None, env=None):
        self.limits, self.closed, self.ignored, self.user = dict(limits or {}), closed, ignored, user
        if "SALTUS_SANITIZED" in os.environ:  # a sanitizer reserves more address space than any limit
            self.limits.pop("AS", None)
        self.stdout, self.stderr, self.env = stdout, stderr, env or {}

    def enter(self):
        """Runs in the child, before the program begins."""
        for number in self.ignored:
            signal.signal(number, signal.SIG_IGN)
        if self.user is not None:
            os.setgroups([])
            os.setgid(self.user)
            os.setuid(self.user)
        for name, value in self.limits.items():
            resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))
        for descriptor in self.closed:
            os.close(descriptor)

    def words(self):
        """The surroundings as a prefix of the command, for a message."""
        parts = [f"limit {name}={value}" for name, value in self.limits.items()]
        parts += [f"closed {d}" for d in self.closed] + [f"ignored {signal.Signals(n).name}" for n in self.ignored]
        parts += [f"{key}={value}" for key, value in self.env.items()]
        parts += [f"{name}: {where.name}" for name, where in (("stdout", self.stdout), ("stderr", self.stderr))
                  if hasattr(where, "name")]
        if self.user is not None:
            parts.append(f"user {self.user}")
        return f"[{', '.join(parts)}] " if parts else ""


class Runner:
    """Starts the program, keeps the deadline, and ends whatever is left."""

    def __init__(self, program, end, temporary):
        self.program, self.end, self.temporary = program, end, temporary
        self.alive = {}

    def environment(self, extra):
        env = {k: v for k, v in os.environ.items() if k not in ("SALTUS_LEVEL", "SALTUS_DATA")}
        return {**env, "TMPDIR": self.temporary, **extra}

    def begin(self, arguments, folder, around=None):
        """Starts the program without waiting for it."""
        around = around or Surroundings()
        words = [str(a) for a in arguments]
        process = subprocess.Popen(
            [self.program, *words], cwd=folder, env=self.environment(around.env), stdin=subprocess.DEVNULL,
            stdout=around.stdout if around.stdout is not None else subprocess.PIPE,
            stderr=around.stderr if around.stderr is not None else subprocess.PIPE, preexec_fn=around.enter)
        process.command = around.words() + shlex.join(["saltus", *words])
        self.alive[process.pid] = process
        return process

    def finish(self, process):
        """Waits; returns what became of it. None when it hangs."""
        allowed = min(HANG, self.end + GRACE - time.monotonic())
        try:
            out, err = process.communicate(timeout=max(allowed, 0.01))
        except subprocess.TimeoutExpired:
            self.stop(process)
            if allowed < HANG:
                raise Abandoned() from None
            return None
        del self.alive[process.pid]
        return Finished(process.command, process.returncode, out or b"", err or b"")

    def stop(self, process):
        """Kills one process of ours."""
        if process.poll() is None:
            process.kill()
        process.communicate()
        self.alive.pop(process.pid, None)

    def stop_all(self):
        for process in list(self.alive.values()):
            self.stop(process)
