#include "saltus/sampler/sampler.hpp"

#include "saltus/core/error.hpp"

namespace saltus {

std::string Sampler::missing(const Target& target) const {
  return exact() && target.stochastic() ? "log p itself, not a mini-batch estimate of it" : "";
}

std::string lacking(const Sampler& sampler, const Target& target) {
  if (target.constraint() && !sampler.keeps_constraint()) return "all states of the domain";
  return sampler.missing(target);
}

void require(const Sampler& sampler, const Target& target) {
  const std::string missing = lacking(sampler, target);
  if (missing.empty()) return;
  throw UsageError("sampler " + sampler.name() + " needs " + missing + ", which the model " +
                   target.name() + " does not have");
}

Sampler::Needs make_ready(const Sampler& sampler, const Target& target, Tile& tile,
                          Workspace& work) {
  const Sampler::Needs needs = sampler.needs(target);
  const Sampler::Needs stale{needs.logp && !tile.logp_current, needs.score && !tile.score_current,
                             needs.target_cache && !tile.target_cache_current};
  if (!stale.logp && !stale.score && !stale.target_cache) return stale;
  // Kept values that go with a score (Tempered) must be of the same states.
  const bool kept = tile.target_cache && (stale.target_cache || stale.score);
  target.evaluate_and_cache(work.at(tile.step), tile.x, stale.logp ? tile.logp : nullptr,
                            stale.score ? tile.score : Rows<float>{},
                            kept ? tile.target_cache : Rows<float>{});
  tile.logp_current |= stale.logp;
  tile.score_current |= stale.score;
  tile.target_cache_current |= kept;
  return stale;
}

}  // namespace saltus
