"""saltus compare: the race's table, JSON and files; and sampling with --sampler auto."""
import csv

import saltus_cli
from saltus_cli import CliTest, strict_json


class CompareTest(CliTest):
    def compare(self, *args):
        return strict_json(self.good("compare", *args, "--json").out)

    def test_json_has_every_figure(self):
        j = self.compare("ising-2x2", "--budget", "0.05", "--samplers", "dmala,dula", "--chains", "4")
        self.assertEqual(j["chains"], 4)
        self.assertEqual(j["budget"], 0.05)
        self.assertTrue(j["exact_known"])
        by_name = {r["sampler"]: r for r in j["results"]}
        self.assertEqual(set(by_name), {"dmala", "dula"})
        for r in by_name.values():
            for field in ("acceptance_rate", "changes", "steps_per_second", "ess_per_second",
                          "ess_per_evaluation", "ess_relative_error", "rhat", "error"):
                self.assertIsInstance(r[field], (int, float), field)
            self.assertGreater(r["seconds"], 0)
            self.assertGreater(r["ess"]["of_means"], 10)
        # The unadjusted sampler is marked, its exact bias is shown, and it is not ranked.
        self.assertFalse(by_name["dula"]["exact"])
        self.assertFalse(by_name["dula"]["ranked"])
        self.assertGreater(by_name["dula"]["bias_l1"], 0.01)
        self.assertIsNone(by_name["dmala"]["bias_l1"])
        self.assertEqual(j["best"]["sampler"], "dmala")
        self.assertEqual(j["results"][-1]["sampler"], "dula")

    def test_all_samplers_take_part(self):
        names = [line.split()[0] for line in self.good("samplers").out.splitlines()]
        j = self.compare("ising-lattice", "--budget", "0.02", "--chains", "2")
        raced = {r["sampler"] for r in j["results"]}
        self.assertTrue(raced <= set(names))
        self.assertIn("dmala", raced)
        self.assertIn("gwg", raced)
        self.assertNotIn("block_gibbs", raced)  # a lattice has no hidden units
        best = j["best"]
        self.assertLessEqual(best["low"], best["ratio"])
        self.assertLessEqual(best["ratio"], best["high"])
        ranked = [r["ess_per_second"] for r in j["results"] if r["ranked"] and r["ess_per_second"]]
        self.assertEqual(ranked, sorted(ranked, reverse=True))

    def test_table_ends_with_the_verdict(self):
        run = self.good("compare", "--budget", "0.05", "--samplers", "dmala,gwg:flips=2,dula")
        self.assertIn("not exact, so not ranked", run.out)
        last = run.out.strip().splitlines()[-2]
        self.assertRegex(last, r"^Per second: (dmala|gwg) (is best|and)")
        self.assertRegex(last, r"95 % interval [0-9.]+ to [0-9.]+")

    def test_files(self):
        for name in "c.json", "c.csv":
            run = self.good("compare", "ising-2x2", "--budget", "0.02", "--samplers", "dmala,dula",
                              "--out", name)
        with open(self.path("c.json")) as f:
            self.assertEqual(len(strict_json(f.read())["results"]), 2)
        with open(self.path("c.csv")) as f:
            rows = list(csv.DictReader(f))
        self.assertEqual([r["sampler"] for r in rows], ["dmala", "dula"])
        self.assertGreater(float(rows[0]["ess_per_second"]), 0)

    def test_refusals(self):
        for args, words in (
            (("--samplers", "nonsense"), "there is no sampler 'nonsense'"),
            (("--samplers", "dmala:step"), "expected NAME or NAME:KEY=VALUE"),
            (("--samplers", "block_gibbs"), "hidden units"),
            (("--budget", "0"), "budget"),
            (("--out", "c.txt"), "FILE.json or FILE.csv"),
        ):
            run = self.saltus("compare", *args)
            self.assertEqual(run.status, 64, args)
            self.assertIn(words, run.err)


class AutoTest(CliTest):
    def test_the_winner_is_named_and_gives_its_own_draws(self):
        run = self.saltus("sample", "--sampler", "auto", "--draws", "500", "--json", "--seed", "5")
        j = strict_json(run.out)
        self.assertRegex(j["auto"]["reason"], r"best of \d+ exact samplers in a race")
        winner = j["auto"]["race"][0]
        self.assertEqual(winner["sampler"], j["sampler"])
        args = [f for key, value in winner["settings"].items() for f in ("--set", f"{key}={value}")]
        again = self.good("sample", "--sampler", winner["sampler"], *args, "--draws", "500",
                            "--json", "--seed", "5")
        self.assertEqual(strict_json(again.out)["mean"], j["mean"])

    def test_text_says_which_and_why(self):
        run = self.good("sample", "--sampler", "auto", "--draws", "500")
        self.assertRegex(run.out, r"(?m)^chosen    .*exact sampler")

    def test_resumes_with_the_winner(self):
        run = self.good("sample", "--sampler", "auto", "--draws", "2000", "--checkpoint", "a.ck",
                          "--json")
        more = self.good("sample", "--resume", "a.ck", "--draws", "3000", "--json")
        self.assertEqual(strict_json(more.out)["sampler"], strict_json(run.out)["sampler"])

    def test_set_is_refused(self):
        run = self.saltus("sample", "--sampler", "auto", "--set", "step_size=1")
        self.assertEqual(run.status, 64)
        self.assertIn("auto", run.err)


if __name__ == "__main__":
    saltus_cli.main()
