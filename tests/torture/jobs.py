"""Runs with a known result: the same command, never disturbed, says what a disturbed one must come to."""

import copy
import json
import math
import os
import shutil
import tempfile

import materials
from trial import Failure

# What depends on the clock or the machine rather than on the draws.
OF_THE_CLOCK = {"seconds", "steps_per_second", "peak_memory_bytes", "evaluations", "sampling_seconds", "update_seconds"}


def timeless(text):
    """The JSON of a summary without what depends on the clock."""
    return json.dumps({k: v for k, v in json.loads(text).items() if k not in OF_THE_CLOCK}, sort_keys=True).encode()


class Job:
    """`files` are written first. `result(trial, name)` is what must be equal, as bytes."""

    files = ()
    checkpointed_alone = False  # it is saved only with --checkpoint

    def key(self):
        return repr((type(self).__name__, self.arguments, getattr(self, "format", None)))

    def start(self, out, *more):
        return [*self.arguments, *self.out_option(out), *more, "--json"]

    def resume(self, checkpoint, *more):
        return [*self.verbs, "--resume", checkpoint, *more, "--json"]

    def out_option(self, out):
        return ["--out", out]


class Sample(Job):
    verbs = ["sample"]

    def __init__(self, model, options, draws, seed, format, files=()):
        self.format, self.files = format, files
        self.arguments = ["sample", model, *options, "--draws", draws, "--seed", seed]
        self.out = "out." + format

    def as_npz(self):
        """The same draws in another file."""
        twin = copy.copy(self)
        twin.format, twin.out = "npz", "out.npz"
        return twin

    def result(self, trial, done, name):
        if self.format != "nc":
            return trial.read(name)
        # The attributes of a .nc file hold the time and the command.
        return timeless(trial.good("diagnose", name, "--json").out)


class Moments(Job):
    """A run that keeps no draws: its summary is the result."""
    verbs = ["sample"]
    format, out = "json", ""

    def __init__(self, model, options, draws, seed):
        self.arguments = ["sample", model, *options, "--draws", draws, "--seed", seed, "--record", "moments"]

    def out_option(self, out):
        return []

    def result(self, trial, done, name):
        return timeless(done.out)


class Learn(Job):
    format, out = "json", "out.json"

    def __init__(self, kind, options, iterations, seed):
        self.verbs = ["learn", kind]
        self.files = ("data.csv",)
        self.arguments = ["learn", kind, "--data", "data.csv", *options, "--iterations", iterations, "--seed", seed]

    def result(self, trial, done, name):
        return trial.read(name)


class Logz(Job):
    format, out = "json", ""
    files = ("lattice.json",)
    verbs = ["logz"]
    checkpointed_alone = True

    def __init__(self, betas, seed):
        self.arguments = ["logz", "lattice.json", "--betas", betas, "--chains", 20, "--seed", seed]

    def out_option(self, out):
        return []

    def resume(self, checkpoint, *more):
        return [*self.arguments, "--resume", checkpoint, *more, "--json"]

    def result(self, trial, done, name):
        return timeless(done.out)


FIXED = ["--chains", 2, "--set", "step_size=0.4", "--warmup", 100, "--thin", 20]


def sample_job(rng, speed, formats=("npz", "csv", "nc")):
    """A run of `saltus sample` that takes about half a second."""
    choices = [
        ("ising-lattice", FIXED, 20000, ()),
        ("ising-lattice", ["--chains", 3, "--warmup", 60000, "--thin", 10], 20000, ()),
        ("bernoulli", ["--sampler", "dula", "--set", "step_size=0.3", "--chains", 3, "--thin", 30], 20000, ()),
        ("potts", ["--sampler", "gibbs", "--chains", 2, "--thin", 30, "--tile", 1], 20000, ()),
        ("poisson", ["--set", "window=2", "--chains", 2, "--thin", 20], 12000, ()),
        ("npz-rbm.json", ["--chains", 2, "--thin", 15], 10000, ("npz-rbm.json", "weights.npz")),
        ("safetensors-rbm.json", ["--sampler", "block_gibbs", "--chains", 2, "--thin", 10], 10000,
         ("safetensors-rbm.json", "weights.safetensors")),
        ("ising.json", ["--sampler", "gwg", "--chains", 2, "--thin", 10], 10000, ("ising.json",)),
    ]
    model, options, draws, files = rng.choice(choices)
    return Sample(model, options, max(50, int(draws * speed)), rng.randrange(1, 3), rng.choice(formats), files)


def learn_job(rng, speed):
    kind, options, iterations = rng.choice([
        ("rbm", ["--hidden", 8], 3000), ("rbm", ["--hidden", 6, "--pcd", 50, "--steps", 3], 3000),
        ("ising", ["--steps", 10, "--set", "step_size=0.3", "--pcd", 64], 500)])
    return Learn(kind, options, max(20, int(iterations * speed)), rng.randrange(1, 3))


def any_job(rng, speed):
    which = rng.random()
    if which < 0.6:
        return sample_job(rng, speed)
    if which < 0.7:
        return Moments("ising-lattice", ["--chains", 2, "--warmup", 20000], max(1000, int(400000 * speed)), 1)
    if which < 0.85:
        return learn_job(rng, speed)
    return Logz(max(20, int(12000 * speed)), rng.randrange(1, 3))


class References:
    """Results of runs that nothing disturbed, each computed once, with the seconds they took."""

    def __init__(self, root, speed):
        self.root, self.speed, self.known = root, speed, {}

    def of(self, trial, job):
        if job.key() not in self.known:
            self.known[job.key()] = self.compute(trial, job)
        return self.known[job.key()]

    def compute(self, trial, job):
        home, trial.folder = trial.folder, tempfile.mkdtemp(prefix="reference-", dir=self.root)
        try:
            materials.put(trial, *job.files)
            begin = trial.deadline(0)
            done = trial.good(*job.start(job.out))
            seconds = trial.deadline(0) - begin
            return job.result(trial, done, job.out), seconds
        finally:
            shutil.rmtree(trial.folder, ignore_errors=True)
            trial.folder = home


def measured_speed(trial):
    """How fast the machine is beside the one that the sizes of the jobs were chosen on, as a power of two."""
    summary = json.loads(trial.good("sample", *FIXED, "--draws", 5000, "--json").out)
    rate = summary.get("steps_per_second") or 1e6
    return min(1.0, 2.0 ** round(math.log2(rate / 2.5e6)))


def check_result(trial, job, done, out=None):
    """The run has come to the result of the undisturbed one."""
    wanted, _ = trial.references.of(trial, job)
    name = job.out if out is None else out
    if name and not os.path.exists(trial.path(name)):
        raise Failure(f"status 0, but there is no {name}\n{done}")
    trial.expect(job.result(trial, done, name) == wanted, "the result differs from that of an undisturbed run", done)
