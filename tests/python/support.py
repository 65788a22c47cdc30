"""What the tests of the Python package share."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

import saltus

PROGRAM = os.environ.get("SALTUS_PROGRAM")


def all_states(domain):
    """Every state of a small domain, as values."""
    counts = [domain.levels] * domain.dim if isinstance(domain.levels, int) else domain.levels
    levels = np.array(list(itertools.product(*(range(n) for n in counts))))
    return domain.first_value + domain.spacing * levels


def probabilities(model):
    """The states of a small model and their probabilities, by going through all."""
    states = all_states(model.domain)
    logp = model.logp(states)
    p = np.exp(logp - logp.max())
    return states, p / p.sum()


def program(*arguments):
    """What the program prints with --json."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if "--json" in arguments else done.stdout


def chi_square_is_plausible(counts, expected):
    """Pearson's statistic is below its mean by less than five standard deviations above it; cells
    that expect fewer than five are pooled."""
    rare = expected < 5
    observed = np.append(counts[~rare], counts[rare].sum())
    wanted = np.append(expected[~rare], expected[rare].sum())
    keep = wanted > 0
    statistic = ((observed - wanted)[keep] ** 2 / wanted[keep]).sum()
    freedom = keep.sum() - 1
    return statistic < freedom + 5 * np.sqrt(2 * freedom)


class Test(unittest.TestCase):
    """With a folder of its own, and refusals by their whole sentence."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def refused(self, kind, sentence, call, *arguments, **options):
        with self.assertRaises(kind) as caught:
            call(*arguments, **options)
        text = str(caught.exception)
        self.assertIn(sentence, text)
        self.assertNotIn("\n", text)
        self.assertNotIn("saltus::", text)
        self.assertNotIn("std::", text)


def main():
    unittest.main(verbosity=1)
