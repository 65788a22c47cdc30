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
  OrderedJson j = {{"model", request.target->name()}};
  add_constraint(j, *request.target);
  j.update({{"sampler", result.sampler},
            {"parameters", parameters_json(result.parameters)},
            {"ok", result.good()},
            {"kernel_checked", result.kernel_checked()},
            {"checks", list}});
  return j;
}

OrderedJson exact_json(const Target& target, const EliminationAnswer& answer, const Labels& labels,
                       const WholeModel* whole) {
  const Domain& domain = target.domain();
  auto marginals = OrderedJson::array();
  auto next = answer.probabilities.begin();
  for (int i = 0; i < domain.dim(); ++i) {
    const auto end = next + domain.levels(i);
    marginals.push_back(std::vector<double>(next, end));
    next = end;
  }
  OrderedJson j = {{"model", target.name()}};
  add_constraint(j, target);
  j["dim"] = domain.dim();
  j["log_z"] = answer.log_z;
  j["best"] = {{"state", answer.best}, {"logp", answer.best_logp}};
  if (!target.constraint()) j["width"] = answer.width, j["entries"] = answer.entries;
  j["marginals"] = marginals;
  if (whole) j["given"] = given_json(whole->given);
  add_labels(j, labels);
  return j;
}

}  // namespace saltus
