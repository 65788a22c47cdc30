#include "saltus/sampler/pas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/core/error.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/entries.hpp"
#include "sampler/informed/balancing.hpp"
#include "sampler/informed/exact_flips.hpp"
#include "sampler/informed/informed_flips.hpp"

namespace saltus {

// Sites without replacement. The weight of a chosen site is hidden, so that what is left is a sum
// over the others, accurate also when the chosen ones hold nearly everything.
class Pas::Choice final : public SiteChoice {
 public:
  explicit Choice(const Pas& pas) : most_(pas.most_sites()), fixed_(pas.options_.fixed) {}
  int most() const override { return most_; }
  // Number 0 of the stream; the sites take the numbers from 1 on.
  int count(const Stream& stream) const override {
    return fixed_ ? most_ : 1 + static_cast<int>(stream.uniform(0) * most_);
  }

  double draw(SiteWeights& weights, const Stream& stream,
              std::span<ChosenSite> sites) const override {
    double log_q = 0;
    std::size_t k = 0;
    for (; k < sites.size(); ++k) {
      if (k > 0) hide(weights, sites[k - 1]);
      const double left = weights.log_total();
      if (!std::isfinite(left)) {
        log_q = left;
        break;
      }
      sites[k].site = weights.draw(stream.uniform(static_cast<std::uint32_t>(k + 1)));
      log_q += weights.log_weight(sites[k].site) - left;
    }
    show(weights, sites.first(std::min(k, sites.size() - 1)));
    return log_q;
  }

  double log_back(SiteWeights& weights, std::span<ChosenSite> sites) const override {
    double log_q = 0;
    for (std::size_t k = sites.size(); k-- > 0;) {
      if (k + 1 < sites.size()) hide(weights, sites[k + 1]);
      log_q += weights.log_weight(sites[k].site) - weights.log_total();
    }
    show(weights, sites.subspan(std::min<std::size_t>(1, sites.size())));
    return log_q;
  }

 private:
  static void hide(SiteWeights& weights, ChosenSite& s) {
    s.hidden = static_cast<float>(weights.log_weight(s.site));
    weights.set(s.site, -std::numeric_limits<float>::infinity());
  }
  static void show(SiteWeights& weights, std::span<const ChosenSite> sites) {
    const bool many = sites.size() * SiteWeights::kBlock > weights.log_weights().size();
    for (const ChosenSite& s : sites) {
      if (many) {
        weights.log_weights()[static_cast<std::size_t>(s.site)] = s.hidden;
      } else {
        weights.set(s.site, s.hidden);
      }
    }
    if (many) weights.rebuild();
  }

  int most_;
  bool fixed_;
};

Pas::Pas(const Domain& domain, const PasOptions& options)
    : options_(options), domain_(domain), sites_(0) {
  check_window(domain_, options_.window);
  options_.window = std::min(options_.window, domain_.max_levels() - 1);
  for (int i = 0; i < domain_.dim(); ++i) sites_ += domain_.levels(i) > 1;
  if (options_.flips && (*options_.flips < 1 || *options_.flips > sites_)) {
    throw UsageError("flips is " + std::to_string(*options_.flips) +
                     "; it must be from 1 to the number of coordinates, here " +
                     std::to_string(sites_));
  }
  if (!options_.adapt) options_.adapt = !options_.flips;
  if (!*options_.adapt && !options_.flips) throw UsageError("adapt=false needs flips");
  if (!options_.flips) options_.flips = 1;
}

int Pas::most_sites() const {
  return options_.fixed ? *options_.flips : std::min(2 * *options_.flips - 1, std::max(1, sites_));
}

// Site weights depend on these.
std::string Pas::cache_key() const {
  return name() + " " + balancing_name(options_.balancing) + " " + std::to_string(options_.window);
}

std::vector<Parameter> Pas::parameters() const {
  std::vector<Parameter> list{{"flips", std::int64_t{*options_.flips}},
                              {"adapt", *options_.adapt},
                              {"fixed", options_.fixed},
                              {"balancing", balancing_name(options_.balancing)}};
  if (options_.window) list.push_back({"window", std::int64_t{options_.window}});
  return list;
}

namespace {

InformedFlips informed(const Target& target, const PasOptions& o, const SiteChoice& choice) {
  return {target, o.balancing, o.window, InformedFlips::Weights::estimated, choice};
}

}  // namespace

Sampler::Needs Pas::needs(const Target& target) const {
  return informed(target, options_, Choice(*this)).needs();
}

bool Pas::accumulates_rounding(const Target& target) const {
  return informed(target, options_, Choice(*this)).accumulates_rounding();
}

int Pas::cache_size(const Target& target) const {
  return informed(target, options_, Choice(*this)).cache_size();
}

void Pas::start(const Target& target, Tile& tile, Workspace& work) const {
  informed(target, options_, Choice(*this)).start(tile, work);
}

void Pas::step(const Target& target, Tile& tile, Workspace& work, std::span<StepInfo> info) const {
  informed(target, options_, Choice(*this)).step(tile, work, info);
}

// On the scale of Gwg. Beyond half of the coordinates the mean number of flips no longer grows,
// unless it is fixed.
std::vector<Tuning> Pas::tuning() const {
  const double most = options_.fixed ? sites_ : (sites_ + 1) / 2;
  const double high = 2 * std::log(std::max(1.0, most));
  return {{std::min(2 * std::log(*options_.flips), high), 0, high, 0.574, "flips"}};
}

std::unique_ptr<Sampler> Pas::tuned(std::span<const double> value, Phase) const {
  PasOptions options = options_;
  options.flips =
      std::clamp(static_cast<int>(std::lround(std::exp(value[0] / 2))), 1, std::max(1, sites_));
  return std::make_unique<Pas>(domain_, options);
}

// Over all paths. log q of sites in this order: each with its part of what is left.
void Pas::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                            std::span<double> acceptance) const {
  const ExactFlips law(table, options_.balancing, options_.window, false);
  const auto most = static_cast<std::size_t>(most_sites());
  const double log_length = options_.fixed ? 0 : -std::log(static_cast<double>(most));
  const auto log_q = [&](std::size_t s, std::span<const int> path) {
    double sum = log_length;
    for (std::size_t k = 0; k < path.size(); ++k) {
      sum += law.log_site(s, path[k]) - law.log_others(s, path.first(k));
    }
    return sum;
  };
  law.fill(matrix, acceptance, [&](std::size_t s, double* row) {
    std::vector<int> path;
    const auto enumerate = [&](const auto& self) -> void {
      if (options_.fixed ? path.size() == most : !path.empty()) {
        const std::vector<int> back(path.rbegin(), path.rend());
        const auto log_back = [&](std::size_t t) { return log_q(t, back); };
        law.add(s, path, log_q(s, path), log_back, row, acceptance[s]);
      }
      if (path.size() == most) return;
      for (int i = 0; i < table.domain().dim(); ++i) {
        if (std::find(path.begin(), path.end(), i) != path.end()) continue;
        path.push_back(i);
        self(self);
        path.pop_back();
      }
    };
    enumerate(enumerate);
  });
}

SamplerEntry pas_entry() {
  return {"pas",
          "path auxiliary: several distinct sites chosen by the gradient: exact",
          {"flips", "adapt", "fixed", "balancing", "window"},
          [](const Target& target, const Settings& settings) -> std::unique_ptr<Sampler> {
            PasOptions options;
            options.flips = integer_setting(settings, "flips");
            options.adapt = switch_setting(settings, "adapt");
            options.fixed = switch_setting(settings, "fixed").value_or(false);
            options.balancing = balancing_setting(settings);
            options.window = window_setting(settings, target.domain());
            return std::make_unique<Pas>(target.domain(), options);
          }};
}

}  // namespace saltus
