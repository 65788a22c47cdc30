"""Damaged files of every format: read as they are or refused in words, never a crash, never other draws."""

import io
import json
import os
import re
import struct
import zipfile
import zlib

import jobs
import materials
from process import Surroundings

MEMORY = 2 << 30  # a damaged size must not take the whole machine

ODD_VALUES = ["1e308", "-1", "1e400", "0.5", "null", "[]", "{}", "99999999999", "4294967296", "-0.0", '""', "true",
              '"\\u001b[31m"', '"\\u202e"', '"\x1b[31m"', '"\u202egpj"', '"\\ud800"', "NaN", "1e-320", "65537", "[[[[]]]]"]


# ---- Mutations of bytes

def flip(rng, data, other):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def cut(rng, data, other):
    at = rng.randrange(len(data))
    return data[:at] if rng.random() < 0.5 else data[:at] + data[min(len(data), at + rng.randrange(1, 40)):]


def insert(rng, data, other):
    at = rng.randrange(len(data) + 1)
    piece = rng.choice([bytes(rng.randrange(256) for _ in range(rng.randrange(1, 20))), b"\0" * 8, b"\xff" * 8,
                        materials.ESCAPE.encode(), materials.BIDI.encode(), b"\xc2\x9b31m", b"\n", b",", b"9" * 30])
    return data[:at] + piece + data[at:]


def repeat(rng, data, other):
    at = rng.randrange(len(data))
    piece = data[at:at + rng.randrange(1, 200)]
    return data[:at] + piece * rng.choice([2, 3, 50]) + data[at + len(piece):]


def splice(rng, data, other):
    return data[:rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1):]


def whole_numbers(rng, data, other):
    """Replaces 8 bytes by a number that sizes and offsets do not expect."""
    at = rng.randrange(max(1, len(data) - 8))
    value = rng.choice([0, 1, 2 ** 31, 2 ** 32, 2 ** 63, 2 ** 64 - 1, rng.randrange(2 ** 64)])
    return data[:at] + struct.pack("<Q", value) + data[at + 8:]


BYTES = [flip, flip, cut, insert, repeat, splice, whole_numbers]


def mutate(rng, data, other):
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        data = rng.choice(BYTES)(rng, data or b"\0", other or b"\0")
    return data


# ---- Mutations that keep the outer format whole, to reach what lies behind its checks

def mutate_json(rng, data):
    """Replaces a number or a word of the text by an odd value."""
    text = data.decode()
    places = [m.span() for m in re.finditer(r'-?\d+(\.\d+)?|"[^"]*"|true|false', text)]
    for begin, end in sorted(rng.sample(places, min(len(places), rng.choice([1, 1, 2]))), reverse=True):
        text = text[:begin] + rng.choice(ODD_VALUES) + text[end:]
    return text.encode(errors="surrogatepass")


def mutate_npz(rng, data, other):
    """Mutates an array inside an archive and packs it again, with the right checksum."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        entries = {name.removesuffix(".npy"): file.read(name) for name in file.namelist()}
    name = rng.choice(sorted(entries))
    if rng.random() < 0.8:
        head = entries[name][:128]
        entries[name] = mutate(rng, head, head) + entries[name][128:] if rng.random() < 0.5 else \
            mutate(rng, entries[name], other)
    else:
        entries[rng.choice(["x", "data", "logp", "\x1b[31m", "../x"])] = entries.pop(name)
    return materials.npz(entries)


def mutate_checkpoint(rng, data, other):
    """Mutates the contents of a checkpoint and gives it the right checksum."""
    body = b"saltus01" + mutate(rng, data[8:-4], other[8:])
    return body + struct.pack("<I", zlib.crc32(body))


# ---- What is read, and by which command

QUICK = ["--draws", 30, "--warmup", 20, "--time", 5, "--json"]


def originals(trial):
    """Whole files of all formats, made once and kept with the references."""
    known = trial.references.known
    if "originals" not in known:
        for name in "d.npz", "d.csv", "d.nc":
            trial.good("sample", "ising", "--chains", 2, "--draws", 60, "--out", name, "--json")
        trial.good("sample", "ising", "--chains", 2, "--warmup", 0, "--draws", 30000, "--seed", 1, "--time", 1e-9, "--checkpoint", "c", "--out",
                   "o.npz", "--json")
        materials.put(trial, "data.csv")
        trial.good("learn", "rbm", "--data", "data.csv", "--hidden", 3, "--iterations", 30, "--out", "m.json",
                   "--checkpoint", "l", "--time", 1e-9)
        files = {name: trial.read(name) for name in ("d.npz", "d.csv", "d.nc", "c", "c.draws", "l")}
        for name in os.listdir(trial.folder):
            os.remove(trial.path(name))
        known["originals"] = files
    return known["originals"]


def model_file(trial):
    name = trial.rng.choice(sorted(materials.models()))
    materials.put(trial, "weights.npz", "weights.safetensors")
    data = json.dumps(materials.models()[name]).encode()
    other = json.dumps(materials.models()["potts.json"]).encode()
    content = mutate_json(trial.rng, data) if trial.rng.random() < 0.6 else mutate(trial.rng, data, other)
    trial.write(name, content)
    return trial.rng.choice([["sample", name, *QUICK], ["sample", name, "--set", "window=2", *QUICK], ["verify", name],
                             ["logz", name, "--betas", 5, "--chains", 4, "--time", 5], ["sample", name, "--no-scripts", *QUICK],
                             ["convert", name, "converted.json"]])


def weights_file(trial):
    rng = trial.rng
    name = rng.choice(["weights.npz", "weights.safetensors"])
    data = materials.weights_npz(1) if name == "weights.npz" else materials.weights_safetensors(1)
    inner = name == "weights.npz" and rng.random() < 0.5
    trial.write(name, (mutate_npz if inner else mutate)(rng, data, materials.weights_safetensors(2)))
    model = name.removeprefix("weights.") + "-rbm.json"
    materials.put(trial, model)
    return rng.choice([["sample", model, *QUICK], ["logz", model, "--betas", 5, "--chains", 4, "--json"],
                       ["convert", model, "converted.json"]])


def draws_file(trial):
    rng, files = trial.rng, originals(trial)
    name = rng.choice(["d.npz", "d.csv", "d.nc"])
    other = files[rng.choice(["d.npz", "d.csv", "d.nc"])]
    inner = name == "d.npz" and rng.random() < 0.5
    trial.write(name, (mutate_npz if inner else mutate)(rng, files[name], other))
    return rng.choice([["diagnose", name, "--json"], ["diagnose", name], ["report", name, "--out", "p.html"],
                       ["learn", "rbm", "--data", name, "--hidden", 2, "--iterations", 3, "--out", "m.json"]])


def init_file(trial):
    data = materials.init_text(4, 8).encode()
    trial.write("init.txt", mutate(trial.rng, data, materials.data_csv().encode()))
    return ["sample", "ising", "--init", "init.txt", *QUICK]


def data_file(trial):
    rng, files = trial.rng, materials.data_files()
    name = rng.choice(sorted(files))
    inner = name == "data.npz" and rng.random() < 0.5
    trial.write(name, (mutate_npz if inner else mutate)(rng, files[name], files[rng.choice(sorted(files))]))
    return rng.choice([["learn", "rbm", "--data", name, "--hidden", 2, "--iterations", 3, "--out", "m.json"],
                       ["learn", "ising", "--data", name, "--iterations", 2, "--steps", 2, "--out", "m.json", "--json"],
                       ["logz", "ising", "--betas", 5, "--test", name]])


def number_file(trial):
    """Betas, probabilities or factors as text."""
    rng = trial.rng
    text = ", ".join(str(i / 10) for i in range(11)).encode()
    trial.write("numbers", mutate(rng, text, materials.data_csv().encode()))
    return rng.choice([["logz", "ising", "--schedule", "numbers"], ["logz", "ising", "--base", "numbers", "--betas", 5],
                       ["sample", "ising", "--set", "precondition=numbers", *QUICK]])


def read_mutated(trial):
    """One command reads one damaged file."""
    command = trial.rng.choice([model_file, model_file, weights_file, draws_file, draws_file, init_file, data_file,
                                number_file])(trial)
    trial.run(*command, around=Surroundings(limits={"AS": MEMORY}))


def resume_mutated(trial):
    """A damaged checkpoint, or damaged draws beside it: refused, or the same bits."""
    rng, files = trial.rng, originals(trial)
    job = jobs.Sample("ising", ["--chains", 2, "--warmup", 0], 30000, 1, "npz")
    wanted, _ = trial.references.of(trial, job)
    damaged = rng.choice(["c", "c.draws"])
    for name in "c", "c.draws":
        other = files[rng.choice(["c", "c.draws", "l", "d.npz"])]
        trial.write(name, mutate(rng, files[name], other) if name == damaged else files[name])
    done = trial.run("sample", "--resume", "c", "--json", around=Surroundings(limits={"AS": MEMORY}))
    if done.status == 0:
        trial.expect(trial.read("o.npz") == wanted, f"a damaged {damaged} was continued to other draws", done)
    else:
        trial.expect(not trial.exists("o.npz"), "refused, but the draws were written", done)


def resume_forged(trial):
    """A checkpoint of odd contents with the right checksum: any documented end."""
    rng, files = trial.rng, originals(trial)
    name = rng.choice(["c", "l"])
    trial.write("c.draws", files["c.draws"])
    materials.put(trial, "data.csv")
    trial.write(name, mutate_checkpoint(rng, files[name], files[rng.choice(["c", "l"])]))
    verbs = ["sample"] if name == "c" else ["learn", "rbm"]
    trial.run(*verbs, "--resume", name, "--json", "--time", 5, around=Surroundings(limits={"AS": MEMORY}))


def play(trial):
    trial.rng.choice([read_mutated] * 6 + [resume_mutated] * 2 + [resume_forged] * 2)(trial)
