#!/usr/bin/env python3
"""Two processes with a thread each against one process with two threads, in turn: processes.py SALTUS [ROUNDS]."""
import json
import statistics
import subprocess
import sys
import time

program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
CASES = {
    "5 x 5, moments": ["--chains", "64", "--draws", "100000", "--record", "moments"],
    "100 x 100, moments": ["ising-100x100", "--chains", "16", "--draws", "5000", "--record", "moments"],
    "100 x 100, draws kept, every 100th step": ["ising-100x100", "--chains", "16", "--draws", "50", "--thin", "100"],
    "5 x 5, tempered": ["--temper", "6", "--chains", "64", "--draws", "5000"],
}


def seconds(command):
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads(out)["seconds"]


for name, arguments in CASES.items():
    run = [program, "sample", *arguments, "--set", "step_size=0.3", "--seed", "1", "--json"]
    pairs = []
    for _ in range(rounds):
        threads = seconds([*run, "--threads", "2"])
        processes = seconds([*mpirun, *run, "--threads", "1"])
        pairs.append(processes / threads)
    print(f"{name:42} processes / threads {statistics.median(pairs):.3f}  ({min(pairs):.3f} to {max(pairs):.3f})", flush=True)
