#include "saltus/temper/parallel_tempering.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "saltus/anneal/annealing.hpp"
#include "saltus/core/error.hpp"
#include "saltus/temper/ladder.hpp"

namespace saltus {
namespace {

constexpr int kFirstPairs = 8;              // of a ladder whose length is to be found
constexpr std::uint64_t kTuningScans = 10;  // between two updates of step sizes
constexpr std::uint64_t kLeastScans = 16;   // of a round after which the ladder's length changes
constexpr int kMostTries = 1000;            // to find a start that the model allows
constexpr std::uint32_t kSlotBits = 20;     // chain k 2^20 + e is slot k of ensemble e
constexpr int kMostReplicas = 4095;
constexpr std::size_t kPathScans = 300, kPathEntries = 65536;  // of travels that are kept

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

double divided(double sum, double count) {
  return count > 0 ? sum / count : NAN;
}

// Of values with these sums; NaN where they differ by rounding alone.
double squares_about_mean(double squares, double sum, double count) {
  const double about_mean = squares - sum * sum / count;
  return about_mean > 1e-12 * squares ? about_mean : NAN;
}

// The value at beta of the line through known values at increasing betas.
double interpolated(std::span<const double> betas, std::span<const double> values, double beta) {
  const auto above = std::lower_bound(betas.begin(), betas.end(), beta);
  if (above == betas.begin()) return values.front();
  if (above == betas.end()) return values.back();
  const auto k = static_cast<std::size_t>(above - betas.begin());
  const double part = (beta - betas[k - 1]) / (betas[k] - betas[k - 1]);
  return values[k - 1] + part * (values[k] - values[k - 1]);
}

// The sums of the ensembles of all parts of a run, in the order of ensembles.
template <class Sums>
std::vector<Sums> gathered(const std::vector<Sums>& sums, Reduction* reduction) {
  constexpr std::size_t numbers = sizeof(Sums) / sizeof(double);
  if (!reduction) return sums;
  std::vector<double> values(sums.size() * numbers);
  std::ranges::copy(std::as_bytes(std::span(sums)),
                    std::as_writable_bytes(std::span(values)).begin());
  values = reduction->gather(values);
  std::vector<Sums> all(values.size() / numbers);
  std::ranges::copy(std::as_bytes(std::span(values)),
                    std::as_writable_bytes(std::span(all)).begin());
  return all;
}

void check_replicas(const std::vector<std::uint16_t>& replica_of_slot) {
  if (std::ranges::max(replica_of_slot) >= replica_of_slot.size()) {
    throw DataError("a slot holds no known replica");
  }
}

// The slot nearest to beta; of two at the same distance the lower one.
std::size_t nearest(std::span<const double> betas, double beta) {
  return static_cast<std::size_t>(
      std::ranges::min_element(betas, {}, [=](double b) { return std::abs(b - beta); }) -
      betas.begin());
}

}  // namespace

void ParallelTempering::LogSum::add(double log_term) {
  if (log_term == -INFINITY) return;
  if (log_term > top) {
    sum = sum * std::exp(top - log_term) + 1;
    top = log_term;
  } else {
    sum += std::exp(log_term - top);
  }
}

double ParallelTempering::LogSum::value() const {
  return top + std::log(sum);
}

class ParallelTempering::Observer final : public ScanObserver {
 public:
  Observer(ParallelTempering& tempering, std::uint64_t first, bool draws)
      : t_(tempering), first_(first), draws_(draws) {}

  void after_step(int slot, const Tile& tile, std::span<const StepInfo> info) override {
    const int group = t_.pairs() - slot;
    const std::size_t first = place(slot, tile);
    for (std::size_t r = 0; r < info.size(); ++r) {
      SlotSums& sums = t_.slot_sums_[(first + r) * at(t_.slots()) + at(slot)];
      sums.acceptance += info[r].acceptance;
      ++sums.steps;
      if (!draws_ && !t_.tuners_.empty()) t_.tuners_[at(group)].sums().add(first + r, info[r]);
      if (group > 0) continue;
      t_.add_to_round(first + r, info[r]);
      if (draws_) t_.add_to_totals(first + r, info[r]);
    }
  }

  void explored(const Tile& tile, std::span<const StepInfo> info, std::uint64_t scan) override {
    const std::uint64_t done = scan - first_ + 1;
    if (draws_ && done % t_.plan_.thin == 0) t_.record(tile, info, done / t_.plan_.thin - 1);
  }

  void exchanged(int ensemble, std::uint64_t scan, const Exchange& x) override {
    const auto e = at(ensemble);
    if (draws_ && e == 0 && t_.paths_.size() < kPathScans &&
        t_.paths_.size() * at(t_.slots()) < kPathEntries) {
      t_.paths_.push_back(t_.travels_[e].replica_of_slot);
    }
    t_.travels_[e].scan(x.swapped);
    for (int k = 1; k < t_.slots(); ++k) add_slot(e, at(k), x);
    for (int k = static_cast<int>(scan % 2); k < t_.pairs(); k += 2) add_pair(e, at(k), x);
  }

 private:
  // The ensemble of the tile's first row.
  std::size_t place(int slot, const Tile& tile) const {
    return tile.first_slot - at(t_.pairs() - slot) * at(t_.plan_.chains);
  }

  void add_slot(std::size_t e, std::size_t k, const Exchange& x) const {
    const double before = x.before[k], after = x.after[k];
    if (!std::isfinite(before) || !std::isfinite(after)) return;
    SlotSums& sums = t_.slot_sums_[e * at(t_.slots()) + k];
    ++sums.count;
    sums.before += before, sums.after += after;
    sums.before2 += before * before, sums.after2 += after * after;
    sums.product += before * after;
  }

  void add_pair(std::size_t e, std::size_t k, const Exchange& x) const {
    PairSums& sums = t_.pair_sums_[e * at(t_.pairs()) + k];
    const double low = t_.betas_[k], high = t_.betas_[k + 1], step = high - low;
    sums.acceptance += swap_probability(low, high, x.after[k], x.after[k + 1]);
    ++sums.tried;
    sums.forward.add(step * x.after[k]);
    sums.half_forward.add(step / 2 * x.after[k]);
    sums.backward.add(-step * x.after[k + 1]);
    sums.half_backward.add(-step / 2 * x.after[k + 1]);
  }

  ParallelTempering& t_;
  std::uint64_t first_;
  bool draws_;
};

ParallelTempering::ParallelTempering(const Target& model, std::shared_ptr<const Independent> base,
                                     std::shared_ptr<const Sampler> sampler, const RunPlan& run,
                                     const TemperingPlan& tempering)
    : DrawingRun(run),
      model_(model),
      base_(std::move(base)),
      original_(std::move(sampler)),
      tempering_(tempering),
      rounds_(warmup_rounds(run.warmup)),
      betas_(tempering.betas) {
  if (plan_.chains < 1 || plan_.chains >= 1 << kSlotBits) {
    throw UsageError("tempering takes from 1 to 1048575 ensembles");
  }
  if (tempering_.steps < 1) throw UsageError("each scan needs at least one step");
  if (tempering_.replicas == 1 || tempering_.replicas > kMostReplicas) {
    throw UsageError("tempering takes from 2 to " + std::to_string(kMostReplicas) + " replicas");
  }
  if (betas_.empty()) {
    betas_ = linear_betas(tempering_.replicas > 0 ? tempering_.replicas : kFirstPairs + 1);
  }
  check_betas(betas_);
  check_samplers();
  make_ensemble();
  make_tuners({});
  use_tuned(warming_up() ? Tunable::Phase::warmup : Tunable::Phase::draws);
}

ParallelTempering::~ParallelTempering() = default;

void ParallelTempering::check_samplers() const {
  const Tempered path(model_, base_);
  require(*original_, path);
  check_annealing(*original_, path);
  if (tempering_.samplers.empty()) return;
  if (tempering_.betas.empty() || tempering_.samplers.size() != at(pairs())) {
    throw UsageError("samplers of slots go with a given ladder, one for each slot above the base");
  }
  for (const auto& sampler : tempering_.samplers) {
    require(*sampler, path);
    check_annealing(*sampler, path);
  }
}

void ParallelTempering::make_ensemble() {
  std::vector<ChainGroup> groups;
  for (int k = slots(); k-- > 0;) {
    const std::uint32_t name = (static_cast<std::uint32_t>(k) << kSlotBits) + plan_.first_chain;
    groups.push_back({&model_, plan_.chains, base_, betas_[at(k)], name});
  }
  ensemble_ = std::make_unique<Ensemble>(std::move(groups),
                                         EnsemblePlan{plan_.seed, plan_.threads, plan_.tile, 0});
  clear_sums();
}

void ParallelTempering::clear_sums() {
  const std::size_t ensembles = at(plan_.chains);
  pair_sums_.assign(ensembles * at(pairs()), {});
  slot_sums_.assign(ensembles * at(slots()), {});
  travels_.assign(ensembles, {});
  paths_.clear();
  for (Travels& t : travels_) t.start(slots());
}

void ParallelTempering::make_tuners(const std::vector<std::vector<double>>& starts) {
  tuners_.clear();
  if (!original_->tunable() || rounds_.empty() || !tempering_.samplers.empty()) return;
  const std::uint64_t scans = round_ < rounds_.size() ? rounds_[round_] : 1;
  const std::uint64_t updates = (scans + kTuningScans - 1) / kTuningScans;
  for (int g = 0; g < pairs(); ++g) {
    tuners_.emplace_back(original_, plan_.chains, updates, plan_.reduction,
                         starts.empty() ? std::span<const double>() : starts[at(g)]);
  }
}

void ParallelTempering::use_tuned(Tunable::Phase phase) {
  samplers_.assign(at(slots()), original_);
  std::ranges::reverse_copy(tempering_.samplers, samplers_.begin());  // groups end with the base
  for (std::size_t g = 0; g < tuners_.size(); ++g) samplers_[g] = tuners_[g].sampler(phase);
}

void ParallelTempering::start() {
  const int dim = model_.domain().dim();
  RowBuffer<Symbol> states(ensemble_->chains(), dim);
  Scratch scratch;
  for (int slot = 0; slot < ensemble_->chains(); ++slot) {
    const int k = pairs() - slot / plan_.chains, e = slot % plan_.chains;
    const std::uint32_t name = (static_cast<std::uint32_t>(k) << kSlotBits) + plan_.first_chain +
                               static_cast<std::uint32_t>(e);
    double logp = -INFINITY;
    for (int tries = 0; logp == -INFINITY; ++tries) {
      if (tries == kMostTries) {
        throw DataError("the model forbids " + std::to_string(kMostTries) +
                        " draws of the base in a row: give a base that is nearer to it");
      }
      base_->draw(Stream(plan_.seed, name, static_cast<std::uint64_t>(tries), Purpose::start),
                  states.view()[slot]);
      if (const ForbiddenStates* forbidden = model_.forbidden_states()) {
        allow(*forbidden, plan_.seed, name, states.view()[slot]);
      }
      model_.evaluate({plan_.seed, 0, scratch}, {states.view()[slot], 1, dim, states.view().stride},
                      &logp, {});
    }
  }
  ensemble_->start_from(states.view());
  ensemble_->evaluate();
  started_ = true;
}

void ParallelTempering::run_scans(std::uint64_t count, bool draws) {
  std::vector<const Sampler*> samplers;
  for (const auto& s : samplers_) samplers.push_back(s.get());
  Observer observer(*this, scan_, draws);
  ensemble_->temper(samplers, {scan_, count, tempering_.steps}, observer);
  scan_ += count;
}

// Up to the next update of step sizes, or to the end of the round.
void ParallelTempering::warmup_round() {
  const std::uint64_t count = std::min(kTuningScans, rounds_[round_] - scans_in_round_);
  run_scans(count, false);
  scans_in_round_ += count;
  for (Tuner& tuner : tuners_) tuner.end_round();
  if (scans_in_round_ == rounds_[round_]) {
    end_warmup_round();
  } else {
    use_tuned(Tunable::Phase::warmup);
  }
}

// Means over scans and ensembles, in the order of ensembles of all parts of the run.
std::vector<double> ParallelTempering::rejection() const {
  const std::vector<PairSums> all = gathered(pair_sums_, plan_.reduction);
  std::vector<double> acceptance(at(pairs())), tried(at(pairs()));
  for (std::size_t p = 0; p < all.size(); ++p) {
    acceptance[p % at(pairs())] += all[p].acceptance;
    tried[p % at(pairs())] += all[p].tried;
  }
  std::vector<double> r;
  for (std::size_t k = 0; k < at(pairs()); ++k) {
    r.push_back(tried[k] > 0 ? 1 - acceptance[k] / tried[k] : 0.5);
  }
  return r;
}

void ParallelTempering::end_warmup_round() {
  std::vector<double> ladder = betas_;
  if (tempering_.betas.empty()) {
    const std::vector<double> r = rejection();
    const bool longer =
        tempering_.replicas == 0 && rounds_[round_] >= kLeastScans && round_ + 2 < rounds_.size();
    ladder = equal_rejection_ladder(betas_, r, longer ? better_pairs(r) : pairs());
  }
  ++round_;
  scans_in_round_ = 0;
  change_ladder(std::move(ladder));
  if (!warming_up()) forget_evaluations();
  use_tuned(warming_up() ? Tunable::Phase::warmup : Tunable::Phase::draws);
}

// Slots take the states of the old ones nearest in beta, and step sizes interpolated ones.
void ParallelTempering::change_ladder(std::vector<double> betas) {
  const int dim = model_.domain().dim(), chains = plan_.chains;
  const auto slots_now = static_cast<int>(betas.size());
  RowBuffer<Symbol> states(slots_now * chains, dim);
  for (int g = 0; g < slots_now; ++g) {
    // Not from the base, whose state the model may forbid.
    const auto from =
        static_cast<int>(1 + nearest(std::span(betas_).subspan(1), betas[at(slots_now - 1 - g)]));
    for (int e = 0; e < chains; ++e) {
      std::copy_n(ensemble_->state((pairs() - from) * chains + e), dim,
                  states.view()[g * chains + e]);
    }
  }
  std::vector<std::vector<double>> starts;
  if (!tuners_.empty()) {
    // By parameter, in the order of betas.
    std::vector<std::vector<double>> values(tuners_.front().values(Tunable::Phase::draws).size());
    for (auto tuner = tuners_.rbegin(); tuner != tuners_.rend(); ++tuner) {
      const std::vector<double> v = tuner->values(Tunable::Phase::draws);
      for (std::size_t p = 0; p < v.size(); ++p) values[p].push_back(v[p]);
    }
    const std::span<const double> tuned_betas = std::span(betas_).subspan(1);
    for (int g = 0; g + 1 < slots_now; ++g) {
      std::vector<double>& start = starts.emplace_back();
      for (const auto& v : values) {
        start.push_back(interpolated(tuned_betas, v, betas[at(slots_now - 1 - g)]));
      }
    }
  }
  const std::uint64_t step = ensemble_->step();
  betas_ = std::move(betas);
  make_ensemble();
  ensemble_->start_from(states.view(), step);
  ensemble_->evaluate();
  make_tuners(starts);
}

void ParallelTempering::draw_round(std::uint64_t scans) {
  run_scans(scans, true);
}

TemperingReport ParallelTempering::report() const {
  TemperingReport r;
  r.betas = betas_;
  r.rejection = rejection();
  r.barrier = barrier(r.rejection);
  r.recommended_replicas = static_cast<int>(std::lround(2 * r.barrier)) + 1;
  const double scans = warming_up() ? 0 : static_cast<double>(scan_ - plan_.warmup);
  std::vector<std::array<double, 2>> arrivals;
  for (const Travels& t : travels_) {
    arrivals.push_back({static_cast<double>(t.round_trips), static_cast<double>(t.restarts)});
  }
  arrivals = gathered(arrivals, plan_.reduction);
  for (const auto& [round_trips, restarts] : arrivals) {
    r.round_trips += static_cast<std::uint64_t>(round_trips);
    r.restarts += static_cast<std::uint64_t>(restarts);
  }
  r.round_trip_rate =
      divided(static_cast<double>(r.round_trips), scans * static_cast<double>(arrivals.size()));
  r.rate_if_independent = round_trip_rate(r.rejection);
  r.rate_bound = 1 / (2 + 2 * r.barrier);
  add_log_z(r);
  add_slots(r);
  for (const auto& replica_of_slot : paths_) {
    auto& slots_now = r.paths.emplace_back(replica_of_slot.size());
    for (std::size_t k = 0; k < replica_of_slot.size(); ++k) {
      slots_now[replica_of_slot[k]] = static_cast<std::uint16_t>(k);
    }
  }
  return r;
}

void ParallelTempering::add_log_z(TemperingReport& r) const {
  const std::vector<PairSums> all = gathered(pair_sums_, plan_.reduction);
  const std::size_t ensembles = all.size() / at(pairs());
  const auto count = static_cast<double>(ensembles);
  std::vector<double> bridge, gap;
  for (std::size_t e = 0; e < ensembles; ++e) {
    double forward = 0, backward = 0, half = 0;
    for (std::size_t k = 0; k < at(pairs()); ++k) {
      const PairSums& p = all[e * at(pairs()) + k];
      const double log_count = std::log(p.tried);
      forward += p.forward.value() - log_count;
      backward -= p.backward.value() - log_count;
      half += p.half_forward.value() - p.half_backward.value();
    }
    bridge.push_back(half);
    gap.push_back(forward - backward);
    r.log_z += half / count;
    r.log_z_forward += forward / count;
    r.log_z_backward += backward / count;
  }
  const auto error = [&](const std::vector<double>& values, double mean) {
    double squares = 0;
    for (const double v : values) squares += (v - mean) * (v - mean);
    return ensembles > 1 ? std::sqrt(squares / (count - 1) / count) : NAN;
  };
  r.log_z_error = error(bridge, r.log_z);
  r.log_z_gap_error = error(gap, r.log_z_forward - r.log_z_backward);
}

void ParallelTempering::add_slots(TemperingReport& r) const {
  const std::vector<SlotSums> sums = gathered(slot_sums_, plan_.reduction);
  for (int k = 0; k < slots(); ++k) {
    SlotSums all;
    for (std::size_t i = at(k); i < sums.size(); i += at(slots())) {
      const SlotSums& s = sums[i];
      all.acceptance += s.acceptance, all.steps += s.steps, all.count += s.count;
      all.before += s.before, all.after += s.after, all.product += s.product;
      all.before2 += s.before2, all.after2 += s.after2;
    }
    const double covariance = all.product - all.before * all.after / all.count;
    const double before = squares_about_mean(all.before2, all.before, all.count),
                 after = squares_about_mean(all.after2, all.after, all.count);
    r.acceptance.push_back(divided(all.acceptance, all.steps));
    r.correlation.push_back(covariance / std::sqrt(before * after));
    const Sampler& sampler = *samplers_[at(pairs() - k)];
    r.step_size.push_back(k > 0 ? sampler.step_size().value_or(NAN) : NAN);
  }
}

void ParallelTempering::save(ByteWriter& out) const {
  out.put_array(std::span<const double>(betas_));
  out.put(scan_, scans_in_round_, static_cast<std::uint64_t>(round_));
  ensemble_->save(out);
  for (const Tuner& tuner : tuners_) tuner.save(out);
  out.begin_units();
  for (std::size_t e = 0; e < travels_.size(); ++e) {
    const Travels& t = travels_[e];
    out.put_array(std::span<const PairSums>(pair_sums_).subspan(e * at(pairs()), at(pairs())));
    out.put_array(std::span<const SlotSums>(slot_sums_).subspan(e * at(slots()), at(slots())));
    out.put_array(std::span<const std::uint16_t>(t.replica_of_slot));
    out.put_array(std::span<const std::uint8_t>(t.seen));
    out.put(t.restarts, t.round_trips);
    out.end_unit();
  }
  out.end_units();
  out.put(static_cast<std::uint64_t>(paths_.size()));
  for (const auto& row : paths_) out.put_array(std::span<const std::uint16_t>(row));
  save_totals(out);
}

void ParallelTempering::restore(ByteReader& in) {
  const std::size_t count = in.next_array_length(sizeof(double));
  if (count < 2 || count > at(kMostReplicas)) throw DataError("the ladder has no known length");
  betas_.resize(count);
  in.get_array(std::span(betas_));
  check_betas(betas_);
  std::uint64_t round = 0;
  in.get(scan_, scans_in_round_, round);
  if (scan_ > plan_.warmup + plan_.draws * plan_.thin) {
    throw UsageError("the saved run has already made more draws than are asked for");
  }
  if (round > rounds_.size() || warming_up() != (round < rounds_.size())) {
    throw DataError("the saved run is in no known round of warm-up");
  }
  make_ensemble();
  ensemble_->restore(in);
  round_ = round;
  make_tuners({});
  for (Tuner& tuner : tuners_) tuner.restore(in);
  use_tuned(warming_up() ? Tunable::Phase::warmup : Tunable::Phase::draws);
  ByteReader ensembles = in.units(travels_.size());
  for (std::size_t e = 0; e < travels_.size(); ++e) {
    Travels& t = travels_[e];
    ensembles.get_array(std::span(pair_sums_).subspan(e * at(pairs()), at(pairs())));
    ensembles.get_array(std::span(slot_sums_).subspan(e * at(slots()), at(slots())));
    ensembles.get_array(std::span(t.replica_of_slot));
    check_replicas(t.replica_of_slot);
    ensembles.get_array(std::span(t.seen));
    ensembles.get(t.restarts, t.round_trips);
  }
  std::uint64_t rows = 0;
  in.get(rows);
  if (rows > kPathScans) throw DataError("the saved run has too many scans of travels");
  paths_.assign(rows, std::vector<std::uint16_t>(at(slots())));
  for (auto& row : paths_) {
    in.get_array(std::span(row));
    check_replicas(row);
  }
  restore_totals(in);
  started_ = true;
}

}  // namespace saltus
