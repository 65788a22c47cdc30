#include "saltus/sample.hpp"

#include <algorithm>
#include <cmath>

#include "io/bytes/new_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/model/models.hpp"
#include "saltus/run/checkpoint.hpp"
#include "saltus/run/draw_spool.hpp"
#include "saltus/run/moments.hpp"
#include "saltus/version.hpp"
#include "service/parts.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;

// Diagnostics of more numbers than this would take longer than many a run.
constexpr double kWatchedDraws = 5e8;
constexpr int kMostWatched = 10000;

// `count` coordinates, evenly spread.
std::vector<int> spread_coordinates(int dim, int count) {
  std::vector<int> list;
  for (int c = 0; c < count; ++c) list.push_back(static_cast<int>(std::int64_t{c} * dim / count));
  return list;
}

// Some columns of draws that hold more.
class SomeColumns final : public Draws {
 public:
  SomeColumns(const Draws& all, std::vector<int> columns)
      : all_(all), columns_(std::move(columns)) {}
  const DrawsInfo& info() const override { return all_.info(); }
  int chains() const override { return all_.chains(); }
  std::size_t draws() const override { return all_.draws(); }
  int dim() const override { return static_cast<int>(columns_.size()); }
  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override {
    const RowBuffer<Symbol> whole(1, all_.dim());
    for (int r = 0; r < x.rows; ++r) {
      all_.read_states(chain, first + static_cast<std::size_t>(r), whole.view());
      for (std::size_t c = 0; c < columns_.size(); ++c) x[r][c] = whole.view()[0][columns_[c]];
    }
  }
  void read_logp(int chain, std::size_t first, std::span<double> out) const override {
    all_.read_logp(chain, first, out);
  }
  void read_acceptance(int chain, std::size_t first, std::span<float> out) const override {
    all_.read_acceptance(chain, first, out);
  }

 private:
  const Draws& all_;
  std::vector<int> columns_;
};

// Never onto another file: copy_file follows no link at `to`, and replaces no file.
void copy_draws(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (!fs::exists(from, error)) return;  // none yet, or restoring says that they are missing
  if (fs::is_symlink(to, error) || !fs::copy_file(from, to, fs::copy_options::none, error)) {
    throw FileError("cannot copy " + from.string() + " to " + to.string() + ": " +
                        (error ? error.message() : "there is a file of this name"),
                    true);
  }
}

Independent base_of(const TemperingRequest& tempering, const SampleRequest& request) {
  const Target& target = *request.target;
  const Domain& domain = target.domain();
  if (domain.unbounded()) {
    throw UsageError("tempering begins with finitely many levels, but the integers of the model " +
                     target.name() + " are unbounded");
  }
  if (!tempering.probabilities.empty()) {
    return domain.two_level() ? Independent::bernoulli(domain, tempering.probabilities)
                              : Independent::of_levels(domain, tempering.probabilities);
  }
  if (tempering.base == "model" && !request.model_base) {
    throw UsageError("the model " + target.name() + " has no base of its own");
  }
  return request.model_base && tempering.base != "uniform" ? *request.model_base
                                                           : Independent::uniform(domain);
}

}  // namespace

int watched_count(int dim, const RunPlan& plan) {
  const double per_coordinate = static_cast<double>(plan.draws) * plan.chains;
  const int most = static_cast<int>(std::clamp(kWatchedDraws / per_coordinate, 16.0, 1e9));
  return std::min({dim, most, kMostWatched});
}

fs::path draws_beside(const fs::path& checkpoint) {
  return checkpoint.string() + ".draws";
}

SampleRequest::SampleRequest(std::shared_ptr<const Target> drawn_from) : SampleRequest() {
  target = std::move(drawn_from);
}

SampleRequest::SampleRequest(Model model) : SampleRequest() {
  model_text = model.text;
  model_files = model.files;
  model_base = saltus::model_base(model.value);
  target = shared_target(std::move(model));
}

SampleRun::SampleRun(SampleRequest request) : request_(std::move(request)) {
  if (!request_.target) throw UsageError("there is no target to draw from");
  const Target& target = *request_.target;
  if (request_.checkpoint.empty()) request_.checkpoint = request_.resume;
  if (request_.sampler == "auto" && !request_.own_sampler) {
    if (!request_.settings.empty()) {
      throw UsageError("a sampler that is chosen by a race takes no settings: name a sampler");
    }
    choice_ = choose_sampler(target, request_.plan);
    request_.sampler = choice_->winner.sampler;
    request_.settings = choice_->winner.settings;
  }
  std::shared_ptr<const Sampler> sampler = request_.own_sampler;
  if (!sampler) sampler = make_sampler(request_.sampler, target, request_.settings);
  make_run(std::move(sampler));
  moments_ = std::make_unique<Moments>(target.domain(), request_.plan.chains, request_.plan.draws,
                                       request_.keep == Keep::moments);
  run_->add(*moments_);
}

SampleRun::~SampleRun() = default;

void SampleRun::make_run(std::shared_ptr<const Sampler> sampler) {
  const Target& target = *request_.target;
  if (!request_.tempering) {
    run_ = std::make_unique<Run>(target, std::move(sampler), request_.plan);
    return;
  }
  if (request_.start) throw UsageError("tempered chains start from draws of the base");
  run_ = std::make_unique<ParallelTempering>(
      target, std::make_shared<Independent>(base_of(*request_.tempering, request_)),
      std::move(sampler), request_.plan, *request_.tempering);
}

void SampleRun::start() {
  if (!request_.resume.empty()) return restore();
  if (auto* plain = dynamic_cast<Run*>(run_.get()); plain && request_.start) {
    plain->start(request_.start);
  } else {
    run_->start();
  }
  keep_draws();  // not before the start is known to be possible
  if (!request_.checkpoint.empty()) save();
}

void SampleRun::restore() {
  keep_draws();
  const Checkpoint checkpoint = read_checkpoint(request_.resume);
  ByteReader in(checkpoint.state);
  try {
    run_->restore(in);
  } catch (const DataError& e) {
    throw DataError(request_.resume + ": the checkpoint does not fit (" + e.what() + ")");
  }
}

DrawsInfo SampleRun::draws_info() const {
  const Domain& domain = request_.target->domain();
  DrawsInfo info;
  info.model = request_.target->name();
  info.sampler = run_->chosen().name();
  info.shape = request_.target->shape();
  info.levels = domain.max_levels();
  info.first_value = domain.first_value();
  info.spacing = domain.spacing();
  info.exact = run_->chosen().exact();
  info.attributes = request_.attributes;
  info.attributes["version"] = version();
  info.attributes["seed"] = std::to_string(request_.plan.seed);
  info.attributes["model_json"] = request_.model_text;
  return info;
}

// A continued run keeps the coordinates that it began with.
void SampleRun::keep_draws() {
  if (request_.keep == Keep::moments) return;
  const int dim = request_.target->domain().dim(), chains = request_.plan.chains;
  if (request_.coordinates > 0 && request_.coordinates < dim) {
    kept_ = spread_coordinates(dim, request_.coordinates);
  }
  if (request_.keep != Keep::disk) {
    if (request_.keep == Keep::arrays && request_.arrays.states.empty()) {
      throw UsageError("there is no array for the draws");
    }
    in_memory_ = std::make_shared<DrawArrays>(
        draws_info(), dim, chains, request_.plan.draws, kept_,
        request_.keep == Keep::arrays ? request_.arrays : CallerArrays{});
    return run_->add(*in_memory_);
  }
  fs::path path;
  if (!request_.checkpoint.empty()) path = draws_beside(request_.checkpoint);
  if (request_.overwrite) fs::remove(path);
  if (!request_.resume.empty() && !same_file(request_.checkpoint, request_.resume)) {
    copy_draws(draws_beside(request_.resume), path);
  }
  spool_ = std::make_shared<DrawSpool>(draws_info(), dim, chains, kept_, path);
  run_->add(*spool_);
}

bool SampleRun::go(const SampleProgress& progress) {
  std::function<void()> saving;
  if (!request_.checkpoint.empty()) saving = [this] { save(); };
  Pacer pacer(request_.checkpoint_every, request_.time_limit, std::move(saving));
  const bool complete = run_->go([&](const RunStatus& status) {
    const bool wanted = !progress || progress(status);
    return pacer.next() && wanted;
  });
  if (!request_.checkpoint.empty()) save();
  return complete;
}

void SampleRun::save() {
  ByteWriter out;
  run_->save(out);
  write_checkpoint(request_.checkpoint, describe_sample(request_), out.bytes());
}

void SampleRun::save_to(const std::string& checkpoint) {
  if (spool_) spool_->keep_at(draws_beside(checkpoint));
  request_.checkpoint = checkpoint;
  try {
    save();
  } catch (...) {
    request_.checkpoint.clear();
    throw;
  }
}

std::shared_ptr<const Draws> SampleRun::draws() {
  const double step_size = run_->sampler().step_size().value_or(0);
  if (spool_) spool_->set_step_size(step_size);
  if (in_memory_) in_memory_->set_step_size(step_size);
  return spool_ ? std::shared_ptr<const Draws>(spool_) : in_memory_;
}

void SampleRun::add_moment_summaries(SampleResult& r) const {
  if (r.draws_made == 0) return;
  const auto variance = moments_->variance(), ess = moments_->ess(), rhat = moments_->split_rhat();
  for (std::size_t i = 0; i < ess.size(); ++i) {
    const double sd = std::sqrt(variance[i]);
    r.summaries.push_back({r.mean[i], sd, sd / std::sqrt(ess[i]), ess[i], NAN, rhat[i]});
    r.watched.push_back(static_cast<int>(i));
  }
}

void SampleRun::add_exact_answer(SampleResult& r) const {
  if (!request_.exact || r.draws_made == 0) return;
  r.exact = affordable_exact_answer(*request_.target, request_.plan.threads);
  if (r.exact && !std::isfinite(r.exact->log_z))
    r.exact.reset();  // log p of some state is infinite
}

SampleResult SampleRun::result() {
  const Sampler& sampler = run_->sampler();
  SampleResult r;
  r.target = request_.target;
  r.sampler = run_->chosen().name();
  r.parameters = sampler.parameters();
  r.exact_sampler = run_->chosen().exact();
  r.random_sampler = sampler.random();
  if (sampler.tunable()) {
    for (const Tuning& t : sampler.tunable()->tuning()) {
      r.tunes += (r.tunes.empty() ? "" : ", ") + t.parameter;
    }
  }
  r.plan = request_.plan;
  r.tile = run_->tile_size();
  r.draws_made = run_->draws_made();
  r.complete = r.draws_made >= request_.plan.draws;
  r.statistics = run_->statistics();
  r.mean = moments_->mean();
  r.choice = choice_;
  if (const auto* tempering = dynamic_cast<const ParallelTempering*>(run_.get())) {
    r.tempering = tempering->report();
  }
  r.draws = draws();
  if (r.draws) {
    const Draws& all = *r.draws;
    const int count = watched_count(all.dim(), request_.plan);
    const std::vector<int> columns = spread_coordinates(all.dim(), count);
    r.summaries = count == all.dim()
                      ? summarise(all, false, request_.plan.threads)
                      : summarise(SomeColumns(all, columns), false, request_.plan.threads);
    for (int c : columns) {
      r.watched.push_back(kept_.empty() ? c : kept_[static_cast<std::size_t>(c)]);
    }
  } else {
    add_moment_summaries(r);
  }
  if (!r.random_sampler) {  // particles, not draws
    for (CoordinateSummary& s : r.summaries) s = {s.mean, s.sd, NAN, NAN, NAN, NAN};
  }
  add_exact_answer(r);
  r.warnings = sample_warnings(r);
  return r;
}

SampleResult sample(SampleRequest request, const SampleProgress& progress) {
  SampleRun run(std::move(request));
  run.start();
  run.go(progress);
  return run.result();
}

}  // namespace saltus
