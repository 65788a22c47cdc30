#!/usr/bin/env python3
"""Runs 'saltus anneal' on generated problems like those of DISCS (Goshvadi et al. 2023) and writes
results/optimisation/results.json: for each set the mean over its instances, beside the published number where one is.
The published instances are others of the same law, so that a row and its published number are comparable in kind alone.

    bench/optimisation.py build/release/saltus --out results/optimisation/results.json [--only mis] [--instances 4]
        [--times 5] [--machine "shared with other programs: times are upper bounds"]

--times: how many times the steps of a search that the sets name.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time

from hardware import processor

RESTARTS = 32
LONGER = 2  # the reference of an instance: the best of a search with LONGER times the steps and another seed. Not of
# sets whose sizes are published
PUBLISHED = ("DISCS, 8 V100 GPUs, the best of its samplers, other instances: of mis the mean size, of max-cut the ratio "
             "to Gurobi's cut after an hour")


def sizes(first, last, count):
    return [round(first + (last - first) * k / max(1, count - 1)) for k in range(count)]


def cases(count):
    """(set, words of generate for each instance, ending, options of anneal, steps, quantity, published number)."""
    for law, m, first, last, published in (("BA-4, 256 to 300", 4, 256, 300, None),
                                           ("BA-4, 1024 to 1100", 4, 1024, 1100, 1.018)):
        yield (f"max-cut {law}", [["ba", n, m] for n in sizes(first, last, count)], ".mc", [], 1000, "cut", published)
    for first, last, published in ((256, 300, 1.021), (1024, 1100, 1.002)):
        yield (f"max-cut ER 0.15, {first} to {last}", [["er", n, 0.15] for n in sizes(first, last, count)], ".mc",
               [], 1000, "cut", published)
    yield ("max-cut lattice 5 x 5 x 5, +-1", [["lattice", 5, "--dimensions", 3]] * count, ".mc", [], 1000, "cut",
           1.0)
    for density, published in ((0.05, 105.06), (0.1, 62.25), (0.15, 44.57), (0.2, 34.72), (0.25, 28.5)):
        yield (f"mis ER {density}, 700 to 800", [["er", n, density] for n in sizes(700, 800, count)], ".col",
               ["--problem", "mis", "--penalty", 1.001], 2000, "size", published)
    yield ("max-clique ER 0.5, 200", [["er", 200, 0.5]] * count, ".clq", ["--problem", "max-clique"], 500, "size",
           None)
    yield ("max-clique ER 0.05, 500", [["er", 500, 0.05]] * count, ".clq", ["--problem", "max-clique"], 500,
           "size", None)
    for name, words in (("regular 3, 300", ["regular", 300, 3]), ("BA-2, 300", ["ba", 300, 2])):
        yield (f"partition {name}", [words] * count, ".col",
               ["--problem", "partition", "--parts", 3, "--penalty", 0.05], 1000, "cut_ratio", None)
    yield ("clauses 3-SAT 4.0, 250", [["sat", 250, 1000, 3]] * count, ".cnf", [], 500, "unsatisfied_clauses", None)


def run(*words):
    return subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True).stdout


def anneal(saltus, path, options, steps, seed):
    begin = time.time()
    j = json.loads(run(saltus, "anneal", path, *options, "--steps", steps, "--restarts", RESTARTS, "--seed", seed,
                       "--json"))
    return j, time.time() - begin


def value_of(j, quantity):
    if quantity == "size":
        return j["solution"]["value"]
    return j["objective"]["best"] if quantity == "cut" else j["problem"][quantity]


def instance(saltus, folder, words, ending, options, steps, quantity, alone, seed):
    path = os.path.join(folder, "instance" + ending)
    run(saltus, "generate", *words, path, "--seed", seed)
    j, seconds = anneal(saltus, path, options, steps, 1)
    longer = None if alone else anneal(saltus, path, options, LONGER * steps, 2)[0]
    ours, reference = value_of(j, quantity), longer and value_of(longer, quantity)
    larger = longer and quantity in ("size", "cut")
    return {"value": ours, "reference": reference, "ratio": ours / reference if larger else None, "seconds": seconds,
            "balance": (j["problem"] or {}).get("balance")}


def mean(values):
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else None


def row_of(saltus, folder, case, count):
    name, instances, ending, options, steps, quantity, published = case
    found = [instance(saltus, folder, words, ending, options, steps, quantity, quantity == "size" and published is not None,
                      seed + 1)
             for seed, words in enumerate(instances)]
    command = " ".join(map(str, ["saltus", "generate", *instances[0], "FILE" + ending, "--seed 1"])) + "; " + " ".join(
        map(str, ["saltus", "anneal", "FILE" + ending, *options, "--steps", steps, "--restarts", RESTARTS]))
    return {"quantity": quantity, "setting": {"set": name},
            "ours": mean(f["value"] for f in found),
            "reference": mean(f["reference"] for f in found), "ratio": mean(f["ratio"] for f in found),
            "published": published, "balance": mean(f["balance"] for f in found), "instances": count,
            "seconds": mean(f["seconds"] for f in found), "command": command}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("saltus")
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--instances", type=int, default=3)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--machine", default="")
    options = parser.parse_args()
    rows, begin = [], time.time()
    if options.only and os.path.exists(options.out):  # rows of other sets stay
        with open(options.out, encoding="utf-8") as file:
            rows = [row for row in json.load(file)["rows"] if not row["setting"]["set"].startswith(options.only)]
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(options.instances):
            if not case[0].startswith(options.only):
                continue
            steps = 4
            case = (*case[:steps], case[steps] * options.times, *case[steps + 1:])
            rows.append(row_of(options.saltus, folder, case, options.instances))
            row = rows[-1]
            print(f"{row['setting']['set']:36} {row['quantity']:20} {row['ours']:.4f}  published {row['published']}  "
                  f"{row['seconds']:.1f} s  {time.time() - begin:.0f} s", flush=True)
            write(options, rows)


def write(options, rows):
    os.makedirs(os.path.dirname(options.out) or ".", exist_ok=True)
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump({"what": "means over generated instances; ratio: to the best of a search with "
                           f"{LONGER} times the steps", "published": PUBLISHED, "processor": processor(),
                   "threads": os.cpu_count(), "machine": options.machine,
                   "version": run(options.saltus, "--version").split()[-1],
                   "rows": rows}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
