"""saltus reproduce ising-learning: couplings learned from samples."""

import math
import os
import re
import shutil

import saltus_cli
from saltus_cli import CliTest, strict_json

NAME = "ising-learning"
SAMPLERS = {"DMALA": 0.15, "DULA": 0.1, "GWG-1": None, "Gibbs-1": None}
ROW = {"quantity", "setting", "paper", "ours", "spread", "verdict", "note"}
TIMES = "milliseconds_per_iteration"


def untimed(results):
    return [row for row in results["rows"] if row["quantity"] != TIMES]


class QuickRun(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.made = CliTest("setUp")
        cls.made.setUp()
        cls.made.good("reproduce", NAME, "--quick", "--threads", 2)
        with open(cls.made.path(f"reproduce-{NAME}/results.json"), encoding="utf-8") as file:
            cls.results = strict_json(file.read())

    @classmethod
    def tearDownClass(cls):
        cls.made.doCleanups()

    def read(self, name):
        with open(self.made.path(f"reproduce-{NAME}/{name}"), encoding="utf-8") as file:
            return file.read()

    def rows(self, quantity, **setting):
        return [row for row in self.results["rows"]
                if row["quantity"] == quantity and setting.items() <= row["setting"].items()]

    def ours(self, quantity, **setting):
        found = self.rows(quantity, **setting)
        self.assertEqual(len(found), 1, (quantity, setting, found))
        return found[0]["ours"]

    def test_rows(self):
        self.assertEqual(self.results["experiment"], NAME)
        self.assertTrue(self.results["quick"])
        for row in self.results["rows"]:
            self.assertEqual(set(row), ROW)
            self.assertIsNotNone(row["ours"], row)
            # A smaller lattice than the paper's has nothing to agree with.
            self.assertEqual((row["verdict"], row["paper"]), ("not published", None), row)
        keys = [(row["quantity"], str(row["setting"])) for row in self.results["rows"]]
        self.assertEqual(len(set(keys)), len(keys), "a quantity comes twice with the same setting")

    def test_reference_lines(self):
        zero = math.log(0.25 * math.sqrt(4 / 100))
        self.assertAlmostEqual(self.ours("log_rmse", couplings="all 0"), zero, delta=1e-9)
        # 9,900 couplings of variance 0.01^2 / 2, of which the mean square has a relative
        # deviation of sqrt(2 / 4950), and their sum with the truth one of 0.01 sqrt(2) / 0.25 / 20.
        start = math.log(0.05 ** 2 + 0.99 * 0.01 ** 2 / 2) / 2
        self.assertAlmostEqual(self.ours("log_rmse", couplings="at the start"), start, delta=0.015)

    def test_the_data_are_of_the_lattice(self):
        # Onsager: 0.87278 without boundaries; ten sites around are slightly more in order.
        self.assertAlmostEqual(self.ours("product_of_neighbours"), 0.8735, delta=0.006)

    def test_every_sampler_learns(self):
        zero = self.ours("log_rmse", couplings="all 0")
        for sampler, alpha in SAMPLERS.items():
            setting = {"sampler": sampler, "alpha": alpha} if alpha else {"sampler": sampler}
            last = max(self.rows("log_rmse", **setting, steps=20), key=lambda row: row["setting"]["iterations"])
            self.assertEqual(last["setting"]["iterations"], 2400 if sampler == "Gibbs-1" else 1200)
            self.assertLess(last["ours"], zero - 0.45, setting)
            self.assertGreater(self.ours("coupling_of_neighbours", **setting), 0.1)
            self.assertLess(self.ours("coupling_of_others", **setting), 0.03)
            self.assertGreater(self.ours(TIMES, **setting), 0)
        for alpha in 0.15, 0.2:
            dmala = self.ours("log_rmse", sampler="DMALA", alpha=alpha, steps=20)
            self.assertLess(dmala, zero - 0.6)
            self.assertLess(self.ours("acceptance", sampler="DMALA", alpha=alpha), 1)
        self.assertEqual(self.ours("acceptance", sampler="DULA"), 1)

    def test_errors_by_number_of_steps(self):
        for sampler, alpha in SAMPLERS.items():
            setting = {"sampler": sampler, "alpha": alpha} if alpha else {"sampler": sampler}
            error = {row["setting"]["steps"]: row["ours"] for row in self.rows("log_rmse", **setting, iterations=1200)}
            self.assertEqual(sorted(error), [2, 5, 20])
            self.assertLess(error[20], error[2], "more steps, smaller error")

    def test_finished_runs_are_kept(self):
        folder = self.made.path(f"reproduce-{NAME}/partial")
        runs = [name for name in os.listdir(folder) if name != "ledger.json"]
        self.assertEqual(len(runs), 13)
        shutil.copytree(folder, self.path("again/partial"))
        no_time = "reproduce", NAME, "--quick", "--json", "--time", 1e-9, "--out", "again"
        self.assertEqual(strict_json(self.good(*no_time).out)["rows"], self.results["rows"])
        more = strict_json(self.good(*no_time, "--seeds", 2).out)
        self.assertEqual(more["rows"], self.results["rows"], "the second seed is missing")
        with open(self.path("again/curves.json"), encoding="utf-8") as file:
            self.assertIn("13 runs are missing", file.read())

    def test_page_and_curves(self):
        curves = strict_json(self.read("curves.json"))["curves"]
        titles = ["Error against iterations", "Error against time", "Error against steps of the sampler"]
        self.assertEqual([plot["title"] for plot in curves], titles)
        for plot in curves:
            names = [series["name"] for series in plot["series"]]
            self.assertIn("all couplings 0", names)
            for sampler in SAMPLERS:
                self.assertTrue(any(name.startswith(sampler) for name in names), (sampler, names))
            for series in plot["series"]:
                self.assertEqual(len(series["x"]), len(series["y"]))
                self.assertEqual(series["x"], sorted(series["x"]))
        if os.path.exists(self.made.path(f"reproduce-{NAME}/page.html")):
            html = self.read("page.html")
            data = strict_json(re.search(r'id="page-data">(.*?)</script>', html, re.S).group(1))
            self.assertEqual([plot["title"] for plot in data["plots"]], titles)
            self.assertIn("This is the quick version", html)

    def test_the_same_for_any_threads(self):
        again = strict_json(self.good("reproduce", NAME, "--quick", "--json", "--threads", 1).out)
        self.assertEqual(untimed(again), untimed(self.results))


class Interrupt(CliTest):
    def test_leaves_nothing(self):
        self.leaves_nothing_when_interrupted("reproduce", NAME)


if __name__ == "__main__":
    saltus_cli.main()
