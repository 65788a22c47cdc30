"""saltus sample --json: its fields, their types, and its numbers against exact and published ones."""

import math
import numbers

import saltus_cli
from saltus_cli import CliTest, chain_means, lattice, mean_and_error, read_npz, with_defaults

EXACT_MEAN = 0.48296984223599815  # exact, by enumeration

# What the requirement names, with the type of each; null is allowed where a number can be undefined.
NUMBER, WHOLE, TEXT, OBJECT, LIST = "number", "whole", "text", "object", "list"
FIELDS = {
    "model": TEXT, "dim": WHOLE, "sampler": TEXT, "parameters": OBJECT, "chains": WHOLE, "warmup": WHOLE,
    "draws": WHOLE, "thin": WHOLE, "seed": WHOLE, "seconds": NUMBER, "steps_per_second": NUMBER,
    "acceptance_rate": NUMBER, "accepted": NUMBER, "proposed_changes": NUMBER, "changes": NUMBER,
    "empty_proposals": NUMBER, "moved": NUMBER, "still_chains": WHOLE,
    "evaluations": OBJECT, "nonfinite": WHOLE, "mean": LIST, "ess": OBJECT, "rhat": OBJECT,
    "peak_memory_bytes": WHOLE,
}


def fits(value, kind):
    if isinstance(value, bool):
        return False
    return {NUMBER: isinstance(value, numbers.Real), WHOLE: isinstance(value, int), TEXT: isinstance(value, str),
            OBJECT: isinstance(value, dict), LIST: isinstance(value, list)}[kind]


class Fields(CliTest):
    def test_names_and_types(self):
        for sampler in "dmala", "dula":
            j = self.summary("--sampler", sampler, "--chains", 3, "--draws", 500, "--warmup", 100, "--thin", 2,
                             "--seed", 7)
            for name, kind in FIELDS.items():
                self.assertIn(name, j)
                self.assertTrue(fits(j[name], kind), f"{name} is {j[name]!r}, not a {kind}")
            given = {k: j[k] for k in ("model", "dim", "sampler", "chains", "warmup", "draws", "thin", "seed")}
            self.assertEqual(given, {"model": "ising-lattice", "dim": 25, "sampler": sampler, "chains": 3,
                                     "warmup": 100, "draws": 500, "thin": 2, "seed": 7})
            self.assertEqual(len(j["mean"]), 25)
            self.assertTrue(all(fits(m, NUMBER) and -1 <= m <= 1 for m in j["mean"]))
            for name in "logp", "gradient":
                self.assertTrue(fits(j["evaluations"][name], NUMBER))
            for name in "min", "median":
                self.assertTrue(fits(j["ess"][name], NUMBER))
            self.assertTrue(fits(j["rhat"]["max"], NUMBER))
            self.assertTrue(fits(j["parameters"]["step_size"], NUMBER))
            self.assertGreater(j["seconds"], 0)
            self.assertGreater(j["steps_per_second"], 0)
            self.assertGreater(j["peak_memory_bytes"], 100_000)
            self.assertEqual(j["nonfinite"], 0)
            self.assertLessEqual(j["ess"]["min"], j["ess"]["median"])

    def test_one_object_and_nothing_else(self):
        done = self.good("sample", "--json", "--draws", 10000)
        saltus_cli.strict_json(done.out)  # refuses anything after the object
        self.assertTrue(done.out.startswith("{"), done.out[:20])
        self.assertEqual(done.err, "")
        self.assertEqual(self.files(), [])

    def test_also_with_a_file_of_draws(self):
        done = self.good("sample", "--json", "--draws", 100, "--out", "draws.npz")
        saltus_cli.strict_json(done.out)
        self.assertEqual(self.files(), ["draws.npz"])

    def test_largest_seed_is_reported_exactly(self):
        seed = 2 ** 64 - 1
        self.assertEqual(self.summary("--draws", 10, "--seed", seed)["seed"], seed)

    def test_mean_agrees_with_the_draws(self):
        # The same sums in another order: equal up to rounding.
        j = self.summary("--draws", 200, "--out", "d.npz")
        x = read_npz(self.path("d.npz"))["x"]
        self.assertEqual(x.shape, (4, 200, 25))
        for i in range(25):
            ones = x.data[i::25].count(1)
            self.assertAlmostEqual(j["mean"][i], 2 * ones / 800 - 1, delta=1e-12)

    def test_thinning_counts_steps_between_draws(self):
        j = self.summary("--draws", 1000, "--thin", 5, "--set", "step_size=0.4", "--out", "thin.npz")
        self.summary("--draws", 5000, "--set", "step_size=0.4", "--out", "all.npz")
        thin, every = (read_npz(self.path(n))["x"] for n in ("thin.npz", "all.npz"))
        self.assertEqual(thin.shape, (4, 1000, 25))
        self.assertEqual(j["evaluations"]["gradient"], 1)
        for draw in 0, 1, 999:  # draw k is the state after step 5 (k + 1)
            at, full = draw * 25, (5 * draw + 4) * 25
            self.assertEqual(thin.data[at:at + 25], every.data[full:full + 25])

    def test_start_from_a_file(self):
        # Steps so small that nothing ever moves: every draw is the start.
        rows = ["0 1 0 1 0 1", "1 1 1 0 0 0"]
        self.write("start.txt", "\n".join(rows) + "\n")
        self.summary("bernoulli", "--chains", 2, "--draws", 20, "--init", "start.txt", "--set", "step_size=1e-4",
                     "--out", "d.npz")
        x = read_npz(self.path("d.npz"))["x"]
        for chain, row in enumerate(rows):
            self.assertEqual(x.rows(chain, chain + 1), bytes(map(int, row.split())) * 20)


class NoNumberWithoutMeaning(CliTest):
    """JSON without NaN and Infinity, whatever the run: self.summary refuses them."""

    def test_one_draw_of_one_chain(self):
        for sampler in "dmala", "dula":
            for record in "draws", "moments":
                j = self.summary("bernoulli", "--sampler", sampler, "--draws", 1, "--chains", 1, "--record", record)
                self.assertEqual(len(j["mean"]), 6)
                self.assertIsNone(j["ess"]["min"])
                self.assertIsNone(j["ess"]["median"])
                self.assertIsNone(j["rhat"]["max"])

    def test_few_draws(self):
        for draws in 2, 3, 4, 5:
            for record in "draws", "moments":
                self.summary("bernoulli", "--draws", draws, "--chains", 1, "--record", record)
                self.summary("bernoulli", "--draws", draws, "--chains", 2, "--record", record, "--warmup", 0)

    def test_coordinate_that_never_changes(self):
        self.write("m.json", {"model": "bernoulli", "logits": [1000, -1000, 0]})
        for record in "draws", "moments":
            j = self.summary("m.json", "--draws", 1000, "--record", record)
            self.assertEqual(j["mean"][:2], [1, 0])

    def test_no_coordinate_changes(self):
        for record in "draws", "moments":
            j = self.summary("--draws", 100, "--chains", 1, "--set", "step_size=1e-4", "--record", record)
            self.assertEqual(j["changes"], 0)
            self.assertIsNone(j["ess"]["min"])
            # Nothing was even proposed, and the summary says so.
            self.assertEqual([j["empty_proposals"], j["moved"], j["still_chains"]], [1, 0, 1])
            self.assertTrue(any("1 of 1 chains stand still" in w["sentence"] for w in j["warnings"]), j["warnings"])

    def test_no_draw_at_all(self):
        # The time is up in warm-up.
        j = self.summary("--warmup", 10_000_000, "--time", 0.01)
        self.assertEqual(j["draws"], 0)
        self.assertFalse(j["complete"])
        self.assertEqual(j["mean"], [None] * 25)


class PublishedNumbers(CliTest):
    """Exact answers. The tolerance 0.01 is wide for an acceptance probability: its
    standard deviation is at most 0.5 and its integrated autocorrelation time at most 10 steps, so that
    8 x 20,000 steps have a standard error of at most 0.5 / sqrt(16,000) = 0.004. A number of proposed
    flips has a standard deviation of 2 and an autocorrelation time of about 2: it takes 800,000 steps
    for 0.003."""

    RUN = ("--chains", 8, "--draws", 20_000, "--warmup", 500)

    def test_dmala_acceptance_and_flips(self):
        for step_size, acceptance, flips in (0.4, 0.688, 4.433), (0.6, 0.539, 6.030):
            j = self.summary("--chains", 8, "--draws", 100_000, "--record", "moments",
                             "--set", f"step_size={step_size}")
            self.assertAlmostEqual(j["acceptance_rate"], acceptance, delta=0.01)
            self.assertAlmostEqual(j["accepted"], acceptance, delta=0.01)
            self.assertAlmostEqual(j["proposed_changes"], flips, delta=0.01)
            self.assertLess(j["changes"], j["proposed_changes"])
            # Larger jumps are refused more often than small ones.
            self.assertLess(j["changes"], j["accepted"] * j["proposed_changes"] + 0.01)
            self.assertGreater(j["changes"], 0.5 * j["accepted"] * j["proposed_changes"])
            self.assertEqual(j["evaluations"], {"logp": 1, "gradient": 1})
            self.assertEqual(j["parameters"]["step_size"], step_size)
            self.assertEqual(j["parameters"]["adapt"], False)

    def test_dmala_on_the_2x2_lattice(self):
        for step_size, acceptance in (0.2, 0.990154), (0.4, 0.931317), (1, 0.841775), (4, 0.786407):
            j = self.summary("ising-2x2", *self.RUN, "--set", f"step_size={step_size}")
            self.assertAlmostEqual(j["acceptance_rate"], acceptance, delta=0.01)

    def test_dula_takes_every_proposal(self):
        j = self.summary(*self.RUN, "--sampler", "dula", "--set", "step_size=0.4")
        self.assertEqual(j["acceptance_rate"], 1)
        self.assertEqual(j["accepted"], 1)
        self.assertEqual(j["changes"], j["proposed_changes"])
        self.assertEqual(j["evaluations"]["gradient"], 1)

    def mean_of_spins(self, *arguments):
        """Mean over all spins with a standard error from 32 independent chains."""
        self.summary(*arguments, "--chains", 32, "--draws", 6000, "--out", "d.npz")
        return mean_and_error(chain_means(read_npz(self.path("d.npz"))["x"], value=lambda k: 2 * k - 1))

    def check_mean(self, exact, *arguments):
        # Five standard errors; 32 chains tell the standard error itself to about 13 %.
        mean, error = self.mean_of_spins(*arguments)
        self.assertLess(error, 0.01)
        self.assertLess(abs(mean - exact), 5 * error, f"{mean} +- {error}, exact {exact}")
        return mean, error

    def test_dmala_mean_is_exact(self):
        self.check_mean(EXACT_MEAN, "--set", "step_size=0.4")
        self.check_mean(EXACT_MEAN)  # tuned

    def test_dula_mean_has_its_exact_bias(self):
        for step_size, biased in (0.2, 0.4231765072), (0.4, 0.3154309115), (0.6, 0.2627333603):
            mean, error = self.check_mean(biased, "--sampler", "dula", "--set", f"step_size={step_size}")
            self.assertGreater(EXACT_MEAN - mean, 5 * error)  # the test can tell the two apart

    def test_bernoulli_means_are_exact(self):
        # Standard error of each mean from its ESS, which is at least the reported minimum.
        j = self.summary("bernoulli", "--chains", 8, "--draws", 20_000, "--set", "step_size=0.5")
        for mean, logit in zip(j["mean"], [-2, -1, -0.3, 0.3, 1, 2]):
            p = 1 / (1 + math.exp(-logit))
            self.assertLess(abs(mean - p), 5 * math.sqrt(p * (1 - p) / j["ess"]["min"]))


class Parameters(CliTest):
    RUN = {"--chains": 4, "--draws": 5000, "--warmup": 100}

    def draws(self, *arguments):
        j = self.summary(*with_defaults(self.RUN, arguments), "--out", "d.npz")
        return j, read_npz(self.path("d.npz"))

    def check_same(self, one, other):
        (j1, d1), (j2, d2) = self.draws(*one), self.draws(*other)
        self.assertEqual(d1["x"], d2["x"])
        self.assertEqual(d1["logp"], d2["logp"])
        for field in "acceptance_rate", "accepted", "proposed_changes", "changes", "mean", "ess", "rhat":
            self.assertEqual(j1[field], j2[field], field)

    def test_distance_in_values_costs_four_times_as_much(self):
        # A spin flip costs 4 / (2 * 1.6) or 1 / (2 * 0.4): the same number, so the same draws.
        self.check_same(["--set", "distance=value", "--set", "step_size=1.6"], ["--set", "step_size=0.4"])
        j, _ = self.draws("--set", "distance=value", "--set", "step_size=1.6", "--draws", "50000", "--seed", "5")
        self.assertAlmostEqual(j["acceptance_rate"], 0.688, delta=0.01)  # C12
        self.assertEqual(j["parameters"]["distance"], "value")

    def test_distance_makes_no_difference_for_bits(self):
        self.check_same(["bernoulli", "--set", "distance=value", "--set", "step_size=0.5"],
                        ["bernoulli", "--set", "step_size=0.5"])

    def test_constant_precondition_is_a_step_size(self):  # C4
        self.check_same(["--set", "step_size=0.2", "--set", "precondition=" + ",".join(["2"] * 25)],
                        ["--set", "step_size=0.4"])

    def test_precondition_from_a_file(self):
        factors = [0.5 + i / 25 for i in range(25)]
        self.write("factors.txt", "\n".join(map(repr, factors)) + "\n")
        self.check_same(["--set", "step_size=0.4", "--set", "precondition=factors.txt"],
                        ["--set", "step_size=0.4", "--set", "precondition=" + ",".join(map(repr, factors))])

    def test_precondition_belongs_to_its_coordinate(self):
        # A factor of 1e-3 makes a flip cost 1250: that coordinate never moves, the others do.
        factors = [1.0] * 25
        factors[7] = 1e-3
        _, d = self.draws("--set", "step_size=0.4", "--set", "precondition=" + ",".join(map(str, factors)))
        x = d["x"]
        for chain in range(4):
            states = x.rows(chain, chain + 1)
            for i in range(25):
                self.assertEqual(len(set(states[i::25])), 1 if i == 7 else 2, f"coordinate {i}")

    def test_infinite_step_size(self):
        j, _ = self.draws("--set", "step_size=inf")
        finite, _ = self.draws("--set", "step_size=0.6")
        self.assertIsNone(j["parameters"]["step_size"])
        self.assertGreater(j["proposed_changes"], finite["proposed_changes"])
        self.assertLess(j["acceptance_rate"], finite["acceptance_rate"])
        # alpha = 4 is close to infinite: C1 has acceptance 0.786 there, falling slowly.
        j, _ = self.draws("ising-2x2", "--set", "step_size=inf", "--draws", 50_000)
        huge, _ = self.draws("ising-2x2", "--set", "step_size=1e6", "--draws", 50_000)
        self.assertAlmostEqual(j["acceptance_rate"], huge["acceptance_rate"], delta=0.01)
        self.assertLess(j["acceptance_rate"], 0.786407)

    def test_tiny_and_huge_step_sizes_stay_finite(self):  # C15
        for step_size in "1e-3", "1e-30", "1e-310", "1e9", "1e300":
            for sampler in "dmala", "dula":
                j, d = self.draws("--set", f"step_size={step_size}", "--sampler", sampler)
                self.assertEqual(j["nonfinite"], 0)
                self.assertTrue(all(map(math.isfinite, d["logp"].items())))


class Tuning(CliTest):
    """0.574 is what tuning aims at. The tolerance 0.06 is the requirement's reading of 'towards'; the
    acceptance rate itself is known to about 0.005 (see PublishedNumbers)."""

    def check(self, *arguments):
        j = self.summary(*with_defaults({"--chains": 4, "--draws": 20_000}, arguments))
        self.assertTrue(j["parameters"]["adapt"])
        self.assertGreater(j["parameters"]["step_size"], 0)
        self.assertAlmostEqual(j["acceptance_rate"], 0.574, delta=0.06)
        return j

    def test_is_on_without_a_step_size(self):
        for seed in range(1, 6):
            self.check("--seed", seed)

    def test_on_a_larger_model(self):
        self.write("m.json", lattice(12, 15))
        self.check("m.json", "--draws", 3000)

    def test_with_one_chain(self):
        self.check("--chains", 1, "--warmup", 2000, "--draws", 50_000)

    def test_from_a_given_start(self):
        for start in 0.05, 5:
            j = self.check("--set", "adapt=true", "--set", f"step_size={start}")
            self.assertNotEqual(j["parameters"]["step_size"], start)

    def test_is_off_with_a_step_size(self):
        j = self.summary("--set", "step_size=0.3", "--draws", 100)
        self.assertEqual(j["parameters"]["step_size"], 0.3)
        self.assertIs(j["parameters"]["adapt"], False)

    def test_frozen_value_repeats_the_draws_statistics(self):
        # Draws made with the reported step size have the reported acceptance.
        tuned = self.check("--draws", 50_000)
        fixed = self.summary("--draws", 50_000, "--set", f"step_size={tuned['parameters']['step_size']!r}", "--seed", 9)
        self.assertAlmostEqual(tuned["acceptance_rate"], fixed["acceptance_rate"], delta=0.01)

    def test_dula_reports_the_step_size_it_uses(self):
        tuned = self.summary("--sampler", "dula", "--draws", 50_000)
        fixed = self.summary("--sampler", "dula", "--draws", 50_000, "--seed", 9,
                             "--set", f"step_size={tuned['parameters']['step_size']!r}")
        # About 5 flips a step with a standard deviation of about 2: 200,000 steps give 0.005.
        self.assertAlmostEqual(tuned["proposed_changes"], fixed["proposed_changes"], delta=0.05)


class Moments(CliTest):
    def test_same_means_without_keeping_draws(self):
        run = ["--set", "step_size=0.4", "--draws", 5000, "--seed", 3]
        draws, moments = self.summary(*run), self.summary(*run, "--record", "moments")
        for field in "acceptance_rate", "accepted", "proposed_changes", "changes", "evaluations":
            self.assertEqual(draws[field], moments[field])
        for a, b in zip(draws["mean"], moments["mean"]):
            self.assertAlmostEqual(a, b, delta=1e-12)
        # Two estimators of the same ESS: batch means with sqrt(n) batches of sqrt(n) = 70 draws and 4
        # chains have 280 batches, a relative standard error of sqrt(2 / 280) = 8.5 %, and a bias of a
        # few per cent; the minimum over 25 coordinates lies about two standard errors below.
        self.assertLess(abs(math.log(draws["ess"]["median"] / moments["ess"]["median"])), 0.3)
        self.assertLess(moments["rhat"]["max"], 1.02)


if __name__ == "__main__":
    saltus_cli.main()
