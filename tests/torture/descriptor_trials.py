"""Standard streams that are closed, full or broken never reach a file of draws and never abort a run."""

import os
import signal

import jobs
import materials
from process import Surroundings

# What a standard stream leads to, besides the usual pipe.
PLACES = ["usual", "closed", "full", "gone"]


def stream(which):
    """An open file for a place, or None; a pipe is one whose reader has gone."""
    if which == "full":
        return open("/dev/full", "wb", buffering=0)
    if which == "gone":
        reader, writer = os.pipe()
        os.close(reader)
        return os.fdopen(writer, "wb", buffering=0)
    return None


def surroundings(rng, out, err):
    closed = [d for d, which in ((1, out), (2, err)) if which == "closed"]
    if rng.random() < 0.4:
        closed.append(0)
    ignored = [signal.SIGPIPE] if rng.random() < 0.5 else []
    return Surroundings(closed=closed, ignored=ignored, stdout=stream(out), stderr=stream(err))


def check_status(trial, done, out, around):
    """74 where standard output cannot be written."""
    trial.expect(done.status >= 0, "ended by a signal", done)
    wanted = {"full": (74,), "gone": (74,), "closed": (0, 74)}.get(out, (0,))
    trial.expect(done.status in wanted, f"a status of {wanted} was expected", done)


def play(trial):
    rng = trial.rng
    out, err = rng.choice(PLACES), rng.choice(PLACES)
    job = rng.choice([jobs.sample_job, jobs.sample_job, jobs.learn_job])(rng, trial.references.speed)
    trial.references.of(trial, job)
    materials.put(trial, *job.files)
    around = surroundings(rng, out, err)
    more = ["--checkpoint", "c"] if rng.random() < 0.5 else []
    command = job.start(job.out, *more)
    if rng.random() < 0.5 and isinstance(job, jobs.Learn):
        command.remove("--json")
    done = trial.finish(trial.begin(*command, around=around))
    for place in around.stdout, around.stderr:
        if place is not None:
            place.close()
    check_status(trial, done, out, around)
    trial.check_text(done)
    jobs.check_result(trial, job, done)
    if more:
        again = trial.good(*job.resume("c", "--out", "again." + job.format))
        jobs.check_result(trial, job, again, "again." + job.format)
