"""Names that a run writes to but that hold something else: nothing that is not the run's own may change."""

import os
import shutil
import stat
import subprocess

import jobs
import materials
from trial import Skipped, snapshot

VICTIM = "This file belongs to the user.\n" * 20


# ---- What may stand at a name

def folder(trial, name):
    os.mkdir(trial.path(name))
    trial.write(f"{name}/inside.txt", VICTIM)


def pipe(trial, name):
    os.mkfifo(trial.path(name))


def dangling(trial, name):
    os.symlink("nowhere/at-all", trial.path(name))


def dangling_beside(trial, name):
    os.symlink("not-there-yet", trial.path(name))


def to_victim(trial, name):
    os.symlink("victim.txt", trial.path(name))


def loop(trial, name):
    os.symlink(os.path.basename(name), trial.path(name))


def device(trial, name):
    """A device of our own like /dev/null, so that a defect does not cost the machine its own."""
    try:
        os.mknod(trial.path(name), stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        os.symlink("/dev/null", trial.path(name))


def other_file(trial, name):
    trial.write(name, VICTIM)


def empty_file(trial, name):
    trial.write(name, b"")


def hard_link(trial, name):
    os.link(trial.path("victim.txt"), trial.path(name))


THINGS = [folder, pipe, dangling, dangling_beside, to_victim, loop, device, other_file, empty_file, hard_link]


def compare_folders(trial, before, done, may_change=()):
    """Everything that was there before is there unchanged."""
    after = snapshot(trial.folder)
    for name, content in before.items():
        if name in may_change:
            continue
        trial.expect(name in after, f"{name} is gone", done)
        trial.expect(after[name] == content, f"{name} has changed from {str(content)[:80]} to {str(after[name])[:80]}", done)


def set_up(trial):
    materials.put(trial, "ising.json", "npz-rbm.json", "weights.npz", "data.csv")
    trial.write("victim.txt", VICTIM)
    trial.write("init.csv", materials.init_text(4, 12))
    os.mkdir(trial.path("sub"))


def quick(rng, checkpoint=None, out=None, more=()):
    """A short command that writes; `out` has no extension."""
    saved = ["--checkpoint", checkpoint] if checkpoint else []
    choices = [["sample", "ising.json", "--draws", 200, *(["--out", f"{out}.npz"] if out else [])],
               ["sample", "npz-rbm.json", "--draws", 200, *(["--out", f"{out}.csv"] if out else [])],
               ["learn", "rbm", "--data", "data.csv", "--hidden", 3, "--iterations", 20, "--out", f"{out or 'm'}.json"]]
    if not out:
        choices.append(["logz", "ising.json", "--betas", 20, "--chains", 10])
    if out and not checkpoint:
        choices += [["compare", "bernoulli", "--budget", 0.02, "--samplers", "gibbs", "--out", f"{out}.json"],
                    ["report", "d.npz", "--out", f"{out}.html"]]
    command = rng.choice(choices)
    return [*command, *saved, *more, *([] if command[0] == "report" else ["--json"])]


def out_name(command):
    return command[command.index("--out") + 1] if "--out" in command else None


def at_checkpoint(trial):
    """Something of the user's is where the checkpoint, its draws or its lock would be."""
    rng = trial.rng
    command = quick(rng, checkpoint="c", more=["--overwrite"] if rng.random() < 0.5 else [])
    name = rng.choice(["c", "c.draws", "c.lock"])
    thing = rng.choice(THINGS)
    thing(trial, name)
    before = snapshot(trial.folder)
    done = trial.run(*command)
    unused = name == "c.draws" and command[0] != "sample"  # learn and logz keep no draws
    ours = thing is empty_file and name == "c.lock"  # what a run leaves that is killed while it makes its lock
    compare_folders(trial, before, done, may_change=[name] if ours else [])
    refused = (64, 73) if not unused and not ours else (0, 64, 73)
    trial.expect(done.status in refused, f"{thing.__name__} at {name}: a refusal was expected", done)


def at_out(trial):
    """Something is where --out would be. A file, or a link to one, is replaced as it was asked for; nothing else is."""
    rng = trial.rng
    trial.good("sample", "--draws", 100, "--out", "d.npz", "--json")
    command = quick(rng, out="o")
    name = out_name(command)
    thing = rng.choice(THINGS)
    thing(trial, name)
    before = snapshot(trial.folder)
    done = trial.run(*command)
    may_change = {to_victim: [name, "victim.txt"]}.get(thing, [name])
    compare_folders(trial, before, done, may_change if done.status == 0 else [])
    if thing in (folder, pipe, loop, device):
        trial.expect(done.status in (64, 73), f"{thing.__name__} at {name}: a refusal was expected", done)


def another_name(trial, name, wanted):
    """A second name of a file, which ends as `wanted` does."""
    extension = os.path.splitext(wanted)[1]
    way = trial.rng.choice(["dots", "absolute", "soft", "hard", "same"])
    same_ending = os.path.splitext(name)[1] == extension
    if way in ("soft", "hard") or not same_ending:
        alias = "alias" + extension
        (os.link if way == "hard" else os.symlink)(trial.path(name), trial.path(alias))
        return alias
    return {"dots": f"sub/../{name}", "absolute": trial.path(name), "same": name}[way]


def same_file_twice(trial):
    """A file that the command reads is also the one that it would write, perhaps by another name."""
    trial.good("sample", "--draws", 100, "--out", "d.npz", "--json")
    quickly = ["--draws", 50, "--json"]
    command, read, place = trial.rng.choice([
        (["sample", "ising.json", *quickly, "--out"], "ising.json", "x.npz"),
        (["sample", "npz-rbm.json", *quickly, "--out"], "weights.npz", "x.npz"),
        (["sample", "npz-rbm.json", *quickly, "--out"], "npz-rbm.json", "x.csv"),
        (["sample", "ising.json", *quickly, "--init", "init.csv", "--out"], "init.csv", "x.csv"),
        (["sample", "ising.json", *quickly, "--checkpoint"], "ising.json", "x.json"),
        (["sample", "npz-rbm.json", *quickly, "--overwrite", "--checkpoint"], "weights.npz", "x.npz"),
        (["sample", "ising.json", *quickly, "--init", "init.csv", "--checkpoint"], "init.csv", "x.csv"),
        (["learn", "rbm", "--data", "data.csv", "--hidden", 3, "--iterations", 9, "--out"], "data.csv", "x.json"),
        (["learn", "ising", "--data", "data.csv", "--iterations", 2, "--steps", 2, "--out", "m.json", "--overwrite",
          "--checkpoint"], "data.csv", "x.csv"),
        (["logz", "ising.json", "--betas", 20, "--checkpoint"], "ising.json", "x.json"),
        (["convert", "ising.json"], "ising.json", "x.json"),
        (["convert", "npz-rbm.json"], "npz-rbm.json", "x.json"),
        (["logz", "npz-rbm.json", "--betas", 20, "--overwrite", "--checkpoint"], "weights.npz", "x.npz"),
        (["compare", "ising.json", "--budget", 0.02, "--samplers", "gibbs", "--out"], "ising.json", "x.json"),
        (["compare", "npz-rbm.json", "--budget", 0.02, "--samplers", "gibbs", "--out"], "weights.npz", "x.csv"),
        (["report", "d.npz", "--out"], "d.npz", "x.html")])
    written = another_name(trial, read, place)
    before = snapshot(trial.folder)
    done = trial.run(*command, written)
    compare_folders(trial, before, done)
    trial.expect(done.status in (64, 73), f"{written} is {read}: a refusal was expected", done)


def outputs_collide(trial):
    """--out is the checkpoint, its draws or its lock, by another name."""
    name = trial.rng.choice(["c.npz", "sub/../c.npz", "./c.npz", trial.path("c.npz")])
    belongs = trial.rng.choice(["", ".draws", ".lock"])
    if belongs:  # a link, because the name of --out ends in .npz
        os.symlink("c.npz" + belongs, trial.path("link.npz"))
        name = "link.npz"
    before = snapshot(trial.folder)
    done = trial.run("sample", "--draws", 200, "--checkpoint", "c.npz", "--out", name, "--json")
    compare_folders(trial, before, done)
    trial.expect(done.status in (64, 73), "a refusal was expected", done)


def earlier_run(trial):
    """A checkpoint that is there is refused without --resume or --overwrite, also by another name."""
    job = jobs.Sample("ising.json", ["--chains", 2], 300, 1, "npz", ("ising.json",))
    trial.references.of(trial, job)
    trial.good(*job.start(job.out, "--checkpoint", "c", "--time", 1e-9))
    way = trial.rng.choice(["c", "./c", "soft", "hard"])
    if way in ("soft", "hard"):
        (os.symlink if way == "soft" else os.link)(trial.path("c"), trial.path(way))
    before = snapshot(trial.folder)
    done = trial.run(*job.start("other.npz", "--checkpoint", way))
    trial.expect(done.status == 64, "the status 64 was expected", done)
    compare_folders(trial, before, done)
    for _ in range(2):
        done = trial.good(*job.resume("c"))
    jobs.check_result(trial, job, done)
    jobs.check_result(trial, job, trial.good(*job.start(job.out, "--checkpoint", "c", "--overwrite")))


def read_only(trial):
    """A folder in which nothing can be made. Permissions do not keep root out, an attribute does."""
    place = trial.path("sub")
    root = os.geteuid() == 0
    if root:
        locked = shutil.which("chattr") and subprocess.run(["chattr", "+i", place], capture_output=True).returncode == 0
        if not locked:
            raise Skipped()
    else:
        os.chmod(place, 0o555)
    try:
        trial.good("sample", "--draws", 100, "--out", "d.npz", "--json")
        command = quick(trial.rng, **trial.rng.choice([{"checkpoint": "sub/c"}, {"out": "sub/o"}]))
        done = trial.run(*command)
        trial.expect(done.status == 73, "status 73 was expected", done)
        trial.expect(os.listdir(place) == [], "something was made", done)
    finally:
        if root:
            subprocess.run(["chattr", "-i", place], capture_output=True)


def folder_for_results(trial):
    """The folder of an experiment is something else."""
    thing = trial.rng.choice([pipe, dangling, to_victim, loop, device, other_file, hard_link])
    thing(trial, "r")
    before = snapshot(trial.folder)
    done = trial.run("reproduce", "theory", "--quick", "--out", "r")
    compare_folders(trial, before, done)
    if thing is not dangling:
        trial.expect(done.status == 73, f"{thing.__name__}: status 73 was expected", done)


def play(trial):
    set_up(trial)
    part = trial.rng.choice([at_checkpoint, at_checkpoint, at_checkpoint, at_out, at_out, same_file_twice,
                             same_file_twice, outputs_collide, earlier_run, read_only, folder_for_results])
    part(trial)
