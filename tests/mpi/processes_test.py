"""Runs in several processes by mpirun: the bits of one process."""

import time

from mpi_case import NO_INPUT, USAGE, MpiTest, without_times
import saltus_cli
from saltus_cli import read_draws, read_npz, strict_json


class Processes(MpiTest):
    def test_draws_and_summary_are_those_of_one_process(self):
        for run in (["sample", "m.json", "--chains", 7, "--tile", 1, "--draws", 500, "--threads", 1],
                    ["sample", "m.json", "--temper", "--chains", 4, "--tile", 1, "--draws", 500, "--warmup", 200],
                    ["sample", "m.json", "--sampler", "gwg", "--chains", 8, "--tile", 2, "--record", "moments"]):
            out = [] if "moments" in run else ["--out", "one.npz"]
            one = without_times(self.good(*run, "--json", *out).out)
            for processes in (2, 3):
                out = [] if "moments" in run else ["--out", "several.npz"]
                several = without_times(self.good_mpi(processes, *run, "--json", *out))
                self.assertEqual(several, one)
                if out:
                    self.assertEqual(read_npz(self.path("several.npz")), read_npz(self.path("one.npz")))

    def test_log_z(self):
        for method in (["--chains", 40, "--betas", 200, "--reverse-warmup", 300],
                       ["--method", "tempering", "--ensembles", 40, "--warmup", 100, "--draws", 200],
                       ["--method", "both", "--chains", 60, "--betas", 100, "--reverse-warmup", 100,
                        "--ensembles", 40, "--warmup", 100, "--draws", 100]):
            run = ["logz", "m.json", "--json", *method]
            self.assertEqual(without_times(self.good_mpi(3, *run)), without_times(self.good(*run).out))

    def test_the_best_state(self):
        for method in ("annealing", "population"):
            run = ["anneal", "m.json", "--method", method, "--restarts", 40, "--steps", 50, "--json"]
            self.assertEqual(without_times(self.good_mpi(3, *run)), without_times(self.good(*run).out))
        began = time.time()
        j = strict_json(self.good_mpi(2, "anneal", "m.json", "--restarts", 40, "--steps", 300000, "--schedule",
                                      "linear", "--sampler", "dmala", "--time", 0.1, "--json"))
        self.assertLess(time.time() - began, 60)
        self.assertFalse(j["complete"])

    def test_samplers_race_apart(self):
        run = ["compare", "m.json", "--samplers", "dmala,gwg,dula,gibbs", "--budget", 0.05, "--threads", 1, "--json"]
        def fixed(text):  # what the clock has no part in
            rows = [{k: r[k] for k in ("sampler", "settings", "exact", "random", "ranked", "tempered")} |
                    {"parameters": sorted(r["parameters"])} for r in strict_json(text)["results"]]
            return sorted((r for r in rows if not r["tempered"]), key=lambda r: r["sampler"])
        self.assertEqual(fixed(self.good_mpi(3, *run)), fixed(self.good(*run).out))

    def test_all_processes_take_the_sampler_that_the_leader_chooses(self):
        j = strict_json(self.good_mpi(3, "sample", "m.json", "--sampler", "auto", "--chains", 6, "--tile", 1,
                                      "--draws", 200, "--json"))
        self.assertTrue(j["complete"])

    def test_more_processes_than_chains(self):
        run = ["sample", "m.json", "--chains", 2, "--tile", 1, "--draws", 100, "--json"]
        self.assertEqual(without_times(self.good_mpi(4, *run)), without_times(self.good(*run).out))

    def test_resumes_with_another_number_of_processes(self):
        run = ["sample", "m.json", "--chains", 6, "--tile", 1, "--draws", 300000, "--json"]
        whole = without_times(self.good(*run).out)
        j = strict_json(self.good_mpi(3, *run, "--checkpoint", "c", "--time", 0.3))
        self.assertFalse(j["complete"])
        self.good_mpi(2, "sample", "--resume", "c", "--time", 0.3, "--json")
        self.assertEqual(without_times(self.good("sample", "--resume", "c", "--json").out), whole)

    def test_files_of_processes_merge(self):
        run = ["sample", "m.json", "--chains", 7, "--tile", 1, "--draws", 300]
        self.good(*run, "--out", "one.npz")
        self.good_mpi(3, *run, "--out", "apart.npz", "--out-per-rank")
        parts = [f"apart.part-{k}-of-3.npz" for k in (3, 1, 2)]
        self.good("merge", *parts, "--out", "merged.npz")
        self.assertEqual(read_draws(self.path("merged.npz")), read_draws(self.path("one.npz")))
        refused = self.mpi(2, *run, "--out", "x.npz", "--out-per-rank", "--checkpoint", "c")
        self.assertEqual(refused.returncode, USAGE)

    def test_refusals_come_once(self):
        done = self.mpi(2, "sample", "nowhere.json")
        self.assertEqual(done.returncode, NO_INPUT)
        self.assertEqual(done.stderr.count("saltus: "), 1, done.stderr)
        self.assertEqual(self.good_mpi(2, "samplers").count("dmala "), self.good("samplers").out.count("dmala "))


if __name__ == "__main__":
    saltus_cli.main()
