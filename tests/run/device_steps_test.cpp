// The steps that the GPU makes, made by a team of one thread: the same states as the samplers.
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "cuda/chains/chain_steps.hpp"
#include "cuda/chains/served.hpp"
#include "fake_device.hpp"
#include "saltus/anneal/annealing.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/sampler/registry.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

using namespace cuda;

constexpr int kChains = 5;
constexpr std::uint64_t kSeed = 91;

std::unique_ptr<Rbm> random_rbm(int visible, int hidden) {
  const Stream stream(5, 0, 0, Purpose::check);
  std::uint32_t next = 0;
  const auto numbers = [&](int count, double size) {
    std::vector<double> list(static_cast<std::size_t>(count));
    for (double& v : list) v = size * (2 * stream.uniform(next++) - 1);
    return list;
  };
  return std::make_unique<Rbm>(numbers(visible * hidden, 1), numbers(visible, 1),
                               numbers(hidden, 1));
}

// A team of threads that wait for one another as those of a GPU's block do.
class ThreadTeam {
 public:
  static constexpr int kMembers = 3;
  struct Memory {
    std::barrier<> barrier{kMembers};
    double values[kMembers][4];
  };
  ThreadTeam(Memory& memory, int rank) : memory_(memory), rank_(rank) {}
  int rank() const { return rank_; }
  int size() const { return kMembers; }

  template <std::size_t n>
  void sum(double (&v)[n]) const {
    static_assert(n <= 4);
    exchange([&](double* mine) { std::copy_n(v, n, mine); });
    for (std::size_t k = 0; k < n; ++k) {
      v[k] = 0;
      for (const auto& of : memory_.values) v[k] += of[k];
    }
  }
  float max(float v) const {
    exchange([&](double* mine) { *mine = double{v}; });
    for (const auto& of : memory_.values) v = fmaxf(v, static_cast<float>(of[0]));
    return v;
  }
  int min(int v) const {
    exchange([&](double* mine) { *mine = v; });
    for (const auto& of : memory_.values) v = std::min(v, static_cast<int>(of[0]));
    return v;
  }
  double before(double own, double& up_to) const {
    exchange([&](double* mine) { *mine = own; });
    double sum = 0;
    for (int m = 0; m < rank_; ++m) sum += memory_.values[m][0];
    up_to = sum + own;
    return sum;
  }
  int share(int v, int from) const {
    exchange([&](double* mine) { *mine = v; });
    return static_cast<int>(memory_.values[from][0]);
  }

 private:
  template <class Write>
  void exchange(Write&& write) const {
    memory_.barrier.arrive_and_wait();
    write(memory_.values[rank_]);
    memory_.barrier.arrive_and_wait();
  }
  Memory& memory_;
  int rank_;
};

// All arrays of ChainArrays, here.
struct Arrays {
  ChainArrays view{};
  std::vector<float> x, score, y, y_score;
  std::vector<double> logp, y_logp, base, y_base, log_q;
  std::vector<std::uint32_t> changes;
  std::vector<std::int32_t> site;
  std::vector<std::uint8_t> nonfinite;
  const Target& target;
  bool team;
  Scratch scratch;

  explicit Arrays(const Target& of, bool as_team = false) : target(of), team(as_team) {
    const Domain& domain = of.domain();
    const std::size_t n = kChains, all = n * static_cast<std::size_t>(domain.dim());
    for (auto* rows : {&x, &score, &y, &y_score}) rows->resize(all);
    for (auto* list : {&logp, &y_logp, &base, &y_base, &log_q}) list->resize(n);
    changes.resize(n), site.resize(n), nonfinite.resize(n);
    view = {
        kChains,
        {domain.dim(), static_cast<float>(domain.value(0)), static_cast<float>(domain.value(1))},
        x.data(),
        score.data(),
        y.data(),
        y_score.data(),
        logp.data(),
        y_logp.data(),
        base.data(),
        y_base.data(),
        log_q.data(),
        changes.data(),
        site.data(),
        nonfinite.data()};
  }
  void start(const Ensemble& ensemble) {
    for (int r = 0; r < kChains; ++r) {
      for (int i = 0; i < view.levels.dim; ++i) {
        x[static_cast<std::size_t>(view.row(r) + i)] =
            static_cast<float>(target.domain().value(ensemble.state(r)[i]));
      }
    }
    evaluate(x, logp, &score);
  }
  void evaluate(const std::vector<float>& values, std::vector<double>& l, std::vector<float>* s) {
    RowBuffer<Symbol> symbols(kChains, view.levels.dim);
    RowBuffer<float> scores(kChains, view.levels.dim);
    for (int r = 0; r < kChains; ++r) {
      for (int i = 0; i < view.levels.dim; ++i) {
        symbols.view()[r][i] = view.levels.upper(values[static_cast<std::size_t>(view.row(r) + i)]);
      }
    }
    target.evaluate({0, 0, scratch}, symbols.view(), l.data(), s ? scores.view() : Rows<float>{});
    for (int r = 0; s && r < kChains; ++r) {
      std::copy_n(scores.view()[r], view.levels.dim, s->data() + view.row(r));
    }
  }
  // body(team, r) for all chains, by one thread or by a team.
  template <class Body>
  void each(const Body& body) const {
    if (!team) {
      for (int r = 0; r < kChains; ++r) body(HostTeam{}, r);
      return;
    }
    ThreadTeam::Memory memory;
    std::vector<std::jthread> threads;
    for (int m = 0; m < ThreadTeam::kMembers; ++m) {
      threads.emplace_back([&, m] {
        for (int r = 0; r < kChains; ++r) body(ThreadTeam(memory, m), r);
      });
    }
  }
  // One step of all chains.
  void step(const std::string& sampler, const Control& k, int o) {
    if (sampler == "dula") {
      const bool last = o % 2 == 0;  // recorded at once, or after the evaluation
      each([&](const auto& t, int r) {
        last ? move_langevin<true>(t, view, k, o, r) : move_langevin<false>(t, view, k, o, r);
      });
      evaluate(x, logp, &score);
      if (!last) each([&](const auto& t, int r) { record_langevin(t, view, k, o, r); });
    } else if (sampler == "dmala") {
      each([&](const auto& t, int r) { propose_langevin(t, view, k, o, r); });
      evaluate(y, y_logp, &y_score);
      each([&](const auto& t, int r) { accept_langevin(t, view, k, o, r); });
    } else if (sampler == "gwg") {
      each([&](const auto& t, int r) { propose_site(t, view, k, o, r); });
      evaluate(y, y_logp, &y_score);
      each([&](const auto& t, int r) { accept_site(t, view, k, o, r); });
    } else {
      each([&](const auto& t, int r) { propose_gibbs(t, view, k, o, r); });
      evaluate(y, y_logp, nullptr);
      each([&](const auto& t, int r) { settle_gibbs(t, view, k, o, r); });
    }
  }
};

struct Steps final : StepObserver {
  std::vector<Symbol> states;
  std::vector<StepInfo> info;
  std::vector<double> logp;
  bool wants_logp(std::uint64_t) const override { return true; }
  void after_step(const Tile& tile, std::span<const StepInfo> of, std::uint64_t) override {
    for (int r = 0; r < tile.rows(); ++r) {
      states.insert(states.end(), tile.x[r], tile.x[r] + tile.x.cols);
      logp.push_back(tile.logp[r]);
    }
    info.insert(info.end(), of.begin(), of.end());
  }
};

Control control_for(const Sampler& sampler, std::uint64_t step) {
  Control control{};
  control.seed = kSeed;
  control.step = step;
  control.first_chain = 7;
  const std::span<const float> penalty = serve(sampler).penalty;
  control.penalty = penalty.data();
  control.uniform_penalty = penalty.size() == 1;
  return control;
}

// The way to the model from a base, of which `slope` must live on.
void enter(const Independent& base, std::span<const double> betas, int steps_per_beta,
           std::vector<double>& slope, Control& control) {
  for (int i = 0; i < base.domain().dim(); ++i) {
    slope.push_back(base.score(i, 0));
    control.base_of_low += base.log_probability(i, 0);
  }
  control.betas = betas.data(), control.base_slope = slope.data();
  control.steps_per_beta = steps_per_beta;
}

Independent uneven_base(const Domain& domain) {
  std::vector<double> upper;
  for (int i = 0; i < domain.dim(); ++i) upper.push_back(0.2 + 0.6 * i / domain.dim());
  return Independent::bernoulli(domain, upper);
}

struct Case {
  std::string sampler;
  Settings settings;
};

void compare(const Target& model, const Case& c, bool as_team, double beta) {
  SCOPED_TRACE(model.name() + ", " + c.sampler + (as_team ? ", a team" : "") + ", beta " +
               std::to_string(beta));
  constexpr int kSteps = 200;
  constexpr std::uint64_t kFirst = (std::uint64_t{3} << 32) + 11;  // both words of the counter
  const FakeDeviceTarget target(model, "");
  const auto sampler = make_sampler(c.sampler, target, c.settings);
  const int dim = target.domain().dim();

  const auto base = std::make_shared<const Independent>(uneven_base(target.domain()));
  Ensemble ensemble({{&target, kChains, base, beta}}, {kSeed, 1, kChains, 7});
  ensemble.start_random();
  RowBuffer<Symbol> start(kChains, dim);
  for (int r = 0; r < kChains; ++r) std::copy_n(ensemble.state(r), dim, start.view()[r]);
  ensemble.start_from(start.view(), kFirst);
  ensemble.evaluate();
  Arrays arrays(target, as_team);
  arrays.start(ensemble);
  Steps expected;
  ensemble.advance(*sampler, kSteps, expected);

  Control control = control_for(*sampler, kFirst);
  const double betas[] = {beta, beta};
  std::vector<double> slope;
  if (beta < 1) {
    enter(*base, betas, kSteps, slope, control);
    arrays.each([&](const auto& t, int r) { start_way(t, arrays.view, control, 0, r); });
  }
  const auto sites = sites_of(serve(*sampler), target.domain(), kSeed, kFirst, kSteps);
  if (!sites.empty()) control.sites = sites.data();
  std::vector<StepInfo> info(std::size_t{kSteps} * kChains);
  std::vector<double> logp(info.size());
  std::vector<std::int32_t> places(kSteps, -1);
  for (int k = 0; k < kSteps; k += 2) places[static_cast<std::size_t>(k)] = k / 2;
  control.stride = dim + 3;
  std::vector<Symbol> states(logp.size() / 2 * static_cast<std::size_t>(control.stride));
  control.info = info.data(), control.logp = logp.data();
  control.places = places.data(), control.states = states.data();
  for (int k = 0; k < kSteps; k += 4) {  // as a graph of four steps does
    for (int offset = 0; offset < 4; ++offset) arrays.step(c.sampler, control, offset);
    control.step += 4, control.slot += 4;
  }
  for (std::size_t n = 0; n < info.size(); ++n) {
    const std::size_t step = n / kChains, chain = n % kChains;
    ASSERT_EQ(info[n].accepted, expected.info[n].accepted) << "step " << step;
    ASSERT_EQ(info[n].proposed, expected.info[n].proposed) << "step " << step;
    ASSERT_EQ(info[n].changed, expected.info[n].changed) << "step " << step;
    ASSERT_NEAR(info[n].acceptance, expected.info[n].acceptance, 1e-4) << "step " << step;
    if (c.sampler != "dula" || step % 2 != 0) {
      ASSERT_NEAR(logp[n], expected.logp[n], 1e-9) << "step " << step;
    }
    if (step % 2 != 0) continue;
    const Symbol* row =
        states.data() + (step / 2 * kChains + chain) * static_cast<std::size_t>(control.stride);
    ASSERT_TRUE(std::equal(row, row + dim, expected.states.data() + n * static_cast<unsigned>(dim)))
        << "step " << step;
  }
}

const std::vector<Case> kCases = {{"dmala", {{"step_size", "0.4"}}},
                                  {"dula", {{"step_size", "0.3"}}},
                                  {"gwg", {}},
                                  {"gibbs", {{"scan", "random"}}},
                                  {"gibbs", {{"scan", "systematic"}}},
                                  {"gibbs", {{"scan", "permutation"}}}};

TEST(DeviceSteps, AreThoseOfTheSamplers) {
  const auto rbm = random_rbm(70, 9);
  const IsingLattice spins(3, 4, true, 0.3, 0.1);
  for (const Case& c : kCases) {
    for (double beta : {0.3, 0.7, 1.0}) {
      for (bool as_team : {false, true}) {
        compare(*rbm, c, as_team, beta);
        compare(spins, c, as_team, beta);
      }
    }
  }
}

// Drawn ahead or summed anew, log p_0 has the same bits: no draw depends on where blocks end.
TEST(DeviceSteps, KeepTheBaseAsAFunctionOfTheState) {
  const auto rbm = random_rbm(70, 9);
  const Independent base = uneven_base(rbm->domain());
  const double betas[] = {0.5, 0.5};
  for (const Case& c : kCases) {
    for (bool as_team : {false, true}) {
      SCOPED_TRACE(c.sampler + (as_team ? ", a team" : ""));
      const auto sampler = make_sampler(c.sampler, *rbm, c.settings);
      Ensemble ensemble(*rbm, kChains, 0, 1, kSeed);
      ensemble.start_random();
      Arrays arrays(*rbm, as_team);
      arrays.start(ensemble);
      Control control = control_for(*sampler, 0);
      std::vector<double> slope;
      enter(base, betas, 60, slope, control);
      const auto sites = sites_of(serve(*sampler), rbm->domain(), kSeed, 0, 60);
      if (!sites.empty()) control.sites = sites.data();
      const auto sum_anew = [&] {
        arrays.each([&](const auto& t, int r) { start_way(t, arrays.view, control, 0, r); });
      };
      sum_anew();
      const std::vector<double> first = arrays.base;
      for (int k = 0; k < 60; ++k) arrays.step(c.sampler, control, k);
      const std::vector<double> carried = arrays.base;
      EXPECT_NE(carried, first);
      sum_anew();
      EXPECT_EQ(arrays.base, carried);
    }
  }
}

// What the kernels do not know runs on the host.
TEST(DeviceSteps, LeaveOtherProposalsToTheHost) {
  const auto rbm = random_rbm(6, 3);
  DlpOptions options;
  EXPECT_TRUE(serve(Dlp(rbm->domain(), options)).kernel);
  options.balancing_exponent = 0.8;
  EXPECT_FALSE(serve(Dlp(rbm->domain(), options)).kernel);
  DlpOptions cycle;
  cycle.cycle = StepCycle{5, 3, 1};
  EXPECT_FALSE(serve(Dlp(Domain::ordered(6, 4), cycle)).kernel);
}

TEST(DeviceSteps, UseAFactorForEachCoordinate) {
  const auto rbm = random_rbm(6, 3);
  DlpOptions options;
  options.step_size = 0.4;
  options.precondition = {1, 2, 0.5, 3, 1, 0.7};
  const Dlp dlp(rbm->domain(), options);
  Control control = control_for(dlp, 0);
  EXPECT_FALSE(control.uniform_penalty);
  Arrays arrays(*rbm);
  Ensemble ensemble(*rbm, kChains, 0, 1, kSeed);
  ensemble.start_random();
  arrays.start(ensemble);
  for (int i = 0; i < 6; ++i) {
    const std::size_t n = static_cast<std::size_t>(i);
    const double drift = 0.5 * double{arrays.score[n]} * (arrays.x[n] == 1 ? -1 : 1);
    EXPECT_NEAR(flip_law(arrays.view, control, 0).logit(i, arrays.x[n], arrays.score[n]),
                drift - 0.5 / (0.4 * options.precondition[n]), 1e-6);
  }
}

TEST(DeviceSteps, AnnealAsOnTheHost) {
  const auto rbm = random_rbm(10, 4);
  const IsingLattice spins(3, 3, true, 0.3, 0.1);
  for (const Target* model :
       {static_cast<const Target*>(rbm.get()), static_cast<const Target*>(&spins)}) {
    for (const Case& c : kCases) {
      if (c.sampler == "dula") continue;
      SCOPED_TRACE(model->name() + ", " + c.sampler);
      const FakeDeviceTarget target(*model, "");
      const int dim = target.domain().dim();
      const Independent base = uneven_base(target.domain());
      const Tempered path(target, base);
      const auto sampler = make_sampler(c.sampler, path, c.settings);
      AnnealingPlan plan;
      plan.betas = linear_betas(30);
      plan.steps_per_beta = 3;
      plan.chains = kChains;
      plan.seed = kSeed;
      Annealing annealing(path, *sampler, plan, Annealing::Direction::forward);
      annealing.start();
      ASSERT_TRUE(annealing.go());

      Arrays arrays(target);
      RowBuffer<Symbol> states(kChains, dim);
      for (int r = 0; r < kChains; ++r) {
        base.draw(Stream(kSeed, static_cast<std::uint32_t>(r), 0, Purpose::start),
                  states.view()[r]);
      }
      Ensemble ensemble(target, kChains, 0, 1, kSeed);
      ensemble.start_from(states.view());
      arrays.start(ensemble);
      Control control = control_for(*sampler, 0);
      control.first_chain = 0;
      const auto sites = sites_of(serve(*sampler), target.domain(), kSeed, 0, 28 * 3);
      if (!sites.empty()) control.sites = sites.data();
      std::vector<double> slope, weights(kChains), acceptance(kChains);
      enter(base, plan.betas, plan.steps_per_beta, slope, control);
      control.log_weights = weights.data(), control.acceptance = acceptance.data();
      for (int r = 0; r < kChains; ++r) start_way(HostTeam{}, arrays.view, control, 0, r);
      for (int k = 0; k < 28 * 3; ++k) arrays.step(c.sampler, control, k);
      for (int r = 0; r < kChains; ++r) weigh(arrays.view, control, r, 28);
      double sum = 0;
      for (int r = 0; r < kChains; ++r) {
        const auto n = static_cast<std::size_t>(r);
        EXPECT_NEAR(weights[n], annealing.log_weights()[n], 1e-5);
        sum += acceptance[n];
      }
      EXPECT_NEAR(sum / (28 * 3 * kChains), annealing.acceptance(), 1e-5);
    }
  }
}

TEST(DeviceSteps, RejectWhatIsNotFinite) {
  const StepInfo info = tested(NAN, 0.5, 3);
  EXPECT_TRUE(info.nonfinite);
  EXPECT_FALSE(info.accepted);
  EXPECT_EQ(info.acceptance, 0);
  EXPECT_TRUE(tested(-INFINITY, 0.5, 3).nonfinite);
  EXPECT_EQ(draw_of_two(0, NAN, 0.5), -1);
  EXPECT_EQ(draw_of_two(NAN, NAN, 0.5), -1);
  EXPECT_EQ(draw_of_two(INFINITY, 0, 0.5), -1);
  EXPECT_EQ(draw_of_two(-3, -INFINITY, 0.999), 0);
  EXPECT_EQ(draw_of_two(-INFINITY, -3, 0.001), 1);
  EXPECT_EQ(draw_of_two(1000, 2000, 0.001), 1);

  const SiteLaw law{{3, 0, 1}, {}};
  const float x[3] = {0, 1, 0}, bad[3] = {0, NAN, 1}, none[3] = {-INFINITY, INFINITY, -INFINITY};
  for (const float* score : {bad, none}) {
    const SiteSums sums = weigh_sites(HostTeam{}, law, x, score);
    EXPECT_EQ(draw_site(HostTeam{}, law, sums, 0.5, x, score), -1);
  }
}

}  // namespace
}  // namespace saltus
