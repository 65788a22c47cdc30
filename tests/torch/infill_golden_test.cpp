// The energy of text infilling against numbers computed in double precision by another program:
// the golden cases of a model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "saltus/torch/module.hpp"
#include "text/model_folders.hpp"

namespace saltus {
namespace {

using Json = nlohmann::json;

constexpr double kRelative = 1e-4;

void expect_close(double value, double expected, const std::string& what) {
  EXPECT_NEAR(value, expected, kRelative * std::max(1.0, std::abs(expected))) << what;
}

// Everything is a level, so that level and piece are the same number.
std::unique_ptr<InfillTarget> target_of(const std::shared_ptr<const MaskedModel>& model,
                                        const Json& golden) {
  const InfillProblem problem{golden.at("input_ids").get<std::vector<std::int32_t>>(),
                              golden.at("mask_positions").get<std::vector<std::int32_t>>()};
  return torch_module().infill(model, problem, {.special = true, .continuations = true});
}

RowBuffer<Symbol> filled(const Json& golden) {
  const auto ids = golden.at("fill_ids").get<std::vector<int>>();
  RowBuffer<Symbol> x(1, static_cast<int>(ids.size()));
  std::copy(ids.begin(), ids.end(), x.view()[0]);
  return x;
}

void check_energy(const InfillTarget& target, const Json& golden) {
  const RowBuffer<Symbol> x = filled(golden);
  Scratch scratch;
  double logp = 0, alone = 0;
  const RowBuffer<float> score(1, target.domain().score_size());
  target.evaluate({0, 0, scratch}, x.view(), &logp, score.view());
  target.evaluate({0, 0, scratch}, x.view(), &alone, {});
  expect_close(logp, golden.at("U"), "U");
  EXPECT_NEAR(alone, logp, 1e-5);
  const RowBuffer<double> terms(1, target.domain().dim());
  target.terms({0, 0, scratch}, x.view(), terms.view());
  const int levels = target.domain().max_levels();
  for (int i = 0; i < target.domain().dim(); ++i) {
    const auto gap = static_cast<std::size_t>(i);
    SCOPED_TRACE("gap " + std::to_string(i));
    expect_close(terms.view()[0][i], golden.at("log_f")[gap], "log f");
    const std::span of_gap = score.view().row(0).subspan(gap * static_cast<std::size_t>(levels),
                                                         static_cast<std::size_t>(levels));
    double squares = 0;
    for (const float v : of_gap) squares += double{v} * double{v};
    expect_close(std::sqrt(squares), golden.at("grad_norm")[gap], "norm");
    const auto fill = golden.at("fill_ids")[gap].get<std::size_t>();
    expect_close(double{of_gap[fill]}, golden.at("grad_at_fill")[gap], "at the piece there");
    for (std::size_t k = 0; k < 5; ++k) {
      expect_close(double{of_gap[k]}, golden.at("grad_first5")[gap][k], std::to_string(k));
    }
    const auto top = std::max_element(of_gap.begin(), of_gap.end());
    EXPECT_EQ(top - of_gap.begin(), golden.at("grad_argmax")[gap].get<std::ptrdiff_t>());
    expect_close(double{*top}, golden.at("grad_max")[gap], "largest");
  }
}

void check_marginals(const InfillTarget& target, const Json& golden, const WordPieces& pieces) {
  const int gaps = target.domain().dim();
  const RowBuffer<Symbol> x(gaps, gaps);
  const RowBuffer<float> log_p(gaps, target.domain().max_levels());
  std::vector<int> every;
  for (int i = 0; i < gaps; ++i) every.push_back(i);
  Scratch scratch;
  target.log_probabilities({0, 0, scratch}, x.view(), every, true, log_p.view());
  for (int i = 0; i < gaps; ++i) {
    for (const Json& top : golden.at("all_masked_top5")[static_cast<std::size_t>(i)]) {
      const auto piece = top[0].get<std::string>();
      expect_close(double{log_p.view()[i][pieces.id(piece)]}, top[1], piece);
    }
  }
}

void check_model(const std::string& name, const DeviceChoice& choice) {
  const auto folder = model_folder(name);
  if (folder.empty()) GTEST_SKIP() << "SALTUS_MODELS names no folder with " << name;
  const auto model = torch_module().load_masked_model(load_bert(folder), choice);
  const Json cases = golden_cases(name);
  ASSERT_FALSE(cases.empty());
  for (const Json& one : cases) {
    SCOPED_TRACE(one.at("text").get<std::string>());
    const auto target = target_of(model, one);
    EXPECT_EQ(make_infill_problem(model->files(), one.at("text")).ids, target->problem().ids);
    check_energy(*target, one);
    check_marginals(*target, one, *model->files().pieces);
  }
}

TEST(InfillGolden, Tiny) {
  check_model("mlm-tiny", {});
}
TEST(InfillGolden, Mini) {
  check_model("mlm-mini", {});
}

// TF32 would not do here: it keeps three digits.
TEST(InfillGolden, MiniOnCuda) {
  if (!torch_module().has_cuda()) GTEST_SKIP() << "no GPU";
  check_model("mlm-mini", {Device::cuda, Precision::single});
}

}  // namespace
}  // namespace saltus
