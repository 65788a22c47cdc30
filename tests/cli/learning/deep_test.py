"""Scripts as models: what works, what is refused, and what is said without libtorch."""

import glob
import math

import saltus_cli
from deep_energies import has_torch, save_linear
from saltus_cli import CliTest, read_npz

BITS = ["--domain", "binary", "--dim", "5"]


class WithoutTorch(CliTest):
    def refused(self, status, words, *arguments, env=None):
        done = self.saltus(*arguments, env=env)
        self.assertEqual(done.status, status, str(done))
        self.assertEqual(done.out, "", str(done))
        self.assertEqual(done.err.count("\n"), 1, str(done))
        for word in words:
            self.assertIn(word, done.err, str(done))

    def test_a_script_needs_its_domain(self):
        for command in "sample", "verify", "compare", "logz":
            for given in [], ["--dim", "5"], ["--domain", "binary"], ["--domain", "ordered", "--dim", "5"]:
                self.refused(64, ["energy.pt", "--dim", "--domain"], command, "energy.pt", *given)
        self.refused(64, ["--levels"], "sample", "energy.pt", *BITS, "--levels", "3")
        self.refused(64, ["--domain"], "sample", "energy.pt", "--domain", "real", "--dim", "5")

    def test_other_models_have_their_own(self):
        self.refused(64, ["describes itself"], "sample", "ising-lattice", "--dim", "25")
        self.refused(64, ["precision", "ising-lattice"], "sample", "ising-lattice", "--precision", "half")
        self.refused(64, ["gpu", "cpu or cuda"], "sample", "--device", "gpu")
        self.refused(64, ["double", "single, tf32 or half"], "sample", "--precision", "double")

    def test_the_module_is_not_there(self):
        self.write("net.json", {"model": "torch", "script": "energy.pt", "domain": "spin", "dim": 3})
        env = {"SALTUS_TORCH_MODULE": self.path("nowhere.so")}
        for arguments in ["energy.pt", *BITS], ["net.json"]:
            self.refused(64, ["libtorch", "needs"], "sample", *arguments, env=env)

    def test_the_module_is_something_else(self):
        self.write("other.so", "no library")
        self.refused(64, ["could not load", "other.so"], "sample", "energy.pt", *BITS,
                     env={"SALTUS_TORCH_MODULE": self.path("other.so")})
        for library in glob.glob("/lib/*/libz.so.1"):
            self.refused(64, ["could not load", "no part of saltus"], "sample", "energy.pt", *BITS,
                         env={"SALTUS_TORCH_MODULE": library})

    def test_a_model_file_that_does_not_fit(self):
        good = {"model": "torch", "script": "energy.pt", "domain": "spin", "dim": 3}
        for change in {"domain": "real"}, {"dim": 0}, {"levels": 2}, {"script": 3}, {"domain": "ordered"}:
            self.write("net.json", {**good, **change})
            self.refused(65, ["net.json"], "sample", "net.json")


class WithTorch(CliTest):
    def setUp(self):
        super().setUp()
        if not has_torch():
            self.skipTest("there is no libtorch")
        save_linear(self.path("energy.pt"), 5)

    def test_samples(self):
        s = self.summary("energy.pt", *BITS, "--draws", "4000", "--seed", "3", "--out", "draws.npz")
        self.assertIn("torch", str(s["model"]))
        x = read_npz(self.path("draws.npz"))["x"]
        values = x.items()
        for i in range(5):
            p = 1 / (1 + math.exp(0.5 - 0.3 * i))
            mean = sum(values[i::5]) / (len(values) / 5)
            # 16,000 draws with an effective size of no less than a tenth of that
            self.assertLess(abs(mean - p), 5 * math.sqrt(p * (1 - p) / 1600), (i, mean, p))

    def test_threads_resume_and_model_files_change_nothing(self):
        common = [*BITS, "--chains", "40", "--seed", "2"]
        self.good("sample", "energy.pt", *common, "--draws", "200", "--out", "whole.npz", "--threads", "2")
        self.good("sample", "energy.pt", *common, "--draws", "100", "--checkpoint", "run", "--threads", "1",
                  "--out", "half.npz")
        self.good("sample", "--resume", "run", "--draws", "200", "--out", "resumed.npz")
        self.write("net.json", {"model": "torch", "script": "energy.pt", "domain": "binary", "dim": 5})
        self.good("sample", "net.json", "--chains", "40", "--seed", "2", "--draws", "200", "--out", "file.npz")
        whole = read_npz(self.path("whole.npz"))["x"]
        self.assertEqual(read_npz(self.path("resumed.npz"))["x"], whole)
        self.assertEqual(read_npz(self.path("file.npz"))["x"], whole)

    def test_is_verified_exactly(self):
        done = self.good("verify", "energy.pt", *BITS, "--set", "step_size=0.5")
        self.assertIn("Nothing wrong", done.out)

    def test_other_commands(self):
        done = self.good("compare", "energy.pt", *BITS, "--samplers", "dmala,gwg", "--budget", "0.05")
        self.assertIn("gwg", done.out)
        self.good("logz", "energy.pt", *BITS, "--betas", "20", "--chains", "10", "--set", "step_size=0.5")

    def test_what_does_not_fit_is_refused(self):
        for words, arguments in ((["energy.pt", "[2, 7]"], ["energy.pt", "--domain", "binary", "--dim", "7"]),
                                 (["other.pt", "not a TorchScript file"], ["other.pt", *BITS])):
            self.write("other.pt", "text")
            done = self.saltus("sample", *arguments)
            self.assertEqual(done.status, 65, str(done))
            self.assertEqual(done.err.count("\n"), 1, str(done))
            self.assertLess(len(done.err), 400)
            for word in words:
                self.assertIn(word, done.err)
        done = self.saltus("sample", "none.pt", *BITS)
        self.assertEqual(done.status, 66, str(done))
        done = self.saltus("sample", "energy.pt", *BITS, "--precision", "half")
        self.assertEqual(done.status, 64, str(done))


if __name__ == "__main__":
    saltus_cli.main()
