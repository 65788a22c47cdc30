#include "saltus/logz.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/checksum.hpp"
#include "saltus/anneal/ais.hpp"
#include "saltus/core/error.hpp"
#include "saltus/run/checkpoint.hpp"
#include "saltus/version.hpp"
#include "service/parts.hpp"

namespace saltus {
namespace {

// An estimate that rests on fewer chains than this, and on less than half of them, has no
// trustworthy standard error.
constexpr double kFewChains = 10;
// Between the estimate by tempering and the interval of annealing. A standard error over four
// ensembles is rough.
constexpr double kManyErrors = 4;

Independent base_of(const LogzRequest& request) {
  const Domain& domain = request.target->domain();
  if (domain.unbounded()) {
    throw UsageError(
        "log Z is estimated from finitely many levels, but the integers of the model " +
        request.target->name() + " are unbounded");
  }
  return request.base ? *request.base : Independent::uniform(*request.target);
}

// All that determines the weights, so that a checkpoint is not taken for another estimate. Of the
// base and of the betas a sum.
std::string description_of(const LogzRequest& request, const Independent& base) {
  const AnnealingPlan& plan = request.plan.annealing;
  const Domain& domain = base.domain();
  Checksum betas, probabilities;
  for (const double beta : plan.betas) betas.add(std::bit_cast<std::uint64_t>(beta));
  for (int i = 0; i < domain.dim(); ++i) {
    for (int k = 0; k < domain.levels(i); ++k) {
      probabilities.add(std::bit_cast<std::uint64_t>(base.log_probability(i, k)));
    }
  }
  nlohmann::ordered_json d;
  d["version"] = version();
  d["logz"] = request.model_text;
  d["files"] = request.files;
  d["sampler"] = request.sampler;
  d["settings"] = request.settings;
  d["sum_of_base"] = probabilities.value();
  d["betas"] = plan.betas.size();
  d["sum_of_betas"] = betas.value();
  d["steps"] = plan.steps_per_beta;
  d["chains"] = plan.chains;
  d["seed"] = plan.seed;
  d["reverse"] = request.plan.reverse;
  d["warmup"] = request.plan.warmup;
  if (!request.annealing) d["annealing"] = false;
  if (const auto& t = request.tempering) {
    Checksum ladder;
    for (const double beta : t->betas) ladder.add(std::bit_cast<std::uint64_t>(beta));
    d["tempering"] = {t->replicas,   ladder.value(), t->steps,    t->run.chains,
                      t->run.warmup, t->run.draws,   t->run.seed, t->run.tile};
  }
  return d.dump();
}

// What makes the estimates that were asked for, one after the other.
struct Work {
  std::unique_ptr<AisRun> annealing;
  std::unique_ptr<ParallelTempering> tempering;

  void save(ByteWriter& out) const {
    if (annealing) annealing->save(out);
    if (tempering) tempering->save(out);
  }
  // Of all chains, or of those of a member.
  struct Places {
    std::size_t first = 0, of = 0;
  };
  void restore(ByteReader in, const Places& chains, const Places& ensembles) const {
    in.read_chains(chains.first, chains.of);
    if (annealing) annealing->restore(in);
    in.read_chains(ensembles.first, ensembles.of);
    if (tempering) tempering->restore(in);
  }
  // True when all is done.
  bool go(const LogzProgress& proceed) const {
    const auto of_annealing = [&](const AisStatus& s) {
      return proceed({static_cast<LogzStatus::Stage>(s.stage), s.done});
    };
    const auto of_tempering = [&](const RunStatus& s) {
      return proceed({LogzStatus::Stage::tempering,
                      static_cast<double>(s.step) / static_cast<double>(s.steps)});
    };
    return (!annealing || annealing->go(of_annealing)) &&
           (!tempering || tempering->go(of_tempering));
  }
};

// What a checkpoint holds of the estimate that the description is of.
std::vector<std::byte> saved_state(const std::string& file, const std::string& description) {
  Checkpoint checkpoint = read_checkpoint(file);
  if (checkpoint.description != description) {
    const auto then = nlohmann::json::parse(checkpoint.description, nullptr, false);
    const auto now = nlohmann::json::parse(description)["files"];
    for (const auto& [path, sum] : now.items()) {
      if (then.is_object() && then.contains("files") && then["files"].value(path, sum) != sum) {
        throw DataError(path + " has changed since " + file + " was saved");
      }
    }
    throw UsageError(file + " holds an estimate with other options, of another model, or by " +
                     "another version");
  }
  return std::move(checkpoint.state);
}

void restore(const Work& work, std::span<const std::byte> state, const std::string& file,
             const Work::Places& chains = {}, const Work::Places& ensembles = {}) {
  try {
    work.restore(ByteReader(state), chains, ensembles);
  } catch (const DataError& e) {
    throw DataError(file + ": the checkpoint does not fit (" + e.what() + ")");
  }
}

// The estimates of a request, and this process's share of their chains: all, without a team.
struct Shared {
  const Tempered& path;
  const LogzRequest& request;
  std::unique_ptr<Team> team;
  AisPlan plan;  // of this process
  std::optional<LogzTempering> tempering;
  Work::Places chains, ensembles;
  bool leads = true, idle = false;

  Shared(const Tempered& p, const LogzRequest& r)
      : path(p), request(r), plan(r.plan), tempering(r.tempering) {
    if (!r.team) return;
    leads = r.team->leads();
    int members = r.team->size();
    if (r.annealing) members = static_cast<int>(ranges_of(plan.annealing, members).size());
    if (tempering) members = static_cast<int>(ranges_of(tempering->run, members).size());
    team = r.team->first(members);
    idle = !team;
    if (idle) return;
    if (r.annealing) chains = take_share(plan.annealing);
    if (tempering) ensembles = take_share(tempering->run);
  }

  template <class Plan>
  std::vector<ChainRange> ranges_of(const Plan& of, int members) const {
    return chain_ranges(path, of.chains, of.tile, members);
  }
  template <class Plan>
  Work::Places take_share(Plan& mine) const {
    const auto all = static_cast<std::size_t>(mine.chains);
    const ChainRange range = ranges_of(mine, team->size())[static_cast<std::size_t>(team->rank())];
    mine.chains = range.chains;
    mine.first_chain += range.first_chain;
    mine.reduction = mine.team = team.get();
    return {range.first_chain, all};
  }

  std::unique_ptr<Sampler> sampler() const {
    return make_sampler(request.sampler, path, request.settings);
  }
  Work work(const AisPlan& ais, const std::optional<LogzTempering>& t) const {
    Work work;
    if (request.annealing) work.annealing = std::make_unique<AisRun>(path, sampler(), ais);
    if (t) {
      work.tempering = std::make_unique<ParallelTempering>(
          *request.target, std::make_shared<Independent>(path.base()), sampler(), t->run, *t);
    }
    return work;
  }
};

// Goes on to the end, or until it is stopped; then it is saved, where a file is named. Returns the
// whole work, for the leader, if it is complete.
std::optional<Work> estimate(const Shared& shared, const LogzProgress& progress) {
  if (shared.idle) return std::nullopt;
  const LogzRequest& request = shared.request;
  Team* const team = shared.team.get();
  const std::string description = description_of(request, shared.path.base());
  Work work = shared.work(shared.plan, shared.tempering);
  if (!request.resume.empty()) {
    std::vector<std::byte> state;
    if (shared.leads) state = saved_state(request.resume, description);
    if (team) state = team->share(state);
    restore(work, state, request.resume, shared.chains, shared.ensembles);
  } else if (work.tempering) {
    work.tempering->start();
  }
  const SavePart save_part = [&](ByteWriter& out) { work.save(out); };
  const std::string& file = request.checkpoint.empty() ? request.resume : request.checkpoint;
  std::function<void()> save;
  if (!file.empty() && shared.leads) {
    save = [&] { write_checkpoint(file, description, saved_by_all(team, save_part)); };
  }
  Pacer pacer(request.checkpoint_every, request.time_limit, save);
  const bool complete = work.go([&](const LogzStatus& status) {
    const auto leader_says = [&] {
      const bool wanted = !progress || progress(status);
      return pacer.next() && wanted;
    };
    return agree(team, leader_says, save_part);
  });
  const std::vector<std::byte> state = saved_together(team, save_part);
  if (!shared.leads) return std::nullopt;
  if (team) {
    work = shared.work(request.plan, request.tempering);
    restore(work, state, "what the processes computed");
  }
  if (!file.empty()) write_checkpoint(file, description, state);
  if (!complete) return std::nullopt;
  return work;
}

void add_annealing_warnings(const AisResult& r, Warnings& list) {
  const auto check = [&](const char* name, const AisEstimate& e) {
    const auto chains = static_cast<double>(e.log_weights.size());
    if (e.ess >= kFewChains || e.ess >= chains / 2) return;
    list.push_back(
        {"weights", fmt::format("the {} weights rest on {:.1f} of {:.0f} chains, so that the "
                                "standard error cannot be trusted; take more betas.",
                                name, e.ess, chains)});
  };
  check("forward", r.forward);
  if (!r.reverse) return;
  check("reverse", *r.reverse);
  if (r.low() > r.high()) {
    list.push_back(
        {"bounds",
         fmt::format(
             "the bounds are in the wrong order: by a rare chance, or because the reverse chains "
             "did "
             "not start from draws of the model; let them take more steps before they start, or "
             "take "
             "another sampler. The forward weights alone say that log Z is above {:.5g}, with 95 % "
             "confidence.",
             log_z_floor(r.forward.log_z))});
  }
}

// Chains of annealing, and those that give its reverse direction a start, stay on the side of a
// forbidden state where they began.
void add_forbidden_warning(const AisEstimate& forward, Warnings& list) {
  const auto dead = std::ranges::count(forward.log_weights, -INFINITY);
  list.push_back({"forbidden",
                  fmt::format("the model has states of probability 0, and {} of {} chains began in "
                              "one and count for nothing. Where such states part the model, the "
                              "interval of annealing may miss log Z; tempering "
                              "crosses them.",
                              dead, forward.log_weights.size())});
}

Warnings warnings_of(const LogzResult& r, const Target& target) {
  Warnings list;
  if (r.estimate) add_annealing_warnings(*r.estimate, list);
  if (r.estimate && target.forbidden_states()) add_forbidden_warning(r.estimate->forward, list);
  if (!r.tempering) return list;
  for (Warning& w : tempering_warnings(*r.tempering)) list.push_back(std::move(w));
  const double z = r.tempering->log_z, reach = kManyErrors * r.tempering->log_z_error;
  if (r.estimate && (z + reach < r.estimate->low() || z - reach > r.estimate->high())) {
    list.push_back(
        {"methods", fmt::format("the methods disagree: annealing puts log Z between {:.5g} and "
                                "{:.5g}, tempering at {:.5g}. One of them has missed a part of "
                                "the model.",
                                r.estimate->low(), r.estimate->high(), z)});
  }
  return list;
}

}  // namespace

double LogzResult::low() const {
  return estimate ? estimate->low() : tempering->log_z - 2 * tempering->log_z_error;
}

double LogzResult::high() const {
  return estimate ? estimate->high() : tempering->log_z + 2 * tempering->log_z_error;
}

LogzRequest::LogzRequest(std::shared_ptr<const Target> of) : LogzRequest() {
  target = std::move(of);
}

LogzRequest::LogzRequest(Model model) : LogzRequest() {
  base = base_of_target(model);
  model_text = model.text;
  files = model.files;
  target = shared_target(std::move(model));
}

LogzResult logz(const LogzRequest& request, const LogzProgress& progress) {
  if (!request.target) throw UsageError("there is no target whose log Z to estimate");
  if (!request.annealing && !request.tempering) {
    throw UsageError("log Z is estimated by annealing, by tempering or by both, but none is given");
  }
  const Tempered path(*request.target, base_of(request));
  const Shared shared(path, request);
  const int threads = request.plan.annealing.threads;
  LogzResult result;
  try {
    if (request.test) result.mean_logp = mean_logp(*request.target, request.test, threads);
  } catch (const DataError& e) {
    throw DataError(request.test_name + ": " + e.what());
  }
  if (request.annealing) result.tuned = shared.sampler()->tunable() != nullptr;
  const std::optional<Work> work = estimate(shared, progress);
  if (!work) return result;
  result.complete = true;
  if (work->annealing) result.estimate = work->annealing->result();
  if (work->tempering) {
    result.tempering = work->tempering->report();
    result.tempering_seconds = work->tempering->statistics().seconds;
  }
  result.warnings = warnings_of(result, *request.target);
  if (const auto answer = affordable_exact_answer(*request.target, threads)) {
    result.exact = answer->log_z;
  }
  if (result.mean_logp) {
    result.log_likelihood =
        LikelihoodInterval{*result.mean_logp - result.high(), *result.mean_logp - result.low()};
  }
  return result;
}

}  // namespace saltus
