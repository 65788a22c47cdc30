#include "saltus/sampler/gwg.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/entries.hpp"
#include "sampler/informed/balancing.hpp"
#include "sampler/informed/exact_flips.hpp"
#include "sampler/informed/informed_flips.hpp"

namespace saltus {

// Sites with replacement: log q = sum_k log p_ik, the same list both ways.
class Gwg::Choice final : public SiteChoice {
 public:
  explicit Choice(int flips) : flips_(flips) {}
  int most() const override { return flips_; }
  int count(const Stream&) const override { return flips_; }

  double draw(SiteWeights& weights, const Stream& stream,
              std::span<ChosenSite> sites) const override {
    const double total = weights.log_total();
    if (!std::isfinite(total)) return total;
    std::uint32_t k = 0;
    for (ChosenSite& s : sites) s.site = weights.draw(stream.uniform(k++));
    return log_q(weights, sites, total);
  }
  double log_back(SiteWeights& weights, std::span<ChosenSite> sites) const override {
    return log_q(weights, sites, weights.log_total());
  }

 private:
  static double log_q(const SiteWeights& weights, std::span<ChosenSite> sites, double total) {
    double sum = 0;
    for (const ChosenSite& s : sites) sum += weights.log_weight(s.site) - total;
    return sum;
  }
  int flips_;
};

Gwg::Gwg(const Domain& domain, const GwgOptions& options) : domain_(domain), options_(options) {
  check_window(domain_, options_.window);
  options_.window = std::min(options_.window, domain_.max_levels() - 1);
  if (options_.flips < 1) {
    throw UsageError("flips is " + std::to_string(options_.flips) + "; it must be at least 1");
  }
  if (options_.exact && (options_.flips > 1 || options_.adapt)) {
    throw UsageError("exact differences go with one flip, not tuned");
  }
}

// Site weights depend on these.
std::string Gwg::cache_key() const {
  return name() + " " + balancing_name(options_.balancing) + " " + std::to_string(options_.window);
}

std::vector<Parameter> Gwg::parameters() const {
  std::vector<Parameter> list;
  if (!options_.exact) {
    list = {{"flips", std::int64_t{options_.flips}}, {"adapt", options_.adapt}};
  }
  list.push_back({"balancing", balancing_name(options_.balancing)});
  if (options_.window) list.push_back({"window", std::int64_t{options_.window}});
  return list;
}

namespace {

InformedFlips informed(const Target& target, const GwgOptions& o, const SiteChoice& choice) {
  using Weights = InformedFlips::Weights;
  return {target, o.balancing, o.window, o.exact ? Weights::exact : Weights::estimated, choice};
}

}  // namespace

Sampler::Needs Gwg::needs(const Target& target) const {
  return informed(target, options_, Choice(options_.flips)).needs();
}

bool Gwg::accumulates_rounding(const Target& target) const {
  return informed(target, options_, Choice(options_.flips)).accumulates_rounding();
}

int Gwg::cache_size(const Target& target) const {
  return informed(target, options_, Choice(options_.flips)).cache_size();
}

void Gwg::start(const Target& target, Tile& tile, Workspace& work) const {
  informed(target, options_, Choice(options_.flips)).start(tile, work);
}

void Gwg::step(const Target& target, Tile& tile, Workspace& work, std::span<StepInfo> info) const {
  informed(target, options_, Choice(options_.flips)).step(tile, work, info);
}

// On a scale on which flips double with every 1.4: the acceptance rate falls about linearly there.
std::vector<Tuning> Gwg::tuning() const {
  const double high = 2 * std::log(domain_.dim());
  return {{std::min(2 * std::log(options_.flips), high), 0, high, 0.574, "flips"}};
}

std::unique_ptr<Sampler> Gwg::tuned(std::span<const double> value, Phase) const {
  GwgOptions options = options_;
  options.flips =
      std::clamp(static_cast<int>(std::lround(std::exp(value[0] / 2))), 1, domain_.dim());
  return std::make_unique<Gwg>(domain_, options);
}

// Over all lists of sites.
void Gwg::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                            std::span<double> acceptance) const {
  const ExactFlips law(table, options_.balancing, options_.window, options_.exact);
  const auto flips = static_cast<std::size_t>(options_.flips);
  std::vector<int> list(flips);
  const auto log_q = [&](std::size_t s) {
    double sum = 0;
    for (int i : list) sum += law.log_site(s, i) - law.log_others(s, {});
    return sum;
  };
  law.fill(matrix, acceptance, [&](std::size_t s, double* row) {
    const auto enumerate = [&](const auto& self, std::size_t k) -> void {
      if (k < flips) {
        for (list[k] = 0; list[k] < table.domain().dim(); ++list[k]) self(self, k + 1);
        return;
      }
      std::vector<int> distinct = list;
      std::sort(distinct.begin(), distinct.end());
      distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
      law.add(s, distinct, log_q(s), log_q, row, acceptance[s]);
    };
    enumerate(enumerate, 0);
  });
}

SamplerEntry gwg_entry() {
  return {"gwg",
          "Gibbs with gradients: flips sites chosen by the gradient: exact",
          {"flips", "adapt", "balancing", "window"},
          [](const Target& target, const Settings& settings) -> std::unique_ptr<Sampler> {
            GwgOptions options;
            const auto flips = integer_setting(settings, "flips");
            // Kernels on a device flip one coordinate, and mini-batches have nothing to tune by.
            const bool tunes = !flips && !target.on_device() && !target.stochastic();
            options.flips = flips.value_or(1);
            options.adapt = switch_setting(settings, "adapt").value_or(tunes);
            options.balancing = balancing_setting(settings);
            options.window = window_setting(settings, target.domain());
            return std::make_unique<Gwg>(target.domain(), options);
          }};
}

SamplerEntry locally_balanced_entry() {
  return {"locally_balanced",
          "one site chosen by the exact differences of log p of all single changes: exact",
          {"balancing", "window"},
          [](const Target& target, const Settings& settings) -> std::unique_ptr<Sampler> {
            GwgOptions options;
            options.exact = true;
            options.balancing = balancing_setting(settings);
            options.window = window_setting(settings, target.domain());
            return std::make_unique<Gwg>(target.domain(), options);
          }};
}

}  // namespace saltus
