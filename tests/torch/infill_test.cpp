// Text infilling on a model small enough to enumerate: the score by differences of an energy in
// double precision, and samplers by exact transition matrices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plain_bert.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/torch/module.hpp"

namespace saltus {
namespace {

const std::string kSentence = "the [MASK] [MASK] a [MASK]";

struct Toy {
  explicit Toy(int layers, const AllowedPieces& allowed = {}, bool own_decoder = false)
      : files(toy_bert(layers)) {
    if (own_decoder) {
      BertArray decoder = files.arrays.at("bert.embeddings.word_embeddings.weight");
      for (float& v : decoder.values) v = 0.5f - v;
      files.arrays["cls.predictions.decoder.weight"] = std::move(decoder);
    }
    target = torch_module().infill(torch_module().load_masked_model(files, {}),
                                   make_infill_problem(files, kSentence), allowed);
  }
  BertFiles files;
  std::unique_ptr<InfillTarget> target;
};

// U with rows theta_j of any numbers in place of one-hot ones: the embedding of gap j is
// sum_k theta_jk E_k where it is filled, and its term sum_k theta_jk log f_jk.
double relaxed_energy(const Toy& toy, const std::vector<std::vector<double>>& theta) {
  const PlainBert bert(toy.files);
  const InfillProblem& problem = toy.target->problem();
  const std::vector<std::int32_t>& allowed = toy.target->allowed();
  double energy = 0;
  for (std::size_t i = 0; i < theta.size(); ++i) {
    PlainBert::Matrix words;
    for (const std::int32_t id : problem.ids) words.push_back(bert.word(id));
    for (std::size_t j = 0; j < theta.size(); ++j) {
      if (j == i) continue;  // [MASK] stands there
      PlainBert::Vector& word = words[static_cast<std::size_t>(problem.gaps[j])];
      std::fill(word.begin(), word.end(), 0.0);
      for (std::size_t k = 0; k < allowed.size(); ++k) {
        const PlainBert::Vector of_piece = bert.word(allowed[k]);
        for (std::size_t d = 0; d < word.size(); ++d) word[d] += theta[j][k] * of_piece[d];
      }
    }
    const PlainBert::Vector log_f =
        bert.log_softmax(words, static_cast<std::size_t>(problem.gaps[i]));
    for (std::size_t k = 0; k < allowed.size(); ++k) {
      energy += theta[i][k] * log_f[static_cast<std::size_t>(allowed[k])];
    }
  }
  return energy;
}

std::vector<std::vector<double>> one_hot(const Symbol* x, int gaps, int levels) {
  std::vector<std::vector<double>> theta(
      static_cast<std::size_t>(gaps), std::vector<double>(static_cast<std::size_t>(levels), 0.0));
  for (std::size_t i = 0; i < theta.size(); ++i) theta[i][x[i]] = 1;
  return theta;
}

void check_score(const Toy& toy) {
  const Domain& domain = toy.target->domain();
  const int levels = domain.max_levels();
  constexpr int kRows = 14;  // more than are computed together
  const RowBuffer<Symbol> x(kRows, domain.dim());
  for (int r = 0; r < kRows; ++r) {
    for (int i = 0; i < domain.dim(); ++i) {
      x.view()[r][i] = static_cast<Symbol>((3 * r + 2 * i * i + i) % levels);
    }
  }
  const RowBuffer<float> score(kRows, domain.score_size());
  std::vector<double> logp(kRows);
  Scratch scratch;
  toy.target->evaluate({0, 0, scratch}, x.view(), logp.data(), score.view());
  for (int r = 0; r < kRows; ++r) {
    auto theta = one_hot(x.view()[r], domain.dim(), levels);
    EXPECT_NEAR(logp[static_cast<std::size_t>(r)], relaxed_energy(toy, theta), 1e-4);
    for (std::size_t i = 0; i < theta.size(); ++i) {
      for (std::size_t k = 0; k < theta[i].size(); ++k) {
        constexpr double kStep = 1e-4;
        const double here = theta[i][k];
        theta[i][k] = here + kStep;
        const double above = relaxed_energy(toy, theta);
        theta[i][k] = here - kStep;
        const double below = relaxed_energy(toy, theta);
        theta[i][k] = here;
        const double expected = (above - below) / (2 * kStep);
        const float found =
            score.view()[r][domain.score_begin(static_cast<int>(i)) + static_cast<int>(k)];
        EXPECT_NEAR(double{found}, expected, 1e-4 * std::max(1.0, std::abs(expected)))
            << r << " " << i << " " << k;
      }
    }
  }
}

TEST(Infill, ScoreIsTheGradientByOneHotRows) {
  for (const int layers : {1, 2, 3}) check_score(Toy(layers));
  check_score(Toy(1, {.special = true, .continuations = true}));
  check_score(Toy(2, {.continuations = true}, true));
}

TEST(Infill, LevelsAreTheAllowedPieces) {
  const Toy toy(1), all(1, {true, true}), words(1, {.special = false, .continuations = true});
  EXPECT_EQ(toy.target->allowed(), (std::vector<std::int32_t>{6, 7, 8, 10, 11, 12}));
  EXPECT_EQ(words.target->allowed(), (std::vector<std::int32_t>{3, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(all.target->allowed().size(), 13u);
  EXPECT_EQ(toy.target->domain().states(1000), 216u);
}

// Of the whole vocabulary, not of the allowed pieces.
TEST(Infill, LogProbabilitiesAreThoseOfTheModel) {
  const Toy toy(2);
  const PlainBert bert(toy.files);
  const InfillProblem& problem = toy.target->problem();
  constexpr int kRows = 4;
  const RowBuffer<Symbol> x(kRows, 3);
  const std::vector<int> gaps = {2, 0, 1, 0};
  for (int r = 0; r < kRows; ++r) {
    for (int i = 0; i < 3; ++i) x.view()[r][i] = static_cast<Symbol>((2 * r + i) % 6);
  }
  const RowBuffer<float> out(kRows, 6);
  Scratch scratch;
  for (const bool all_masked : {false, true}) {
    toy.target->log_probabilities({0, 0, scratch}, x.view(), gaps, all_masked, out.view());
    for (int r = 0; r < kRows; ++r) {
      const int gap = gaps[static_cast<std::size_t>(r)];
      PlainBert::Matrix words;
      for (const std::int32_t id : problem.ids) words.push_back(bert.word(id));
      for (int j = 0; j < 3 && !all_masked; ++j) {
        if (j == gap) continue;
        words[static_cast<std::size_t>(problem.gaps[static_cast<std::size_t>(j)])] =
            bert.word(toy.target->allowed()[x.view()[r][j]]);
      }
      const auto expected = bert.log_softmax(
          words, static_cast<std::size_t>(problem.gaps[static_cast<std::size_t>(gap)]));
      for (int k = 0; k < 6; ++k) {
        const auto id = static_cast<std::size_t>(toy.target->allowed()[static_cast<unsigned>(k)]);
        EXPECT_NEAR(double{out.view()[r][k]}, expected[id], 1e-5) << r << " " << k;
      }
    }
  }
}

TEST(Infill, TermsAddUpToTheEnergy) {
  const Toy toy(2);
  constexpr int kRows = 50;  // more than are computed together
  const RowBuffer<Symbol> x(kRows, 3);
  for (int r = 0; r < kRows; ++r) x.view()[r][r % 3] = static_cast<Symbol>(r % 6);
  const RowBuffer<double> terms(kRows, 3);
  const RowBuffer<float> log_p(kRows, 6);
  std::vector<double> logp(kRows);
  const std::vector<int> gaps(kRows, 1);
  Scratch scratch;
  toy.target->terms({0, 0, scratch}, x.view(), terms.view());
  toy.target->evaluate({0, 0, scratch}, x.view(), logp.data(), {});
  toy.target->log_probabilities({0, 0, scratch}, x.view(), gaps, false, log_p.view());
  ASSERT_LT(toy.target->preferred_tile(), kRows / 2);
  for (int r = 0; r < kRows; ++r) {
    const double* const t = terms.view()[r];
    EXPECT_NEAR(t[0] + t[1] + t[2], logp[static_cast<std::size_t>(r)], 1e-6);
    EXPECT_NEAR(t[1], double{log_p.view()[r][x.view()[r][1]]}, 1e-5);
    EXPECT_LT(std::max({t[0], t[1], t[2]}), 0);
    EXPECT_NEAR(logp[static_cast<std::size_t>(r)], relaxed_energy(toy, one_hot(x.view()[r], 3, 6)),
                1e-4);
  }
}

TEST(Infill, SamplersAreExact) {
  const Toy toy(1);
  const StateTable table(*toy.target);
  ASSERT_EQ(table.size(), 216u);
  const std::pair<const char*, Settings> samplers[] = {{"dmala", {{"step_size", "0.5"}}},
                                                       {"dmala", {{"step_size", "4"}}},
                                                       {"dula", {{"step_size", "0.5"}}},
                                                       {"gwg", {}},
                                                       {"pas", {{"flips", "2"}}}};
  for (const auto& [name, settings] : samplers) {
    SCOPED_TRACE(name);
    const auto sampler = make_sampler(name, *toy.target, settings);
    const Conformance c = check_transitions(*sampler, table);
    EXPECT_LT(c.rows, 1e-12);
    EXPECT_TRUE(c.irreducible);
    EXPECT_GT(c.acceptance, 0.1);
    if (sampler->exact()) {
      EXPECT_LT(c.invariance, 1e-12);
      EXPECT_LT(c.reversibility, 1e-12);
      EXPECT_LT(c.l1, 1e-9);
    } else {
      EXPECT_GT(c.l1, 1e-3);
    }
    const StepCheck s = check_steps(*sampler, *toy.target, table, 64);
    EXPECT_GT(s.p_value, 1e-5) << "chi-square " << s.chi_square << " on " << s.degrees;
    EXPECT_GT(s.degrees, 100);
    EXPECT_FALSE(s.impossible);
  }
}

TEST(Infill, ConditionalGibbsDrawsFromTheModel) {
  const Toy toy(2);
  const StateTable table(*toy.target);
  const auto sampler = make_conditional_gibbs(*toy.target);
  EXPECT_TRUE(sampler->missing(*toy.target).empty());
  EXPECT_FALSE(sampler->missing(*Toy(1).target).empty());
  const Conformance c = check_transitions(*sampler, table);
  EXPECT_LT(c.rows, 1e-12);
  EXPECT_TRUE(c.irreducible);
  EXPECT_GT(c.l1, 1e-3);  // it is not the Gibbs sampler of U
  const StepCheck s = check_steps(*sampler, *toy.target, table, 64);
  EXPECT_GT(s.p_value, 1e-5) << "chi-square " << s.chi_square << " on " << s.degrees;
  EXPECT_GT(s.degrees, 100);
  EXPECT_FALSE(s.impossible);
  // One entry of the matrix by hand: gap 1 of state 0 0 0 changes to level 3.
  const RowBuffer<Symbol> x(1, 3);
  const RowBuffer<float> log_p(1, 6);
  const int gap = 1;
  Scratch scratch;
  toy.target->log_probabilities({0, 0, scratch}, x.view(), std::span(&gap, 1), false, log_p.view());
  double sum = 0;
  for (const float v : log_p.view().row(0)) sum += std::exp(double{v});
  const RowBuffer<double> matrix(216, 216);
  std::vector<double> acceptance(216);
  sampler->enumerable()->transition_matrix(table, {}, matrix.view(), acceptance);
  EXPECT_NEAR(matrix.view()[0][3 * 6], std::exp(double{log_p.view()[0][3]}) / sum / 3, 1e-6);
}

TEST(Infill, StartsAreDrawnFromTheMarginals) {
  const Toy toy(2);
  constexpr int kChains = 20000;
  const RowBuffer<Symbol> starts = draw_from_marginals(*toy.target, kChains, 3),
                          fewer = draw_from_marginals(*toy.target, 50, 3);
  for (int c = 0; c < 50; ++c) {
    EXPECT_TRUE(std::equal(fewer.view()[c], fewer.view()[c] + 3, starts.view()[c]));
  }
  const RowBuffer<Symbol> x(3, 3);
  const RowBuffer<float> log_p(3, 6);
  Scratch scratch;
  toy.target->log_probabilities({0, 0, scratch}, x.view(), std::vector<int>{0, 1, 2}, true,
                                log_p.view());
  for (int i = 0; i < 3; ++i) {
    double sum = 0;
    for (const float v : log_p.view().row(i)) sum += std::exp(double{v});
    for (int k = 0; k < 6; ++k) {
      const double p = std::exp(double{log_p.view()[i][k]}) / sum;
      double count = 0;
      for (int c = 0; c < kChains; ++c) count += starts.view()[c][i] == k;
      EXPECT_NEAR(count / kChains, p, 5 * std::sqrt(p * (1 - p) / kChains)) << i << " " << k;
    }
  }
}

// Tiles are the same for any number of threads, and each is computed by one.
TEST(Infill, ThreadsDoNotChangeDraws) {
  const Toy toy(2);
  const auto final_states = [&](int threads) {
    RunPlan plan;
    plan.chains = 40, plan.warmup = 0, plan.draws = 25, plan.threads = threads;
    saltus::Run run(*toy.target, make_sampler("dmala", *toy.target, {{"step_size", "1"}}), plan);
    run.start(draw_from_marginals(*toy.target, plan.chains, 1).view());
    EXPECT_LT(run.tile_size(), plan.chains);
    run.go();
    std::vector<Symbol> states;
    for (int c = 0; c < plan.chains; ++c) {
      states.insert(states.end(), run.state(c), run.state(c) + 3);
    }
    return states;
  };
  const std::vector<Symbol> one = final_states(1);
  EXPECT_EQ(one, final_states(2));
  EXPECT_EQ(one, final_states(5));
}

TEST(Infill, ProblemsAreSentencesWithGaps) {
  const BertFiles files = toy_bert(1);
  const InfillProblem problem = make_infill_problem(files, kSentence);
  EXPECT_EQ(problem.ids, (std::vector<std::int32_t>{2, 6, 5, 5, 12, 5, 4}));
  EXPECT_EQ(problem.gaps, (std::vector<std::int32_t>{2, 3, 5}));
  EXPECT_THROW(make_infill_problem(files, "the cat sees a dog"), DataError);
  EXPECT_NO_THROW(make_infill_problem(files, "a a a a a a a a a [MASK]"));
  EXPECT_THROW(make_infill_problem(files, "a a a a a a a a a a [MASK]"), DataError);
}

TEST(Infill, RefusesArraysThatDoNotFit) {
  BertFiles missing = toy_bert(2);
  missing.arrays.erase("bert.encoder.layer.1.output.dense.bias");
  EXPECT_THROW(torch_module().load_masked_model(missing, {}), DataError);
  BertFiles turned = toy_bert(2);
  std::swap(turned.arrays.at("bert.encoder.layer.1.intermediate.dense.weight").shape[0],
            turned.arrays.at("bert.encoder.layer.1.intermediate.dense.weight").shape[1]);
  EXPECT_THROW(torch_module().load_masked_model(turned, {}), DataError);
  BertFiles heads = toy_bert(1);
  heads.config.heads = 3;
  EXPECT_THROW(torch_module().load_masked_model(heads, {}), DataError);
  const auto model = torch_module().load_masked_model(toy_bert(1), {});
  EXPECT_THROW(torch_module().infill(model, {{2, 6, 99, 5, 4}, {3}}, {}), DataError);
  EXPECT_THROW(torch_module().infill(model, {{2, 6, 5, 4}, {4}}, {}), DataError);
  EXPECT_THROW(torch_module().infill(model, {{2, 6, 4}, {}}, {}), DataError);
}

}  // namespace
}  // namespace saltus
