"""Little memory, few descriptors, no threads: the program ends with a documented status, never by a signal."""

import os

import materials
from concurrent_trials import SMALL_EBM
from process import Surroundings
from trial import Skipped

NOBODY = 65534
MB = 1 << 20
NOT_LOADED = 127  # the system could not load the program: not the program's doing


def commands(rng):
    """Commands of all kinds, of the size of a second at most."""
    return [
        ["sample", "--draws", 20000, "--out", "o." + rng.choice(["npz", "csv", "nc"]), "--json"],
        ["sample", "--draws", 2000, "--checkpoint", "c"],
        ["sample", "ising-100x100", "--chains", 8, "--warmup", 10, "--draws", 100, "--out", "o.npz", "--json"],
        ["sample", "ising-100x100", "--chains", 1000, "--warmup", 2, "--draws", 5, "--record", "moments", "--json"],
        ["sample", "--chains", 20000, "--warmup", 2, "--draws", 20, "--json"],
        ["sample", "--sampler", "auto", "--draws", 200, "--json"],
        ["sample", "poisson", "--set", "window=3", "--draws", 2000, "--threads", 16, "--json"],
        ["sample", "npz-rbm.json", "--sampler", "block_gibbs", "--draws", 3000, "--json"],
        ["learn", "rbm", "--data", "data.npz", "--hidden", 20, "--iterations", 100, "--out", "m.json", "--json"],
        ["learn", "rbm", "--data", "data.csv", "--hidden", 200000, "--iterations", 2, "--out", "m.json", "--json"],
        ["learn", "ising", "--data", "data.csv", "--iterations", 20, "--steps", 5, "--out", "m.json", "--threads", 8],
        ["logz", "lattice.json", "--betas", 200, "--threads", 8, "--json"],
        ["logz", "lattice.json", "--betas", 3, "--chains", 100000, "--set", "step_size=0.3", "--no-reverse", "--json"],
        ["verify", "ising-2x2"],
        ["compare", "bernoulli", "--budget", 0.02, "--out", "c.json", "--json"],
        ["report", "d.npz", "--out", "p.html"],
        ["report", "d.nc", "--out", "p.html"],
        ["diagnose", "d.csv", "--json"],
        ["reproduce", "theory", "--quick", "--json"],
        ["models"],
        ["learn", "ebm", "--dataset", "data.csv", "--out", "e", *SMALL_EBM, "--json"],
    ]


def memory(rng):
    """From 20 MB to 2 GB. Where the program needs more than there is depends on the command."""
    return int(20 * MB * 100 ** rng.random())


def limits(trial, command):
    """Limits for a trial, and the user for whom they hold."""
    rng, chosen, user = trial.rng, {}, None
    which = rng.choice(["memory", "memory", "descriptors", "threads", "both"])
    if "ebm" in command:  # libtorch itself aborts without memory, and waits for threads that cannot begin
        which = "descriptors"
    if which in ("memory", "both"):
        chosen["AS"] = memory(rng)
    if which in ("descriptors", "both"):
        chosen["NOFILE"] = rng.randrange(8, 65)
    if which == "threads":
        user = NOBODY if os.geteuid() == 0 else None  # a limit on processes does not hold for root
        chosen["NPROC"] = rng.randrange(1, 6)
    return chosen, user


def may_begin(trial, around):
    """Whether the program begins at all in these surroundings; a user may not be allowed to read it."""
    try:
        return trial.finish(trial.begin("--version", around=around)).status == 0
    except (PermissionError, OSError):
        return False


def play(trial):
    os.chmod(trial.folder, 0o777)
    materials.put(trial, "npz-rbm.json", "weights.npz", "data.csv", "data.npz", "lattice.json")
    command = trial.rng.choice(commands(trial.rng))
    if command[0] in ("report", "diagnose"):
        trial.good("sample", "--draws", 200, "--out", command[1], "--json")
    chosen, user = limits(trial, command)
    around = Surroundings(limits=chosen, user=user)
    if not may_begin(trial, around):
        raise Skipped()
    done = trial.finish(trial.begin(*command, around=around))
    if done.status == NOT_LOADED:
        raise Skipped()
    trial.check_documented(done)
