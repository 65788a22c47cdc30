// What states mean for clauses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/number_text.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/model/problem.hpp"

namespace saltus {
namespace {

class Clauses final : public Problem {
 public:
  explicit Clauses(std::shared_ptr<const FactorsModel> model)
      : model_(std::move(model)),
        hard_(std::ranges::any_of(model_->weights, [](double w) { return std::isinf(w); })) {}
  std::string name() const override { return "clauses"; }

  StateReport report(std::span<const Symbol> x) const override {
    std::size_t broken = 0, broken_hard = 0;
    for (std::size_t c = 0; c < model_->clauses(); ++c) {
      const bool holds = std::ranges::any_of(model_->clause(c), [&](const auto& literal) {
        return x[static_cast<std::size_t>(literal.coordinate)] == literal.level;
      });
      broken += !holds;
      broken_hard += !holds && std::isinf(model_->weights[c]);
    }
    const std::string all = with_commas(model_->clauses());
    std::string text = broken == 0 ? "satisfied: all " + all + " clauses hold"
                                   : with_commas(broken) + " of " + all + " clauses do not hold";
    if (broken_hard > 0) text += ", " + with_commas(broken_hard) + " of them hard";
    return {text,
            hard_ ? broken_hard == 0 : broken == 0,
            {{"clauses", static_cast<double>(model_->clauses())},
             {"unsatisfied_clauses", static_cast<double>(broken)},
             {"unsatisfied_hard_clauses", static_cast<double>(broken_hard)}}};
  }

 private:
  std::shared_ptr<const FactorsModel> model_;
  bool hard_;
};

}  // namespace

std::shared_ptr<const Problem> problem_of(const std::shared_ptr<const Model>& model) {
  if (model->problem) return model->problem;
  const auto* factors = std::get_if<FactorsModel>(&model->value);
  if (!factors || factors->clauses() == 0 || factors->tables() > 0) return nullptr;
  return std::make_shared<Clauses>(std::shared_ptr<const FactorsModel>(model, factors));
}

}  // namespace saltus
