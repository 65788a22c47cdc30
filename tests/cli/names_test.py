"""Names of coordinates and levels: in models, tables, summaries, files of draws and pages."""

import math
import unittest

import saltus_cli
from problems_test import DATA, Problems
from saltus_cli import has_netcdf, has_pages, strict_json

NAMES, LEVELS = ["rain", 'wet "grass"'], [["no", "yes"], ["dry", "damp", "soaked"]]
MODELS = {
    "ising": {"n": 2, "couplings": [[0, 1, .3]], "fields": [.1, .2]},
    "quadratic": {"levels": [2, 3], "A": [[0, 1, .3]], "b": [.1, .2]},
    "potts": {"levels": [2, 3], "pairwise": [{"between": [0, 1], "table": [[1, 2, 3], [0, 1, 0]]}]},
    "factors": {"levels": [2, 3], "factors": [{"over": [0, 1], "log": [1, 2, "-inf", 0, 1, 0]}]},
    "bernoulli": {"logits": [.1, -.2]},
}


def levels_of(kind):
    return LEVELS[0] if kind in ("ising", "bernoulli") else LEVELS


class Names(Problems):
    def model(self, kind, **more):
        return self.write(f"{kind}.json", {"model": kind, **MODELS[kind], "names": NAMES, "level_names": levels_of(kind), **more})

    def test_every_kind_of_model(self):
        for kind in MODELS:
            with self.subTest(kind):
                name = self.model(kind)
                summary = self.summary(name, "--draws", 50)
                self.assertEqual((summary["labels"], summary["level_names"]), (NAMES, levels_of(kind)))
                written = self.as_json(name)
                self.assertEqual((written["labels"], written["level_names"]), (NAMES, levels_of(kind)))
                self.good("convert", "as_json.json", "again.json")
                self.assertEqual(self.as_json("again.json"), written)
                exact = self.good("exact", name).out
                self.assertIn("      rain ", exact)
                self.assertIn('wet "grass" ', exact)
                self.assertEqual(strict_json(self.good("exact", name, "--json").out)["labels"], NAMES)
                self.assertEqual(self.best(name)["level_names"], levels_of(kind))
                text = self.good("sample", name, "--draws", 50).out
                self.assertIn("\nrain ", text)
                if kind in ("potts", "factors"):
                    self.assertRegex(text, r'\nwet "grass" +dry .*\n +damp .*\n +soaked ')

    def test_files_of_draws(self):
        name = self.model("potts")
        for out in ["d.npz"] + (["d.nc"] if has_netcdf() else []):
            self.good("sample", name, "--draws", 200, "--out", out)
            text = self.good("diagnose", out).out
            self.assertIn("\nrain ", text)
            self.assertIn(" soaked ", text)
            if has_pages():
                self.good("report", out, "--out", "page.html")
                page = self.read("page.html").decode()
                self.assertIn("soaked", page)
                self.assertIn("rain", page)

    def test_terminals_are_not_steered(self):
        self.write("m.json", {"model": "bernoulli", "logits": [0], "names": ["\u001b[31mred" + "d" * 100]})
        text = self.good("sample", "m.json", "--draws", 50).out
        self.assertNotIn("\x1b", text)
        self.assertNotIn("d" * 50, text)

    def test_other_formats(self):
        name = self.model("ising")
        for out in ("o.bqm", "o.coo", "o.uai", "o.dimod.json"):
            self.assertIn("--drop-labels", self.refusal(DATA, "convert", name, out))
            self.good("convert", name, out, "--drop-labels")
        self.write("m.json", {"model": "ising", **MODELS["ising"], "level_names": LEVELS[0]})
        self.assertIn("names of levels such as no", self.refusal(DATA, "convert", "m.json", "o.bqm"))

    def test_refusals(self):
        for field, value, words in [
                ("names", ["a"], "has 1 entries"), ("names", ["a", "a"], "repeats"), ("names", ["a", 3], "names[1] is not a text"),
                ("names", "ab", "names"), ("labels", ["a", "b"], "one of them"), ("level_names", ["no"], "has 1 names; coordinate 0 has 2"),
                ("level_names", [["a", "b"], ["a", "b"]], "level_names[1] has 2 names; coordinate 1 has 3"),
                ("level_names", [["a", "b"]], "has 1 lists"), ("level_names", [["a", "a"], LEVELS[1]], "level_names[0][1] repeats"),
                ("level_names", [["a", 1], LEVELS[1]], "level_names[0][1] is not a text"), ("level_names", [], "is empty"),
                ("level_names", {"a": 1}, "level_names")]:
            with self.subTest(f"{field} {value}"):
                self.assertIn(words, self.refusal(DATA, "logz", self.model("potts", **{field: value})))


class Answers(Problems):
    def test_exact(self):
        self.copy("net.uai")
        exact = strict_json(self.good("exact", "net.uai", "--answers", "a.PR", "--json").out)
        task, value = self.read("a.PR").decode().split()
        self.assertEqual(task, "PR")
        self.assertAlmostEqual(float(value), exact["log_z"] / math.log(10), delta=1e-12)
        self.good("exact", "net.uai", "--answers", "a.mar")
        words = self.read("a.mar").decode().split()
        expected = [4]
        for p in exact["marginals"]:
            expected += [len(p)] + p
        self.assertEqual((words[0], list(map(float, words[1:]))), ("MAR", expected))
        self.good("exact", "net.uai", "--answers", "a.MPE")
        self.assertEqual(self.read("a.MPE").decode().split(), ["MPE", "4"] + list(map(str, exact["best"]["state"])))

    def test_estimates(self):
        self.copy("net.uai")
        z = strict_json(self.good("logz", "net.uai", "--betas", 20, "--answers", "b.PR", "--json").out)["log_z"]
        self.assertAlmostEqual(float(self.read("b.PR").split()[1]), z / math.log(10), delta=1e-12)
        best = strict_json(self.good("anneal", "net.uai", "--steps", 20, "--answers", "b.MPE", "--json").out)["best"]["state"]
        self.assertEqual(self.read("b.MPE").decode().split(), ["MPE", "4"] + list(map(str, best)))
        for arguments in (["exact", "net.uai", "--answers", "a.txt"], ["logz", "net.uai", "--answers", "a.MAR"],
                          ["anneal", "net.uai", "--answers", "a.PR"]):
            self.assertIn("a.", self.refusal(64, *arguments))


if __name__ == "__main__":
    saltus_cli.main()
