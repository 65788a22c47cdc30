"""Runs in parts without MPI: the bits of one process."""

import os

import saltus_cli
from saltus_cli import CliTest, read_draws, strict_json

USAGE, DATA = 64, 65

GLASS = """{"model": "ising", "n": 6, "fields": [0.1, 0, 0, 0, 0, -0.2], "couplings": [[0,1,0.8],
 [1,2,-0.9], [2,3,0.7], [3,4,1.1], [4,5,-0.6], [5,0,0.9], [0,3,-0.5]]}"""


class Parts(CliTest):
    def setUp(self):
        super().setUp()
        self.write("m.json", GLASS)

    def test_parts_without_mpi(self):
        self.assertIn("tuned.json", self.good("tune", "m.json", "--out", "tuned.json", "--warmup", 200).out)
        run = ["sample", "m.json", "--chains", 10, "--tile", 1, "--draws", 200, "--tuning", "tuned.json"]
        self.good(*run, "--out", "one.npz")
        for part in range(1, 11):
            self.good(*run, "--part", f"{part}/10", "--out", f"part-{part}.npz")
        names = sorted(f"part-{part}.npz" for part in range(1, 11))  # 1, 10, 2, ...
        self.good("merge", *names, "--out", "all.npz")
        self.assertEqual(read_draws(self.path("all.npz")), read_draws(self.path("one.npz")))
        for words, files in (("part with chain 2 is missing", names[:3] + names[4:]),
                             ("another file holds", names + ["part-1.npz"]),
                             ("which part", ["one.npz"])):
            self.assertIn(words, self.refusal(DATA, "merge", *files, "--out", "bad.npz"))

    def test_a_part_is_stopped_and_resumed(self):
        run = ["sample", "m.json", "--chains", 4, "--tile", 1, "--draws", 400000, "--set", "step_size=0.4", "--part", "2/2"]
        self.good(*run, "--out", "whole.npz")
        self.good(*run, "--out", "slices.npz", "--checkpoint", "c", "--time", 0.05)
        self.good("sample", "--resume", "c")
        self.assertEqual(read_draws(self.path("slices.npz")), read_draws(self.path("whole.npz")))

    def test_tuning_is_what_a_run_finds(self):
        for sampler in ("dmala", "pas", "rwm", "gwg", "dmala+gwg"):
            j = strict_json(self.good("sample", "m.json", "--sampler", sampler, "--draws", 10, "--json").out)
            tuned = self.saltus("tune", "m.json", "--sampler", sampler, "--out", "t.json", "--json")
            if tuned.status != 0:
                self.assertIn("nothing to tune", tuned.err)
                continue
            k = strict_json(self.good("sample", "m.json", "--tuning", "t.json", "--draws", 10, "--json").out)
            for parameters in (j["parameters"], k["parameters"]):
                parameters = {name: v for name, v in parameters.items() if "adapt" not in name}
                self.assertEqual(parameters.keys() - k["parameters"].keys(), set(), sampler)
                self.assertEqual({n: j["parameters"][n] for n in parameters}, parameters, sampler)
            os.remove(self.path("t.json"))

    def test_refusals(self):
        self.write("bad.json", "{}")
        for status, words, arguments in [
                (USAGE, "--part 3", ["--part", "3"]),
                (USAGE, "--part 4/3", ["--part", "4/3"]),
                (USAGE, "--tuning", ["--part", "1/2", "--tile", 1]),
                (USAGE, "1 parts at most", ["--part", "1/2", "--set", "step_size=1", "--tile", 4]),
                (USAGE, "--betas", ["--part", "1/2", "--temper", "--set", "step_size=1"]),
                (DATA, "bad.json", ["--tuning", "bad.json"]),
                (USAGE, "--out-per-rank", ["--out-per-rank"])]:
            self.assertIn(words, self.refusal(status, "sample", "m.json", *arguments))
        self.assertIn("nothing to tune", self.refusal(USAGE, "tune", "m.json", "--sampler", "gibbs"))


if __name__ == "__main__":
    saltus_cli.main()
