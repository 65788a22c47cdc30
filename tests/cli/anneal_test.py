"""saltus anneal: the best state, rudy files, what JSON says, files of states, stopping, refusals."""

import gzip
import itertools
import signal
import time

import saltus_cli
from saltus_cli import CliTest, read_npz, strict_json

USAGE, DATA = 64, 65
# A graph with 16 vertices whose largest cut is 9.
EDGES = """1 2 -1;1 4 1;1 5 -1;1 6 1;1 9 -1;1 10 1;1 11 -1;1 12 1;1 13 1;1 16 1;2 3 -1;2 7 -1;2 8 -1;2 9 1;2 12 1;2 15 -1;
2 16 1;3 4 1;3 6 1;3 7 -1;3 8 -1;3 10 -1;3 13 -1;3 14 -1;4 9 1;4 11 1;4 12 1;4 13 -1;5 6 1;5 7 -1;5 10 -1;5 12 -1;5 13 -1;
5 14 -1;6 8 -1;6 10 1;6 15 1;7 8 1;7 9 -1;7 11 1;8 9 -1;8 10 1;9 10 -1;9 11 -1;9 12 -1;9 13 -1;9 14 1;10 11 -1;10 12 1;
10 14 -1;10 15 -1;11 12 -1;11 14 -1;11 16 1;13 14 1;13 15 -1;14 16 -1;15 16 -1""".replace("\n", "").split(";")
CUT16 = "16 58 \n" + "\n".join(EDGES)  # without a last line end, as G-set files are


def cut(state):
    return sum(int(w) * (state[int(i) - 1] != state[int(j) - 1]) for i, j, w in (e.split() for e in EDGES))


class Anneal(CliTest):
    def setUp(self):
        super().setUp()
        self.write("cut.mc", CUT16)
        couplings = [[i, j, 0.5] for i, j in itertools.combinations(range(8), 2)]
        self.write("ferro.json", {"model": "ising", "n": 8, "couplings": couplings, "fields": [0.05] * 8})

    def json(self, *arguments):
        return strict_json(self.good("anneal", *arguments, "--json").out)

    def test_finds_the_largest_cut(self):
        j = self.json("cut.mc", "--steps", 50)
        self.assertEqual(j["model"], "ising")
        self.assertEqual(j["best"]["logp"], 9)
        self.assertEqual(j["best"]["energy"], -9)
        self.assertEqual(j["objective"]["name"], "cut")
        self.assertEqual(j["objective"]["best"], 9)
        self.assertEqual(cut(j["best"]["state"]), 9)
        self.assertEqual(j["goal_is"], "best found")
        self.assertEqual(j["restarts"], 100)
        self.assertGreater(j["reached"], 90)
        self.assertEqual(j["success"]["mean"], j["reached"] / 100)
        self.assertLessEqual(j["tts99"]["low"], j["tts99"]["steps"])
        self.assertGreater(j["tts99"]["high"], j["tts99"]["steps"])
        self.assertEqual(len(j["schedule"]["betas"]), 50)
        self.assertEqual(j["schedule"]["kind"], "adaptive")
        self.assertEqual(j["quantiles"]["largest"], 9)
        self.assertEqual(j["sampler"], "gibbs")
        out = self.good("anneal", "cut.mc", "--goal", 9).out
        self.assertIn("cut 9 (log p 9)", out)
        self.assertIn("99 % sure", out)

    def test_the_same_for_any_number_of_threads(self):
        for options in ([], ["--sampler", "dmala"]):
            results = []
            for threads in (1, 3):
                j = self.json("ferro.json", "--steps", 20, "--restarts", 130, "--threads", threads, *options)
                results.append({k: v for k, v in j.items() if "seconds" not in k and k != "tts99"})
            self.assertEqual(results[0], results[1])

    def test_packed_and_for_every_command(self):
        with open(self.path("cut.mc.gz"), "wb") as file:
            file.write(gzip.compress(CUT16.encode()))
        self.assertEqual(self.json("cut.mc.gz", "--steps", 50)["objective"]["best"], 9)
        self.good("sample", "cut.mc.gz", "--draws", 100)
        self.good("convert", "cut.mc.gz", "cut.json")
        j = self.json("cut.json", "--steps", 50)
        self.assertEqual((j["best"]["logp"], j["objective"]), (9, None))

    def test_a_checkpoint_of_a_graph(self):
        whole = self.summary("cut.mc", "--draws", 200, "--warmup", 10)
        self.summary("cut.mc", "--draws", 100, "--warmup", 10, "--checkpoint", "c")
        self.assertEqual(self.summary("--resume", "c", "--draws", 200)["mean"], whole["mean"])

    def test_files_of_states(self):
        self.good("anneal", "cut.mc", "--steps", 5, "--restarts", 7, "--out", "a.json", "--no-polish")
        rows = strict_json(self.read("a.json").decode())["restarts"]
        self.assertEqual([r["restart"] for r in rows], list(range(7)))
        for r in rows:
            self.assertEqual(cut(r["state"]), r["logp"])
        self.good("anneal", "cut.mc", "--steps", 5, "--restarts", 7, "--out", "a.npz", "--no-polish")
        arrays = read_npz(self.path("a.npz"))
        self.assertEqual(arrays["state"].shape, (7, 16))
        self.assertEqual(list(arrays["state"].items()), [s for r in rows for s in r["state"]])
        self.assertEqual(list(arrays["logp"].items()), [r["logp"] for r in rows])
        self.assertEqual(list(arrays["step"].items()), [r["step"] for r in rows])
        self.good("anneal", "cut.mc", "--steps", 5, "--restarts", 7, "--out", "a.csv", "--no-polish")
        lines = self.read("a.csv").decode().splitlines()
        self.assertEqual(lines[0].split(",")[:4], ["restart", "logp", "step", "x0"])
        self.assertEqual([int(v) for v in lines[3].split(",")[3:]], rows[2]["state"])

    def test_schedules_and_ranges(self):
        j = self.json("ferro.json", "--schedule", "linear", "--first", .2, "--last", 5, "--steps", 4)
        for b, expected in zip(j["schedule"]["betas"], [.2, 1.8, 3.4, 5]):
            self.assertAlmostEqual(b, expected, places=12)
        j = self.json("ferro.json", "--schedule", "geometric", "--steps", 1, "--last", 5)
        self.assertEqual(j["schedule"]["betas"], [5])

    def test_a_population(self):
        j = self.json("ferro.json", "--method", "population", "--schedule", "linear", "--first", .05, "--last", 1,
                      "--steps", 20, "--restarts", 1000)
        self.assertAlmostEqual(j["population"]["log_z"], 14.7783104356, delta=0.15)  # 4 standard deviations
        self.assertAlmostEqual(j["best"]["logp"], 14.4)
        self.assertIsNone(j["tts99"])
        self.assertEqual(j["warnings"], [])
        few = self.json("ferro.json", "--method", "population", "--steps", 20, "--restarts", 10)
        self.assertIn("families", few["warnings"][0]["sentence"])
        few = self.saltus("anneal", "ferro.json", "--method", "population", "--steps", 20, "--restarts", 10, "--strict")
        self.assertEqual(few.status, 3)
        self.assertIn("log Z", self.good("anneal", "ferro.json", "--method", "population").out)

    def test_stops_in_time_with_what_there_is(self):
        self.write("large.json", saltus_cli.sparse_ising(3000))
        j = self.json("large.json", "--time", 0.5, "--steps", 1000000)
        self.assertFalse(j["complete"])
        self.assertIsNone(j["tts99"])
        self.assertGreater(j["best"]["logp"], 0)
        process = self.begin("anneal", "large.json", "--steps", 1000000, "--json", "--out", "a.json")
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=saltus_cli.TIMEOUT)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
        self.assertFalse(strict_json(out.decode())["complete"])
        strict_json(self.read("a.json").decode())

    def test_refusals(self):
        self.write("counts.json", {"model": "poisson", "rate": [1, 2]})
        self.write("flat.json", {"model": "bernoulli", "logits": [0, 0]})
        for status, words, arguments in [
                (USAGE, "unbounded", ["counts.json"]),
                (DATA, "nothing to search", ["flat.json"]),
                (USAGE, "dsvgd", ["cut.mc", "--sampler", "dsvgd"]),
                (USAGE, "name a sampler", ["cut.mc", "--set", "block=2"]),
                (USAGE, "--out a.txt", ["cut.mc", "--out", "a.txt"]),
                (USAGE, "first beta", ["cut.mc", "--first", "2", "--last", "1"]),
                (USAGE, "first beta", ["cut.mc", "--first", "0"]),
                (USAGE, "--schedule", ["cut.mc", "--schedule", "cubic"]),
                (USAGE, "--restarts", ["cut.mc", "--restarts", "0"]),
                (USAGE, "--goal", ["cut.mc", "--goal", "nan"])]:
            self.assertIn(words, self.refusal(status, "anneal", *arguments))

    def test_graphs_that_are_refused(self):
        for text, words in [("3 2\n1 2 1\n", "ends after 1 edges"),
                            ("3 1\n1 2 1\n2 3 1\n", "line 3: there are more than the 1 edges"),
                            ("3 1\n1 4 1", "a node is '4'"),
                            ("3 1\n0 1 1", "a node is '0'"),
                            ("3 1\n1.0 2 1", "a node is '1.0'"),
                            ("3 1\n2 2 1", "node 2 to itself"),
                            ("3 2\n1 2 1\n2 1 1", "line 3: the entry 2 1 is there twice"),
                            ("3 2\n1 2 1\n1 3", "some edges have a weight"),
                            ("3 1\n1 2 inf", "the weight is 'inf'"),
                            ("3 1\n1 2 1e400", "the weight is '1e400'"),
                            ("3 1\n1 2 0x1", "the weight is '0x1'"),
                            ("3 1\n1 2 1 1", "the line has 4 words"),
                            ("0 0\n", "number of nodes"),
                            ("999999999 0\n", "number of nodes"),
                            ("3 -1\n", "number of edges"),
                            ("3 1\n1 2 1\0", "byte 0")]:
            self.write("bad.mc", text)
            message = self.refusal(DATA, "anneal", "bad.mc")
            self.assertIn(words, message)
            self.assertIn("bad.mc", message)
        for text, best in [("# a comment\n\n 3 2 \r\n+1 2 +2.5\r\n# more\n2 3 -.5e0\n", 2.5),
                           ("\ufeff3 2\n1 2\n2 3", 2), ("2 1\n1 2 1e-400", None)]:
            self.write("good.mc", text)
            if best is None:
                self.refusal(DATA, "anneal", "good.mc")  # log p does not depend on the state
            else:
                self.assertEqual(self.json("good.mc", "--steps", 5)["objective"]["best"], best)


if __name__ == "__main__":
    saltus_cli.main()
