"""Learning in several processes: the model file and the checkpoint of one process."""

import os
import random

from mpi_case import MpiTest
import saltus_cli
from ebm_cases import SMALL, has_torch, images
from saltus_cli import strict_json, with_defaults


class Learning(MpiTest):
    def setUp(self):
        super().setUp()
        rng = random.Random(3)
        self.write("d.csv", "".join(",".join(str(rng.randint(0, 1)) for _ in range(40)) + "\n" for _ in range(150)))

    def model(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def test_models_are_those_of_one_process(self):
        for kind, options in (("rbm", ["--hidden", 70, "--cd", 3]), ("rbm", ["--hidden", 35, "--pcd", 200]),
                              ("ising", ["--fields", "--pcd", 150, "--steps", 3])):
            run = ["learn", kind, "--data", "d.csv", "--iterations", 10, "--batch", 120, *options]
            self.good(*run, "--out", "one.json")
            for processes in (2, 3, 4, 7):
                self.good_mpi(processes, *run, "--threads", 1 + processes % 2, "--out", "several.json")
                self.assertEqual(self.model("several.json"), self.model("one.json"), f"{kind} {processes}")
                os.remove(self.path("several.json"))
            os.remove(self.path("one.json"))

    def test_resumes_with_another_number_of_processes(self):
        run = ["learn", "rbm", "--data", "d.csv", "--hidden", 60, "--pcd", 150, "--iterations", 6000]
        self.good(*run, "--out", "one.json")
        stopped = strict_json(self.good_mpi(3, *run, "--out", "m1.json", "--checkpoint", "c", "--time", 0.2, "--json"))
        self.assertFalse(stopped["complete"])
        self.good_mpi(2, "learn", "rbm", "--resume", "c", "--out", "m2.json", "--time", 0.2, "--json")
        self.good("learn", "rbm", "--resume", "c", "--out", "m3.json")
        self.assertEqual(self.model("m3.json"), self.model("one.json"))

    def test_deep_energies_are_those_of_one_process(self):
        if not has_torch():
            self.skipTest("saltus was built without libtorch")
        self.write("images.csv", images(300))
        run = ["learn", "ebm", "--dataset", "images.csv", *with_defaults(dict(zip(SMALL[::2], SMALL[1::2])), [
            "--batch", 40, "--validation-chains", 40, "--iterations", 20, "--validate-every", 10])]
        self.good(*run, "--out", "one")
        files = "best.weights.npz", "last.weights.npz"
        for processes in (2, 3, 4):
            self.good_mpi(processes, *run, "--threads", 1, "--out", f"of-{processes}")
            for name in files:
                self.assertEqual(self.model(f"of-{processes}/{name}"), self.model("one/" + name))
        self.good_mpi(3, *run, "--threads", 1, "--out", "parts", "--time", 1e-6)
        self.good_mpi(2, "learn", "ebm", "--out", "parts", "--resume", "--threads", 1, "--time", 0.2)
        self.good("learn", "ebm", "--out", "parts", "--resume")
        for name in files:
            self.assertEqual(self.model("parts/" + name), self.model("one/" + name))

    def test_refusals_come_once(self):
        done = self.mpi(3, "learn", "rbm", "--data", "nowhere.csv", "--out", "x.json")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("saltus: "), 1, done.stderr)


if __name__ == "__main__":
    saltus_cli.main()
