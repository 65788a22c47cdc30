"""Adversarial trials of the program: kills, full disks, closed descriptors, hostile files, limits.

    python3 torture.py /path/to/saltus [--seconds 600] [--seed 1] [--only kill,disk,...]

Trials are played until the time is up; each kind gets the same share of it. A failure is printed with its command and
the seed of its trial; `--only KIND --trial SEED` plays that trial again.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
import time

import concurrent_trials
import descriptor_trials
import disk_trials
import jobs
import kill_trials
import limit_trials
import mutation_trials
import place_trials
import changed_file_trials
from process import Abandoned, Runner
from trial import Counts, Failure, Skipped, Trial

KINDS = {"kill": kill_trials.play, "disk": disk_trials.play, "descriptors": descriptor_trials.play,
         "concurrent": concurrent_trials.play, "places": place_trials.play, "limits": limit_trials.play,
         "mutate": mutation_trials.play, "changed": changed_file_trials.play}


def options():
    parser = argparse.ArgumentParser(description="Adversarial trials of saltus")
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(KINDS), help="kinds, separated by commas")
    parser.add_argument("--trial", type=int, help="play the trial of this seed alone, once for each kind")
    chosen = parser.parse_args()
    chosen.kinds = chosen.only.split(",")
    unknown = [k for k in chosen.kinds if k not in KINDS]
    if unknown or not os.access(chosen.program, os.X_OK):
        parser.error(f"no such kind: {unknown}; there are {', '.join(KINDS)}" if unknown else "no such program")
    return chosen


class Torture:
    def __init__(self, chosen, root):
        self.chosen, self.root = chosen, root
        self.end = time.monotonic() + chosen.seconds
        os.makedirs(os.path.join(root, "tmp"))
        os.chmod(root, 0o755)
        os.chmod(os.path.join(root, "tmp"), 0o1777)
        self.runner = Runner(os.path.abspath(chosen.program), self.end, os.path.join(root, "tmp"))
        self.counts = {kind: Counts() for kind in chosen.kinds}
        self.printed = {}
        self.references = jobs.References(root, 1.0)

    def measure(self):
        """Fits the length of the runs to the machine."""
        trial = Trial(self.runner, self.root, self.references, 0, Counts())
        try:
            self.references.speed = jobs.measured_speed(trial)
        finally:
            trial.close()

    def play(self, kind, seed):
        counts = self.counts[kind]
        begin = time.monotonic()
        trial = Trial(self.runner, self.root, self.references, seed, counts)
        try:
            KINDS[kind](trial)
            counts.trials += 1
        except (Abandoned, Skipped) as e:
            counts.skipped += isinstance(e, Skipped)
        except Failure as e:
            counts.trials += 1
            counts.failed += 1
            self.print_failure(kind, trial, str(e))
        finally:
            trial.close()
            counts.seconds += time.monotonic() - begin

    def print_failure(self, kind, trial, what):
        """Prints a failure in full, or in one line when three of its kind were printed before."""
        first, _, rest = what.partition("\n")
        name = kind, re.sub("[0-9a-f]*[0-9][0-9a-f]*", "#", first)
        alike = self.printed[name] = self.printed.get(name, 0) + 1
        print(f"FAILED {kind}, trial {trial.seed}: {first}", flush=True)
        if alike <= 3:
            print(f"{rest}\n  last command: {trial.last}\n", flush=True)

    def play_all(self):
        """Gives the next trial to the kind that has had the least time."""
        played = dict.fromkeys(self.chosen.kinds, 0)
        while time.monotonic() < self.end or not all(played.values()):
            kind = min(played, key=lambda k: self.counts[k].seconds)
            if time.monotonic() >= self.end:
                kind = next(k for k in played if not played[k])
                if time.monotonic() >= self.end + 30:
                    break
            self.play(kind, self.chosen.seed * 1_000_000 + played[kind])
            played[kind] += 1

    def report(self):
        """Prints the table; returns how many trials failed."""
        print(f"{'kind':<12} {'trials':>7} {'refused':>8} {'completed':>10} {'resumed':>8} {'FAILED':>7} {'skipped':>8}")
        for kind, c in self.counts.items():
            print(f"{kind:<12} {c.trials:>7} {c.refused:>8} {c.completed:>10} {c.resumed:>8} {c.failed:>7} {c.skipped:>8}")
        trials = sum(c.trials for c in self.counts.values())
        failed = sum(c.failed for c in self.counts.values())
        print("refused, completed and resumed count runs of the program")
        print(f"{trials - failed} passed, {failed} failed")
        return failed


def main():
    chosen = options()
    root = tempfile.mkdtemp(prefix="saltus-torture-")
    torture = Torture(chosen, root)
    try:
        torture.measure()
        if chosen.trial is None:
            torture.play_all()
        else:
            for kind in chosen.kinds:
                torture.play(kind, chosen.trial)
        return 1 if torture.report() else 0
    finally:
        torture.runner.stop_all()
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
