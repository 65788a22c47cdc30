// Drawing, and summaries of draws, for the C interface.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "c/handles.hpp"
#include "c/options.hpp"
#include "saltus/sample.hpp"
#include "service/result_json.hpp"

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
RowBuffer<Symbol> start_states(const std::string& init, const std::uint16_t* given, int chains,
                               const Domain& domain) {
  if (!given && init != "zeros" && init != "ones") return {};
  RowBuffer<Symbol> states(chains, domain.dim());
  for (int c = 0; c < chains; ++c) {
    Symbol* const row = states.view()[c];
    if (given) {
      std::copy_n(given + std::ptrdiff_t{c} * domain.dim(), domain.dim(), row);
    } else {
      std::fill_n(row, domain.dim(), static_cast<Symbol>(init == "ones"));
    }
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
  if (m.value) {
    r.model_base = model_base(*m.value);
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

void give_arrays(SampleRequest& r, const saltus_arrays& a) {
  if (r.keep != Keep::arrays) return;
  const auto n = static_cast<std::size_t>(r.plan.chains), draws = std::size_t{r.plan.draws};
  const auto dim = static_cast<std::size_t>(r.target->domain().dim());
  if (a.bytes) {
    r.arrays.bytes = {a.bytes, n * draws * dim};
  } else {
    r.arrays.states = {a.levels, n * draws * dim};
  }
  if (a.logp) r.arrays.logp = {a.logp, n * draws};
}

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

int sample_into(const saltus_model& m, const char* options, const saltus_arrays& a,
                const SampleProgress& progress, char** json) {
  const bool keeps_draws = a.levels || a.bytes;
  SampleRequest request = request_of(m, options, keeps_draws, a.start != nullptr);
  if (request.resume.empty()) check_sampler(m, request.sampler, request.settings);
  give_arrays(request, a);
  const auto init = request.notes.find("init");
  const RowBuffer<Symbol> start =
      request.resume.empty() ? start_states(init == request.notes.end() ? "" : init->second,
                                            a.start, request.plan.chains, request.target->domain())
                             : RowBuffer<Symbol>();
  request.start = start.view();
  const std::uint64_t most = request.plan.draws;
  const SampleResult result = sample(std::move(request), progress);
  copy_acceptance(result, most, a.acceptance);
  copy_summaries(result, a);
  if (json) {
    std::string text;
    write_sample_json(result, "", -1, [&](std::string_view part) { text += part; });
    *json = copied(text);
  }
  return result.complete ? SALTUS_OK : SALTUS_STOPPED;
}

// Draws in the caller's memory.
class GivenDraws final : public Draws {
 public:
  GivenDraws(const Domain& domain, int chains, std::uint64_t draws, const void* levels, int width,
             bool by_level)
      : levels_(levels), width_(width), chains_(chains), draws_(draws), dim_(domain.dim()) {
    if (width != 1 && width != 2)
      throw UsageError("width is " + std::to_string(width) + "; expected 1 or 2 bytes");
    if (chains < 1 || draws < 1) throw UsageError("there are no draws to summarise");
    info_.shape = {dim_};
    info_.levels = domain.max_levels();
    info_.first_value = by_level ? 0 : domain.first_value();
    info_.spacing = by_level ? 1 : domain.spacing();
    if (domain.kind() == Domain::Kind::ordered && !by_level) return;
    if (domain.uniform_levels() > 0) {
      info_.classes = {domain.uniform_levels()};
    } else {
      for (int i = 0; i < dim_; ++i) info_.classes.push_back(domain.levels(i));
    }
  }
  const DrawsInfo& info() const override { return info_; }
  int chains() const override { return chains_; }
  std::size_t draws() const override { return draws_; }
  int dim() const override { return dim_; }
  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override {
    for (int r = 0; r < x.rows; ++r) {
      const std::size_t at =
          (static_cast<std::size_t>(chain) * draws_ + first + static_cast<std::size_t>(r)) *
          static_cast<std::size_t>(dim_);
      if (width_ == 1) {
        std::copy_n(static_cast<const std::uint8_t*>(levels_) + at, dim_, x[r]);
      } else {
        std::copy_n(static_cast<const std::uint16_t*>(levels_) + at, dim_, x[r]);
      }
    }
  }
  void read_logp(int, std::size_t, std::span<double> out) const override {
    std::ranges::fill(out, NAN);
  }
  void read_acceptance(int, std::size_t, std::span<float> out) const override {
    std::ranges::fill(out, std::numeric_limits<float>::quiet_NaN());
  }

 private:
  DrawsInfo info_;
  const void* levels_;
  int width_, chains_;
  std::size_t draws_;
  int dim_;
};

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
                       progress_for(progress, user), json);
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
    j["sampler"] = r.sampler;
    j["set"] = r.settings;
    j["model"] = r.model_text.empty() ? OrderedJson(nullptr) : OrderedJson(r.model_text);
    *json = copied(j.dump());
    return SALTUS_OK;
  });
}

int saltus_summarise(const char* domain, int32_t chains, uint64_t draws, const void* levels,
                     int32_t width, int32_t threads, double* mean, double* sd, double* mcse,
                     double* ess_bulk, double* ess_tail, double* rhat) {
  return guarded([&] {
    need(levels, "levels");
    const GivenDraws given(domain_in(domain), chains, draws, levels, width, false);
    const auto all = summarise(given, ess_tail != nullptr, threads);
    const std::pair<double*, double CoordinateSummary::*> columns[] = {
        {mean, &CoordinateSummary::mean},         {sd, &CoordinateSummary::sd},
        {mcse, &CoordinateSummary::mcse},         {ess_bulk, &CoordinateSummary::ess_bulk},
        {ess_tail, &CoordinateSummary::ess_tail}, {rhat, &CoordinateSummary::rhat}};
    for (const auto& [out, of] : columns) {
      for (std::size_t i = 0; out && i < all.size(); ++i) out[i] = all[i].*of;
    }
    return SALTUS_OK;
  });
}

int saltus_summarise_levels(const char* domain, int32_t chains, uint64_t draws, const void* levels,
                            int32_t width, int32_t threads, double* probability, double* mcse,
                            double* ess, double* rhat) {
  return guarded([&] {
    need(levels, "levels"), need(probability, "probability"), need(mcse, "mcse");
    need(ess, "ess"), need(rhat, "rhat");
    const Domain d = domain_in(domain);
    const GivenDraws given(d, chains, draws, levels, width, true);
    const auto all = summarise(given, false, threads);
    std::size_t at = 0;
    const auto put = [&](std::size_t k, double p, double error, double size, double r) {
      probability[k] = p, mcse[k] = error, ess[k] = size, rhat[k] = r;
    };
    for (int i = 0; i < d.dim(); ++i) {
      const CoordinateSummary& s = all[static_cast<std::size_t>(i)];
      const auto count = static_cast<std::size_t>(d.levels(i));
      for (std::size_t k = 0; k < count; ++k)
        put(at + k, s.classes.empty() ? 0 : NAN, NAN, NAN, NAN);
      for (const ClassSummary& c : s.classes) {
        put(at + static_cast<std::size_t>(c.level), c.probability, c.mcse, c.ess, c.rhat);
      }
      if (s.classes.empty()) {  // one level, or two: the index is 0 or 1
        put(at, 1 - s.mean, s.mcse, s.ess_bulk, s.rhat);
        if (count > 1) put(at + 1, s.mean, s.mcse, s.ess_bulk, s.rhat);
      }
      at += count;
    }
    return SALTUS_OK;
  });
}
}
