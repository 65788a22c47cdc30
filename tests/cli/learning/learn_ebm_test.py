"""saltus learn ebm: a small network on 3 x 3 images, whose states can all be counted; stopping and going on."""

import os
import signal
import sys
import time

import saltus_cli
from ebm_cases import SMALL, EbmTest, has_torch, images
from saltus_cli import strict_json

USAGE, DATA, SKIPPED = 64, 65, 77


class Learning(EbmTest):
    def test_learns_what_can_be_checked(self):
        j = self.begin_learning("out", "--iterations", 300, "--validate-every", 100, "--seed", 5)
        self.assertTrue(j["complete"])
        self.assertEqual((j["iterations"], j["rows"], j["shape"], j["batch"], j["steps"]), (300, 240, [3, 3], 20, 5))
        self.assertEqual((j["sampler"], j["parameters"]["step_size"]), ("dmala", 0.15))
        self.assertEqual(j["validations"], 3)
        for name in "best.json", "best.weights.npz", "last.json", "checkpoint", "history.csv", "validation.csv":
            self.assertTrue(os.path.exists(self.path("out/" + name)), name)
        history, validation = self.table("out/history.csv"), self.table("out/validation.csv")
        self.assertEqual([int(row["iteration"]) for row in history], [100, 200, 300])
        self.assertEqual([int(row["iteration"]) for row in validation], [100, 200, 300])
        likelihoods = [float(row["log_likelihood"]) for row in validation]
        self.assertAlmostEqual(max(likelihoods), j["best_validation"]["log_likelihood"])
        # Nine fair coins have -6.24, the law of the images -3.6.
        self.assertTrue(-5.5 < max(likelihoods) < -3, likelihoods)
        if os.path.exists(self.path("out/samples.png")):
            pictures = {name for name in os.listdir(self.path("out")) if name.endswith(".png")}
            self.assertEqual(pictures, {"samples.png", "samples-000100.png", "samples-000200.png", "samples-000300.png"})

        # log Z of what was learned: enclosed, with the model's own base by default.
        z = strict_json(self.good("logz", "out/best.json", "--betas", 300, "--chains", 200, "--reverse-warmup", 500,
                                  "--set", "step_size=0.15", "--test", "images.csv", "--json").out)
        self.assertEqual(z["base"], "model")
        low, high = z["interval"]
        self.assertTrue(low < z["exact"] < high, z)
        self.assertLess(high - low, 0.3)
        test = z["test"]
        self.assertEqual((test["rows"], test["data"]), (300, "images.csv"))
        truth = test["mean_logp"] - z["exact"]
        self.assertTrue(test["log_likelihood"][0] < truth < test["log_likelihood"][1], test)
        self.assertTrue(-5.5 < truth < -3, truth)
        # The model's own base begins a ladder of temperatures, too.
        tempered = ["sample", "out/best.json", "--temper", 3, "--warmup", 20, "--draws", 50, "--json"]
        by_default, by_name, uniform = (strict_json(self.good(*tempered, *base).out)["tempering"] for base in
                                        ([], ["--base", "model"], ["--base", "uniform"]))
        self.assertEqual(by_default, by_name)
        self.assertNotEqual(by_default["rejection"], uniform["rejection"])
        done = self.saltus("logz", "out/best.json", "--sampler", "dula", "--set", "step_size=0.1")
        self.assertEqual(done.status, USAGE, str(done))
        self.assertIn("biases the estimate", done.err)

    def test_stopped_and_resumed_is_the_same(self):
        options = ["--iterations", 60, "--validate-every", 30, "--energy-penalty", 0.01]
        whole = self.begin_learning("whole", *options)
        done = self.good("learn", "ebm", "--dataset", "images.csv", "--out", "parts", *SMALL, *options, "--time", 1e-6)
        self.assertIn("saltus learn ebm --out parts --resume", done.err)
        self.assertIn("Stopped after 1 of 60", done.err)
        for times in range(20):  # each twice as long as the one before: a process takes a second to begin
            part = self.learn("--out", "parts", "--resume", "--time", 0.05 * 2**times)
            if part["complete"]:
                break
        self.assertTrue(part["complete"])
        self.assertEqual(part["best_validation"], whole["best_validation"])
        self.assertEqual(part["energy_penalty"], 0.01)
        for name in "best.weights.npz", "last.weights.npz", "samples.png":
            if os.path.exists(self.path("whole/" + name)):
                self.assertEqual(self.content("parts/" + name), self.content("whole/" + name), name)
        self.assertEqual(self.learn("--out", "parts", "--resume")["iterations"], 60)  # nothing left to do
        self.assertEqual(self.learn("--out", "parts", "--resume", "--iterations", 70)["iterations"], 70)
        self.refused(USAGE, ["70 iterations already"], "--out", "parts", "--resume", "--iterations", 65)

    def test_warns_of_learning_that_has_run_away(self):
        self.assertIsNone(self.begin_learning("good", "--iterations", 60, "--validate-every", 0)["warning"])
        fast = [10 if before == "--lr" else 0 if before == "--lr-warmup" else value
                for before, value in zip([None] + SMALL, SMALL)]
        done = self.good("learn", "ebm", "--dataset", "images.csv", "--out", "fast", *fast, "--iterations", 60,
                         "--validate-every", 0)
        self.assertRegex(done.out, "warning +the (loss has run away|chains stand still)")

    def test_what_is_refused_leaves_no_folder(self):
        few = [10 if before == "--buffer" else value for before, value in zip([None] + SMALL, SMALL)]
        self.refused(USAGE, ["a batch of 20 cannot be chosen"], "--dataset", "images.csv", "--out", "none", *few)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_interrupted(self):
        process = self.begin("learn", "ebm", "--dataset", "images.csv", "--out", "out", *SMALL, "--iterations", 1000000,
                             "--validate-every", 0, "--checkpoint-every", 0.1)
        end = time.monotonic() + 60
        while not os.path.exists(self.path("out/checkpoint")) and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=saltus_cli.TIMEOUT)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
        self.assertIn(b"To continue", err)
        self.assertTrue(os.path.exists(self.path("out/last.json")))
        again = self.learn("--out", "out", "--resume", "--time", 0.2)
        self.assertFalse(again["complete"])

    def test_resuming_has_its_rules(self):
        self.begin_learning("out", "--iterations", 5, "--validate-every", 0)
        self.refused(USAGE, ["--resume", "out"], "--dataset", "images.csv", "--out", "out", *SMALL)
        self.refused(USAGE, ["--steps", "settled"], "--out", "out", "--resume", "--steps", 6)
        self.refused(USAGE, ["--dataset", "settled"], "--out", "out", "--resume", "--dataset", "images.csv")
        self.write("images.csv", images(200))
        self.refused(DATA, ["not the data"], "--out", "out", "--resume")
        self.write("out/checkpoint", b"nonsense")
        self.refused(DATA, ["checkpoint"], "--out", "out", "--resume")

    def test_dula_learns_and_dmala_validates(self):
        j = self.begin_learning("out", "--iterations", 20, "--validate-every", 20, "--sampler", "dula")
        self.assertEqual((j["parameters"]["step_size"], j["acceptance_rate"]), (0.1, 1))
        self.assertEqual(j["validations"], 1)
        self.assertLess(float(self.table("out/validation.csv")[0]["acceptance"]), 1)

    def test_threads_change_nothing(self):
        for threads in 1, 3:
            self.begin_learning(f"out{threads}", "--iterations", 20, "--validate-every", 20, "--threads", threads)
        self.assertEqual(self.content("out1/last.weights.npz"), self.content("out3/last.weights.npz"))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: learn_ebm_test.py /path/to/saltus")
    saltus_cli.program = os.path.abspath(sys.argv[1])
    if not has_torch():
        print("this saltus cannot learn deep energies: skipped")
        sys.exit(SKIPPED)
    saltus_cli.main()
