// The parameters with which the conformance suite tries each sampler.
#pragma once

#include <string>
#include <vector>

#include "saltus/sampler/registry.hpp"

namespace saltus {

inline bool serves(const SamplerEntry& entry, const Target& target) {
  return entry.make(target, {})->missing(target).empty();
}

inline std::vector<Settings> langevin_settings(const Domain& domain) {
  std::vector<Settings> list;
  for (const char* step : {"0.1", "0.5", "2", "inf"}) list.push_back({{"step_size", step}});
  std::string factors;
  for (int i = 0; i < domain.dim(); ++i) factors += (i ? "," : "") + std::to_string(0.3 + 0.5 * i);
  list.push_back({{"step_size", "0.7"}, {"precondition", factors}});
  list.push_back({{"step_size", "0.9"}, {"distance", "value"}});
  list.push_back({{"step_size", "0.6"}, {"balancing_exponent", "0.8"}});
  if (domain.kind() == Domain::Kind::ordered && domain.max_levels() > 2) {
    const Settings cycle{{"cycle", "3"}, {"largest_step", "9"}, {"smallest_step", "0.7"}};
    list.push_back(cycle);
    list.push_back(cycle);
    list.back()["balancing_exponent"] = "0.6";
    list.back()["precondition"] = factors;
  }
  return list;
}

// Every combination of `list` with the values of one more parameter.
inline std::vector<Settings> with_each(const std::vector<Settings>& list, const std::string& key,
                                       const std::vector<std::string>& values) {
  std::vector<Settings> all;
  for (const Settings& settings : list) {
    for (const std::string& value : values) {
      all.push_back(settings);
      all.back()[key] = value;
    }
  }
  return all;
}

inline std::vector<Settings> settings_without_window(const std::string& sampler,
                                                     const Domain& domain) {
  const std::vector<std::string> balancing = {"sqrt", "ratio", "min", "max"};
  if (sampler == "dmala" || sampler == "dula") return langevin_settings(domain);
  if (sampler == "gibbs") {
    auto list = with_each({{}}, "scan", {"permutation", "systematic", "random"});
    list = with_each(with_each(list, "block", {"1", "2"}), "updates", {"1"});
    list.push_back({{"scan", "permutation"}, {"updates", "sweep"}});
    list.push_back({{"scan", "systematic"}, {"updates", "sweep"}});
    list.push_back({{"scan", "random"}, {"updates", "3"}});
    list.push_back({{"scan", "colours"}, {"updates", "sweep"}});
    list.push_back({{"block", "2"}, {"updates", "sweep"}});
    list.push_back({});
    return list;
  }
  if (sampler == "hamming_ball") {
    return {{{"block", "2"}, {"radius", "1"}}, {{"block", "3"}, {"radius", "2"}}, {}};
  }
  if (sampler == "locally_balanced") return with_each({{}}, "balancing", balancing);
  if (sampler == "gwg") {
    auto list = with_each(with_each({{}}, "balancing", balancing), "flips", {"1", "2", "3"});
    list.push_back({});
    return list;
  }
  if (sampler == "pas") {
    auto list = with_each(with_each({{}}, "balancing", {"sqrt", "ratio"}), "flips", {"1", "2"});
    list = with_each(list, "fixed", {"true", "false"});
    list.push_back({{"flips", "1"}, {"balancing", "min"}});
    list.push_back({{"flips", "1"}, {"balancing", "max"}});
    return list;
  }
  if (sampler == "dlmc") {
    return with_each(
        with_each({{{"step_size", "0.3"}}, {{"step_size", "2"}}}, "form", {"heat", "euler"}),
        "balancing", balancing);
  }
  if (sampler == "rwm") return with_each({{}}, "rate", {"1", "1.5"});
  return {{}};
}

inline std::vector<Settings> settings_of(const std::string& sampler, const Target& target) {
  const Domain& domain = target.domain();
  std::vector<Settings> list = settings_without_window(sampler, domain);
  if (sampler == "gibbs" && !target.local_moves()) {  // from which the colours follow
    std::erase_if(list, [](const Settings& s) { return find_setting(s, "scan") == "colours"; });
  }
  const bool windowed = sampler == "dmala" || sampler == "dula" || sampler == "gwg" ||
                        sampler == "locally_balanced" || sampler == "pas" || sampler == "dlmc" ||
                        sampler == "rwm";
  if (!windowed || domain.kind() != Domain::Kind::ordered || domain.two_level()) return list;
  if (domain.unbounded()) return with_each(list, "window", {"2"});
  list.push_back(list.front());
  list.back()["window"] = "1";
  return list;
}

// A fixed even number of flips of two-level coordinates keeps their parity.
inline bool may_be_reducible(const Settings& settings) {
  return settings.count("fixed") && settings.at("fixed") == "true";
}

}  // namespace saltus
