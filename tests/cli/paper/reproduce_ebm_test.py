"""saltus reproduce ebm --quick: a cell of Table 1 in slices. Needs libtorch and $SALTUS_DATA with static_mnist."""

import os
import sys

import saltus_cli
from ebm_cases import has_torch
from saltus_cli import CliTest, strict_json

USAGE, SKIPPED = 64, 77
data = os.environ.get("SALTUS_DATA", "")


class Quick(CliTest):
    def results(self, folder):
        with open(self.path(folder + "/results.json"), encoding="utf-8") as file:
            return strict_json(file.read())

    def rows(self, results, quantity):
        return [row for row in results["rows"] if row["quantity"] == quantity]

    def test_one_cell_at_once_and_in_slices(self):
        arguments = ["reproduce", "ebm", "--quick", "--only", "static_mnist/dmala", "--threads", 2]
        self.good(*arguments, "--out", "whole")
        whole = self.results("whole")
        row, = self.rows(whole, "test_log_likelihood")
        self.assertEqual((row["paper"], row["verdict"]), (None, "not published"))
        self.assertEqual((row["setting"]["dataset"], row["setting"]["sampler"]), ("static_mnist", "DMALA"))
        self.assertTrue(row["setting"]["low"] <= row["ours"] <= row["setting"]["high"], row)
        self.assertTrue(-600 < row["ours"] < -100, row)
        self.assertEqual(self.rows(whole, "iterations")[0]["ours"], 60)
        # Hardly anything: the terminal says that it goes on.
        done = self.good(*arguments, "--out", "begun", "--time", 1e-6)
        self.assertIn("The same command goes on where it stopped.", done.out)
        for seconds in range(2, 30):  # a slow machine needs longer slices to come further than reading
            self.good(*arguments, "--out", "parts", "--time", seconds)
            parts = self.results("parts")
            if self.rows(parts, "test_log_likelihood"):
                break
        again, = self.rows(parts, "test_log_likelihood")
        self.assertEqual(again, row)
        self.assertEqual(self.rows(parts, "validation_log_likelihood"), self.rows(whole, "validation_log_likelihood"))
        if os.path.exists(self.path("whole/page.html")):
            with open(self.path("whole/page.html"), encoding="utf-8") as file:
                html = file.read()
            for text in "Table 1", "This is the quick version", "validation log-likelihood", "Chains of the learning":
                self.assertIn(text, html)

    def test_unknown_parts(self):
        done = self.saltus("reproduce", "ebm", "--quick", "--only", "static_mnist/hmc")
        self.assertEqual(done.status, USAGE, str(done))
        self.assertIn("dynamic_mnist", done.err)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: reproduce_ebm_test.py /path/to/saltus")
    saltus_cli.program = os.path.abspath(sys.argv[1])
    if not os.path.isdir(os.path.join(data, "static_mnist")) or not has_torch():
        print("needs libtorch and the set static_mnist in $SALTUS_DATA: skipped")
        sys.exit(SKIPPED)
    saltus_cli.main()
