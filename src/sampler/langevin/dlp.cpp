#include "saltus/sampler/dlp.hpp"

#include <algorithm>
#include <cmath>

#include "ops/ops.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/proposal.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/entries.hpp"
#include "sampler/product_matrix.hpp"

namespace saltus {
namespace {

// Where tuning starts: a flip costs 2.5 (alpha = 0.2 for bits, the paper's usual one), a step
// between neighbouring ordered levels 1.
constexpr double kStartPenaltyFlip = 2.5, kStartPenaltyOrdered = 1.0;

// The tuned scale. Proposed changes grow like exp(-penalty) when the penalty is large, so there the
// penalty itself is the natural scale; when it is small, its logarithm is. The two join smoothly
// at 1.
double scale_of_penalty(double c) {
  return c >= 1 ? 1 - c : -std::log(c);
}
double penalty_of_scale(double z) {
  return z <= 0 ? 1 - z : std::exp(-z);
}

void check_precondition(const std::vector<double>& p, int dim) {
  if (!p.empty() && static_cast<int>(p.size()) != dim) {
    throw UsageError("precondition has " + std::to_string(p.size()) +
                     " factors, but the model has " + std::to_string(dim) + " coordinates");
  }
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!(p[i] > 0 && std::isfinite(p[i]))) {
      throw UsageError("precondition factor " + std::to_string(i) + " is " + std::to_string(p[i]) +
                       "; it must be a positive number");
    }
  }
}

}  // namespace

Dlp::Dlp(const Domain& domain, DlpOptions options) : domain_(domain), options_(std::move(options)) {
  check_precondition(options_.precondition, domain_.dim());
  check_window(domain_, options_.window);
  options_.window = std::min(options_.window, domain_.max_levels() - 1);
  if (options_.step_size && !(*options_.step_size > 0)) {
    throw UsageError("step_size is " + std::to_string(*options_.step_size) +
                     "; it must be above 0");
  }
  if (!options_.adapt) options_.adapt = !options_.step_size;
  if (!*options_.adapt && !options_.step_size) {
    throw UsageError("adapt=false needs a step_size");
  }
  const bool flips = domain_.max_levels() == 2 || domain_.kind() == Domain::Kind::categorical;
  const double start = flips ? kStartPenaltyFlip : kStartPenaltyOrdered;
  step_size_ = options_.step_size.value_or(unit() / start);
  for (double p : options_.precondition) penalty_.push_back(unit() / (step_size_ * p));
  if (penalty_.empty()) penalty_.push_back(unit() / step_size_);
  penalty_single_.assign(penalty_.begin(), penalty_.end());
  if (penalty_.size() > 1) penalty_single_.resize(static_cast<std::size_t>(padded(domain_.dim())));
}

double Dlp::unit() const {
  if (domain_.kind() == Domain::Kind::categorical) return 1;  // one-hot rows: |e_k - e_c|^2 = 2
  const double step = options_.distance == DlpOptions::Distance::value ? domain_.spacing() : 1;
  return step * step / 2;
}

std::vector<Parameter> Dlp::parameters() const {
  std::vector<Parameter> list{{"step_size", step_size_}, {"adapt", *options_.adapt}};
  list.push_back(
      {"distance", options_.distance == DlpOptions::Distance::index ? "index" : "value"});
  if (options_.window) list.push_back({"window", std::int64_t{options_.window}});
  if (!options_.precondition.empty()) {
    const auto [low, high] =
        std::minmax_element(options_.precondition.begin(), options_.precondition.end());
    list.push_back({"precondition_min", *low});
    list.push_back({"precondition_max", *high});
  }
  return list;
}

Sampler::Needs Dlp::needs(const Target& target) const {
  return {options_.adjust, true, target.cheap_near()};
}

std::vector<Tuning> Dlp::tuning() const {
  const double reach = domain_.kind() == Domain::Kind::categorical ? 1
                       : options_.window                           ? options_.window
                                                                   : domain_.max_levels() - 1;
  const double start = scale_of_penalty(unit() / step_size_);
  // Beyond `high` the distance term is negligible; there the acceptance rate no longer falls.
  const double high = scale_of_penalty(1e-3 / (reach * reach));
  return {{std::min(start, high), -1e4, high, 0.574, "step_size", true}};
}

// What DULA takes where DMALA has been tuned to `penalty`: twice as much, the paper's ratio of step
// sizes. Among K classes only what exceeds log(K - 1) counts twice, and never less than DMALA's: so
// many classes to go to weigh as much as that, and twice a penalty of about log K would leave
// hardly any move.
double Dlp::unadjusted(double penalty) const {
  if (domain_.kind() != Domain::Kind::categorical) return 2 * penalty;
  return std::max(penalty, 2 * penalty - std::log(domain_.max_levels() - 1.0));
}

std::unique_ptr<Sampler> Dlp::tuned(std::span<const double> value, Phase phase) const {
  DlpOptions options = options_;
  double penalty = penalty_of_scale(value[0]);
  if (phase == Phase::warmup) {
    options.adjust = true;
  } else if (!options.adjust) {
    penalty = unadjusted(penalty);
  }
  options.step_size = unit() / penalty;
  return std::make_unique<Dlp>(domain_, std::move(options));
}

// The passes over one row, whatever the domain.
class Dlp::Pass {
 public:
  Pass(const Dlp& dlp, Workspace& work)
      : two_level_(dlp.domain_.two_level()), dim_(dlp.domain_.dim()) {
    const bool uniform = dlp.penalty_.size() == 1;
    const auto half = static_cast<float>(dlp.domain_.spacing() / 2);
    if (two_level_) {
      flips_ = {half, dlp.penalty_single_.data(), uniform};
    } else {
      levels_ = {&dlp.domain_, half, dlp.penalty_single_.data(), uniform, dlp.options_.window};
      room_ = work.sampler_scratch.get<float>(0, ops::room_for_levels(dlp.domain_));
    }
  }

  ops::Proposed propose(const Symbol* x, const float* score, Symbol* y, const Stream& stream,
                        bool want_log_q) const {
    return two_level_ ? ops_.propose_two_level(flips_, dim_, x, score, y, stream, want_log_q)
                      : ops_.propose_levels(levels_, x, score, y, stream, want_log_q, room_);
  }
  double log_q(const Symbol* from, const float* score, const Symbol* to) const {
    return two_level_ ? ops_.log_q_two_level(flips_, dim_, from, score, to)
                      : ops_.log_q_levels(levels_, from, score, to, room_);
  }

 private:
  const ops::Ops& ops_ = ops::active();
  bool two_level_;
  int dim_;
  ops::TwoLevelLaw flips_;
  ops::LevelsLaw levels_;
  float* room_ = nullptr;
};

void Dlp::step(const Target& target, Tile& tile, Workspace& work, std::span<StepInfo> info) const {
  const Pass pass(*this, work);
  const int rows = tile.rows();
  Tile& y = work.proposal;
  double* log_q = work.sampler_scratch.get<double>(1, static_cast<std::size_t>(rows));
  for (int r = 0; r < rows; ++r) {
    const ops::Proposed p = pass.propose(tile.x[r], tile.score[r], y.x[r],
                                         work.stream(tile, r, Purpose::propose), options_.adjust);
    log_q[r] = p.log_q;
    info[static_cast<std::size_t>(r)] = {1.0, p.changes, p.changes, true, !p.finite};
  }
  const bool want_logp = options_.adjust || work.want_logp;
  evaluate_proposals(target, tile, work, want_logp);
  if (options_.adjust) {
    for (int r = 0; r < rows; ++r) {
      const double log_ratio =
          y.logp[r] - tile.logp[r] + pass.log_q(y.x[r], y.score[r], tile.x[r]) - log_q[r];
      test_proposal(log_ratio, tile, r, work, info[static_cast<std::size_t>(r)]);
    }
  } else {
    std::swap(tile.x.data, y.x.data);
    std::swap(tile.score.data, y.score.data);
    std::swap(tile.target_cache.data, y.target_cache.data);
    std::swap(tile.logp, y.logp);
    tile.logp_current = want_logp;
  }
  ++tile.step;
}

void Dlp::log_probabilities(const Domain& domain, const Symbol* x, const double* score,
                            std::span<double> out) const {
  std::size_t begin = 0;
  for (int i = 0; i < domain.dim(); ++i) {
    const int levels = domain.levels(i);
    const std::span a = out.subspan(begin, static_cast<std::size_t>(levels));
    const double penalty = penalty_[penalty_.size() == 1 ? 0 : static_cast<std::size_t>(i)];
    for (int k = 0; k < levels; ++k) {
      const double step = k - x[i];
      double& logit = a[static_cast<std::size_t>(k)];
      if (domain.kind() == Domain::Kind::categorical) {
        const double* of_level = score + domain.score_begin(i);
        logit = (of_level[k] - of_level[x[i]]) / 2 - (k == x[i] ? 0.0 : penalty);
      } else {
        logit = score[i] * domain.spacing() * step / 2 - penalty * step * step;
        if (options_.window && std::abs(step) > options_.window) logit = -INFINITY;
      }
    }
    const double norm = log_sum_exp(a);
    for (double& v : a) v -= norm;
    begin += a.size();
  }
}

void Dlp::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                            std::span<double> acceptance) const {
  const auto law = [&](std::size_t s, std::span<double> out) {
    log_probabilities(table.domain(), table.state(s), table.score(s), out);
  };
  product_matrix(table, options_.adjust, law, matrix, acceptance);
}

namespace {

const std::vector<std::string> kParameters = {"step_size", "adapt", "precondition", "distance",
                                              "window"};

std::unique_ptr<Sampler> make_dlp(const Target& target, const Settings& settings, bool adjust) {
  DlpOptions options;
  options.adjust = adjust;
  options.step_size = number_setting(settings, "step_size");
  options.adapt = switch_setting(settings, "adapt");
  options.precondition = list_setting(settings, "precondition");
  options.window = integer_setting(settings, "window").value_or(0);
  options.distance = choice_setting(settings, "distance", {"index", "value"}) == 0
                         ? DlpOptions::Distance::index
                         : DlpOptions::Distance::value;
  return std::make_unique<Dlp>(target.domain(), std::move(options));
}

}  // namespace

SamplerEntry dmala_entry() {
  return {"dmala", "discrete Langevin proposal with the Metropolis test: exact", kParameters,
          [](const Target& t, const Settings& s) { return make_dlp(t, s, true); }};
}

SamplerEntry dula_entry() {
  return {"dula",
          "discrete Langevin proposal, unadjusted: faster, with a bias that grows with step_size",
          kParameters, [](const Target& t, const Settings& s) { return make_dlp(t, s, false); }};
}

}  // namespace saltus
