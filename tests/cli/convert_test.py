"""saltus convert, and what a checkpoint holds of a large model."""
import json
import os

import saltus_cli
from saltus_cli import CliTest, strict_json

BUILT_IN = ["ising-lattice", "ising-2x2", "ising", "bernoulli", "quadratic", "potts", "rbm", "poisson"]


def chain_of_spins(spins, weight=0.25):
    """An Ising model whose file is larger than 1 MB from 40,000 spins on."""
    return {"model": "ising", "n": spins, "couplings": [[i, i + 1, weight] for i in range(spins - 1)],
            "fields": [0.1] * spins}


class ConvertTest(CliTest):
    def draws_of(self, model):
        window = ["--set", "window=4"] if "poisson" in model else []
        self.good("sample", model, "--draws", 200, *window, "--out", "draws.csv")
        with open(self.path("draws.csv")) as file:
            return file.read()

    def test_every_model_keeps_its_draws(self):
        for name in BUILT_IN:
            with self.subTest(name):
                self.good("convert", name, name + ".json")
                self.assertEqual(self.draws_of(name), self.draws_of(name + ".json"))
                self.good("convert", name + ".json", "again.json")
                with open(self.path(name + ".json")) as one, open(self.path("again.json")) as two:
                    self.assertEqual(one.read(), two.read())

    def test_levels_and_spins_of_a_quadratic_model(self):
        for levels, values in ([2, 3, 5], "index"), (2, "spin"):
            model = {"model": "quadratic", "levels": levels, "values": values, "A": [[0, 1, 0.1], [2, 2, -0.30000000000000004]],
                     "b": [0.1, -2.5e-7, 3]}
            self.write("m.json", json.dumps(model))
            self.good("convert", "m.json", "out.json")
            with open(self.path("out.json")) as file:
                written = json.load(file)
            self.assertEqual(written["A"], model["A"])
            self.assertEqual(written["b"], model["b"])
            self.assertEqual(written["levels"], levels)
            self.assertEqual(written.get("values", "index"), values)

    def test_many_weights_lie_beside_the_model(self):
        rbm = {"model": "rbm", "weights": [[(i * j % 7) / 8 for i in range(120)] for j in range(100)],
               "visible_bias": [0.1] * 120, "hidden_bias": [-0.5] * 100}
        self.write("m.json", json.dumps(rbm))
        self.good("convert", "m.json", "big.json")
        with open(self.path("big.json")) as file:
            self.assertEqual(json.load(file), {"model": "rbm", "weights_file": "big.weights.npz"})
        self.assertEqual(self.draws_of("m.json"), self.draws_of("big.json"))
        os.makedirs(self.path("elsewhere"))
        self.good("convert", "big.json", "elsewhere/copy.json")  # with weights of its own
        os.remove(self.path("big.weights.npz"))
        self.assertEqual(self.draws_of("m.json"), self.draws_of("elsewhere/copy.json"))

    def test_files_that_it_reads_are_not_written(self):
        self.good("convert", "rbm", "m.json")
        os.makedirs(self.path("sub"))
        self.refusal(64, "convert", "m.json", "m.json")
        self.refusal(64, "convert", "m.json", "sub/../m.json")
        self.refusal(64, "convert", "m.json", "m.txt")
        self.refusal(66, "convert", "nothing.json", "out.json")
        self.assertFalse(os.path.exists(self.path("out.json")))

    def test_a_model_that_cannot_be_read_leaves_the_old_file(self):
        self.write("old.json", "old")
        self.write("bad.json", '{"model": "ising", "n": 2, "couplings": [[0, 0, 1]], "fields": [0, 0]}')
        self.refusal(65, "convert", "bad.json", "old.json")
        with open(self.path("old.json")) as file:
            self.assertEqual(file.read(), "old")


class LargeModelTest(CliTest):
    QUICK = ["--chains", 1, "--warmup", 0, "--set", "step_size=0.1", "--json"]

    def test_a_checkpoint_holds_its_path_and_refuses_another(self):
        self.write("large.json", json.dumps(chain_of_spins(45000)))
        self.assertGreater(os.path.getsize(self.path("large.json")), 1_000_000)
        self.good("sample", "large.json", "--draws", 400, "--time", 1e-9, "--checkpoint", "c", *self.QUICK)
        with open(self.path("c"), "rb") as file:
            saved = file.read()
        self.assertIn(b"large.json", saved)
        self.assertLess(len(saved), 700_000)  # states and moments, and no text of the model
        self.good("sample", "--resume", "c", "--time", 1e-9, "--json")
        self.write("large.json", json.dumps(chain_of_spins(45000, 0.26)))
        self.assertIn("large.json has changed since", self.refusal(65, "sample", "--resume", "c", "--json"))
        os.remove(self.path("large.json"))
        self.assertIn("large.json", self.refusal(66, "sample", "--resume", "c", "--json"))

    def test_a_small_model_is_in_the_checkpoint_itself(self):
        self.write("small.json", json.dumps(chain_of_spins(5)))
        self.good("sample", "small.json", "--draws", 400, "--time", 1e-9, "--checkpoint", "c", *self.QUICK)
        os.remove(self.path("small.json"))
        self.assertEqual(strict_json(self.good("sample", "--resume", "c", "--json").out)["draws"], 400)


if __name__ == "__main__":
    saltus_cli.main()
