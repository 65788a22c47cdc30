// Targets that are TorchScript files, against the same distributions written by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/diagnose/gradient_check.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/potts.hpp"
#include "saltus/target/quadratic.hpp"
#include "saltus/target/rbm.hpp"
#include "saltus/torch/module.hpp"
#include "script_files.hpp"

namespace saltus {
namespace {

std::unique_ptr<Target> load(const std::filesystem::path& file, const Domain& domain) {
  return torch_module().script(file, domain, {});
}

std::vector<double> numbers(std::size_t count, std::uint32_t which, double scale) {
  std::vector<double> v(count);
  const Stream stream(5, which, 0, Purpose::check);
  for (std::size_t i = 0; i < count; ++i) {
    v[i] = scale * (2 * stream.uniform(static_cast<std::uint32_t>(i)) - 1);
  }
  return v;
}

// log p and score at random states, in rows that do not lie one right behind the other.
void expect_same(const Target& script, const Target& native) {
  constexpr int kRows = 21;
  const Domain& domain = native.domain();
  ASSERT_EQ(script.domain().score_size(), domain.score_size());
  const RowBuffer<Symbol> x(kRows, domain.dim());
  for (int r = 0; r < kRows; ++r) {
    const Stream stream(3, static_cast<std::uint32_t>(r), 0, Purpose::check);
    for (int i = 0; i < domain.dim(); ++i) {
      x.view()[r][i] =
          static_cast<Symbol>(stream.uniform(static_cast<std::uint32_t>(i)) * domain.levels(i));
    }
  }
  const RowBuffer<float> one(kRows, domain.score_size()), other(kRows, domain.score_size());
  std::vector<double> logp(kRows), expected(kRows), alone(kRows);
  Scratch scratch, another;
  script.evaluate({0, 0, scratch}, x.view(), logp.data(), one.view());
  script.evaluate({0, 0, scratch}, x.view(), alone.data(), {});
  native.evaluate({0, 0, another}, x.view(), expected.data(), other.view());
  for (int r = 0; r < kRows; ++r) {
    const auto row = static_cast<std::size_t>(r);
    EXPECT_NEAR(logp[row], expected[row], 1e-5) << r;
    EXPECT_NEAR(alone[row], expected[row], 1e-5) << r;
    for (int i = 0; i < domain.score_size(); ++i) {
      EXPECT_NEAR(one.view()[r][i], other.view()[r][i], 1e-5) << r << " " << i;
    }
  }
}

constexpr const char* kRbm = R"(
def forward(self, x):
    return torch.softplus(torch.matmul(x, self.w.t()) + self.c).sum(1) + torch.matmul(x, self.b)
)";

struct RbmNumbers {
  std::size_t visible, hidden;
  std::vector<double> w = numbers(visible * hidden, 1, 0.8), b = numbers(visible, 2, 0.5),
                      c = numbers(hidden, 3, 0.5);

  Tensors tensors() const {
    return {{"w", tensor_of(w, {static_cast<std::int64_t>(hidden), -1})},
            {"b", tensor_of(b, {-1})},
            {"c", tensor_of(c, {-1})}};
  }
};

TEST(Script, OnBitsIsARestrictedBoltzmannMachine) {
  const TestFolder folder;
  const RbmNumbers n{20, 7};
  const auto script = load(script_file(folder, kRbm, n.tensors()), Domain::binary(20));
  expect_same(*script, Rbm(n.w, n.b, n.c));
  EXPECT_EQ(script->name(), "torch");
  EXPECT_TRUE(check_score(*script).plausible());
}

TEST(Script, OnSpinsAndOnOrderedLevelsIsQuadratic) {
  const TestFolder folder;
  const std::vector<Coupling> couplings = {{0, 1, 0.5}, {1, 2, -0.4}, {2, 2, -0.3}, {3, 0, 0.2}};
  const std::vector<double> b = numbers(4, 4, 1);
  std::vector<double> dense(16);
  for (const Coupling& k : couplings) dense[static_cast<std::size_t>(4 * k.i + k.j)] = k.weight;
  const auto file = script_file(folder, R"(
def forward(self, x):
    return (torch.matmul(x, self.a) * x).sum(1) + torch.matmul(x, self.b)
)",
                                {{"a", tensor_of(dense, {4, 4})}, {"b", tensor_of(b, {4})}});
  for (const Domain& domain : {Domain::spin(4), Domain::ordered(4, 5)}) {
    const auto script = load(file, domain);
    expect_same(*script, Quadratic("q", domain, couplings, b));
    EXPECT_LT(check_score(*script).worst_error, 1e-5);
  }
}

TEST(Script, OnUnorderedLevelsTakesOnesAmongZeros) {
  const TestFolder folder;
  const std::vector<double> unary = numbers(9, 6, 1), table = numbers(9, 7, 1);
  const auto file =
      script_file(folder, R"(
def forward(self, x):
    return (x * self.unary).sum([1, 2]) + (torch.matmul(x[:, 0], self.table) * x[:, 2]).sum(1)
)",
                  {{"unary", tensor_of(unary, {3, 3})}, {"table", tensor_of(table, {3, 3})}});
  const Domain domain = Domain::categorical(3, 3);
  expect_same(*load(file, domain), Potts(domain, unary, {{0, 2, table}}));
}

TEST(Script, ThatIsNoneOrDoesNotFitIsRefused) {
  const TestFolder folder;
  struct Case {
    const char *definition, *words;
  };
  const Case cases[] = {
      {"def forward(self, x):\n    return x", "shape [2, 4]; expected [2]"},
      {"def forward(self, x):\n    return x.sum(1, True)", "shape [2, 1]; expected [2]"},
      {"def forward(self, x):\n    return x.sum()", "shape []; expected [2]"},
      {"def forward(self, x):\n    return (x.sum(1), x)", "Tuple; expected a tensor"},
      {"def forward(self, x):\n    return x.sum(1).int()", "type Int; expected float"},
      {"def forward(self, x):\n    return torch.log(x.sum(1))", "lowest levels is -inf"},
      {"def forward(self, x):\n    return x.sum(1) / (4 - x.sum(1))", "highest levels is inf"},
      {"def forward(self, x):\n    return torch.sqrt(x).sum(1)", "lowest levels is not finite"},
      {"def forward(self, x):\n    return x.detach().sum(1)", "no gradient by the states"},
      {"def forward(self, x):\n    return (x > 0).float().sum(1)", "no gradient by the states"},
      {"def forward(self, x):\n    return torch.matmul(x, torch.ones([5]))",
       "does not take states of shape [2, 4]"},
      {"def forward(self, x):\n    assert False, \"as you like\"\n    return x.sum(1)",
       "as you like"},
      {"def forward(self, x):\n    return (x - x.mean(0)).sum(1) * 2", "alone"},
      {"def forward(self, x):\n    return x.sum(1) + torch.rand([x.size(0)])", "alone"},
      {"def forward(self, x):\n    return x.sum(1) * (torch.rand([x.size(0)]) > 0.5).float()",
       "alone"},
      {"def forward(self, x):\n    return x.sum(1).round()", "rounding has none"},
      {"def energy(self, x):\n    return x.sum(1)", "no method forward"},
      {"def forward(self, x, y: int):\n    return x.sum(1)", "does not take states"},
  };
  torch::manual_seed(1);
  for (const Case& c : cases) {
    const auto file = script_file(folder, c.definition);
    const std::string error = data_error([&] { load(file, Domain::binary(4)); });
    EXPECT_NE(error.find(c.words), std::string::npos) << c.definition << "\n" << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    EXPECT_LT(error.size(), 500u) << error;
    EXPECT_EQ(error.find(file.string()), 0u) << error;
  }
  fill_file(folder / "other.pt", "no script at all");
  const std::string error = data_error([&] { load(folder / "other.pt", Domain::binary(4)); });
  EXPECT_NE(error.find("not a TorchScript file"), std::string::npos) << error;
  EXPECT_THROW(load(folder / "none.pt", Domain::binary(4)), FileError);
  EXPECT_THROW(load(folder / "", Domain::binary(4)), FileError);
}

TEST(Script, OnAProcessorHasSinglePrecision) {
  const TestFolder folder;
  const auto file = script_file(folder, "def forward(self, x):\n    return x.sum(1)");
  const Domain domain = Domain::binary(3);
  EXPECT_NO_THROW(torch_module().script(file, domain, {Device::cpu, Precision::single}));
  EXPECT_THROW(torch_module().script(file, domain, {Device::cpu, Precision::half}), UsageError);
  if (!torch_module().has_cuda()) {
    EXPECT_THROW(torch_module().script(file, domain, {Device::cuda, {}}), UsageError);
  }
  EXPECT_THROW(torch_module().script(file, Domain::ordered({2, 3, 2}), {}), UsageError);
}

// Two bits are not to be on without the other two.
constexpr const char* kForbidding = R"(
def forward(self, x):
    s = x.sum(1)
    bad = (x[:, 0] * x[:, 1] > 0.5) & (s < 3.5)
    return torch.where(bad, torch.full_like(s, float("nan")), 0.1 * s)
)";

TEST(Script, ThatIsNotANumberForbidsAState) {
  const TestFolder folder;
  const auto script = load(script_file(folder, kForbidding), Domain::binary(4));
  const StateTable table(*script, 2);
  double z = 0;
  for (int s = 0; s < 16; ++s) {
    const int ones = (s & 1) + (s >> 1 & 1) + (s >> 2 & 1) + (s >> 3);
    if ((s & 3) != 3 || ones == 4) z += std::exp(0.1 * ones);
  }
  EXPECT_NEAR(exact_answer(*script, 2).log_z, std::log(z), 1e-6);
  for (const char* name : {"locally_balanced", "gibbs", "hamming_ball", "dmala"}) {
    SCOPED_TRACE(name);
    const auto sampler = make_sampler(name, *script, {});
    const StepCheck steps = check_steps(*sampler, *script, table, 4000);
    EXPECT_GT(steps.p_value, 1e-5) << steps.chi_square;
    EXPECT_FALSE(steps.impossible);
  }
}

TEST(Script, WithoutAGradientWhereNothingChangesIsAllowed) {
  const TestFolder folder;
  EXPECT_NO_THROW(load(script_file(folder, "def forward(self, x):\n    return x.sum(1) * 0"),
                       Domain::binary(4)));
}

TEST(Script, ThatThrowsInARunEndsIt) {
  const TestFolder folder;
  const auto script = load(script_file(folder, R"(
def forward(self, x):
    assert not bool((x.sum(1) == 1).any()), "one bit alone"
    return x.sum(1)
)"),
                           Domain::binary(3));
  const RowBuffer<Symbol> x(1, 3);
  const RowBuffer<float> score(1, 3);
  Scratch scratch;
  double logp = 0;
  script->evaluate({0, 0, scratch}, x.view(), &logp, score.view());
  EXPECT_EQ(logp, 0);
  EXPECT_EQ(score.view()[0][1], 1);
  x.view()[0][2] = 1;
  try {
    script->evaluate({0, 0, scratch}, x.view(), &logp, score.view());
    ADD_FAILURE() << "no error";
  } catch (const DataError& error) {
    const std::string words = error.what();
    EXPECT_NE(words.find("energy.pt could not be computed: "), std::string::npos) << words;
    EXPECT_NE(words.find("one bit alone"), std::string::npos) << words;
  }
}

TEST(Script, ServesEverySamplerThatNeedsNoMore) {
  const TestFolder folder;
  const RbmNumbers n{12, 5};
  const auto script = load(script_file(folder, kRbm, n.tensors()), Domain::binary(12));
  int count = 0;
  for (const std::string& name : samplers_for(*script)) {
    SCOPED_TRACE(name);
    RunPlan plan;
    plan.chains = 6;
    plan.warmup = 20;
    plan.draws = 30;
    saltus::Run run(*script, make_sampler(name, *script, {}), plan);
    run.start();
    EXPECT_TRUE(run.go());
    ++count;
  }
  EXPECT_GE(count, 8);
}

TEST(Script, IsSampledExactlyByDmala) {
  const TestFolder folder;
  const RbmNumbers n{4, 3};
  const auto script = load(script_file(folder, kRbm, n.tensors()), Domain::binary(4));
  const StateTable table(*script, 2);
  const auto sampler = make_sampler("dmala", *script, {{"step_size", "0.5"}});
  const Conformance c = check_transitions(*sampler, table);
  EXPECT_LT(c.rows, 1e-12);
  EXPECT_LT(c.invariance, 1e-12);
  EXPECT_LT(c.reversibility, 1e-12);
  const StepCheck s = check_steps(*sampler, *script, table, 4000);
  EXPECT_GT(s.p_value, 1e-5) << s.chi_square;
  EXPECT_GT(s.degrees, 10);
  EXPECT_FALSE(s.impossible);
}

struct NoObserver final : StepObserver {
  bool wants_logp(std::uint64_t) const override { return false; }
  void after_step(const Tile&, std::span<const StepInfo>, std::uint64_t) override {}
};

TEST(Script, GivesTheSameDrawsOnAnyNumberOfThreads) {
  const TestFolder folder;
  const RbmNumbers n{20, 7};
  const auto script = load(script_file(folder, kRbm, n.tensors()), Domain::binary(20));
  const auto sampler = make_sampler("dmala", *script, {{"step_size", "0.3"}});
  std::vector<std::vector<Symbol>> first;
  for (const int threads : {1, 3}) {
    Ensemble ensemble(*script, 70, 0, threads, 4);
    ensemble.start_random();
    ensemble.evaluate();
    NoObserver observer;
    ensemble.advance(*sampler, 60, observer);
    std::vector<std::vector<Symbol>> states;
    for (int c = 0; c < 70; ++c) states.emplace_back(ensemble.state(c), ensemble.state(c) + 20);
    if (threads == 1) first = states;
    EXPECT_EQ(states, first) << threads;
  }
}

}  // namespace
}  // namespace saltus
