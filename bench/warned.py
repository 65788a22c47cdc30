"""How often a summary is wrong and content, and how often it is warned without need.

    python3 bench/warned.py PROGRAM [--seeds N] [--draws N] [--sampler S] [--only NAME] [--jobs N] [--out FILE]

Every model has a mean that is known exactly. A run of the program is wrong where a mean is many standard errors away
from it, and content where its verdict is "ok". On models with several modes far apart no run may be both. On the
others every warning is one without need, unless the means are really wrong.
"""

import argparse
import json
import math
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from hardware import processor
from zoo import (complete, hopfield, independent_bits, independent_levels, lattice, potts, random_pairs, sherrington,
                 small_rbm, torus, turned, two_patterns)

FAR = 6  # standard errors
LEAST_ERROR = 0.02  # smaller ones do not count as wrong, however small the standard error


def models():
    """Name: (has modes far apart, model, exact means); means None: unordered levels, all equally probable."""
    bits, bit_means = independent_bits(50, 1)
    levels, level_means = independent_levels(20, 1)
    crowd, crowd_means = complete(40, 0.05, 0.02)
    free, free_means = complete(30, 0.01, 0.1)
    return {
        "lattice 10 x 10, a = 0.4": (True, lattice(10, 10, a=0.4), [0] * 100),
        "the same, spins turned": (True, turned(torus(10, 10), 0.8, 100, 1), [0] * 100),
        "40 spins, all coupled, field": (True, crowd, crowd_means),
        "rbm of two patterns": (True, two_patterns(30, 2, 2), [0.5] * 30),
        "potts 10 x 10, 3 levels, J = 1.3": (True, potts(torus(10, 10), 100, 3, 1.3), None),
        "two stored patterns, 60 spins": (True, hopfield(60, 3, 2.2), [0] * 60),
        "lattice 10 x 10, a = 0.12": (False, lattice(10, 10, a=0.12), [0] * 100),
        "lattice 30 x 30, a = 0.08": (False, lattice(30, 30, a=0.08), [0] * 900),
        "30 spins, all coupled weakly": (False, free, free_means),
        "independent bits": (False, bits, bit_means),
        "independent levels": (False, levels, level_means),
        "random graph, 200 spins": (False, turned(random_pairs(200, 4, 1), 0.15, 200, 1), [0] * 200),
        "potts 8 x 8, 3 levels, J = 0.5": (False, potts(torus(8, 8), 64, 3, 0.5), None),
        "rbm 30 x 10": (False, small_rbm(30, 10, 1), [0.5] * 30),
        "spin glass, 50 spins, beta = 0.4": (False, sherrington(50, 0.4, 1), [0] * 50),
        "random graph, 1,000 spins": (False, turned(random_pairs(1000, 3, 2), 0.15, 1000, 2), [0] * 1000),
    }


def run(program, path, seed, arguments):
    done = subprocess.run([program, "sample", path, "--seed", str(seed), "--json", *arguments],
                          capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"{path}: {done.stderr}")
    return json.loads(done.stdout)


def is_wrong(summary, model, means):
    if means is None:
        c = summary["classes"]
        share = 1 / (1 + max(c["level"]))
        return any(abs(p - share) > max(FAR * (e or 0), LEAST_ERROR) for p, e in zip(c["probability"], c["mcse"]))
    error = max(abs(a - b) for a, b in zip(summary["mean"], means))
    sd = 3 if model["model"] == "quadratic" else 1  # at most
    ess = summary["ess"]["min"]
    return ess is None or error > max(FAR * sd / math.sqrt(ess), LEAST_ERROR)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--draws", default="10000")
    parser.add_argument("--sampler")
    parser.add_argument("--init")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out")
    a = parser.parse_args()
    arguments = ["--draws", a.draws, "--threads", "1"]
    for name in ("sampler", "init"):
        if getattr(a, name):
            arguments += [f"--{name}", getattr(a, name)]
    rows = []
    print(f"{'model':<36} {'runs':>5} {'wrong':>6} {'warned':>7} {'wrong, content':>15}  codes")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(a.jobs) as pool:
        for name, (modes, model, means) in models().items():
            if a.only not in name:
                continue
            path = os.path.join(folder, "model.json")
            with open(path, "w") as file:
                json.dump(model, file)
            row = {"model": name, "modes": modes, "runs": a.seeds, "wrong": 0, "warned": 0, "wrong_and_content": 0,
                   "codes": {}, "wrong_seeds": []}
            seeds = range(1, a.seeds + 1)
            for seed, summary in zip(seeds, pool.map(lambda s: run(a.program, path, s, arguments), seeds)):
                wrong, warned = is_wrong(summary, model, means), summary["verdict"] != "ok"
                row["wrong"] += wrong
                row["warned"] += warned
                row["wrong_and_content"] += wrong and not warned
                if wrong and not warned:
                    row["wrong_seeds"].append(seed)
                for w in summary["warnings"]:
                    row["codes"][w["code"]] = row["codes"].get(w["code"], 0) + 1
            rows.append(row)
            if a.out:
                with open(a.out, "w") as file:
                    json.dump({"command": " ".join(["saltus sample", *arguments]), "version": summary["version"],
                               "processor": processor(), "rows": rows}, file, indent=1)
            print(f"{name:<36} {a.seeds:>5} {row['wrong']:>6} {row['warned']:>7} {row['wrong_and_content']:>15}  "
                  + ", ".join(f"{k} {v}" for k, v in sorted(row["codes"].items())), flush=True)


if __name__ == "__main__":
    main()
