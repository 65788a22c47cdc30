"""saltus reproduce: the paper's experiments."""

import os
import re

import saltus_cli
from saltus_cli import CliTest, strict_json

USAGE, NO_INPUT, CANNOT_CREATE = 64, 66, 73
EXPERIMENTS = ["theory", "preconditioner", "categorical", "ising"]
VERDICTS = {"agrees", "differs", "cannot hold", "undecided", "not published"}
FILES = ["curves.json", "page.html", "results.json"]
SPINS, BITS = "{-1,1}", "{0,1}"


class ReproduceTest(CliTest):
    def run_quick(self, name, *arguments):
        """results.json of a quick run."""
        return strict_json(self.good("reproduce", name, "--quick", "--json", *arguments).out)

    def rows(self, results, quantity, **setting):
        return [row for row in results["rows"]
                if row["quantity"] == quantity and setting.items() <= row["setting"].items()]

    def ours(self, results, quantity, **setting):
        found = self.rows(results, quantity, **setting)
        self.assertEqual(len(found), 1, (quantity, setting, found))
        return found[0]["ours"]

    def read(self, *path):
        with open(self.path(os.path.join(*path)), encoding="utf-8") as file:
            return file.read()

    def assert_digits(self, value, wanted):
        """`wanted` as printed, to its last digit."""
        digits = len(re.sub(r"e.*", "", wanted).replace(".", "").lstrip("0"))
        self.assertLess(abs(value / float(wanted) - 1), 10.0 ** (1 - digits), (value, wanted))


class EveryExperiment(ReproduceTest):
    def test_the_list_has_names_and_times(self):
        out = self.good("reproduce").out
        for name in EXPERIMENTS:
            self.assertRegex(out, rf"(?m)^{name} ")
        self.assertGreaterEqual(out.count("with --quick about"), len(EXPERIMENTS))
        self.assertEqual(self.files(), [])

    def test_the_list_has_earlier_results(self):
        self.good("reproduce", "preconditioner", "--quick", "--seeds", 2, "--out", "results/here")
        out = self.good("reproduce").out
        self.assertRegex(out, r"results/here: \d{4}-\d\d-\d\d, from today, saltus [\d.]+, 2 seeds, quick: \d+ agree")
        listed = strict_json(self.good("reproduce", "--json").out)
        self.assertLessEqual(set(EXPERIMENTS), {entry["name"] for entry in listed})
        found = {entry["name"]: entry["results"] for entry in listed}
        self.assertEqual(found["theory"], [])
        here, = found["preconditioner"]
        self.assertEqual((here["folder"], here["seeds"], here["quick"]), ("results/here", 2, True))
        self.assertEqual(sum(here["verdicts"].values()), 43)
        other = strict_json(self.good("reproduce", "--json", "--results", "elsewhere").out)
        self.assertFalse(any(entry["results"] for entry in other))

    def test_results_page_and_curves(self):
        for name in EXPERIMENTS:
            with self.subTest(name):
                done = self.good("reproduce", name, "--quick", "--seed", 5, "--seeds", 2)
                folder = "reproduce-" + name
                page_built = os.path.exists(self.path(folder + "/page.html"))
                wanted = FILES if page_built else [f for f in FILES if f != "page.html"]
                self.assertEqual(sorted(os.listdir(self.path(folder))), wanted)
                for file in wanted:
                    self.assertIn(f"{folder}/{file}", done.out)
                results = strict_json(self.read(folder, "results.json"))
                self.check_results(name, results)
                self.check_curves(strict_json(self.read(folder, "curves.json")))
                if page_built:
                    self.check_page(self.read(folder, "page.html"), results)

    def check_results(self, name, results):
        self.assertLessEqual({"experiment", "version", "command", "date", "seed", "seeds", "machine",
                              "seconds", "rows"},
                             set(results))
        self.assertEqual((results["experiment"], results["seed"], results["seeds"]), (name, 5, 2))
        self.assertEqual(results["command"], f"saltus reproduce {name} --quick --seeds 2 --seed 5")
        self.assertGreater(results["seconds"], 0)
        self.assertGreater(len(results["rows"]), 10)
        for row in results["rows"]:
            self.assertEqual(set(row), {"quantity", "setting", "paper", "ours", "spread", "verdict", "note"})
            self.assertIn(row["verdict"], VERDICTS)
            self.assertIsInstance(row["setting"], dict)
            if row["verdict"] in ("differs", "cannot hold"):
                self.assertTrue(row["note"], row)
            if row["spread"] is not None:
                self.assertGreaterEqual(row["spread"], 0)
        keys = [(row["quantity"], str(row["setting"])) for row in results["rows"]]
        self.assertEqual(len(set(keys)), len(keys), "a quantity comes twice with the same setting")

    def check_curves(self, curves):
        self.assertTrue(curves["curves"])
        for plot in curves["curves"]:
            for series in plot["series"]:
                self.assertTrue(series.get("y") or series.get("boxes"), plot["title"])

    def check_page(self, html, results):
        data = strict_json(re.search(r'id="page-data">(.*?)</script>', html, re.S).group(1))
        self.assertGreaterEqual(len(data["plots"]), 2)
        for plot in data["plots"]:
            self.assertTrue(plot["summary"])
        rows = sum(len(table["rows"]) for table in data["tables"] if "Quantity" in table["columns"])
        self.assertEqual(rows, len(results["rows"]))
        self.assertEqual(data["facts"]["Command"], results["command"])

    def test_json_prints_the_file_and_nothing_else(self):
        out = self.good("reproduce", "theory", "--quick", "--json", "--out", "here").out
        self.assertEqual(out, self.read("here", "results.json"))
        self.assertEqual(self.files(), ["here"])

    def test_the_same_seed_gives_the_same_rows_for_any_threads(self):
        one, two = (self.run_quick("categorical", "--threads", n)["rows"] for n in (1, 2))
        self.assertEqual(one, two)

    def test_one_seed_has_no_spread(self):
        results = self.run_quick("preconditioner", "--seeds", 1)
        self.assertTrue(all(row["spread"] is None for row in results["rows"]))


class Theory(ReproduceTest):
    def test_exact_numbers(self):
        results = self.run_quick("theory")
        for alpha, l1 in {0.05: "3.6294023642e-05", 0.1: "5.3395909586e-03", 0.2: "5.9173395105e-02",
                          0.4: "1.6475121438e-01", 1: "2.6217020809e-01", 4: "3.1257264386e-01"}.items():
            bias = self.rows(results, "l1_bias", alpha=alpha, coding=BITS)[0]
            self.assertIsNone(bias["spread"])
            self.assert_digits(bias["ours"], l1)
        for alpha, l1 in {0.1: "1.6478442379e-09", 0.3: "1.0157452178e-03", 0.5: "1.4298419297e-02"}.items():
            self.assert_digits(self.ours(results, "l1_bias", alpha=alpha, coding=SPINS), l1)
        self.assert_digits(self.ours(results, "printed_bound", alpha=0.1, coding=BITS), "0.19601")
        self.assert_digits(self.ours(results, "corrected_bound", alpha=0.1, coding=BITS), "0.26834")
        self.assert_digits(self.ours(results, "corrected_bound", alpha=0.2, coding=SPINS), "1.8080e-3")
        self.assertEqual(self.rows(results, "corrected_bound", alpha=4, coding=BITS), [])
        self.assertLess(self.ours(results, "matrix_difference"), 1e-12)
        self.assertAlmostEqual(self.ours(results, "rate_constant"), 0.7995, delta=5e-5)

    def test_the_printed_bound_fails(self):
        results = self.run_quick("theory")
        for dim, l1, bound in (4, "6.039540996e-05", "5.513914857e-05"), (20, "1.50079069e-04", "5.66258421e-05"):
            self.assert_digits(self.ours(results, "l1_bias", dim=dim), l1)
            row, = self.rows(results, "printed_bound", dim=dim)
            self.assert_digits(row["ours"], bound)
            self.assertEqual(row["verdict"], "cannot hold")
            self.assertGreater(self.ours(results, "corrected_bound", dim=dim), float(l1))

    def test_sine_and_noisy_gradients(self):
        results = self.run_quick("theory")
        for alpha, eps, l1 in (1, 0, 0.001784), (1, 0.1, 0.193429), (0.2, 0, 0.000001), (10, 1, 0.880681):
            self.assertAlmostEqual(self.ours(results, "sine_l1_bias", alpha=alpha, epsilon=eps, coding=SPINS), l1,
                                   delta=5.1e-7)
        for gradient, l1 in {0: "1.67137850e-3", 1: "4.99081889e-3", -2: "7.79614505e-2"}.items():
            self.assert_digits(self.ours(results, "theorem3_l1", gradient=gradient), l1)
        self.assert_digits(self.ours(results, "theorem3_printed_bound", gradient=-2), "80.3")

    def test_chains_agree_with_the_exact_bias(self):
        row, = self.rows(self.run_quick("theory", "--seeds", 8), "l1_bias_of_chains")
        self.assertLess(abs(row["ours"] - 0.059173395), 4.5 * row["spread"])

    def test_step_sizes_by_choice(self):
        results = self.run_quick("theory", "--alpha", "0.3,0.08,0.6")
        alphas = [row["setting"]["alpha"] for row in self.rows(results, "l1_bias", coding=BITS)
                  if "target" not in row["setting"]]
        self.assertEqual(alphas, [0.3, 0.08, 0.6])
        self.assert_digits(self.rows(results, "l1_bias", alpha=0.6, coding=BITS)[0]["ours"], "2.1708016889e-01")
        self.assertTrue(results["command"].endswith("--alpha 0.3,0.08,0.6"))


class Preconditioner(ReproduceTest):
    def test_fair_coins_and_what_a_naive_exp_hides(self):
        results = self.run_quick("preconditioner")
        for coordinate in 1, 2:
            self.assertEqual(self.ours(results, "flip_probability", precondition=[1000, 0.001],
                                       coordinate=coordinate), 0.5)
        row, = self.rows(results, "log_rmse", precondition=[1000, 0.001])
        self.assertEqual((row["paper"], row["verdict"]), (-6.2, "agrees"))
        # -0.5 ln T - 0.288 for two fair coins; one run has a standard deviation of 0.641.
        self.assertLess(abs(row["ours"] + 5.698), 4 * 0.641 / 20 ** 0.5)
        plain = {"precondition": "none", "alpha": 1}
        exact, = self.rows(results, "log_rmse", **plain, arithmetic="exact")
        self.assertEqual(exact["verdict"], "cannot hold")
        self.assertLess(exact["ours"], -4)
        self.assertAlmostEqual(self.ours(results, "log_rmse", **plain, arithmetic="naive exp"), -0.3466, delta=1e-3)
        self.assertAlmostEqual(self.ours(results, "l1_of_law_at_even_time", **plain), 1, delta=1e-12)
        self.assertLess(self.ours(results, "l1_of_law_at_even_time", precondition=[1000, 0.001]), 1e-12)


class Categorical(ReproduceTest):
    def test_exact_numbers(self):
        results = self.run_quick("categorical")
        for alpha, l1 in {0.1: "4.503955497e-05", 0.2: "6.604930488e-03", 0.5: ".1079688148", 1: ".2195373886"}.items():
            self.assert_digits(self.ours(results, "l1_bias", model="separable", alpha=alpha), l1)
        self.assert_digits(self.ours(results, "l1_bias", model="coupled", alpha=0.5), ".18789014")
        self.assert_digits(self.ours(results, "acceptance", model="coupled", alpha=0.5), ".95799222")
        self.assertAlmostEqual(self.ours(results, "second_eigenvalue", model="separable", sampler="dula", alpha=0.1),
                               0.99988, delta=1e-5)


class Ising(ReproduceTest):
    @classmethod
    def setUpClass(cls):
        cls.results = None

    def setUp(self):
        super().setUp()
        if Ising.results is None:
            Ising.results = self.run_quick("ising", "--seeds", 3)

    def test_proposals_and_acceptance(self):
        for alpha, proposed, acceptance in ((0.1, 0.136277, 0.999), (0.2, 1.525595, 0.937), (0.4, 4.429854, 0.688),
                                            (0.6, 6.034710, 0.539), (1, 7.563036, 0.409), (2, 8.836010, 0.319)):
            setting = {"sampler": "DMALA", "alpha": alpha}
            self.assertAlmostEqual(self.ours(self.results, "proposed_changes_exact", **setting), proposed, delta=1e-6)
            row, = self.rows(self.results, "proposed_changes", **setting)
            # Independent states: the changes of one proposal have a standard deviation below 2.6.
            self.assertLess(abs(row["ours"] - proposed), 5 * 2.6 / (3 * 128 * 1500) ** 0.5, setting)
            self.assertAlmostEqual(self.ours(self.results, "acceptance", **setting), acceptance, delta=0.01)
        for flips, acceptance in {1: 0.954, 2: 0.864, 4: 0.657, 6: 0.494}.items():
            self.assertAlmostEqual(self.ours(self.results, "acceptance", sampler=f"GWG-{flips}"), acceptance, delta=0.01)
        self.assertEqual(self.rows(self.results, "acceptance", sampler="GWG-6")[0]["verdict"], "differs")

    def test_errors_after_50000_steps(self):
        # Means and standard deviations of a run, from an independent simulation; three runs here.
        for sampler, alpha, mean, sd in (("DMALA", 0.4, -4.55, 0.19), ("GWG-4", None, -4.46, 0.15),
                                         ("HB-10-1", None, -4.19, 0.17), ("GWG-1", None, -3.96, 0.12),
                                         ("LB-1", None, -3.96, 0.12), ("Gibbs-1", None, -3.78, 0.12),
                                         ("DULA", 0.2, -2.77, 0.06)):
            setting = {"sampler": sampler, "steps": 50000}
            if alpha:
                setting["alpha"] = alpha
            found = [r["ours"] for r in self.rows(self.results, "log_rmse", **setting) if "a" not in r["setting"]]
            self.assertEqual(len(found), 1)
            self.assertLess(abs(found[0] - mean), 4 * sd / 3 ** 0.5, sampler)

    def test_what_a_step_costs(self):
        for of, to, paper in ("DMALA", "GWG-1", 1), ("DMALA", "Gibbs-1", 2.5), ("DULA", "Gibbs-1", 1):
            row, = self.rows(self.results, "cost_ratio", sampler=of, to=to)
            self.assertEqual(row["paper"], paper)
            self.assertGreater(row["ours"], 0)
            self.assertIn(row["verdict"], {"agrees", "differs", "undecided"})

    def test_what_cannot_hold(self):
        row, = self.rows(self.results, "log_rmse_difference", sampler="DULA 0.2", less="GWG-1")
        self.assertEqual(row["verdict"], "cannot hold")
        self.assertIn("-2.817", row["note"])
        floor = [r for r in self.rows(self.results, "dula_floor", alpha=0.2)]
        self.assertAlmostEqual(floor[0]["ours"], -2.8169, delta=1e-4)


class Refusals(ReproduceTest):
    def refused(self, status, *arguments):
        return self.refusal(status, "reproduce", *arguments)

    def test_refusals(self):
        self.assertIn("theory", self.refused(USAGE, "alchemy"))
        for bad in "0", "-1", "x", "0.1,,0.2", "inf", "nan", "0.1,":
            self.refused(USAGE, "theory", "--alpha", bad)
        self.refused(USAGE, "theory", "--seeds", 0)
        self.refused(USAGE, "theory", "--seed", "x")
        self.write("taken", "a file")
        self.assertIn("taken", self.refused(CANNOT_CREATE, "theory", "--quick", "--out", "taken"))
        self.assertIn("taken", self.refused(CANNOT_CREATE, "theory", "--quick", "--out", "taken/below"))

    def test_an_interrupt_leaves_nothing(self):
        self.leaves_nothing_when_interrupted("reproduce", "ising", "--seeds", 200)


if __name__ == "__main__":
    saltus_cli.main()
