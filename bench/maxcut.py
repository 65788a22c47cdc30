#!/usr/bin/env python3
"""Runs 'saltus anneal' on the graphs of a folder (G1.txt.gz, ...; rudy files, plain or gzip) and writes the table of
results/maxcut: results.json and results.csv.

    bench/maxcut.py build/release/saltus FOLDER results/maxcut [--restarts 100] [--steps 1000] [--only G1,G48]
"""

import argparse
import csv
import glob
import json
import os
import re
import subprocess

from hardware import processor

# Best known cuts of G1, G2, ...: AOCoptimizer.jl's list of references; G72, G77 and G81 from arXiv 2505.18508. G25 is
# the cut on which the published heuristics agree, which is less than that list's.
BEST_KNOWN = {f"G{first + k}": cut for first, cuts in {
    1: (11624, 11620, 11622, 11646, 11631, 2178, 2006, 2005, 2054, 2000),
    11: (564, 556, 582, 3064, 3050, 3052, 3047, 992, 906, 941, 931),
    22: (13359, 13344, 13337, 13340, 13328, 3341, 3298, 3405, 3413, 3310),
    32: (1410, 1382, 1384, 7687, 7680, 7691, 7688, 2408, 2400, 2405, 2481),
    43: (6660, 6650, 6654, 6649, 6657, 6000, 6000, 5880, 3848, 3851, 3850, 3852),
    55: (10299, 4017, 3494, 19293, 6086, 14188, 5796, 4870, 27045, 8751, 5562, 6364, 6950),
    70: (9591,), 72: (7008,), 77: (9940,), 81: (14060,)}.items() for k, cut in enumerate(cuts)}
PROVEN = {"G11", "G48", "G49", "G50"}  # the largest
COLUMNS = ["graph", "vertices", "cut", "best_known", "proven", "mean_cut", "restarts", "steps", "reached",
           "tts99_seconds", "seconds", "total_seconds"]


def graphs(folder):
    """(name, path) of the graphs, in the order of their numbers."""
    found = {}
    for path in glob.glob(os.path.join(folder, "G*")):
        name = re.fullmatch(r"(G\d+)(\.\w+)*", os.path.basename(path))
        if name:
            found[name[1]] = path
    return sorted(found.items(), key=lambda item: int(item[0][1:]))


def anneal(saltus, name, path, options):
    best_known = BEST_KNOWN.get(name)
    proven = name in PROVEN if best_known is not None else None
    command = [saltus, "anneal", path, "--json", "--restarts", str(options.restarts), "--steps", str(options.steps),
               "--seed", str(options.seed)]
    if best_known is not None:
        command += ["--goal", str(best_known)]
    j = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    cut = j["objective"]["best"]
    if proven and cut > best_known:
        raise SystemExit(f"{name}: a cut of {cut}, above the proven largest one, {best_known}")
    return {"graph": name, "vertices": j["dimension"], "cut": cut, "best_known": best_known, "proven": proven,
            "mean_cut": j["objective"]["mean"], "restarts": j["restarts"], "steps": j["steps"],
            "reached": j["reached"] if best_known is not None else None,
            "tts99_seconds": j["tts99"]["seconds"] if best_known is not None else None,
            "seconds": j["seconds"], "total_seconds": j["total_seconds"]}, j["version"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("saltus")
    parser.add_argument("graphs")
    parser.add_argument("out")
    parser.add_argument("--restarts", type=int, default=100)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    rows, version = [], None
    for name, path in graphs(options.graphs):
        if only and name not in only:
            continue
        row, version = anneal(options.saltus, name, path, options)
        rows.append(row)
        print(name, row["cut"], "of", row["best_known"] or "?", f"{row['total_seconds']:.1f} s", flush=True)
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "results.json"), "w") as file:
        json.dump({"command": "saltus anneal GRAPH --restarts %d --steps %d --seed %d"
                   % (options.restarts, options.steps, options.seed), "version": version, "processor": processor(),
                   "threads": os.cpu_count(), "graphs": rows}, file, indent=1)
        file.write("\n")
    with open(os.path.join(options.out, "results.csv"), "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
