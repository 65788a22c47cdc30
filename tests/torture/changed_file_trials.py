"""A file that a saved run depends on and that has changed since is refused by name."""

import os

import jobs
import materials

MAKERS = {"weights.npz": materials.weights_npz, "weights.safetensors": materials.weights_safetensors}


def resume_after(trial, job, name, content):
    """The run that goes on after a file got other content."""
    trial.write(name, content)
    return trial.run(*job.resume("c"))


def changed_weights(trial):
    rng = trial.rng
    name = rng.choice(sorted(MAKERS))
    model = name.removeprefix("weights.") + "-rbm.json"
    job = jobs.Sample(model, ["--chains", 2, "--thin", 5], 4000, 1, rng.choice(["npz", "csv"]), (model, name))
    materials.put(trial, *job.files)
    trial.references.of(trial, job)
    trial.good(*job.start(job.out, "--checkpoint", "c", "--time", 0.001))
    before = trial.read("c")
    done = resume_after(trial, job, name, MAKERS[name](rng.randrange(2, 1000)))
    trial.expect(done.status == 65 and name in done.text(), "a refusal by name with status 65 was expected", done)
    trial.expect(trial.read("c") == before, "the refusal changed the checkpoint", done)
    os.remove(trial.path(name))
    done = trial.run(*job.resume("c"))
    trial.expect(done.status in (65, 66) and name in done.text(), "a refusal by name was expected", done)
    jobs.check_result(trial, job, resume_after(trial, job, name, MAKERS[name](1)))


def changed_data(trial):
    job = jobs.learn_job(trial.rng, trial.references.speed)
    materials.put(trial, *job.files)
    trial.references.of(trial, job)
    trial.good(*job.start(job.out, "--checkpoint", "c", "--time", 0.001))
    done = resume_after(trial, job, "data.csv", materials.data_csv(seed=trial.rng.randrange(6, 1000)))
    trial.expect(done.status == 65 and "data.csv" in done.text(), "a refusal by name with status 65 was expected", done)
    jobs.check_result(trial, job, resume_after(trial, job, "data.csv", materials.data_csv()))


def changed_estimate(trial):
    """An estimate of log Z whose weights changed is not continued."""
    materials.put(trial, "npz-rbm.json", "weights.npz")
    command = ["logz", "npz-rbm.json", "--betas", 500, "--json"]
    trial.good(*command, "--checkpoint", "c", "--time", 0.001)
    trial.write("weights.npz", materials.weights_npz(trial.rng.randrange(2, 1000)))
    done = trial.run(*command, "--resume", "c")
    trial.expect(done.status in (64, 65), "a refusal was expected", done)


def changed_model(trial):
    """A model without files of its own is kept in the checkpoint: its file may change or go."""
    job = jobs.Sample("ising.json", ["--chains", 2, "--thin", 5], 4000, 1, "npz", ("ising.json",))
    materials.put(trial, *job.files)
    trial.references.of(trial, job)
    trial.good(*job.start(job.out, "--checkpoint", "c", "--time", 0.001))
    trial.write("ising.json", "{}") if trial.rng.random() < 0.5 else os.remove(trial.path("ising.json"))
    jobs.check_result(trial, job, trial.good(*job.resume("c")))


def play(trial):
    trial.rng.choice([changed_weights, changed_weights, changed_data, changed_estimate, changed_model])(trial)
