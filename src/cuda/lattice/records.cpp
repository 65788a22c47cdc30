#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "cuda/lattice/chains.hpp"
#include "cuda/lattice/unpack.hpp"

namespace saltus::cuda {
namespace {

// Two blocks are under way, each with memory on the GPU and on the host: 64 MiB in all.
constexpr std::size_t kKeptBytes = std::size_t{12} << 20, kRecordBytes = std::size_t{4} << 20;
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 20;
// A step may end two parts.
constexpr std::size_t kFewestParts = 3;

std::size_t fit(std::size_t bytes, std::size_t each) {
  return std::max<std::size_t>(1, bytes / each);
}

std::size_t room_for(std::size_t wanted, std::size_t most) {
  return std::min(std::bit_ceil(wanted), std::max(wanted, most));
}

}  // namespace

LatticeRecords::LatticeRecords(const LatticeShape& shape, int chains)
    : shape_(shape),
      chains_(chains),
      info_(static_cast<std::size_t>(chains)),
      sums_(info_.size()),
      logp_(info_.size()) {
  check(cudaEventCreateWithFlags(&made_, cudaEventDisableTiming), "cudaEventCreate");
  check(cudaEventCreateWithFlags(&copied_, cudaEventDisableTiming), "cudaEventCreate");
}

LatticeRecords::~LatticeRecords() {
  cudaEventDestroy(made_);
  cudaEventDestroy(copied_);
}

std::uint64_t LatticeRecords::plan(cudaStream_t stream, const StepObserver& observer,
                                   std::uint64_t first, std::uint64_t steps) {
  const auto chains = static_cast<std::size_t>(chains_);
  const std::size_t state = chains * static_cast<std::size_t>(shape_.words);
  const std::size_t most_states = fit(kKeptBytes, state * sizeof(std::uint32_t));
  const std::size_t most_parts =
      std::max(kFewestParts, fit(kRecordBytes, chains * sizeof(LatticeRecord)));
  // The numbers of changes are 32-bit sums.
  const std::int64_t longest =
      std::int64_t{std::numeric_limits<std::uint32_t>::max()} / shape_.sites;
  const bool sums = observer.takes_sums();
  first_ = first;
  states_ = 0;
  parts_.clear();
  std::int32_t begin = 0, k = 0;  // of the part at hand; the step at hand
  for (const auto end = static_cast<std::int32_t>(std::min(steps, kMostSteps)); k < end; ++k) {
    const std::uint64_t step = first + static_cast<std::uint64_t>(k);
    const bool state_wanted = observer.wants_states(step);
    if (parts_.size() + kFewestParts > most_parts && k > 0) break;
    if (sums && !state_wanted && !observer.wants_logp(step)) {
      if (k + 1 - begin < longest) continue;
      parts_.push_back({k + 1, -1, true});
    } else {
      if (state_wanted && states_ == most_states) break;
      if (begin < k) parts_.push_back({k, -1, true});
      parts_.push_back({k + 1, state_wanted ? static_cast<std::int32_t>(states_++) : -1, false});
    }
    begin = k + 1;
  }
  if (begin < k) parts_.push_back({k, -1, true});

  ends_.clear(), places_.clear();
  for (const Part& p : parts_) ends_.push_back(p.end), places_.push_back(p.place);
  const std::size_t parts = room_for(parts_.size(), most_parts);
  device_ends_.grow(parts), device_places_.grow(parts);
  device_records_.grow(parts * chains), records_.grow(parts * chains);
  if (states_ > 0) {
    const std::size_t kept = room_for(states_, most_states) * state;
    device_kept_.grow(kept), kept_.grow(kept);
    if (!x_.view()) x_ = RowBuffer<Symbol>(chains_, shape_.sites);
  }
  device_ends_.put(stream, ends_);
  device_places_.put(stream, places_);
  return static_cast<std::uint64_t>(k);
}

void LatticeRecords::enter(LatticeSteps& steps) const {
  steps.parts = static_cast<int>(parts_.size());
  steps.ends = device_ends_.data();
  steps.places = device_places_.data();
  steps.records = device_records_.data();
  steps.kept = device_kept_.data();
}

void LatticeRecords::fetch(cudaStream_t work, cudaStream_t copies) {
  const auto chains = static_cast<std::size_t>(chains_);
  check(cudaEventRecord(made_, work), "cudaEventRecord");
  check(cudaStreamWaitEvent(copies, made_, 0), "cudaStreamWaitEvent");
  device_records_.get(copies, {records_.data(), parts_.size() * chains});
  if (states_ > 0) {
    device_kept_.get(copies,
                     {kept_.data(), states_ * chains * static_cast<std::size_t>(shape_.words)});
  }
  check(cudaEventRecord(copied_, copies), "cudaEventRecord");
}

void LatticeRecords::unpack(std::int32_t place) {
  const std::size_t words = static_cast<std::size_t>(shape_.words);
  for (int r = 0; r < chains_; ++r) {
    const std::size_t at = static_cast<std::size_t>(place) * static_cast<std::size_t>(chains_) +
                           static_cast<std::size_t>(r);
    unpack_bits(kept_.data() + at * words, shape_.sites, x_.view()[r]);
  }
}

// A sweep of Gibbs draws all sites, and what it draws is accepted; DULA has no test.
void LatticeRecords::tell_sums(std::span<const LatticeRecord> records, const Law& law,
                               std::int32_t steps, StepObserver& observer) {
  const auto count = static_cast<std::uint64_t>(steps);
  const bool gibbs = law.sampler == LatticeSampler::gibbs;
  for (std::size_t r = 0; r < records.size(); ++r) {
    const LatticeRecord& of = records[r];
    sums_[r] = {law.sampler == LatticeSampler::dmala
                    ? static_cast<double>(of.acceptance) / kAcceptanceUnit
                    : static_cast<double>(steps),
                count,
                gibbs ? count : of.accepted,
                gibbs ? count * static_cast<std::uint64_t>(shape_.sites) : of.proposed,
                of.changed,
                of.empty,
                of.moved,
                0};
  }
  observer.after_steps(0, sums_);
}

void LatticeRecords::tell(Tile tile, const Law& law, StepObserver& observer) {
  check(cudaEventSynchronize(copied_), "cudaEventSynchronize");
  const auto chains = static_cast<std::size_t>(chains_);
  tile.logp = logp_.data();
  tile.logp_current = true;
  tile.score_current = tile.target_cache_current = false;
  const std::uint64_t first_step = tile.step;
  std::int32_t begin = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Part& part = parts_[p];
    const std::span<const LatticeRecord> records(records_.data() + p * chains, chains);
    const std::int32_t steps = part.end - begin;
    begin = part.end;
    if (part.sums) {
      tell_sums(records, law, steps, observer);
      continue;
    }
    for (std::size_t r = 0; r < chains; ++r) {
      const LatticeRecord& of = records[r];
      const bool gibbs = law.sampler == LatticeSampler::gibbs;
      info_[r] = {law.sampler == LatticeSampler::dmala
                      ? static_cast<double>(of.acceptance) / kAcceptanceUnit
                      : 1.0,
                  gibbs ? static_cast<std::uint32_t>(shape_.sites) : of.proposed, of.changed,
                  gibbs || of.accepted != 0, false};
      const double model = law.model->a * of.pairs + law.model->b * of.spins + law.model->constant;
      logp_[r] = law.tempering.beta == 1 ? model : law.tempering.logp(model, law.log_base);
    }
    if (part.place >= 0) unpack(part.place);
    Symbol* states = part.place < 0 ? nullptr : x_.view().data;
    tile.x = {states, chains_, shape_.sites, padded(shape_.sites)};
    tile.step = first_step + static_cast<std::uint64_t>(part.end);
    observer.after_step(tile, info_, first_ + static_cast<std::uint64_t>(part.end - 1));
  }
}

}  // namespace saltus::cuda
