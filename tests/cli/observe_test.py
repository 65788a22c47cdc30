"""Observables, the best state, warnings in files, windows that tuning finds, and --watch."""

import fcntl
import json
import math
import os
import pty
import select
import struct
import subprocess
import termios

import saltus_cli
from saltus_cli import CliTest, has_netcdf, read_npz, strict_json


class Observables(CliTest):
    def of(self, j):
        return {o["name"]: o for o in j["observables"]}

    def test_usual_ones_against_the_file(self):
        # As few draws as the summary reads all of.
        j = self.summary("--seed", 3, "--chains", 4, "--draws", 1000, "--out", "d.npz")
        o = self.of(j)
        self.assertEqual(list(o), ["log p", "mean of x", "overlap", "neighbours"])
        arrays = read_npz(self.path("d.npz"))
        chains = [[2 * k - 1 for k in arrays["x"].rows(c, c + 1)] for c in range(4)]

        def mean(numbers):
            numbers = list(numbers)
            return math.fsum(numbers) / len(numbers)

        self.assertAlmostEqual(o["log p"]["mean"], mean(arrays["logp"].items()), places=9)
        self.assertAlmostEqual(o["mean of x"]["mean"], mean(x for chain in chains for x in chain), places=12)
        pairs = (a * b for one, two in (chains[:2], chains[2:]) for a, b in zip(one, two))
        self.assertAlmostEqual(o["overlap"]["mean"], mean(pairs), places=12)

        def bonds(state):
            for r in range(5):
                for c in range(5):
                    yield state[5 * r + c] * state[5 * r + (c + 1) % 5]
                    yield state[5 * r + c] * state[5 * ((r + 1) % 5) + c]

        products = (p for chain in chains for t in range(0, len(chain), 25) for p in bonds(chain[t:t + 25]))
        self.assertAlmostEqual(o["neighbours"]["mean"], mean(products), places=12)
        for name in o:
            self.assertGreater(o[name]["ess"], 100)
            self.assertAlmostEqual(o[name]["mcse"], o[name]["sd"] / math.sqrt(o[name]["ess"]), places=9)
            self.assertLess(o[name]["rhat"], 1.05)
        again = self.of(strict_json(self.good("diagnose", "d.npz", "--json").out))
        self.assertEqual(again, o)

    def test_own_ones_in_all_commands(self):
        self.needs_netcdf()  # the shape of the lattice is kept there
        own = ["--observe", "m2 = mean(x)^2", "--observe", "x[0,0]*x[0,1]"]
        j = self.summary("--seed", 3, "--draws", 500, "--out", "d.nc", *own)
        self.assertEqual(list(self.of(j))[-2:], ["m2", "x[0,0]*x[0,1]"])
        diagnosed = strict_json(self.good("diagnose", "d.nc", "--json", *own).out)
        self.assertEqual(self.of(diagnosed)["m2"], self.of(j)["m2"])
        self.assertEqual(diagnosed["best"], j["best"])
        self.assertIn("\nm2 ", self.good("diagnose", "d.nc", *own).out)
        self.needs_pages()
        self.good("report", "d.nc", "--observe", "m2 = mean(x)^2")
        with open(self.path("d.html")) as page:
            self.assertIn("m2 along each chain", page.read())

    def test_a_continued_run_keeps_them(self):
        options = ["--seed", 3, "--draws", 200, "--checkpoint", "c", "--observe", "m2 = mean(x)^2"]
        j = self.summary(*options)
        continued = strict_json(self.good("sample", "--resume", "c", "--json").out)
        self.assertEqual(continued["observables"], j["observables"])
        self.assertEqual(continued["best"], j["best"])

    def test_best_state_whatever_is_kept(self):
        best = self.summary("--seed", 5, "--draws", 300)["best"]
        moments = self.summary("--seed", 5, "--draws", 300, "--record", "moments")
        self.assertEqual(moments["best"], best)
        self.assertEqual(len(best["state"]), 25)
        self.assertIn("best state seen", self.good("sample", "--draws", 100, "--record", "moments").out)


class WarningsInFiles(CliTest):
    def test_pages_show_them(self):
        self.write("l.json", {"model": "ising-lattice", "shape": [10, 10], "a": 0.4, "b": 0, "periodic": True})
        self.needs_pages()
        for name in ["d.npz"] + ["d.nc"] * has_netcdf():
            j = self.summary("l.json", "--init", "zeros", "--draws", 1000, "--out", name)
            self.assertNotEqual(j["warnings"], [])
            self.good("report", name)
            with open(self.path("d.html")) as page:
                self.assertIn("searches that began elsewhere", page.read())
        stored = json.loads(read_npz(self.path("d.npz"))["warnings"].data)
        self.assertEqual(stored, j["warnings"])

    def test_no_warnings_no_text(self):
        self.summary("--draws", 5000, "--seed", 1, "--out", "d.npz")
        self.assertNotIn("warnings", read_npz(self.path("d.npz")))


class Classes(CliTest):
    def test_the_page_shows_probabilities(self):
        self.good("sample", "potts", "--seed", 1, "--draws", 1000, "--out", "d.npz")
        self.needs_pages()
        self.good("report", "d.npz")
        with open(self.path("d.html")) as page:
            text = page.read()
        self.assertIn("The classes of every coordinate", text)
        self.assertIn("probability", text)
        self.assertNotIn("Mean of each coordinate", text)


class Windows(CliTest):
    def test_counts_need_no_setting(self):
        # An ESS of half the best fixed window's, from exact transition matrices of one count: the shares of the draws
        # that the best window gives, at a step size tuned for it.
        best = {0.5: 0.72, 3: 0.93, 50: 1.0, 10000: 1.0}
        for rate, share in best.items():
            self.write("p.json", {"model": "poisson", "rate": [rate]})
            j = self.summary("p.json", "--seed", 1, "--draws", 10000)
            own = j["observables"]
            self.assertGreater(j["ess"]["min"], 0.5 * share * 40000, rate)
            # Five standard errors: one false alarm in a million.
            self.assertLess(abs(j["mean"][0] - rate), 5 * math.sqrt(rate / j["ess"]["min"]), rate)
            self.assertEqual(own[0]["name"], "log p")
            step, window = j["parameters"]["step_size"], j["parameters"]["window"]
            self.assertEqual(window, math.ceil(2 * math.sqrt(step)), rate)

    def test_given_windows_stay(self):
        self.write("p.json", {"model": "poisson", "rate": [3]})
        self.assertEqual(self.summary("p.json", "--set", "window=4", "--draws", 100)["parameters"]["window"], 4)

    def test_a_continued_run_has_the_same(self):
        whole = self.summary("poisson", "--seed", 2, "--draws", 3000)
        self.good("sample", "poisson", "--seed", 2, "--draws", 3000, "--checkpoint", "c", "--time", 0.01)
        rest = strict_json(self.good("sample", "--resume", "c", "--json").out)
        self.assertEqual(rest["parameters"], whole["parameters"])
        self.assertEqual(rest["mean"], whole["mean"])


class Watching(CliTest):
    def watched(self, columns, *options):
        """All that a terminal of so many columns gets on standard error, and the exit status."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        before = termios.tcgetattr(theirs)
        process = subprocess.Popen([saltus_cli.program, "sample", "--watch", *map(str, options)], stderr=theirs,
                                   stdout=subprocess.DEVNULL, cwd=self.folder)
        seen = b""
        while process.poll() is None or select.select([ours], [], [], 0)[0]:
            if select.select([ours], [], [], 0.1)[0]:
                seen += os.read(ours, 65536)
        self.assertEqual(termios.tcgetattr(theirs), before)
        os.close(theirs)
        os.close(ours)
        return seen.decode(), process.returncode

    def test_lines_fit_the_terminal(self):
        for columns in 100, 30:
            text, status = self.watched(columns, "ising-100x100", "--no-probe", "--draws", 10 ** 9, "--time", 2,
                                        "--record", "moments")
            self.assertEqual(status, 0)
            self.assertIn("R-hat", text)
            self.assertIn("chain 3", text)
            # After the last block comes what the program says at its end.
            for line in text.rpartition("\033[J")[0].replace("\033[J", "\n").replace("\r", "\n").split("\n"):
                self.assertLess(len(line.split("A", 1)[-1] if line.startswith("\033[") else line), columns)
            self.assertNotIn("\033[?25l", text)  # the cursor is never hidden

    def test_elsewhere_there_are_plain_lines_alone(self):
        done = self.good("sample", "--watch", "--draws", 100)
        self.assertNotIn("\033", done.err)
        self.assertNotIn("chain 0", done.err)


if __name__ == "__main__":
    saltus_cli.main()
