#include "sampler/constrained/swap_path.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/constrained/entries.hpp"

namespace saltus {
namespace {

constexpr double kTiny = 0x1p-900;  // of a sum of weights: the next largest becomes 1
constexpr int kMostTuned = 64;      // mean swaps: a step costs as many passes over the coordinates
constexpr double kMostPaths = 1e8;  // of all states of a table

// Sites of one side, which leave it one after the other.
class Side {
 public:
  // The sites of x at `level`, with log weights of all sites; memory for as many as x has.
  Side(const Symbol* x, Symbol level, std::span<const double> log_weights, std::int32_t* sites,
       double* weights)
      : log_weights_(log_weights), sites_(sites), weights_(weights) {
    for (std::size_t i = 0; i < log_weights.size(); ++i) {
      if (x[i] == level) sites_[left_++] = static_cast<std::int32_t>(i);
    }
    weigh();
  }

  // Takes a site away, adding the log of its probability.
  std::int32_t draw(double u, double& log_q) {
    const double sum = total();
    double part = u * sum;
    std::size_t place = 0;
    while (place + 1 < left_ && (part -= weights_[place]) >= 0) ++place;
    while (place > 0 && !(weights_[place] > 0)) --place;  // rounding at the end
    return take(place, sum, log_q);
  }
  void take_site(std::int32_t site, double& log_q) {
    const double sum = total();
    take(static_cast<std::size_t>(std::find(sites_, sites_ + left_, site) - sites_), sum, log_q);
  }

 private:
  void weigh() {
    top_ = -INFINITY;
    for (std::size_t k = 0; k < left_; ++k) top_ = std::max(top_, log_weight(k));
    for (std::size_t k = 0; k < left_; ++k) weights_[k] = std::exp(log_weight(k) - top_);
  }
  double log_weight(std::size_t place) const {
    return log_weights_[static_cast<std::size_t>(sites_[place])];
  }
  double total() {
    double sum = 0;
    for (std::size_t k = 0; k < left_; ++k) sum += weights_[k];
    if (sum > kTiny) return sum;
    weigh();
    sum = 0;
    for (std::size_t k = 0; k < left_; ++k) sum += weights_[k];
    return sum;
  }
  std::int32_t take(std::size_t place, double sum, double& log_q) {
    log_q += log_weight(place) - top_ - std::log(sum);
    const std::int32_t site = sites_[place];
    --left_;
    sites_[place] = sites_[left_];
    weights_[place] = weights_[left_];
    return site;
  }

  std::span<const double> log_weights_;
  std::int32_t* sites_;
  double* weights_;
  std::size_t left_ = 0;
  double top_ = 0;
};

Side side_of(const Symbol* x, Symbol level, std::span<const double> log_weights, Scratch& room) {
  return {x, level, log_weights, room.get<std::int32_t>(2, log_weights.size()),
          room.get<double>(1, log_weights.size())};
}

void halve(std::span<double> d) {
  for (double& v : d) v /= 2;
}

// Calls visit with every list of r different ones of the sites.
void each_list(const std::vector<std::int32_t>& sites, std::size_t r,
               std::vector<std::int32_t>& list,
               const std::function<void(const std::vector<std::int32_t>&)>& visit) {
  if (list.size() == r) return visit(list);
  for (const std::int32_t i : sites) {
    if (std::ranges::find(list, i) != list.end()) continue;
    list.push_back(i);
    each_list(sites, r, list, visit);
    list.pop_back();
  }
}

}  // namespace

SwapPath::SwapPath(const Constraint& constraint, const SwapPathOptions& options, bool single)
    : FlipKernel(constraint), options_(options), single_(single) {
  if (single_) options_ = {1, false, true};
  if (!options_.adapt) options_.adapt = !options_.swaps;
  if (!*options_.adapt && !options_.swaps) throw UsageError("adapt=false needs a number of swaps");
  if (!options_.swaps) options_.swaps = 1;
  if (*options_.swaps < 1) {
    throw UsageError("swaps is " + std::to_string(*options_.swaps) + "; it must be at least 1");
  }
  if (constraint.fixed_sum()) options_.swaps = std::min(*options_.swaps, limit());
}

int SwapPath::limit() const {
  return std::min(constraint().low(), constraint().dim() - constraint().low());
}

int SwapPath::most() const {
  return options_.fixed ? *options_.swaps : std::min(2 * *options_.swaps - 1, limit());
}

std::vector<Parameter> SwapPath::parameters() const {
  if (single_) return {};
  std::vector<Parameter> list{{"swaps", std::int64_t{*options_.swaps}}, {"adapt", *options_.adapt}};
  if (options_.fixed) list.push_back({"fixed", true});
  return list;
}

std::string SwapPath::missing(const Target& target) const {
  if (!target.constraint() || !target.constraint()->fixed_sum()) return "a constraint sum=K";
  return FlipKernel::missing(target);
}

// Number 0 of the stream is for r; the sites take the numbers from 1 on.
double SwapPath::propose(const Symbol* x, std::span<double> d, const Stream& stream, Scratch& room,
                         std::int32_t* flips, std::uint32_t& count) const {
  halve(d);
  const int swaps =
      options_.fixed ? most() : std::min(1 + static_cast<int>(stream.uniform(0) * most()), most());
  double log_q = 0;
  for (const Symbol level : {Symbol{1}, Symbol{0}}) {
    Side side = side_of(x, level, d, room);
    for (int k = 0; k < swaps; ++k) {
      const std::uint32_t number = ++count;
      flips[number - 1] = side.draw(stream.uniform(number), log_q);
    }
  }
  return log_q;
}

double SwapPath::log_back(const Symbol* y, std::span<double> d, std::span<const std::int32_t> flips,
                          Scratch& room) const {
  halve(d);
  const std::size_t swaps = flips.size() / 2;
  double log_q = 0;
  for (const Symbol level :
       {Symbol{1}, Symbol{0}}) {  // those that came leave again, the last first
    Side side = side_of(y, level, d, room);
    const std::span part = level ? flips.subspan(swaps) : flips.first(swaps);
    for (std::size_t k = swaps; k-- > 0;) side.take_site(part[k], log_q);
  }
  return log_q;
}

void SwapPath::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                                 std::span<double> acceptance) const {
  const int dim = table.domain().dim(), ones = constraint().low();
  const double paths = std::pow(ones, most()) * std::pow(dim - ones, most());
  if (paths * static_cast<double>(table.size()) > kMostPaths) {
    throw UsageError("there are too many paths of " + std::to_string(most()) +
                     " swaps for an exact transition matrix: take fewer swaps");
  }
  Scratch room;
  std::vector<double> there(static_cast<std::size_t>(dim)), back(there);
  for (std::size_t s = 0; s < table.size(); ++s) {
    double* row = matrix[static_cast<int>(s)];
    std::fill_n(row, table.size(), 0.0);
    acceptance[s] = 0;
    if (!std::isfinite(table.logp(s))) continue;
    const Symbol* x = table.state(s);
    for (std::size_t t = 0; t < table.size(); ++t) {
      const std::vector<std::int32_t> flips = flips_between(table, s, t);
      const std::size_t swaps = flips.size() / 2;
      const bool taken =
          options_.fixed ? static_cast<int>(swaps) == most() : static_cast<int>(swaps) <= most();
      if (swaps == 0 || !taken) continue;
      estimated_changes(table.domain(), x, table.score(s), there);
      halve(there);
      const auto middle = flips.begin() + static_cast<std::ptrdiff_t>(swaps);
      std::vector<std::int32_t> going, coming;
      each_list({flips.begin(), middle}, swaps, going, [&](const auto& out) {
        each_list({middle, flips.end()}, swaps, coming, [&](const auto& in) {
          std::vector<std::int32_t> path = out;
          path.insert(path.end(), in.begin(), in.end());
          double log_q = options_.fixed ? 0 : -std::log(most());
          for (const Symbol level : {Symbol{1}, Symbol{0}}) {
            Side side = side_of(x, level, there, room);
            for (const std::int32_t i : level ? out : in) side.take_site(i, log_q);
          }
          estimated_changes(table.domain(), table.state(t), table.score(t), back);
          const double log_r = options_.fixed ? 0 : -std::log(most());
          add_tested(table, s, t, log_q, log_r + log_back(table.state(t), back, path, room), row,
                     acceptance[s]);
        });
      });
    }
  }
  add_stays(table, matrix, acceptance);
}

// On the scale of Gwg::tuning.
std::vector<Tuning> SwapPath::tuning() const {
  const double high = 2 * std::log(std::clamp(limit(), 1, kMostTuned));
  return {{std::min(2 * std::log(*options_.swaps), high), 0, high, 0.574, "swaps"}};
}

std::unique_ptr<Sampler> SwapPath::tuned(std::span<const double> value, Phase) const {
  SwapPathOptions options = options_;
  options.swaps = std::clamp(static_cast<int>(std::lround(std::exp(value[0] / 2))), 1, limit());
  return std::make_unique<SwapPath>(constraint(), options);
}

SamplerEntry constrained_gwg_entry() {
  return {"gwg",
          "a one and a zero chosen by the gradient exchange their places: exact",
          {},
          [](const Target& target, const Settings&) -> std::unique_ptr<Sampler> {
            return std::make_unique<SwapPath>(*target.constraint(), SwapPathOptions{}, true);
          }};
}

SamplerEntry constrained_pas_entry() {
  return {"pas",
          "several ones and as many zeros chosen by the gradient exchange their places: exact",
          {"swaps", "adapt", "fixed"},
          [](const Target& target, const Settings& settings) -> std::unique_ptr<Sampler> {
            SwapPathOptions options;
            options.swaps = integer_setting(settings, "swaps");
            options.adapt = switch_setting(settings, "adapt");
            options.fixed = switch_setting(settings, "fixed").value_or(false);
            return std::make_unique<SwapPath>(*target.constraint(), options);
          }};
}

}  // namespace saltus
