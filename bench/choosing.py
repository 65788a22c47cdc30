"""Which sampler suits which model: every sampler on twenty models, as a table for docs/choosing.md.

    python3 bench/choosing.py PROGRAM [--budget S] [--only NAME] [--out FILE]

Each model is raced by `saltus compare`: effective draws per second of processor time, and per evaluation of the
gradient. `--out` keeps the figures of all samplers as JSON; with such a file in place
of the program the table is printed again.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

from zoo import (complete, dense_rbm, hopfield, independent_bits, lattice, levels_on_pairs, potts, random_pairs,
                 sherrington, torus, turned, two_patterns)


def ring(n):
    return [(i, (i + 1) % n) for i in range(n)]


def models():
    """Name: (what it is an example of, model)."""
    local, dense, levels, modes = "cheap local energies", "dense energies", "more than two levels", "strong couplings"
    return {
        "independent bits, 1,000": (local, independent_bits(1000, 1)[0]),
        "chain of 200 spins": (local, turned(ring(200), 0.4, 200, 1)),
        "lattice 10 x 10, a = 0.1": (local, lattice(10, 10, a=0.1)),
        "lattice 50 x 50, a = 0.15": (local, lattice(50, 50, a=0.15)),
        "lattice 30 x 30, a = 0.22": (local, lattice(30, 30, a=0.22)),
        "cube 12 x 12 x 12, a = 0.08": (local, lattice(12, 12, 12, a=0.08)),
        "random graph, 2,000 spins, degree 6": (local, turned(random_pairs(2000, 6, 2), 0.12, 2000, 2)),
        "30 spins, all coupled": (dense, complete(30, 0.02, 0.1)[0]),
        "spin glass, 100 spins, beta = 0.6": (dense, sherrington(100, 0.6, 1)),
        "spin glass, 500 spins, beta = 0.5": (dense, sherrington(500, 0.5, 2)),
        "rbm 100 x 50": (dense, dense_rbm(100, 50, 0.2, 1)),
        "rbm 784 x 200": (dense, dense_rbm(784, 200, 0.05, 2)),
        "potts 10 x 10, 3 levels, J = 0.5": (levels, potts(torus(10, 10), 100, 3, 0.5)),
        "potts 20 x 20, 5 levels, J = 0.7": (levels, potts(torus(20, 20), 400, 5, 0.7)),
        "10 levels, ring of 100": (levels, levels_on_pairs(ring(100), 100, 10, 0.05, 1)),
        "50 levels, 200 sites, degree 6": (levels, levels_on_pairs(random_pairs(200, 6, 3), 200, 50, 0.02, 2)),
        "lattice 10 x 10, a = 0.4": (modes, lattice(10, 10, a=0.4)),
        "two stored patterns, 60 spins": (modes, hopfield(60, 3, 2.2)),
        "rbm of two patterns": (modes, two_patterns(30, 2, 2)),
        "potts 10 x 10, 3 levels, J = 1.3": (modes, potts(torus(10, 10), 100, 3, 1.3)),
    }


SHOWN = ["gibbs", "dmala", "gwg", "pas", "block_gibbs"]


def short(number):
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def cell(results, sampler):
    """Effective draws per second and, in brackets, per 1,000 evaluations; a dash where chains have not mixed."""
    for r in results:
        if r["sampler"] == sampler and not r["tempered"]:
            if not r["mixed"]:
                return "-"
            return f"{short(r['ess_per_second'])} ({short(1000 * r['ess_per_evaluation'])})"
    return ""


def tempered(results):
    for r in results:
        if r["tempered"]:
            mixed = short(r["ess_per_second"]) if r["mixed"] else "-"
            return f"{mixed} ({r['sampler']})"
    return ""


def print_table(rows):
    """As a Markdown table for each group of models."""
    for group in dict.fromkeys(row["group"] for row in rows):
        print(f"\n**{group}**\n")
        print("| model | best per second | " + " | ".join(f"`{s}`" for s in SHOWN) + " | along a ladder |")
        print("|---|---|" + "---|" * len(SHOWN) + "---|")
        for row in rows:
            if row["group"] != group:
                continue
            best = row["best"]["sampler"] if row["best"] else "none mixed"
            cells = [cell(row["results"], s) for s in SHOWN]
            print(f"| {row['model']} | {best} | " + " | ".join(cells) + f" | {tempered(row['results'])} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program, or the JSON of an earlier run, of which the table is printed")
    parser.add_argument("--budget", default="2")
    parser.add_argument("--only", default="")
    parser.add_argument("--out")
    a = parser.parse_args()
    if a.program.endswith(".json"):
        with open(a.program) as file:
            return print_table(json.load(file))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        for name, (group, model) in models().items():
            if a.only not in name:
                continue
            with open(path, "w") as file:
                json.dump(model, file)
            done = subprocess.run([a.program, "compare", path, "--budget", a.budget, "--json"], capture_output=True,
                                  text=True, check=True)
            rows.append({**json.loads(done.stdout), "model": name, "group": group})
            print(name, file=sys.stderr, flush=True)
    print_table(rows)
    if a.out:
        with open(a.out, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
