// Drawing, for the C interface.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "c/handles.hpp"
#include "c/options.hpp"
#include "saltus/sample.hpp"
#include "service/result_json.hpp"

// All that continues a run, but for its draws.
struct saltus_state {
  saltus::SampleRequest request;
  std::vector<std::byte> bytes;
};

namespace saltus::c {
namespace {

constexpr std::uint64_t kExactStates = 1 << 16;  // of a caller's function

void take_tempering(Options& o, SampleRequest& r) {
  if (!o.has("temper") || o.at("temper") == false) {
    for (const char* name : {"base", "betas", "steps"}) {
      if (o.has(name)) throw UsageError(std::string(name) + " belongs to temper");
    }
    return;
  }
  TemperingRequest t;
  const nlohmann::json& temper = o.at("temper");
  if (temper != true && temper != "auto") o.take("temper", t.replicas, 2);
  o.take("steps", t.steps, 1);
  o.take("betas", t.betas);
  if (o.has("base") && o.at("base").is_array()) {
    o.take("base", t.probabilities);
  } else {
    o.take("base", t.base);
    if (!t.base.empty() && t.base != "uniform" && t.base != "model") {
      o.refuse("base", "uniform, model or a list of probabilities");
    }
  }
  r.tempering = std::move(t);
}

void take_saving(Options& o, Saving& s) {
  o.take("checkpoint", s.checkpoint);
  o.take("resume", s.resume);
  o.take("checkpoint_every", s.checkpoint_every, 0);
  o.take("time_limit", s.time_limit, 0);
  o.take("overwrite", s.overwrite);
}

// Where all chains start, where that is no name that a plan knows.
RowBuffer<Symbol> start_states(const saltus_model& m, const std::string& init,
                               const std::uint16_t* given, int chains) {
  if (given) return free_rows(m, static_cast<std::size_t>(chains), given, "the starts");
  if (init != "zeros" && init != "ones") return {};
  const int dim = m.target->domain().dim();
  RowBuffer<Symbol> states(chains, dim);
  for (int c = 0; c < chains; ++c) {
    std::fill_n(states.view()[c], dim, static_cast<Symbol>(init == "ones"));
  }
  return states;
}

SampleRequest request_for(const saltus_model& m, const Saving& saving) {
  SampleRequest r;
  if (!saving.resume.empty()) {
    if (m.is_function()) {
      r = resumed_sample(saving.resume, m.target);
    } else {
      r = read_sample_checkpoint(saving.resume);
      if (!m.text.empty() && r.model_text != m.text) {
        throw UsageError("the model differs from the one of the run that " + saving.resume +
                         " continues");
      }
      r.target = m.target;
      r.resume = saving.resume;
    }
  }
  r.target = m.target;
  r.whole = m.whole;
  if (m.value) {
    r.model_base = m.base;
    r.labels = labels_of(*m.value);
    r.objective = m.objective;
    r.model_files = m.files;
    if (saving.resume.empty()) r.model_text = m.text;
  }
  const std::string resume = saving.resume;
  static_cast<Saving&>(r) = saving;
  if (r.checkpoint.empty()) r.checkpoint = resume;
  return r;
}

// What a plan takes; of a resumed run only what may change.
void take_plan(Options& o, RunPlan& plan, bool resumed) {
  o.take("threads", plan.threads, 0, 4096);
  o.take("draws", plan.draws, 1);
  if (resumed) return;
  o.take("chains", plan.chains, 1, 1'000'000'000);
  o.take("warmup", plan.warmup, 0);
  o.take("thin", plan.thin, 1);
  o.take("tile", plan.tile, 1, 1'000'000);
  o.take_seed(plan.seed);
}

// The chains are a range of those of a larger run.
void take_range(Options& o, SampleRequest& r) {
  int first = 0;
  o.take("first_chain", first, 0);
  o.take("chains_of_run", r.chains_of_run, 1, 1'000'000'000);
  r.plan.first_chain = static_cast<std::uint32_t>(first);
  if (r.chains_of_run == 0) {
    if (first > 0) throw UsageError("first_chain needs chains_of_run, the chains of the whole run");
    return;
  }
  if (first + std::int64_t{r.plan.chains} > r.chains_of_run) {
    throw UsageError(fmt::format("chains {} to {} are not among the {} of the run", first,
                                 first + std::int64_t{r.plan.chains} - 1, r.chains_of_run));
  }
  if (r.sampler == "auto") throw UsageError("parts of a run cannot choose a sampler: name one");
  const auto sampler = make_sampler(r.sampler, *r.target, r.settings);
  if (sampler->tunable() && r.plan.warmup > 0) {
    throw UsageError("parts of a run cannot tune " + sampler->name() + " together: give its " +
                     sampler->tunable()->tuning().front().parameter);
  }
  if (r.tempering && r.tempering->betas.empty()) {
    throw UsageError("parts of a run cannot adapt a ladder together: give betas");
  }
}

// Coordinates whose draws are kept, as places among the free ones.
void take_columns(Options& o, const saltus_model& m, SampleRequest& r) {
  if (!o.has("keep")) return;
  std::vector<double> keep;
  o.take("keep", keep);
  const int dim = m.whole_target().domain().dim();
  for (const double k : keep) {
    if (k != std::trunc(k) || k < 0 || k >= dim) {
      o.refuse("keep", fmt::format("coordinates from 0 to {}", dim - 1));
    }
    const int i = static_cast<int>(k);
    if (m.whole && m.whole->given.is_given(i)) {
      throw UsageError(fmt::format("keep names coordinate {}, which is given", i));
    }
    r.columns.push_back(m.whole ? m.whole->given.place(i) : i);
  }
  if (keep.empty()) throw UsageError("keep names no coordinates");
}

SampleRequest request_of(const saltus_model& m, const char* options, bool keeps_draws,
                         bool starts_given) {
  Options o(options);
  Saving saving;
  saving.checkpoint_every = 1;
  take_saving(o, saving);
  const bool resumed = !saving.resume.empty();
  SampleRequest r = request_for(m, saving);
  if (resumed && r.keep == Keep::disk) {
    throw UsageError(saving.resume + " was saved by the program, whose draws lie beside it");
  }
  take_plan(o, r.plan, resumed);
  if (!resumed) {
    o.take_sampler(r.sampler, r.settings);
    take_tempering(o, r);
    take_range(o, r);
    take_columns(o, m, r);
  }
  std::string record = keeps_draws ? "draws" : "moments", init = "dispersed";
  o.take("record", record);
  if (record != "draws" && record != "moments") o.refuse("record", "draws or moments");
  if (record == "draws" && !keeps_draws) throw UsageError("there is no array for the draws");
  r.keep = record == "draws" ? Keep::arrays : Keep::moments;
  o.take("observe", r.observe);
  const Domain& domain = m.target->domain();
  r.exact = domain.unordered() && (!m.is_function() || domain.states(kExactStates).has_value());
  o.take("exact", r.exact);
  if (m.is_function()) r.probe = false;  // a search takes as many calls as the run
  o.take("probe", r.probe);
  if (!m.has_score) r.probe = false;
  o.take("init", init);
  const std::string names[] = {"dispersed", "random", "zeros", "ones"};
  if (std::ranges::find(names, init) == std::end(names)) {
    o.refuse("init", "dispersed, random, zeros or ones");
  }
  if (r.tempering && (starts_given || init != "dispersed")) {
    throw UsageError("init has no place beside temper: chains start from draws of the base");
  }
  o.finish();
  if (!resumed) {
    r.plan.start = init == "random" ? Start::random : Start::dispersed;
    r.notes["init"] = init;
  }
  r.plan.threads = threads_for(m, r.plan.threads);
  const double steps = static_cast<double>(r.plan.draws) * static_cast<double>(r.plan.thin) +
                       static_cast<double>(r.plan.warmup);
  if (steps > 0x1p53) throw UsageError("the run would take more than 2^53 steps");
  return r;
}

std::size_t kept_dim(const SampleRequest& r) {
  return r.columns.empty() ? static_cast<std::size_t>(r.target->domain().dim()) : r.columns.size();
}

void give_arrays(SampleRequest& r, const saltus_arrays& a) {
  if (r.keep != Keep::arrays) return;
  const auto n = static_cast<std::size_t>(r.plan.chains), draws = std::size_t{r.plan.draws};
  r.arrays = {};
  if (a.bytes) {
    r.arrays.bytes = {a.bytes, n * draws * kept_dim(r)};
  } else {
    r.arrays.states = {a.levels, n * draws * kept_dim(r)};
  }
  if (a.logp) r.arrays.logp = {a.logp, n * draws};
}

// The caller's array has rows of all coordinates, the engine rows of the free ones at its
// beginning: both ways in place, and rows that no draw is in yet with the others.
template <class T>
void widen(T* rows, std::size_t count, const GivenValues& given) {
  const std::size_t dim = static_cast<std::size_t>(given.domain().dim()),
                    some = given.free().size();
  std::vector<T> free(some);
  for (std::size_t r = count; r-- > 0;) {
    std::copy_n(rows + r * some, some, free.begin());
    for (std::size_t k = 0; k < some; ++k) {
      rows[r * dim + static_cast<std::size_t>(given.free()[k])] = free[k];
    }
    for (const auto& [i, level] : given.list()) {
      rows[r * dim + static_cast<std::size_t>(i)] = static_cast<T>(level);
    }
  }
}

template <class T>
void narrow(T* rows, std::size_t count, const GivenValues& given) {
  const std::size_t dim = static_cast<std::size_t>(given.domain().dim()),
                    some = given.free().size();
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t k = 0; k < some; ++k) {
      rows[r * some + k] = rows[r * dim + static_cast<std::size_t>(given.free()[k])];
    }
  }
}

// The layout of the caller's array while the engine writes to it.
class FreeLayout {
 public:
  FreeLayout(const saltus_arrays& arrays, const SampleRequest& r, bool holds_draws)
      : arrays_(arrays), whole_(r.whole) {
    if (!whole_ || r.keep != Keep::arrays || !r.columns.empty()) whole_.reset();
    rows_ = static_cast<std::size_t>(r.plan.chains) * std::size_t{r.plan.draws};
    if (!whole_ || !holds_draws) return;
    arrays.bytes ? narrow(arrays.bytes, rows_, whole_->given)
                 : narrow(arrays.levels, rows_, whole_->given);
  }
  FreeLayout(const FreeLayout&) = delete;
  FreeLayout& operator=(const FreeLayout&) = delete;
  ~FreeLayout() {
    if (!whole_) return;
    arrays_.bytes ? widen(arrays_.bytes, rows_, whole_->given)
                  : widen(arrays_.levels, rows_, whole_->given);
  }

 private:
  const saltus_arrays& arrays_;
  std::shared_ptr<const WholeModel> whole_;
  std::size_t rows_ = 0;
};

void copy_acceptance(const SampleResult& r, std::uint64_t most, float* out) {
  if (!out || !r.draws) return;
  for (int c = 0; c < r.plan.chains; ++c) {
    r.draws->read_acceptance(c, 0,
                             {out + static_cast<std::size_t>(c) * most, std::size_t{r.draws_made}});
  }
}

// One number of each coordinate; NaN of those without.
void copy_column(const SampleResult& r, double CoordinateSummary::*of, double* out) {
  if (!out) return;
  std::fill_n(out, r.target->domain().dim(), NAN);
  for (std::size_t k = 0; k < r.summaries.size(); ++k) out[r.watched[k]] = r.summaries[k].*of;
}

void copy_summaries(const SampleResult& r, const saltus_arrays& a) {
  if (a.mean) std::ranges::copy(r.mean, a.mean);
  copy_column(r, &CoordinateSummary::sd, a.sd);
  copy_column(r, &CoordinateSummary::mcse, a.mcse);
  copy_column(r, &CoordinateSummary::ess_bulk, a.ess_bulk);
  copy_column(r, &CoordinateSummary::rhat, a.rhat);
}

SampleProgress progress_for(saltus_progress progress, void* user) {
  if (!progress) return {};
  return [=](const RunStatus& s) {
    const double done =
        s.steps > 0 ? static_cast<double>(s.step) / static_cast<double>(s.steps) : 0;
    const saltus_status status = {s.warming_up ? "warm-up" : "draws",
                                  done,
                                  s.step,
                                  s.steps,
                                  s.seconds,
                                  s.steps_per_second,
                                  s.acceptance,
                                  NAN};
    return progress(user, &status) == 0;
  };
}

struct Outcome {
  saltus_state** state;
  char** json;
};

int give_back(SampleRun& run, const saltus_arrays& a, const Outcome& out) {
  const SampleResult result = run.result();
  copy_acceptance(result, run.request().plan.draws, a.acceptance);
  copy_summaries(result, a);
  std::unique_ptr<saltus_state> state;
  if (out.state && run.request().keep == Keep::arrays) {
    state = std::make_unique<saltus_state>(saltus_state{run.request(), run.state()});
    state->request.start = {};
    state->request.arrays = {};
  }
  if (out.json) {
    std::string text;
    write_sample_json(result, "", -1, [&](std::string_view part) { text += part; });
    *out.json = copied(text);
  }
  if (out.state) *out.state = state.release();
  return result.complete ? SALTUS_OK : SALTUS_STOPPED;
}

int sample_into(const saltus_model& m, const char* options, const saltus_arrays& a,
                const SampleProgress& progress, const Outcome& out) {
  const bool keeps_draws = a.levels || a.bytes;
  SampleRequest request = request_of(m, options, keeps_draws, a.start != nullptr);
  const bool resumed = !request.resume.empty();
  if (!resumed) check_sampler(m, request.sampler, request.settings);
  give_arrays(request, a);
  RowBuffer<Symbol> start;
  if (!resumed) start = start_states(m, request.notes["init"], a.start, request.plan.chains);
  request.start = start.view();
  const FreeLayout layout(a, request, false);
  SampleRun run(std::move(request));
  run.start();
  run.go(progress);
  return give_back(run, a, out);
}

// From where a run stands. The sampler was chosen and tuned then; the checkpoint was that run's.
int sample_further(const saltus_model& m, const char* options, const saltus_state& before,
                   const saltus_arrays& a, const SampleProgress& progress, const Outcome& out) {
  if (before.request.target != m.target)
    throw UsageError("the state is that of another model's run");
  SampleRequest request = before.request;
  static_cast<Saving&>(request) = {};
  Options o(options);
  o.take("draws", request.plan.draws, 1);
  o.take("threads", request.plan.threads, 0, 4096);
  o.take("time_limit", request.time_limit, 0);
  o.take("probe", request.probe);
  o.take("exact", request.exact);
  o.finish();
  if (!a.levels && !a.bytes) throw UsageError("there is no array for the draws");
  request.plan.threads = threads_for(m, request.plan.threads);
  give_arrays(request, a);
  const FreeLayout layout(a, request, true);
  SampleRun run(std::move(request));
  run.start_from(before.bytes);
  run.go(progress);
  return give_back(run, a, out);
}

}  // namespace
}  // namespace saltus::c

using namespace saltus;
using namespace saltus::c;

extern "C" {

int saltus_sample(const saltus_model* model, const char* options, const saltus_arrays* arrays,
                  saltus_progress progress, void* user, char** json) {
  return guarded([&] {
    need(model, "model");
    return sample_into(*model, options, arrays ? *arrays : saltus_arrays{},
                       progress_for(progress, user), {nullptr, json});
  });
}

int saltus_sample_on(const saltus_model* model, const char* options, const saltus_state* before,
                     const saltus_arrays* arrays, saltus_progress progress, void* user,
                     saltus_state** after, char** json) {
  return guarded([&] {
    need(model, "model");
    const saltus_arrays given = arrays ? *arrays : saltus_arrays{};
    const SampleProgress listener = progress_for(progress, user);
    const Outcome out = {after, json};
    return before ? sample_further(*model, options, *before, given, listener, out)
                  : sample_into(*model, options, given, listener, out);
  });
}

void saltus_state_free(saltus_state* state) {
  delete state;
}

int saltus_chain_ranges(const saltus_model* model, const char* options, char** json) {
  return guarded([&] {
    need(model, "model"), need(json, "json");
    Options o(options);
    std::string name = "dmala";
    Settings settings;
    int chains = 4, tile = 0, parts = 1;
    o.take_sampler(name, settings);
    o.take("chains", chains, 1, 1'000'000'000);
    o.take("tile", tile, 1, 1'000'000);
    o.take("parts", parts, 1, 1'000'000'000);
    o.finish();
    check_sampler(*model, name, settings);
    if (name != "auto" && make_sampler(name, *model->target, settings)->interacting())
      tile = chains;
    auto list = OrderedJson::array();
    for (const ChainRange& range : chain_ranges(*model->target, chains, tile, parts)) {
      list.push_back({range.first_chain, range.chains});
    }
    *json = copied(list.dump());
    return SALTUS_OK;
  });
}

int saltus_checkpoint_info(const char* path, char** json) {
  return guarded([&] {
    need(path, "path"), need(json, "json");
    const SampleRequest r = read_sample_checkpoint(path);
    OrderedJson j;
    j["chains"] = r.plan.chains;
    j["warmup"] = r.plan.warmup;
    j["draws"] = r.plan.draws;
    j["thin"] = r.plan.thin;
    j["seed"] = r.plan.seed;
    j["record"] = r.keep == Keep::moments ? "moments" : r.keep == Keep::disk ? "disk" : "draws";
    j["keep"] = r.columns.empty() ? OrderedJson(nullptr) : OrderedJson(r.columns);
    j["sampler"] = r.sampler;
    j["set"] = r.settings;
    j["model"] = r.model_text.empty() ? OrderedJson(nullptr) : OrderedJson(r.model_text);
    *json = copied(j.dump());
    return SALTUS_OK;
  });
}
}
