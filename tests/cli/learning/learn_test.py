"""saltus learn: models come back from their own draws, runs go on where they stopped, nonsense is refused."""

import os
import signal
import time

import saltus_cli
from saltus_cli import CliTest, strict_json

USAGE, DATA, NO_INPUT, CANNOT_CREATE = 64, 65, 66, 73

RING = {"model": "ising", "n": 6, "fields": [0] * 6,
        "couplings": [[0, 1, 0.5], [1, 2, 0.5], [2, 3, -0.4], [3, 4, 0.5], [4, 5, 0.5], [0, 5, 0.5]]}


def bits(rows, cols):
    """Lines of 0 and 1 without much of a pattern."""
    state, lines = 12345, []
    for _ in range(rows):
        line = []
        for _ in range(cols):
            state = (state * 1103515245 + 12345) % 2**31
            line.append(str(state >> 20 & 1))
        lines.append(",".join(line))
    return "\n".join(lines) + "\n"


class LearnTest(CliTest):
    def learn(self, *arguments):
        return strict_json(self.good("learn", *arguments, "--json").out)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def model(self, name="model.json"):
        return strict_json(self.content(name).decode())


class Recovery(LearnTest):
    def draws(self, model):
        self.write("truth.json", model)
        self.good("sample", "truth.json", "--seed", 3, "--chains", 4, "--draws", 5000, "--thin", 3, "--out", "data.npz")

    def test_ising(self):
        # 20,000 draws determine a coupling to about 0.01; the last parameters scatter by as much again.
        self.draws(RING)
        j = self.learn("ising", "--data", "data.npz", "--out", "model.json", "--steps", 10, "--iterations", 1500,
                       "--lr", 0.003, "--set", "step_size=0.6")
        self.assertTrue(j["complete"])
        self.assertEqual((j["rows"], j["dim"], j["iterations"], j["persistent_chains"]), (20000, 6, 1500, 256))
        self.assertIsNone(j["reconstruction_error"])
        self.assertTrue(0.3 < j["acceptance_rate"] <= 1, j["acceptance_rate"])
        truth = {(i, k): c for i, k, c in RING["couplings"]}
        learned = self.model()
        self.assertEqual(learned["fields"], [0] * 6)
        self.assertEqual(len(learned["couplings"]), 15)
        for i, k, c in learned["couplings"]:
            self.assertAlmostEqual(c, truth.get((i, k), 0), delta=0.08, msg=f"{i}, {k}")
        self.assertEqual(self.summary("model.json", "--draws", 200)["dim"], 6)

    def test_fields(self):
        self.draws({"model": "bernoulli", "logits": [1, -1, 0.5]})
        self.learn("ising", "--data", "data.npz", "--out", "model.json", "--fields", "--steps", 10, "--iterations", 1500,
                   "--lr", 0.003, "--set", "step_size=0.6")
        # s = 2x - 1: the field is half the logit.
        for field, truth in zip(self.model()["fields"], [0.5, -0.5, 0.25]):
            self.assertAlmostEqual(field, truth, delta=0.08)

    def moments(self, name):
        """Means of x_i x_j over all draws of a file."""
        x = saltus_cli.read_npz(self.path(name))["x"]
        dim, values = x.shape[2], x.items()
        rows = [values[k:k + dim] for k in range(0, len(values), dim)]
        return {(i, k): sum(r[i] & r[k] for r in rows) / len(rows) for i in range(dim) for k in range(i + 1)}

    def test_rbm(self):
        self.draws({"model": "rbm", "weights": [[4, 4, -4, 0, 0, 0], [0, 0, 0, 4, -4, -4]],
                    "visible_bias": [-2, -2, 2, -2, 2, 2], "hidden_bias": [-2, 2]})
        j = self.learn("rbm", "--data", "data.npz", "--out", "model.json", "--hidden", 8, "--epochs", 10, "--lr", 0.01)
        self.assertEqual((j["iterations"], j["epochs"], j["steps"], j["acceptance_rate"]), (2000, 10, 10, 1))
        self.good("sample", "model.json", "--draws", 5000, "--chains", 4, "--sampler", "block_gibbs", "--out", "x.npz")
        truth, learned = self.moments("data.npz"), self.moments("x.npz")
        # Standard errors are near 0.005 for both, but the last parameters scatter with the learning rate: of 18 pairs of
        # seeds, the largest difference was 0.02 to 0.09.
        for pair, value in truth.items():
            self.assertAlmostEqual(learned[pair], value, delta=0.12, msg=str(pair))
        # Bits that hang together are not what independent bits of the same means would give.
        self.assertGreater(abs(truth[1, 0] - truth[0, 0] * truth[1, 1]), 0.1)


class Files(LearnTest):
    def test_many_weights_lie_beside_the_model(self):
        self.write("data.csv", bits(50, 60))
        self.learn("rbm", "--data", "data.csv", "--out", "big.json", "--hidden", 200, "--iterations", 2, "--batch", 25)
        self.assertEqual(self.files(), ["big.json", "big.weights.npz", "data.csv"])
        self.assertEqual(self.model("big.json"), {"model": "rbm", "weights_file": "big.weights.npz"})
        arrays = saltus_cli.read_npz(self.path("big.weights.npz"))
        self.assertEqual({k: a.shape for k, a in arrays.items()},
                         {"weights": (200, 60), "visible_bias": (60,), "hidden_bias": (200,)})
        self.assertEqual(self.summary("big.json", "--draws", 20, "--warmup", 20)["dim"], 60)

    def test_text_report(self):
        self.write("data.csv", bits(50, 10))
        done = self.good("learn", "rbm", "--data", "data.csv", "--out", "m.json", "--hidden", 3, "--iterations", 4)
        for part in ("10 visible and 3 hidden", "50 rows", "4 iterations", "reconstruction error", "m.json"):
            self.assertIn(part, done.out)
        self.assertEqual(done.err, "")

    def test_threads_do_not_matter(self):
        self.write("data.csv", bits(300, 40))
        for kind in ("rbm", "ising"):
            for threads in (1, 2, 3):
                options = ["--hidden", 70] if kind == "rbm" else ["--fields"]
                self.learn(kind, "--data", "data.csv", "--out", f"{threads}.json", "--pcd", 130, "--steps", 4,
                           "--iterations", 10, "--threads", threads, *options)
            self.assertEqual(self.content("1.json"), self.content("2.json"))
            self.assertEqual(self.content("1.json"), self.content("3.json"))

    def test_the_seed_matters(self):
        self.write("data.csv", bits(100, 10))
        for seed in (1, 2):
            self.learn("rbm", "--data", "data.csv", "--out", f"{seed}.json", "--seed", seed, "--iterations", 3)
        self.assertNotEqual(self.content("1.json"), self.content("2.json"))


class Resume(LearnTest):
    WAYS = {
        "rbm": ["--hidden", 12, "--batch", 40, "--l1", 0.01],
        "ising": ["--fields", "--batch", 40, "--drop-last", "--steps", 5, "--pcd", 70],
    }

    def test_in_two_parts(self):
        self.write("data.csv", bits(150, 20))
        for kind, options in self.WAYS.items():
            common = [kind, "--data", "data.csv", *options]
            whole = self.learn(*common, "--out", "whole.json", "--iterations", 60)
            first = self.learn(*common, "--out", "first.json", "--iterations", 25, "--checkpoint", f"c-{kind}")
            self.assertEqual(first["iterations"], 25)
            rest = self.learn(kind, "--resume", f"c-{kind}", "--iterations", 60, "--out", "rest.json", "--threads", 1)
            self.assertEqual(self.content("rest.json"), self.content("whole.json"))
            self.assertNotEqual(self.content("first.json"), self.content("whole.json"))
            for key in set(whole) - {"seconds", "out"}:
                self.assertEqual(rest[key], whole[key], key)

    def test_interrupted(self):
        self.write("data.csv", bits(150, 20))
        common = ["rbm", "--data", "data.csv", "--hidden", 12, "--out"]
        process = self.begin("learn", *common, "cut.json", "--iterations", 10**9, "--json")
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=saltus_cli.TIMEOUT)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
        done = strict_json(out.decode())
        self.assertFalse(done["complete"])
        saved = self.unasked_checkpoint()
        self.assertIn(f"saltus learn rbm --resume {saved}".encode(), err)
        self.assertIn("cut.json", self.files())
        n = done["iterations"] + 7
        self.learn("rbm", "--resume", saved, "--iterations", n)
        self.learn(*common, "whole.json", "--iterations", n)
        self.assertEqual(self.content("cut.json"), self.content("whole.json"))

    def test_out_of_time(self):
        self.write("data.csv", bits(150, 20))
        j = self.learn("rbm", "--data", "data.csv", "--out", "m.json", "--iterations", 10**9, "--time", 0.3)
        self.assertFalse(j["complete"])
        self.assertGreater(j["iterations"], 0)
        self.assertIn("m.json", self.files())


class Refusals(LearnTest):
    def refused(self, status, *arguments, says=()):
        line = self.refusal(status, "learn", *arguments)
        for text in says:
            self.assertIn(text, line)

    def test_options(self):
        self.write("d.csv", bits(50, 8))
        base = ["rbm", "--data", "d.csv", "--out", "m.json"]
        for extra, says in [
            (["--cd", 0], ["--cd"]), (["--pcd", -1], ["--pcd"]), (["--cd", 3, "--pcd", 4], ["--cd", "--pcd"]),
            (["--cd", 3, "--steps", 4], ["--steps"]), (["--steps", 4], ["--pcd"]), (["--epochs", 0], ["--epochs"]),
            (["--epochs", 1, "--iterations", 1], ["--epochs", "--iterations"]), (["--lr", "nan"], ["--lr"]),
            (["--lr", -1], ["--lr"]), (["--l1", "inf"], ["--l1"]), (["--hidden", 0], ["--hidden"]),
            (["--hidden", 10**9], ["weights"]), (["--seed", "x"], ["--seed"]), (["--fields"], ["--fields"]),
            (["--sampler", "nuts"], ["nuts"]), (["--sampler", "pas"], ["pas", "flips", "warm-up"]),
            (["--set", "block=2"], ["block"]), (["--checkpoint", "m.json"], ["same file"]),
        ]:
            with self.subTest(extra):
                self.refused(USAGE, *base, *extra, says=says)
        self.refused(USAGE, "rbm", "--out", "m.json", says=["--data"])
        self.refused(USAGE, "rbm", "--data", "d.csv", says=["--out"])
        self.refused(USAGE, "rbm", "--data", "d.csv", "--out", "m.npz", says=["m.npz", ".json"])
        self.refused(USAGE, "ising", "--data", "d.csv", "--out", "m.json", "--hidden", 3, says=["--hidden"])
        self.refused(USAGE, "ising", "--data", "d.csv", "--out", "m.json", "--sampler", "block_gibbs",
                     says=["block_gibbs", "hidden units"])
        self.refused(USAGE, "potts")

    def test_files(self):
        self.write("d.csv", bits(50, 8))
        self.write("bad.csv", "0,1\n1,2\n")
        self.write("one.csv", "0\n1\n")
        self.write("c.txt", "nothing")
        self.refused(NO_INPUT, "rbm", "--data", "none.csv", "--out", "m.json", says=["none.csv"])
        self.refused(DATA, "rbm", "--data", "bad.csv", "--out", "m.json", says=["bad.csv", "line 2", "'2'"])
        self.refused(USAGE, "ising", "--data", "one.csv", "--out", "m.json", says=["two spins"])
        self.refused(CANNOT_CREATE, "rbm", "--data", "d.csv", "--out", "no/m.json", says=["no/m.json"])
        self.refused(NO_INPUT, "rbm", "--resume", "none", says=["none"])
        self.refused(DATA, "rbm", "--resume", "c.txt", says=["c.txt"])

    def test_checkpoints(self):
        self.write("d.csv", bits(50, 8))
        self.write("other.csv", bits(51, 8))
        self.learn("rbm", "--data", "d.csv", "--out", "m.json", "--iterations", 5, "--checkpoint", "c", "--hidden", 3)
        self.refused(USAGE, "rbm", "--resume", "c", "--lr", 0.1, says=["--lr", "c"])
        self.refused(USAGE, "ising", "--resume", "c", says=["learn rbm"])
        self.refused(USAGE, "rbm", "--resume", "c", "--iterations", 4, says=["5 iterations"])
        self.refused(DATA, "rbm", "--resume", "c", "--data", "other.csv", says=["other.csv"])
        self.write("short", self.content("c")[:-20])
        self.refused(DATA, "rbm", "--resume", "short", says=["short"])
        self.good("sample", "--draws", 10, "--checkpoint", "s")
        self.refused(DATA, "rbm", "--resume", "s", says=["learn"])
        self.assertEqual(self.saltus("sample", "--resume", "c").status, DATA)
        os.remove(self.path("d.csv"))
        self.refused(NO_INPUT, "rbm", "--resume", "c", says=["d.csv"])


if __name__ == "__main__":
    saltus_cli.main()
