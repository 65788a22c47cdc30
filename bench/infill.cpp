// Text infilling: where the time of an evaluation goes, and what samplers add to it.
//
//   saltus_bench_infill [--chains N] [--steps N] [--threads N] [--tile N] [--warmup N] [--cuda]
//                       FOLDER...
//
// A FOLDER holds a masked language model; without one, the model of the program is taken. The
// sentence has 20 pieces, 4 of them gaps. --warmup: also which step size DMALA finds in so many
// steps, on three sentences.
#include <ATen/Parallel.h>
#include <fmt/core.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>

#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/torch/module.hpp"
#include "torch/bert_encoder.hpp"
#include "torch/libtorch.hpp"
#include "torch/network_target.hpp"

namespace {

using namespace saltus;
using Clock = std::chrono::steady_clock;

const char* const kSentences[] = {
    "the old man sat by the [MASK] and [MASK] at the [MASK] while his wife [MASK] him .",
    "she [MASK] the letter and [MASK] it to her [MASK] .",
    "in the [MASK] of the war the [MASK] was taken by the [MASK] and its people were [MASK] .",
};

struct Options {
  int chains = 25, threads = 2, tile = 0;
  std::uint64_t steps = 50, warmup = 0;
  DeviceChoice choice;
  std::vector<std::string> folders;
};

Options read_options(int count, char** words) {
  Options o;
  for (int k = 1; k < count; ++k) {
    const auto number = [&] { return k + 1 < count ? std::atoi(words[++k]) : 0; };
    if (!std::strcmp(words[k], "--chains")) {
      o.chains = number();
    } else if (!std::strcmp(words[k], "--steps")) {
      o.steps = static_cast<std::uint64_t>(number());
    } else if (!std::strcmp(words[k], "--warmup")) {
      o.warmup = static_cast<std::uint64_t>(number());
    } else if (!std::strcmp(words[k], "--threads")) {
      o.threads = number();
    } else if (!std::strcmp(words[k], "--tile")) {
      o.tile = number();
    } else if (!std::strcmp(words[k], "--cuda")) {
      o.choice.device = Device::cuda;
    } else {
      o.folders.push_back(words[k]);
    }
  }
  return o;
}

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// On the CPU, where another program may run as well, of this thread alone.
double now(const at::Device& device) {
  timespec t{};
  clock_gettime(device.is_cpu() ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Milliseconds. Waits for the device, as reading a number from it does.
template <class F>
double best_of(at::Device device, const F& f) {
  double best = 1e300;
  for (int k = 0; k < 5; ++k) {
    const double begin = now(device);
    const at::Tensor out = f();
    (void)out.view({-1})[0].template item<float>();
    best = std::min(best, now(device) - begin);
  }
  return 1e3 * best;
}

// One thread, one batch: the parts of an evaluation by themselves.
void time_parts(const BertEncoder& encoder, const InfillProblem& problem, int chains, int levels) {
  use_one_thread();
  const at::Device device = encoder.device();
  const auto gaps = static_cast<std::int64_t>(problem.gaps.size()), rows = chains * gaps;
  const auto length = static_cast<std::int64_t>(problem.ids.size());
  const auto longs = at::TensorOptions(at::kLong);
  at::Tensor ids = at::empty({length}, longs);
  std::copy(problem.ids.begin(), problem.ids.end(), ids.data_ptr<std::int64_t>());
  ids = ids.expand({rows, length}).contiguous().to(device);
  const at::Tensor places = (at::arange(rows, longs) * length + problem.gaps[0]).to(device);
  const at::Tensor ones = at::ones({rows, encoder.words().size(1)}, encoder.words().options());
  const double both = best_of(device, [&] {
    const at::AutoGradMode gradients(true);
    const at::Tensor in = encoder.embed(ids).requires_grad_(true);
    const at::Tensor out = encoder.encode(in, places);
    return torch::autograd::grad({out}, {in}, {ones})[0];
  });
  const at::NoGradGuard no_gradients;
  const double forward =
      best_of(device, [&] { return encoder.encode(encoder.embed(ids), places); });
  at::Tensor log_f;
  const double read_out =
      best_of(device, [&] { return log_f = at::log_softmax(encoder.read_out(ones), 1); });
  const double back = best_of(device, [&] { return at::mm(log_f.exp(), encoder.decoder()); });
  const at::Tensor words = encoder.words().slice(0, 0, levels).contiguous();
  const double product =
      best_of(device, [&] { return at::addmm(log_f.slice(1, 0, levels), ones, words.t()); });
  fmt::print(
      "  {:>4} rows, one thread [ms]: encoder {:.1f} ({:.1f} forward), read-out {:.1f}, its "
      "gradient {:.1f}, embedding product {:.1f}\n",
      rows, both, forward, read_out, back, product);
}

// Another target with the time of its evaluations.
class Timed final : public Target {
 public:
  explicit Timed(const InfillTarget& target) : target_(target) {}
  std::string name() const override { return target_.name(); }
  const Domain& domain() const override { return target_.domain(); }
  int preferred_tile() const override { return target_.preferred_tile(); }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp,
                Rows<float> score) const override {
    const auto begin = Clock::now();
    target_.evaluate(at, x, logp, score);
    nanoseconds_ += (Clock::now() - begin).count();
  }
  double seconds() const { return 1e-9 * static_cast<double>(nanoseconds_.exchange(0)); }

 private:
  const InfillTarget& target_;
  mutable std::atomic<std::int64_t> nanoseconds_{0};
};

class Quiet final : public StepObserver {
 public:
  bool wants_logp(std::uint64_t) const override { return false; }
  void after_step(const Tile&, std::span<const StepInfo> info, std::uint64_t) override {
    const std::lock_guard lock(mutex_);
    for (const StepInfo& i : info) acceptance_ += i.acceptance, changed_ += i.changed, ++count_;
  }
  double acceptance() const { return acceptance_ / count_; }
  double changed() const { return changed_ / count_; }

 private:
  std::mutex mutex_;
  double acceptance_ = 0, changed_ = 0, count_ = 0;
};

void time_sampler(const InfillTarget& target, const Sampler& sampler, const Options& o) {
  const Timed timed(target);
  const bool own = sampler.name() == "conditional_gibbs";  // asks the target itself
  Ensemble ensemble(own ? static_cast<const Target&>(target) : timed, o.chains, o.tile, o.threads,
                    1);
  ensemble.start_from(draw_from_marginals(target, o.chains, 1).view());
  ensemble.evaluate();
  Quiet nobody, observer;
  ensemble.advance(sampler, 1, nobody);  // makes room
  timed.seconds();
  const auto begin = Clock::now();
  const std::clock_t processors = std::clock();
  ensemble.advance(sampler, o.steps, observer);
  const int tile = std::min(o.chains, o.tile > 0 ? o.tile : target.preferred_tile());
  const int busy_threads = std::min(o.threads, (o.chains + tile - 1) / tile);
  const double whole = since(begin), network = timed.seconds() / busy_threads,
               busy = static_cast<double>(std::clock() - processors) / CLOCKS_PER_SEC;
  fmt::print("  {:<18} {:>7.2f} s for {} steps, {:.2f} s of processors", sampler.name(), whole,
             o.steps, busy);
  if (!own) fmt::print(", network {:.0f} %", 100 * std::min(1.0, network / whole));
  fmt::print(", acceptance {:.2f}, {:.2f} changes\n", observer.acceptance(), observer.changed());
}

void find_step_size(const InfillTarget& target, const std::string& text, const Options& o) {
  RunPlan plan;
  plan.chains = o.chains, plan.warmup = o.warmup, plan.draws = o.steps;
  plan.threads = o.threads, plan.tile = o.tile;
  saltus::Run run(target, make_sampler("dmala", target, {}), plan);
  run.start(draw_from_marginals(target, o.chains, 1).view());
  run.go();
  fmt::print("  alpha {:.3f}, acceptance {:.2f}, {:.2f} changes | {}\n", *run.sampler().step_size(),
             run.statistics().acceptance, run.statistics().changed, text);
}

void measure(BertFiles files, const Options& o) {
  const auto model = torch_module().load_masked_model(files, o.choice);
  fmt::print("{}: {} layers of {}, {} pieces\n", files.name, files.config.layers,
             files.config.hidden, files.config.vocabulary);
  const InfillProblem problem = make_infill_problem(files, kSentences[0]);
  const auto target = torch_module().infill(model, problem, {});
  const BertEncoder encoder(files, tensor_device(o.choice));
  const int tile = o.tile ? o.tile : target->preferred_tile(), levels = target->domain().levels(0);
  fmt::print("  {} chains, tiles of {}, {} threads, {} of the pieces allowed\n", o.chains, tile,
             o.threads, levels);
  time_parts(encoder, problem, std::min(tile, o.chains), levels);
  for (const char* name : {"dmala", "dula", "gwg", "pas"}) {
    Settings settings;
    if (*name == 'd') settings["step_size"] = "0.4";
    if (*name == 'p') settings["flips"] = "1";
    time_sampler(*target, *make_sampler(name, *target, settings), o);
  }
  time_sampler(*target, *make_conditional_gibbs(*target), o);
  if (o.warmup > 0) {
    fmt::print("  tuned in {} steps, then {} more:\n", o.warmup, o.steps);
    for (const char* text : kSentences) {
      const InfillProblem sentence = make_infill_problem(files, text);
      find_step_size(*torch_module().infill(model, sentence, {}), text, o);
    }
  }
}

}  // namespace

int main(int count, char** words) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // lines as they come, into a file too
  const Options options = read_options(count, words);
  fmt::print("libtorch {}\n", torch_module().version());
  for (const std::string& folder : options.folders) measure(load_bert(folder), options);
  if (options.folders.empty()) measure(default_bert(), options);
}
