"""The device cuda: what is refused without its part, without a GPU, and for models that it does not have."""

import json
import math

import saltus_cli
from saltus_cli import CliTest

RBM = {"model": "rbm", "weights": [[0.5, 1, -0.5], [1, -1, 0.25]], "visible_bias": [0, 0.5, -0.5],
       "hidden_bias": [0.25, -0.25]}


class DeviceCuda(CliTest):
    def refused(self, words, *arguments, env=None):
        done = self.saltus(*arguments, "--device", "cuda", env=env)
        self.assertEqual(done.status, 64, str(done))
        self.assertEqual(done.out, "", str(done))
        self.assertEqual(done.err.count("\n"), 1, str(done))
        for word in words:
            self.assertIn(word, done.err, str(done))
        return done.err

    def has_cuda(self):
        done = self.saltus("sample", "ising-lattice", "--device", "cuda")
        return "built without CUDA" not in done.err

    def test_the_part_is_not_there(self):
        for command in "sample", "verify", "compare", "logz":
            self.refused(["CUDA", "the device cuda needs"], command, "ising-lattice",
                         env={"SALTUS_CUDA_MODULE": self.path("nowhere.so")})

    def test_the_part_is_something_else(self):
        self.write("other.so", "no library")
        self.refused(["could not load", "other.so"], "sample", "ising-lattice",
                     env={"SALTUS_CUDA_MODULE": self.path("other.so")})

    def test_a_model_without_a_version_there(self):
        if not self.has_cuda():
            self.skipTest("built without CUDA")
        self.refused(["potts", "has no version", "ising-lattice", "rbm", "bnn"], "sample", "potts")

    def test_an_rbm_on_the_gpu_or_a_refusal(self):
        if not self.has_cuda():
            self.skipTest("built without CUDA")
        self.write("rbm.json", RBM)
        # Without libtorch's part, whether or not it was built.
        env = {"SALTUS_TORCH_MODULE": self.path("nowhere.so")}
        done = self.saltus("sample", "rbm.json", "--device", "cuda", "--draws", 20000, "--seed", 3,
                           "--json", env=env)
        if done.status != 0:
            self.refused(["the device cuda cannot be used", "GPU"], "sample", "rbm.json", env=env)
            self.skipTest("no NVIDIA GPU here")
        there = json.loads(done.out)
        here = self.summary("rbm.json", "--draws", 20000, "--seed", 4)
        for p, q in zip(there["mean"], here["mean"]):
            errors = [math.sqrt(m * (1 - m) / run["ess"]["min"]) for m, run in ((p, there), (q, here))]
            self.assertLess(abs(p - q), 5 * math.hypot(*errors))


if __name__ == "__main__":
    saltus_cli.main()
