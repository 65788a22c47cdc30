// Samplers under a constraint, exactly: against rows computed by an independent program, and on
// small targets by their transition matrices and the steps that they really take.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/run/batch_means.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/constrained.hpp"
#include "saltus/target/tempered.hpp"
#include "sampler/constrained/flip_kernel.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

// sum_h softplus((W x + c)_h) + b'x, all in double precision.
double hidden_pair(std::span<const double> v, std::span<double> gradient) {
  const double w[2][5] = {{.8, -1.2, .5, .3, -.6}, {-.4, .9, 1.5, -.7, .2}}, c[2] = {.1, -.3},
               b[5] = {-.2, .4, -.6, .5, .1};
  double logp = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    logp += b[i] * v[i];
    if (!gradient.empty()) gradient[i] = b[i];
  }
  for (std::size_t h = 0; h < 2; ++h) {
    double z = c[h];
    for (std::size_t i = 0; i < 5; ++i) z += w[h][i] * v[i];
    logp += std::log1p(std::exp(z));
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += w[h][i] / (1 + std::exp(-z));
  }
  return logp;
}

std::unique_ptr<Target> under(std::shared_ptr<const Target> model, const std::string& constraint) {
  const int dim = model->domain().dim();
  return std::make_unique<Constrained>(std::move(model), Constraint::parse(constraint, dim));
}

std::unique_ptr<Target> hidden_pair_under(const std::string& constraint) {
  return under(std::make_shared<Function>(Domain::binary(5), hidden_pair, "pair"), constraint);
}

struct Row {
  std::string sampler, constraint;
  Settings settings;
  double acceptance;
  std::vector<double> first_row;
};

// Mean acceptance, and the row of the first state in lexicographic order.
std::vector<Row> known_rows() {
  return {
      {"locally_balanced",
       "sum=2",
       {{"balancing", "sqrt"}},
       0.9034484875,
       {0.017443785117, 0.164935715321, 0.191787680245, 0.167037250812, 0.173559791851, 0.0,
        0.105655301455, 0.179580475199, 0.0, 0.0}},
      {"locally_balanced",
       "sum=2",
       {{"balancing", "ratio"}},
       0.9033962554,
       {0.01465500142, 0.166676804204, 0.188203469704, 0.16852763532, 0.174086764975, 0.0,
        0.108875095978, 0.178975228398, 0.0, 0.0}},
      {"locally_balanced",
       "sum=2",
       {{"balancing", "min"}},
       0.9062456988,
       {0.005993965716, 0.1750946756, 0.1750946756, 0.1750946756, 0.1750946756, 0.0, 0.118532656285,
        0.1750946756, 0.0, 0.0}},
      {"locally_balanced",
       "sum=2",
       {{"balancing", "max"}},
       0.9011326471,
       {0.027888561346, 0.154948372029, 0.209507229304, 0.158922090075, 0.17157572482, 0.0,
        0.093472116762, 0.183685905664, 0.0, 0.0}},
      {"gwg",
       "sum=2",
       {},
       0.8873872134,
       {0.021278518216, 0.144966346301, 0.188588018344, 0.148539789195, 0.193236742212, 0.0,
        0.119826197372, 0.183564388361, 0.0, 0.0}},
      {"gibbs",
       "sum=2",
       {{"updates", "1"}},
       1.0000000000,
       {0.204786467493, 0.148548213408, 0.152673232774, 0.152357796617, 0.12503158321, 0.0,
        0.082746127298, 0.133856579201, 0.0, 0.0}},
      {"pas",
       "sum=2",
       {{"swaps", "2"}, {"fixed", "true"}},
       0.7806671429,
       {0.053512911251, 0.0, 0.0, 0.0, 0.0, 0.344253355518, 0.0, 0.0, 0.322854195765,
        0.279379537466}},
      {"pas",
       "sum=2",
       {{"swaps", "2"}},
       0.8340271781,
       {0.037395714733, 0.07248317315, 0.094294009172, 0.074269894597, 0.096618371106,
        0.172126677759, 0.059913098686, 0.09178219418, 0.161427097882, 0.139689768733}},
      {"dmala",
       "sum=2",
       {{"step_size", "0.2"}},
       0.9996153031,
       {0.961965382347, 0.005501302456, 0.00715669364, 0.005636910414, 0.007333107247,
        4.1938291e-05, 0.00531817565, 0.006966052787, 3.9839094e-05, 4.0598073e-05}},
      {"dmala",
       "sum=2",
       {{"step_size", "0.5"}},
       0.9776641424,
       {0.547560177392, 0.062300370152, 0.081047109545, 0.063836083927, 0.083044933351,
        0.009539360961, 0.055759842921, 0.078888167036, 0.009061873742, 0.008962080975}},
      {"dmala",
       "sum=2",
       {{"step_size", "1"}},
       0.9407481515,
       {0.296288784346, 0.088358987759, 0.114946998593, 0.090537050495, 0.117780459915,
        0.036776794183, 0.07470135443, 0.111885026821, 0.034935952929, 0.033788590529}},
      {"dmala",
       "sum=2",
       {{"step_size", "inf"}},
       0.8916548780,
       {0.126705657664, 0.087844472827, 0.11427766151, 0.090009852691, 0.11709462357,
        0.099387567205, 0.06985777805, 0.111233519619, 0.094412779764, 0.089176087101}},
      {"dmala",
       "sum=2",
       {{"step_size", "0.5"}, {"most_swaps", "1"}},
       0.9798761193,
       {0.562457829268, 0.06408754656, 0.083372063342, 0.065667314511, 0.085427197619, 0.0,
        0.057836860263, 0.081151188438, 0.0, 0.0}},
      {"dmala",
       "sum=1..3",
       {{"step_size", "0.5"}},
       0.9401530729,
       {0.210125493061, 0.033242822315, 0.08895038605,  0.033586219006, 0.089869239088,
        0.014217728192, 0.038043472948, 0.034837696107, 0.093217912981, 0.014747503849,
        0.039461034573, 0.014899844827, 0.039868665087, 0.006307406732, 0.027645892474,
        0.073974248785, 0.011703067402, 0.031314800938, 0.011823959503, 0.031638281265,
        0.005005322044, 0.012264539449, 0.03281717504,  0.005191828477, 0.005245459806}},
      {"dmala",
       "parity=even",
       {{"step_size", "0.5"}},
       0.9685664190,
       {0.370689151458, 0.056235340253, 0.054606697477, 0.069748527306, 0.050716788268,
        0.06477998954, 0.062903883491, 0.00954933629, 0.047911775521, 0.061520076929,
        0.059738381853, 0.009068786632, 0.055482917003, 0.008422771431, 0.008178837887,
        0.010446738661}},
      {"dmala",
       "one-hot=0-2,3-4",
       {{"step_size", "0.5"}},
       0.9918551393,
       {0.736666743478, 0.105265443605, 0.083664334675, 0.011886923491, 0.053763432196,
        0.008753122556}},
  };
}

TEST(ConstrainedKernels, HaveTheKnownRows) {
  for (const Row& row : known_rows()) {
    SCOPED_TRACE(row.sampler + " " + row.constraint);
    const auto target = hidden_pair_under(row.constraint);
    const StateTable table(*target);
    ASSERT_EQ(table.size(), row.first_row.size());
    const auto sampler = make_sampler(row.sampler, *target, row.settings);
    const auto n = static_cast<int>(table.size());
    const RowBuffer<double> matrix(n, n);
    std::vector<double> acceptance(table.size());
    sampler->enumerable()->transition_matrix(table, {}, matrix.view(), acceptance);
    for (std::size_t t = 0; t < table.size(); ++t) {
      EXPECT_NEAR(matrix.view()[0][t], row.first_row[t], 1e-10) << "state " << t;
    }
    EXPECT_NEAR(check_transitions(*sampler, table).acceptance, row.acceptance, 1e-9);
  }
}

TEST(ConstrainedKernels, TableHoldsTheAllowedStatesAlone) {
  const auto target = hidden_pair_under("sum=2");
  const StateTable table(*target);
  EXPECT_NEAR(table.log_z(), 4.1996831221541715, 1e-12);
  EXPECT_NEAR(table.probability()[5], 0.174352590402, 1e-10);  // 01100
  for (std::size_t s = 0; s < table.size(); ++s) EXPECT_EQ(table.index(table.state(s)), s);
  const std::vector<Symbol> three = {1, 1, 1, 0, 0};
  EXPECT_EQ(table.index(three.data()), table.size());
}

TEST(ConstrainedKernels, ExactAnswersAreOverTheAllowedStates) {
  for (const std::string constraint : {"sum=2", "sum=1..3", "parity=odd", "one-hot=1-3"}) {
    const auto target = hidden_pair_under(constraint);
    const StateTable table(*target);
    const ExactAnswer answer = exact_answer(*target);
    const std::vector<double> means = table.means(table.probability());
    EXPECT_NEAR(answer.log_z, table.log_z(), 1e-12);
    for (std::size_t i = 0; i < means.size(); ++i) EXPECT_NEAR(answer.means[i], means[i], 1e-12);
  }
}

std::vector<SmallTarget> two_level_targets() {
  std::vector<SmallTarget> list = small_targets();
  for (const SmallTarget& t : forbidding_targets()) list.push_back(t);
  std::erase_if(list, [](const SmallTarget& t) { return !t.make()->domain().two_level(); });
  return list;
}

class EveryConstrainedSampler : public testing::TestWithParam<SmallTarget> {};

std::vector<Settings> settings_of(const std::string& sampler, const Constraint& constraint) {
  if (sampler == "dmala") {
    std::vector<Settings> list = {{{"step_size", "0.3"}}, {{"step_size", "inf"}}};
    if (constraint.kind() == Constraint::Kind::sum) {
      list.push_back({{"step_size", "2"}, {"most_swaps", "1"}, {"balancing_exponent", "0.7"}});
    }
    return list;
  }
  if (sampler == "pas") return {{{"swaps", "1"}}, {{"swaps", "3"}}};
  if (sampler == "gibbs") return {{}, {{"updates", "1"}}};
  if (sampler == "locally_balanced") return {{{"balancing", "max"}}};
  return {{}};
}

TEST_P(EveryConstrainedSampler, IsExactAndStepsAsItsMatrixSays) {
  const std::shared_ptr<const Target> model = GetParam().make();
  const int dim = model->domain().dim();
  const std::string groups = dim > 3 ? "one-hot=0-1,2-" + std::to_string(dim - 1) : "one-hot=0-2";
  int checked = 0;
  for (const std::string& constraint :
       {std::string("sum=1"), std::string("sum=2"), std::string("sum=1..2"),
        std::string("sum=0..2"), std::string("parity=odd"), std::string("parity=even"), groups,
        std::string("one-hot=1-2")}) {
    const auto target = under(model, constraint);
    const StateTable table(*target);
    for (const std::string& name : samplers_for(*target)) {
      for (const Settings& settings : settings_of(name, *target->constraint())) {
        SCOPED_TRACE(constraint + " " + name);
        const auto sampler = make_sampler(name, *target, settings);
        const Conformance c = check_transitions(*sampler, table);
        EXPECT_LT(c.rows, 1e-12);
        EXPECT_LT(c.invariance, 1e-12);
        EXPECT_LT(c.reversibility, 1e-12);
        EXPECT_TRUE(c.irreducible || target->forbidden_states());
        const auto steps = static_cast<std::uint64_t>(
            std::max(256.0, 20000.0 / static_cast<double>(table.size())));
        const StepCheck s = check_steps(*sampler, *target, table, steps);
        EXPECT_GT(s.p_value, 1e-5) << "chi-square " << s.chi_square << " on " << s.degrees;
        EXPECT_FALSE(s.impossible);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 20);
}

INSTANTIATE_TEST_SUITE_P(Targets, EveryConstrainedSampler, testing::ValuesIn(two_level_targets()),
                         [](const auto& p) { return p.param.name; });

// Along a path of temperatures, from the states that are allowed, all equally likely.
TEST(ConstrainedKernels, AreExactAtEveryTemperature) {
  for (const std::string constraint : {"sum=2", "sum=1..3", "parity=even", "one-hot=0-2,3-4"}) {
    const auto model = hidden_pair_under(constraint);
    Tempered path(*model, Independent::uniform(*model));
    path.set_beta(0.4);
    const StateTable table(path);
    for (const std::string& name : samplers_for(path)) {
      SCOPED_TRACE(constraint + " " + name);
      const Conformance c = check_transitions(*make_sampler(name, path, {}), table);
      EXPECT_LT(c.invariance, 1e-12);
      EXPECT_TRUE(c.irreducible);
    }
    path.set_beta(0);
    const StateTable base(path);
    EXPECT_NEAR(base.log_z(), 0, 1e-12);
  }
}

// The swap of two sites by the gradient whose way back forgets that the two have changed sides.
class OldSides final : public Sampler, public Enumerable {
 public:
  std::string name() const override { return "old_sides"; }
  bool keeps_constraint() const override { return true; }
  void step(const Target&, Tile&, Workspace&, std::span<StepInfo>) const override {}
  const Enumerable* enumerable() const override { return this; }
  void transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                         std::span<double> acceptance) const override {
    const auto dim = static_cast<std::size_t>(table.domain().dim());
    std::vector<double> there(dim), back(dim);
    for (std::size_t s = 0; s < table.size(); ++s) {
      double* row = matrix[static_cast<int>(s)];
      std::fill_n(row, table.size(), 0.0);
      acceptance[s] = 0;
      const Symbol* x = table.state(s);
      estimated_changes(table.domain(), x, table.score(s), there);
      const auto log_sides = [&](const std::vector<double>& d) {
        double on = 0, off = 0;
        for (std::size_t i = 0; i < dim; ++i) (x[i] ? on : off) += std::exp(d[i] / 2);
        return std::log(on) + std::log(off);
      };
      for (std::size_t t = 0; t < table.size(); ++t) {
        const auto flips = flips_between(table, s, t);
        if (flips.size() != 2) continue;
        estimated_changes(table.domain(), table.state(t), table.score(t), back);
        const auto of = [&](const std::vector<double>& d) {
          return (d[static_cast<std::size_t>(flips[0])] + d[static_cast<std::size_t>(flips[1])]) /
                 2;
        };
        add_tested(table, s, t, of(there) - log_sides(there), of(back) - log_sides(back), row,
                   acceptance[s]);
      }
    }
    add_stays(table, matrix, acceptance);
  }
};

TEST(ConstrainedKernels, SuiteRejectsAWayBackByTheOldSides) {
  const auto target = hidden_pair_under("sum=2");
  const StateTable table(*target);
  EXPECT_NEAR(check_transitions(OldSides(), table).invariance, 6.7e-3, 1e-4);
}

// In a space that no table holds: the means of independent bits given the range of their sum, by
// the ratios of elementary symmetric functions.
void expect_means_given_sum(std::size_t low, std::size_t high,
                            const std::vector<std::string>& names) {
  const int n = 40;
  std::vector<double> logits, e(high + 1);
  for (int i = 0; i < n; ++i) logits.push_back(0.15 * i - 2);
  const auto sums = [&](int without) {  // e_0 ... e_k of the weights, one left out
    std::fill(e.begin(), e.end(), 0.0);
    e[0] = 1;
    for (int i = 0; i < n; ++i) {
      if (i == without) continue;
      for (std::size_t t = high; t > 0; --t) {
        e[t] += std::exp(logits[static_cast<std::size_t>(i)]) * e[t - 1];
      }
    }
    return e;
  };
  const auto between = [&](int without, std::size_t from, std::size_t to) {
    const std::vector<double> of = sums(without);
    return std::accumulate(of.begin() + static_cast<std::ptrdiff_t>(from),
                           of.begin() + static_cast<std::ptrdiff_t>(to) + 1, 0.0);
  };
  const double all = between(-1, low, high);
  const auto target = under(std::make_shared<Bernoulli>(logits),
                            "sum=" + std::to_string(low) + ".." + std::to_string(high));
  for (const std::string& name : names) {
    SCOPED_TRACE(name + " " + target->constraint()->text());
    RunPlan plan;
    plan.chains = 16;
    plan.warmup = 500;
    plan.draws = name == "locally_balanced" ? 1000 : 4000;
    saltus::Run run(*target, make_sampler(name, *target, {}), plan);
    BatchMeans means(target->domain(), plan.chains, {0, 10, 20, 30, 39});
    run.add(means);
    run.start();
    run.go();
    const auto estimate = means.estimate();
    for (std::size_t c = 0; c < 5; ++c) {
      const int i = std::vector{0, 10, 20, 30, 39}[c];
      const double exact =
          std::exp(logits[static_cast<std::size_t>(i)]) * between(i, low - 1, high - 1) / all;
      const double error = std::sqrt(exact * (1 - exact) / estimate.ess[c]);
      EXPECT_NEAR(estimate.mean[c], exact, 5 * error) << i;
      EXPECT_LT(error, 0.02) << "too short a run to see anything";
    }
  }
}

TEST(ConstrainedKernels, DrawIndependentBitsGivenTheirSum) {
  expect_means_given_sum(12, 12, {"dmala", "gibbs", "gwg", "locally_balanced", "pas"});
}

TEST(ConstrainedKernels, DrawIndependentBitsGivenARangeOfTheirSum) {
  expect_means_given_sum(12, 14, {"dmala", "gibbs", "gwg", "pas"});
}

TEST(ConstrainedKernels, RefuseWhatTheyCannotServe) {
  const auto message = [](const std::string& sampler, const std::string& constraint) {
    try {
      make_sampler(sampler, *hidden_pair_under(constraint), {});
    } catch (const UsageError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("rwm", "sum=2"),
            "sampler rwm does not keep the constraint sum=2; these samplers do: dmala, gibbs, gwg, "
            "locally_balanced, pas");
  EXPECT_NE(message("gwg", "one-hot=0-1")
                .find("needs a constraint on the sum or the parity, which the model pair does not "
                      "have; these samplers run on it: dmala, gibbs"),
            std::string::npos);
  EXPECT_NE(message("locally_balanced", "sum=1..2").find("run on it: dmala, gibbs, gwg, pas"),
            std::string::npos);
  for (const std::string constraint : {"sum=1..2", "parity=odd", "one-hot=0-1"}) {
    EXPECT_EQ(message("gibbs", constraint), "");
  }
  const auto target = hidden_pair_under("sum=2");
  const auto free = make_sampler("dmala", Function(Domain::binary(5), hidden_pair, "pair"), {});
  EXPECT_THROW(require(*free, *target), UsageError);
  EXPECT_THROW(Tempered(*target, Independent::uniform(target->domain())), UsageError);
  RunPlan plan;
  plan.chains = 1;
  saltus::Run run(*target, make_sampler("dmala", *target, {}), plan);
  const RowBuffer<Symbol> three(1, 5);
  std::fill_n(three.view()[0], 3, Symbol{1});
  EXPECT_THROW(run.start(three.view()), DataError);
}

}  // namespace
}  // namespace saltus
