"""saltus infill: words for the gaps of a sentence. Needs a program with libtorch."""

import functools
import os
import pty
import re
import shutil
import subprocess

import saltus_cli
from saltus_cli import CliTest, strict_json

USAGE, DATA, NO_INPUT, SKIPPED = 64, 65, 66, 77
SENTENCE = "the [MASK] sat by the [MASK] ."

# The model that comes with the program, in double precision, from an independent implementation.
GOLDEN = [
    {"text": "the old man sat by the [MASK] and looked at the [MASK] .",
     "input_ids": [2, 632, 1015, 770, 1232, 745, 632, 4, 640, 1183, 704, 632, 4, 18, 3],
     "fill": ["fire", "door"], "energy": -6.57354368517188, "log_f": [-4.480826214796422, -2.092717470375458],
     "grad_norm": [1555.472494028666, 1347.6754819659836], "grad_argmax": [1264, 1264],
     "grad_max": [-0.14690751743085806, -2.1454931893502964]},
    {"text": "she [MASK] the letter and [MASK] it to her [MASK] .",
     "input_ids": [2, 706, 4, 632, 1887, 640, 4, 665, 644, 692, 4, 18, 3],
     "fill": ["took", "gave", "mother"], "energy": -7.817997779685239,
     "log_f": [-1.5736498075032705, -2.977424118691524, -3.2669238534904443],
     "grad_norm": [1638.4930853788276, 1679.0557800886882, 1290.3357773956604],
     "grad_argmax": [1221, 4749, 1975],
     "grad_max": [-1.61016193505415, -0.4474916103038571, -2.933991383788043]},
    {"text": "he was born in [MASK] and died in london .",
     "input_ids": [2, 657, 673, 2383, 652, 4, 640, 2669, 652, 2330, 18, 3],
     "fill": ["england"], "energy": -1.4850342703687682, "log_f": [-1.4850342703687682],
     "grad_norm": [1550.344016955914], "grad_argmax": [2680], "grad_max": [-1.4850342703687682]},
]


@functools.cache
def has_torch():
    trial = subprocess.run([saltus_cli.program, "infill", "a [MASK]", "--score", "man"], capture_output=True)
    return b"built without libtorch" not in trial.stderr


class Refusals(CliTest):
    """One sentence and the right status."""

    def setUp(self):
        super().setUp()
        if not has_torch():
            self.skipTest("built without libtorch")  # with which the model comes

    def refused(self, status, *arguments):
        return self.refusal(status, "infill", *arguments)

    def test_options(self):
        self.assertIn("TEXT", self.refused(USAGE))
        self.write("some.txt", SENTENCE)
        self.assertIn("not both", self.refused(USAGE, SENTENCE, "--file", "some.txt"))
        self.refused(USAGE, SENTENCE, "--sampler", "pas")
        self.refused(USAGE, SENTENCE, "--chains", 0)
        self.refused(USAGE, SENTENCE, "--steps", 0)
        self.refused(USAGE, SENTENCE, "--device", "abacus")
        self.refused(USAGE, SENTENCE, "--seed", "x")
        self.refused(USAGE, SENTENCE, "--set", "step_size")
        self.assertIn("no parameters", self.refused(USAGE, SENTENCE, "--sampler", "gibbs", "--set", "scan=random"))
        for fraction in (0, -1, 1.5, "nan"):
            self.refused(USAGE, "the dog sat", "--mask-fraction", fraction)
        self.refused(USAGE, SENTENCE, "--mask-fraction", 0.5, "--score", "a,b")

    def test_texts(self):
        self.assertIn("[MASK]", self.refused(DATA, "the dog sat by the door ."))
        self.assertIn("at most 128", self.refused(DATA, "the dog " * 100 + "[MASK]"))
        self.assertIn("already", self.refused(DATA, SENTENCE, "--mask-fraction", 0.5))
        self.assertIn("no word", self.refused(DATA, "... !", "--mask-fraction", 0.5))
        self.assertIn("none.txt", self.refused(NO_INPUT, "--file", "none.txt"))
        self.write("empty.txt", "\n  \n")
        self.assertIn("no sentence", self.refused(DATA, "--file", "empty.txt"))
        self.write("two.txt", f"{SENTENCE}\n\nthe dog sat\n")
        self.assertIn("two.txt, line 3", self.refused(DATA, "--file", "two.txt"))

    def test_score(self):
        self.assertIn("1 word, but the text has 2 gaps", self.refused(USAGE, SENTENCE, "--score", "man"))
        self.assertIn("3 words", self.refused(USAGE, SENTENCE, "--score", "man,fire,door"))
        self.assertIn("'sesquipedalian'", self.refused(USAGE, SENTENCE, "--score", "man,sesquipedalian"))
        self.assertIn("''", self.refused(USAGE, SENTENCE, "--score", "man,"))
        self.write("some.txt", SENTENCE)
        self.refused(USAGE, "--file", "some.txt", "--score", "man,fire")

    def test_models(self):
        self.refused(NO_INPUT, SENTENCE, "--model", "nowhere")
        os.mkdir(self.path("none"))
        self.refused(NO_INPUT, SENTENCE, "--model", "none")
        self.assertIn("config.json", self.damaged("config.json", lambda text: b"no model here"))
        shorter = self.damaged("vocab.txt", lambda text: text.rsplit(b"\n", 2)[0] + b"\n")
        self.assertRegex(shorter, r"vocab|pieces|8,?191")
        self.damaged("model.safetensors", lambda content: content[:1000])

    def damaged(self, name, change):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "models", "mlm-tiny")
        folder = self.path("damaged")
        shutil.copytree(source, folder)
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            content = file.read()
        os.chmod(folder, 0o755)
        os.remove(path)
        with open(path, "wb") as file:
            file.write(change(content))
        err = self.refused(DATA, SENTENCE, "--model", folder)
        shutil.rmtree(folder)
        return err


class Infill(CliTest):
    def setUp(self):
        super().setUp()
        if not has_torch():
            self.skipTest("built without libtorch")

    def infill(self, *arguments):
        return strict_json(self.good("infill", *arguments, "--json").out)

    def test_golden_scores(self):
        for golden in GOLDEN:
            scored = self.infill(golden["text"], "--score", ",".join(golden["fill"]))
            for key in ("input_ids", "grad_argmax", "fill"):
                self.assertEqual(scored[key], golden[key])
            for key in ("log_f", "grad_norm", "grad_max"):
                for ours, theirs in zip(scored[key], golden[key], strict=True):
                    self.assertLess(abs(ours - theirs), 1e-4 * abs(theirs), (key, scored))
            self.assertLess(abs(scored["energy"] - golden["energy"]), 1e-4 * abs(golden["energy"]))

    def test_score_as_text(self):
        out = self.good("infill", GOLDEN[0]["text"], "--score", "Fire,door").out
        self.assertIn("by the *fire* and looked at the *door* .", out)
        self.assertIn("-6.5735", out)
        self.assertIn(" ".join(map(str, GOLDEN[0]["input_ids"])), out)

    def test_completions(self):
        """Without options: diverse, sorted, of allowed words, and with the energy that --score has."""
        result = self.infill(SENTENCE, "--all")
        self.assertEqual((result["sampler"], result["chains"], result["steps"], len(result["all"])), ("dmala", 25, 50, 25))
        self.assertGreater(result["parameters"]["step_size"], 0)
        self.assertTrue(0.2 < result["acceptance_rate"] < 0.95, result)
        best = result["completions"]
        self.assertEqual(len(best), 5)
        self.assertEqual(best, sorted(best, key=lambda c: -c["energy"]))
        self.assertEqual(len({c["text"] for c in best}), 5)
        distinct = {c["text"] for c in result["all"]}
        self.assertEqual(len(distinct), result["distinct"])
        self.assertGreaterEqual(len(distinct), 10)
        self.assertEqual(best[0]["energy"], max(c["energy"] for c in result["all"]))
        for c in result["all"]:
            self.assertEqual(c["text"], "the {} sat by the {} .".format(*c["words"]))
            self.assertAlmostEqual(c["energy"], sum(c["log_f"]), places=9)
            for word in c["words"]:
                self.assertFalse(word.startswith(("##", "[")) and len(word) > 1, c)
        scored = self.infill(SENTENCE, "--score", ",".join(best[0]["words"]))
        self.assertAlmostEqual(scored["energy"], best[0]["energy"], places=3)

    def test_the_seed_decides(self):
        def energies(*arguments):
            result = self.infill(SENTENCE, "--chains", 6, "--steps", 4, "--warmup", 3, "--all", *arguments)
            return [c["words"] for c in result["all"]]
        first = energies()
        self.assertEqual(energies("--threads", 1), first)
        self.assertNotEqual(energies("--seed", 2), first)

    def test_samplers(self):
        for sampler, extra in (("dula", ("--set", "step_size=0.4")), ("gwg", ()), ("gibbs", ())):
            result = self.infill(SENTENCE, "--sampler", sampler, "--chains", 4, "--steps", 5, *extra)
            self.assertEqual((result["sampler"], result["warmup"]), (sampler, 0))
            self.assertLessEqual(len(result["completions"]), 4)
        fixed = self.infill(SENTENCE, "--set", "step_size=0.25", "--chains", 4, "--steps", 2)
        self.assertEqual((fixed["parameters"]["step_size"], fixed["warmup"]), (0.25, 0))

    def test_text_in_a_pipe_and_on_a_terminal(self):
        few = ("--chains", "3", "--steps", "2", "--warmup", "2", "--top", "2")
        out = self.good("infill", SENTENCE, *few).out
        self.assertNotIn("\033", out)
        lines = re.findall(r"^ +-\d+\.\d+ +\d+  (the \*\S+\* sat by the \*\S+\* \.)$", out, re.M)
        self.assertTrue(1 <= len(lines) <= 2, out)
        self.assertIn("tuned in 2 warm-up steps", out)
        screen = self.on_a_terminal("infill", SENTENCE, *few)
        self.assertIn("the \033[1;4m", screen)
        self.assertNotIn("*", screen)
        self.assertIn("\r\033[K", screen)  # the progress line goes away

    def on_a_terminal(self, *arguments):
        parent, child = pty.openpty()
        process = subprocess.Popen([saltus_cli.program, *arguments], cwd=self.folder, stdin=child, stdout=child,
                                   stderr=child, env=saltus_cli.environment(TERM="xterm"))
        os.close(child)
        screen = b""
        while True:
            try:
                part = os.read(parent, 4096)
            except OSError:
                break
            if not part:
                break
            screen += part
        os.close(parent)
        self.assertEqual(process.wait(timeout=saltus_cli.TIMEOUT), 0, screen)
        return screen.decode()

    def test_blanked_words(self):
        text = 'He said: "the old dog, it seems, sat quietly."'
        result = self.infill(text, "--mask-fraction", 0.25, "--chains", 2, "--steps", 1, "--set", "step_size=0.3")
        self.assertEqual((result["given"], result["gaps"]), (text, 2))
        self.assertEqual(result["text"].count("[MASK]"), 2)
        pattern = "".join(r"(?:\w+)" if part == "[MASK]" else re.escape(part)
                          for part in re.split(r"(\[MASK\])", result["text"]))
        self.assertTrue(re.fullmatch(pattern, text), result["text"])
        every = self.infill(text, "--mask-fraction", 1, "--chains", 2, "--steps", 1, "--set", "step_size=0.3")
        self.assertEqual(every["text"], '[MASK] [MASK]: "[MASK] [MASK] [MASK], [MASK] [MASK], [MASK] [MASK]."')

    def test_a_file_of_sentences(self):
        self.write("some.txt", f"{SENTENCE}\n\nshe [MASK] it .\r\n")
        few = ("--chains", 2, "--steps", 1, "--set", "step_size=0.3")
        results = self.infill("--file", "some.txt", *few)
        self.assertEqual([r["text"] for r in results], [SENTENCE, "she [MASK] it ."])
        out = self.good("infill", "--file", "some.txt", *few).out
        self.assertEqual(out.count("distinct completions"), 2)
        self.assertEqual(out.count("model "), 1)

    def test_barred_pieces(self):
        usual = self.infill(SENTENCE, "--chains", 1, "--steps", 1, "--set", "step_size=0.3")["allowed_pieces"]
        more = [self.infill(SENTENCE, "--chains", 1, "--steps", 1, "--set", "step_size=0.3", switch)["allowed_pieces"]
                for switch in ("--allow-special", "--allow-continuations")]
        self.assertGreater(min(more), usual)
        self.assertEqual(sum(more) - usual, 8192)


if __name__ == "__main__":
    saltus_cli.main()
