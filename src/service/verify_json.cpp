#include "service/result_json.hpp"

namespace saltus {

const char* verdict_word(Check::Outcome outcome) {
  constexpr const char* kWords[] = {"ok", "FAILED", "skipped", "note"};  // as in Check::Outcome
  return kWords[static_cast<int>(outcome)];
}

OrderedJson verify_json(const VerifyRequest& request, const VerifyResult& result) {
  auto list = OrderedJson::array();
  for (const Check& c : result.checks) {
    list.push_back({{"check", c.name}, {"verdict", verdict_word(c.outcome)}, {"detail", c.detail}});
  }
  return {{"model", request.target->name()},
          {"sampler", result.sampler},
          {"parameters", parameters_json(result.parameters)},
          {"ok", result.good()},
          {"kernel_checked", result.kernel_checked()},
          {"checks", list}};
}

OrderedJson exact_json(const Target& target, const EliminationAnswer& answer) {
  const Domain& domain = target.domain();
  auto marginals = OrderedJson::array();
  auto next = answer.probabilities.begin();
  for (int i = 0; i < domain.dim(); ++i) {
    const auto end = next + domain.levels(i);
    marginals.push_back(std::vector<double>(next, end));
    next = end;
  }
  return {{"model", target.name()}, {"dim", domain.dim()},
          {"log_z", answer.log_z},  {"best", {{"state", answer.best}, {"logp", answer.best_logp}}},
          {"width", answer.width},  {"entries", answer.entries},
          {"marginals", marginals}};
}

}  // namespace saltus
