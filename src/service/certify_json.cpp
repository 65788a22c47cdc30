#include <fmt/core.h>

#include "saltus/version.hpp"
#include "service/result_json.hpp"

namespace saltus {
namespace {

OrderedJson optional_json(const std::optional<double>& v) {
  return v ? json_number(*v) : OrderedJson(nullptr);
}

OrderedJson step_json(const std::optional<std::uint64_t>& v) {
  return v ? OrderedJson(*v) : OrderedJson(nullptr);
}

}  // namespace

OrderedJson certificate_json(const CertifyRequest& request, const CertifyResult& r,
                             const WholeModel* whole,
                             const std::function<std::string(const UnbiasedMean&)>& name) {
  const Target& target = whole ? *whole->target : *request.target;
  OrderedJson j;
  j["model"] = target.name();
  j["dimension"] = target.domain().dim();
  if (whole) j["given"] = given_json(whole->given);
  j["sampler"] = r.sampler;
  j["parameters"] = parameters_json(r.parameters);
  j["tuned"] = r.tuned;
  j["pairs"] = r.pairs;
  j["lag"] = r.lag;
  j["max_steps"] = r.max_steps;
  j["unmet"] = r.unmet;
  j["certified"] = r.certified();
  j["meeting_times"] = nullptr;
  if (!r.times.empty()) {
    auto& times = j["meeting_times"] = OrderedJson::object();
    double sum = 0;
    for (const std::uint64_t t : r.times) sum += static_cast<double>(t);
    times["mean"] = sum / static_cast<double>(r.times.size());
    for (const double share : kMeetingShares)
      times[fmt::format("{:g} %", 100 * share)] = r.quantile(share);
  }
  j["bound"] = OrderedJson::array();
  for (const BoundAt& at : r.curve) {
    j["bound"].push_back({{"step", at.step},
                          {"bound", json_number(at.value.bound)},
                          {"standard_error", json_number(at.value.standard_error)},
                          {"exact_distance", optional_json(at.exact)}});
  }
  j["below_0.25"] = step_json(r.below_quarter);
  j["below_0.01"] = step_json(r.below_hundredth);
  j["recommended_warmup"] = step_json(r.below_hundredth);
  j["window"] = r.window ? OrderedJson{r.window->first, r.window->last} : OrderedJson(nullptr);
  j["unbiased_means"] = OrderedJson::array();
  for (const UnbiasedMean& m : r.means) {
    j["unbiased_means"].push_back({{"of", name(m)},
                                   {"mean", json_number(m.mean)},
                                   {"standard_error", json_number(m.standard_error)},
                                   {"exact", optional_json(m.exact)}});
  }
  j["seed"] = request.seed;
  j["seconds"] = r.seconds;
  j["version"] = version();
  return j;
}

}  // namespace saltus
