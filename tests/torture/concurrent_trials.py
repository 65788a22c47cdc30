"""Several runs in one folder at the same time never mix, and none is lost."""

import json
import signal

import jobs
import materials
from kill_trials import told_command

USED = "another run is using"
THERE = "is there already"


def together(trial, commands):
    """Starts all, waits for all."""
    processes = [trial.begin(*command) for command in commands]
    return [trial.finish(p) for p in processes]


def check_one_ran(trial, ended, also=()):
    """Exactly one run is complete; the others were refused in words that say why."""
    for done in ended:
        trial.check_documented(done)
        if done.status != 0:
            words = [USED, *also]
            fits = done.status in (64, 73) and any(w in done.text() for w in words)
            trial.expect(fits, f"a refusal with one of {words} was expected", done)
            trial.expect(done.status == 73 or USED not in done.text(), "status 73 was expected", done)
    complete = [done for done in ended if done.status == 0]
    trial.expect(len(complete) >= 1, "none of the runs is complete", ended[0])
    return complete


def one_checkpoint(trial):
    job = jobs.any_job(trial.rng, trial.references.speed)
    materials.put(trial, *job.files)
    trial.references.of(trial, job)
    command = job.start(job.out, "--checkpoint", "c", "--checkpoint-every", 0)
    complete = check_one_ran(trial, together(trial, [command] * trial.rng.randrange(2, 9)), also=[THERE])
    trial.expect(len(complete) == 1, "two runs with the same checkpoint are complete", complete[-1])
    jobs.check_result(trial, job, complete[0])
    trial.expect(not trial.exists("c.lock"), "the lock is left behind")


def two_resumes(trial):
    job = jobs.any_job(trial.rng, trial.references.speed)
    materials.put(trial, *job.files)
    trial.references.of(trial, job)
    trial.good(*job.start(job.out, "--checkpoint", "c", "--time", 0.01))
    command = job.resume("c", "--checkpoint-every", 0)
    complete = check_one_ran(trial, together(trial, [command] * trial.rng.randrange(2, 5)))
    for done in complete:  # a second one that began after the first one's end gives the result again
        jobs.check_result(trial, job, done)
    jobs.check_result(trial, job, trial.good(*command))


def ended_together(trial):
    """Runs without a checkpoint, all ended by SIGTERM: each is saved under a name of its own."""
    job = jobs.sample_job(trial.rng, trial.references.speed)
    materials.put(trial, *job.files)
    _, seconds = trial.references.of(trial, job)
    count = trial.rng.randrange(2, 9)
    outs = [f"{k}-{job.out}" for k in range(count)]
    processes = [trial.begin(*job.start(out)) for out in outs]
    wait = trial.rng.uniform(0.1, 0.9) * seconds
    ended = [trial.interrupt(p, signal.SIGTERM, wait if p is processes[0] else 0.001) for p in processes]
    names = set()
    for out, done in zip(outs, ended):
        trial.expect(done.status in (0, 143, -signal.SIGTERM), "status 143 was expected", done)
        if done.status == 143:
            command = told_command(trial, done, job)
            names.add(command[command.index("--resume") + 1])
            jobs.check_result(trial, job, trial.good(*command), out)
        elif done.status == 0:
            jobs.check_result(trial, job, done, out)
    saved = sum(done.status == 143 for done in ended)
    trial.expect(len(names) == saved, f"{saved} runs were saved under the names {names}")


def same_out(trial):
    """Runs with different seeds and one --out: the file is one of the whole ones."""
    speed, format = trial.references.speed, trial.rng.choice(["npz", "csv"])
    count = trial.rng.randrange(2, 6)
    all = [jobs.Sample("ising-lattice", jobs.FIXED, max(50, int(8000 * speed)), seed, format) for seed in range(1, 1 + count)]
    wanted = [trial.references.of(trial, job)[0] for job in all]
    for done in together(trial, [job.start("out." + format) for job in all]):
        trial.check_documented(done)
        trial.expect(done.status == 0, "status 0 was expected", done)
    trial.expect(trial.read("out." + format) in wanted, "the file is none of the whole ones")


def one_folder(trial):
    """Two experiments in one folder: one at a time."""
    command = ["reproduce", "theory", "--quick", "--out", "r"]
    check_one_ran(trial, together(trial, [command] * trial.rng.randrange(2, 4)))
    json.loads(trial.read("r/results.json"))


SMALL_EBM = ["--channels", 4, "--blocks", 2, "--batch", 20, "--buffer", 100, "--steps", 5, "--lr-warmup", 20,
             "--validate-every", 0, "--iterations", 20]


def learn_ebm(trial):
    """Two learnings of a deep energy in one folder: one at a time. It needs libtorch."""
    materials.put(trial, "data.csv")
    command = ["learn", "ebm", "--dataset", "data.csv", "--out", "e", *SMALL_EBM, "--json"]
    ended = together(trial, [command] * 2)
    if not trial.exists("e") and all(done.status == 64 for done in ended):
        return  # built without libtorch
    complete = check_one_ran(trial, ended, also=["holds an earlier learning"])
    trial.expect(len(complete) == 1, "both learnings are complete", complete[-1])


def play(trial):
    part = trial.rng.random()
    for limit, playing in ((0.3, one_checkpoint), (0.5, two_resumes), (0.75, ended_together), (0.87, same_out),
                           (0.97, one_folder), (1, learn_ebm)):
        if part < limit:
            return playing(trial)
