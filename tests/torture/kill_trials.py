"""Runs that are killed or stopped by a signal at random moments continue to the bits of an undisturbed run."""

import os
import re
import shlex
import signal

import jobs
import materials
from process import Surroundings

STOPPING = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


def told_command(trial, done, job):
    """The arguments of the command that the message says continues the run."""
    lines = [line.strip() for line in done.text().splitlines() if line.startswith("  ")]
    trial.expect(len(lines) == 1, "the message does not say how to continue", done)
    words = shlex.split(lines[0])
    if isinstance(job, jobs.Logz):
        trial.expect(words[0] == "--resume", "the message does not say how to continue", done)
        return [*job.arguments, *words, "--json"]
    trial.expect(words[0] == "saltus" and "--resume" in words, "the message does not say how to continue", done)
    return [*words[1:], "--json"]


def after_kill(trial, job, checkpoint):
    """The arguments with which a run goes on that SIGKILL, or a signal at an unlucky moment, ended."""
    every = ["--checkpoint-every", 0]
    if checkpoint and trial.exists(checkpoint):
        return job.resume(checkpoint, *every)
    more = ["--checkpoint", checkpoint, *every] if checkpoint else []
    if checkpoint and trial.exists(checkpoint + ".draws"):
        more.append("--overwrite")
    return job.start(job.out, *more)


def check_stopped(trial, done, job, number):
    trial.check_text(done)
    trial.expect("Stopped" in done.text(), "the message does not say that the run was stopped", done)
    return told_command(trial, done, job)


def check_left(trial, checkpoint):
    """Locks are gone, and what killed saves left of the checkpoint is gone."""
    names = os.listdir(trial.folder)
    left = [n for n in names if n.endswith(".lock")]
    if checkpoint:
        left += [n for n in names if re.fullmatch(rf"\.{re.escape(checkpoint)}\.[0-9a-f]{{16}}\.tmp", n)]
    trial.expect(not left, f"left behind: {left}")


def kill(trial):
    rng = trial.rng
    job = jobs.any_job(rng, trial.references.speed)
    _, seconds = trial.references.of(trial, job)
    materials.put(trial, *job.files)
    signals = rng.choice([[signal.SIGKILL], [signal.SIGKILL, *STOPPING], STOPPING])
    named = signal.SIGKILL in signals or job.checkpointed_alone or rng.random() < 0.5
    checkpoint = rng.choice(["c", "my run's save"]) if named else None
    command, done = after_kill(trial, job, checkpoint), None
    for _ in range(rng.randrange(1, 5)):
        number = rng.choice(signals)
        done = trial.interrupt(trial.begin(*command), number, rng.uniform(0.0, 0.8) * seconds)
        if done.status == 0:
            break
        if done.status == 128 + number:
            command = check_stopped(trial, done, job, number)
        else:
            trial.expect(done.status == -number, "neither stopped nor complete", done)
            told = [a for a in command if "--resume" in command and str(a).endswith(".checkpoint")]
            command = after_kill(trial, job, checkpoint or (told[0] if told else None))
    if done.status != 0:
        done = trial.good(*command)
    jobs.check_result(trial, job, done)
    check_left(trial, checkpoint)
    if job.format == "nc" and checkpoint:  # all bits, which the diagnosis of a .nc file does not show
        again = trial.good("sample", "--resume", checkpoint, "--out", "again.npz", "--json")
        jobs.check_result(trial, job.as_npz(), again, "again.npz")


def hangup_ignored(trial):
    """A run under nohup is not stopped by SIGHUP."""
    job = jobs.sample_job(trial.rng, trial.references.speed)
    _, seconds = trial.references.of(trial, job)
    materials.put(trial, *job.files)
    process = trial.begin(*job.start(job.out), around=Surroundings(ignored=[signal.SIGHUP]))
    done = trial.interrupt(process, signal.SIGHUP, trial.rng.uniform(0, 0.7) * seconds)
    trial.expect(done.status == 0, "an ignored SIGHUP stopped the run", done)
    jobs.check_result(trial, job, done)


def experiment(trial):
    """An experiment that was ended leaves nothing that keeps the next one from its results."""
    number = trial.rng.choice([signal.SIGKILL, *STOPPING])
    command = ["reproduce", "theory", "--quick"]
    done = trial.interrupt(trial.begin(*command), number, trial.rng.uniform(0, 0.2))
    trial.expect(done.status in (0, -number, 128 + number), "neither stopped nor complete", done)
    if done.status == 128 + number:
        trial.expect(os.listdir(trial.folder) == [], "a stopped experiment left something", done)
    trial.good(*command)
    trial.expect(trial.exists("reproduce-theory/results.json"), "there are no results")
    trial.expect(not trial.exists("reproduce-theory/results.json.lock"), "the lock is left behind")


EBM = ["--channels", 4, "--blocks", 2, "--batch", 20, "--buffer", 100, "--steps", 5, "--lr-warmup", 20,
       "--validate-every", 0, "--iterations", 60, "--json"]


def ebm(trial):
    """A deep energy that was stopped while it learned comes to the same weights. It needs libtorch."""
    materials.put(trial, "data.csv")
    begin = ["learn", "ebm", "--dataset", "data.csv", "--checkpoint-every", 0, *EBM]
    if trial.run(*begin, "--out", "whole").status == 64:
        return  # built without libtorch
    number = trial.rng.choice([signal.SIGKILL, signal.SIGTERM])
    done = trial.interrupt(trial.begin(*begin, "--out", "e"), number, trial.rng.uniform(0.2, 3))
    trial.expect(done.status in (0, -number, 128 + number), "neither stopped nor complete", done)
    saved = trial.exists("e/checkpoint")
    trial.good(*(["learn", "ebm", "--resume", "--out", "e", "--json"] if saved else [*begin, "--out", "e"]))
    trial.expect(trial.read("e/last.weights.npz") == trial.read("whole/last.weights.npz"), "the weights differ", done)


def play(trial):
    part = trial.rng.random()
    for limit, playing in ((0.05, hangup_ignored), (0.12, experiment), (0.14, ebm), (1, kill)):
        if part < limit:
            return playing(trial)
