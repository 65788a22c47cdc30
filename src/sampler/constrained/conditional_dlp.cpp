#include "sampler/constrained/conditional_dlp.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/constrained/entries.hpp"
#include "sampler/langevin/penalty_scale.hpp"

namespace saltus {
namespace {

constexpr double kUnit = 0.5;          // the penalty of a flip at alpha = 1
constexpr double kStartPenalty = 2.5;  // as that of dmala without a constraint
constexpr double kLeastPenalty = 1e-3;

}  // namespace

ConditionalDlp::ConditionalDlp(const Constraint& constraint, ConditionalDlpOptions options)
    : FlipKernel(constraint), options_(options) {
  if (options_.step_size && !(*options_.step_size > 0)) {
    throw UsageError("step_size is " + std::to_string(*options_.step_size) +
                     "; it must be above 0");
  }
  if (!(options_.balancing_exponent > 0 && options_.balancing_exponent <= 1)) {
    throw UsageError("balancing_exponent is " + std::to_string(options_.balancing_exponent) +
                     "; it must be above 0 and at most 1 (0.5: the Langevin proposal)");
  }
  const bool sum = constraint.kind() == Constraint::Kind::sum;
  if (options_.most_swaps < 0 || (options_.most_swaps > 0 && !sum)) {
    throw UsageError("most_swaps is a number from 1 on, and goes with a constraint on the sum");
  }
  if (!options_.adapt) options_.adapt = !options_.step_size;
  if (!*options_.adapt && !options_.step_size) throw UsageError("adapt=false needs a step_size");
  step_size_ = options_.step_size.value_or(kUnit / kStartPenalty);
  law_ = conditional_flips(constraint, options_.most_swaps);
}

std::vector<Parameter> ConditionalDlp::parameters() const {
  std::vector<Parameter> list{{"step_size", step_size_}, {"adapt", *options_.adapt}};
  if (options_.balancing_exponent != 0.5) {
    list.push_back({"balancing_exponent", options_.balancing_exponent});
  }
  if (const int most = most_swaps(constraint(), options_.most_swaps)) {
    list.push_back({"most_swaps", std::int64_t{most}});
  }
  return list;
}

double ConditionalDlp::condition(const Symbol* x, std::span<double> d, Scratch& room) const {
  const double penalty = kUnit / step_size_;
  for (double& v : d) v = options_.balancing_exponent * v - penalty;
  return law_->condition(x, d, room);
}

double ConditionalDlp::propose(const Symbol* x, std::span<double> d, const Stream& stream,
                               Scratch& room, std::int32_t* flips, std::uint32_t& count) const {
  const double log_z = condition(x, d, room);
  if (!std::isfinite(log_z)) return NAN;
  count = static_cast<std::uint32_t>(law_->draw(x, d, stream, room, flips));
  return law_->log_weight(x, d, {flips, count}, room) - log_z;
}

double ConditionalDlp::log_back(const Symbol* y, std::span<double> d,
                                std::span<const std::int32_t> flips, Scratch& room) const {
  const double log_z = condition(y, d, room);
  return law_->log_weight(y, d, flips, room) - log_z;
}

void ConditionalDlp::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                                       std::span<double> acceptance) const {
  const std::size_t n = table.size(), dim = static_cast<std::size_t>(table.domain().dim());
  Scratch room;
  std::vector<double> l(dim);
  const RowBuffer<double> buffer(static_cast<int>(n), static_cast<int>(n));
  const Rows<double> log_q = buffer.view();  // minus infinity where a set is never drawn
  for (std::size_t s = 0; s < n; ++s) {
    const Symbol* x = table.state(s);
    estimated_changes(table.domain(), x, table.score(s), l);
    const double log_z = condition(x, l, room);
    for (std::size_t t = 0; t < n; ++t) {
      log_q[static_cast<int>(s)][t] =
          law_->log_weight(x, l, flips_between(table, s, t), room) - log_z;
    }
  }
  for (std::size_t s = 0; s < n; ++s) {
    const int from = static_cast<int>(s);
    std::fill_n(matrix[from], n, 0.0);
    acceptance[s] = 0;
    if (!std::isfinite(table.logp(s))) continue;
    for (std::size_t t = 0; t < n; ++t) {
      if (log_q[from][t] == -INFINITY) continue;
      add_tested(table, s, t, log_q[from][t], log_q[static_cast<int>(t)][s], matrix[from],
                 acceptance[s]);
    }
  }
  add_stays(table, matrix, acceptance);
}

std::vector<Tuning> ConditionalDlp::tuning() const {
  const double high = scale_of_penalty(kLeastPenalty);
  return {
      {std::min(scale_of_penalty(kUnit / step_size_), high), -1e4, high, 0.574, "step_size", true}};
}

std::unique_ptr<Sampler> ConditionalDlp::tuned(std::span<const double> value, Phase) const {
  ConditionalDlpOptions options = options_;
  options.step_size = kUnit / penalty_of_scale(value[0]);
  return std::make_unique<ConditionalDlp>(constraint(), options);
}

SamplerEntry constrained_dmala_entry() {
  return {"dmala",
          "discrete Langevin proposal given the constraint, with the Metropolis test: exact",
          {"step_size", "adapt", "balancing_exponent", "most_swaps"},
          [](const Target& target, const Settings& settings) -> std::unique_ptr<Sampler> {
            ConditionalDlpOptions options;
            options.step_size = number_setting(settings, "step_size");
            options.adapt = switch_setting(settings, "adapt");
            options.balancing_exponent =
                number_setting(settings, "balancing_exponent").value_or(options.balancing_exponent);
            options.most_swaps = integer_setting(settings, "most_swaps").value_or(0);
            return std::make_unique<ConditionalDlp>(*target.constraint(), options);
          }};
}

}  // namespace saltus
