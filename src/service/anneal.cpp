#include "saltus/anneal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/core/error.hpp"
#include "saltus/core/stopwatch.hpp"
#include "saltus/target/constraint.hpp"
#include "saltus/target/tempered.hpp"

namespace saltus {
namespace {

constexpr int kPilotSteps = 200;

// States of the free coordinates become those of the whole model.
void add_given(const GivenValues& given, Found& found) {
  const Rows<const Symbol> free = found.state.view();
  RowBuffer<Symbol> all(free.rows, given.domain().dim());
  for (int r = 0; r < free.rows; ++r) given.scatter(free[r], all.view()[r]);
  found.state = std::move(all);
}

// A search from the beginning to its report.
class AnnealService {
 public:
  AnnealService(const AnnealRequest& request, const AnnealProgress& progress)
      : request_(request), progress_(progress) {
    if (!request.target) throw UsageError("there is no target to search");
    if (request.steps < 1) throw UsageError("a search needs at least one step");
    if (request.sampler == "auto" && !request.settings.empty()) {
      throw UsageError("settings have no place where no sampler is named");
    }
    result_.sampler = request.sampler == "auto" ? recommended_search_sampler(*request.target)
                                                : SamplerChoice{request.sampler, request.settings};
    // Made for the path that the chains take: its abilities are those that count.
    const Tempered path(*request.target, Independent::uniform(*request.target));
    sampler_ = make_sampler(result_.sampler.name, path, result_.sampler.settings);
  }

  AnnealResult run() {
    if (tell(AnnealStatus::Stage::range, 0) && find_schedule()) search();
    tell(AnnealStatus::Stage::polish, 0);
    for (Found* found : {&result_.restarts, &result_.pilot}) {
      finish_states(*request_.target, *found, request_.polish, request_.threads);
      if (request_.whole) add_given(request_.whole->given, *found);
    }
    result_.total_seconds = watch_.seconds();
    judge(request_, result_);
    return std::move(result_);
  }

 private:
  bool tell(AnnealStatus::Stage stage, double done) {
    const bool in_time = request_.time_limit <= 0 || watch_.seconds() < request_.time_limit;
    return (!progress_ || progress_({stage, done, best_, watch_.seconds()})) && in_time;
  }

  SearchPlan plan(std::vector<double> betas) const {
    SearchPlan plan;
    plan.betas = std::move(betas);
    plan.reduction = request_.reduction;
    plan.seed = request_.seed;
    plan.threads = request_.threads;
    plan.in_lanes = request_.in_lanes;
    return plan;
  }

  bool go(Search& search, AnnealStatus::Stage stage) {
    return search.go([&](std::size_t made, std::size_t all) {
      for (const double logp : search.found().logp) best_ = std::fmax(best_, logp);
      return tell(stage, static_cast<double>(made) / static_cast<double>(all));
    });
  }

  // False when it was stopped before there was a schedule.
  bool find_schedule() {
    BetaRange range;
    if (!request_.first || !request_.last) {
      range = default_range(*request_.target, request_.seed, request_.threads);
    }
    range = {request_.first.value_or(range.first), request_.last.value_or(range.last)};
    if (request_.schedule == ScheduleKind::linear) {
      result_.betas = linear_schedule(range, request_.steps);
    } else if (request_.schedule == ScheduleKind::geometric || request_.steps == 1) {
      result_.betas = geometric_schedule(range, request_.steps);
    } else {
      return run_pilot(geometric_schedule(range, kPilotSteps));
    }
    return true;
  }

  // A part without restarts of the pilot takes part in the reductions of those that have some.
  bool follow_pilot(const std::vector<double>& betas) {
    const std::size_t tuned = sampler_->tunable() ? sampler_->tunable()->tuning().size() : 0;
    for (std::size_t k = 0; k < betas.size() * tuned; ++k) request_.reduction->gather({});
    result_.betas = adaptive_schedule(betas, mean_trace(), request_.steps);
    return true;
  }

  bool run_pilot(const std::vector<double>& betas) {
    if (request_.reduction && request_.pilots.chains == 0) return follow_pilot(betas);
    SearchPlan pilot = plan(betas);
    pilot.restarts = request_.pilots.chains;
    pilot.first_restart = kPilotRestarts + request_.pilots.first_chain;
    pilot.trace = true;
    Search search(*request_.target, sampler_, pilot);
    const bool complete = go(search, AnnealStatus::Stage::pilot);
    result_.pilot = search.take_found();
    if (complete) result_.betas = adaptive_schedule(betas, mean_trace(), request_.steps);
    return complete;
  }

  // log p after each step of the pilot, its mean over all restarts of all parts in their order.
  std::vector<double> mean_trace() const {
    std::vector<double> all;
    for (const std::vector<double>& t : result_.pilot.trace)
      all.insert(all.end(), t.begin(), t.end());
    if (request_.reduction) all = request_.reduction->gather(all);
    std::vector<double> mean(kPilotSteps);
    for (std::size_t k = 0; k < all.size(); ++k) mean[k % mean.size()] += all[k];
    for (double& m : mean) m *= static_cast<double>(kPilotSteps) / static_cast<double>(all.size());
    return mean;
  }

  void search() {
    SearchPlan plan = this->plan(result_.betas);
    plan.restarts = request_.restarts;
    plan.first_restart = request_.first_restart;
    plan.team = request_.team;
    plan.resample = request_.population;
    const Stopwatch watch;
    Search search(*request_.target, sampler_, plan);
    result_.complete = go(search, AnnealStatus::Stage::restarts);
    result_.seconds = watch.seconds();
    result_.steps_made = search.made();
    result_.in_lanes = search.in_lanes();
    result_.population = search.population();
    result_.parameters = search.sampler().parameters();
    result_.restarts = search.take_found();
  }

  const AnnealRequest& request_;
  const AnnealProgress& progress_;
  std::shared_ptr<const Sampler> sampler_;
  Stopwatch watch_;
  double best_ = std::numeric_limits<double>::quiet_NaN();
  AnnealResult result_;
};

RestartQuantiles quantiles_of(std::vector<double> logp) {
  RestartQuantiles q;
  if (logp.empty()) return q;
  std::sort(logp.begin(), logp.end());
  for (const double v : logp) q.mean += v / static_cast<double>(logp.size());
  const auto at = [&](double part) {  // by linear interpolation
    const double place = part * static_cast<double>(logp.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const double above = logp[std::min(below + 1, logp.size() - 1)];
    return logp[below] + (place - static_cast<double>(below)) * (above - logp[below]);
  };
  q.least = logp.front(), q.q25 = at(0.25), q.median = at(0.5), q.q75 = at(0.75);
  q.largest = logp.back();
  return q;
}

// The best of some restarts replaces `best` where it is better; the lowest name where they tie.
void take_best(const Found& found, std::uint32_t first, std::optional<BestState>& best) {
  for (std::size_t r = 0; r < found.logp.size(); ++r) {
    if (best && !(found.logp[r] > best->logp)) continue;
    const std::span<const Symbol> x = found.state.view().row(static_cast<int>(r));
    best = BestState{
        found.logp[r], {x.begin(), x.end()}, first + static_cast<std::uint32_t>(r), found.step[r]};
  }
}

bool agrees(const WholeModel* whole, const std::vector<Symbol>& state) {
  return !whole || std::ranges::all_of(whole->given.list(), [&](const GivenValue& value) {
    return state[static_cast<std::size_t>(value.first)] == value.second;
  });
}

// The same among the states that the problem allows, each repaired. A repair that changes what is
// given, or breaks the constraint, makes no solution.
void take_solution(const AnnealRequest& request, const Found& found, std::uint32_t first,
                   std::optional<Solution>& best) {
  const Problem& problem = *request.problem;
  const Constraint* constraint =
      (request.whole ? request.whole->target : request.target)->constraint();
  for (std::size_t r = 0; r < found.logp.size(); ++r) {
    const std::span<const Symbol> x = found.state.view().row(static_cast<int>(r));
    Solution solution{0, {x.begin(), x.end()}, first + static_cast<std::uint32_t>(r), 0};
    solution.repaired = problem.repair(solution.state);
    if (!agrees(request.whole.get(), solution.state)) continue;
    if (constraint && !constraint->allows(solution.state.data())) continue;
    solution.value = problem.value(solution.state);
    if (!best || solution.value > best->value) best = std::move(solution);
  }
}

// A state that only the polish took to the goal counts from the step at which it was found.
std::optional<FirstReach> first_reach(const AnnealResult& result) {
  std::optional<std::uint64_t> first;
  for (std::size_t r = 0; r < result.restarts.logp.size(); ++r) {
    if (result.restarts.logp[r] < result.goal - logp_tolerance(result.goal)) continue;
    first = std::min(first.value_or(result.restarts.step[r]), result.restarts.step[r]);
  }
  if (!first || result.steps_made == 0) return std::nullopt;
  return FirstReach{
      *first, *first * result.restarts.logp.size(),
      result.seconds * static_cast<double>(*first) / static_cast<double>(result.steps_made)};
}

void put_found(ByteWriter& out, const Found& found) {
  out.put_array(std::span<const double>(found.logp));
  out.put_array(std::span<const double>(found.last_logp));
  out.put_array(std::span<const std::uint64_t>(found.step));
  for (int r = 0; r < found.state.view().rows; ++r) {
    out.put_array(std::span<const Symbol>(found.state.view().row(r)));
  }
}

// Adds what a part has found to what others have, whose restarts come before.
void add_found(ByteReader& in, int dim, Found& all, std::vector<std::vector<Symbol>>& states) {
  const std::size_t count = in.next_array_length(sizeof(double)), before = all.logp.size();
  const auto add = [&](auto& values) {
    values.resize(before + count);
    in.get_array(std::span(values).subspan(before));
  };
  add(all.logp), add(all.last_logp), add(all.step);
  for (std::size_t r = 0; r < count; ++r) {
    states.emplace_back(static_cast<std::size_t>(dim));
    in.get_array(std::span(states.back()));
  }
}

Found joined(const std::vector<std::vector<std::byte>>& parts, std::vector<ByteReader>& in,
             int dim) {
  Found all;
  std::vector<std::vector<Symbol>> states;
  for (std::size_t p = 0; p < parts.size(); ++p) add_found(in[p], dim, all, states);
  all.state = RowBuffer<Symbol>(static_cast<int>(states.size()), dim);
  for (std::size_t r = 0; r < states.size(); ++r) {
    std::ranges::copy(states[r], all.state.view()[static_cast<int>(r)]);
  }
  return all;
}

// This process's share of the request.
AnnealRequest share_of(const AnnealRequest& request, const Membership& member) {
  AnnealRequest mine = request;
  mine.reduction = mine.team = member.team.get();
  mine.time_limit = 0;  // the leader's decision
  mine.first_restart += member.range.first_chain;
  mine.restarts = member.range.chains;
  const std::vector<ChainRange> pilots =
      chain_ranges(*request.target, request.pilots.chains, 0, member.team->size());
  const auto rank = static_cast<std::size_t>(member.team->rank());
  mine.pilots = rank < pilots.size()
                    ? pilots[rank]
                    : ChainRange{static_cast<std::uint32_t>(request.pilots.chains), 0};
  return mine;
}

AnnealResult shared_search(const AnnealRequest& request, const AnnealProgress& progress) {
  Team& all = *request.team;
  const Membership member =
      join_team(all, chain_ranges(*request.target, request.restarts, 0, all.size()));
  if (!member.team) return {};
  const Stopwatch watch;
  const AnnealProgress tell = [&](const AnnealStatus& status) {
    const auto leader_says = [&] {
      const bool wanted = !progress || progress(status);
      return wanted && (request.time_limit <= 0 || watch.seconds() < request.time_limit);
    };
    if (status.stage == AnnealStatus::Stage::restarts) {
      return agree(member.team.get(), leader_says, [](ByteWriter&) {});
    }
    if (all.leads()) leader_says();
    return true;
  };
  const AnnealRequest mine = share_of(request, member);
  AnnealResult result = AnnealService(mine, tell).run();
  ByteWriter out;
  put_found(out, result.restarts);
  put_found(out, result.pilot);
  const std::vector<std::vector<std::byte>> parts = member.team->collect(out.bytes());
  if (!all.leads()) return {};
  std::vector<ByteReader> in(parts.begin(), parts.end());
  const int dim = (request.whole ? request.whole->target : request.target)->domain().dim();
  result.restarts = joined(parts, in, dim);
  result.pilot = joined(parts, in, dim);
  result.warnings.clear();
  judge(request, result);
  return result;
}

}  // namespace

SamplerChoice recommended_search_sampler(const Target& target) {
  if (target.constraint()) return {"dmala", {}};
  constexpr int kFew = 16;  // numbers that are never too many
  const LocalMoves* moves = target.local_moves();
  const bool sparse = moves && moves->work() <= std::max(kFew, target.domain().dim() / 4);
  if (!target.gibbs_sweeps() && !sparse) return {"dmala", {}};
  return {"gibbs", {{"scan", "systematic"}, {"updates", "sweep"}}};
}

bool BestState::pilot() const {
  return restart >= kPilotRestarts;
}

AnnealRequest::AnnealRequest(Model model)
    : objective(model.objective), labels(labels_of(model.value)), whole(model.whole) {
  const auto owner = std::make_shared<const Model>(std::move(model));
  target = {owner, owner->target.get()};
  problem = problem_of(owner);
}

void judge(const AnnealRequest& request, AnnealResult& result) {
  result.best.reset();
  take_best(result.restarts, request.first_restart, result.best);
  take_best(result.pilot, kPilotRestarts + request.pilots.first_chain, result.best);
  result.quantiles = quantiles_of(result.restarts.logp);
  if (!result.best) return;
  result.goal = request.goal.value_or(result.best->logp);
  result.reached = static_cast<int>(std::ranges::count_if(result.restarts.logp, [&](double logp) {
    return logp >= result.goal - logp_tolerance(result.goal);
  }));
  result.first_reach = first_reach(result);
  if (const Problem* problem = request.problem.get()) {
    result.report = problem->report(result.best->state);
    result.solution.reset();
    if (problem->repairs()) {
      take_solution(request, result.restarts, request.first_restart, result.solution);
      take_solution(request, result.pilot, kPilotRestarts + request.pilots.first_chain,
                    result.solution);
    }
  }
  const auto restarts = static_cast<int>(result.restarts.logp.size());
  if (result.population && result.population->rho_t > restarts / 100.0) {
    result.warnings.push_back(
        {"families",
         "the population has too few families left for log Z to be trusted: take more "
         "restarts, or more steps."});
  }
  if (!result.complete || restarts == 0 || result.population) return;
  result.success = success_rate(result.reached, restarts);
  result.time_to_solution = time_to_solution(result.reached, restarts);
}

AnnealResult anneal(const AnnealRequest& request, const AnnealProgress& progress) {
  return request.team ? shared_search(request, progress) : AnnealService(request, progress).run();
}

}  // namespace saltus
