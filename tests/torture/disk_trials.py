"""Full disks: a run that cannot write says so with status 73, and what it had saved continues to the right bits."""

import os
import shlex
import signal

import jobs
import materials
from kill_trials import after_kill
from process import Surroundings

PAGE = 4096


class FullPlace:
    """A folder with room for `room` bytes: a small file system, or a limit on the size of every file."""

    def __init__(self, trial, name, room):
        self.trial, self.name, self.room = trial, name, room
        os.makedirs(trial.path(name), exist_ok=True)
        size = (room // PAGE + 40) * PAGE
        self.mounted = trial.rng.random() < 0.7 and trial.mount_small(name, size)
        if self.mounted:
            self.fill(size - room)

    def fill(self, bytes):
        with open(self.trial.path(f"{self.name}/filler"), "wb") as file:
            file.write(b"x" * (bytes // PAGE * PAGE))

    def around(self, **options):
        limits = {} if self.mounted else {"FSIZE": self.room}
        return Surroundings(limits=limits, ignored=[signal.SIGXFSZ], **options)

    def make_room(self):
        if self.mounted:
            os.remove(self.trial.path(f"{self.name}/filler"))
            self.trial.enlarge(self.name)


def run_in(trial, place, arguments, **options):
    """Runs with too little room; the status is 0 where the room was enough, otherwise 73."""
    done = trial.run(*arguments, around=place.around(**options))
    trial.expect(done.status in (0, 73), "status 73 was expected", done)
    return done


def told_elsewhere(trial, done, out):
    """The arguments of the command in the message, with a name for FILE; None where it was not saved."""
    lines = [line.strip() for line in done.text().splitlines() if line.startswith("  ")]
    if not lines:
        return None
    words = [out if w in ("FILE", "FILE.json") else w for w in shlex.split(lines[-1])]
    trial.expect(words[0] == "saltus" and "--resume" in words, "the message does not say how to continue", done)
    return [*words[1:], "--json"]


def checkpoint_there(trial):
    """--checkpoint in the full place. With room again the run goes on, or begins anew."""
    job = jobs.any_job(trial.rng, trial.references.speed)
    trial.references.of(trial, job)
    materials.put(trial, *job.files)
    place = FullPlace(trial, "small", trial.rng.choice([0, PAGE, 40_000, 200_000, 600_000]))
    checkpoint = "small/c"
    done = run_in(trial, place, job.start(job.out, "--checkpoint", checkpoint, "--checkpoint-every", 0))
    if done.status != 0:
        place.make_room()
        done = trial.good(*after_kill(trial, job, checkpoint))
    jobs.check_result(trial, job, done)


def out_there(trial):
    """--out in the full place. The run is saved elsewhere, and the message's command writes the right bits."""
    rng = trial.rng
    job = jobs.learn_job(rng, trial.references.speed) if rng.random() < 0.3 else \
        jobs.sample_job(rng, trial.references.speed)
    trial.references.of(trial, job)
    materials.put(trial, *job.files)
    small_model = isinstance(job, jobs.Learn)
    place = FullPlace(trial, "small", rng.choice([0, 100] if small_model else [0, PAGE, 40_000, 100_000]))
    more = ["--checkpoint", "c"] if rng.random() < 0.3 else []
    out = f"small/{job.out}"
    done = run_in(trial, place, job.start(out, *more))
    if done.status == 0:
        return jobs.check_result(trial, job, done, out)
    trial.expect(not trial.exists(out), f"there is a part of {out}", done)
    command = told_elsewhere(trial, done, job.out)
    if place.mounted:
        trial.expect(command is not None, "the run was not saved, and there was room in the current folder", done)
    if command is not None:
        jobs.check_result(trial, job, trial.good(*command))


def temporary_there(trial):
    """The folder for temporary files is full."""
    job = jobs.sample_job(trial.rng, trial.references.speed)
    trial.references.of(trial, job)
    materials.put(trial, *job.files)
    place = FullPlace(trial, "small", trial.rng.choice([0, 40_000, 200_000, 600_000]))
    done = run_in(trial, place, job.start(job.out), env={"TMPDIR": trial.path("small")})
    if done.status == 0:
        return jobs.check_result(trial, job, done)
    command = told_elsewhere(trial, done, job.out)
    if command is not None:
        jobs.check_result(trial, job, trial.good(*command))


def stdout_there(trial):
    """Standard output goes to a file in the full place: status 74, and the draws are right all the same."""
    job = jobs.sample_job(trial.rng, trial.references.speed)
    trial.references.of(trial, job)
    materials.put(trial, *job.files)
    place = FullPlace(trial, "small", 0)
    if not place.mounted:
        return checkpoint_there(trial)
    with open(trial.path("small/stdout"), "wb") as out:
        done = trial.run(*job.start(job.out), around=place.around(stdout=out))
    trial.expect(done.status == 74, "status 74 was expected", done)
    jobs.check_result(trial, job, done)


def other_outputs(trial):
    """Pages, comparisons and experiments in the full place: status 73, and no part of a file."""
    rng = trial.rng
    trial.good("sample", "--draws", 300, "--out", "d.npz", "--json")
    place = FullPlace(trial, "small", rng.choice([0, 200]))
    command, out = rng.choice([
        (["report", "d.npz", "--out", "small/page.html"], "small/page.html"),
        (["compare", "bernoulli", "--budget", 0.02, "--samplers", "dmala,gibbs", "--out", "small/c.json"], "small/c.json"),
        (["compare", "bernoulli", "--budget", 0.02, "--samplers", "dmala,gibbs", "--out", "small/c.csv"], "small/c.csv"),
        (["reproduce", "theory", "--quick", "--out", "small/r"], "small/r/results.json")])
    done = run_in(trial, place, command)
    trial.expect((done.status == 0) == trial.exists(out), f"status {done.status}, but {out} says otherwise", done)


def temporary_missing(trial):
    """The folder for temporary files is not there: the run does without, or says so."""
    job = jobs.sample_job(trial.rng, trial.references.speed)
    trial.references.of(trial, job)
    materials.put(trial, *job.files)
    more = ["--checkpoint", "c"] if trial.rng.random() < 0.5 else []
    done = trial.run(*job.start(job.out, *more), around=Surroundings(env={"TMPDIR": trial.path("nowhere")}))
    trial.expect(done.status in (0, 73), "status 73 was expected", done)
    if done.status == 0:
        jobs.check_result(trial, job, done)


def play(trial):
    part = trial.rng.random()
    if part < 0.05:
        return temporary_missing(trial)
    if part < 0.3:
        checkpoint_there(trial)
    elif part < 0.55:
        out_there(trial)
    elif part < 0.75:
        temporary_there(trial)
    elif part < 0.85:
        stdout_there(trial)
    else:
        other_outputs(trial)
