"""Runs in pieces: extended, in parts, with some coordinates or in a file, and stepped by hand."""

import html.parser
import os
import pickle
import warnings

from support import PROGRAM, Test, main, probabilities, program, unittest
import numpy as np
import saltus


def quiet(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return saltus.sample(*arguments, **{"exact": False, "probe": False, **options})


def same(test, a, b):
    np.testing.assert_array_equal(a.levels, b.levels)
    np.testing.assert_array_equal(a.logp, b.logp)
    np.testing.assert_array_equal(a.acceptance_rate, b.acceptance_rate)
    np.testing.assert_array_equal(a.mean, b.mean)
    for key in ("draws", "acceptance_rate", "parameters", "ess", "rhat", "best"):
        test.assertEqual(a.stats[key], b.stats[key], key)


class Extend(Test):
    def test_is_one_long_run(self):
        cases = [
            ("ising-lattice", {}),
            ("ising-lattice", {"sampler": "gwg", "thin": 3}),
            ("ising-lattice", {"given": {3: 1, 7: -1}}),
            ("ising-lattice", {"constrain": "sum=12"}),
            ("ising-lattice", {"temper": 4, "steps": 2}),
            ("ising-lattice", {"keep": [1, 5]}),
            ("bernoulli", {"sampler": "gibbs"}),
        ]
        for model, options in cases:
            with self.subTest(model=model, **options), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                whole = quiet(model, draws=500, seed=4, **options)
                first = quiet(model, draws=200, seed=4, **options)
                kept = first.levels.copy()
                second = first.extend(350, progress=False).extend(500, progress=False)
                same(self, second, whole)
                np.testing.assert_array_equal(first.levels, kept)
                self.assertEqual(first.draws.shape[1], 200)

    def test_a_callable(self):
        m = saltus.ising(np.triu(np.full((5, 5), 0.2), 1))
        f = saltus.function(lambda x: (m.logp(x), m.score(x)), saltus.spin(5))
        same(self, quiet(f, draws=50, seed=1).extend(120), quiet(f, draws=120, seed=1))

    def test_a_run_that_was_stopped(self):
        calls = []

        def stop(p):
            calls.append(p)
            return p.step < 1200

        part = quiet("ising-lattice", draws=10**6, seed=1, progress=stop)
        made = part.draws.shape[1]
        self.assertFalse(part.complete)
        more = part.extend(made + 100)
        np.testing.assert_array_equal(more.levels, quiet("ising-lattice", draws=made + 100, seed=1).levels)
        self.assertTrue(more.complete)

    def test_refusals(self):
        r = quiet("ising-lattice", draws=50, seed=1)
        self.refused(saltus.UsageError, "the run has made 50 already", r.extend, 50)
        self.refused(saltus.UsageError, "no chains to continue", pickle.loads(pickle.dumps(r)).extend, 90)
        moments = quiet("ising-lattice", draws=50, seed=1, record="moments")
        self.refused(saltus.UsageError, "no chains to continue", moments.extend, 90)


class Keep(Test):
    def test_coordinates(self):
        whole = quiet("ising-lattice", draws=100, seed=1)
        some = quiet("ising-lattice", draws=100, seed=1, keep=[(0, 2), 9, 20])
        flat = whole.draws.reshape(4, 100, 25)
        np.testing.assert_array_equal(some.draws, flat[:, :, [2, 9, 20]])
        np.testing.assert_array_equal(some.logp, whole.logp)
        np.testing.assert_array_equal(some.mean, whole.mean.reshape(-1)[[2, 9, 20]])
        np.testing.assert_allclose(some.ess, whole.ess.reshape(-1)[[2, 9, 20]])
        self.assertEqual(list(some.coords["x_dim_0"]), ["0,2", "1,4", "4,0"])
        self.assertEqual(some.coordinate_names()[1], "x[1,4]")
        self.assertEqual(len(some.summary()), 3)
        some.save(self.path("some.npz"))
        again = saltus.load(self.path("some.npz"))
        np.testing.assert_array_equal(again.draws, some.draws)

    def test_checkpoint(self):
        file = self.path("run.checkpoint")
        quiet("ising-lattice", draws=60, seed=1, keep=[1, 5], given={0: 1}, checkpoint=file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            r = saltus.resume(file, draws=100)
        np.testing.assert_array_equal(
            r.levels, quiet("ising-lattice", draws=100, seed=1, keep=[1, 5], given={0: 1}).levels
        )

    def test_a_file(self):
        whole = quiet("ising-lattice", draws=100, seed=1)
        file = self.path("draws.npy")
        r = quiet("ising-lattice", draws=100, seed=1, draws_to=file)
        np.testing.assert_array_equal(np.load(file), whole.levels)
        np.testing.assert_array_equal(r.draws, whole.draws)
        self.assertIsInstance(r.levels.base if r.levels.base is not None else r.levels, object)
        bits = quiet("bernoulli", draws=100, seed=1, draws_to=self.path("bits.npy"))
        self.assertTrue(np.shares_memory(bits.draws, bits.levels))
        with_given = quiet(
            "ising-lattice", draws=50, seed=1, given={0: 1, 24: -1}, draws_to=self.path("given.npy")
        )
        np.testing.assert_array_equal(with_given.draws[..., 0, 0], 1)
        np.testing.assert_array_equal(np.load(self.path("given.npy"))[..., 4, 4], 0)
        more = r.extend(150, draws_to=self.path("more.npy"))
        np.testing.assert_array_equal(np.load(self.path("more.npy")), more.levels)

    def test_refusals(self):
        say = lambda sentence, **options: self.refused(  # noqa: E731
            saltus.Error, sentence, saltus.sample, "ising-lattice", draws=5, **options
        )
        say("keep has an entry for 25, which is no coordinate", keep=[25])
        say("keep names no coordinates", keep=[])
        say("keep names coordinate 3, which is given", keep=[3], given={3: 1})
        say("ends in .npy", draws_to=self.path("draws.npz"))
        say("keeps no draws", keep=[1], record="moments")
        with open(self.path("there.npy"), "w"):
            pass
        say("already", draws_to=self.path("there.npy"))
        say("cannot write", draws_to=self.path("no/draws.npy"))
        say("observables need the draws of all coordinates", keep=[1], observe=["mean(x)"])


class Parts(Test):
    options = {"chains": 12, "draws": 300, "seed": 5, "sampler": saltus.DMALA(step_size=0.3)}

    def test_merge(self):
        for more in ({}, {"tile": 4}, {"init": np.where(np.arange(300).reshape(12, 25) % 2, 1, -1)}):
            whole = quiet("ising-lattice", **self.options, **more)
            parts = [quiet("ising-lattice", **self.options, **more, part=(k, 3)) for k in (2, 3, 1)]
            self.assertEqual([len(p.levels) for p in parts], [4, 4, 4])
            merged = saltus.merge(parts)
            np.testing.assert_array_equal(merged.levels, whole.levels)
            np.testing.assert_array_equal(merged.logp, whole.logp)
            np.testing.assert_allclose(merged.mean, whole.mean, rtol=1e-12)
            np.testing.assert_allclose(merged.ess, whole.ess, rtol=1e-12)
            self.assertAlmostEqual(merged.stats["acceptance_rate"], whole.stats["acceptance_rate"])
            self.assertEqual(merged.stats["best"]["logp"], whole.stats["best"]["logp"])
            self.assertEqual([w for w in merged.warnings if "R-hat" in w], whole.warnings)
            self.assertEqual(merged.verdict, whole.verdict)

    def test_files(self):
        for k in (1, 2):
            quiet("ising-lattice", **self.options, part=(k, 2)).save(self.path(f"{k}.npz"))
        merged = saltus.merge([saltus.load(self.path(f"{k}.npz")) for k in (1, 2)])
        np.testing.assert_array_equal(merged.levels, quiet("ising-lattice", **self.options).levels)

    def test_ranges(self):
        ranges = saltus.chain_ranges("ising-lattice", 3, chains=12, sampler="gwg")
        self.assertEqual(ranges, [(0, 4), (4, 4), (8, 4)])

    @unittest.skipUnless(PROGRAM, "SALTUS_PROGRAM does not name the program")
    def test_the_program_has_the_same_parts(self):
        out = self.path("all.npz")
        program("sample", "ising-lattice", "--chains", "12", "--draws", "300", "--seed", "5", "--set",
                "step_size=0.3", "--part", "2/3", "--out", out)  # fmt: skip
        with np.load(out) as file:
            there = file[[k for k in file.files if file[k].ndim >= 3][0]]
        here = quiet("ising-lattice", **self.options, part=(2, 3))
        np.testing.assert_array_equal(there.reshape(here.levels.shape), here.levels)

    def test_refusals(self):
        tuned = {**self.options, "sampler": "dmala"}
        self.refused(saltus.UsageError, "cannot tune dmala together: give its step_size",
                     quiet, "ising-lattice", **tuned, part=(1, 2))  # fmt: skip
        self.refused(saltus.UsageError, "part is (3, 2)", quiet, "ising-lattice", **self.options, part=(3, 2))
        self.refused(saltus.UsageError, "can be divided into 6 parts at most",
                     quiet, "ising-lattice", **self.options, part=(1, 20))  # fmt: skip
        one, two = (quiet("ising-lattice", **self.options, part=(k, 2)) for k in (1, 2))
        self.refused(saltus.DataError, "chains from 6 to 11 are missing", saltus.merge, [one])
        self.refused(saltus.DataError, "are missing", saltus.merge, [two])
        self.refused(saltus.DataError, "are there twice", saltus.merge, [one, one, two])
        self.refused(saltus.UsageError, "not of a part", saltus.merge, [quiet("ising-lattice", draws=5)])
        other = quiet("ising-lattice", **{**self.options, "seed": 6}, part=(2, 2))
        self.refused(saltus.DataError, "have the same seed", saltus.merge, [one, other])


class Stepped(Test):
    def test_are_those_of_a_run(self):
        sampler = saltus.DMALA(step_size=0.3)
        r = quiet("ising-lattice", sampler=sampler, chains=6, warmup=0, draws=40, seed=2, init="random")
        chains = saltus.Chains("ising-lattice", sampler, n=6, seed=2)
        for k in range(20):
            np.testing.assert_array_equal(chains.step(), r.draws[:, k])
        np.testing.assert_array_equal(chains.step(20), r.draws[:, 39])
        np.testing.assert_allclose(chains.logp, r.logp[:, 39], rtol=1e-6)
        self.assertEqual(chains.steps, 40)
        self.assertTrue(0 < chains.acceptance_rate <= 1 and chains.changes > 0)

    def test_tuning(self):
        r = quiet("ising-lattice", chains=6, warmup=300, draws=20, seed=2, init="random")
        chains = saltus.Chains("ising-lattice", n=6, seed=2).tune(300)
        self.assertEqual(chains.parameters["step_size"], r.step_size)
        np.testing.assert_array_equal(chains.step(20), r.draws[:, 19])
        self.refused(saltus.UsageError, "tuned before their other steps", chains.tune)

    def test_law(self):
        m = saltus.ising(np.triu(np.full((4, 4), 0.3), 1), h=0.2)
        states, p = probabilities(m)
        chains = saltus.Chains(m, "gwg", n=400, seed=1, given={0: -1}).tune(50)
        total = np.zeros(4)
        for k, x in enumerate(chains):
            total += x.mean(0)
            if k == 199:
                break
        left = p * (states[:, 0] == -1)
        expected = left @ states / left.sum()
        self.assertTrue((np.abs(total / 200 - expected) < 0.02).all())  # se: below 0.004

    def test_starts_and_logp(self):
        m = saltus.bernoulli([0.5, -1.0, 0.2])
        chains = saltus.Chains(m, "gibbs", n=2, init=[[1, 0, 1], [0, 0, 0]])
        np.testing.assert_array_equal(chains.states, [[1, 0, 1], [0, 0, 0]])
        np.testing.assert_allclose(chains.logp, m.logp(chains.states))

    def test_errors_of_callables(self):
        def f(x):
            if f.calls > 3:
                raise KeyError("gone")
            f.calls += 1
            return -x.sum(1), -np.ones_like(x)

        f.calls = 0
        chains = saltus.Chains(f, saltus.DMALA(step_size=0.2), domain=saltus.binary(3), n=2)
        self.refused(saltus.ComputationError, "KeyError", chains.step, 100)

    def test_refusals(self):
        self.refused(saltus.UsageError, "n is 0", saltus.Chains, "ising", n=0)
        chains = saltus.Chains("ising", n=2)
        self.refused(saltus.UsageError, "steps is 0", chains.step, 0)
        self.refused(saltus.UsageError, "cannot be pickled", pickle.dumps, chains)
        child = os.fork()
        if child == 0:
            try:
                chains.step()
                os._exit(1)
            except saltus.UsageError as e:
                os._exit(0 if "was made in process" in str(e) or "were made" in str(e) else 2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


class Tags(html.parser.HTMLParser):
    """All tags that are opened are closed."""

    VOID = {"meta", "rect", "path", "polyline", "br"}

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.bad = [], set(), []

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        if not self.open or self.open[-1] != tag:
            self.bad.append(tag)
        else:
            self.open.pop()


class Pages(Test):
    def check(self, text):
        tags = Tags()
        tags.feed(text)
        self.assertEqual((tags.bad, tags.open), ([], []))
        self.assertNotIn("script", tags.seen)
        return tags.seen

    def test_report(self):
        r = quiet("ising-lattice", draws=200, seed=1)
        r.report(self.path("page.html"), title="<5 x 5>")
        with open(self.path("page.html")) as file:
            text = file.read()
        self.assertIn("svg", self.check(text))
        self.assertIn("&lt;5 x 5&gt;", text)
        self.assertNotIn("<5 x 5>", text)
        for w in r.warnings:
            self.assertIn(w, text)
        for other in (
            quiet("poisson", draws=30, seed=1),
            quiet("ising-lattice", draws=30, record="moments", seed=1),
            quiet(saltus.potts([[0, 1, 2.0]] * 3), draws=50, seed=1),
        ):
            other.report(self.path("other.html"))
            with open(self.path("other.html")) as file:
                self.check(file.read())
        self.refused(saltus.UsageError, "FILE.html", r.report, self.path("page.txt"))
        self.refused(saltus.FileError, "cannot write", r.report, self.path("no/page.html"))

    def test_notebook_view(self):
        m = saltus.bernoulli(np.linspace(-1, 1, 40))
        m.labels = [f"<b>{k}" for k in range(40)]
        text = quiet(m, draws=100, seed=1)._repr_html_()
        self.assertIn("table", self.check(text))
        self.assertIn("&lt;b&gt;", text)
        self.assertLessEqual(text.count("<tr>"), 31)


if __name__ == "__main__":
    main()
