"""What saltus refuses: with the right exit status, one line that says why, and nothing written."""

import copy
import json
import os
import re
import time

import saltus_cli
from saltus_cli import CliTest

USAGE, DATA, NO_INPUT = 64, 65, 66

GOOD = {
    "ising": {"model": "ising", "n": 3, "couplings": [[0, 1, 0.5], [1, 2, -0.25]], "fields": [0.1, 0.2, 0.3]},
    "ising-lattice": {"model": "ising-lattice", "shape": [3, 4], "periodic": True, "a": 0.1, "b": 0.2},
    "bernoulli": {"model": "bernoulli", "logits": [0.5, -1]},
    "quadratic": {"model": "quadratic", "levels": [3, 4], "A": [[0, 0, -0.3], [0, 1, 0.2]], "b": [0.1, 0.2]},
    "potts": {"model": "potts", "levels": [2, 3], "unary": [[0, 1], [0.5, 0, -0.5]],
              "pairwise": [{"between": [0, 1], "table": [[0, 1, 2], [3, 4, 5]]}]},
    "poisson": {"model": "poisson", "rate": [0.5, 3]},
}


class Overflow:
    """Stands for the number 1e999 in the JSON, which json.dumps cannot write."""


def changed(kind, field, value):
    model = copy.deepcopy(GOOD[kind])
    model[field] = value
    return model


def without(kind, field):
    model = copy.deepcopy(GOOD[kind])
    del model[field]
    return model


def pairwise(between, table):
    return changed("potts", "pairwise", [{"between": between, "table": table}])


OPTIONAL = {("ising", "fields"), ("ising-lattice", "periodic"), ("ising-lattice", "b"), ("potts", "unary")}

# (what is wrong, the model, texts that the message must hold: the field and, where it helps, the value)
MALFORMED = [
    ("unknown field", changed("ising", "temperature", 2.5), ["temperature", "2.5"]),
    ("unknown field", changed("ising-lattice", "c", 1), ["'c'"]),
    ("unknown field", changed("bernoulli", "probabilities", [0.5]), ["probabilities", "0.5"]),
    ("unknown field", changed("quadratic", "B", []), ["'B'"]),
    ("unknown field", changed("potts", "n", 2), ["'n'", "2"]),
    ("unknown field", changed("poisson", "window", 4), ["window", "4"]),
    ("unknown field in an edge", changed("potts", "pairwise", [{"between": [0, 1], "tables": []}]), ["pairwise", "tables"]),
    ("a field of another kind", changed("bernoulli", "rate", [1, 2]), ["rate"]),

    ("wrong length", changed("ising", "fields", [0.1, 0.2]), ["fields", "2", "3"]),
    ("wrong length", changed("ising", "fields", [1, 2, 3, 4]), ["fields", "4", "3"]),
    ("wrong length", changed("ising", "couplings", [[0, 1]]), ["couplings"]),
    ("wrong length", changed("ising", "couplings", [[0, 1, 0.5, 2]]), ["couplings"]),
    ("wrong length", changed("ising-lattice", "shape", []), ["shape"]),
    ("wrong length", changed("quadratic", "levels", [3]), ["levels"]),
    ("wrong length", changed("quadratic", "b", [1, 2, 3]), ["b", "3"]),
    ("wrong length", changed("potts", "unary", [[0, 1]]), ["unary"]),
    ("wrong length", changed("potts", "levels", [2, 3, 4]), ["unary"]),
    ("wrong length", changed("potts", "unary", [[0, 1, 2], [0, 0, 0]]), ["unary[0]", "3", "2"]),
    ("no coordinates", changed("bernoulli", "logits", []), ["logits"]),
    ("no coordinates", changed("poisson", "rate", []), ["rate"]),
    ("no coordinates", {"model": "quadratic", "levels": 3, "A": [], "b": []}, ["b"]),
    ("no coordinates", {"model": "potts", "levels": [], "unary": [], "pairwise": []}, ["levels"]),
    ("no coordinates", {"model": "ising", "n": 0, "couplings": [], "fields": []}, ["n", "0"]),
    ("no coordinates", changed("ising-lattice", "shape", [0, 4]), ["shape", "0"]),
    ("negative size", changed("ising-lattice", "shape", [3, -4]), ["shape", "-4"]),
    ("negative size", changed("ising", "n", -3), ["n", "-3"]),
    ("a size beyond reason", changed("ising", "n", 10 ** 15), ["n", "1000000000000000"]),
    ("a size beyond 64 bits", changed("ising", "n", 2 ** 64), ["n"]),
    ("a size beyond reason", changed("ising-lattice", "shape", [100_000, 100_000]), ["shape"]),

    ("index out of range", changed("ising", "couplings", [[0, 3, 1]]), ["couplings[0]", "3"]),
    ("index out of range", changed("ising", "couplings", [[0, 1, 1], [-1, 2, 1]]), ["couplings[1]", "-1"]),
    ("index out of range", changed("ising", "couplings", [[0, 2 ** 32, 1]]), ["couplings[0]", str(2 ** 32)]),
    ("index not whole", changed("ising", "couplings", [[0, 1.5, 1]]), ["couplings[0]", "1.5"]),
    ("index out of range", changed("quadratic", "A", [[0, 2, 1]]), ["A[0]", "2"]),
    ("index out of range", changed("quadratic", "A", [[-1, 1, 1]]), ["A[0]", "-1"]),
    ("index out of range", pairwise([0, 2], [[0, 1, 2], [3, 4, 5]]), ["between", "2"]),
    ("index out of range", pairwise([-1, 1], [[0, 1, 2], [3, 4, 5]]), ["between", "-1"]),
    ("not a pair", pairwise([0], [[0, 1, 2], [3, 4, 5]]), ["between"]),

    ("not finite", changed("ising", "fields", [0, Overflow, 0]), ["fields", "1e999"]),
    ("not finite", changed("ising", "couplings", [[0, 1, Overflow]]), ["couplings", "1e999"]),
    ("not finite", changed("ising-lattice", "a", Overflow), ["a", "1e999"]),
    ("not finite", changed("bernoulli", "logits", [0, Overflow]), ["logits", "1e999"]),
    ("not finite", changed("quadratic", "b", [0, Overflow]), ["b", "1e999"]),
    ("not finite", changed("potts", "unary", [[0, Overflow], [0, 0, 0]]), ["unary", "1e999"]),
    ("not finite", changed("poisson", "rate", [Overflow, 1]), ["rate", "1e999"]),
    ("not a number", changed("ising", "fields", [0, "1", 0]), ["fields[1]", '"1"']),
    ("not a number", changed("ising", "couplings", [[0, 1, "x"]]), ["couplings[0]", "x"]),
    ("not a number", changed("ising-lattice", "b", "inf"), ["b", "inf"]),
    ("not a number", changed("bernoulli", "logits", ["NaN", 0]), ["logits[0]", "NaN"]),
    ("not a number", changed("bernoulli", "logits", [None, 0]), ["logits[0]", "null"]),
    ("not a number", changed("bernoulli", "logits", [True, 0]), ["logits[0]", "true"]),
    ("not a number", changed("quadratic", "b", [[0], 0]), ["b[0]"]),
    ("not a number", changed("poisson", "rate", ["2", 1]), ["rate[0]", "2"]),
    ("not a number", pairwise([0, 1], [[0, 1, {}], [3, 4, 5]]), ["table"]),

    ("negative rate", changed("poisson", "rate", [1, -2.5]), ["rate[1]", "-2.5"]),
    ("rate of zero", changed("poisson", "rate", [0, 1]), ["rate[0]", "0"]),

    ("duplicate pair", changed("ising", "couplings", [[0, 1, 1], [0, 1, 1]]), ["couplings[1]", "0", "1"]),
    ("duplicate pair, reversed", changed("ising", "couplings", [[0, 1, 1], [1, 0, 1]]), ["couplings[1]", "0", "1"]),
    ("duplicate pair", changed("quadratic", "A", [[0, 1, 1], [0, 1, 2]]), ["A[1]", "0", "1"]),
    ("duplicate pair", changed("potts", "pairwise", [{"between": [0, 1], "table": [[0, 1, 2], [3, 4, 5]]}] * 2),
     ["pairwise[1]", "0", "1"]),
    ("duplicate pair, reversed", changed("potts", "pairwise", [{"between": [0, 1], "table": [[0, 1, 2], [3, 4, 5]]},
                                                               {"between": [1, 0], "table": [[0, 1], [2, 3], [4, 5]]}]),
     ["pairwise[1]", "0", "1"]),
    ("self coupling", changed("ising", "couplings", [[1, 1, 0.5]]), ["couplings[0]", "1"]),
    ("self coupling", pairwise([1, 1], [[0, 1, 2], [3, 4, 5], [6, 7, 8]]), ["between", "1"]),

    ("levels below 2", changed("quadratic", "levels", 1), ["levels", "1"]),
    ("levels below 2", changed("quadratic", "levels", [3, 1]), ["levels[1]", "1"]),
    ("levels below 2", changed("quadratic", "levels", 0), ["levels", "0"]),
    ("levels below 2", changed("quadratic", "levels", -3), ["levels", "-3"]),
    ("levels below 2", changed("potts", "levels", [1, 3]), ["levels[0]", "1"]),
    ("levels not whole", changed("quadratic", "levels", 2.5), ["levels", "2.5"]),
    ("levels beyond what a symbol holds", changed("quadratic", "levels", 10 ** 9), ["levels", "1000000000"]),
    ("spin with three levels", {"model": "quadratic", "levels": 3, "A": [], "b": [0], "values": "spin"}, ["levels", "3"]),
    ("spin with three levels", changed("quadratic", "values", "spin"), ["levels", "3"]),
    ("unknown values", changed("quadratic", "values", "spins"), ["values", "spins"]),

    ("table of the wrong shape", pairwise([0, 1], [[0, 1], [2, 3], [4, 5]]), ["table"]),
    ("table of the wrong shape", pairwise([0, 1], [[0, 1, 2]]), ["table"]),
    ("table of the wrong shape", pairwise([0, 1], [[0, 1, 2], [3, 4]]), ["table[1]"]),
    ("table of the wrong shape", pairwise([1, 0], [[0, 1, 2], [3, 4, 5]]), ["table"]),
    ("table that is flat", pairwise([0, 1], [0, 1, 2, 3, 4, 5]), ["table"]),
    ("edge without a table", changed("potts", "pairwise", [{"between": [0, 1]}]), ["pairwise[0]", "table"]),
    ("edge that is a list", changed("potts", "pairwise", [[0, 1]]), ["pairwise[0]"]),

    ("wrong type", changed("ising", "n", "3"), ["n", "3"]),
    ("wrong type", changed("ising", "n", 3.5), ["n", "3.5"]),
    ("wrong type", changed("ising", "couplings", {}), ["couplings"]),
    ("wrong type", changed("ising", "couplings", [7]), ["couplings[0]"]),
    ("wrong type", changed("ising", "fields", 1), ["fields", "1"]),
    ("wrong type", changed("ising-lattice", "shape", 5), ["shape", "5"]),
    ("wrong type", changed("ising-lattice", "shape", ["3", 4]), ["shape[0]", "3"]),
    ("wrong type", changed("ising-lattice", "periodic", 1), ["periodic", "1"]),
    ("wrong type", changed("ising-lattice", "periodic", "true"), ["periodic", "true"]),
    ("wrong type", changed("ising-lattice", "a", [0.1]), ["a", "0.1"]),
    ("wrong type", changed("bernoulli", "logits", "1,2"), ["logits", "1,2"]),
    ("wrong type", changed("quadratic", "levels", "3"), ["levels", "3"]),
    ("wrong type", changed("quadratic", "A", None), ["A", "null"]),
    ("wrong type", changed("quadratic", "values", 2), ["values", "2"]),
    ("wrong type", changed("potts", "levels", "3"), ["levels", "3"]),
    ("wrong type", changed("potts", "pairwise", 3), ["pairwise", "3"]),
    ("wrong type", changed("poisson", "rate", 3), ["rate", "3"]),
    ("wrong type", changed("bernoulli", "model", 7), ["model", "7"]),
    ("unknown model", changed("bernoulli", "model", "bernouilli"), ["model", "bernouilli"]),

    *[("missing field", without(kind, field), [field]) for kind, model in GOOD.items() for field in model
      if (kind, field) not in OPTIONAL],

    ("not an object", [1, 2], []),
    ("not an object", 7, ["7"]),
    ("not an object", "bernoulli", ["bernoulli"]),
    ("not an object", None, ["null"]),
    ("an empty object", {}, ["model"]),
    ("a field name with a line end", changed("bernoulli", "a\nb", 1), []),
]

# Texts that are not JSON at all.
NOT_JSON = [
    ("empty", b""), ("blank", b" \n\n"), ("plain text", b"hello\nworld\n"), ("cut off", b'{"model": "bernoulli", "logits": [1,'),
    ("a comma too many", b'{"model": "bernoulli", "logits": [1, 2,]}'), ("text after the object", b'{"model": "bernoulli", "logits": [1]} x'),
    ("NaN", b'{"model": "bernoulli", "logits": [NaN]}'), ("Infinity", b'{"model": "bernoulli", "logits": [Infinity]}'),
    ("-Infinity", b'{"model": "bernoulli", "logits": [-Infinity]}'), ("single quotes", b"{'model': 'bernoulli'}"),
    ("bytes that are not text", bytes(range(128, 256))), ("not UTF-8", b'{"model": "bern\xff", "logits": [1]}'),
    ("zeros", bytes(100)), ("an array without end", b"[" * 2000),
]

# (options, texts that the message must hold)
WRONG_OPTIONS = [
    (["--nonsense"], ["--nonsense"]),
    (["--draw", "5"], []),
    (["--sampler", "gibbs-of-no-kind"], ["gibbs-of-no-kind", "dmala"]),
    (["--sampler", ""], []),
    (["--sampler"], ["--sampler"]),
    (["--set", "no_such_parameter=1"], ["no_such_parameter"]),
    (["--set", "step_size"], ["step_size"]),
    (["--set", "=1"], []),
    (["--set", "step_size="], ["step_size"]),
    (["--set", "step_size=0"], ["step_size", "0"]),
    (["--set", "step_size=-1"], ["step_size", "-1"]),
    (["--set", "step_size=-inf"], ["step_size"]),
    (["--set", "step_size=nan"], ["step_size", "nan"]),
    (["--set", "step_size=abc"], ["step_size", "abc"]),
    (["--set", "step_size=0.5x"], ["step_size", "0.5x"]),
    (["--set", "step_size=0.5,0.6"], ["step_size"]),
    (["--set", "step_size=0.5", "--set", "step_size=0.6"], ["step_size"]),
    (["--set", "adapt=maybe"], ["adapt", "maybe"]),
    (["--set", "adapt=false"], ["adapt", "step_size"]),
    (["--set", "distance=hamming"], ["distance", "hamming"]),
    (["--set", "window=0"], ["window", "0"]),
    (["--set", "window=-1"], ["window", "-1"]),
    (["--set", "window=1.5"], ["window", "1.5"]),
    (["potts", "--set", "window=1"], ["window"]),
    (["poisson", "--set", "step_size=inf"], ["window", "unbounded"]),
    (["--observe", "mean(x"], ["mean(x", "character 7", "')'"]),
    (["--observe", "x[25]"], ["character 3", "0 to 24"]),
    (["--observe", "a=x[1]", "--observe", "a=x[2]"], ["two observables", "'a'"]),
    (["--observe", "mean(x)", "--record", "moments"], ["--observe", "--record moments"]),
    (["--set", "precondition=1,2,3"], ["precondition", "3", "25"]),
    (["bernoulli", "--set", "precondition=1,1,1,1,1,0"], ["precondition", "0"]),
    (["bernoulli", "--set", "precondition=1,1,1,1,1,-2"], ["precondition", "-2"]),
    (["bernoulli", "--set", "precondition=1,1,1,1,1,nan"], ["precondition"]),
    (["bernoulli", "--set", "precondition=1,1,1,1,1,inf"], ["precondition"]),
    (["bernoulli", "--set", "precondition=1,1,1,1,1,x"], ["precondition"]),
    (["bernoulli", "--set", "precondition=,,,"], ["precondition"]),
    (["--draws", "0"], ["--draws", "0"]),
    (["--draws", "-5"], ["--draws", "-5"]),
    (["--draws", "1.5"], ["--draws", "1.5"]),
    (["--draws", "many"], ["--draws", "many"]),
    (["--draws", "99999999999999999999"], ["--draws"]),
    (["--chains", "0"], ["--chains", "0"]),
    (["--chains", "-1"], ["--chains", "-1"]),
    (["--chains", "2x"], ["--chains", "2x"]),
    (["--warmup", "-1"], ["--warmup", "-1"]),
    (["--thin", "0"], ["--thin", "0"]),
    (["--threads", "0"], ["--threads", "0"]),
    (["--threads", "-2"], ["--threads", "-2"]),
    (["--tile", "0"], ["--tile", "0"]),
    (["--seed", "abc"], ["--seed", "abc"]),
    (["--seed", "1.5"], ["--seed", "1.5"]),
    (["--seed", "-1"], ["--seed", "-1"]),
    (["--seed", str(2 ** 64)], ["--seed"]),
    (["--out", "x.txt"], ["x.txt"]),
    (["--out", "noextension"], ["noextension"]),
    (["--out", ".npz.gz"], [".npz.gz"]),
    (["--record", "maybe"], ["maybe"]),
    (["--record", "moments", "--out", "x.npz"], ["--out", "moments"]),
    (["--time", "0"], ["--time", "0"]),
    (["--time", "-1"], ["--time", "-1"]),
    (["--time", "nan"], ["--time", "nan"]),
    (["--time", "soon"], ["--time", "soon"]),
    (["--checkpoint-every", "-1"], ["--checkpoint-every", "-1"]),
    (["--checkpoint-every", "nan"], ["--checkpoint-every", "nan"]),
    (["ising", "bernoulli"], ["bernoulli"]),
    # 2^53 draws of 2^11 steps are 2^64 steps, which a 64-bit counter takes for none.
    (["--draws", str(2 ** 53), "--thin", str(2 ** 11), "--time", "0.01"], []),
]


def as_text(model):
    """JSON text of a model in which Overflow stands for 1e999."""
    def mark(value):
        if value is Overflow:
            return "@overflow@"
        if isinstance(value, dict):
            return {k: mark(v) for k, v in value.items()}
        return [mark(v) for v in value] if isinstance(value, list) else value
    return json.dumps(mark(model)).replace('"@overflow@"', "1e999")


def as_a_word(text):
    """A pattern for the text that is not a part of a longer word; a single letter is named like a field."""
    word = re.escape(text)
    if text.isalpha() and len(text) == 1:
        return rf"(json: |['\"]|; ){word}(?![\w-])"
    return rf"(?<!\w){word}(?!\w)" if text[:1].isalnum() else word


class Refusals(CliTest):
    def check_refused(self, status, arguments, texts, here=()):
        for name in set(self.files()) - set(here):  # left by an earlier case, which has failed for it
            os.remove(self.path(name))
        done = self.saltus(*arguments)
        self.assertEqual(done.status, status, str(done))
        self.assertEqual(done.out, "", str(done))
        self.assertTrue(done.err.endswith("\n") and done.err.count("\n") == 1, f"not one line\n{done}")
        self.assertTrue(done.err.startswith("saltus: "), str(done))
        self.assertTrue(done.err.isprintable() or done.err[:-1].isprintable(), f"unprintable\n{done}")
        for text in texts:
            self.assertRegex(done.err, as_a_word(text))
        self.assertLess(len(done.err), 600 + len(" ".join(map(str, arguments))), "a message that nobody reads")
        self.assertEqual(self.files(), sorted(here), "something was left in the working folder")

    def test_the_good_models_are_accepted(self):
        for kind, model in GOOD.items():
            with self.subTest(kind):
                self.write("model.json", model)
                self.good("sample", "model.json", "--draws", 2, *(["--set", "window=1"] if kind == "poisson" else []))

    def test_malformed_models(self):
        for wrong, model, texts in MALFORMED:
            text = as_text(model)
            with self.subTest(wrong, model=text):
                self.write("given.json", text)
                self.check_refused(DATA, ["sample", "given.json", "--draws", 5, "--out", "x.npz", "--checkpoint", "c",
                                          "--json"], ["given.json", *texts], here=["given.json"])

    def test_files_that_are_not_json(self):
        for wrong, content in NOT_JSON:
            with self.subTest(wrong):
                self.write("given.json", content)
                for command in ["sample", "given.json", "--draws", 5, "--out", "x.csv"], ["verify", "given.json"]:
                    self.check_refused(DATA, command, ["given.json"], here=["given.json"])

    def test_field_given_twice(self):
        # Which of the two is meant cannot be known.
        self.write("m.json", '{"model": "bernoulli", "logits": [1, 2], "logits": [3]}')
        self.check_refused(DATA, ["sample", "m.json", "--draws", 5], ["m.json", "logits"], here=["m.json"])

    def test_wrong_options(self):
        for options, texts in WRONG_OPTIONS:
            with self.subTest(" ".join(options)):
                extra = [] if "--draws" in options else ["--draws", 5]
                extra += [] if "--out" in options or "moments" in options else ["--out", "y.npz"]
                self.check_refused(USAGE, ["sample", "--json", *extra, "--checkpoint", "c", *options], texts)

    def test_precondition_file_that_does_not_fit(self):
        self.write("p.txt", "1\n2\n3\n")
        self.check_refused(USAGE, ["sample", "--set", "precondition=p.txt", "--out", "y.npz"], ["precondition", "3", "25"],
                           here=["p.txt"])
        self.write("p.txt", "1\n2\nthree\n")
        self.check_refused(DATA, ["sample", "bernoulli", "--set", "precondition=p.txt", "--out", "y.npz"],
                           ["p.txt", "precondition"], here=["p.txt"])

    def test_wrong_commands(self):
        for command in [["nonsense"], ["--nonsense"], ["models", "extra"], ["verify", "--nonsense"], ["diagnose"],
                        ["verify", "--sampler", "nonsense"], ["verify", "--set", "step_size=0"]]:
            with self.subTest(" ".join(command)):
                self.check_refused(USAGE, command, [])

    def test_missing_inputs(self):
        os.mkdir(self.path("folder"))
        for command in [["sample", "no-such-model.json"], ["sample", "no-such-name"], ["sample", "folder"],
                        ["sample", "folder/no.json"], ["sample", ""], ["verify", "no-such-name"],
                        ["diagnose", "no-such-file.npz"], ["sample", "--resume", "no-such-checkpoint"]]:
            with self.subTest(" ".join(command)):
                out = ["--out", "x.npz"] if command[0] == "sample" else []
                self.check_refused(NO_INPUT, [*command, *out], [command[-1] or "''"], here=["folder"])

    def test_starting_states(self):
        checkpoint = ["--checkpoint", "c", "--out", "x.npz"]
        run = ["sample", "bernoulli", "--chains", 2, "--draws", 5, "--init", "start.txt"]
        with self.subTest("missing"):
            self.check_refused(NO_INPUT, [*run, *checkpoint], ["start.txt"])
        for wrong, rows in [("too few rows", "0 0 0 0 0 0\n"), ("too many rows", "0 0 0 0 0 0\n" * 3), ("empty", ""),
                            ("too short a row", "0 0 0 0 0 0\n0 0 0 0 0\n"), ("no such level", "0 0 0 0 0 0\n0 0 2 0 0 0\n"),
                            ("negative", "0 0 0 0 0 0\n0 0 -1 0 0 0\n"), ("a word", "0 0 0 0 0 0\n0 0 x 0 0 0\n")]:
            with self.subTest(wrong):
                self.write("start.txt", rows)
                self.check_refused(DATA, [*run, *checkpoint], ["start.txt"], here=["start.txt"])

    def check_refused_at_once(self, option, name):
        begin = time.monotonic()
        done = self.saltus("sample", option, name, "--draws", 10 ** 9, "--time", 2, "--json")
        seconds = time.monotonic() - begin
        self.assertEqual(done.status, 73, str(done))
        self.assertEqual(done.out, "")
        self.assertIn(name, done.err)
        self.assertLess(seconds, 1.9, "the whole run was made before the refusal")

    def test_place_that_cannot_be_written_is_known_before_the_run(self):
        # A run of hours must not end with this.
        os.mkdir(self.path("folder.npz"))
        for name in "no/such/folder/x.npz", "folder.npz":
            with self.subTest(name):
                self.check_refused_at_once("--out", name)
        self.check_refused_at_once("--checkpoint", "no/such/c")
        self.assertEqual(self.files(), ["folder.npz"])

    def test_existing_output_is_left_alone_by_a_refusal(self):
        self.write("x.npz", "precious")
        self.write("bad.json", {"model": "bernoulli", "logits": []})
        self.check_refused(DATA, ["sample", "bad.json", "--out", "x.npz"], [], here=["bad.json", "x.npz"])
        self.check_refused(USAGE, ["sample", "--set", "step_size=0", "--out", "x.npz"], [], here=["bad.json", "x.npz"])
        with open(self.path("x.npz")) as file:
            self.assertEqual(file.read(), "precious")

    def test_damaged_draws(self):
        self.good("sample", "bernoulli", "--draws", 50, "--out", "d.npz")
        self.good("sample", "bernoulli", "--draws", 50, "--out", "d.csv")
        for name in "d.npz", "d.csv":
            with open(self.path(name), "rb") as file:
                content = file.read()
            for wrong, damaged in [("cut off", content[:len(content) // 2 + 3]), ("empty", b""), ("text", b"hello\n")]:
                with self.subTest(f"{name} {wrong}"):
                    self.write("bad" + name[1:], damaged)
                    done = self.saltus("diagnose", "bad" + name[1:], "--json")
                    self.assertEqual(done.status, DATA, str(done))
                    self.assertEqual(done.out, "")
                    self.assertIn("bad" + name[1:], done.err)

    def test_unknown_level(self):
        done = self.saltus("sample", env={"SALTUS_LEVEL": "pentium"})
        self.assertEqual(done.status, USAGE, str(done))
        self.assertIn("SALTUS_LEVEL", done.err)


if __name__ == "__main__":
    saltus_cli.main()
