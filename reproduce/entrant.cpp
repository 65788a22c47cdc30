#include "reproduce/entrant.hpp"

#include <fmt/format.h>

namespace saltus::reproduce {

std::string Entrant::name() const {
  if (std::isnan(alpha) || sampler == "rmala") return label;
  return std::isinf(alpha) ? label + " without the term" : fmt::format("{} {:g}", label, alpha);
}

Json Entrant::setting(Json others) const {
  others["sampler"] = label;
  if (std::isnan(alpha)) return others;
  return with(others, sampler == "rmala" ? "epsilon" : "alpha",
              std::isinf(alpha) ? Json("infinite") : Json(alpha));
}

std::unique_ptr<Sampler> Entrant::make(const Target& target) const {
  Settings all = settings;
  if (!std::isnan(alpha)) all["step_size"] = fmt::format("{:g}", alpha);
  return make_sampler(sampler, target, all);
}

}  // namespace saltus::reproduce
