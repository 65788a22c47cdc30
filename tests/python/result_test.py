"""Summaries against NumPy, files, and what other libraries get."""

import pickle
import statistics
import sys
import types
import warnings

from support import Test, main  # first: says where NumPy is missing
import numpy as np
import saltus
from saltus._table import Table

# Vehtari et al. (2021), from the paper's formulas.


def autocovariance(x):
    size = x.shape[1]
    centred = x - x.mean(1, keepdims=True)
    f = np.fft.rfft(centred, 2 * size)
    return np.fft.irfft(f * f.conj())[:, :size] / size


def ess(x):
    """Geyer's initial monotone sequence over chains."""
    m, size = x.shape
    covariance = autocovariance(x)
    within = covariance[:, 0].mean() * size / (size - 1)
    plus = within * (size - 1) / size + (x.mean(1).var(ddof=1) if m > 1 else 0)
    rho = 1 - (within - covariance.mean(0)) / plus
    rho[0] = 1
    pairs = []
    for t in range(0, size - 3, 2):
        pair = rho[t] + rho[t + 1]
        if pair < 0:
            break
        pairs.append(min(pair, pairs[-1]) if pairs else pair)
    else:
        pairs.pop()
    after = rho[2 * len(pairs)]  # the first half of the next pair
    tau = max(-1 + 2 * sum(pairs) + max(after, 0), 1 / np.log10(m * size))
    return m * size / tau


def split(x):
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def ranked(x):
    flat = x.ravel()
    values, inverse, counts = np.unique(flat, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    rank = (last - (counts - 1) / 2)[inverse]
    normal = statistics.NormalDist().inv_cdf
    z = {r: normal((r - 0.375) / (len(flat) + 0.25)) for r in np.unique(rank)}
    return np.array([z[r] for r in rank]).reshape(x.shape)


def rhat(x):
    size = x.shape[1]
    within = x.var(1, ddof=1).mean()
    return np.sqrt((size - 1) / size + x.mean(1).var(ddof=1) / within)


def folded(x):
    return abs(x - np.median(x))


def ess_tail(x):
    """The least of the two tails, beyond the quantiles of 5 and 95 %."""
    sizes = []
    for q in np.quantile(x, [0.05, 0.95]):
        below = split((x <= q).astype(float))
        sizes.append(np.inf if below.std() == 0 else ess(below))
    return min(sizes)


class Summaries(Test):
    def check(self, model, draws=400, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            r = saltus.sample(model, draws=draws, warmup=200, seed=5, probe=False, **options)
        x = r.draws.reshape(*r.draws.shape[:2], -1).astype(float)
        table = r.summary("means")
        tails = np.asarray(table["ess_tail"])
        for column, array in (("mean", r.mean), ("sd", r.sd), ("mcse_mean", r.mcse),
                              ("ess_bulk", r.ess), ("r_hat", r.rhat)):
            np.testing.assert_allclose(np.asarray(table[column]), array.ravel(), rtol=1e-12)
        for i in range(x.shape[2]):
            column = x[:, :, i]
            self.assertAlmostEqual(r.mean.ravel()[i], column.mean(), 9)
            self.assertAlmostEqual(r.sd.ravel()[i], column.std(ddof=1), 9)
            if column.std() == 0:
                self.assertTrue(np.isnan(r.ess.ravel()[i]))
                continue
            halves = split(column)
            z = ranked(halves)
            np.testing.assert_allclose(r.ess.ravel()[i], ess(z), rtol=1e-9)
            np.testing.assert_allclose(tails[i], ess_tail(column), rtol=1e-9)
            values = [rhat(z)]
            if len(np.unique(column)) > 2:
                values.append(rhat(ranked(folded(halves))))
            np.testing.assert_allclose(r.rhat.ravel()[i], np.nanmax(values), rtol=1e-9)
        return r

    def test_two_levels_and_a_constant_coordinate(self):
        self.check(saltus.ising(np.diag(np.full(4, 0.4), 1), [0, 0, 0.2, 0, 60.0]))
        self.check("ising-lattice", draws=101)

    def test_more_levels(self):
        self.check("quadratic")
        self.check("poisson", draws=151)

    def test_columns_of_arrays_are_those_of_the_run(self):
        r = saltus.sample("ising-lattice", draws=300, seed=1)
        again = saltus.Result(r.domain, r.stats, r.levels, r.logp, r.acceptance_rate)
        for name in ("mean", "sd", "mcse", "ess", "rhat"):
            np.testing.assert_allclose(getattr(again, name), getattr(r, name), rtol=1e-12)

    def test_levels(self):
        r = saltus.sample("potts", draws=500, seed=1)
        shares = [(r.levels[:, :, i] == k).mean() for i in range(2) for k in range(3)]
        np.testing.assert_allclose(np.asarray(r.summary("levels")["probability"]), shares)
        r = saltus.sample("ising", draws=500, seed=1)
        s = r.summary("levels")
        self.assertAlmostEqual(float(np.asarray(s["probability"])[1]), (r.draws[:, :, 0] == 1).mean())

    def test_moments(self):
        whole = saltus.sample("ising-lattice", draws=500, seed=1)
        r = saltus.sample("ising-lattice", draws=500, seed=1, record="moments")
        np.testing.assert_allclose(r.mean, whole.mean, atol=1e-12)
        self.refused(saltus.UsageError, "kept running moments alone", lambda: r.draws)
        self.assertIn("R-hat", str(r))


class Presentation(Test):
    def test_text_and_html(self):
        model = saltus.model("ising-lattice")
        r = saltus.sample(model, draws=200, seed=1, name="<b>")
        self.assertIn("25 coordinates: dmala, 4 chains x 200 draws", str(r))
        self.assertIn("&lt;b&gt;[0,0]", r._repr_html_())
        self.assertNotIn("<b>", r._repr_html_())
        self.assertNotIn("<script", r._repr_html_())
        r = saltus.sample("ising-100x100", draws=30, warmup=20, seed=1, probe=False)
        self.assertIn("the 10 of 10,000 rows", str(r))

    def test_warnings(self):
        with self.assertWarns(saltus.SaltusWarning):
            r = saltus.sample("ising-100x100", draws=30, warmup=20, seed=1, probe=False)
        self.assertEqual(r.verdict, "doubtful")
        self.assertEqual(len(r.warnings), len(r.stats["warnings"]))

    def test_table(self):
        t = Table(["a", "b"], {"mean": np.array([0.5, np.nan])})
        self.assertEqual(t.loc["a"]["mean"], 0.5)
        self.assertIn("-", t.text().splitlines()[2])


class Elsewhere(Test):
    def result(self, **options):
        return saltus.sample(saltus.lattice((2, 3), 0.1, 0.2), draws=50, seed=18446744073709551615, **options)

    def test_files(self):
        r = self.result(dims=("row", "column"), coords={"row": ["top", "bottom"]}, name="s")
        r.save(self.path("r.npz"))
        for other in (saltus.load(self.path("r.npz")), pickle.loads(pickle.dumps(r))):
            self.assertTrue(np.array_equal(other.draws, r.draws))
            self.assertTrue(np.array_equal(other.logp, r.logp))
            self.assertEqual(other.stats, r.stats)
            self.assertEqual((other.dims, other.coords, other.name), (r.dims, r.coords, "s"))
            np.testing.assert_allclose(other.ess, r.ess, rtol=1e-12)
        self.refused(saltus.UsageError, "FILE.npz or FILE.nc", r.save, self.path("r.txt"))
        with open(self.path("bad.npz"), "w") as file:
            file.write("nothing")
        self.refused(saltus.DataError, "holds no draws", saltus.load, self.path("bad.npz"))
        self.refused(saltus.UsageError, "dims has 1 names", self.result, dims=["row"])

    def with_modules(self, **modules):
        hidden = {"arviz_base": None, "arviz": None}
        before = {name: sys.modules.get(name) for name in hidden}
        sys.modules.update({**hidden, **modules})

        def back():
            for name, module in before.items():
                sys.modules.pop(name, None)
                if module is not None:
                    sys.modules[name] = module

        self.addCleanup(back)

    def test_arviz_1(self):
        calls = []

        class Node:
            def __init__(self):
                self.attrs = {}

        def from_dict(data, *, dims, coords):
            calls.append((data, dims, coords))
            return {"posterior": Node(), "sample_stats": Node()}

        self.with_modules(arviz_base=types.SimpleNamespace(from_dict=from_dict))
        r = self.result()
        tree = r.to_arviz()
        data, dims, coords = calls[0]
        self.assertEqual(set(data), {"posterior", "sample_stats"})
        self.assertEqual(data["posterior"]["x"].shape, (4, 50, 2, 3))
        self.assertEqual(set(data["sample_stats"]), {"lp", "acceptance_rate", "step_size", "n_changed"})
        self.assertEqual(dims, {"x": ["x_dim_0", "x_dim_1"]})
        attributes = tree["posterior"].attrs
        self.assertEqual(attributes["inference_library"], "saltus")
        self.assertEqual(attributes["seed"], "18446744073709551615")
        self.assertIn("ising-lattice", attributes["model_json"])
        changed = (r.levels[:, 1:] != r.levels[:, :-1]).sum((2, 3))
        self.assertTrue(np.array_equal(data["sample_stats"]["n_changed"][:, 1:], changed))

    def test_arviz_0(self):
        calls = []

        class Data(dict):
            pass

        def from_dict(*, posterior, sample_stats, dims, coords, attrs):
            calls.append((posterior, sample_stats, dims, attrs))
            group = types.SimpleNamespace(attrs={})
            return Data(posterior=group, sample_stats=group)

        self.with_modules(arviz=types.SimpleNamespace(from_dict=from_dict))
        self.result().to_arviz()
        self.assertEqual(calls[0][0]["x"].shape, (4, 50, 2, 3))
        self.assertEqual(calls[0][3]["inference_library"], "saltus")

    def test_real_arviz(self):
        try:
            import arviz as az
        except ImportError:
            self.skipTest("ArviZ is not installed")
        r = saltus.sample("ising-lattice", draws=500, seed=1, name="s")
        data = r.to_arviz()
        self.assertEqual(data["posterior"]["s"].shape, (4, 500, 5, 5))
        self.assertEqual(data["posterior"].attrs["seed"], "1")
        table = az.summary(data, round_to="none", kind="diagnostics")
        mine = r.summary()
        for theirs, ours in (("ess_bulk", "ess_bulk"), ("ess_tail", "ess_tail"), ("r_hat", "r_hat"),
                             ("mcse_mean", "mcse_mean")):
            np.testing.assert_allclose(
                np.asarray(table[theirs], float), np.asarray(mine[ours]), rtol=1e-6)

    def test_xarray(self):
        try:
            import xarray
        except ImportError:
            self.skipTest("xarray is not installed")
        r = self.result(dims=("row", "column"), coords={"row": ["top", "bottom"]})
        data = r.to_xarray()
        self.assertEqual(data["x"].dims, ("chain", "draw", "row", "column"))
        self.assertEqual(data["x"].dtype, np.int8)
        self.assertEqual(data.coords["row"].values.tolist(), ["top", "bottom"])
        self.with_modules()
        if hasattr(xarray, "DataTree"):
            self.assertEqual(r.to_arviz()["posterior"]["x"].shape, (4, 50, 2, 3))
        else:
            sentence = "to_arviz needs arviz or xarray >= 2024.10: pip install arviz"
            self.refused(saltus.MissingError, sentence, r.to_arviz)

    def test_pandas(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        r = self.result()
        frame = r.to_pandas()
        self.assertEqual(frame.shape, (200, 9))
        self.assertEqual(frame["x[1,2]"].iloc[57], r.draws[1, 7, 1, 2])


if __name__ == "__main__":
    main()
