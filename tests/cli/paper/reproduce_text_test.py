"""saltus reproduce text: samplers that fill the gaps of sentences. The runs need $SALTUS_DATA with the set text
and a program with libtorch."""

import os
import re
import subprocess
import sys
import time

import saltus_cli
from saltus_cli import CliTest, strict_json

USAGE, NO_INPUT, SKIPPED = 64, 66, 77
data = os.environ.get("SALTUS_DATA", "")
LABELS = ["Gibbs", "GWG", "DULA", "DMALA"]
MEASURES = ["self_bleu", "unique_self_2", "unique_self_3", "unique_wt103_2", "unique_wt103_3", "unique_tbc_2",
            "unique_tbc_3", "bleu"]
CELLS = 16  # of --quick with a step size: four samplers, four sentences


def has_text():
    return bool(data) and any(os.path.exists(os.path.join(data, folder, "tbc.5k.txt" + end))
                              for folder in ("text", "") for end in ("", ".gz"))


def has_torch():
    trial = subprocess.run([saltus_cli.program, "infill", "a [MASK]", "--score", "man"], capture_output=True)
    return b"built without libtorch" not in trial.stderr


class Refusals(CliTest):
    def refused(self, status, *arguments):
        return self.refusal(status, "reproduce", *arguments)

    def test_refusals(self):
        self.assertIn("--model", self.refused(USAGE, "theory", "--model", "nowhere"))
        self.assertIn("wiki103.5k.txt", self.refused(NO_INPUT, "text", "--data", "nowhere"))
        if has_text() and has_torch():
            self.assertIn("nowhere", self.refused(NO_INPUT, "text", "--model", "nowhere"))


class Text(CliTest):
    def setUp(self):
        super().setUp()
        if not has_text() or not has_torch():
            self.skipTest("needs $SALTUS_DATA with the set text, and libtorch")

    def results(self, *arguments):
        self.good("reproduce", "text", "--quick", "--alpha", 0.15, "--out", "out", *arguments)
        with open(self.path("out/results.json"), encoding="utf-8") as file:
            return strict_json(file.read())

    def partial(self):
        return sorted(f for f in os.listdir(self.path("out/partial")) if "-" in f)

    def values(self, results):
        return {(row["quantity"], str(row["setting"])): row["ours"] for row in results["rows"]
                if row["quantity"] != "seconds"}

    def test_quick_run_resume_and_page(self):
        whole = self.results()
        self.assertEqual(len(self.partial()), CELLS)
        self.check_rows(whole)
        self.check_page()
        # Everything is on the shelf: the same numbers without a run.
        start = time.monotonic()
        self.assertEqual(self.values(self.results()), self.values(whole))
        self.assertLess(time.monotonic() - start, 20)
        # Two cells are gone. Without time for them their samplers have no numbers; with it, the same.
        for sampler in ("gwg", "dmala"):
            os.remove(self.path("out/partial/" + [f for f in self.partial() if f.startswith(sampler)][0]))
        rest = self.results("--time", 1e-9)
        self.assertEqual({row["setting"]["sampler"] for row in rest["rows"] if row["quantity"] == "bleu"},
                         {"Gibbs", "DULA"})
        if os.path.exists(self.path("out/page.html")):
            with open(self.path("out/page.html"), encoding="utf-8") as file:
                self.assertIn("2 cells (a sentence", file.read())
        self.assertEqual(self.values(self.results()), self.values(whole))

    def check_rows(self, results):
        self.assertEqual((results["quick"], results["seeds"]), (True, 1))
        for quantity in MEASURES:
            rows = [r for r in results["rows"] if r["quantity"] == quantity]
            self.assertEqual([r["setting"]["sampler"] for r in rows], LABELS)
            for row in rows:
                self.assertTrue(0 < row["ours"] < 100, row)
        for row in results["rows"]:
            self.assertEqual((row["paper"], row["verdict"]), (None, "not published"))
        acceptance = {r["setting"]["sampler"]: r["ours"] for r in results["rows"] if r["quantity"] == "acceptance"}
        self.assertEqual(set(acceptance), {"GWG", "DMALA"})
        self.assertTrue(all(0.1 < a < 0.95 for a in acceptance.values()), acceptance)
        # The differences are those of the numbers.
        bleu = {r["setting"]["sampler"]: r["ours"] for r in results["rows"] if r["quantity"] == "self_bleu"}
        row, = [r for r in results["rows"] if r["quantity"] == "self_bleu_difference"
                and r["setting"]["samplers"] == "DMALA and GWG"]
        self.assertAlmostEqual(row["ours"], bleu["DMALA"] - bleu["GWG"], places=9)

    def check_page(self):
        if not os.path.exists(self.path("out/page.html")):
            return
        with open(self.path("out/page.html"), encoding="utf-8") as file:
            html = file.read()
        self.assertIn("not BERT-base", html)
        self.assertIn("86.8", html)  # the paper's
        page = strict_json(re.search(r'id="page-data">(.*?)</script>', html, re.S).group(1))
        examples = [t for t in page["tables"] if t["columns"] == ["Sampler", "U", "Sentence"]]
        self.assertEqual([len(t["rows"]) for t in examples], [12, 12])
        self.assertEqual(html.count("<strong><mark>") > 0, True)


if __name__ == "__main__":
    try:
        saltus_cli.main()
    except SystemExit as finished:
        if not finished.code and not has_text():
            print("skipped: $SALTUS_DATA names no folder with the set text")
            sys.exit(SKIPPED)
        raise
