#include "reproduce/bnn/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reproduce/chains.hpp"
#include "saltus/core/stopwatch.hpp"
#include "saltus/cuda/module.hpp"
#include "saltus/target/binary_network.hpp"

namespace saltus::reproduce::bnn {
namespace {

constexpr double kTemperature = 100;  // of the released code: logp = -100 mean (f - y)^2

// The target of the chains, where they run, and what measures their networks there.
class Networks {
 public:
  Networks(const RegressionSet& set, const Scale& scale, int batch, Device device)
      : whole_(set.train, {scale.hidden, kTemperature, 0}),
        sampled_(whole_, {scale.hidden, kTemperature, batch}) {
    if (device == Device::cpu) return;
    const CudaModule& module = cuda_module("--device cuda");
    device_sampled_ = module.on_device(sampled_);
    if (batch > 0) device_whole_ = module.on_device(whole_);
  }

  const Target& target() const {
    if (device_sampled_) return *device_sampled_;
    return sampled_;
  }

  // The mean over networks of logp on all rows of data, over the temperature.
  double log_likelihood(Rows<const Symbol> x, ThreadPool& pool) const {
    std::vector<double> logp(static_cast<std::size_t>(x.rows));
    if (device_whole_) {
      Scratch scratch;
      device_whole_->evaluate({0, 0, scratch}, x, logp.data(), {});
    } else {
      std::vector<Scratch> scratch(static_cast<std::size_t>(pool.threads()));
      pool.for_each(x.rows, [&](int r, int thread) {
        const At at{0, 0, scratch[static_cast<std::size_t>(thread)]};
        whole_.evaluate(at, {x[r], 1, x.cols, x.stride}, &logp[static_cast<std::size_t>(r)], {});
      });
    }
    return mean_likelihood(logp);
  }
  static double mean_likelihood(std::span<const double> logp) {
    return measured(logp).mean / kTemperature;
  }

  double test_rmse(Rows<const Symbol> x, const RegressionRows& test, ThreadPool& pool) const {
    const auto* on_device = dynamic_cast<const NetworkPredictions*>(device_sampled_.get());
    const NetworkPredictions* network = &whole_;
    if (on_device) network = on_device;
    const RowBuffer<float> f(x.rows, test.rows());
    network->predict(x, test, f.view(), pool);
    double sum = 0;
    for (int k = 0; k < test.rows(); ++k) {
      double mean = 0;
      for (int r = 0; r < x.rows; ++r) mean += double{f.view()[r][k]} / x.rows;
      const double miss = mean - double{test.y[static_cast<std::size_t>(k)]};
      sum += miss * miss;
    }
    return std::sqrt(sum / test.rows());
  }

 private:
  BinaryNetwork whole_, sampled_;
  std::unique_ptr<Target> device_sampled_, device_whole_;
};

// Sums over steps, by chain: chains run on several threads.
class Watch final : public StepObserver {
 public:
  Watch(int chains, bool want_logp)
      : acceptance(static_cast<std::size_t>(chains)),
        changed(acceptance),
        logp(acceptance),
        want_logp_(want_logp) {}

  std::vector<double> acceptance, changed, logp;

  void begin(std::uint64_t steps) { last_ = steps - 1; }
  void forget() { acceptance = changed = std::vector<double>(changed.size()); }

  bool wants_logp(std::uint64_t step) const override { return want_logp_ && step == last_; }
  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t step) override {
    for (int r = 0; r < tile.rows(); ++r) {
      const std::size_t chain = tile.first_slot + static_cast<std::size_t>(r);
      acceptance[chain] += info[static_cast<std::size_t>(r)].acceptance;
      changed[chain] += info[static_cast<std::size_t>(r)].changed;
      if (wants_logp(step)) logp[chain] = tile.logp[r];
    }
  }

 private:
  bool want_logp_;
  std::uint64_t last_ = 0;
};

}  // namespace

Scale scale_of(const std::string& set, bool quick) {
  if (quick) return {10, 100, 201, 20};
  return {50, set == "blog" ? 100 : 500, 1001, 5};
}

std::vector<Entrant> entrants(const std::vector<double>& alphas) {
  std::vector<Entrant> list = {{"Gibbs", "gibbs", NAN, {{"scan", "random"}, {"updates", "1"}}},
                               {"GWG", "gwg", NAN, {{"flips", "1"}}}};
  for (const double alpha : alphas) {
    const std::string size = alpha == kPaperAlpha ? "" : fmt::format(" {:g}", alpha);
    list.push_back({"DULA" + size, "dula", alpha});
    list.push_back({"DMALA" + size, "dmala", alpha});
    for (const int batch : {10, 100, 500}) {
      list.push_back({fmt::format("DULA{}, batch {}", size, batch), "dula", alpha, {}, batch});
    }
  }
  return list;
}

Json key_of(const RegressionSet& set, const Entrant& entrant, const Scale& scale, Device device,
            std::uint64_t seed) {
  Json key = {{"set", set.name},
              {"rows", set.train.rows()},
              {"test_rows", set.test.rows()},
              {"features", set.train.features},
              {"sampler", entrant.sampler}};
  if (!std::isnan(entrant.alpha)) key["alpha"] = entrant.alpha;
  key["batch"] = entrant.batch;
  key["hidden"] = scale.hidden;
  key["chains"] = scale.chains;
  key["steps"] = scale.steps;
  key["every"] = scale.every;
  key["device"] = device == Device::cuda ? "cuda" : "cpu";
  key["seed"] = seed;
  return key;
}

Course run_cell(Context& context, const RegressionSet& set, const Entrant& entrant,
                const Scale& scale, std::uint64_t seed) {
  const Options& options = context.options();
  const Networks networks(set, scale, entrant.batch, options.device);
  const Target& target = networks.target();
  const auto sampler = entrant.make(target);
  ThreadPool pool(options.threads);
  Ensemble ensemble(target, scale.chains, 0, options.threads, seed);
  ensemble.start_random();
  ensemble.evaluate();
  Watch watch(scale.chains, entrant.batch == 0);
  Course course;
  double acceptance = 0;
  const std::uint64_t tail = scale.steps - scale.steps / 10;  // rounded up to a point of the curve
  std::uint64_t tail_steps = 0;
  for (std::uint64_t done = 0; done < scale.steps;) {
    context.progress(fmt::format("{}, {}, seed {}: step {} of {}", set.name, entrant.label, seed,
                                 done, scale.steps));
    const std::uint64_t steps = done == 0 ? 1 : std::min(scale.every, scale.steps - done);
    if (done < tail) watch.forget(), tail_steps = 0;
    const double before = measured(watch.acceptance).mean;
    watch.begin(steps);
    const Stopwatch clock;
    ensemble.advance(*sampler, steps, watch);
    course.seconds += clock.seconds();
    done += steps;
    tail_steps += steps;
    acceptance += measured(watch.acceptance).mean - before;
    const RowBuffer<Symbol> states = states_of(ensemble, target.domain().dim());
    course.log_likelihood.push_back(entrant.batch == 0
                                        ? Networks::mean_likelihood(watch.logp)
                                        : networks.log_likelihood(states.view(), pool));
    course.test_rmse.push_back(networks.test_rmse(states.view(), set.test, pool));
  }
  course.acceptance = acceptance / static_cast<double>(scale.steps);
  course.last_acceptance = measured(watch.acceptance).mean / static_cast<double>(tail_steps);
  course.last_changed = measured(watch.changed).mean / static_cast<double>(tail_steps);
  return course;
}

std::string Course::file_of(const Json& key) {
  std::string name = key["set"].get<std::string>() + "-" + key["sampler"].get<std::string>();
  if (key.contains("alpha")) name += fmt::format("-{:g}", key["alpha"].get<double>());
  if (key["batch"] != 0) name += fmt::format("-{}", key["batch"].get<int>());
  return fmt::format("{}-{}.json", name, key["seed"].get<std::uint64_t>());
}

// DULA with all data on COMPAS is in both tables, with 0.0003 and 0.0019: the larger counts.
std::optional<Published> published(const std::string& set, const std::string& entrant) {
  static const std::map<std::pair<std::string, std::string>, Published> table = {
      {{"compas", "Gibbs"},
       {{-0.4063, 0.0016}, {0.4718, 0.0022}, {-0.4123, -0.4049}, {0.4766, 0.4665}}},
      {{"compas", "GWG"},
       {{-0.3729, 0.0019}, {0.4757, 0.0008}, {-0.3647, -0.3809}, {0.4738, 0.4678}}},
      {{"compas", "DULA"},
       {{-0.3590, 0.0019}, {0.4879, 0.0024}, {-0.3551, -0.3597}, {0.4792, 0.4753}}},
      {{"compas", "DMALA"},
       {{-0.3394, 0.0016}, {0.4879, 0.0003}, {-0.3365, -0.3398}, {0.4895, 0.4845}}},
      {{"compas", "DULA, batch 10"},
       {{-0.4288, 0.0052}, {0.4929, 0.0052}, {-0.4348, -0.4275}, {0.5009, 0.4758}}},
      {{"compas", "DULA, batch 100"},
       {{-0.3689, 0.0027}, {0.4864, 0.0037}, {-0.3756, -0.3703}, {0.4775, 0.4846}}},
      {{"compas", "DULA, batch 500"},
       {{-0.3603, 0.0007}, {0.4848, 0.0015}, {-0.3674, -0.3644}, {0.4860, 0.4914}}},
      {{"news", "Gibbs"}, {{-0.2374, 0.0003}, {0.1048, 0.0025}, {-0.2365}, {0.1003}}},
      {{"news", "GWG"}, {{-0.2368, 0.0003}, {0.1028, 0.0023}, {-0.2368}, {0.1004}}},
      {{"news", "DULA"}, {{-0.2339, 0.0003}, {0.0971, 0.0012}, {-0.2355}, {0.1076, 0.0966}}},
      {{"news", "DMALA"},
       {{-0.2344, 0.0005}, {0.0943, 0.0009}, {-0.2352, -0.2355}, {0.0950, 0.0967}}},
      {{"news", "DULA, batch 10"}, {{-0.2355, 0.0002}, {0.1072, 0.0013}}},
      {{"news", "DULA, batch 100"}, {{-0.2342, 0.0001}, {0.0971, 0.0026}, {-0.2352}, {0.1028}}},
      {{"news", "DULA, batch 500"}, {{-0.2344, 0.0006}, {0.0976, 0.0009}}},
      {{"adult", "Gibbs"}, {{-0.4587, 0.0029}, {0.4826, 0.0027}, {-0.4643}, {0.4882}}},
      {{"adult", "GWG"}, {{-0.4444, 0.0041}, {0.4709, 0.0034}, {-0.4580}, {0.4845}}},
      {{"adult", "DULA"}, {{-0.3287, 0.0027}, {0.3971, 0.0014}, {-0.3274}, {0.3992}}},
      {{"adult", "DMALA"}, {{-0.3190, 0.0019}, {0.3931, 0.0019}, {-0.3216}, {0.3919}}},
      {{"adult", "DULA, batch 10"}, {{-0.3738, 0.0039}, {0.4309, 0.0027}}},
      {{"adult", "DULA, batch 100"}, {{-0.3275, 0.0006}, {0.3963, 0.0016}}},
      {{"adult", "DULA, batch 500"}, {{-0.3233, 0.0009}, {0.3954, 0.0015}}},
      {{"blog", "Gibbs"}, {{-0.3829, 0.0036}, {0.4191, 0.0061}, {-0.3946}, {0.4277}}},
      {{"blog", "GWG"}, {{-0.3414, 0.0028}, {0.3728, 0.0034}, {-0.3556}, {0.3858}}},
      {{"blog", "DULA"}, {{-0.2694, 0.0025}, {0.3193, 0.0021}, {-0.2658}, {0.3178}}},
      {{"blog", "DMALA"}, {{-0.2670, 0.0031}, {0.3198, 0.0043}, {-0.2660}, {0.3151}}},
      {{"blog", "DULA, batch 10"}, {{-0.3199, 0.0072}, {0.3533, 0.0043}}},
      {{"blog", "DULA, batch 100"}, {{-0.2710, 0.0009}, {0.3202, 0.0018}, {-0.2713}, {0.3272}}},
      {{"blog", "DULA, batch 500"}, {{-0.2689, 0.0024}, {0.3198, 0.0026}}},
  };
  const auto found = table.find({set, entrant});
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace saltus::reproduce::bnn
