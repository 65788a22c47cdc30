#include "saltus/sample.hpp"

#include <algorithm>
#include <cmath>

#include "io/bytes/new_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/model/models.hpp"
#include "saltus/run/best_draw.hpp"
#include "saltus/run/checkpoint.hpp"
#include "saltus/run/draw_spool.hpp"
#include "saltus/run/moments.hpp"
#include "saltus/target/constraint.hpp"
#include "saltus/version.hpp"
#include "service/kept_choice.hpp"
#include "service/parts.hpp"
#include "service/some_columns.hpp"
#include "service/whole.hpp"
#include "temper/tempering_json.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;

// Diagnostics of more numbers than this would take longer than many a run.
constexpr double kWatchedDraws = 5e8;
constexpr int kMostWatched = 10000;
// Members of a team meet between rounds: less often than threads of one process.
constexpr double kTeamRoundSeconds = 0.2;

// `count` coordinates, evenly spread.
std::vector<int> spread_coordinates(int dim, int count) {
  std::vector<int> list;
  for (int c = 0; c < count; ++c) list.push_back(static_cast<int>(std::int64_t{c} * dim / count));
  return list;
}

std::vector<int> checked_columns(const std::vector<int>& columns, int dim) {
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const bool fits = columns[k] >= 0 && columns[k] < dim;
    if (fits && (k == 0 || columns[k - 1] < columns[k])) continue;
    throw UsageError("coordinate " + std::to_string(columns[k]) +
                     " cannot be kept: they are named in increasing order, from 0 to " +
                     std::to_string(dim - 1));
  }
  return columns;
}

// DrawsInfo::classes of some coordinates; empty: of all.
std::vector<int> classes_of(const Domain& domain, std::vector<int> coordinates) {
  if (domain.kind() == Domain::Kind::ordered) return {};
  if (domain.uniform_levels() > 0) return {domain.uniform_levels()};
  if (coordinates.empty()) coordinates = spread_coordinates(domain.dim(), domain.dim());
  for (int& c : coordinates) c = domain.levels(c);
  return coordinates;
}

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
    return Independent::with_probabilities(domain, tempering.probabilities);
  }
  if (tempering.base == "model" && !request.model_base) {
    throw UsageError("the model " + target.name() + " has no base of its own");
  }
  return request.model_base && tempering.base != "uniform" ? *request.model_base
                                                           : Independent::uniform(target);
}

ObjectiveSummary summarise_objective(const Objective& objective, const SampleResult& r) {
  ObjectiveSummary s{objective, NAN, NAN};
  s.best = objective.of_state(logp_of(*r.target, r.best->state.data()));
  const auto logp = std::ranges::find(r.observables, "log p", &ObservableSummary::name);
  if (logp != r.observables.end()) s.mean = objective.value(logp->mean);
  return s;
}

std::vector<Expression> expressions_of(const SampleRequest& request) {
  if (request.observe.empty()) return {};
  const Target& target = request.whole ? *request.whole->target : *request.target;
  const Domain& domain = target.domain();
  const ExpressionSpace space = {domain.dim(), target.shape(), domain.first_value(),
                                 domain.spacing()};
  auto list = parse_expressions(request.observe, space);
  if (request.keep == Keep::moments || !request.columns.empty() ||
      (request.coordinates > 0 && request.coordinates < request.target->domain().dim())) {
    throw UsageError("observables need the draws of all coordinates, which this run does not keep");
  }
  return list;
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
  model_base = base_of_target(model);
  whole = model.whole;
  objective = model.objective;
  labels = labels_of(model.value);
  target = shared_target(std::move(model));
}

SampleRun::SampleRun(SampleRequest request) : request_(std::move(request)) {
  if (!request_.target) throw UsageError("there is no target to draw from");
  if (request_.checkpoint.empty()) request_.checkpoint = request_.resume;
  own_ = expressions_of(request_);
  if (request_.sampler == "auto" && !request_.own_sampler) choose();
  sampler_ = request_.own_sampler;
  if (!sampler_) sampler_ = make_sampler(request_.sampler, *request_.target, request_.settings);
  if (request_.tempering && request_.start) {
    throw UsageError("tempered chains start from draws of the base");
  }
  if (request_.team) join_team();
  if (!idle_) make_run();
}

SampleRun::~SampleRun() = default;

void SampleRun::choose() {
  ByteWriter winner;
  if (!request_.team || request_.team->leads()) {
    request_.choice = kept_choice(request_);
    if (!request_.choice) {
      ChoiceOptions options;
      options.settings = request_.settings;
      options.tempering = !request_.tempering && !request_.start;
      if (request_.model_base) {
        options.base = std::make_shared<Independent>(*request_.model_base);
      }
      request_.choice = choose_sampler(*request_.target, request_.plan, options);
      keep_choice(request_, *request_.choice);
    }
    const Contender& chosen = request_.choice->winner;
    request_.sampler = chosen.sampler;
    request_.settings = chosen.settings;
    if (chosen.tempered) request_.tempering.emplace();
    winner.put(chosen.tempered);
    put_text(winner, request_.sampler);
    for (const auto& [key, value] : request_.settings)
      put_text(winner, key), put_text(winner, value);
  }
  if (!request_.team) return;
  const std::vector<std::byte> bytes = request_.team->share(winner.bytes());
  ByteReader in(bytes);
  if (in.get<bool>() && !request_.tempering) request_.tempering.emplace();
  request_.sampler = get_text(in);
  request_.settings.clear();
  while (!in.empty()) {
    const std::string key = get_text(in);
    request_.settings[key] = get_text(in);
  }
}

// Chains that move together stay together.
void SampleRun::join_team() {
  const RunPlan& plan = request_.plan;
  const std::vector<ChainRange> ranges =
      chain_ranges(*request_.target, plan.chains, sampler_->interacting() ? plan.chains : plan.tile,
                   request_.team->size());
  Membership member = saltus::join_team(*request_.team, ranges);
  part_ = request_.team->rank() + 1;
  parts_ = static_cast<int>(ranges.size());
  if (request_.keep_apart && !(request_.checkpoint + request_.resume).empty()) {
    throw UsageError("draws that processes keep apart cannot be saved with a checkpoint");
  }
  team_ = std::move(member.team);
  range_ = member.range;
  idle_ = !team_;
  if (idle_ || !team_->leads()) request_.checkpoint.clear();
}

// Of all chains, or of those that this process has in its team.
void SampleRun::make_run() {
  const Target& target = *request_.target;
  RunPlan plan = request_.plan;
  if (team_) {
    plan.chains = range_.chains;
    plan.first_chain += range_.first_chain;
    plan.reduction = plan.team = team_.get();
    plan.round_seconds = kTeamRoundSeconds;
  }
  if (request_.tempering) {
    run_ = std::make_unique<ParallelTempering>(
        target, std::make_shared<Independent>(base_of(*request_.tempering, request_)), sampler_,
        plan, *request_.tempering);
  } else {
    run_ = std::make_unique<Run>(target, sampler_, plan);
  }
  moments_ = std::make_unique<Moments>(target.domain(), plan.chains, plan.draws,
                                       request_.keep == Keep::moments || request_.keep_apart);
  run_->add(*moments_);
  best_ = std::make_unique<BestSoFar>(target.domain().dim(), plan.chains);
  run_->add(*best_);
  if (request_.listener) run_->add(*request_.listener);
}

void SampleRun::start() {
  if (idle_) return;
  if (!request_.resume.empty()) return restore();
  if (auto* plain = dynamic_cast<Run*>(run_.get()); plain && request_.start) {
    Rows<const Symbol> mine = request_.start;
    if (team_) {
      mine.data += static_cast<std::ptrdiff_t>(range_.first_chain) * mine.stride;
      mine.rows = range_.chains;
    }
    plain->start(mine);
  } else {
    run_->start();
  }
  keep_draws();  // not before the start is known to be possible
  const auto save_first = [this] {
    if (!request_.checkpoint.empty()) save();
    return true;
  };
  agree(team_.get(), save_first, [this](ByteWriter& out) { run_->save(out); });
}

void SampleRun::restore() {
  keep_draws();
  std::vector<std::byte> state;
  if (!team_ || team_->leads()) state = read_checkpoint(request_.resume).state;
  if (team_) state = team_->share(state);
  ByteReader in =
      team_ ? ByteReader(state, range_.first_chain, static_cast<std::size_t>(request_.plan.chains))
            : ByteReader(state);
  try {
    run_->restore(in);
  } catch (const DataError& e) {
    throw DataError(request_.resume + ": the checkpoint does not fit (" + e.what() + ")");
  }
}

std::vector<std::byte> SampleRun::state() const {
  ByteWriter out;
  if (in_memory_) in_memory_->leave_out_states(true);
  run_->save(out);
  if (in_memory_) in_memory_->leave_out_states(false);
  return {out.bytes().begin(), out.bytes().end()};
}

void SampleRun::start_from(std::span<const std::byte> state) {
  keep_draws();
  if (in_memory_) in_memory_->leave_out_states(true);
  ByteReader in(state);
  run_->restore(in);
  if (in_memory_) in_memory_->leave_out_states(false);
}

const Target& SampleRun::whole_target() const {
  return request_.whole ? *request_.whole->target : *request_.target;
}

// Of all coordinates, given ones too, unless some alone are kept.
DrawsInfo SampleRun::draws_info() const {
  const Target& target = whole_target();
  const Domain& domain = target.domain();
  DrawsInfo info;
  info.model = target.name();
  info.sampler = run_->chosen().name();
  info.shape = target.shape();
  info.levels = domain.max_levels();
  info.first_value = domain.first_value();
  info.spacing = domain.spacing();
  info.classes = classes_of(domain, whole_columns(kept_, request_.whole.get()));
  if (kept_.empty()) info.bonds = sparse_bonds(target);
  info.exact = run_->chosen().exact();
  info.first_chain = request_.plan.first_chain;
  info.chains_of_run = request_.chains_of_run;
  if (request_.keep_apart && team_ && parts_ > 1) {
    info.first_chain += range_.first_chain;
    if (info.chains_of_run == 0) info.chains_of_run = request_.plan.chains;
  }
  info.attributes = request_.attributes;
  const Labels& labels = request_.labels;
  if (!labels.coordinates.empty()) info.attributes["labels"] = coordinates_json(labels);
  if (!labels.levels.empty()) info.attributes["level_names"] = levels_json(labels);
  if (const Constraint* constraint = target.constraint()) {
    info.attributes["constraint"] = constraint->text();
  }
  info.attributes["version"] = version();
  info.attributes["seed"] = std::to_string(request_.plan.seed);
  info.attributes["model_json"] = request_.whole        ? request_.whole->text
                                  : target.constraint() ? without_constraint(request_.model_text)
                                                        : request_.model_text;
  if (request_.whole) info.attributes["given"] = request_.whole->given.text();
  return info;
}

// A continued run keeps the coordinates that it began with.
void SampleRun::keep_draws() {
  if (request_.keep == Keep::moments) return;
  const Domain& domain = request_.target->domain();
  if (request_.coordinates > 0 && request_.coordinates < domain.dim()) {
    kept_ = spread_coordinates(domain.dim(), request_.coordinates);
  }
  if (!request_.columns.empty()) kept_ = checked_columns(request_.columns, domain.dim());
  const bool apart = team_ && request_.keep_apart;
  if (team_ && !apart && !team_->leads()) {
    transport_ = sending_recorder(*team_, domain, range_.chains, kept_);
    return run_->add(*transport_);
  }
  keep_here(apart ? range_.chains : request_.plan.chains);
  Recorder* keeper = spool_.get();
  if (in_memory_) keeper = in_memory_.get();
  if (team_ && !apart) {
    transport_ = receiving_recorder(*team_, *keeper, domain, range_.chains, kept_);
    keeper = transport_.get();
  }
  run_->add(*keeper);
}

void SampleRun::keep_here(int chains) {
  const int dim = request_.target->domain().dim();
  if (request_.keep != Keep::disk) {
    if (request_.keep == Keep::arrays && request_.arrays.states.empty() &&
        request_.arrays.bytes.empty()) {
      throw UsageError("there is no array for the draws");
    }
    in_memory_ = std::make_shared<DrawArrays>(
        draws_info(), dim, chains, request_.plan.draws, kept_,
        request_.keep == Keep::arrays ? request_.arrays : CallerArrays{});
    return;
  }
  fs::path path;
  if (!request_.checkpoint.empty()) path = draws_beside(request_.checkpoint);
  if (request_.overwrite) fs::remove(path);
  if (!request_.resume.empty() && !same_file(request_.checkpoint, request_.resume)) {
    copy_draws(draws_beside(request_.resume), path);
  }
  spool_ = std::make_shared<DrawSpool>(draws_info(), dim, chains, kept_, path);
}

// Makes one run of those of the team, for the leader.
void SampleRun::gather() {
  const std::vector<std::byte> bytes =
      saved_together(team_.get(), [this](ByteWriter& out) { run_->save(out); });
  const bool leads = team_->leads();
  team_.reset();
  if (!leads) return;
  make_run();
  if (spool_ && !request_.keep_apart) run_->add(*spool_);
  if (in_memory_ && !request_.keep_apart) run_->add(*in_memory_);
  ByteReader in(bytes);
  run_->restore(in);
}

bool SampleRun::go(const SampleProgress& progress) {
  if (idle_) return true;
  std::function<void()> saving;
  if (!request_.checkpoint.empty()) saving = [this] { save(); };
  Pacer pacer(request_.checkpoint_every, request_.time_limit, std::move(saving));
  const bool complete = run_->go([&](const RunStatus& status) {
    const auto leader_says = [&] {
      const bool wanted = !progress || progress(status);
      return pacer.next() && wanted;
    };
    return agree(team_.get(), leader_says, [this](ByteWriter& out) { run_->save(out); });
  });
  if (team_) gather();
  if (!request_.checkpoint.empty()) save();
  return complete;
}

void SampleRun::save() {
  write_checkpoint(request_.checkpoint, describe_sample(request_),
                   saved_by_all(team_.get(), [this](ByteWriter& out) { run_->save(out); }));
}

void SampleRun::save_to(const std::string& checkpoint) {
  if (team_) throw FileError("a run in several processes is saved between rounds alone", true);
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
  std::shared_ptr<const Draws> all = free_draws();
  if (!all || !request_.whole || !kept_.empty()) return all;
  return std::make_shared<DrawsWithGiven>(std::move(all), request_.whole->given);
}

std::shared_ptr<const Draws> SampleRun::free_draws() {
  const double step_size = run_->sampler().step_size().value_or(0);
  if (spool_) spool_->set_step_size(step_size);
  if (in_memory_) in_memory_->set_step_size(step_size);
  const auto* tempering = dynamic_cast<const ParallelTempering*>(run_.get());
  // All parts of a run would have to ask for the record at once.
  if (tempering && !request_.plan.reduction && run_->draws_made() > 0) {
    set_attribute("tempering", tempering_record(tempering->report()));
  }
  return spool_ ? std::shared_ptr<const Draws>(spool_) : in_memory_;
}

void SampleRun::set_attribute(const std::string& name, const std::string& text) {
  if (spool_) spool_->set_attribute(name, text);
  if (in_memory_) in_memory_->set_attribute(name, text);
}

void SampleRun::add_moment_summaries(SampleResult& r) const {
  if (r.draws_made == 0) return;
  const auto variance = moments_->variance(), ess = moments_->ess(), rhat = moments_->split_rhat();
  for (int i = 0; i < whole_target().domain().dim(); ++i) {
    const int place = request_.whole ? request_.whole->given.place(i) : i;
    const double mean = r.mean[static_cast<std::size_t>(i)];
    r.watched.push_back(i);
    if (place < 0) {
      r.summaries.push_back({mean, 0, NAN, NAN, NAN, NAN});
      continue;
    }
    const auto k = static_cast<std::size_t>(place);
    const double sd = std::sqrt(variance[k]);
    r.summaries.push_back({mean, sd, sd / std::sqrt(ess[k]), ess[k], NAN, rhat[k]});
  }
}

void SampleRun::add_exact_answer(SampleResult& r) const {
  if (!request_.exact || r.draws_made == 0) return;
  r.exact = affordable_exact_answer(*request_.target, request_.plan.threads);
  if (r.exact && !std::isfinite(r.exact->log_z))
    r.exact.reset();  // log p of some state is infinite
  if (r.exact && request_.whole) r.exact = with_given(*r.exact, *request_.target, *request_.whole);
}

SampleResult SampleRun::result() {
  const Sampler& sampler = run_->sampler();
  SampleResult r;
  r.whole = request_.whole;
  r.target = r.whole ? r.whole->target : request_.target;
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
  r.mean = r.whole ? means_with_given(moments_->mean(), r.whole->given) : moments_->mean();
  r.kept = kept_;
  r.choice = request_.choice;
  if (const auto* tempering = dynamic_cast<const ParallelTempering*>(run_.get())) {
    r.tempering = tempering->report();
  }
  if (!(request_.keep_apart && request_.team)) {
    r.draws = free_draws();
    if (r.draws && r.draws_made > 0 && request_.probe) r.probe = probe_modes(request_, r);
    if (r.draws) r.draws = draws();
  }
  r.kept = whole_columns(std::move(r.kept), r.whole.get());
  if (r.draws) {
    const Draws& all = *r.draws;
    const int count = watched_count(all.dim(), request_.plan);
    const std::vector<int> columns = spread_coordinates(all.dim(), count);
    r.summaries = count == all.dim()
                      ? summarise(all, false, request_.plan.threads)
                      : summarise(SomeColumns(all, columns), false, request_.plan.threads);
    for (int c : columns) {
      r.watched.push_back(r.kept.empty() ? c : r.kept[static_cast<std::size_t>(c)]);
    }
  } else {
    add_moment_summaries(r);
  }
  if (!r.random_sampler) {  // particles, not draws
    for (CoordinateSummary& s : r.summaries) {
      s.mcse = s.ess_bulk = s.ess_tail = s.rhat = NAN;
      for (ClassSummary& c : s.classes) c.mcse = c.ess = c.rhat = NAN;
    }
  }
  r.best = best_->best();
  if (r.best && r.whole) r.best->state = r.whole->given.whole(r.best->state);
  if (r.draws && r.draws_made > 0) {
    r.observables = observe(*r.draws, own_, own_.empty() ? Reading::quick : Reading::thorough);
  }
  r.labels = request_.labels;
  if (request_.objective && r.best) r.objective = summarise_objective(*request_.objective, r);
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
