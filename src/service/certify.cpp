#include "saltus/certify.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/core/parallel.hpp"
#include "saltus/core/stopwatch.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/run/run.hpp"

namespace saltus {
namespace {

constexpr std::uint32_t kFirstPilot = 0x80000000u;  // numbers of pilot pairs
constexpr int kPilotPairs = 200;
constexpr double kLagQuantile = 0.9, kWindowQuantile = 0.99;
constexpr std::uint64_t kWindowFactor = 5;  // the window ends at this many times its beginning
// What happens to one pair in n does, with 95 % confidence, show in 3 n pairs.
constexpr double kPairsBelow = 3;
constexpr int kCoordinates = 8, kCurvePoints = 20;
constexpr std::size_t kDistanceStates = 512;
constexpr double kDistanceWork = 1e9;

std::uint64_t quantile_of(const std::vector<std::uint64_t>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double place = std::ceil(share * static_cast<double>(sorted.size())) - 1;
  return sorted[static_cast<std::size_t>(std::max(0.0, place))];
}

Settings settings_of(const CertifyRequest& request) {
  Settings settings = request.settings;
  if (request.sampler == "gibbs" && !settings.count("updates") && !settings.count("scan")) {
    settings["updates"] = "sweep";
    settings["scan"] = "permutation";
  }
  return settings;
}

// Warm-up as before draws, and the sampler that it ends with.
class Tuned {
 public:
  Tuned(const CertifyRequest& request, std::shared_ptr<const Sampler> sampler)
      : sampler_(std::move(sampler)) {
    if (!sampler_->tunable() || !sampler_->exact()) return;
    RunPlan plan;
    plan.warmup = request.warmup;
    plan.draws = 0;
    plan.seed = request.seed;
    plan.threads = request.threads;
    run_ = std::make_unique<Run>(*request.target, sampler_, plan);
    run_->go();
  }
  bool tuned() const { return run_ != nullptr; }
  const Sampler& sampler() const { return run_ ? run_->sampler() : *sampler_; }

 private:
  std::shared_ptr<const Sampler> sampler_;
  std::unique_ptr<Run> run_;
};

// All pairs of a plan, dealt to threads.
class Pairs {
 public:
  Pairs(const CertifyRequest& request, const CoupledKernel& kernel, const CertifyProgress& progress)
      : target_(*request.target),
        kernel_(kernel),
        pool_(useful_threads(request.threads, request.pairs)),
        progress_(progress) {}

  // By pair; fewer than asked for when the caller stops the work.
  std::vector<Meeting> run(const MeetingPlan& plan, std::uint32_t first, int pairs, bool pilot) {
    std::vector<Meeting> meetings;
    while (static_cast<int>(meetings.size()) < pairs) {
      const int done = static_cast<int>(meetings.size());
      const int more = std::min(4 * pool_.threads(), pairs - done);
      meetings.resize(meetings.size() + static_cast<std::size_t>(more));
      pool_.for_each(more, [&](int task, int) {
        const auto pair = static_cast<std::uint32_t>(done + task);
        meetings[pair] = run_pair(target_, kernel_, first + pair, plan);
      });
      if (progress_ && !progress_({pilot, done + more, pairs})) break;
    }
    return meetings;
  }

 private:
  const Target& target_;
  const CoupledKernel& kernel_;
  ThreadPool pool_;
  const CertifyProgress& progress_;
};

std::vector<std::uint64_t> times_of(const std::vector<Meeting>& meetings) {
  std::vector<std::uint64_t> times;
  for (const Meeting& m : meetings) {
    if (m.time) times.push_back(*m.time);
  }
  std::sort(times.begin(), times.end());
  return times;
}

// Some coordinates, evenly spread.
std::vector<int> spread_coordinates(int dim) {
  std::vector<int> list;
  const int count = std::min(dim, kCoordinates);
  for (int c = 0; c < count; ++c) {
    list.push_back(static_cast<int>(std::int64_t{c} * dim / count));
  }
  return list;
}

// Lag and window from pilot pairs with a lag of 1. Where some of them do not meet, neither can be
// chosen: a lag of 1 then, and no means. False when the caller stopped the work.
bool plan_by_pilot(const CertifyRequest& request, Pairs& pairs, MeetingPlan& plan) {
  const int count = std::min(kPilotPairs, request.pairs);
  const std::vector<Meeting> meetings = pairs.run(plan, kFirstPilot, count, true);
  if (static_cast<int>(meetings.size()) < count) return false;
  const std::vector<std::uint64_t> times = times_of(meetings);
  const bool all_met = static_cast<int>(times.size()) == count;
  const std::uint64_t lag = all_met ? quantile_of(times, kLagQuantile) : 1;
  plan.lag = request.lag.value_or(std::max<std::uint64_t>(1, lag));
  if (!all_met) return true;
  const std::uint64_t first = std::max<std::uint64_t>(1, quantile_of(times, kWindowQuantile));
  plan.window = EstimateWindow{first, kWindowFactor * first};
  plan.coordinates = spread_coordinates(request.target->domain().dim());
  return true;
}

// The first step at which the bound is below `limit`; it falls with the step.
std::uint64_t first_below(const std::vector<std::uint64_t>& times, std::uint64_t lag,
                          double limit) {
  std::uint64_t low = 0, high = times.back();  // where it is 0
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    (distance_bound(times, lag, middle).bound < limit) ? high = middle : low = middle + 1;
  }
  return low;
}

void add_bounds(CertifyResult& r) {
  const auto points = static_cast<std::uint64_t>(kCurvePoints);
  for (std::uint64_t p = 0; p <= points; ++p) {
    const std::uint64_t step = r.times.back() * p / points;
    if (!r.curve.empty() && r.curve.back().step == step) continue;
    r.curve.push_back({step, distance_bound(r.times, r.lag, step), std::nullopt});
  }
  const auto below = [&](double limit) -> std::optional<std::uint64_t> {
    if (r.pairs * limit < kPairsBelow) return std::nullopt;
    return first_below(r.times, r.lag, limit);
  };
  r.below_quarter = below(0.25);
  r.below_hundredth = below(0.01);
}

void add_means(const MeetingPlan& plan, const std::vector<Meeting>& meetings, CertifyResult& r) {
  r.window = plan.window;
  if (!plan.window) return;
  const auto n = static_cast<double>(meetings.size());
  for (std::size_t c = 0; c <= plan.coordinates.size(); ++c) {
    double sum = 0, squares = 0;
    for (const Meeting& m : meetings) sum += m.estimates[c];
    const double mean = sum / n;
    for (const Meeting& m : meetings) squares += (m.estimates[c] - mean) * (m.estimates[c] - mean);
    const int coordinate = c < plan.coordinates.size() ? plan.coordinates[c] : -1;
    r.means.push_back({coordinate, mean, std::sqrt(squares / (n * std::max(1.0, n - 1))), {}});
  }
}

// Half the sum of differences between the law after each step of the curve, from the uniform law,
// and the model.
void add_exact_distances(const Sampler& sampler, const StateTable& table, CertifyResult& r) {
  const std::size_t n = table.size();
  const double work = static_cast<double>(n * n) * static_cast<double>(r.curve.back().step);
  if (!sampler.enumerable() || sampler.enumerable()->phases(table.domain()) != 1 ||
      work > kDistanceWork) {
    return;
  }
  const RowBuffer<double> matrix(static_cast<int>(n), static_cast<int>(n));
  std::vector<double> acceptance(n), law(n, 1 / static_cast<double>(n)), next(n);
  sampler.enumerable()->transition_matrix(table, {}, matrix.view(), acceptance);
  std::uint64_t step = 0;
  for (BoundAt& at : r.curve) {
    for (; step < at.step; ++step) {
      std::fill(next.begin(), next.end(), 0.0);
      for (std::size_t x = 0; x < n; ++x) {
        for (std::size_t y = 0; y < n; ++y)
          next[y] += law[x] * matrix.view()[static_cast<int>(x)][y];
      }
      law.swap(next);
    }
    double sum = 0;
    for (std::size_t x = 0; x < n; ++x) sum += std::abs(law[x] - table.probability()[x]);
    at.exact = sum / 2;
  }
}

void add_exact_answers(const Target& target, const Sampler& sampler, CertifyResult& r) {
  if (!target.domain().states(kDistanceStates)) return;
  const StateTable table(target);
  const std::vector<double> means = table.means(table.probability());
  for (UnbiasedMean& m : r.means) {
    if (m.coordinate >= 0) m.exact = means[static_cast<std::size_t>(m.coordinate)];
  }
  add_exact_distances(sampler, table, r);
}

}  // namespace

std::uint64_t CertifyResult::quantile(double share) const {
  return quantile_of(times, share);
}

CertifyResult certify(const CertifyRequest& request, const CertifyProgress& progress) {
  if (!request.target) throw UsageError("there is no target to couple chains on");
  if (request.pairs < 2) throw UsageError("a certificate needs at least two pairs");
  if (request.lag && *request.lag < 1) throw UsageError("the lag must be at least 1");
  if (request.max_steps < 1) throw UsageError("max_steps must be at least 1");
  const Stopwatch watch;
  const Target& target = *request.target;
  const std::shared_ptr<const Sampler> chosen =
      make_sampler(request.sampler, target, settings_of(request));
  make_coupled_kernel(target, *chosen);  // refuses before the warm-up
  const Tuned tuned(request, chosen);
  const Sampler& sampler = tuned.sampler();
  const std::unique_ptr<CoupledKernel> kernel = make_coupled_kernel(target, sampler);
  CertifyResult r;
  r.sampler = sampler.name();
  r.parameters = sampler.parameters();
  r.tuned = tuned.tuned();
  r.pairs = request.pairs;
  MeetingPlan plan;
  plan.seed = request.seed;
  plan.max_steps = r.max_steps = request.max_steps;
  Pairs pairs(request, *kernel, progress);
  if (!plan_by_pilot(request, pairs, plan)) return r;
  r.lag = plan.lag;
  const std::vector<Meeting> meetings = pairs.run(plan, 0, request.pairs, false);
  r.complete = static_cast<int>(meetings.size()) == request.pairs;
  r.times = times_of(meetings);
  r.unmet = static_cast<int>(meetings.size() - r.times.size());
  if (r.certified()) {
    add_bounds(r);
    add_means(plan, meetings, r);
    add_exact_answers(target, sampler, r);
  }
  r.seconds = watch.seconds();
  return r;
}

}  // namespace saltus
