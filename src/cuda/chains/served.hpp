// Which samplers have kernels on the GPU, for two-level coordinates: a registry by the sampler's
// type, and what each kernel does before and after the evaluation of a step.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <typeindex>
#include <vector>

#include "saltus/sampler/dlp.hpp"
#include "saltus/sampler/gibbs.hpp"
#include "saltus/sampler/gwg.hpp"
#include "sampler/gibbs/scan.hpp"

namespace saltus::cuda {

// The functions of chain_steps.hpp, in the order of the table in step_kernels.cu.
enum class Pass {
  propose_langevin,
  accept_langevin,
  move_langevin,
  move_langevin_and_record,
  record_langevin,
  propose_site,
  accept_site,
  propose_gibbs,
  settle_gibbs,
  start_way,
};

struct Kernel {
  Pass before, after;  // the evaluation
  bool in_place;       // the state itself moves, and there is no test: the target is biased
  bool by_score;
};
inline constexpr Kernel kDmala{Pass::propose_langevin, Pass::accept_langevin, false, true};
inline constexpr Kernel kDula{Pass::move_langevin, Pass::record_langevin, true, true};
inline constexpr Kernel kGwg{Pass::propose_site, Pass::accept_site, false, true};
inline constexpr Kernel kGibbs{Pass::propose_gibbs, Pass::settle_gibbs, false, false};

// A sampler's kernel, none where steps are made on the host, and its parameters.
struct Served {
  const Kernel* kernel = nullptr;
  std::span<const float> penalty = {};    // Langevin
  const GibbsOptions* options = nullptr;  // Gibbs
};

inline Served serve_dlp(const Sampler& sampler) {
  const auto& dlp = static_cast<const Dlp&>(sampler);
  // The kernels' logits have half of the gradient, and one penalty at every step.
  if (dlp.options().balancing_exponent != 0.5 || dlp.options().cycle) return {};
  return {dlp.options().adjust ? &kDmala : &kDula, dlp.penalty()};
}
inline Served serve_gwg(const Sampler& sampler) {
  const GwgOptions& o = static_cast<const Gwg&>(sampler).options();
  if (o.flips != 1 || o.balancing != Balancing::sqrt || o.exact) return {};
  return {&kGwg};
}
inline Served serve_gibbs(const Sampler& sampler) {
  const auto& gibbs = static_cast<const Gibbs&>(sampler);
  const GibbsOptions& o = gibbs.options();
  if (o.block != 1 || gibbs.updates() != 1 || o.scan == GibbsOptions::Scan::colours) return {};
  return {&kGibbs, {}, &o};
}

// A line for each type of sampler.
inline Served serve(const Sampler& sampler) {
  static const std::map<std::type_index, Served (*)(const Sampler&)> registry = {
      {typeid(Dlp), serve_dlp}, {typeid(Gwg), serve_gwg}, {typeid(Gibbs), serve_gibbs}};
  const auto found = registry.find(typeid(sampler));
  return found == registry.end() ? Served{} : found->second(sampler);
}

// The coordinates that steps `step`, step + 1, ... of a Gibbs sampler draw; none for other samplers
// and where every chain draws its own.
inline std::vector<std::int32_t> sites_of(const Served& served, const Domain& domain,
                                          std::uint64_t seed, std::uint64_t step,
                                          std::uint64_t steps) {
  std::vector<std::int32_t> sites;
  if (!served.options) return sites;
  const Scan scan = scan_of(*served.options, domain);
  if (!scan.shared()) return sites;
  Scratch own;
  for (std::uint64_t k = 0; k < steps; ++k) sites.push_back(scan.block(seed, step + k, own)[0]);
  return sites;
}

}  // namespace saltus::cuda
