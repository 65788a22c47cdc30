"""saltus reproduce bnn: networks with weights -1 and +1. The runs need $SALTUS_DATA with the set
compas."""

import os
import re
import signal
import sys
import time

import saltus_cli
from saltus_cli import CliTest, strict_json

USAGE, NO_INPUT, SKIPPED = 64, 66, 77
data = os.environ.get("SALTUS_DATA", "")
LABELS = ["Gibbs", "GWG", "DULA", "DMALA", "DULA, batch 10", "DULA, batch 100", "DULA, batch 500"]
CELLS = 14  # of --quick: seven samplers, two seeds


def has_compas():
    name = "compas-scores-two-years.csv"
    places = [os.path.join(data, "compas", name), os.path.join(data, name)]
    return bool(data) and any(os.path.exists(p + end) for p in places for end in ("", ".gz"))


class Refusals(CliTest):
    def refused(self, status, *arguments):
        return self.refusal(status, "reproduce", *arguments)

    def test_refusals(self):
        self.assertIn("compas, news, adult, blog", self.refused(USAGE, "bnn", "--only", "mnist"))
        self.assertIn("no parts", self.refused(USAGE, "theory", "--only", "compas"))
        self.assertIn("--time", self.refused(USAGE, "theory", "--time", 5))
        self.assertIn("--device", self.refused(USAGE, "theory", "--device", "cuda"))
        self.refused(USAGE, "bnn", "--device", "abacus", "--quick")
        self.refused(USAGE, "bnn", "--time", -1)
        self.assertIn("--starts", self.refused(USAGE, "bnn", "--starts", "alike"))
        self.assertIn("own or alike", self.refused(USAGE, "text", "--starts", "together"))
        err = self.refused(NO_INPUT, "bnn", "--only", "adult", "--data", "nowhere")
        self.assertIn("adult.data", err)


if has_compas():
    class Bnn(CliTest):
        def results(self, *arguments):
            self.good("reproduce", "bnn", "--quick", "--out", "out", *arguments)
            with open(self.path("out/results.json"), encoding="utf-8") as file:
                return strict_json(file.read())

        def partial(self):
            """The files of finished runs; the ledger beside them is none."""
            folder = self.path("out/partial")
            files = os.listdir(folder) if os.path.isdir(folder) else []
            return sorted(file for file in files if file != "ledger.json")

        def stamps(self):
            return {file: os.stat(self.path("out/partial/" + file)).st_mtime_ns
                    for file in self.partial()}

        def values(self, results):
            return {(row["quantity"], str(row["setting"])): row["ours"] for row in results["rows"]
                    if row["quantity"] in ("log_likelihood", "test_rmse")}

        def test_quick_run_resume_and_page(self):
            whole = self.results()
            self.assertEqual(len(self.partial()), CELLS)
            self.check_rows(whole)
            self.check_files(whole)
            # Everything is on the shelf: the same numbers without a run.
            before = self.stamps()
            self.assertEqual(self.values(self.results()), self.values(whole))
            self.assertEqual(self.stamps(), before)
            # One cell is gone, and only that one comes back: the same numbers again.
            os.remove(self.path("out/partial/compas-dmala-0.1-1.json"))
            kept = self.stamps()
            self.assertEqual(self.values(self.results()), self.values(whole))
            self.assertEqual(len(self.partial()), CELLS)
            after = self.stamps()
            self.assertEqual({file: after[file] for file in kept}, kept)
            self.check_time(whole)

        def check_time(self, whole):
            """No time: what is there, and word of what is missing."""
            for file in self.partial():
                if "gibbs" not in file:
                    os.remove(self.path("out/partial/" + file))
            done = self.results("--time", 1e-9)
            self.assertEqual(len(self.partial()), 2)
            gibbs = {k: v for k, v in self.values(whole).items() if "Gibbs" in k[1]}
            self.assertEqual(self.values(done), gibbs)
            with open(self.path("out/page.html"), encoding="utf-8") as file:
                self.assertIn("12 runs are missing", file.read())

        def check_rows(self, results):
            self.assertEqual((results["quick"], results["seeds"]), (True, 2))
            for label in LABELS:
                for quantity, low, high in (("log_likelihood", -0.6, -0.2), ("test_rmse", 0.4, 0.6)):
                    row, = [r for r in results["rows"]
                            if r["quantity"] == quantity and r["setting"]["sampler"] == label]
                    self.assertTrue(low < row["ours"] < high, row)
                    self.assertEqual((row["paper"], row["verdict"]), (None, "not published"))
            fit = {r["setting"]["sampler"]: r["ours"] for r in results["rows"]
                   if r["quantity"] == "log_likelihood"}
            self.assertGreater(fit["DMALA"], fit["Gibbs"])
            self.assertGreater(fit["DULA"], fit["DULA, batch 10"])

        def check_files(self, results):
            with open(self.path("out/curves.json"), encoding="utf-8") as file:
                curves = strict_json(file.read())["curves"]
            self.assertEqual([c["title"] for c in curves], ["compas: log-likelihood", "compas: test error"])
            for curve in curves:
                self.assertEqual([s["name"] for s in curve["series"]], LABELS)
                for series in curve["series"]:
                    self.assertEqual(series["x"], [1 + 20 * k for k in range(11)])
            if not os.path.exists(self.path("out/page.html")):
                return
            with open(self.path("out/page.html"), encoding="utf-8") as file:
                html = file.read()
            page = strict_json(re.search(r'id="page-data">(.*?)</script>', html, re.S).group(1))
            self.assertEqual(len(page["plots"]), 2)
            self.assertIn("quick version", html)
            self.assertEqual(page["facts"]["Command"], results["command"])

        def test_an_interrupt_keeps_finished_cells(self):
            process = self.begin("reproduce", "bnn", "--quick", "--out", "out")
            end = time.monotonic() + saltus_cli.TIMEOUT
            while len(self.partial()) < 2 and time.monotonic() < end:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=saltus_cli.TIMEOUT)
            self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
            self.assertEqual(out, b"")
            self.assertGreaterEqual(len(self.partial()), 2)
            self.assertFalse(os.path.exists(self.path("out/results.json")))


if __name__ == "__main__":
    try:
        saltus_cli.main()
    except SystemExit as finished:
        if not finished.code and not has_compas():
            print("skipped: $SALTUS_DATA names no folder with the set compas")
            sys.exit(SKIPPED)
        raise
