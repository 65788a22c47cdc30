"""saltus compare: the race's table, JSON and files; and sampling with --sampler auto."""
import csv
import json
import os
import shlex

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

    def test_table_ends_with_the_verdict_and_the_command(self):
        run = self.good("compare", "--budget", "0.05", "--samplers", "dmala,gwg:flips=2,dula")
        self.assertIn("not exact, so not ranked", run.out)
        lines = run.out.strip().splitlines()
        self.assertRegex(lines[-5], r"^Per second: (dmala|gwg:flips=2) (is best|and)")
        self.assertRegex(lines[-5], r"95 % interval [0-9.]+ to [0-9.]+")
        self.assertRegex(lines[-2], r"^To draw with (dmala|gwg:flips=2) as it was raced:$")
        self.assertRegex(run.out, r"(?m)^gwg .*  flips 2$")
        # The settings are the race's: nothing is tuned again.
        words = shlex.split(lines[-1])
        self.assertEqual(words[:3], ["saltus", "sample", "ising-lattice"])
        summary = self.good(*words[1:], "--draws", "100").out
        self.assertNotIn("tuned in warm-up", summary)

    def test_commands_hold_all_settings(self):
        self.write("my model.json", {"model": "ising", "n": 4, "couplings": [[0, 1, 0.3], [2, 3, 0.2]], "fields": [0.1] * 4})
        j = self.compare("my model.json", "--budget", "0.02")
        for r in j["results"]:
            words = shlex.split(r["command"])
            self.assertEqual(words[:3], ["saltus", "sample", "my model.json"])
            again = strict_json(self.good(*words[1:], "--draws", "50", "--warmup", "20", "--json").out)
            self.assertEqual(again["sampler"], r["sampler"])
            now, then = again["parameters"], r["parameters"]
            self.assertEqual({k: v for k, v in now.items() if k != "adapt"},
                             {k: v for k, v in then.items() if k != "adapt"})
        by_name = {r["sampler"]: r for r in j["results"]}
        self.assertEqual(by_name["gibbs"]["settings"], {"block": "1", "scan": "permutation", "updates": "sweep"})
        self.assertEqual(j["best"]["command"], by_name[j["best"]["sampler"]]["command"])

    def test_nobody_wins_where_nothing_mixes(self):
        n = 300  # all up or all down: no sampler moves these, tempered or not, in this time
        pairs = [[i, j, 4.0] for i in range(n) for j in range(i)]
        self.write("stuck.json", {"model": "ising", "n": n, "couplings": pairs, "fields": [0] * n})
        args = "stuck.json", "--budget", "0.02", "--samplers", "dmala,rwm"
        j = self.compare(*args)
        self.assertIsNone(j["best"])
        self.assertIsNone(j["best_per_evaluation"])
        self.assertFalse(any(r["mixed"] for r in j["results"]))
        self.assertTrue(any(r["tempered"] for r in j["results"]))
        self.assertIn("No winner", j["sentence"])
        out = self.good("compare", *args).out
        self.assertIn("--budget", out.strip().splitlines()[-1])
        self.assertNotIn("is best", out)
        self.assertNotIn("To draw with", out)

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
    def setUp(self):
        super().setUp()
        self.cache = self.path("cache")

    def auto(self, *args, cache=None):
        return self.saltus("sample", "--sampler", "auto", *args, env={"XDG_CACHE_HOME": cache or self.cache})

    def kept(self):
        folder = os.path.join(self.cache, "saltus")
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]

    def test_the_command_makes_the_same_draws_without_a_race(self):
        for args in ([], ["--set", "flips=2", "--thin=2"]):
            j = strict_json(self.auto("--draws", "500", "--json", "--seed", "5", "--no-cache", *args).out)
            self.assertRegex(j["auto"]["reason"], r"best of \d+ exact samplers in a race")
            winner = j["auto"]["race"][0]
            self.assertEqual(winner["sampler"], j["sampler"])
            words = shlex.split(j["auto"]["command"])
            self.assertNotIn("auto", words)
            again = strict_json(self.good(*words[1:]).out)
            self.assertEqual(again["mean"], j["mean"])
            self.assertNotIn("auto", again)

    def test_text_says_which_and_why_and_how_to_repeat_it(self):
        run = self.good("sample", "--sampler", "auto", "--draws", "500")
        self.assertRegex(run.out, r"(?m)^chosen    .*exact sampler")
        self.assertRegex(run.out, r"(?m)^repeat    saltus sample --draws 500 --sampler [a-z_]+")

    def test_a_seed_has_one_winner(self):
        args = "--draws", "400", "--json", "--seed", "8"
        first = strict_json(self.auto(*args).out)
        self.assertFalse(first["auto"]["kept"])
        self.assertEqual(len(self.kept()), 1)
        again = strict_json(self.auto(*args, "--threads", "1").out)
        self.assertTrue(again["auto"]["kept"])
        for field in "sampler", "parameters", "mean":
            self.assertEqual(again[field], first[field])
        self.assertEqual(again["auto"]["race"], first["auto"]["race"])
        self.assertEqual(again["auto"]["reason"], first["auto"]["reason"])
        self.assertFalse(strict_json(self.auto(*args[:-1], "9").out)["auto"]["kept"])  # another seed
        self.assertFalse(strict_json(self.auto(*args, "--no-cache").out)["auto"]["kept"])
        self.assertEqual(len(self.kept()), 2)

    def test_a_kept_choice_decides(self):
        """The file says what is drawn with, not another race."""
        args = "--draws", "100", "--json"
        self.auto(*args)
        name = self.kept()[0]
        with open(name) as file:
            body = file.read().split("\n", 1)[1]
        record = json.loads(body)
        record["choice"]["winner"] = {"sampler": "rwm", "settings": {"rate": "1.5"}, "tempered": False}
        body = json.dumps(record) + "\n"
        sum_ = 14695981039346656037  # FNV-1a
        for byte in body.encode():
            sum_ = (sum_ ^ byte) * 1099511628211 % 2**64
        with open(name, "w") as file:
            file.write(f"{sum_:016x}\n{body}")
        self.assertEqual(strict_json(self.auto(*args).out)["sampler"], "rwm")

    def test_damaged_files_are_ignored_and_written_anew(self):
        args = "--draws", "400", "--json"
        first = strict_json(self.auto(*args).out)
        name = self.kept()[0]
        with open(name, "rb") as file:
            whole = file.read()
        for damage in b"", whole[:30], whole.replace(b"gibbs", b"gibbz"), b"\xff" * 100, whole + b" ":
            with open(name, "wb") as file:
                file.write(damage)
            run = self.auto(*args)
            self.assertEqual(run.status, 0, run)
            self.assertFalse(strict_json(run.out)["auto"]["kept"])
            self.assertTrue(strict_json(self.auto(*args).out)["auto"]["kept"])
        self.assertEqual(len(self.kept()), 1)
        self.assertIn(first["sampler"], {r["sampler"] for r in first["auto"]["race"]})

    def test_no_place_for_a_cache_is_no_error(self):
        self.write("file", "")
        for cache in os.devnull, self.path("file"), "/proc":
            run = self.auto("--draws", "100", "--json", cache=cache)
            self.assertEqual(run.status, 0, run)
            self.assertFalse(strict_json(run.out)["auto"]["kept"])
        run = self.saltus("sample", "--sampler", "auto", "--draws", "100", env={"XDG_CACHE_HOME": "", "HOME": ""})
        self.assertEqual(run.status, 0, run)
        run = self.saltus("sample", "--sampler", "auto", "--draws", "100", env={"XDG_CACHE_HOME": "", "HOME": self.folder})
        self.assertEqual(len(os.listdir(self.path(".cache/saltus"))), 1)

    def test_resumes_with_the_winner_and_says_why(self):
        run = strict_json(self.auto("--draws", "2000", "--checkpoint", "a.ck", "--json").out)
        more = strict_json(self.good("sample", "--resume", "a.ck", "--draws", "3000", "--json").out)
        self.assertEqual(more["sampler"], run["sampler"])
        for field in "reason", "race", "seconds", "command":
            self.assertEqual(more["auto"][field], run["auto"][field])  # no other race

    def test_set_is_for_those_that_have_it(self):
        j = strict_json(self.auto("--set", "flips=3", "--draws", "100", "--json").out)
        settings = {r["sampler"]: r["settings"] for r in j["auto"]["race"]}
        self.assertEqual(settings["gwg"], {"flips": "3"})
        self.assertEqual(settings["pas"], {"flips": "3"})
        self.assertEqual(settings["dmala"], {})
        for setting, words in (("flip=3", "has a parameter 'flip'"), ("flips=x", "flips=x"),
                               ("temperatur=1", "Did you mean temperature?")):
            run = self.auto("--set", setting)
            self.assertEqual(run.status, 64)
            self.assertIn(words, run.err)


if __name__ == "__main__":
    saltus_cli.main()
