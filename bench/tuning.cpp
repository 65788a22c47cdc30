// Which rule should warm-up tune by? Runs samplers at a range of values of their tuned parameter
// and says what each rule would settle on and what that is worth: effective sample size per step
// and accepted changes per step, against the best of the range. No figure depends on the clock.
#include <fmt/core.h>

#include <cmath>
#include <functional>

#include "bench/models.hpp"
#include "saltus/run/batch_means.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"

using namespace saltus;

namespace {

constexpr int kChains = 8, kCoordinates = 64;
constexpr double kStride = 0.4;  // of the tuned scale

// Sums over steps. k: coordinates that a proposal changes, a: its acceptance probability.
struct Sums {
  double steps = 0, nonempty = 0, a = 0, a_nonempty = 0, k = 0, ka = 0;

  void add(const StepInfo& info) {
    const double size = info.proposed, accept = info.acceptance;
    ++steps, a += accept, k += size, ka += size * accept;
    if (info.proposed > 0) ++nonempty, a_nonempty += accept;
  }
};

class RecordSteps final : public Recorder {
 public:
  void record(const Tile&, std::span<const StepInfo> info, std::uint64_t) override {
    for (const StepInfo& i : info) sums.add(i);
  }
  bool wants_logp() const override { return false; }
  void save(ByteWriter&) const override {}
  void restore(ByteReader&) override {}

  Sums sums;
};

// What a rule says at one value: positive means bolder.
struct Rule {
  const char* name;
  std::function<double(const Sums&, double goal)> error;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> list = {
      {"all", [](const Sums& s, double goal) { return s.a / s.steps - goal; }},
      {"nonempty",
       [](const Sums& s, double goal) {
         return s.nonempty > 0 ? s.a_nonempty / s.nonempty - goal : 1.0;
       }},
  };
  return list;
}

struct Point {
  double value;  // on the tuned scale
  double parameter;
  Sums sums;
  double ess;  // per step of one chain
  double changes() const { return sums.ka / sums.steps; }
};

struct Case {
  std::string name, sampler;
  std::unique_ptr<Target> target;
  std::uint64_t steps;
};

double number(const Sampler& sampler, const std::string& name) {
  for (const Parameter& p : sampler.parameters()) {
    if (p.name != name) continue;
    if (const double* v = std::get_if<double>(&p.value)) return *v;
    return static_cast<double>(std::get<std::int64_t>(p.value));
  }
  return NAN;
}

Point measure(const Case& c, const Sampler& sampler, double value, Rows<const Symbol> start) {
  RunPlan plan;
  plan.chains = kChains;
  plan.warmup = 0;
  plan.draws = c.steps;
  plan.threads = 1;
  std::vector<int> coordinates;
  const int dim = c.target->domain().dim(), count = std::min(dim, kCoordinates);
  for (int i = 0; i < count; ++i)
    coordinates.push_back(static_cast<int>(std::int64_t{i} * dim / count));
  BatchMeans means(c.target->domain(), kChains, coordinates);
  RecordSteps steps;
  auto tuned = sampler.tunable()->tuned(std::span(&value, 1), Tunable::Phase::draws);
  const double parameter = number(*tuned, sampler.tunable()->tuning()[0].parameter);
  Run run(*c.target, std::move(tuned), plan);
  run.add(means);
  run.add(steps);
  run.start(start);
  run.go();
  const double ess = means.estimate().ess_of_means;
  return {value, parameter, steps.sums,
          std::isnan(ess) ? 0 : ess / static_cast<double>(c.steps) / kChains};
}

// From where hardly anything is proposed to where hardly anything is accepted.
std::vector<Point> measure_range(const Case& c) {
  Settings settings;
  if (c.target->domain().unbounded()) settings["window"] = "1";
  if (c.sampler == "gwg") settings["adapt"] = "true";
  const auto sampler = make_sampler(c.sampler, *c.target, settings);
  RunPlan plan;
  plan.chains = kChains;
  plan.warmup = 1000;
  plan.draws = 1;
  plan.threads = 1;
  Run warm(*c.target, make_sampler(c.sampler, *c.target, settings), plan);
  warm.go();
  const int dim = c.target->domain().dim();
  const RowBuffer<Symbol> start(kChains, dim);
  for (int r = 0; r < kChains; ++r) std::copy_n(warm.state(r), dim, start.view()[r]);
  const Tuning tuning = sampler->tunable()->tuning()[0];
  std::vector<Point> list;
  for (double z = tuning.start; z >= std::max(tuning.low, tuning.start - 20); z -= kStride) {
    list.insert(list.begin(), measure(c, *sampler, z, start.view()));
    const Sums& s = list.front().sums;
    if (s.nonempty < 0.05 * s.steps || s.a > 0.97 * s.steps) break;
  }
  for (double z = tuning.start + kStride; z <= tuning.high; z += kStride) {
    list.push_back(measure(c, *sampler, z, start.view()));
    const Sums& s = list.back().sums;
    if (s.a < 0.03 * s.steps) break;
  }
  return list;
}

// Where the rule stops: between the points where its error changes from + to -, or at an end.
double settled(const std::vector<Point>& list, const Rule& rule, double goal) {
  for (std::size_t k = 0; k < list.size(); ++k) {
    const double e = rule.error(list[k].sums, goal);
    if (e > 0) continue;
    if (k == 0) return 0;
    const double before = rule.error(list[k - 1].sums, goal);
    return static_cast<double>(k - 1) + before / (before - e);
  }
  return static_cast<double>(list.size() - 1);
}

double at(const std::vector<Point>& list, double place,
          const std::function<double(const Point&)>& f) {
  const auto k = std::min(static_cast<std::size_t>(place), list.size() - 1);
  const std::size_t next = std::min(k + 1, list.size() - 1);
  const double part = place - static_cast<double>(k);
  return f(list[k]) * (1 - part) + f(list[next]) * part;
}

void report(const Case& c) {
  const std::vector<Point> list = measure_range(c);
  const auto ess = [](const Point& p) { return p.ess; };
  const auto changes = [](const Point& p) { return p.changes(); };
  const auto empty = [](const Point& p) { return 1 - p.sums.nonempty / p.sums.steps; };
  const auto accepted = [](const Point& p) { return p.sums.a / p.sums.steps; };
  double most_ess = 0, most_changes = 0;
  const Point* best = &list[0];
  for (const Point& p : list) {
    if (p.ess > most_ess) best = &p;
    most_ess = std::max(most_ess, p.ess), most_changes = std::max(most_changes, p.changes());
  }
  fmt::print(
      "{:<16} {:<6} best at {:8.3g} (acceptance {:.2f}, empty {:.2f}), ess/step {:.2e}, {:8.3g} "
      "changes\n",
      c.name, c.sampler, best->parameter, accepted(*best), empty(*best), most_ess, most_changes);
  const auto row = [&](const std::string& name, const Rule& rule, double goal) {
    const double place = settled(list, rule, goal);
    fmt::print("  {:<10} {:8.3g}  acceptance {:.2f}  empty {:.2f}  ess {:.2f}  changes {:.2f}\n",
               name, at(list, place, [](const Point& p) { return p.parameter; }),
               at(list, place, accepted), at(list, place, empty), at(list, place, ess) / most_ess,
               at(list, place, changes) / most_changes);
  };
  for (const Rule& rule : rules()) row(rule.name, rule, c.sampler == "rwm" ? 0.237 : 0.574);
  if (c.sampler == "rmala") row("all, 0.234", rules()[0], 0.234);
  const auto most = std::max_element(list.begin(), list.end(), [](const Point& a, const Point& b) {
    return a.changes() < b.changes();
  });
  fmt::print("  {:<10} {:8.3g}  acceptance {:.2f}  empty {:.2f}  ess {:.2f}  changes {:.2f}\n",
             "changes", most->parameter, accepted(*most), empty(*most), most->ess / most_ess, 1.0);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  const struct {
    const char* name;
    std::unique_ptr<Target> (*make)();
    std::uint64_t steps;
  } models[] = {
      {"lattice-2", [] { return bench::lattice(2); }, 20000},
      {"lattice-5", [] { return bench::lattice(5); }, 8000},
      {"lattice-32", [] { return bench::lattice(32); }, 2000},
      {"graph-300", [] { return bench::random_graph(300, 6); }, 3000},
      {"dense-100", [] { return bench::dense_spins(100); }, 3000},
      {"ordered-100", [] { return bench::ordered_ring(100, 5); }, 3000},
      {"potts-12", [] { return bench::potts_grid(12, 4); }, 3000},
      {"words-20", [] { return bench::words(20, 100); }, 3000},
      {"poisson-50", [] { return bench::poisson(50); }, 3000},
      {"rbm-196", [] { return bench::rbm(196, 50); }, 3000},
      {"steep-rbm", [] { return bench::rbm(196, 50, 6); }, 3000},
      {"frozen-rbm", [] { return bench::rbm(196, 50, 40); }, 2000},
      {"frozen-dense", [] { return bench::dense_spins(100, 10); }, 2000},
      {"cold-dense", [] { return bench::dense_spins(100, 2); }, 3000},
  };
  for (const auto& m : models) {
    for (const char* sampler : {"dmala", "dlmc", "rwm", "rmala"}) {
      if (!only.empty() && only != m.name && only != sampler) continue;
      Case c{m.name, sampler, m.make(), m.steps};
      const auto known = samplers_for(*c.target);
      if (std::find(known.begin(), known.end(), sampler) == known.end()) continue;
      report(c);
    }
  }
}
