// Learning from data, for the C interface.
#include "saltus/learn.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "c/handles.hpp"
#include "c/options.hpp"
#include "service/result_json.hpp"

using namespace saltus;
using namespace saltus::c;

struct saltus_learned {
  std::shared_ptr<Trainable> model;
  std::vector<std::byte> state;
};

namespace {

constexpr std::size_t kMostRecords = 1000;  // of the history

LearnRequest learn_request_of(const char* options) {
  Options o(options);
  std::string kind = "rbm";
  o.take("kind", kind);
  LearnRequest r = learn_request(kind);
  o.take("hidden", r.hidden, 1, 1'000'000'000);
  o.take("fields", r.fields);
  if (o.has("sampler")) r.settings.clear();
  o.take_sampler(r.sampler, r.settings);
  o.take("chains", r.plan.chains, 0, 1'000'000'000);
  o.take("steps", r.plan.steps, 1);
  o.take("batch", r.plan.batch, 1, 1'000'000'000);
  o.take("drop_last", r.plan.drop_last);
  o.take("lr", r.plan.adam.rate, 0);
  o.take("l1", r.plan.l1, 0);
  o.take("threads", r.plan.threads, 0, 4096);
  o.take_seed(r.plan.seed);
  if (o.has("epochs") && o.has("iterations")) {
    throw UsageError("epochs and iterations both say how long to learn: give one of them");
  }
  if (o.has("epochs")) r.iterations = 0;
  if (o.has("iterations")) r.epochs = 0;
  o.take("epochs", r.epochs, 1);
  o.take("iterations", r.iterations, 1);
  o.take("checkpoint", r.checkpoint);
  o.take("resume", r.resume);
  o.take("checkpoint_every", r.checkpoint_every, 0);
  o.take("overwrite", r.overwrite);
  o.take("time_limit", r.time_limit, 0);
  o.finish();
  if (r.resume.empty()) return r;
  LearnRequest saved = resumed_learning(r.resume);
  if (saved.kind != r.kind) {
    throw UsageError(r.resume + " holds the learning of a model of the kind " + saved.kind);
  }
  saved.plan.threads = r.plan.threads;
  saved.epochs = r.epochs;
  saved.iterations = r.iterations;
  if (!r.checkpoint.empty()) saved.checkpoint = r.checkpoint;
  saved.checkpoint_every = r.checkpoint_every;
  saved.time_limit = r.time_limit;
  return saved;
}

RowBuffer<Symbol> bits(std::size_t rows, std::int32_t dim, const std::uint8_t* data) {
  if (rows < 1 || dim < 1) throw UsageError("there are no data to learn from");
  if (rows > static_cast<std::size_t>(INT32_MAX))
    throw UsageError("there are too many rows of data");
  RowBuffer<Symbol> copy(static_cast<int>(rows), dim);
  for (int r = 0; r < static_cast<int>(rows); ++r) {
    const std::uint8_t* from = data + std::ptrdiff_t{r} * dim;
    for (int i = 0; i < dim; ++i) {
      if (from[i] > 1) {
        throw DataError(fmt::format("row {} of the data has {} at coordinate {}; expected 0 or 1",
                                    r, from[i], i));
      }
    }
    std::copy_n(from, dim, copy.view()[r]);
  }
  return copy;
}

// Of every record: recent means, about a thousand times in a learning.
class History {
 public:
  void add(const LearnStatus& s) {
    const std::uint64_t every = std::max<std::uint64_t>(1, (s.planned - s.first) / kMostRecords);
    if (s.totals.iterations % every != 0 && s.totals.iterations != s.planned) return;
    const LearningInfo& now = s.totals.recent;
    iteration_.push_back(s.totals.iterations);
    loss_.push_back(json_number(now.loss));
    gap_.push_back(json_number(now.gap));
    difference_.push_back(json_number(now.difference));
    acceptance_.push_back(json_number(now.acceptance));
  }
  OrderedJson json() const {
    return {{"iteration", iteration_},
            {"loss", loss_},
            {"gap", gap_},
            {"reconstruction_error", difference_},
            {"acceptance_rate", acceptance_}};
  }

 private:
  std::vector<std::uint64_t> iteration_;
  std::vector<OrderedJson> loss_, gap_, difference_, acceptance_;
};

OrderedJson result_json(const LearnRequest& r, const LearnResult& result, const History& history) {
  const LearnTotals& t = result.totals;
  OrderedJson j;
  j["model"] = r.kind;
  j["dim"] = r.data.cols;
  if (r.kind == "rbm") j["hidden"] = r.hidden;
  if (r.kind == "ising") j["fields"] = r.fields;
  j["sampler"] = r.sampler;
  j["parameters"] = parameters_json(result.parameters);
  j["seed"] = r.plan.seed;
  j["iterations"] = t.iterations;
  j["epochs"] = result.epochs;
  j["loss"] = json_number(t.recent.loss);
  j["acceptance_rate"] = json_number(t.recent.acceptance);
  j["seconds"] = t.seconds();
  j["complete"] = result.complete;
  j["history"] = history.json();
  return j;
}

}  // namespace

extern "C" {

int saltus_learn(const char* options, size_t rows, int32_t dim, const uint8_t* data,
                 const void* state, size_t state_size, saltus_progress progress, void* user,
                 saltus_learned** learned, char** json) {
  return guarded([&] {
    need(data, "data"), need(learned, "learned"), need(json, "json");
    LearnRequest request = learn_request_of(options);
    const RowBuffer<Symbol> table = bits(rows, dim, data);
    request.data = table.view();
    if (state) {
      const auto* const bytes = static_cast<const std::byte*>(state);
      request.before.assign(bytes, bytes + state_size);
    }
    LearnRun run(std::move(request));
    History history;
    run.go([&](const LearnStatus& s) {
      history.add(s);
      if (!progress) return true;
      const double planned = static_cast<double>(s.planned);
      const saltus_status told = {"learning",
                                  static_cast<double>(s.totals.iterations) / planned,
                                  s.totals.iterations,
                                  s.planned,
                                  s.seconds,
                                  static_cast<double>(s.totals.iterations - s.first) / s.seconds,
                                  s.totals.recent.acceptance,
                                  NAN};
      return progress(user, &told) == 0;
    });
    const LearnResult result = run.result();
    auto made = std::make_unique<saltus_learned>(saltus_learned{result.model, run.state()});
    *json = copied(result_json(run.request(), result, history).dump());
    *learned = made.release();
    return result.complete ? SALTUS_OK : SALTUS_STOPPED;
  });
}

const float* saltus_learned_parameters(const saltus_learned* learned, size_t* size) {
  const auto all = learned->model->parameters();
  if (size) *size = all.size();
  return all.data();
}

const void* saltus_learned_state(const saltus_learned* learned, size_t* size) {
  if (size) *size = learned->state.size();
  return learned->state.data();
}

void saltus_learned_free(saltus_learned* learned) {
  delete learned;
}
}
